"""Counts of leaves as statistics of partitions, and what their records weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core
from tacit.statistic import Statistic
from tacit.tree.growth.settings import exact_total, in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["DisjointCells", "FirstPass", "LeafCounts", "Paths", "RecordWeights", "TargetSummary"]


@dataclass(frozen=True)
class RecordWeights:
    """What a record counts for: its weight times that of its class."""

    target: int = -1  # the column of the classes; only used if they have weights
    by_class: NDArray[np.float64] | None = None  # by the codes of that column
    unit: float = 1.0  # how many units make one

    def applies(self, weighted: bool) -> bool:
        """Return whether records count other than one, given whether they have weights."""
        return weighted or self.by_class is not None

    def of(self, table: Table) -> NDArray[np.float64] | None:
        """Return the weight of each record; None where all are one."""
        weights = table.weights
        if self.by_class is None:
            return weights
        each = self.by_class[table.codes(self.target)]
        if weights is None:
            return each
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(weights > 0, each * weights, 0.0)

    def units_of(self, table: Table) -> NDArray[np.int64] | None:
        """Return the weight of each record in units."""
        weights = self.of(table)
        return None if weights is None else in_units(weights, self.unit)


class TargetSummary(NamedTuple):
    """What is to be known of weights and target before a tree begins to grow."""

    total: int  # the exact sum of the weights; see `tacit.tree.growth.settings.exact_total`
    integral: bool  # whether all weights are whole numbers
    largest: float  # the largest weight
    n_records: NDArray[np.int64]  # how many records of some weight each code of the target has
    totals: list[int]  # what they weigh, exactly; empty where all weigh one
    first_missing: int  # the first record that lacks the target; -1 if none does


@dataclass(frozen=True)
class FirstPass(Statistic["TargetSummary"]):
    """The statistic that a :class:`TargetSummary` is."""

    weights: RecordWeights
    target: int | None = None  # the column whose codes are counted

    def partial(self, partition: Partition) -> TargetSummary:
        """Summarise the weights and the target of a partition."""
        table: Table = partition.records
        weights = self.weights.of(table)
        if weights is None:
            weights = np.ones(table.n_records)
        integral = bool((weights == np.floor(weights)).all())
        largest = float(weights.max())
        total = exact_total(weights) if largest < np.inf else 0
        if self.target is None:
            return TargetSummary(total, integral, largest, np.zeros(0, np.int64), [], -1)
        labels = table.schema.labels[self.target]
        codes, given = table.codes(self.target), table.weights
        counting = np.ones(table.n_records, np.bool_) if given is None else given > 0
        n_records = np.bincount(codes[counting], minlength=len(labels)).astype(np.int64)
        totals = []
        if given is not None:
            totals = [exact_total(given[codes == k]) for k in range(len(labels))]
        first = -1
        if labels.missing is not None and n_records[labels.missing]:
            first = partition.first + int((counting & (codes == labels.missing)).argmax())
        return TargetSummary(total, integral, largest, n_records, totals, first)

    def merge(self, one: TargetSummary, other: TargetSummary) -> TargetSummary:
        """Add up."""
        return TargetSummary(
            one.total + other.total,
            one.integral and other.integral,
            max(one.largest, other.largest),
            one.n_records + other.n_records,
            [a + b for a, b in zip(one.totals, other.totals, strict=True)],
            other.first_missing if one.first_missing < 0 else one.first_missing,
        )


class Paths(NamedTuple):
    """The conditions on the ways to leaves; see leaf_counts.hpp of the kernels."""

    # Where the conditions of each leaf begin, and where the last one's end.
    start: NDArray[np.int64]
    # Ranges of value ids.
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    inside: NDArray[np.uint8]  # whether records hold one of them
    targets: NDArray[np.int32]  # the column that each leaf's tree predicts
    dense: NDArray[np.uint8]  # whether to return all counts, not only those that are not zero
    # Where the candidates of each leaf begin, and where the last one's end. Where there are some,
    # records are counted by which of them they hold, if any.
    candidate_start: NDArray[np.int64]
    # Ranges of value ids.
    candidate_low: NDArray[np.int32]
    candidate_high: NDArray[np.int32]
    # Whether records are only counted with the first candidate that they hold.
    in_order: NDArray[np.uint8]


class DisjointCells(NamedTuple):
    """Counts that are not zero, of all leaves that are not dense; see leaf_counts.hpp.

    The records of a leaf fall into disjoint cells by which of its candidates they hold.
    """

    leaf: NDArray[np.int64]  # which leaf a cell belongs to, ascending
    mask: NDArray[np.int64]  # the candidates that its records hold, as bits
    start: NDArray[np.int64]  # where the counts of each cell begin, and where the last one's end
    # What is counted: a row of the class histograms times the number of value ids, plus an id.
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class LeafCounts(Statistic["list[Any]"]):
    """Counts of all values with the target's codes in some leaves, of one tree or of many.

    It is a list: the counts of dense leaves, the disjoint cells of the others, the weight of all
    records in units, and how many have one.
    """

    paths: Paths
    weights: RecordWeights
    size: int  # about what it takes in memory, in bytes

    @property
    def n_bytes(self) -> int:
        """What the counts of a partition take in memory."""
        return self.size

    def partial(self, partition: Partition) -> list[Any]:
        """Count the records of a partition."""
        table: Table = partition.records
        schema, units = table.schema, self.weights.units_of(table)
        given = _core.TreeTable(
            table.indptr, table.values, *table.postings, schema.offsets, schema.defaults, None,
            units,
        )  # fmt: skip
        dense, cells = _core.leaf_counts(given, *self.paths, partition.n_jobs)
        if units is None:
            return [dense, DisjointCells(*cells), table.n_records, table.n_records]
        return [dense, DisjointCells(*cells), int(units.sum()), int(np.count_nonzero(units))]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Add up."""
        dense = one[0]
        dense = np.add(dense, other[0], out=dense if dense.flags.writeable else None)
        cells = DisjointCells(*_core.add_disjoint_cells(*one[1], *other[1]))
        return [dense, cells, one[2] + other[2], one[3] + other[3]]
