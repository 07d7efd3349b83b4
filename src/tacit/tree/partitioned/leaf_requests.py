"""Leaves that are to be counted in one pass, and chains of splits that it looks ahead at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit import _core
from tacit.tree.partitioned.growing_tree import FIRST_REACH, GrowingTree, Leaf
from tacit.tree.partitioned.leaf_counting import Paths
from tacit.tree.partitioned.leaf_histograms import Planes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit.tree.partitioned.growing_tree import Target
    from tacit.tree.partitioned.leaf_counting import Atoms

__all__ = ["Chain", "Family", "Request", "lay_out", "take"]


class Family(NamedTuple):
    """Children of one leaf that are to be counted, and one that has what they leave of it.

    Attributes
    ----------
    tree : GrowingTree
    parent : Leaf or None
        None for roots.
    counted : list of Leaf
    heir : Leaf or None
    size : int
        What counts take, in bytes.
    n_ahead : int
        How many splits that may come next are looked ahead at.
    in_order : bool
        Whether these must come in the order in which they are expected.
    """

    tree: GrowingTree
    parent: Leaf | None
    counted: list[Leaf]
    heir: Leaf | None
    size: int = 0
    n_ahead: int = 0
    in_order: bool = False


class Choice(NamedTuple):
    """Atoms [begin, end) that hold a candidate (-1: any) and none of those used."""

    begin: int
    end: int
    bit: int
    used: int
    n_planes: int


def take(atoms: Atoms, choices: list[Choice], n_values: int) -> Iterator[Planes]:
    """Yield the counts of chosen atoms."""
    if not choices:
        return
    begin, end, bit, used, n_planes = np.array(choices, np.int64).T.copy()
    id_start, plane_start, ids, planes = _core.take_disjoint_cells(
        *atoms, begin, end, bit, used, n_planes, n_values
    )
    ends, plane_ends = id_start.tolist(), plane_start.tolist()
    for k, own in enumerate(choices):
        counts = planes[plane_ends[k] : plane_ends[k + 1]].reshape(own.n_planes, -1)
        yield Planes(ids[ends[k] : ends[k + 1]], counts)


class Chain:
    """Splits of a leaf, of what is then left of it, and so on, for all of which there are atoms.

    Parameters
    ----------
    family : Family
    begin, end : int
        Its atoms.
    """

    def __init__(self, family: Family, begin: int, end: int) -> None:
        assert family.parent is not None
        assert family.heir is not None
        ahead = family.parent.ahead
        assert ahead is not None
        self._family, self._leaf = family, family.heir
        self._begin, self._end = begin, end
        self._used, self._bit, self._n_used = 1, 0, 1
        n = family.n_ahead
        own = zip(ahead.low[:n].tolist(), ahead.high[:n].tolist(), strict=True)
        self._bits = {candidate: bit for bit, candidate in enumerate(own, 1)}

    def goes_on(self) -> bool:
        """Return whether what is left is split by a candidate, and has counts."""
        split = self._leaf.split
        if split is None or split.complete or self._leaf.planes is None:
            return False
        self._bit = self._bits.get((split.low, split.high), 0)
        if self._family.in_order:
            return self._bit == self._n_used
        return self._bit > 0

    def choice(self) -> Choice:
        """Return the atoms that are inside the split."""
        n_planes = self._family.tree.target.arity
        return Choice(self._begin, self._end, self._bit, self._used, n_planes)

    def advance(self) -> Family:
        """Return the children of the split, and go on to what is left."""
        leaf = self._leaf
        inside, self._leaf = leaf.children
        self._used |= 1 << self._bit
        self._n_used += 1
        self._leaf.reach = max(FIRST_REACH, 2 * self._n_used)
        return Family(self._family.tree, leaf, [inside], self._leaf)


class Request(NamedTuple):
    """What is counted in a pass.

    Attributes
    ----------
    paths : Paths
    planes_of : list of int
        How many planes each leaf has.
    first : list of int
        The place of each family's first leaf.
    """

    paths: Paths
    planes_of: list[int]
    first: list[int]

    def planes(self, counts: NDArray[np.int64], atoms: Atoms, n_values: int) -> Iterator[Planes]:
        """Yield the counts of each leaf: of all records, then of the codes but the default."""
        dense, bits = self.paths.dense.tolist(), (np.diff(self.paths.ahead_start) > 0).tolist()
        ends = np.searchsorted(atoms.leaf, np.arange(len(dense) + 1)).tolist()
        rest = take(
            atoms,
            [
                Choice(ends[k], ends[k + 1], 0 if bits[k] else -1, 0, self.planes_of[k])
                for k, whole in enumerate(dense)
                if not whole
            ],
            n_values,
        )
        at = 0
        for n_planes, whole in zip(self.planes_of, dense, strict=True):
            if whole:
                end = at + n_planes * n_values
                yield Planes(None, counts[at:end].reshape(n_planes, n_values))
                at = end
            else:
                yield next(rest)

    def chains(self, families: list[Family], atoms: Atoms) -> list[Chain]:
        """Return chains of families that look ahead."""
        places = [k for k, family in enumerate(families) if family.n_ahead]
        leaves = np.array([self.first[k] for k in places], np.int64)
        begins = np.searchsorted(atoms.leaf, leaves).tolist()
        ends = np.searchsorted(atoms.leaf, leaves, "right").tolist()
        return [
            Chain(families[k], begin, end)
            for k, begin, end in zip(places, begins, ends, strict=True)
        ]


def lay_out(families: list[Family], is_dense: Callable[[Target, Leaf], bool]) -> Request:
    """Return the conditions of leaves as arrays."""
    flat: list[tuple[int, int, int]] = []
    start, ahead_start = [0], [0]
    lows: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    highs: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    targets: list[int] = []
    dense, in_order, planes_of, first = [], [], [], []
    for tree, parent, counted, _, _, n_ahead, ordered in families:
        first.append(len(targets))
        for leaf in counted:
            n_own = 0
            if n_ahead and parent is not None and parent.ahead is not None:
                flat += parent.path()
                low, high, _ = leaf.condition
                lows += [np.array([low], np.int32), parent.ahead.low[:n_ahead]]
                highs += [np.array([high], np.int32), parent.ahead.high[:n_ahead]]
                n_own = 1 + n_ahead
            else:
                flat += leaf.path()
            start.append(len(flat))
            ahead_start.append(ahead_start[-1] + n_own)
            targets.append(tree.target.column)
            dense.append(not n_own and is_dense(tree.target, leaf))
            in_order.append(ordered)
            planes_of.append(tree.target.arity)
    conditions = np.array(flat, np.int32).reshape(-1, 3)
    paths = Paths(
        np.array(start, np.int64),
        np.ascontiguousarray(conditions[:, 0]),
        np.ascontiguousarray(conditions[:, 1]),
        conditions[:, 2].astype(np.uint8),
        np.array(targets, np.int32),
        np.array(dense, np.uint8),
        np.array(ahead_start, np.int64),
        np.concatenate(lows),
        np.concatenate(highs),
        np.array(in_order, np.uint8),
    )
    return Request(paths, planes_of, first)
