"""Records to learn from, in memory or in partitions, without those that are held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.density.observed import observe
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.scale.weighted_records import weighted_records
from tacit.statistic import Statistic
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters
    from tacit.density.layout import TreeLayout, TreeRecords
    from tacit.density.observed import Observed
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema

__all__ = ["Sample", "Source"]

_SAMPLE = 50_000  # records that trees and starts are found from, at most
_HELD_OUT = 100_000  # records that are held out, at most


class Sample(NamedTuple):
    """Some of the records, as they came and with defaults for what is not known."""

    given: Table
    filled: Table


@dataclass(frozen=True)
class _Expect(Statistic["list[ExpectedCounts]"]):
    """The expected counts of clusters, of each tree."""

    groups: list[TreeClusters]
    schema: Schema
    excluded: NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return sum(group.factors[0].nbytes for group in self.groups)

    def partial(self, partition: Partition) -> list[ExpectedCounts]:
        """Expect those of a partition."""
        table = _without(partition, self.excluded)
        return observe(table, self.schema).expect(self.groups, None, partition.n_jobs)

    def merge(self, one: list[ExpectedCounts], other: list[ExpectedCounts]) -> list[ExpectedCounts]:
        """Add up."""
        return [a.add_to(b) for a, b in zip(one, other, strict=True)]


def _without(partition: Partition, excluded: NDArray[np.int64]) -> Table:
    """Return the records of a partition that are not held out."""
    table: Table = partition.records
    span = partition.first, partition.first + table.n_records
    begin, end = np.searchsorted(excluded, span)
    if begin == end:
        return table
    kept = np.ones(table.n_records, np.bool_)
    kept[excluded[begin:end] - partition.first] = False
    return table.take(np.flatnonzero(kept))


@dataclass
class Source:
    """Where expected counts of records come from.

    Trees and starts are found from a sample, which is all records where they are not very many:
    an edge is mostly decided long before all of them are read.
    """

    records: Table | PartitionedTable
    schema: Schema  # of the model: without labels for missing values, if these are not known
    n_jobs: int | None = None
    verbose: int = 0
    excluded: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _observed: Observed | None = None
    _prepared: dict[int, Any] = field(default_factory=dict)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The records that are learnt from."""
        return np.setdiff1d(self._there, self.excluded, assume_unique=True)

    @cached_property
    def _there(self) -> NDArray[np.int64]:
        return weighted_records(self.records)

    def hold_out(self, fraction: float, rng: np.random.Generator) -> Observed:
        """Return a fraction of the records, which are not learnt from any more."""
        n = len(self._there)
        if n < 2:
            raise InputError("validation: no record is left to learn from if one is held out")
        size = min(max(round(fraction * n), 1), _HELD_OUT, n - 1)
        self.excluded = self._there[np.sort(rng.choice(n, size, replace=False))]
        return observe(self._take(self.excluded), self.schema)

    def sample(self, rng: np.random.Generator, fraction: float = 1.0) -> Sample:
        """Return some of the records, as many as trees and starts are found from."""
        numbers = self.numbers
        size = max(round(fraction * min(len(numbers), _SAMPLE)), min(len(numbers), 2))
        if size < len(numbers):
            numbers = np.sort(rng.choice(numbers, size, replace=False))
        given = self._take(numbers)
        return Sample(given, given.conform(self.schema, unseen="default"))

    def _take(self, numbers: NDArray[np.int64]) -> Table:
        if isinstance(self.records, Table):
            n = self.records.n_records
            return self.records if len(numbers) == n else self.records.take(numbers)
        return self.records.take(numbers, n_jobs=self.n_jobs)

    def expect(self, groups: list[TreeClusters]) -> list[ExpectedCounts]:
        """Return the expected counts of clusters: one pass over the records."""
        if isinstance(self.records, Table):
            if self._observed is None:
                self._observed = observe(self._take(self.numbers), self.schema)
            jobs = count_jobs(self.n_jobs)
            records = [self._tree_records(group.layout, self._observed) for group in groups]
            return self._observed.expect(groups, records, jobs)
        found: list[ExpectedCounts] = self.records.reduce(
            _Expect(groups, self.schema, self.excluded),
            what="EM: partitions",
            n_jobs=self.n_jobs,
            verbose=self.verbose or None,
        )
        return found

    def _tree_records(self, layout: TreeLayout, observed: Observed) -> TreeRecords:
        """Return the ids of records in memory, which are found once for each layout."""
        if id(layout) not in self._prepared:
            records = observed.tree_records(layout, count_jobs(self.n_jobs))
            self._prepared[id(layout)] = layout, records
        prepared: TreeRecords = self._prepared[id(layout)][1]
        return prepared

    def forget(self) -> None:
        """Let go of the ids of records."""
        self._prepared.clear()
