"""Measures of association rules, from four counts: both sides, each side, all records."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2 as chi2_distribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MEASURES", "confidence_interval", "lift_interval"]

# Each takes the fractions of records with both sides (b), the antecedent (a), the consequent (c),
# and the (weighted) number of records. Zero divided by zero is "no association".


def _lift(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return b / (a * c)


def _leverage(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return b - a * c


def _conviction(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    # Infinite for a rule without exception; where all records have the consequent, 1.
    missed = a - b
    expected = a * (1 - c)
    out = np.full_like(b, np.inf)
    out[expected <= 0] = 1.0
    return np.divide(expected, missed, out=out, where=(missed > 0) & (expected > 0))


def _zhang(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    scale = np.maximum(b * (1 - a), a * (c - b))
    return np.divide(b - a * c, scale, out=np.zeros_like(b), where=scale > 0)


def _jaccard(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return b / (a + c - b)


def _cosine(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return b / np.sqrt(a * c)


def _kulczynski(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return (b / a + b / c) / 2


def _chi2(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    spread = a * (1 - a) * c * (1 - c)
    return n * np.divide((b - a * c) ** 2, spread, out=np.zeros_like(b), where=spread > 0)


def _p_value(b: Floats, a: Floats, c: Floats, n: float) -> Floats:
    return np.asarray(chi2_distribution.sf(_chi2(b, a, c, n), 1))


MEASURES: dict[str, Callable[[Floats, Floats, Floats, float], Floats]] = {
    "lift": _lift,
    "leverage": _leverage,
    "conviction": _conviction,
    "zhang": _zhang,
    "jaccard": _jaccard,
    "cosine": _cosine,
    "kulczynski": _kulczynski,
    "chi2": _chi2,
    "p_value": _p_value,
}


def confidence_interval(
    both: NDArray[np.float64], antecedent: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's interval of the fraction of the antecedent's records that hold both sides.

    >>> low, high = confidence_interval(np.array([8.0]), np.array([10.0]), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.49]), array([0.943]))
    """
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    fraction = both / antecedent
    centre = (fraction + z2 / (2 * antecedent)) / (1 + z2 / antecedent)
    half = np.sqrt(z2 * (fraction * (1 - fraction) / antecedent + z2 / (4 * antecedent**2)))
    half /= 1 + z2 / antecedent
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def lift_interval(
    both: NDArray[np.float64],
    antecedent: NDArray[np.float64],
    consequent: NDArray[np.float64],
    n: float,
    level: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of the lift, by the delta method on its logarithm."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    lift = both * n / (antecedent * consequent)
    # The variance of log b − log a − log c for multinomial counts.
    variance = 1 / both - 1 / antecedent - 1 / consequent + (2 * both / (antecedent * consequent))
    variance -= 1 / n
    spread = np.exp(z * np.sqrt(np.maximum(variance, 0.0)))
    return lift / spread, lift * spread
