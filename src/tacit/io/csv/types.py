"""Types of columns of text: the narrowest that all values fit, in one file or in all ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from tacit.io.frames.raw import naming_location, raw_partition
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.io.csv.ranges import CsvScan
    from tacit.statistic import Partition

__all__ = ["WIDTHS", "FitCounts", "common_types", "count_fits", "fitting_types", "wider_types"]

WIDTHS = {pl.Boolean: 0, pl.Int64: 0, pl.Float64: 1, pl.String: 2}
Fits: TypeAlias = "dict[str, NDArray[np.int64]]"


def count_fits(texts: pl.LazyFrame, names: Sequence[str], decimal: str = ".") -> Fits:
    """Count, for each column, its values and those that are flags, whole numbers and numbers."""
    checks = []
    for name in names:
        text = pl.col(name).str.strip_chars_start(" ")  # as Polars does in CSV
        integer = text.cast(pl.Int64, strict=False).is_not_null()
        if decimal == ",":  # and a number with a point is none
            pointed = text.str.contains(".", literal=True)
            text = pl.when(~pointed).then(text.str.replace(",", ".", literal=True))
        real = text.cast(pl.Float64, strict=False).is_finite() & ~text.str.contains(r"^[+-]?\d+$")
        flag = text.str.contains(r"^(?i:true|false)$")
        sums = [pl.col(name).is_not_null(), flag, integer, integer | real.fill_null(False)]
        checks.append(pl.struct(x.sum().alias(str(k)) for k, x in enumerate(sums)).alias(name))
    counts = texts.select(checks).collect(engine="streaming").row(0, named=True)
    return {name: np.array(list(each.values()), np.int64) for name, each in counts.items()}


def fitting_types(counts: Fits) -> dict[str, Any]:
    """Return the narrowest type that all values of each column fit."""
    types: dict[str, Any] = {}
    for name, (n, flags, integers, numbers) in counts.items():
        fits = ((flags, pl.Boolean), (integers, pl.Int64), (numbers, pl.Float64))
        types[name] = next((t for count, t in fits if n and count == n), pl.String)
    return types


def wider_types(types: Mapping[str, Any], fitting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types of the columns that have to be given wider ones."""
    return {n: t for n, t in fitting.items() if WIDTHS[t] > WIDTHS[types[n]]}


@dataclass(frozen=True)
class FitCounts(Statistic["Fits"]):
    """How many values of columns of text are flags, or numbers: a statistic of raw frames."""

    columns: tuple[str, ...]
    decimal: str = "."

    def partial(self, partition: Partition) -> Fits:
        """Count the values of a partition."""
        total: Fits = {}
        for raw in raw_partition(partition.records).frames:
            with naming_location(raw.path, raw.location):
                counts = count_fits(raw.frame.lazy(), self.columns, self.decimal)
            total = self.merge(total, counts) if total else counts
        return total

    def merge(self, one: Fits, other: Fits) -> Fits:
        """Add up."""
        return {name: one[name] + other[name] for name in one}


def common_types(files: Sequence[CsvScan], names: Sequence[str]) -> dict[str, Any]:
    """Return the narrowest types that suit what all files begin with."""
    types: dict[str, Any] = {}
    for name in names:
        seen = {file.schema[name] for file in files if name not in file.without_values}
        if len(seen) == 1:
            types[name] = seen.pop()
        else:
            types[name] = pl.Float64 if seen == {pl.Int64, pl.Float64} else pl.String
    return types
