"""The linear model of very many items: each is predicted from the items nearest to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.baskets.item_model import LinearItems

if TYPE_CHECKING:
    from tacit.baskets.item_model import Gram

__all__ = ["local_regressions"]


def local_regressions(
    gram: Gram, near: sparse.csr_array, l2: float, fit_intercept: bool, n_jobs: int
) -> LinearItems:
    """Return the weights of ridge regressions of each item on its nearest items.

    Where all items are near, these are the weights of :func:`closed_form`. Memory is that of the
    counts and of the weights, a row of `near` for each item.
    """
    together: Any = gram.together
    if isinstance(together, np.ndarray):
        together = sparse.csr_array(together)
    together.sort_indices()
    near = near.copy()
    near.sort_indices()
    means = gram.means
    weights = _core.local_regressions(
        together.indptr.astype(np.int64, copy=False),
        together.indices.astype(np.int32, copy=False),
        together.data.astype(np.float64, copy=False),
        near.indptr.astype(np.int64),
        near.indices.astype(np.int32),
        np.sqrt(gram.total) * means if fit_intercept else np.zeros(len(means)),
        l2,
        n_jobs,
    )
    n = len(means)
    columns = sparse.csr_array((weights, near.indices, near.indptr), shape=(n, n))
    intercept = means - columns @ means if fit_intercept else np.zeros(n)
    return LinearItems(columns.T.tocsr(), intercept)
