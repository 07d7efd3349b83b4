"""The row groups of a Parquet file, read from its footer.

Polars does not say where row groups begin. The footer is a struct in Thrift's compact protocol, of
which a few numbers are wanted; all else is stepped over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RowGroup", "read_row_groups"]

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)


@dataclass(frozen=True)
class RowGroup:
    """A row group.

    Attributes
    ----------
    n_records : int
    n_bytes : int
        Of its columns, decompressed but still encoded.
    disk_bytes : int
    """

    n_records: int
    n_bytes: int
    disk_bytes: int


def read_row_groups(path: Path) -> list[RowGroup]:
    """Return the row groups of a file, in order."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < 12 or file.read(4) not in (b"PAR1", b"PARE"):
            raise FileError(path, "is not a Parquet file")
        file.seek(size - 8)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] == b"PARE":
            raise FileError(path, "is encrypted")
        if tail[4:] != b"PAR1" or length > size - 12:
            raise FileError(path, "is damaged or cut off: it does not end like a Parquet file")
        file.seek(size - 8 - length)
        footer = _Compact(file.read(length))
    try:
        n_records, groups = _file_metadata(footer)
    except (IndexError, ValueError, RecursionError):
        raise FileError(path, "is damaged: its footer cannot be read") from None
    if sum(group.n_records for group in groups) != n_records:
        raise FileError(path, "is damaged: its footer is at odds about the number of records")
    return groups


def _file_metadata(data: _Compact) -> tuple[int, list[RowGroup]]:
    n_records, groups = 0, []
    for field, kind in data.fields():
        if field == 3:
            n_records = data.number()
        elif field == 4:
            groups = [_row_group(data) for _ in range(data.list_header()[0])]
        else:
            data.skip(kind)
    return n_records, groups


def _row_group(data: _Compact) -> RowGroup:
    found = {2: 0, 3: 0, 6: 0}
    for field, kind in data.fields():
        if field in found:
            found[field] = data.number()
        else:
            data.skip(kind)
    if min(found.values()) < 0:
        raise ValueError("a negative size")
    return RowGroup(found[3], found[2], found[6] or found[2])


class _Compact:
    """A place in data of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def _varint(self) -> int:
        data, place = self._data, self._place
        byte = data[place]
        place += 1
        value = byte & 0x7F
        shift = 7
        while byte & 0x80:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        self._place = place
        return value

    def number(self) -> int:
        """Read a whole number."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def fields(self) -> Any:
        """Give the number and the type of each field of a struct; the caller reads or skips it."""
        field = 0
        while True:
            head = self._data[self._place]
            self._place += 1
            if head == 0:
                return
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 0x0F

    def list_header(self) -> tuple[int, int]:
        """Read how many elements a list has, and their type."""
        head = self._data[self._place]
        self._place += 1
        size = head >> 4
        return (self._varint() if size == 15 else size), head & 0x0F

    def skip(self, kind: int) -> None:
        """Step over a value."""
        if kind in _VARINTS:
            data = self._data
            while data[self._place] & 0x80:
                self._place += 1
            self._place += 1
        elif kind == _BINARY:
            length = self._varint()
            self._place += length
        elif kind == _STRUCT:
            for _, own in self.fields():
                self.skip(own)
        elif kind in (_LIST, _SET):
            size, own = self.list_header()
            if own in (_TRUE, _FALSE):
                own = _BYTE
            for _ in range(size):
                self.skip(own)
        elif kind == _BYTE:
            self._place += 1
        elif kind == _DOUBLE:
            self._place += 8
        elif kind == _MAP:
            self._skip_map()
        elif kind not in (_TRUE, _FALSE):
            raise ValueError(f"type {kind}")

    def _skip_map(self) -> None:
        size = self._varint()
        if size:
            kinds = self._data[self._place]
            self._place += 1
            for _ in range(size):
                self.skip(kinds >> 4)
                self.skip(kinds & 0x0F)
