"""The linear item model: every item predicted from all others by one ridge regression (EASE).

With the Gram matrix G of items and P = (G + l2 I)⁻¹, the weights are W = I - P diag(P)⁻¹: those of
each item's regression on all other items, all of them from one inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse

from tacit.baskets.item_records import as_matrix
from tacit.machine import check_fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.table import Table

__all__ = ["Gram", "LinearItems", "closed_form", "invert"]

_BLOCK, _ROWS = 512, 512  # of the inverse: swept together, and updated between looks for Ctrl-C


@dataclass(frozen=True)
class Gram:
    """How often items occur together: all that the models of items need of records."""

    together: Any  # ndarray or CSR array, items × items; its diagonal is how often each occurs
    total: float  # how many records

    @property
    def counts(self) -> NDArray[np.float64]:
        """How many records hold each item."""
        return np.array(self.together.diagonal(), np.float64)  # no view: squares are used up

    @property
    def means(self) -> NDArray[np.float64]:
        """The fraction of records that hold each item."""
        return self.counts / self.total

    def without(self, records: Table, items: NDArray[np.int64] | None = None) -> Gram:
        """Return that of all other records; if items are given, of these alone, as a square."""
        held = as_matrix(records)
        rest: Any = self.together
        dense = isinstance(rest, np.ndarray)
        if items is not None:
            held = held[:, items]
            rest = rest[np.ix_(items, items)] if dense else rest[items][:, items].toarray()
            dense = True
        weights = np.ones(records.n_records) if records.weights is None else records.weights
        theirs: Any = held.T @ sparse.diags_array(weights) @ held
        rest = rest - theirs
        rest = np.asarray(rest) if dense else rest.tocsr()
        return Gram(rest, self.total - float(weights.sum()))

    def square(self, overwrite: bool = False) -> NDArray[np.float64]:
        """Return a dense array, which takes the place of dense counts that are not needed."""
        n = self.together.shape[0]
        whole = self.together
        dense = isinstance(whole, np.ndarray)
        if overwrite and dense and whole.itemsize == 8 and whole.flags.writeable:
            square: NDArray[np.float64] = whole.view(np.float64)
            for r in range(0, n, _ROWS):  # no second square of them beside the first
                square[r : r + _ROWS] = whole[r : r + _ROWS].copy()
            return square
        check_fits(
            8 * n * n, f"the weights of {n:,} items", "set max_dense_items to a smaller number"
        )
        return np.array(whole if dense else whole.toarray(), np.float64)


@dataclass(frozen=True)
class LinearItems:
    """Scores that are sums of weights over the items of a basket."""

    weights: Any  # ndarray or CSR array: weights[i, j] is what item i says for item j
    intercept: NDArray[np.float64]

    def scores(self, table: Table) -> NDArray[np.float64]:
        """Return the score of each item for each record."""
        return self.of_matrix(as_matrix(table))

    def of_matrix(self, records: Any) -> NDArray[np.float64]:
        """Return the same for records × items."""
        sums = records @ self.weights
        dense = sums if isinstance(sums, np.ndarray) else sums.toarray()
        dense += self.intercept
        return np.asarray(dense)


def closed_form(
    gram: Gram,
    l2: float,
    fit_intercept: bool = True,
    report: Callable[[int], None] = lambda n: None,
    overwrite: bool = False,
) -> LinearItems:
    """Return the weights of all items' ridge regressions; `report` is told of rows done.

    With `overwrite`, dense counts are used up.
    """
    means = gram.means
    square = gram.square(overwrite)
    if fit_intercept:  # an intercept without a penalty is the same as centred columns
        for r in range(0, len(means), _ROWS):
            square[r : r + _ROWS] -= np.outer(gram.total * means[r : r + _ROWS], means)
    square[np.diag_indices_from(square)] += l2
    inverse = invert(square, report)
    scale = -1.0 / inverse.diagonal()
    inverse *= scale
    np.fill_diagonal(inverse, 0.0)
    intercept = means - means @ inverse if fit_intercept else np.zeros(len(means))
    return LinearItems(inverse, intercept)


def invert(
    square: NDArray[np.float64], report: Callable[[int], None] = lambda n: None
) -> NDArray[np.float64]:
    """Return the inverse of a positive definite matrix, which is used up.

    Blocks are swept one after another, on the upper triangle: as many operations as a Cholesky
    factorisation and the inverse from it, in steps between which Ctrl-C is heard.

    >>> invert(np.array([[2.0, 1.0], [1.0, 2.0]])).round(3).tolist()
    [[0.667, -0.333], [-0.333, 0.667]]
    """
    n = len(square)
    for k in range(0, n, _BLOCK):
        e = min(k + _BLOCK, n)
        factor = linalg.cho_factor(square[k:e, k:e], lower=False, check_finite=False)
        pivot = linalg.cho_solve(factor, np.eye(e - k), check_finite=False)
        cross = np.concatenate(
            [square[:k, k:e].T, np.zeros((e - k, e - k)), square[k:e, e:]], axis=1
        )
        swept = pivot @ cross
        for r in range(0, n, _ROWS):
            square[r : r + _ROWS, r:] -= cross[:, r : r + _ROWS].T @ swept[:, r:]
        square[:k, k:e] = swept[:, :k].T
        square[k:e, e:] = swept[:, e:]
        square[k:e, k:e] = -pivot
        report(e - k)
    for r in range(0, n, _ROWS):
        e = min(r + _ROWS, n)
        square[r:e, r:] *= -1.0
        square[e:, r:e] = square[r:e, e:].T
        corner = square[r:e, r:e]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
    return square
