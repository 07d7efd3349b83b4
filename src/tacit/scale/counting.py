"""Counts as statistics of partitions: lists of arrays and numbers that are added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import counts
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.statistic import Partition

__all__ = ["OneWayCounts", "QueryCount", "StoredCount", "TableCounts", "TwoWayCounts"]


class _Sums(Statistic["list[Any]"]):
    """Arrays, numbers or tables that are added up one by one."""

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Add up, in the arrays of the first where that can be."""
        merged = []
        for a, b in zip(one, other, strict=True):
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.flags.writeable:
                a += b
                merged.append(a)
            else:
                merged.append(a + b)
        return merged


def _writable(counts: Any) -> Any:
    """Return counts that may be added to: tables keep those that they have counted."""
    return counts.copy() if isinstance(counts, np.ndarray) else counts


@dataclass(frozen=True)
class OneWayCounts(_Sums):
    """Counts of stored values, and the (weighted) number of records."""

    given: Mapping[str, Any] | None = None

    def partial(self, partition: Partition) -> list[Any]:
        """Count the values of a partition."""
        singles = partition.records.one_way(given=self.given, n_jobs=partition.n_jobs)
        return [_writable(x) for x in singles.sums]


@dataclass(frozen=True)
class TwoWayCounts(_Sums):
    """Counts of stored values with those of a target, those of all, and the number of records."""

    target: int
    given: Mapping[str, Any] | None = None

    def partial(self, partition: Partition) -> list[Any]:
        """Count the values of a partition."""
        table = partition.records
        pairs = table.two_way(self.target, given=self.given, n_jobs=partition.n_jobs)
        return [pairs.sums, *(_writable(x) for x in pairs.singles.sums)]


@dataclass(frozen=True)
class TableCounts(_Sums):
    """Contingency tables of several sets of columns, in one pass."""

    column_sets: Sequence[Sequence[str | int]]
    given: Mapping[str, Any] | None = None
    layout: counts.Layout = "auto"

    def partial(self, partition: Partition) -> list[Any]:
        """Count the tables of a partition."""
        scan = counts.Scan(partition.records, n_jobs=partition.n_jobs)
        return [scan.table(c, self.given, layout=self.layout) for c in self.column_sets]


@dataclass(frozen=True)
class QueryCount(_Sums):
    """The (weighted) number of records that match a query."""

    query: Mapping[str, Any]

    def partial(self, partition: Partition) -> list[Any]:
        """Count those of a partition."""
        return [partition.records.count(self.query)]


class StoredCount(_Sums):
    """How many values are stored."""

    def partial(self, partition: Partition) -> list[Any]:
        """Count those of a partition."""
        return [partition.records.n_stored]
