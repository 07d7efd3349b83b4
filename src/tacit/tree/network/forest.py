"""One tree for each column: flat arrays, probabilities in the leaves, and who asks about whom."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core
from tacit.tree.averaging import average_on_the_way
from tacit.tree.network.influence import Influences, find_influences
from tacit.tree.nodes import Nodes, SplitArrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = [
    "Arcs",
    "DerivedFromForest",
    "Forest",
    "array_names",
    "find_arcs",
    "join_forests",
    "node_probabilities",
]


# Arrays of which a tree has a part of a forest's; children are numbered anew.
_PER_NODE = ("column", "low", "high", "complete", "left", "right", "gain", "prior_fraction", "also")


class Arcs(NamedTuple):
    """Which column's tree asks about which column, the strongest first.

    Attributes
    ----------
    predictor, target : ndarray of int64
    gain : ndarray of float64
        What all splits of the target's tree on the predictor add to its score.
    """

    predictor: NDArray[np.int64]
    target: NDArray[np.int64]
    gain: NDArray[np.float64]


@dataclass(frozen=True)
class Forest(SplitArrays):
    """The trees of all columns, one after another, with common node numbers.

    Attributes
    ----------
    roots : ndarray of int64
        Where each tree's nodes begin, and where the last one's end.
    column, low, high, complete, left, right, first, children, gain, prior_fraction, also : ndarray
        As those of :class:`Nodes`.
    stats : ndarray of int64
        The summed weights of each node's codes, tree after tree and node after node.
    stat_start : ndarray of int64
        Where each tree's begin in `stats`.
    unit : float
        By which to divide `stats` to get weights of records.
    """

    roots: NDArray[np.int64]
    stats: NDArray[np.int64]
    stat_start: NDArray[np.int64]
    unit: float

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots) - 1

    def to_kernel(self, schema: Schema, table: NDArray[np.float64]) -> _core.Forest:
        """Return what kernels take, with a number for each node and code, laid out as stats."""
        return _core.Forest(
            self.roots, self.column, self.low, self.high, self.complete, self.first, self.children,
            self.also, schema.offsets, schema.defaults, table, self.stat_start,
        )  # fmt: skip

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by their names."""
        return {name: getattr(self, name) for name in array_names()}

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        leaves = np.concatenate(([0], np.cumsum(self.column < 0)))
        return np.asarray(np.diff(leaves[self.roots]))

    @property
    def tree_of_node(self) -> NDArray[np.int64]:
        """The tree that each node belongs to."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.roots))

    @property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """All edges: parents, in order, and their children."""
        n_children = self.n_children
        parent = np.repeat(np.arange(len(n_children)), n_children)
        within = np.arange(len(parent)) - np.repeat(np.cumsum(n_children) - n_children, n_children)
        return parent, self.children[self.first[parent] + within]

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """How many children each node has."""
        ids = self.high.astype(np.int64) - self.low
        return np.where(self.column < 0, 0, np.where(self.complete > 0, ids + 1, 2))

    def tree(self, column: int) -> Nodes:
        """Return the tree of one column; its nodes are numbered from 0."""
        begin, end = int(self.roots[column]), int(self.roots[column + 1])
        nodes = slice(begin, end)
        counts = self.stats[self.stat_start[column] : self.stat_start[column + 1]]
        inner = self.column[nodes] >= 0
        first = self.first[nodes].astype(np.int64)
        behind = first + self.n_children[nodes]
        base = int(first[inner].min()) if inner.any() else 0
        last = int(behind[inner].max()) if inner.any() else 0
        return Nodes(
            **{name: np.array(getattr(self, name)[nodes]) for name in _PER_NODE},
            first=np.where(inner, first - base, 0).astype(np.int32),
            children=self.children[base:last] - np.int32(begin),
            counts=counts.reshape(end - begin, -1) / self.unit,
        )


def array_names() -> list[str]:
    """Return the names of a forest's arrays, in the order in which kernels return them."""
    return ["roots", *(field.name for field in fields(SplitArrays)), "stats", "stat_start"]


