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

    from tacit.scale import Partition
    from tacit.table import Table

__all__ = ["Atoms", "LeafCounts", "Look", "LookAt", "Paths", "Weighing"]


@dataclass(frozen=True)
class Weighing:
    """What a record weighs: its own weight times that of its class.

    Attributes
    ----------
    target : int
        The column of the classes; only looked at if they have weights.
    by_class : ndarray of float64, optional
        By the codes of that column.
    unit : float
        How many units make one.
    """

    target: int = -1
    by_class: NDArray[np.float64] | None = None
    unit: float = 1.0

    def applies(self, weighted: bool) -> bool:
        """Return whether records weigh other than one, given whether they have weights."""
        return weighted or self.by_class is not None

    def weigh(self, table: Table) -> NDArray[np.float64] | None:
        """Return the weight of each record; None where all are one."""
        own = table.weights
        if self.by_class is None:
            return own
        each = self.by_class[table.codes(self.target)]
        if own is None:
            return each
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(own > 0, each * own, 0.0)

    def units(self, table: Table) -> NDArray[np.int64] | None:
        """Return the weight of each record in units."""
        weights = self.weigh(table)
        return None if weights is None else in_units(weights, self.unit)


class Look(NamedTuple):
    """What is to be known of records before a tree begins to grow.

    Attributes
    ----------
    total : int
        The exact sum of their weights; see :func:`tacit.tree.growth.settings.exact_total`.
    whole : bool
        Whether all weights are whole numbers.
    largest : float
        The largest weight.
    sizes : ndarray of int64
        How many records of some weight each code of the target has.
    held : list of int
        What they weigh, exactly; empty where all weigh one.
    lost : int
        The first one that lacks the target; -1 if none does.
    """

    total: int
    whole: bool
    largest: float
    sizes: NDArray[np.int64]
    held: list[int]
    lost: int


@dataclass(frozen=True)
class LookAt(Statistic["Look"]):
    """The statistic that a :class:`Look` is.

    Attributes
    ----------
    weighing : Weighing
    target : int, optional
        The column whose codes are counted.
    """

    weighing: Weighing
    target: int | None = None

    def partial(self, part: Partition) -> Look:
        """Look at a part."""
        table: Table = part.records
        weights = self.weighing.weigh(table)
        if weights is None:
            weights = np.ones(table.n_records)
        whole = bool((weights == np.floor(weights)).all())
        largest = float(weights.max())
        total = exact_total(weights) if largest < np.inf else 0
        if self.target is None:
            return Look(total, whole, largest, np.zeros(0, np.int64), [], -1)
        labels = table.schema.labels[self.target]
        codes, own = table.codes(self.target), table.weights
        counting = np.ones(table.n_records, np.bool_) if own is None else own > 0
        sizes = np.bincount(codes[counting], minlength=len(labels)).astype(np.int64)
        held = []
        if own is not None:
            held = [exact_total(own[codes == k]) for k in range(len(labels))]
        first = -1
        if labels.missing is not None and sizes[labels.missing]:
            first = part.first + int((counting & (codes == labels.missing)).argmax())
        return Look(total, whole, largest, sizes, held, first)

    def merge(self, one: Look, other: Look) -> Look:
        """Add up."""
        return Look(
            one.total + other.total,
            one.whole and other.whole,
            max(one.largest, other.largest),
            one.sizes + other.sizes,
            [a + b for a, b in zip(one.held, other.held, strict=True)],
            other.lost if one.lost < 0 else one.lost,
        )


class Paths(NamedTuple):
    """The conditions on the ways to leaves; see core/leaf_counts.hpp.

    Attributes
    ----------
    start : ndarray of int64
        Where the conditions of each leaf begin, and where the last one's end.
    low, high : ndarray of int32
        Ranges of value ids.
    inside : ndarray of uint8
        Whether records hold one of them.
    targets : ndarray of int32
        The column that each leaf's tree predicts.
    dense : ndarray of uint8
        Whether to return all counts, not only those that are not zero.
    ahead_start : ndarray of int64
        Where the candidates of each leaf begin, and where the last one's end. Where there are
        some, records are counted by which of them they hold, if any.
    ahead_low, ahead_high : ndarray of int32
        Ranges of value ids.
    in_order : ndarray of uint8
        Whether records are only counted with the first candidate that they hold.
    """

    start: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    inside: NDArray[np.uint8]
    targets: NDArray[np.int32]
    dense: NDArray[np.uint8]
    ahead_start: NDArray[np.int64]
    ahead_low: NDArray[np.int32]
    ahead_high: NDArray[np.int32]
    in_order: NDArray[np.uint8]


class Atoms(NamedTuple):
    """Counts that are not zero, of all leaves that are not dense; see core/leaf_counts.hpp.

    Attributes
    ----------
    leaf : ndarray of int64
        Which leaf an atom is part of, ascending.
    mask : ndarray of int64
        The candidates that its records hold, as bits.
    start : ndarray of int64
        Where the counts of each atom begin, and where the last one's end.
    cells : ndarray of int64
        What is counted: a plane times the number of value ids, and a value id.
    counts : ndarray of int64
    """

    leaf: NDArray[np.int64]
    mask: NDArray[np.int64]
    start: NDArray[np.int64]
    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class LeafCounts(Statistic["list[Any]"]):
    """Counts of all values with the target's codes in some leaves, of one tree or of many.

    It is a list: the counts of dense leaves, the atoms of the others, the weight of all records in
    units, and how many have one.

    Attributes
    ----------
    paths : Paths
    weighing : Weighing
    size : int
        About what it takes in memory, in bytes.
    """

    paths: Paths
    weighing: Weighing
    size: int

    @property
    def n_bytes(self) -> int:
        """What the counts of a partition take in memory."""
        return self.size

    def partial(self, part: Partition) -> list[Any]:
        """Count the records of a part."""
        table: Table = part.records
        schema, units = table.schema, self.weighing.units(table)
        given = _core.TreeTable(
            table.indptr, table.values, *table.postings, schema.offsets, schema.defaults, None,
            units,
        )  # fmt: skip
        dense, atoms = _core.leaf_counts(given, *self.paths, part.n_jobs)
        if units is None:
            return [dense, Atoms(*atoms), table.n_records, table.n_records]
        return [dense, Atoms(*atoms), int(units.sum()), int(np.count_nonzero(units))]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Add up."""
        dense = one[0]
        dense = np.add(dense, other[0], out=dense if dense.flags.writeable else None)
        atoms = Atoms(*_core.add_disjoint_cells(*one[1], *other[1]))
        return [dense, atoms, one[2] + other[2], one[3] + other[3]]
