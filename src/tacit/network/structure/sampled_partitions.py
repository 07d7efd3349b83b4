"""Counts of sampled records in partitions: every round of MIST is at most one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from tacit import counts
from tacit.network.structure.discrete_pairs import sampled_cells, sampled_square, value_pairs
from tacit.network.structure.random_order import RandomOrder, draw_key
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema

    Ints: TypeAlias = NDArray[np.int64]
    RowRange: TypeAlias = tuple[int, int]  # positions in the random order

__all__ = ["FirstSample", "PairSamples", "PartSource"]

_SHARE = 8  # a pass reads ahead until it has read one in so many (record, pair) combinations
_LISTED = 1 << 20  # records of a sample that are searched to see which partitions hold them


def _rows(order: RandomOrder, partition: Partition, row_range: RowRange) -> Ints:
    """Return which records of a partition are in a range of the random order, ascending."""
    last = partition.first + partition.records.n_records
    return order.within(partition.first, last, *row_range) - partition.first


def _add(one: list[Ints], other: list[Ints]) -> list[Ints]:
    """Add up, in place."""
    return [np.add(a, b, out=a) for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class FirstSample(Statistic["list[Ints]"]):
    """Counts of stored values of all records, those of a sample, and of all pairs in the sample."""

    exact: ClassVar[bool] = True
    order: RandomOrder
    row_range: RowRange
    n_values: int

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * self.n_values * (self.n_values + 2)

    def partial(self, partition: Partition) -> list[Ints]:
        """Count the records of a partition."""
        table = partition.records
        rows = _rows(self.order, partition, self.row_range)
        totals = table.one_way(n_jobs=partition.n_jobs).stored.astype(np.int64)
        return [totals, *sampled_square(table, rows, partition.n_jobs)]

    def merge(self, one: list[Ints], other: list[Ints]) -> list[Ints]:
        """Add up."""
        return _add(one, other)

    def accumulate(self, sums: list[Ints], partition: Partition) -> list[Ints]:
        """Add what a partition has."""
        return _add(sums, self.partial(partition))


@dataclass(frozen=True)
class PairSamples(Statistic["list[Ints]"]):
    """For each of some samples the counts of stored values, and of the pairs of some columns."""

    exact: ClassVar[bool] = True
    order: RandomOrder
    row_ranges: tuple[RowRange, ...]
    pairs: Ints
    n_cells: int
    n_values: int

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * len(self.row_ranges) * (self.n_cells + self.n_values)

    def partial(self, partition: Partition) -> list[Ints]:
        """Count the records of a partition."""
        counted = []
        for row_range in self.row_ranges:
            rows = _rows(self.order, partition, row_range)
            singles = counts.one_way(partition.records, rows, partition.n_jobs).stored.astype(
                np.int64
            )
            each = sampled_cells(partition.records, rows, self.pairs, partition.n_jobs)
            cells = [new for _, _, new in each]
            counted += [singles, np.concatenate(cells) if cells else np.zeros(0, np.int64)]
        return counted

    def merge(self, one: list[Ints], other: list[Ints]) -> list[Ints]:
        """Add up."""
        return _add(one, other)

    def accumulate(self, sums: list[Ints], partition: Partition) -> list[Ints]:
        """Add what a partition has."""
        return _add(sums, self.partial(partition))


class _PairCounts:
    """What a pass found: counts of some pairs, for one sample after another."""

    def __init__(self, statistic: PairSamples, schema: Schema, counted: list[Ints]) -> None:
        pairs, n = statistic.pairs, len(schema)
        self._schema = schema
        self._place = np.full((n, n), -1, np.int32)  # of each pair among those counted
        self._place[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        self._sizes = (schema.arities[pairs] - 1).prod(axis=1)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._singles = dict(zip(statistic.row_ranges, counted[::2], strict=True))
        self._cells = dict(zip(statistic.row_ranges, counted[1::2], strict=True))

    def singles(self, sample: RowRange) -> Ints | None:
        """Return counts of stored values, if the sample is among those counted."""
        return self._singles.get(sample)

    def covers(self, sample: RowRange, pairs: Ints) -> bool:
        """Say whether some pairs were counted in a sample."""
        return sample in self._cells and bool((self._place[pairs[:, 0], pairs[:, 1]] >= 0).all())

    def cells(self, sample: RowRange, pairs: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield pairs of stored values of some pairs that were counted, and their counts."""
        cells = self._place[pairs[:, 0], pairs[:, 1]]
        sizes = self._sizes[cells]
        shifts = self._starts[cells] - (np.cumsum(sizes) - sizes)
        stored = self._cells[sample][np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))]
        done = 0
        for v, w in value_pairs(self._schema, pairs):
            yield v, w, stored[done : done + len(v)]
            done += len(v)


