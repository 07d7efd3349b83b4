"""Columns scaled to ranges of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["column_ranges", "scale_columns"]


def column_ranges(numbers: Any) -> NDArray[np.float64]:
    """Return how long the range of each column is; 1 for constant columns."""
    ends = numbers.max(axis=0), numbers.min(axis=0)
    if sparse.issparse(numbers):
        ends = ends[0].toarray(), ends[1].toarray()
    spread = np.subtract(*ends, dtype=np.float64).reshape(-1)
    return np.where(spread > 0, spread, 1.0)


def scale_columns(numbers: Any, ranges: NDArray[np.float64] | None) -> Any:
    """Return numbers divided by the ranges of their columns.

    Where a range begins has no bearing on distances, so that zeros may stay zeros.
    """
    if ranges is None:
        return numbers
    if sparse.issparse(numbers):
        matrix: Any = numbers  # sorted indices stay sorted
        data = matrix.data / ranges[matrix.indices].astype(matrix.dtype, copy=False)
        return sparse.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)
    return numbers / ranges
