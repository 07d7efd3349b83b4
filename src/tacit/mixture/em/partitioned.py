"""EM over partitioned tables: each step is one pass, shared by all starts."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit.mixture.em.iterations import EMOptions, Parameters, Problem, Run, TableProblem, em_steps
from tacit.mixture.em.starts import nearest_seeds, sample_size
from tacit.mixture.lockstep import run_in_lockstep
from tacit.mixture.partitions import SAME_SCHEMA, SchemaAdapter, hash_records, take_by_rank
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.prior import Prior
    from tacit.mixture.partitions import Summary
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

S = TypeVar("S")

__all__ = ["ExpectAll", "PartitionedProblem"]

_NO_PRIOR: Any = None  # which has no say in expected counts


class _Sums(Statistic["list[ExpectedCounts]"]):
    """Expected counts of several mixtures, which are added up."""

    def merge(self, one: list[ExpectedCounts], other: list[ExpectedCounts]) -> list[ExpectedCounts]:
        """Add up."""
        return [a.add_to(b) for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class ExpectAll(_Sums):
    """The expected counts of several mixtures, in one pass."""

    parameters: list[Parameters]
    single: bool = False
    adapter: SchemaAdapter = SAME_SCHEMA

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return sum(p.stored.nbytes + p.weights.nbytes for p in self.parameters)

    def partial(self, partition: Partition) -> list[ExpectedCounts]:
        """Count the records of a partition."""
        table = self.adapter.read(partition.records)
        problem = TableProblem(table, _NO_PRIOR, partition.n_jobs, self.single)
        return [problem.expect(parameters) for parameters in self.parameters]


@dataclass(frozen=True)
class RandomClusters(_Sums):
    """Counts of clusters that records are drawn into, for several starts.

    Which one depends on the seed and on the number of the record, not on its partition.
    """

    seeds: NDArray[np.uint64]
    n_clusters: int
    n_values: int
    adapter: SchemaAdapter = SAME_SCHEMA

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * len(self.seeds) * self.n_clusters * (self.n_values + 1)

    def partial(self, partition: Partition) -> list[ExpectedCounts]:
        """Count the records of a partition."""
        table = self.adapter.read(partition.records)
        problem = TableProblem(table, _NO_PRIOR, partition.n_jobs)
        draws = (hash_records(partition, seed) % np.uint64(self.n_clusters) for seed in self.seeds)
        return [problem.count_clusters(k.astype(np.int64), self.n_clusters) for k in draws]


@dataclass(frozen=True)
class PartitionedProblem(Problem):
    """Records in partitions and a prior: every E-step is one pass over them."""

    records: PartitionedTable
    prior: Prior
    adapter: SchemaAdapter = SAME_SCHEMA
    n_jobs: int | None = None  # threads on this machine
    single: bool = False  # take passes in single precision
    summary: Summary | None = None  # of the records; only starts need it
    verbose: int = 0  # 1 shows how far each pass has come

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.adapter.schema or self.records.schema

    @property
    def average_weight(self) -> float:
        """The average weight of records that have one above 0."""
        assert self.summary is not None
        return self.summary.total / max(self.summary.n_positive, 1)

    def exact(self) -> PartitionedProblem:
        """Return the same in double precision."""
        return replace(self, single=False)

    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over partitions."""
        return self.expect_all([parameters])[0]

    def expect_all(self, parameters: list[Parameters]) -> list[ExpectedCounts]:
        """Return the expected counts of several mixtures, in one pass."""
        return self._reduce(ExpectAll(parameters, self.single, self.adapter), "EM: partitions")

    def follow(self, starts: Iterable[ExpectedCounts], options: EMOptions) -> Iterator[Run]:
        """Run EM from several starts, all of them in the same passes."""
        runs = [em_steps(self.maximise, start, options) for start in starts]
        return iter(run_in_lockstep(runs, self.expect_all))

    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> list[ExpectedCounts]:
        """Return the expected counts of several first guesses.

        They take one pass, and one more where some weights are 0. Seeds are those
        that the same generator draws in a Table of all records; a random cluster is another one
        than there.
        """
        if init == "random":
            seeds = rng.integers(0, 2**64, n_init, np.uint64)
            statistic = RandomClusters(seeds, n_clusters, self.schema.n_values, self.adapter)
            return self._reduce(statistic, "starts: partitions")
        assert self.summary is not None
        n = self.summary.n_positive
        size = sample_size(n, n_clusters)
        samples, generators = [], []
        for _ in range(n_init):
            samples.append(np.sort(rng.choice(n, size, replace=False)))
            generators.append(deepcopy(rng))
            rng.random(n_clusters)  # as many as seeds take
        table, rows_of = self._take(samples)
        starts = []
        for rows, generator in zip(rows_of, generators, strict=True):
            problem = TableProblem(table.take(rows), self.prior)
            clusters = nearest_seeds(problem, np.arange(size), n_clusters, generator)
            starts.append(problem.count_clusters(clusters, n_clusters))
        return starts

    def _take(self, samples: list[NDArray[np.int64]]) -> tuple[Table, list[NDArray[np.int64]]]:
        """Return records of several samples, and the rows of that table that each sample has.

        Samples are ascending ranks among the records with a weight above 0.
        """
        assert self.summary is not None
        ranks = np.unique(np.concatenate(samples))
        table = take_by_rank(self.records, self.summary, ranks, self.n_jobs)
        return self.adapter.read(table), [np.searchsorted(ranks, sample) for sample in samples]

    def _reduce(self, statistic: Statistic[S], what: str) -> S:
        shown = self.verbose or None
        return self.records.reduce(statistic, what=what, n_jobs=self.n_jobs, verbose=shown)