class PartSource:
    """Counts of the records of a partitioned table; a sample is a range of their random order.

    The first pass counts the values of all records, and all pairs in the first sample. Each later
    one counts the pairs that are still open, not only for the next round: as many of the rounds
    that may follow as cost little, because a pass has to load partitions anyway. Records are the
    same ones as in memory, and so is all that is found. The table has no weights.
    """

    def __init__(
        self, parts: PartitionedTable, generator: np.random.Generator, n_jobs: int
    ) -> None:
        self.schema, self.n_records = parts.schema, parts.n_records
        self._parts, self._n_jobs = parts, n_jobs
        self._order = RandomOrder(parts.n_records, draw_key(generator))
        self._drawn = 0
        self._totals: Ints | None = None
        self._ahead: list[_PairCounts] = []

    def draw(self, n_total: int) -> tuple[RowRange, int]:
        """Draw up to n_total records; return their range, and how many are new."""
        start, self._drawn = self._drawn, min(n_total, self.n_records)
        return (start, self._drawn), self._drawn - start

    def rest(self) -> tuple[RowRange, int]:
        """Return all records that were not drawn, and how many."""
        return (self._drawn, self.n_records), self.n_records - self._drawn

    def totals(self) -> Ints:
        """Return the counts of stored values of all records."""
        if self._totals is None:
            self._totals = self._parts.one_way(n_jobs=self._n_jobs).stored.astype(np.int64)
        return self._totals

    def square(self, sample: RowRange) -> tuple[Ints, Ints]:
        """Return the counts of stored values in a sample, and those of all pairs of them."""
        statistic = FirstSample(self._order, sample, self.schema.n_values)
        self._totals, singles, cells = self._parts.reduce(statistic, n_jobs=self._n_jobs)
        return singles, cells

    def singles(self, sample: RowRange) -> Ints:
        """Return the counts of stored values in a sample of which cells were asked for."""
        return next(x for counts in self._ahead if (x := counts.singles(sample)) is not None)

    def cells(self, sample: RowRange, pairs: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield pairs of stored values of pairs of columns, and their counts in a sample."""
        for ahead in self._ahead:
            if ahead.covers(sample, pairs):
                return ahead.cells(sample, pairs)
        n_cells = int((self.schema.arities[pairs] - 1).prod(axis=1).sum())
        row_ranges = tuple(self._read_ahead(sample, len(pairs), n_cells))
        statistic = PairSamples(self._order, row_ranges, pairs, n_cells, self.schema.n_values)
        counted = self._parts.reduce(statistic, only=self._holding(row_ranges), n_jobs=self._n_jobs)
        ahead = _PairCounts(statistic, self.schema, counted)
        self._ahead = [counts for counts in self._ahead if counts.singles(sample) is None] + [ahead]
        return ahead.cells(sample, pairs)

    def _read_ahead(self, sample: RowRange, n_pairs: int, n_cells: int) -> Iterator[RowRange]:
        """Yield a sample, and those of the next rounds as long as they cost little."""
        n, n_columns, n_values = self.n_records, len(self.schema), self.schema.n_values
        first, stop = sample
        most_reads = n * n_columns * (n_columns - 1) / (2 * _SHARE)
        most_ranges = n_values**2 // max(1, n_cells + n_values)  # no more than all pairs take
        for k in range(max(1, most_ranges)):
            start, stop = sample if k == 0 else (stop, 2 * stop if 2 * stop < n else n)
            if k and (stop - first) * n_pairs > most_reads:
                return
            yield start, stop
            if stop == n:
                return

    def _holding(self, row_ranges: Sequence[RowRange]) -> list[int] | None:
        """Return which partitions hold records of samples; None for all."""
        first, last = row_ranges[0][0], row_ranges[-1][1]
        sizes = self._parts.partition_sizes
        if last - first > _LISTED:
            return None
        holding = np.searchsorted(np.cumsum(sizes), self._order.numbers(first, last), "right")
        held: list[int] = np.unique(holding).tolist()
        return held
