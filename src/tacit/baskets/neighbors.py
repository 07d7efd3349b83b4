"""Item-item neighbours: the items that occur together most, by the cosine of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.item_model import Gram

__all__ = ["cosine_neighbors"]

_CELLS = 4_000_000  # that are ranked together


def cosine_neighbors(gram: Gram, n_neighbors: int) -> sparse.csr_array:
    """Return the cosines of each item, its row, with the items that are nearest to it.

    An item is not its own neighbour, and items that never occur together are no neighbours. Of
    equals, the first are kept.
    """
    n = gram.together.shape[0]
    counts = gram.counts
    scale = np.zeros(n)
    np.divide(1.0, np.sqrt(counts), out=scale, where=counts > 0)
    height = max(1, _CELLS // max(n, 1))
    rows, columns, cosines = [], [], []
    for begin in range(0, n, height):
        band = sparse.coo_array(gram.together[begin : begin + height])
        row, column, data = band.row + begin, band.col, band.data
        kept = (row != column) & (data > 0)
        row, column = row[kept].astype(np.int64), column[kept].astype(np.int64)
        cosine = data[kept] * scale[row] * scale[column]
        best = _strongest(row, column, cosine, n_neighbors)
        rows.append(row[best])
        columns.append(column[best])
        cosines.append(cosine[best])
    places: Any = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(cosines), places), shape=(n, n))


def _strongest(
    row: NDArray[np.int64], column: NDArray[np.int64], cosine: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """Return which entries are among the greatest of their row, row after row."""
    order = np.lexsort((column, -cosine, row))
    row = row[order]
    return order[np.arange(len(row)) - np.searchsorted(row, row) < most]
