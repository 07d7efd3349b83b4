"""Leaves that are to be counted in one pass, and chains of splits that its counts suffice for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit import _core
from tacit.tree.partitioned.growing_tree import FIRST_LOOKAHEAD, GrowingTree, Leaf
from tacit.tree.partitioned.leaf_counting import Paths
from tacit.tree.partitioned.leaf_histograms import ClassHistograms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.tree.partitioned.growing_tree import Condition, Target
    from tacit.tree.partitioned.leaf_counting import DisjointCells

__all__ = [
    "CountRequest",
    "Siblings",
    "SplitChain",
    "flat_conditions",
    "make_request",
    "select_cells",
]


class Siblings(NamedTuple):
    """Children of one leaf that are to be counted, and the sibling that follows by subtraction."""

    tree: GrowingTree
    parent: Leaf | None  # None for roots
    counted: list[Leaf]
    subtracted: Leaf | None  # the one whose counts are what the others leave of their parent's
    size: int = 0  # what counts take, in bytes
    n_candidates: int = 0  # for how many splits that may come next records are counted as well
    in_order: bool = False  # whether these must come in the order in which they are expected


class CellSelection(NamedTuple):
    """Cells [begin, end) that hold a candidate (-1: any) and none of those used."""

    begin: int
    end: int
    bit: int
    used: int
    n_classes: int


def select_cells(
    cells: DisjointCells, selections: list[CellSelection], n_values: int
) -> Iterator[ClassHistograms]:
    """Yield the counts of selected cells, each selection's added up."""
    if not selections:
        return
    begin, end, bit, used, n_classes = np.array(selections, np.int64).T.copy()
    id_start, count_start, ids, counts = _core.take_disjoint_cells(
        *cells, begin, end, bit, used, n_classes, n_values
    )
    id_ends, count_ends = id_start.tolist(), count_start.tolist()
    for k, selection in enumerate(selections):
        rows = counts[count_ends[k] : count_ends[k + 1]].reshape(selection.n_classes, -1)
        yield ClassHistograms(ids[id_ends[k] : id_ends[k + 1]], rows)


class SplitChain:
    """Splits of a leaf, of what is then left of it, and so on, for all of which there are cells.

    The cells of the leaf are those from `begin` to `end`.
    """

    def __init__(self, siblings: Siblings, begin: int, end: int) -> None:
        assert siblings.parent is not None
        assert siblings.subtracted is not None
        candidates = siblings.parent.candidates
        assert candidates is not None
        self._siblings, self._leaf = siblings, siblings.subtracted
        self._begin, self._end = begin, end
        self._used, self._bit, self._n_used = 1, 0, 1
        n = siblings.n_candidates
        ranges = zip(candidates.low[:n].tolist(), candidates.high[:n].tolist(), strict=True)
        self._bits = {candidate: bit for bit, candidate in enumerate(ranges, 1)}

    def has_next(self) -> bool:
        """Return whether what is left is split by a candidate, and has counts."""
        split = self._leaf.split
        if split is None or split.complete or split.also >= 0 or self._leaf.histograms is None:
            return False
        self._bit = self._bits.get((split.low, split.high), 0)
        if self._siblings.in_order:
            return self._bit == self._n_used
        return self._bit > 0

    def selection(self) -> CellSelection:
        """Return the cells that are inside the split."""
        n_classes = self._siblings.tree.target.arity
        return CellSelection(self._begin, self._end, self._bit, self._used, n_classes)

    def advance(self) -> Siblings:
        """Return the children of the split, and go on to what is left."""
        leaf = self._leaf
        inside, self._leaf = leaf.children
        self._used |= 1 << self._bit
        self._n_used += 1
        self._leaf.lookahead = max(FIRST_LOOKAHEAD, 2 * self._n_used)
        return Siblings(self._siblings.tree, leaf, [inside], self._leaf)


class CountRequest(NamedTuple):
    """What is counted in a pass."""

    paths: Paths
    n_classes: list[int]  # how many rows the histograms of each leaf have
    first: list[int]  # the position of the first leaf of each group of siblings

    def histograms(
        self, counts: NDArray[np.int64], cells: DisjointCells, n_values: int
    ) -> Iterator[ClassHistograms]:
        """Yield the counts of each leaf: of all records, then of the codes but the default."""
        dense = self.paths.dense.tolist()
        bits = np.where(np.diff(self.paths.candidate_start) > 0, 0, -1).tolist()
        ends = np.searchsorted(cells.leaf, np.arange(len(dense) + 1)).tolist()
        sparse = select_cells(
            cells,
            [
                CellSelection(ends[k], ends[k + 1], bits[k], 0, self.n_classes[k])
                for k, is_dense in enumerate(dense)
                if not is_dense
            ],
            n_values,
        )
        at = 0
        for n_classes, is_dense in zip(self.n_classes, dense, strict=True):
            if is_dense:
                end = at + n_classes * n_values
                yield ClassHistograms(None, counts[at:end].reshape(n_classes, n_values))
                at = end
            else:
                yield next(sparse)

    def chains(self, groups: list[Siblings], cells: DisjointCells) -> list[SplitChain]:
        """Return chains of those that were counted by candidates, too."""
        chosen = [k for k, siblings in enumerate(groups) if siblings.n_candidates]
        leaves = np.array([self.first[k] for k in chosen], np.int64)
        begins = np.searchsorted(cells.leaf, leaves).tolist()
        ends = np.searchsorted(cells.leaf, leaves, "right").tolist()
        return [
            SplitChain(groups[k], begin, end)
            for k, begin, end in zip(chosen, begins, ends, strict=True)
        ]


def flat_conditions(
    paths: Sequence[Iterable[Condition]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return the conditions on the ways to leaves: where each begins, low, high and inside."""
    flat: list[Condition] = []
    start = [0]
    for path in paths:
        flat += path
        start.append(len(flat))
    low, high, inside = np.array(flat, np.int32).reshape(-1, 3).T.copy()
    return np.array(start, np.int64), low, high, inside.astype(np.uint8)


def make_request(groups: list[Siblings], is_dense: Callable[[Target, Leaf], bool]) -> CountRequest:
    """Return the conditions of leaves as arrays."""
    ways: list[Iterator[Condition]] = []
    candidate_start = [0]
    lows: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    highs: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    targets: list[int] = []
    dense, in_order, n_classes, first = [], [], [], []
    for tree, parent, counted, _, _, n_candidates, ordered in groups:
        first.append(len(targets))
        for leaf in counted:
            n_ranges = 0
            if n_candidates and parent is not None and parent.candidates is not None:
                ways.append(parent.path())
                [(low, high, _)] = leaf.conditions
                lows += [np.array([low], np.int32), parent.candidates.low[:n_candidates]]
                highs += [np.array([high], np.int32), parent.candidates.high[:n_candidates]]
                n_ranges = 1 + n_candidates
            else:
                ways.append(leaf.path())
            candidate_start.append(candidate_start[-1] + n_ranges)
            targets.append(tree.target.column)
            dense.append(not n_ranges and is_dense(tree.target, leaf))
            in_order.append(ordered)
            n_classes.append(tree.target.arity)
    paths = Paths(
        *flat_conditions(ways),
        np.array(targets, np.int32),
        np.array(dense, np.uint8),
        np.array(candidate_start, np.int64),
        np.concatenate(lows),
        np.concatenate(highs),
        np.array(in_order, np.uint8),
    )
    return CountRequest(paths, n_classes, first)
