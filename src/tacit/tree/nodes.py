"""Trees and graphs as flat arrays: what growth returns and walking reads.

A binary split is a range of value ids of one column: records that hold an id in it go inside, all
others outside. Beside the range, the id of missing values may go inside, which comes last in its
column. A complete split has a child for each id of its column and one for the default.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Nodes", "SplitArrays", "find_leaves"]


@dataclass(frozen=True)
class SplitArrays:
    """What :class:`Nodes` and forests have of each node; see there."""

    column: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    complete: NDArray[np.uint8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    first: NDArray[np.int32]
    children: NDArray[np.int32]
    gain: NDArray[np.float64]
    prior_fraction: NDArray[np.float64]
    also: NDArray[np.int32]


@dataclass(frozen=True)
class Nodes(SplitArrays):
    """A tree or a graph. Node 0 is the root; children have larger numbers than their parents.

    Attributes
    ----------
    column : ndarray of int32
        The column that a node asks about; -1 for a leaf.
    low, high : ndarray of int32
        The range of value ids that go inside; for a complete split all ids of the column.
    complete : ndarray of uint8
        Whether the split has a child for each value.
    left, right : ndarray of int32
        For a threshold the last code that occurs below it and the first above it; else -1.
    first : ndarray of int32
        Where a node's children begin in `children`: inside and outside, or one for each id and then
        the default's.
    children : ndarray of int32
    gain : ndarray of float64
        What the split adds to the score.
    prior_fraction : ndarray of float64
        The fraction of the prior's weight that a node has under BDeu: that of all combinations of
        the columns' values which lead to it. 1 for other priors.
    also : ndarray of int32
        The value id of missing values where they go inside beside a range of lower ids; else -1.
    counts : ndarray of float64, shape (n_nodes, n_statistics)
        Weights of the classes; or of a regression the sums of w, w·d and w·d², d being the
        deviation from a base.
    """

    counts: NDArray[np.float64]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, in the order above."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves among them."""
        return len(self.column)

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.column < 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.column < 0))

    def children_of(self, node: int) -> NDArray[np.int32]:
        """Return a node's children, in order; none for a leaf."""
        if self.column[node] < 0:
            return self.children[:0]
        n = int(self.high[node] - self.low[node]) + 1 if self.complete[node] else 2
        begin = int(self.first[node])
        return self.children[begin : begin + n]

    @cached_property
    def depths(self) -> NDArray[Any]:
        """The longest way from the root to each node."""
        depths = np.zeros(self.n_nodes, np.int64)
        for node in range(self.n_nodes):
            below = self.children_of(node)
            depths[below] = np.maximum(depths[below], depths[node] + 1)
        return depths

    @property
    def depth(self) -> int:
        """The longest way from the root to a leaf."""
        return int(self.depths.max())

    def readable_depth(self, most: int) -> int | None:
        """Return how many levels to show so that no more than `most` nodes end it; None for all."""
        if self.n_leaves <= most:
            return None
        for level in range(2, self.depth + 1):
            ends = (self.depths == level) | (self.leaves & (self.depths < level))
            if np.count_nonzero(ends) > most:
                return level - 1
        return None


def find_leaves(nodes: Nodes, records: Any, n_jobs: int) -> NDArray[np.int32]:
    """Return the leaf that each record of a Table or a Coding, with ids of the nodes, ends in."""
    return _core.tree_leaves(
        _core.Records(records.indptr, records.values, 2**31 - 1), nodes.column, nodes.low,
        nodes.high, nodes.complete, nodes.first, nodes.children, nodes.also, n_jobs,
    )  # fmt: skip
