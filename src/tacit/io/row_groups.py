"""Consecutive records of a Parquet or Arrow IPC file, which Polars reads by their numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import FileError
from tacit.io.frames.raw import naming_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.io.frames.readers import How
    from tacit.io.version import Version

__all__ = ["Group", "Groups", "cut_groups", "lazy_columns"]

_UNITS = {"parquet": "row group", "ipc": "record batch"}
_MANY = {"parquet": "row groups", "ipc": "record batches"}


def lazy_columns(path: str | Path, kind: str) -> pl.LazyFrame:
    """Return a file as Polars scans it; `kind` is "parquet" or "ipc"."""
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    return scan(path, glob=False, hive_partitioning=False)


@dataclass(frozen=True)
class Group:
    """A row group or a record batch, of which some columns are wanted.

    Attributes
    ----------
    n_records : int
    frame_bytes : int
        What the columns take in a frame, and while they are read and coded: at most.
    read_bytes : int
        What it takes besides to read any part of the group, such as columns to be decompressed.
    disk_bytes : int
    """

    n_records: int
    frame_bytes: int
    read_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Groups:
    """Consecutive records of one file.

    Attributes
    ----------
    kind : str
        "parquet" or "ipc".
    version : Version
        Of the file when it was opened.
    groups : tuple of (int, int, int)
        The row groups or record batches that the records are in: number, first record in the file,
        records.
    first, n_records : int
        The records.
    """

    path: str
    kind: str
    version: Version
    groups: tuple[tuple[int, int, int], ...]
    first: int
    n_records: int
    disk_bytes: int
    load_bytes: int
    read_bytes: int

    @property
    def place(self) -> str:
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

    def join(self, other: Any) -> Groups | None:
        """Return both as one if the other follows in the same file."""
        if self.path != other.path or self.first + self.n_records != other.first:
            return None
        return replace(
            self,
            groups=tuple(dict.fromkeys(self.groups + other.groups)),
            n_records=self.n_records + other.n_records,
            disk_bytes=self.disk_bytes + other.disk_bytes,
            load_bytes=self.load_bytes + other.load_bytes,
            read_bytes=self.read_bytes + other.read_bytes,
        )

    def read(self, columns: list[str], how: How) -> pl.DataFrame:
        """Read some columns; what cannot be read is narrowed down to its row group."""
        self.version.check(self.path)
        lazy = lazy_columns(self.path, self.kind).select(columns)
        try:
            frame = lazy.slice(self.first, self.n_records).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            for number, first, n_records in self.groups if len(self.groups) > 1 else ():
                one = replace(
                    self, groups=((number, first, n_records),), first=first, n_records=n_records
                )
                with naming_place(self.path, one.place):
                    one.read(columns, how)
            raise
        if frame.height != self.n_records:
            raise FileError(
                self.path, f"{frame.height:,} of {self.n_records:,} records are there: it is "
                "damaged, or has changed"
            )  # fmt: skip
        return how.typed(frame)


def cut_groups(
    path: str,
    kind: str,
    version: Version,
    groups: list[Group],
    n_bytes: int,
    n_records: int | None,
) -> Iterator[Groups]:
    """Give pieces: groups, cut where they take more than `n_bytes` to load."""
    first = 0
    for number, group in enumerate(groups):
        n = group.n_records
        # What reading takes besides does not get less by reading less of a group.
        room = max(1, n_bytes // 2, n_bytes - group.read_bytes)
        pieces = -(-group.frame_bytes // room) if n_records is None else -(-n // n_records)
        pieces = min(max(1, pieces), n)
        for k in range(pieces):
            a, b = n * k // pieces, n * (k + 1) // pieces
            part = (b - a) / n
            yield Groups(
                path,
                kind,
                version,
                ((number, first, n),),
                first + a,
                b - a,
                int(group.disk_bytes * part),
                int(group.frame_bytes * part) + 1 + group.read_bytes,
                group.read_bytes,
            )
        first += n
