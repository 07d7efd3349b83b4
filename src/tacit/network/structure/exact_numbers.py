"""Moments of all pairs of numeric columns, from one pass over the records in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.network.structure.columns import blocks_of, check_finite
from tacit.network.structure.statistics import (
    Moments,
    PairMoments,
    correlation_information,
    correlations,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.columns import Columns

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["NumberMoments", "complete_moments", "number_shift", "pairwise_moments"]

_CELLS = 1 << 20  # numbers of a block: it stays in the cache while it is multiplied


@dataclass(frozen=True)
class NumberMoments:
    """First and second moments of every two numeric columns over the records that have both.

    All arrays have the shape (n_numeric, n_numeric): `means[a, b]` and `variances[a, b]` are those
    of column a over the records that have a and b.
    """

    counts: Floats
    means: Floats
    variances: Floats
    covariances: Floats

    def information(self) -> Floats:
        """Return the mutual information of every two columns."""
        rho = correlations(self.covariances, self.variances, self.variances.T)
        return correlation_information(rho)

    def node(self, a: int) -> Moments:
        """Return the moments of one column."""
        return Moments(
            float(self.counts[a, a]), float(self.means[a, a]), float(self.variances[a, a])
        )

    def pair(self, a: int, b: int) -> PairMoments:
        """Return the moments of two columns."""
        return PairMoments(
            float(self.counts[a, b]),
            float(self.means[a, b]),
            float(self.means[b, a]),
            float(self.variances[a, b]),
            float(self.variances[b, a]),
            float(self.covariances[a, b]),
        )


def number_shift(columns: Columns) -> Floats:
    """Return a number near the mean of each numeric column, taken off before anything is squared.

    A constant column gets its own value, so that its variance comes out as 0 exactly.
    """
    for _, block in blocks_of(columns, 1000):
        head = block.astype(np.float64)
        head[~np.isfinite(head)] = np.nan
        known = ~np.isnan(head)
        first = head[known.argmax(axis=0), np.arange(head.shape[1])]
        first = np.where(known.any(axis=0), first, 0.0)
        same = (~known | (head == first)).all(axis=0)
        counts = np.maximum(known.sum(axis=0), 1)
        mean: Floats = first + np.where(known, head - first, 0.0).sum(axis=0) / counts
        return np.where(same, first, mean)
    return np.zeros(0)


def block_size(n_columns: int) -> int:
    """Return how many records to multiply at once."""
    return max(256, _CELLS // max(n_columns, 1))


def complete_moments(columns: Columns) -> NumberMoments:
    """Return the moments where every record has every number; anything else is refused."""
    shift = number_shift(columns)
    n = len(shift)
    names = columns.number_names
    products, sums, total = np.zeros((n, n)), np.zeros(n), 0.0
    for first, block in blocks_of(columns, block_size(n)):
        with np.errstate(invalid="ignore", over="ignore"):
            x = np.subtract(block, shift, dtype=np.float64)
            w = None if columns.weights is None else columns.weights[first : first + len(x)]
            weighted = x if w is None else x * w[:, None]
            products += weighted.T @ x
            sums += weighted.sum(axis=0)
        if not np.isfinite(sums).all():
            check_finite(block, first, names)
        if not np.isfinite(products).all():
            name = names[int(np.argmax(~np.isfinite(np.diagonal(products))))]
            raise InputError(f"X: the squares of column {name!r} are beyond all numbers; scale it")
        total += len(x) if w is None else float(w.sum())
    offset = sums / total
    covariances = products / total - np.outer(offset, offset)
    diagonal = np.diagonal(covariances)
    means = np.repeat((shift + offset)[:, None], n, axis=1)
    spreads = np.repeat(np.maximum(diagonal, 0.0)[:, None], n, axis=1)
    return NumberMoments(np.full((n, n), total), means, spreads, covariances)


def pairwise_moments(columns: Columns) -> NumberMoments:
    """Return the moments of every two columns over the records that have both numbers."""
    shift = number_shift(columns)
    n = len(shift)
    names = columns.number_names
    counts, sums, squares, products = (np.zeros((n, n)) for _ in range(4))
    for first, block in blocks_of(columns, block_size(n)):
        check_finite(block, first, names, nan_allowed=True)
        x = np.subtract(block, shift, dtype=np.float64)
        known = (~np.isnan(x)).astype(np.float64)
        x[known == 0] = 0.0
        weight: Any = 1.0
        if columns.weights is not None:
            weight = columns.weights[first : first + len(x)][:, None]
        counts += (weight * known).T @ known
        sums += (weight * x).T @ known
        squares += (weight * x * x).T @ known
        products += (weight * x).T @ x
    safe = np.where(counts > 0, counts, 1.0)
    offset = sums / safe
    return NumberMoments(
        counts,
        shift[:, None] + offset,
        np.maximum(squares / safe - offset**2, 0.0),
        products / safe - offset * offset.T,
    )
