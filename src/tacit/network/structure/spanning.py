"""Maximum spanning trees of complete graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["maximum_spanning_tree", "settle", "sort_edges"]

_DIGITS = 12  # of a weight: what is beyond them may be rounding


def settle(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights without the digits that depend on the order of summation.

    Pairs of columns with equal contents are then equally heavy, and ties are broken as promised.
    """
    rounded: NDArray[np.float64] = np.asarray(weights, np.float64).round(_DIGITS)
    return rounded


def maximum_spanning_tree(weights: NDArray[Any]) -> NDArray[np.int64]:
    """Return the edges of the heaviest spanning tree, by Prim's algorithm in O(n²).

    Ties are broken by the smaller (a, b), so the tree is unique. Weights are symmetric, and the
    diagonal is not used. Edges (n - 1, 2) have a < b, in lexicographic order.

    Examples
    --------
    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]])).tolist()
    [[0, 1], [1, 2]]
    """
    return sort_edges(_core.rooted_tree(np.ascontiguousarray(weights, np.float64)))


def sort_edges(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return edges with a < b, in lexicographic order."""
    ordered = np.sort(edges, axis=1)
    return ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
