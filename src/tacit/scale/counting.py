"""Counts as statistics of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit import counts
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.counts import ContingencyTable
    from tacit.statistic import Partition

__all__ = ["OneWayCounts", "QueryCount", "TableCounts", "TwoWayCounts"]

Sums: TypeAlias = list[Any]  # arrays, and numbers, that are added up one by one


def _add(one: Sums, other: Sums) -> Sums:
    """Add up, in the arrays of the first where that can be."""
    merged = []
    for a, b in zip(one, other, strict=True):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.flags.writeable:
            a += b
            merged.append(a)
        else:
            merged.append(a + b)
    return merged


@dataclass(frozen=True)
class OneWayCounts(Statistic["Sums"]):
    """Counts of stored values, and the (weighted) number of records."""

    given: Mapping[str, Any] | None = None

    def partial(self, partition: Partition) -> Sums:
        """Count the values of a partition."""
        singles = partition.records.one_way(given=self.given, n_jobs=partition.n_jobs)
        return [singles.stored.copy(), singles.total]

    def merge(self, one: Sums, other: Sums) -> Sums:
        """Add up."""
        return _add(one, other)


@dataclass(frozen=True)
class TwoWayCounts(Statistic["Sums"]):
    """Counts of stored values with those of a target, those of all, and the number of records."""

    target: int
    given: Mapping[str, Any] | None = None

    def partial(self, partition: Partition) -> Sums:
        """Count the values of a partition."""
        table, schema = partition.records, partition.records.schema
        pairs = table.two_way(self.target, given=self.given, n_jobs=partition.n_jobs)
        stored = pairs.counts[np.ix_(schema.codes_of(self.target), schema.value_cells)]
        return [stored, pairs.singles.stored.copy(), pairs.singles.total]

    def merge(self, one: Sums, other: Sums) -> Sums:
        """Add up."""
        return _add(one, other)


@dataclass(frozen=True)
class TableCounts(Statistic["list[ContingencyTable]"]):
    """Contingency tables of several sets of columns, in one pass."""

    column_sets: Sequence[Sequence[str | int]]
    given: Mapping[str, Any] | None = None
    layout: counts.Layout = "auto"

    def partial(self, partition: Partition) -> list[ContingencyTable]:
        """Count the tables of a partition."""
        scan = counts.Scan(partition.records, n_jobs=partition.n_jobs)
        return [scan.table(c, self.given, layout=self.layout) for c in self.column_sets]

    def merge(
        self, one: list[ContingencyTable], other: list[ContingencyTable]
    ) -> list[ContingencyTable]:
        """Add up."""
        return [a + b for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class QueryCount(Statistic["int | float"]):
    """The (weighted) number of records that match a query."""

    query: Mapping[str, Any]

    def partial(self, partition: Partition) -> int | float:
        """Count those of a partition."""
        count: int | float = partition.records.count(self.query)
        return count

    def merge(self, one: int | float, other: int | float) -> int | float:
        """Add up."""
        return one + other
