"""Blends: what several models say of an item, weighed by what hidden items of records told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["blend_features", "learn_weights"]

_LEAST_SCORE, _LEAST_PROBABILITY = 1e-3, 1e-9
_FEATURES = ("linear", "log linear", "log popularity", "log trees")


def blend_features(
    linear: NDArray[np.float64],
    popularity: NDArray[np.float64],
    trees: NDArray[np.float64] | None = None,
) -> list[NDArray[np.float64]]:
    """Return what is added up: the linear score, its logarithm, and two logarithms.

    A linear score is nearly a probability, but may be below zero. Its logarithm tells rare items
    apart; the score itself tells common ones apart.
    """
    features = [
        linear,
        np.log(np.maximum(linear, _LEAST_SCORE)),
        np.broadcast_to(np.log(np.maximum(popularity, _LEAST_PROBABILITY)), linear.shape),
    ]
    if trees is not None:
        features.append(np.log(np.maximum(trees, _LEAST_PROBABILITY)))
    return features


def learn_weights(
    features: list[NDArray[np.float64]],
    allowed: NDArray[np.bool_],
    hidden: NDArray[np.int64],
    record_weights: NDArray[np.float64] | None = None,
    check: Callable[[], None] = lambda: None,
) -> NDArray[np.float64]:
    """Return the weights that make hidden items most probable among those that are allowed.

    P(item | basket) is proportional to exp(Σ weight · feature): a multinomial logit, of which the
    log-likelihood is concave. No weight is below zero.
    """
    stacked = np.stack(features)
    scale = stacked.std(axis=(1, 2))
    scale[scale == 0] = 1.0
    stacked /= scale[:, None, None]
    rows = np.arange(len(hidden))
    of_hidden = stacked[:, rows, hidden]
    each = np.ones(len(hidden)) if record_weights is None else record_weights
    each = each / each.sum()
    barred = ~allowed

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        check()
        scores = np.tensordot(weights, stacked, axes=1)
        scores[barred] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[rows, hidden].copy()
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores *= (each / sums)[:, None]
        slope = of_hidden @ each - np.array([np.vdot(f, scores) for f in stacked])
        return -float(each @ (own - np.log(sums))), -slope

    start = np.full(len(features), 1.0)
    found = optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)
    )
    return np.asarray(found.x / scale)
