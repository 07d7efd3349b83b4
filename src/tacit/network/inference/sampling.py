"""Records drawn from a net: parents before children, all records at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.bayes_net.graph import find_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents

__all__ = ["draw_codes", "likely_codes"]


def draw_codes(
    n: int,
    arities: NDArray[np.int64],
    parents: Parents,
    tables: Sequence[NDArray[np.float64]],
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Return n records as rows of codes."""
    codes = np.zeros((n, len(arities)), np.int32, order="F")
    for column in find_order(parents):
        row = np.zeros(n, np.int64)
        for parent in parents[column]:
            row = row * arities[parent] + codes[:, parent]
        uniform = rng.random(n)
        bounds = _bounds(tables[column])
        drawn = codes[:, column]
        for code in range(bounds.shape[1]):
            drawn += uniform >= bounds[row, code]
    return codes


def _bounds(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return below which number each label but the last is drawn; none of probability 0 ever is."""
    bounds = np.cumsum(table, axis=1)
    last = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(axis=1)
    bounds[np.arange(table.shape[1]) >= last[:, None]] = 1.0
    return bounds[:, :-1]


def likely_codes(
    arities: NDArray[np.int64], parents: Parents, tables: Sequence[NDArray[np.float64]]
) -> list[int]:
    """Return each column's most probable code, about: as if its parents were independent.

    Good enough to choose what a table of such records does not store.
    """
    marginals: list[NDArray[np.float64]] = [np.zeros(0)] * len(arities)
    for column in find_order(parents):
        weight = np.ones(1)
        for parent in parents[column]:
            weight = np.outer(weight, marginals[parent]).ravel()
        marginal = weight @ tables[column]
        # Products of sums that miss one by rounding would run off over a long way.
        marginals[column] = marginal / marginal.sum()
    return [int(marginal.argmax()) for marginal in marginals]
