"""Parquet and Arrow IPC files: what both have, and row groups or record batches as partitions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from tacit.errors import FileError
from tacit.io.frames.metadata import find_metadata
from tacit.io.frames.raw import naming_location
from tacit.io.frames.readers import ReadOptions, RowRange, group_ranges
from tacit.io.opening import POLARS_ERRORS, Version
from tacit.io.parquet_layout import Layout, check_pages, read_layout
from tacit.io.tabular import TabularFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tacit.io.frames.metadata import ScanOptions
    from tacit.io.opening import PathLike
    from tacit.scale.partitioned_table import Metadata, PassRunner

__all__ = ["ColumnarFile", "ColumnarFiles", "GroupSize", "RowGroups", "check_height"]

_UNITS = {"parquet": "row group", "ipc": "record batch"}
_MANY = {"parquet": "row groups", "ipc": "record batches"}


@dataclass(frozen=True)
class GroupSize:
    """A row group or a record batch, of which some columns are wanted."""

    n_records: int
    frame_bytes: int  # what the columns take in a frame, and while they are read and coded: at most
    # What it takes besides to read any part of the group, such as columns to be decompressed.
    read_bytes: int
    disk_bytes: int


class ColumnarFile(TabularFile):
    """A Parquet or Arrow IPC file, which says itself what it holds; `plain` if it is compressed."""

    kind: ClassVar[str]

    def __init__(self, path: PathLike, plain: Path | None = None) -> None:
        super().__init__(path, plain or Path(path))
        self.version = Version.of(path)

    def lazy(self) -> pl.LazyFrame:
        """Return all columns as Polars scans them."""
        return _scan(self.plain, self.kind)

    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        """Read some columns, about `size` records at a time."""
        lazy = self.lazy()
        expected = lazy.select(pl.len()).collect().item()
        n_records = 0
        batches = lazy.select(columns)
        for frame in batches.collect_batches(chunk_size=size, lazy=True, engine="streaming"):
            n_records += frame.height
            yield frame
        check_height(self.path, n_records, expected)

    def whole(self, columns: list[str]) -> pl.DataFrame:
        """Read some columns of all records."""
        frame = self.lazy().select(columns).collect(engine="streaming")
        check_height(self.path, frame.height, self.lazy().select(pl.len()).collect().item())
        return frame

    @abstractmethod
    def group_sizes(self, columns: list[str]) -> list[GroupSize]:
        """Return the sizes of row groups or record batches, in order."""

    def row_ranges(
        self, columns: list[str], n_bytes: int, n_records: int | None
    ) -> Iterator[RowRange]:
        """Give groups, cut where they take more than `n_bytes` to load."""
        first = 0
        for number, group in enumerate(self.group_sizes(columns)):
            n = group.n_records
            # What reading takes besides does not get less by reading less of a group.
            room = max(1, n_bytes // 2, n_bytes - group.read_bytes)
            ranges = -(-group.frame_bytes // room) if n_records is None else -(-n // n_records)
            ranges = min(max(1, ranges), n)
            for k in range(ranges):
                a, b = n * k // ranges, n * (k + 1) // ranges
                fraction = (b - a) / n
                yield RowGroups(
                    self.kind,
                    self.version,
                    ((number, first, n),),
                    path=str(self.path),
                    first=first + a,
                    n_records=b - a,
                    disk_bytes=int(group.disk_bytes * fraction),
                    load_bytes=int(group.frame_bytes * fraction) + 1 + group.read_bytes,
                    read_bytes=group.read_bytes,
                )
            first += n


def _scan(path: str | Path, kind: str) -> pl.LazyFrame:
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    return scan(path, glob=False, hive_partitioning=False)


def check_height(path: PathLike, n_records: int, expected: int) -> None:
    """Refuse a file that has fewer records than it says, or more."""
    if n_records != expected:
        raise FileError(path, f"is damaged: {n_records:,} of {expected:,} records are there")


@dataclass(frozen=True)
class RowGroups(RowRange):
    """Consecutive records of one file."""

    kind: str  # "parquet" or "ipc"
    version: Version  # of the file when it was opened
    # The row groups or record batches that the records are in: number, first record in the file,
    # records.
    groups: tuple[tuple[int, int, int], ...]

    @property
    def location(self) -> str:
        """Which row groups or record batches."""
        low, high = self.groups[0][0], self.groups[-1][0]
        if low != high:
            return f"{_MANY[self.kind]} {low} to {high}"
        _, first, n_records = self.groups[0]
        if self.n_records == n_records:
            return f"{_UNITS[self.kind]} {low}"
        start = self.first - first
        last = start + self.n_records - 1
        return f"{_UNITS[self.kind]} {low}, records {start:,} to {last:,} of it"

    def join(self, other: Any) -> RowGroups | None:
        """Return both as one if the other follows in the same file."""
        if self.path != other.path or self.first + self.n_records != other.first:
            return None
        return self._joined(other, groups=tuple(dict.fromkeys(self.groups + other.groups)))

    def read(self, columns: list[str], options: ReadOptions) -> pl.DataFrame:
        """Read some columns; an error names the row group that cannot be read."""
        self.version.check(self.path)
        if self.kind == "parquet":
            self._check_pages(columns)
        lazy = _scan(self.path, self.kind).select(columns)
        try:
            frame = lazy.slice(self.first, self.n_records).collect()
        except (*POLARS_ERRORS, OSError):
            for number, first, n_records in self.groups if len(self.groups) > 1 else ():
                one = replace(
                    self, groups=((number, first, n_records),), first=first, n_records=n_records
                )
                with naming_location(self.path, one.location):
                    one.read(columns, options)
            raise
        if frame.height != self.n_records:
            raise FileError(
                self.path, f"{frame.height:,} of {self.n_records:,} records are there: it is "
                "damaged, or has changed"
            )  # fmt: skip
        return options.typed(frame)

    def _check_pages(self, columns: list[str]) -> None:
        """Check headers of pages before Polars reads them, each once in a process."""
        layout, checked = _layout_of(self.path, self.version)
        for number, _, _ in self.groups:
            new = {name for name in columns if (number, name) not in checked}
            if new:
                check_pages(self.path, layout, [number], new)
                checked.update((number, name) for name in new)


@lru_cache(maxsize=64)
def _layout_of(path: str, version: Version) -> tuple[Layout, set[tuple[int, str]]]:
    """Return what a Parquet file says of itself, and which columns of row groups were checked."""
    return read_layout(path), set()


class ColumnarFiles:
    """Parquet or Arrow IPC files that are scanned together."""

    def __init__(
        self, files: Sequence[ColumnarFile], types: dict[str, Any], options: ScanOptions
    ) -> None:
        self._options = options
        self._specs = options.specs(types)
        self._read_options = ReadOptions({name: types[name] for name in options.wanted})
        n_bytes, n_records = options.n_bytes, options.n_records
        ranges: Iterable[RowRange] = [
            r for f in files for r in f.row_ranges(list(options.wanted), n_bytes, n_records)
        ]
        if not ranges:
            raise options.no_records()
        self._sources = group_ranges(ranges, n_bytes, n_records)

    def find(self, passes: PassRunner) -> Metadata:
        """Find labels and defaults."""
        return find_metadata(passes, self._options, self._specs, self._sources, self._read_options)
