"""Probabilities from decisions: Platt's sigmoid, fitted as Lin, Lin and Weng do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fit_sigmoid", "probabilities", "sigmoid"]

_STEPS = 100
_RIDGE = 1e-12  # keeps the curvature positive


def sigmoid(decisions: NDArray[np.float64], slope: float, offset: float) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(slope · decision + offset))."""
    probabilities: NDArray[np.float64] = expit(-(slope * decisions + offset))
    return probabilities


def probabilities(
    decisions: NDArray[np.float64], sigmoids: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of each class from decisions: one of two classes, else one for each.

    Of more than two classes, what each has against all others is divided by the sum.

    >>> probabilities(np.array([0.0]), np.array([[-2.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    columns = decisions.reshape(len(decisions), -1)
    each = np.column_stack([sigmoid(columns[:, k], *line) for k, line in enumerate(sigmoids)])
    if each.shape[1] == 1:
        return np.column_stack((1 - each, each))
    total = each.sum(axis=1, keepdims=True)
    even = 1 / each.shape[1]
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), even)


def fit_sigmoid(
    decisions: NDArray[np.float64], signs: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the slope and the offset that make the signs, 1 or -1, most likely.

    Decisions are of objects that the decision function was not fitted to. Targets are not 1 and 0,
    but the fractions with one more object on either side.
    """
    above, below = float(weights[signs > 0].sum()), float(weights[signs < 0].sum())
    targets = np.where(signs > 0, (above + 1) / (above + 2), 1 / (below + 2))
    slope, offset = 0.0, float(np.log((below + 1) / (above + 1)))

    def loss(a: float, b: float) -> float:
        z = a * decisions + b
        return float(weights @ (np.logaddexp(0, -z) + targets * z))

    now = loss(slope, offset)
    for _ in range(_STEPS):
        p = sigmoid(decisions, slope, offset)
        error, spread = weights * (targets - p), weights * p * (1 - p)
        gradient = np.array([error @ decisions, error.sum()])
        if np.abs(gradient).max() < 1e-5:
            break
        cross = spread @ decisions
        curvature = [[spread @ decisions**2 + _RIDGE, cross], [cross, spread.sum() + _RIDGE]]
        step = -np.linalg.lstsq(np.array(curvature), gradient)[0]
        length = 1.0
        while length > 1e-10:
            tried = loss(slope + length * step[0], offset + length * step[1])
            if tried < now + 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break
        slope, offset, now = (
            slope + length * float(step[0]),
            offset + length * float(step[1]),
            tried,
        )
    return slope, offset
