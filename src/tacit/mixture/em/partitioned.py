"""Mixtures of partitioned tables: what EM asks for, as statistics of partitions."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from tacit.counts import OneWay
from tacit.errors import InputError
from tacit.mixture.em.iterations import Evidence, How, Parameters, Problem, Run, em_steps
from tacit.mixture.em.side_by_side import run_together
from tacit.mixture.em.starts import find_distinct, nearest_seeds, sample_size
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.prior import Prior
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

S = TypeVar("S")

__all__ = ["OWN", "Look", "PartsProblem", "Under", "hash_records", "look_at", "take_counting"]

_DIGEST = 16  # bytes


@dataclass(frozen=True)
class Under:
    """The schema that records are read under, if it is not their own."""

    schema: Schema | None = None
    unseen: Literal["error", "default"] = "error"

    @classmethod
    def of(cls, records: PartitionedTable, schema: Schema, unseen: Any) -> Under:
        """Return what makes records of a table those of a model."""
        return cls() if records.schema == schema else cls(schema, unseen)

    def read(self, part: Partition) -> Table:
        """Return the records of a part."""
        table: Table = part.records
        return table if self.schema is None else table.conform(self.schema, unseen=self.unseen)


OWN = Under()


@dataclass(frozen=True)
class ExpectAll(Statistic["list[ExpectedCounts]"]):
    """The expected counts of several mixtures, in one pass."""

    parameters: list[Parameters]
    single: bool = False
    under: Under = OWN

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return sum(own.stored.nbytes + own.shares.nbytes for own in self.parameters)

    def partial(self, part: Partition) -> list[ExpectedCounts]:
        """Count the records of a part."""
        table = self.under.read(part)
        return [_expect(table, own, self.single, part.n_jobs) for own in self.parameters]

    def merge(self, one: list[ExpectedCounts], other: list[ExpectedCounts]) -> list[ExpectedCounts]:
        """Add up."""
        return [a.add_to(b) for a, b in zip(one, other, strict=True)]


def _expect(table: Table, parameters: Parameters, single: bool, n_jobs: int) -> ExpectedCounts:
    """Return expected counts of a table; no prior has a say in that."""
    nothing: Any = None
    return Problem(table, nothing, n_jobs, single).expect(parameters)


@dataclass(frozen=True)
class RandomGroups(Statistic["list[ExpectedCounts]"]):
    """Counts of clusters that records are drawn into, for several starts.

    Which one depends on the seed and on the number of the record, not on its partition.
    """

    seeds: NDArray[np.uint64]
    n_clusters: int
    n_values: int
    under: Under = OWN

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * len(self.seeds) * self.n_clusters * (self.n_values + 1)

    def partial(self, part: Partition) -> list[ExpectedCounts]:
        """Count the records of a part."""
        table, nothing = self.under.read(part), None
        problem = Problem(table, nothing, part.n_jobs)  # type: ignore[arg-type]
        found = []
        for seed in self.seeds:
            groups = hash_records(part, seed) % np.uint64(self.n_clusters)
            found.append(problem.count_groups(groups.astype(np.int64), self.n_clusters))
        return found

    def merge(self, one: list[ExpectedCounts], other: list[ExpectedCounts]) -> list[ExpectedCounts]:
        """Add up."""
        return [a.add_to(b) for a, b in zip(one, other, strict=True)]


def hash_records(part: Partition, seed: np.uint64) -> NDArray[np.uint64]:
    """Return a number for each record of a part, of its number among all records and a seed.

    They are as good as drawn at random (the finaliser of SplitMix64).
    """
    numbers = np.arange(part.first, part.first + part.records.n_records, dtype=np.uint64)
    with np.errstate(over="ignore"):
        x: NDArray[np.uint64] = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + seed
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


# What has to be known before a start


@dataclass(frozen=True)
class Look:
    """What a first pass finds: counts of values, records that count, and some that differ.

    Attributes
    ----------
    stored, total
        As of :class:`tacit.OneWay`.
    positive : dict of int to int
        How many records of each partition have a weight above 0.
    distinct : set of bytes
        Digests of records that differ from each other: all, or at least as many as asked for.
    """

    stored: NDArray[Any]
    total: float
    positive: dict[int, int]
    distinct: set[bytes]

    @property
    def n_positive(self) -> int:
        """How many records have a weight above 0."""
        return sum(self.positive.values())


@dataclass(frozen=True)
class LookAt(Statistic["Look"]):
    """The statistic that a :class:`Look` is."""

    enough: int
    n_values: int
    under: Under = OWN

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * self.n_values + 2 * (_DIGEST + 64) * self.enough

    def partial(self, part: Partition) -> Look:
        """Look at a part."""
        table = self.under.read(part)
        singles = table.one_way(n_jobs=part.n_jobs)
        positive = table.n_records
        if table.weights is not None:
            positive = int(np.count_nonzero(table.weights))
        records = find_distinct(table, self.enough) if self.enough else set()
        distinct = {blake2b(own, digest_size=_DIGEST).digest() for own in records}
        return Look(singles.stored.copy(), singles.total, {part.index: positive}, distinct)

    def merge(self, one: Look, other: Look) -> Look:
        """Add up."""
        distinct = one.distinct
        if len(distinct) < self.enough:
            distinct = distinct | other.distinct
        return Look(
            one.stored + other.stored,
            one.total + other.total,
            one.positive | other.positive,
            distinct,
        )


def look_at(
    records: PartitionedTable, under: Under, enough: int, n_jobs: int | None, verbose: int = 0
) -> tuple[Look, OneWay]:
    """Take the first pass; return counts of all values, too."""
    schema = under.schema or records.schema
    look = records.reduce(
        LookAt(enough, schema.n_values, under),
        what="counts: partitions",
        n_jobs=n_jobs,
        verbose=verbose or None,
    )
    if look.total == 0:
        raise InputError("X: all weights are zero")
    return look, OneWay(schema, look.stored, look.total)


@dataclass(frozen=True)
class CountingRecords(Statistic["NDArray[np.int64]"]):
    """The numbers of records with weights above 0, of which ranks among all such are given."""

    ranks: NDArray[np.int64]
    before: dict[int, int]  # by partition: how many there are in those before it

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory, at most."""
        return self.ranks.nbytes

    def partial(self, part: Partition) -> NDArray[np.int64]:
        """Find those in a part."""
        places = np.flatnonzero(part.records.weights)
        low = self.before[part.index]
        own = self.ranks[slice(*np.searchsorted(self.ranks, (low, low + len(places))))]
        return part.first + places[own - low].astype(np.int64)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put the later ones behind the earlier ones."""
        return np.concatenate([one, other])


def take_counting(
    records: PartitionedTable, look: Look, ranks: NDArray[np.int64], n_jobs: int | None
) -> Table:
    """Return the records with ascending ranks among those that have a weight above 0."""
    numbers = ranks
    if look.n_positive < records.n_records:
        places = sorted(look.positive)
        sizes = [look.positive[k] for k in places]
        before = dict(zip(places, (np.cumsum(sizes) - sizes).tolist(), strict=True))
        numbers = records.reduce(CountingRecords(ranks, before), n_jobs=n_jobs)
    return records.take(numbers, n_jobs=n_jobs)


@dataclass(frozen=True)
class PartsProblem(Evidence):
    """Records in partitions and a prior: every question is one pass over them.

    Attributes
    ----------
    records : PartitionedTable
    prior : Prior
    under : Under
    n_jobs : int, optional
        Threads on this machine.
    single : bool
        Take passes in single precision.
    look : Look, optional
        What is known of the records; only starts need it.
    verbose : int
        1 shows how far each pass has come.
    """

    records: PartitionedTable
    prior: Prior
    under: Under = OWN
    n_jobs: int | None = None
    single: bool = False
    look: Look | None = None
    verbose: int = 0

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.under.schema or self.records.schema

    @property
    def average_weight(self) -> float:
        """What a record that counts at all counts on average."""
        assert self.look is not None
        return self.look.total / max(self.look.n_positive, 1)

    def exact(self) -> PartsProblem:
        """Return the same in double precision."""
        return replace(self, single=False)

    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over partitions."""
        return self.expect_all([parameters])[0]

    def expect_all(self, parameters: list[Parameters]) -> list[ExpectedCounts]:
        """Return the expected counts of several mixtures, in one pass."""
        return self._reduce(ExpectAll(parameters, self.single, self.under), "EM: partitions")

    def follow(self, starts: Iterable[ExpectedCounts], how: How) -> Iterator[Run]:
        """Run EM from several starts, all of them in the same passes."""
        runs = [em_steps(self.maximise, start, how) for start in starts]
        return iter(run_together(runs, self.expect_all))

    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> list[ExpectedCounts]:
        """Return the expected counts of several first guesses.

        They take one pass, and one more where weights of 0 have to be told apart. Seeds are those
        that the same generator finds in a Table of all records; a random cluster is another one
        than there.
        """
        if init == "random":
            seeds = rng.integers(0, 2**64, n_init, np.uint64)
            drawn = RandomGroups(seeds, n_clusters, self.schema.n_values, self.under)
            return self._reduce(drawn, "starts: partitions")
        assert self.look is not None
        n = self.look.n_positive
        size = sample_size(n, n_clusters)
        samples, generators = [], []
        for _ in range(n_init):
            samples.append(np.sort(rng.choice(n, size, replace=False)))
            generators.append(deepcopy(rng))
            rng.random(n_clusters)  # as many as seeds take
        table, places = self._take(samples)
        found = []
        for own, generator in zip(places, generators, strict=True):
            problem = Problem(table.take(own), self.prior)
            groups = nearest_seeds(problem, np.arange(size), n_clusters, generator)
            found.append(problem.count_groups(groups, n_clusters))
        return found

    def _take(self, samples: list[NDArray[np.int64]]) -> tuple[Table, list[NDArray[np.int64]]]:
        """Return records of several samples, and where in that table each sample is.

        Samples are ascending places among the records that count.
        """
        assert self.look is not None
        every = np.unique(np.concatenate(samples))
        table = take_counting(self.records, self.look, every, self.n_jobs)
        if self.under.schema is not None:
            table = table.conform(self.under.schema, unseen=self.under.unseen)
        return table, [np.searchsorted(every, own) for own in samples]

    def _reduce(self, statistic: Statistic[S], what: str) -> S:
        shown = self.verbose or None
        return self.records.reduce(statistic, what=what, n_jobs=self.n_jobs, verbose=shown)
