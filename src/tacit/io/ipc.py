"""Arrow IPC files: as Tables, as frames, and by record batches, or parts of large ones.

Polars maps a file into memory and reads the batches, and of them the columns, that it is asked for.
Batches that are compressed are decompressed column by column, all of each. A stream has no list of
its batches, so that it is read at once.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from tacit.errors import FileError
from tacit.io.columnar import ColumnarFile, GroupSize, check_height
from tacit.io.frames.memory import frame_width, has_heap, record_width
from tacit.io.frames.readers import RowRange
from tacit.io.opening import naming, on_disk
from tacit.machine import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.io.frames.readers import ReadOptions
    from tacit.io.opening import PathLike, Version

__all__ = ["IpcFile", "IpcStream", "open_ipc"]


class IpcFile(ColumnarFile):
    """An Arrow IPC file, or a stream of record batches."""

    kind: ClassVar[str] = "ipc"

    def __init__(self, path: PathLike, plain: Path | None = None) -> None:
        super().__init__(path, plain)
        with self.plain.open("rb") as file:
            magic = file.read(8)
        # A stream of record batches has no magic; it begins with a marker, or did not once.
        self._stream = not magic.startswith(b"ARROW1")
        if self._stream and not magic.startswith(b"\xff\xff\xff\xff"):
            raise FileError(path, "is not an Arrow IPC file")
        self._batches = check_lengths(path, self.plain)
        if self._stream:
            self.schema = dict(pl.read_ipc_stream(self.plain, n_rows=0).schema)
        else:
            self.schema = dict(self.lazy().collect_schema())

    def lazy(self) -> pl.LazyFrame:
        """Return all columns as Polars scans them; a stream is read."""
        return pl.read_ipc_stream(self.plain).lazy() if self._stream else super().lazy()

    def row_ranges(
        self, columns: list[str], n_bytes: int, n_records: int | None
    ) -> Iterator[RowRange]:
        """Give record batches, cut where they take more than `n_bytes` to load; or the stream."""
        if not self._stream:
            yield from super().row_ranges(columns, n_bytes, n_records)
            return
        sizes = self.group_sizes(columns)
        records = sum(size.n_records for size in sizes)
        besides = sum(batch.n_bytes for batch in self._batches) + self.version.size
        load = sum(size.frame_bytes for size in sizes) + besides
        if records:
            yield IpcStream(
                self.version,
                path=str(self.path),
                n_records=records,
                disk_bytes=self.version.size,
                load_bytes=load,
                read_bytes=besides,
            )

    def group_sizes(self, columns: list[str]) -> list[GroupSize]:
        """Return the sizes of record batches, in order."""
        return [self._group_size(batch, columns) for batch in self._batches]

    def _group_size(self, batch: Batch, columns: list[str]) -> GroupSize:
        types = self.schema
        # What is not of a known width is text, of some columns or of all: no one says.
        known = sum(0 if has_heap(t) else frame_width(t) - 0.125 for t in types.values())
        all_text = max(0, batch.n_bytes - int(known * batch.n_records))
        text = all_text if any(has_heap(types[name]) for name in columns) else 0
        frame = int(record_width(types[name] for name in columns) * batch.n_records) + text
        fraction = frame / max(1, record_width(types.values()) * batch.n_records + all_text)
        packed = int(batch.disk_bytes * min(1.0, fraction))
        plain = int(sum(frame_width(types[name]) for name in columns) * batch.n_records) + text
        return GroupSize(batch.n_records, frame, plain + packed if batch.compressed else 0, packed)


@dataclass(frozen=True)
class IpcStream(RowRange):
    """All records of a stream."""

    version: Version

    @property
    def location(self) -> str:
        """All of the file."""
        return "all of it at once, as it is a stream"

    def read(self, columns: list[str], options: ReadOptions) -> pl.DataFrame:
        """Read some columns."""
        self.version.check(self.path)
        frame = pl.read_ipc_stream(self.path, columns=columns).select(columns)
        check_height(self.path, frame.height, self.n_records)
        return options.typed(frame)


@contextmanager
def open_ipc(path: PathLike) -> Iterator[IpcFile]:
    """Open an Arrow IPC file, also known as Feather, to be read whole."""
    with naming(path), on_disk(path) as plain:
        yield IpcFile(path, plain)


# Lengths that a file claims, checked before Polars believes them. A length that is off by a flipped
# bit makes Polars ask for more memory than there can be, which ends the process. So every length is
# compared with the size of the file first. Layouts are those of the Arrow columnar format; messages
# and the footer are flatbuffers.


_MARK = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3  # kinds of message


@dataclass(frozen=True)
class Batch:
    """A record batch."""

    n_records: int
    n_bytes: int  # of all columns, decompressed
    disk_bytes: int
    compressed: bool


class _Table:
    """A flatbuffer table: fields by number, each of them possibly absent."""

    def __init__(self, data: mmap.mmap, position: int) -> None:
        self._data, self._position = data, position
        self._fields = position - self._get("<i", position)

    def _get(self, form: str, position: int) -> int:
        if position < 0:
            raise struct.error("a position before the beginning")
        return int(struct.unpack_from(form, self._data, position)[0])

    def _field(self, number: int) -> int:
        if 4 + 2 * number >= self._get("<H", self._fields):
            return 0
        offset = self._get("<H", self._fields + 4 + 2 * number)
        return self._position + offset if offset else 0

    def number(self, number: int, form: str) -> int:
        position = self._field(number)
        return self._get(form, position) if position else 0

    def table(self, number: int) -> _Table | None:
        position = self._field(number)
        return _Table(self._data, position + self._get("<I", position)) if position else None

    def structs(self, number: int, form: str) -> Iterator[tuple[int, ...]]:
        position = self._field(number)
        if position:
            position += self._get("<I", position)
            size = struct.calcsize(form)
            for k in range(self._get("<I", position)):
                yield struct.unpack_from(form, self._data, position + 4 + k * size)


def check_lengths(path: PathLike, plain: Path) -> list[Batch]:
    """Return the batches of an Arrow IPC file, or stream; refuse one that claims more."""
    batches: list[Batch] = []
    with (
        plain.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        try:
            if data[:6] == b"ARROW1":
                _check_footer(data, batches)
            else:
                position = 0
                while (position := _check_message(data, position, batches)) < len(data):
                    pass
        except (struct.error, _ClaimError) as error:
            raise FileError(path, f"is damaged or cut off: {error}") from None
    return batches


class _ClaimError(Exception):
    pass


def _check_footer(data: mmap.mmap, batches: list[Batch]) -> None:
    if data[-6:] != b"ARROW1":
        raise _ClaimError("it does not end like an Arrow IPC file")
    (size,) = struct.unpack_from("<i", data, len(data) - 10)
    start = len(data) - 10 - size
    if size < 4 or start < 8:
        raise _ClaimError("its footer does not fit into it")
    footer = _Table(data, start + struct.unpack_from("<I", data, start)[0])
    for blocks in (2, 3):
        for position, before, body in footer.structs(blocks, "<qi4xq"):
            if position < 0 or before < 0 or body < 0 or position + before + body > start:
                raise _ClaimError("its footer points beyond it")
            _check_message(data, position, batches)


def _check_message(data: mmap.mmap, position: int, batches: list[Batch]) -> int:
    """Check one message; return where the next begins, or the end of the file after the last."""
    mark, size = struct.unpack_from("<Ii", data, position)
    if mark != _MARK or size < 0:
        raise _ClaimError("a message does not begin where it should")
    if size == 0:
        return len(data)
    head = position + 8
    message = _Table(data, head + struct.unpack_from("<I", data, head)[0])
    body: int = head + size
    length = message.number(3, "<q")
    if length < 0 or body + length > len(data):
        raise _ClaimError("a message ends beyond it")
    content, kind = message.table(2), message.number(1, "<B")
    if content is not None and kind == _DICTIONARY:
        content = content.table(1)
    if content is not None and kind in (_DICTIONARY, _BATCH):
        batch = _check_batch(data, content, body, length)
        if kind == _BATCH:
            batches.append(batch)
    return body + length


def _check_batch(data: mmap.mmap, batch: _Table, body: int, length: int) -> Batch:
    compressed = batch.table(3) is not None
    room = available_memory() or 1 << 48
    n_bytes = length
    for position, size in batch.structs(2, "<qq"):
        if position < 0 or size < 0 or position + size > length:
            raise _ClaimError("a buffer ends beyond its message")
        if compressed and size >= 8:
            (unpacked,) = struct.unpack_from("<q", data, body + position)
            if not -1 <= unpacked <= room:
                raise _ClaimError(f"a buffer claims to unpack to {unpacked:,} bytes")
            n_bytes += max(0, unpacked)
    records = batch.number(0, "<q")
    # A value takes a bit at least, unless all are missing: then the batch has no more of them.
    for count, missing in ((records, 0), *batch.structs(1, "<qq")):
        if not 0 <= missing <= count or (count > records and count > 8 * n_bytes):
            raise _ClaimError(f"a column claims {count:,} values")
    if records >= 1 << 40:
        raise _ClaimError(f"a batch claims {records:,} records")
    for (count,) in batch.structs(4, "<q"):
        if not 0 <= count <= length:
            raise _ClaimError(f"a column claims {count:,} buffers")
    return Batch(records, n_bytes, length, compressed)
