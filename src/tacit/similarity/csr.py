"""Sparse matrices as the kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["csr_arrays"]


def csr_arrays(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Return offsets, indices and values of a CSR matrix; values are float32 or float64."""
    data = matrix.data
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(data, data.dtype if data.dtype == np.float32 else np.float64),
    )
