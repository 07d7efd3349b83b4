"""Arrow IPC files: as Tables, as frames, and by record batches, or parts of large ones.

Polars maps a file into memory and reads the batches, and of them the columns, that it is asked for.
Batches that are compressed are decompressed column by column, all of each. A stream has no list of
its batches, so that it is read at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from tacit.errors import FileError
from tacit.io.columnar import ColumnarFile, GroupSize, check_height
from tacit.io.frames.memory import frame_width, has_heap, record_width
from tacit.io.frames.readers import RowRange
from tacit.io.ipc.lengths import check_lengths
from tacit.io.opening import naming, on_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.io.frames.readers import ReadOptions
    from tacit.io.ipc.lengths import Batch
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
