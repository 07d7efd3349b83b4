"""A kernel of near pairs that is positive definite: the RBF, tapered to 0 where the grid ends.

An RBF of near pairs alone is cut off where objects are no longer in blocks that touch, and a kernel
that is cut off is not positive definite. Multiplied with one that ends there by itself, it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.machine import count_jobs
from tacit.similarity.csr import csr_arrays
from tacit.similarity.graph import near_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

    Floats = NDArray[np.float64]

__all__ = ["SquaredDistances", "near_squares"]


class SquaredDistances:
    """Squared distances of near pairs, and how much each pair counts."""

    def __init__(self, graph: Any, weights: Floats | None) -> None:
        self.graph = graph  # a CSR array; squares may be 0
        self.weights = weights  # of its entries; None where all count in full

    def kernel(self, scale: float, *, copy: bool = True) -> Any:
        """Return exp(-scale · distance²), tapered; without a copy squares are written over."""
        graph = self.graph
        data = np.multiply(graph.data, -scale, out=None if copy else graph.data)
        np.exp(data, out=data)
        if self.weights is not None:
            data *= self.weights
        return sparse.csr_array((data, graph.indices, graph.indptr), graph.shape)


def near_squares(
    grid: Grid,
    coords: Floats,
    numbers: Any,
    others: tuple[Floats, Any] | None = None,
    *,
    taper: bool,
    n_jobs: int | None = None,
) -> SquaredDistances:
    """Return squared distances of near pairs, among objects or to others.

    With a taper, a pair counts the product over the dimensions of the grid of 1 less the difference
    of its coordinates, in intervals; it is left out where that is 0. Pairs that close are in blocks
    that touch. The product is positive definite whatever the number of dimensions (the probability
    that a grid that is shifted at random leaves both objects in one block), so by Schur's theorem
    the tapered kernel is. Dimensions of one or two intervals leave no pair out and need no taper.

    >>> from tacit.similarity.grid.grid import Grid
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> near_squares(Grid.over(X, 2), X, X, taper=True).graph.nnz
    6
    >>> near_squares(Grid.over(X, 3), X, X, taper=True).graph.nnz
    0
    """
    graph = near_graph(grid, coords, numbers, others=others, kind="squared_distance", n_jobs=n_jobs)
    tapered = (np.asarray(grid.resolution) > 2) & (grid.widths > 0)
    if not (taper and tapered.any()):
        return SquaredDistances(graph, None)
    widths = grid.widths[tapered]
    rows = np.ascontiguousarray(coords[:, tapered] / widths)
    columns = rows if others is None else np.ascontiguousarray(others[0][:, tapered] / widths)
    indptr, indices, _ = csr_arrays(graph)
    weights = _core.hat_weights(indptr, indices, rows, columns, count_jobs(n_jobs))
    kept = weights > 0
    ends = np.append(0, np.cumsum(kept))[indptr].astype(graph.indptr.dtype)
    close = sparse.csr_array((graph.data[kept], graph.indices[kept], ends), graph.shape)
    close.has_sorted_indices = True
    close.has_canonical_format = True
    return SquaredDistances(close, weights[kept])
