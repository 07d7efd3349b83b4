"""EM over partitioned tables: each step is one pass, shared by all starts."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit.mixture.em.iterations import EMOptions, Parameters, Problem, Run, TableProblem
from tacit.mixture.em.starts import (
    draw_seed,
    hash_numbers,
    kinds_of_starts,
    nearest_seeds,
    sample_size,
    soften,
)
from tacit.mixture.lockstep import run_in_lockstep
from tacit.mixture.partitions import SAME_SCHEMA, SchemaAdapter, take_by_rank
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

    Which one depends on the seed and on the rank of the record among those with a weight above 0,
    not on its partition.
    """

    seeds: list[np.uint64]
    n_clusters: int
    n_values: int
    first_ranks: dict[int, int]  # of each partition
    adapter: SchemaAdapter = SAME_SCHEMA

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * len(self.seeds) * self.n_clusters * (self.n_values + 1)

    def partial(self, partition: Partition) -> list[ExpectedCounts]:
        """Count the records of a partition."""
        table = self.adapter.read(partition.records)
        problem = TableProblem(table, _NO_PRIOR, partition.n_jobs)
        possible = (
            np.ones(table.n_records, np.bool_) if table.weights is None else table.weights > 0
        )
        ranks = self.first_ranks[partition.index] + np.arange(np.count_nonzero(possible))
        clusters = np.full(table.n_records, -1, np.int64)
        counts = []
        for seed in self.seeds:
            draws = hash_numbers(ranks.astype(np.uint64), seed) % np.uint64(self.n_clusters)
            clusters[possible] = draws.astype(np.int64)
            counts.append(problem.count_clusters(clusters, self.n_clusters))
        return counts


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

    def with_prior(self, prior: Prior) -> PartitionedProblem:
        """Return the same records with another prior."""
        return replace(self, prior=prior)

    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over partitions."""
        return self.expect_all([parameters])[0]

    def expect_all(self, parameters: list[Parameters]) -> list[ExpectedCounts]:
        """Return the expected counts of several mixtures, in one pass."""
        return self._reduce(ExpectAll(parameters, self.single, self.adapter), "EM: partitions")

    def follow(self, starts: Iterable[ExpectedCounts], options: EMOptions) -> Iterator[Run]:
        """Run EM from several starts, all of them in the same passes."""
        runs = [self.steps(start, options) for start in starts]
        return iter(run_in_lockstep(runs, self.expect_all))

    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> list[ExpectedCounts]:
        """Return the expected counts of several first guesses.

        They are those that the same generator draws in a Table of all records. Those of each kind
        take one pass, and seeds one more where some weights are 0.
        """
        assert self.summary is not None
        n = self.summary.n_positive
        size = sample_size(n, n_clusters)
        samples, generators, seeds = [], [], []
        kinds = kinds_of_starts(init, n_init)
        for kind in kinds:
            if kind == "random":
                seeds.append(draw_seed(rng))
                continue
            samples.append(np.sort(rng.choice(n, size, replace=False)))
            generators.append(deepcopy(rng))
            rng.random(n_clusters)  # as many as seeds take
        starts = {
            "random": iter(self._random_starts(seeds, n_clusters)),
            "seeds": iter(self._seed_starts(samples, generators, n_clusters)),
        }
        return [next(starts[kind]) for kind in kinds]

    def _random_starts(self, seeds: list[np.uint64], n_clusters: int) -> list[ExpectedCounts]:
        if not seeds:
            return []
        assert self.summary is not None
        first = self.summary.first_ranks
        statistic = RandomClusters(seeds, n_clusters, self.schema.n_values, first, self.adapter)
        return self._reduce(statistic, "starts: partitions")

    def _seed_starts(
        self,
        samples: list[NDArray[np.int64]],
        generators: list[np.random.Generator],
        n_clusters: int,
    ) -> list[ExpectedCounts]:
        if not samples:
            return []
        table, rows_of = self._take(samples)
        starts = []
        for rows, generator in zip(rows_of, generators, strict=True):
            problem = TableProblem(table.take(rows), self.prior)
            clusters = nearest_seeds(problem, np.arange(len(rows)), n_clusters, generator)
            starts.append(soften(problem.count_clusters(clusters, n_clusters)))
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
