"""Arrow IPC files: record batches, or parts of large ones, as pieces.

Polars maps a file into memory and reads the batches, and of them the columns, that it is asked for.
Batches that are compressed are decompressed as a whole, column by column. A stream has no list of
its batches, so that it is read as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import FileError
from tacit.io.frames.memory import frame_width, has_heap, record_width
from tacit.io.ipc.lengths import check_lengths
from tacit.io.row_groups import Group, cut_groups, lazy_columns
from tacit.io.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.io.frames.readers import How
    from tacit.io.ipc.lengths import Batch
    from tacit.io.row_groups import Groups

__all__ = ["IpcFile", "IpcStream"]


class IpcFile:
    """What an Arrow IPC file says of itself.

    Attributes
    ----------
    path : str
    schema : dict of str to Polars types
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.version = Version.of(path)
        with Path(path).open("rb") as file:
            magic = file.read(8)
        self._stream = not magic.startswith(b"ARROW1")
        if self._stream and not magic.startswith(b"\xff\xff\xff\xff"):
            raise FileError(path, "is not an Arrow IPC file")
        self._batches = check_lengths(path, Path(path))
        if self._stream:
            self.schema: dict[str, Any] = dict(pl.read_ipc_stream(path, n_rows=0).schema)
        else:
            self.schema = dict(lazy_columns(path, "ipc").collect_schema())

    def stretches(
        self, columns: list[str], n_bytes: int, n_records: int | None
    ) -> Iterator[Groups | IpcStream]:
        """Give pieces: record batches, cut where they take more than `n_bytes` to load."""
        groups = [self._group(batch, columns) for batch in self._batches]
        if not self._stream:
            return cut_groups(self.path, "ipc", self.version, groups, n_bytes, n_records)
        records = sum(group.n_records for group in groups)
        beside = sum(batch.n_bytes for batch in self._batches) + self.version.size
        load = sum(group.frame_bytes for group in groups) + beside
        whole = IpcStream(self.path, self.version, records, self.version.size, load, beside)
        return iter([whole] if records else [])

    def _group(self, batch: Batch, columns: list[str]) -> Group:
        types = self.schema
        # What is not of a known width is text, of some columns or of all: no one says.
        known = sum(0 if has_heap(t) else frame_width(t) - 0.125 for t in types.values())
        text = max(0, batch.n_bytes - int(known * batch.n_records))
        held = text if any(has_heap(types[name]) for name in columns) else 0
        frame = int(record_width(types[name] for name in columns) * batch.n_records) + held
        share = frame / max(1, record_width(types.values()) * batch.n_records + text)
        packed = int(batch.disk_bytes * min(1.0, share))
        plain = int(sum(frame_width(types[name]) for name in columns) * batch.n_records) + held
        return Group(batch.n_records, frame, plain + packed if batch.compressed else 0, packed)


@dataclass(frozen=True)
class IpcStream:
    """All records of a stream."""

    path: str
    version: Version
    n_records: int
    disk_bytes: int
    load_bytes: int
    read_bytes: int
    first: int = 0
    place: str = "all of it at once, as it is a stream"

    def join(self, other: Any) -> None:
        """Return that no other follows."""

    def read(self, columns: list[str], how: How) -> pl.DataFrame:
        """Read some columns."""
        self.version.check(self.path)
        frame = pl.read_ipc_stream(self.path, columns=columns).select(columns)
        if frame.height != self.n_records:
            raise FileError(
                self.path, f"is damaged: {frame.height:,} of {self.n_records:,} records are there"
            )
        return how.typed(frame)
