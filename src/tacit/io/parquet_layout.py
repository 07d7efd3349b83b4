"""What a Parquet file says of itself, checked before Polars believes it.

A length that is off by a flipped bit can make Polars ask for more memory than there can be, which
ends the process. So the footer is read in full first, and the header of every page before its
values are: sizes must fit into the file, and what a page claims to unpack to must be possible.
Names of fields are those of the format's definition, parquet.thrift.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import FileError
from tacit.io.thrift import Compact, ThriftError
from tacit.machine import available_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from tacit.io.opening import PathLike

__all__ = ["Chunk", "Layout", "RowGroup", "check_pages", "read_layout"]

_MAGIC = b"PAR1"
# How much a byte can unpack to at most, by codec: none, snappy, gzip, LZO, brotli, LZ4, zstd, LZ4.
# Of those that know no bound, free memory is the bound.
_RATIOS = {0: 1, 1: 64, 2: 1100, 5: 270, 7: 270}
_CODECS = range(8)
_WIDTHS = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}  # bytes of a plain value; of texts, its length
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # types of pages
_HEADER = 1 << 10  # bytes of a page's header, at first
_LONGEST_HEADER = 1 << 26
_PIECE = 1 << 20  # bytes that a checksum is made of at a time


@dataclass(frozen=True)
class Chunk:
    """The pages of a column in a row group."""

    name: str  # of the column of the frame
    nested: bool
    physical: int
    codec: int
    n_values: int
    unpacked: int  # bytes, decompressed but still encoded
    packed: int
    start: int


@dataclass(frozen=True)
class RowGroup:
    """A row group."""

    n_records: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Layout:
    """The row groups of a file, in order.

    Their chunks are in the same order of columns. A nested column is stored as several, which have
    its name.
    """

    groups: tuple[RowGroup, ...]
    end: int  # where the footer begins

    @property
    def columns(self) -> list[str]:
        """Which column each chunk of a row group is of."""
        return [chunk.name for chunk in self.groups[0].chunks] if self.groups else []


def read_layout(path: PathLike, plain: Path | None = None) -> Layout:
    """Read the footer of a file, in full."""
    with open(plain or path, "rb") as file:  # noqa: PTH123
        size = os.fstat(file.fileno()).st_size
        if size < 12 or file.read(4) not in (_MAGIC, b"PARE"):
            raise FileError(path, "is not a Parquet file")
        file.seek(size - 8)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] == b"PARE":
            raise FileError(path, "is encrypted")
        if tail[4:] != _MAGIC or length > size - 12:
            raise FileError(path, "is damaged or cut off: it does not end like a Parquet file")
        end = size - 8 - length
        file.seek(end)
        footer = Compact(file.read(length))
    try:
        n_records, groups = _file_metadata(footer, end, _room())
    except (ThriftError, UnicodeDecodeError, IndexError) as error:
        raise FileError(path, f"is damaged: its footer cannot be read: {error}") from None
    if sum(group.n_records for group in groups) != n_records:
        raise FileError(path, "is damaged: its footer is at odds about the number of records")
    return Layout(tuple(groups), end)


def _file_metadata(data: Compact, end: int, room: int) -> tuple[int, list[RowGroup]]:
    n_records, groups = 0, list[RowGroup]()
    for field, kind in data.fields():
        if field == 3:
            n_records = data.number()
        elif field == 4:
            for _ in range(data.list_header()[0]):
                group = _row_group(data, end, room)
                first = groups[0] if groups else group
                if [c.name for c in group.chunks] != [c.name for c in first.chunks]:
                    raise ThriftError("row groups with other columns")
                groups.append(group)
        else:
            data.skip(kind)
    return n_records, groups


def _row_group(data: Compact, end: int, room: int) -> RowGroup:
    n_records, chunks = 0, list[Chunk]()
    for field, kind in data.fields():
        if field == 1:
            chunks = [_column_chunk(data, end, room) for _ in range(data.list_header()[0])]
        elif field == 3:
            n_records = data.number()
        else:
            data.skip(kind)
    if n_records < 0:
        raise ThriftError("a negative size")
    if any(chunk.n_values != n_records for chunk in chunks if not chunk.nested):
        raise ThriftError("a column has more records than others, or fewer")
    return RowGroup(n_records, tuple(chunks))


_NUMBERS = {1: "physical", 4: "codec", 5: "n_values", 6: "unpacked", 7: "packed"}


def _column_chunk(data: Compact, end: int, room: int) -> Chunk:
    path, found, pages = list[bytes](), dict[str, int](), {9: 0, 11: 0}
    for field, kind in data.fields():
        if field != 3:
            data.skip(kind)
            continue
        for inner, inner_kind in data.fields():
            if inner in _NUMBERS:
                found[_NUMBERS[inner]] = data.number()
            elif inner == 3:
                path = [data.binary() for _ in range(data.list_header()[0])]
            elif inner in pages:
                pages[inner] = data.number()
            else:
                data.skip(inner_kind)
    if len(found) < len(_NUMBERS) or min(found.values()) < 0 or not path:
        raise ThriftError("a column's sizes are missing, or negative")
    # Some writers put 0 for what is not there: a dictionary, or data where there are no values.
    start = min((page for page in pages.values() if page), default=0)
    empty = found["n_values"] == found["packed"] == 0
    if not empty and (start < 4 or start + found["packed"] > end):
        raise ThriftError("a column's pages lie beyond the file")
    codec = found["codec"]
    if codec not in _CODECS or found["unpacked"] > _most(codec, found["packed"], room):
        raise ThriftError(f"a column claims to unpack to {found['unpacked']:,} bytes")
    return Chunk(path[0].decode(), len(path) > 1, start=start, **found)


def _room() -> int:
    return available_memory() or 1 << 48


def _most(codec: int, packed: int, room: int) -> int:
    """Return to how many bytes some can unpack at most; headers are among them, a few of a page."""
    return min(room, packed * _RATIOS[codec] + 1024) if codec in _RATIOS else room


def check_pages(
    path: PathLike,
    layout: Layout,
    groups: Sequence[int] | None = None,
    columns: Collection[str] | None = None,
    plain: Path | None = None,
) -> None:
    """Refuse pages, of some row groups and columns, that cannot be what their headers say."""
    room = _room()
    with open(plain or path, "rb") as file:  # noqa: PTH123
        for number in range(len(layout.groups)) if groups is None else groups:
            for chunk in layout.groups[number].chunks:
                if columns is not None and chunk.name not in columns:
                    continue
                try:
                    _check_chunk(file.fileno(), chunk, room)
                except ThriftError as error:
                    raise FileError(
                        path, f"row group {number}: is damaged: column {chunk.name!r}: {error}"
                    ) from None


def _check_chunk(file: int, chunk: Chunk, room: int) -> None:
    position, end, n_values = chunk.start, chunk.start + chunk.packed, 0
    first = True
    while n_values < chunk.n_values or (first and position < end):
        page, length = _page_header(file, position, end)
        body = position + length
        if not 0 <= page.packed <= end - body:
            raise ThriftError("a page ends beyond its column")
        if not 0 <= page.unpacked <= _most(chunk.codec, page.packed, room):
            raise ThriftError(f"a page claims to unpack to {page.unpacked:,} bytes")
        if page.n_values < 0 or page.levels < 0 or page.levels > min(page.packed, page.unpacked):
            raise ThriftError("a page has sizes that cannot be")
        if page.kind == _DICTIONARY:
            if not first:
                raise ThriftError("a dictionary follows the values that need it")
            if page.n_values * _WIDTHS.get(chunk.physical, 1) > page.unpacked:
                raise ThriftError(f"a dictionary claims {page.n_values:,} values")
        elif page.kind in (_DATA, _DATA_2):
            n_values += page.n_values
        if page.checksum is not None and page.checksum != _checksum(file, body, page.packed):
            raise ThriftError("the checksum of a page does not match")
        position, first = body + page.packed, False
    if n_values != chunk.n_values:
        raise ThriftError(f"it claims {chunk.n_values:,} values, but its pages {n_values:,}")


@dataclass
class _Page:
    kind: int = -1
    unpacked: int = -1
    packed: int = -1
    n_values: int = 0
    levels: int = 0  # bytes
    checksum: int | None = None  # few writers have it


def _checksum(file: int, start: int, n_bytes: int) -> int:
    found = 0
    for position in range(start, start + n_bytes, _PIECE):
        piece = os.pread(file, min(_PIECE, start + n_bytes - position), position)
        found = zlib.crc32(piece, found)
    return found


def _page_header(file: int, position: int, end: int) -> tuple[_Page, int]:
    """Return the header of a page, and how long it is; statistics in it may be long."""
    n_bytes = _HEADER
    while True:
        data = os.pread(file, max(0, min(n_bytes, end - position)), position)
        try:
            return _read_page_header(Compact(data))
        except ThriftError as error:
            if not error.cut or len(data) < n_bytes or n_bytes > _LONGEST_HEADER:
                raise
        n_bytes *= 16


def _read_page_header(data: Compact) -> tuple[_Page, int]:
    page = _Page()
    for field, kind in data.fields():
        if field == 1:
            page.kind = data.number()
        elif field == 2:
            page.unpacked = data.number()
        elif field == 3:
            page.packed = data.number()
        elif field == 4:
            page.checksum = data.number() & 0xFFFFFFFF
        elif field in (5, 7, 8):
            for inner, inner_kind in data.fields():
                if inner == 1:
                    page.n_values = data.number()
                elif field == 8 and inner in (5, 6):
                    n_bytes = data.number()
                    page.levels = page.levels + n_bytes if n_bytes >= 0 else -(1 << 40)
                else:
                    data.skip(inner_kind)
        else:
            data.skip(kind)
    return page, data.position
