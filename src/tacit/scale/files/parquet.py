"""Parquet files: row groups, or parts of large ones, as pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import FileError
from tacit.scale.files.parquet_footer import read_row_groups
from tacit.scale.raw import naming_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.scale.files.parquet_footer import RowGroup

__all__ = ["ParquetFile", "RowGroups", "memory_width"]


@dataclass(frozen=True)
class RowGroups:
    """Consecutive records of one Parquet file.

    Attributes
    ----------
    groups : tuple of (int, int, int)
        The row groups that the records are in: number, first record in the file, records.
    first, n_records : int
        The records.
    """

    path: str
    groups: tuple[tuple[int, int, int], ...]
    first: int
    n_records: int
    disk_bytes: int
    load_bytes: int

    @property
    def place(self) -> str:
        """Which row groups."""
        low, high = self.groups[0][0], self.groups[-1][0]
        if low != high:
            return f"row groups {low} to {high}"
        _, first, n_records = self.groups[0]
        if self.n_records == n_records:
            return f"row group {low}"
        start = self.first - first
        return f"row group {low}, records {start:,} to {start + self.n_records - 1:,} of it"

    def join(self, other: Any) -> RowGroups | None:
        """Return both as one if the other follows in the same file."""
        if self.path != other.path or self.first + self.n_records != other.first:
            return None
        return RowGroups(
            self.path,
            tuple(dict.fromkeys(self.groups + other.groups)),
            self.first,
            self.n_records + other.n_records,
            self.disk_bytes + other.disk_bytes,
            self.load_bytes + other.load_bytes,
        )

    def read(self, columns: list[str]) -> pl.DataFrame:
        """Read some columns; what cannot be read is narrowed down to its row group."""
        try:
            frame = _lazy(self.path).select(columns).slice(self.first, self.n_records).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            for number, first, n_records in self.groups if len(self.groups) > 1 else ():
                one = replace(
                    self, groups=((number, first, n_records),), first=first, n_records=n_records
                )
                with naming_place(self.path, one.place):
                    one.read(columns)
            raise
        if frame.height != self.n_records:
            raise FileError(
                self.path, f"{frame.height:,} of {self.n_records:,} records are there: it is "
                "damaged, or has changed"
            )  # fmt: skip
        return frame


def _lazy(path: str | Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


class ParquetFile:
    """What the footer of a Parquet file says.

    Attributes
    ----------
    path : str
    schema : dict of str to Polars types
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.groups = read_row_groups(Path(path))
        self.schema: dict[str, Any] = dict(_lazy(path).collect_schema())

    def stretches(
        self, columns: list[str], n_bytes: int, n_records: int | None
    ) -> Iterator[RowGroups]:
        """Give pieces: row groups, cut where they take more than `n_bytes` to load."""
        width = sum(memory_width(self.schema[name]) for name in columns)
        share = len(columns) / max(1, len(self.schema))
        first = 0
        for number, group in enumerate(self.groups):
            if group.n_records:
                load = int(group.n_records * width + group.n_bytes * share)
                pieces = -(-load // n_bytes)
                if n_records is not None:
                    pieces = -(-group.n_records // n_records)
                yield from self._cut(number, group, first, pieces, load, share)
            first += group.n_records

    def _cut(
        self, number: int, group: RowGroup, first: int, pieces: int, load: int, share: float
    ) -> Iterator[RowGroups]:
        n = group.n_records
        pieces = min(pieces, n)
        for k in range(pieces):
            a, b = n * k // pieces, n * (k + 1) // pieces
            part = (b - a) / n
            yield RowGroups(
                self.path,
                ((number, first, n),),
                first + a,
                b - a,
                int(group.disk_bytes * share * part),
                int(load * part),
            )


def memory_width(dtype: Any) -> float:
    """Return the bytes that a value takes in a frame, without what it points to, and its code."""
    if dtype == pl.Boolean:
        own = 0.125
    elif dtype.is_numeric() and not dtype.is_decimal():
        own = int(str(dtype).lstrip("UIntFloat")) / 8
    elif dtype in (pl.Categorical, pl.Enum, pl.Date):
        own = 4
    else:
        own = 8 if dtype.is_temporal() else 16
    return own + 4
