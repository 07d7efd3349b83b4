"""Parquet files: as Tables, as frames, and by row groups, or parts of large ones."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.errors import FileError
from tacit.io.columnar import ColumnarFile, GroupSize
from tacit.io.frames.memory import has_heap, record_width
from tacit.io.opening import naming, on_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike

__all__ = ["ParquetFile", "open_parquet"]


class ParquetFile(ColumnarFile):
    """A Parquet file; its footer, which says where row groups are, is read if asked for."""

    kind: ClassVar[str] = "parquet"

    def __init__(self, path: PathLike, plain: Path | None = None, *, footer: bool = True) -> None:
        super().__init__(path, plain)
        self._footer = read_footer(self.plain) if footer else Footer([], [])
        with self.plain.open("rb") as file:
            if file.read(4) not in (b"PAR1", b"PARE"):
                raise FileError(path, "is not a Parquet file")
        self.schema = dict(self.lazy().collect_schema())

    def group_sizes(self, columns: list[str]) -> list[GroupSize]:
        """Return the sizes of row groups, in order."""
        wanted = set(columns)
        chunks = [k for k, name in enumerate(self._footer.columns) if name in wanted]
        text = [k for k in chunks if has_heap(self.schema[self._footer.columns[k]])]
        width = record_width(self.schema[name] for name in columns)
        sizes = []
        for group in self._footer.groups:
            packed = int(group.disk_bytes[chunks].sum())
            frame = group.n_records * width + group.n_bytes[text].sum()
            pages = int(group.n_bytes[chunks].sum())
            sizes.append(GroupSize(group.n_records, int(frame) + pages, packed, packed))
        return sizes


@contextmanager
def open_parquet(path: PathLike) -> Iterator[ParquetFile]:
    """Open a Parquet file, to be read whole."""
    with naming(path), on_disk(path) as plain:
        yield ParquetFile(path, plain, footer=False)


# Row groups, read from the footer. Polars does not say where row groups begin. The footer is a
# struct in Thrift's compact protocol, of which a few numbers are wanted; all else is stepped over.


_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)


@dataclass(frozen=True)
class RowGroup:
    """A row group."""

    n_records: int
    n_bytes: NDArray[np.int64]  # of each column, decompressed but still encoded
    disk_bytes: NDArray[np.int64]  # of each column


@dataclass(frozen=True)
class Footer:
    """The row groups of a file, in order, and what their columns are called.

    A nested column is stored as several, which have its name.
    """

    columns: list[str]
    groups: list[RowGroup]


def read_footer(path: Path) -> Footer:
    """Read where a file says what it holds."""
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
        n_records, contents = _file_metadata(footer)
    except (IndexError, ValueError, RecursionError, OverflowError):
        raise FileError(path, "is damaged: its footer cannot be read") from None
    if sum(group.n_records for group in contents.groups) != n_records:
        raise FileError(path, "is damaged: its footer is at odds about the number of records")
    return contents


def _file_metadata(data: _Compact) -> tuple[int, Footer]:
    n_records, footer = 0, Footer([], [])
    for field, kind in data.fields():
        if field == 3:
            n_records = data.number()
        elif field == 4:
            for k in range(data.list_header()[0]):
                names, group = _row_group(data)
                if k == 0:
                    footer.columns.extend(names)
                elif names != footer.columns:
                    raise ValueError("row groups with other columns")
                footer.groups.append(group)
        else:
            data.skip(kind)
    return n_records, footer


def _row_group(data: _Compact) -> tuple[list[str], RowGroup]:
    n_records, names, sizes = 0, [], []
    for field, kind in data.fields():
        if field == 1:
            for _ in range(data.list_header()[0]):
                name, unpacked, packed = _column_chunk(data)
                names.append(name)
                sizes.append((unpacked, packed))
        elif field == 3:
            n_records = data.number()
        else:
            data.skip(kind)
    n_bytes = np.array(sizes, np.int64).reshape(-1, 2)
    if n_records < 0 or (n_bytes < 0).any():
        raise ValueError("a negative size")
    return names, RowGroup(n_records, n_bytes[:, 0], n_bytes[:, 1])


def _column_chunk(data: _Compact) -> tuple[str, int, int]:
    """Return the name of the column that a chunk is of, and its sizes."""
    name, sizes = "", {6: 0, 7: 0}
    for field, kind in data.fields():
        if field != 3:
            data.skip(kind)
            continue
        for inner, inner_kind in data.fields():
            if inner == 3:
                path = [data.binary() for _ in range(data.list_header()[0])]
                name = path[0].decode()
            elif inner in sizes:
                sizes[inner] = data.number()
            else:
                data.skip(inner_kind)
    return name, sizes[6], sizes[7]


class _Compact:
    """A position in data of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def _varint(self) -> int:
        data, position = self._data, self._position
        byte = data[position]
        position += 1
        value = byte & 0x7F
        shift = 7
        while byte & 0x80:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        self._position = position
        return value

    def number(self) -> int:
        """Read a whole number."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        """Read bytes."""
        length = self._varint()
        self._position += length
        return self._data[self._position - length : self._position]

    def fields(self) -> Any:
        """Give the number and the type of each field of a struct; the caller reads or skips it."""
        field = 0
        while True:
            head = self._data[self._position]
            self._position += 1
            if head == 0:
                return
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 0x0F

    def list_header(self) -> tuple[int, int]:
        """Read how many elements a list has, and their type."""
        head = self._data[self._position]
        self._position += 1
        size = head >> 4
        return (self._varint() if size == 15 else size), head & 0x0F

    def skip(self, kind: int) -> None:
        """Step over a value."""
        if kind in _VARINTS:
            data = self._data
            while data[self._position] & 0x80:
                self._position += 1
            self._position += 1
        elif kind == _BINARY:
            length = self._varint()
            self._position += length
        elif kind == _STRUCT:
            for _, field in self.fields():
                self.skip(field)
        elif kind in (_LIST, _SET):
            size, element = self.list_header()
            if element in (_TRUE, _FALSE):
                element = _BYTE
            for _ in range(size):
                self.skip(element)
        elif kind == _BYTE:
            self._position += 1
        elif kind == _DOUBLE:
            self._position += 8
        elif kind == _MAP:
            self._skip_map()
        elif kind not in (_TRUE, _FALSE):
            raise ValueError(f"type {kind}")

    def _skip_map(self) -> None:
        size = self._varint()
        if size:
            kinds = self._data[self._position]
            self._position += 1
            for _ in range(size):
                self.skip(kinds >> 4)
                self.skip(kinds & 0x0F)
