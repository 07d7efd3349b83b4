"""What mixtures and k-means need of partitioned tables before they start."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.counts import OneWay
from tacit.errors import InputError
from tacit.mixture.em.starts import distinct_records, hash_numbers
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = [
    "SAME_SCHEMA",
    "FirstPass",
    "SchemaAdapter",
    "Summary",
    "first_pass",
    "hash_records",
    "take_by_rank",
]

_DIGEST = 16  # bytes


@dataclass(frozen=True)
class SchemaAdapter:
    """Reads records under the schema of a model, if that is not the schema they have."""

    schema: Schema | None = None
    unseen: Literal["error", "default"] = "error"

    @classmethod
    def between(cls, records: PartitionedTable, schema: Schema, unseen: Any) -> SchemaAdapter:
        """Return what reads the records of a table as those of a model."""
        return SAME_SCHEMA if records.schema == schema else cls(schema, unseen)

    def read(self, table: Table) -> Table:
        """Return the records under the model's schema."""
        return table if self.schema is None else table.conform(self.schema, unseen=self.unseen)


SAME_SCHEMA = SchemaAdapter()


def hash_records(partition: Partition, seed: np.uint64) -> NDArray[np.uint64]:
    """Return a pseudorandom number for each record, of its number among all records and a seed.

    The numbers do not depend on the partitioning.
    """
    last = partition.first + partition.records.n_records
    return hash_numbers(np.arange(partition.first, last, dtype=np.uint64), seed)


@dataclass(frozen=True)
class Summary:
    """The result of a first pass: counts of values, records with weight, and distinct records."""

    stored: NDArray[Any]  # as of :class:`tacit.counts.OneWay`
    total: float  # likewise
    positive: dict[int, int]  # how many records of each partition have a weight above 0
    distinct: set[bytes]  # digests of distinct records: of all, or of at least as many as asked for

    @property
    def n_positive(self) -> int:
        """How many records have a weight above 0."""
        return sum(self.positive.values())

    @property
    def first_ranks(self) -> dict[int, int]:
        """How many records with a weight above 0 there are before each partition."""
        partitions = sorted(self.positive)
        sizes = [self.positive[k] for k in partitions]
        return dict(zip(partitions, (np.cumsum(sizes) - sizes).tolist(), strict=True))


@dataclass(frozen=True)
class FirstPass(Statistic["Summary"]):
    """The statistic that a :class:`Summary` is; it looks for `n_distinct` distinct records."""

    n_distinct: int
    n_values: int
    adapter: SchemaAdapter = SAME_SCHEMA

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * self.n_values + 2 * (_DIGEST + 64) * self.n_distinct

    def partial(self, partition: Partition) -> Summary:
        """Summarise a partition."""
        table = self.adapter.read(partition.records)
        singles = table.one_way(n_jobs=partition.n_jobs)
        positive = table.n_records
        if table.weights is not None:
            positive = int(np.count_nonzero(table.weights))
        records = distinct_records(table, self.n_distinct) if self.n_distinct else set()
        digests = {blake2b(record, digest_size=_DIGEST).digest() for record in records}
        return Summary(singles.stored.copy(), singles.total, {partition.index: positive}, digests)

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add up."""
        distinct = one.distinct
        if len(distinct) < self.n_distinct:
            distinct = distinct | other.distinct
        return Summary(
            one.stored + other.stored,
            one.total + other.total,
            one.positive | other.positive,
            distinct,
        )


def first_pass(
    records: PartitionedTable,
    adapter: SchemaAdapter,
    n_distinct: int,
    n_jobs: int | None,
    verbose: int = 0,
) -> tuple[Summary, OneWay]:
    """Take the first pass; return counts of all values, too."""
    schema = adapter.schema or records.schema
    summary = records.reduce(
        FirstPass(n_distinct, schema.n_values, adapter),
        what="counts: partitions",
        n_jobs=n_jobs,
        verbose=verbose or None,
    )
    if summary.total == 0:
        raise InputError("X: all weights are zero")
    return summary, OneWay(schema, summary.stored, summary.total)


@dataclass(frozen=True)
class RecordsOfRanks(Statistic["NDArray[np.int64]"]):
    """The numbers of records with weights above 0, of which ranks among all such are given."""

    ranks: NDArray[np.int64]
    first_ranks: dict[int, int]  # of each partition

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory, at most."""
        return self.ranks.nbytes

    def partial(self, partition: Partition) -> NDArray[np.int64]:
        """Return those of a partition."""
        positive = np.flatnonzero(partition.records.weights)
        low = self.first_ranks[partition.index]
        ranks = self.ranks[slice(*np.searchsorted(self.ranks, (low, low + len(positive))))]
        return partition.first + positive[ranks - low].astype(np.int64)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put the later ones behind the earlier ones."""
        return np.concatenate([one, other])


def take_by_rank(
    records: PartitionedTable, summary: Summary, ranks: NDArray[np.int64], n_jobs: int | None
) -> Table:
    """Return the records with ascending ranks among those that have a weight above 0."""
    numbers = ranks
    if summary.n_positive < records.n_records:
        numbers = records.reduce(RecordsOfRanks(ranks, summary.first_ranks), n_jobs=n_jobs)
    return records.take(numbers, n_jobs=n_jobs)
