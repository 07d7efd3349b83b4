"""The linear model of very many items: each is predicted from a few others.

Which ones? The nearest items to begin with. Those often say the same, and what explains them away
may be no neighbour itself. So those follow that the regression so far lacks most: the greatest
covariances with what it leaves unexplained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.baskets.item_model import LinearItems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.item_model import Gram

__all__ = ["add_predictors", "local_regressions", "sparse_regressions"]

_FIRST = 4  # a fourth of the predictors are the nearest items, as many follow, then the other half


class _Arrays(NamedTuple):
    """Counts as kernels take them."""

    start: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]
    shift: NDArray[np.float64]  # of centred columns

    @classmethod
    def of(cls, gram: Gram, fit_intercept: bool) -> _Arrays:
        together: Any = gram.together
        if isinstance(together, np.ndarray):
            together = sparse.csr_array(together)
        together.sort_indices()
        means = gram.means
        return cls(
            together.indptr.astype(np.int64, copy=False),
            together.indices.astype(np.int32, copy=False),
            together.data.astype(np.float64, copy=False),
            np.sqrt(gram.total) * means if fit_intercept else np.zeros(len(means)),
        )


def sparse_regressions(
    gram: Gram,
    near: sparse.csr_array,
    l2: float,
    fit_intercept: bool,
    n_predictors: int,
    n_jobs: int,
) -> LinearItems:
    """Return the weights of ridge regressions of each item on no more than `n_predictors` others.

    Parameters
    ----------
    near : CSR array
        How near items are to each item, its row: the nearest are where to begin.
    """
    counts = _Arrays.of(gram, fit_intercept)
    few = max(1, n_predictors // _FIRST)
    predictors = _strongest(near, few)
    for most in sorted({min(2 * few, n_predictors), n_predictors}):
        weights = _solve(counts, predictors, l2, n_jobs)
        predictors = add_predictors(gram, counts, predictors, weights, l2, most, n_jobs)
    return _model(gram, predictors, _solve(counts, predictors, l2, n_jobs), fit_intercept)


def local_regressions(
    gram: Gram, near: sparse.csr_array, l2: float, fit_intercept: bool, n_jobs: int
) -> LinearItems:
    """Return the weights of ridge regressions of each item on the items of its row of `near`.

    Where these are all others, the weights are those of :func:`closed_form`. Memory is that of the
    counts and of the weights.
    """
    near = near.copy()
    near.sort_indices()
    weights = _solve(_Arrays.of(gram, fit_intercept), near, l2, n_jobs)
    return _model(gram, near, weights, fit_intercept)


def add_predictors(
    gram: Gram,
    counts: _Arrays,
    near: sparse.csr_array,
    weights: NDArray[np.float64],
    l2: float,
    most: int,
    n_jobs: int,
) -> sparse.csr_array:
    """Return the predictors of each item and those that it lacks most, `most` in all."""
    n = near.shape[0]
    scale = 1 / np.sqrt(gram.counts - counts.shift**2 + l2)
    found, n_found = _core.strongest_residuals(
        counts.start, counts.columns, counts.counts,
        near.indptr.astype(np.int64), near.indices.astype(np.int32),
        weights, counts.shift, scale, most, n_jobs,
    )  # fmt: skip
    indices = found[np.arange(most) < n_found[:, None]]
    indptr = np.concatenate(([0], np.cumsum(n_found)))
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))


def _strongest(near: sparse.csr_array, most: int) -> sparse.csr_array:
    """Return the greatest entries of each row; of equals, the first."""
    rows = near.tocoo()
    order = np.lexsort((rows.col, -rows.data, rows.row))
    row = rows.row[order]
    kept = np.sort(order[np.arange(len(row)) - np.searchsorted(row, row) < most])
    places: Any = (rows.row[kept], rows.col[kept])
    found = sparse.csr_array((rows.data[kept], places), shape=near.shape)
    found.sort_indices()
    return found


def _solve(counts: _Arrays, near: sparse.csr_array, l2: float, n_jobs: int) -> NDArray[np.float64]:
    return _core.local_regressions(
        counts.start, counts.columns, counts.counts,
        near.indptr.astype(np.int64), near.indices.astype(np.int32), counts.shift, l2, n_jobs,
    )  # fmt: skip


def _model(
    gram: Gram, near: sparse.csr_array, weights: NDArray[np.float64], fit_intercept: bool
) -> LinearItems:
    n = near.shape[0]
    means = gram.means
    columns = sparse.csr_array((weights, near.indices, near.indptr), shape=(n, n))
    intercept = means - columns @ means if fit_intercept else np.zeros(n)
    return LinearItems(columns.T.tocsr(), intercept)
