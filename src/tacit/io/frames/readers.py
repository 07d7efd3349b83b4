"""Row ranges of files, several of which may make a partition, and the two readers of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from tacit.io.frames.raw import RawFrame, RawPartition, naming_location
from tacit.scale.partitions import Partitions, PartitionSource, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.io.csv.text import CsvFormat
    from tacit.io.frames.coding import Coding
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = [
    "CodedReader",
    "FilePartition",
    "RawReader",
    "ReadOptions",
    "RowRange",
    "group_ranges",
    "raw_partitions",
]


@dataclass(frozen=True)
class ReadOptions:
    """How files are to be read, for all of them at once."""

    # Of columns that a file does not tell the type of.
    types: Mapping[str, Any] = field(default_factory=dict)
    formats: tuple[CsvFormat, ...] = ()  # of files of text

    def typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give columns that a file has nothing in the type that they have in others."""
        empty = [name for name, dtype in frame.schema.items() if dtype == pl.Null]
        return frame.with_columns(pl.col(name).cast(self.types[name]) for name in empty)


@dataclass(frozen=True, kw_only=True)
class RowRange(ABC):
    """Consecutive records of one file: small and picklable."""

    path: str = ""
    first: int = 0  # the number of its first record in the file, as far as it is known
    n_records: int = 0  # as far as it is known; else an estimate
    disk_bytes: int = 0
    load_bytes: int = 0
    # How much of `load_bytes` is needed to read it, beside the frame that it becomes.
    read_bytes: int = 0

    @property
    @abstractmethod
    def location(self) -> str:
        """Where in the file, for people."""

    @abstractmethod
    def read(self, columns: list[str], options: ReadOptions) -> pl.DataFrame:
        """Read some columns."""

    def join(self, other: Any) -> RowRange | None:
        """Return both as one if the other follows in the same file, else None."""
        return None

    def _joined(self, other: Self, **changes: Any) -> Self:
        """Return both as one, with further changes."""
        sizes = ("n_records", "disk_bytes", "load_bytes", "read_bytes")
        sums = {name: getattr(self, name) + getattr(other, name) for name in sizes}
        return replace(self, **sums, **changes)


@dataclass(frozen=True)
class FilePartition(PartitionSource):
    """A partition: one or more row ranges of files, and what reading takes beside frames."""

    row_ranges: tuple[RowRange, ...]
    read_bytes: int

    @classmethod
    def of(cls, ranges: Sequence[RowRange]) -> FilePartition:
        """Make a partition of row ranges, each joined with the one before if that can be."""
        joined = [ranges[0]]
        for row_range in ranges[1:]:
            both = joined[-1].join(row_range)
            joined[-1:] = [joined[-1], row_range] if both is None else [both]
        more = f" and {len(joined) - 1} more" if len(joined) > 1 else ""
        n_bytes = sum(row_range.load_bytes for row_range in joined)
        return cls(
            tuple(joined),
            max(row_range.read_bytes for row_range in joined),
            name=f"{joined[0].path}, {joined[0].location}{more}",
            disk_bytes=sum(row_range.disk_bytes for row_range in joined),
            load_bytes=n_bytes,
            kept_bytes=n_bytes,
        )


def group_ranges(
    ranges: Iterable[RowRange], n_bytes: int, n_records: int | None
) -> tuple[FilePartition, ...]:
    """Group neighbours into partitions of about the given size at most."""
    groups: list[list[RowRange]] = []
    size = records = 0
    for row_range in ranges:
        size += row_range.load_bytes
        records += row_range.n_records
        full = size > n_bytes if n_records is None else records > n_records
        if not groups or full:
            groups.append([])
            size, records = row_range.load_bytes, row_range.n_records
        groups[-1].append(row_range)
    return tuple(FilePartition.of(group) for group in groups)


@dataclass(frozen=True)
class RawReader(Reader):
    """Reads partitions as frames, for the pass that finds labels."""

    columns: tuple[str, ...]
    options: ReadOptions = ReadOptions()

    def load(self, source: Any, n_jobs: int) -> RawPartition | None:
        """Read the frames of a partition."""
        frames = []
        for row_range in source.row_ranges:
            path, location = row_range.path, row_range.location
            with naming_location(path, location):
                frame = row_range.read(list(self.columns), self.options)
            if frame.height:
                frames.append(RawFrame(frame, path, location, row_range.first))
        return RawPartition(frames) if frames else None


def raw_partitions(
    sources: tuple[Any, ...], columns: Sequence[str], read_options: ReadOptions
) -> Partitions:
    """Return partitions as raw frames, which no later pass will want."""
    reader = RawReader(tuple(columns), read_options)
    return Partitions(sources, reader, (0,) * len(sources), keep=False)


@dataclass(frozen=True)
class CodedReader(Reader):
    """Reads partitions as Tables under one schema."""

    coding: Coding
    options: ReadOptions = ReadOptions()

    def select(
        self, sources: tuple[Any, ...], schema: Schema, columns: Sequence[int]
    ) -> tuple[CodedReader, tuple[Any, ...]]:
        """Return a reader that does not read other columns."""
        return CodedReader(self.coding.select(columns), self.options), sources

    def load(self, source: Any, n_jobs: int) -> Table | None:
        """Read a partition and code its values."""
        raw = RawReader(tuple(self.coding.columns), self.options).load(source, n_jobs)
        return None if raw is None else self.coding.table(raw, n_jobs)