def join_forests(batches: Sequence[tuple[Any, ...]], unit: float) -> Forest:
    """Put what growth returned for some targets after another into one forest."""
    columns = dict(zip(array_names(), zip(*batches, strict=True), strict=True))
    indexed = {"roots": "column", "children": "column", "first": "children", "stat_start": "stats"}
    joined = {}
    for name, arrays in columns.items():
        dtype = arrays[0].dtype
        if name in indexed:  # indices of another array, before which others now come
            before = np.cumsum([0, *(len(array) for array in columns[indexed[name]])])
            arrays = tuple(array + n for array, n in zip(arrays, before.tolist(), strict=False))
        if name in ("roots", "stat_start"):  # each ends where the next begins
            arrays = (arrays[0], *(array[1:] for array in arrays[1:]))
        joined[name] = np.concatenate(arrays).astype(dtype)
    joined["first"][joined["column"] < 0] = 0
    return Forest(**joined, unit=unit)


def node_probabilities(
    forest: Forest, arities: NDArray[np.int64], prior: str, prior_weight: float
) -> NDArray[np.float64]:
    """Return P(code) in every node, laid out as the forest's stats.

    A code with the weight c in a node of the weight N has (c + a) / (N + K a), K being the number
    of codes: a is the prior's weight, under BDeu the node's fraction of it.
    """
    sizes = arities[forest.tree_of_node]
    begin = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    counts = forest.stats / forest.unit
    fraction = forest.prior_fraction / sizes if prior == "bdeu" else np.ones(len(sizes))
    pseudocounts = prior_weight * fraction
    totals = np.add.reduceat(counts, begin) + pseudocounts * sizes
    with np.errstate(invalid="ignore"):
        probabilities = (counts + np.repeat(pseudocounts, sizes)) / np.repeat(totals, sizes)
    empty = np.flatnonzero(totals <= 0)  # without records or prior: as their parents have it
    if len(empty):
        parent, child = forest.edges
        parent_of = np.zeros(len(sizes), np.int64)
        parent_of[child] = parent
        for node in empty.tolist():
            at, above = begin[node], begin[parent_of[node]]
            probabilities[at : at + sizes[node]] = probabilities[above : above + sizes[node]]
    return np.asarray(probabilities)


def find_arcs(forest: Forest) -> Arcs:
    """Add up gains by target and predictor; of equal gains, earlier columns come first."""
    asked = forest.column >= 0
    key = forest.tree_of_node[asked] * forest.n_trees + forest.column[asked]
    pairs, pair = np.unique(key, return_inverse=True)
    gain = np.bincount(pair, forest.gain[asked], minlength=len(pairs)).astype(np.float64)
    target, predictor = np.divmod(pairs, forest.n_trees)
    order = np.lexsort((target, predictor, -np.round(gain, 9)))
    return Arcs(predictor[order], target[order], gain[order])


@dataclass(frozen=True)
class DerivedFromForest:
    """What follows from a forest, made when it is asked for and then kept."""

    forest: Forest
    arities: NDArray[np.int64]
    defaults: NDArray[np.int64]
    prior: str
    prior_weight: float
    averaged: bool  # whether probabilities are averages over the ways that end earlier

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities of all codes in all nodes, laid out as the forest's stats."""
        forest = self.forest
        own = node_probabilities(forest, self.arities, self.prior, self.prior_weight)
        if not self.averaged:
            return own
        sizes = self.arities[forest.tree_of_node]
        above = np.full(len(sizes), -1)
        parent, child = forest.edges
        above[child] = parent
        return average_on_the_way(own, np.cumsum(sizes) - sizes, above, forest.gain)

    @cached_property
    def arcs(self) -> Arcs:
        """Who asks about whom, the strongest first."""
        return find_arcs(self.forest)

    @cached_property
    def influences(self) -> Influences:
        """What predictors do to their targets, in the order of the arcs."""
        return find_influences(
            self.forest, self.arcs, self.arities, self.defaults, self.probabilities
        )
