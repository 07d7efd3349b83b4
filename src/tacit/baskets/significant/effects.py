"""What is said of each rule besides its p-value: adjusted p-values, odds ratios, differences."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["odds_ratios", "permutation_adjusted", "risk_differences", "step_up", "tarone_adjusted"]


def permutation_adjusted(
    log_p: NDArray[np.float64], minima: NDArray[np.float64], n_permutations: int
) -> NDArray[np.float64]:
    """Return how many of the labellings, the true one included, have a rule as extreme.

    >>> permutation_adjusted(np.array([-9.0, -5.0]), np.array([-6.0, -5.0]), 99)
    array([0.01, 0.03])
    """
    reached = np.searchsorted(minima, log_p, side="right")
    return np.asarray((1 + reached) / (n_permutations + 1))


def tarone_adjusted(log_p: NDArray[np.float64], n_tests: int) -> NDArray[np.float64]:
    """Return Bonferroni's p-values over the hypotheses that can be significant at all."""
    return np.asarray(np.exp(np.minimum(0, log_p + np.log(n_tests))))


def step_up(
    log_p: NDArray[np.float64], n_tests: int, *, any_dependence: bool
) -> NDArray[np.float64]:
    """Return adjusted p-values for the false discovery rate; `log_p` ascends.

    These are Benjamini and Hochberg's, or with `any_dependence` Benjamini and Yekutieli's, of
    `n_tests` hypotheses, of which only the least p-values are given.

    >>> step_up(np.log([0.01, 0.02, 0.02]), 4, any_dependence=False).round(4)
    array([0.0267, 0.0267, 0.0267])
    """
    factor = np.log(max(1, n_tests))
    if any_dependence:
        factor += np.log(_harmonic(max(1, n_tests)))
    each = log_p + factor - np.log(np.arange(1, len(log_p) + 1))
    least = np.minimum.accumulate(each[::-1])[::-1]
    return np.asarray(np.exp(np.minimum(0, least)))


def _harmonic(n: int) -> float:
    """Return 1 + 1/2 + … + 1/n.

    >>> round(_harmonic(4), 6), round(_harmonic(10**9), 6)
    (2.083333, 21.300482)
    """
    if n < 10**6:
        return float((1 / np.arange(1, n + 1)).sum())
    return float(np.log(n) + np.euler_gamma + 1 / (2 * n))


def odds_ratios(
    support: NDArray[np.int64],
    positives: NDArray[np.int64],
    n_records: int,
    n_positives: int,
    level: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return odds ratios and both ends of their intervals.

    The interval is Woolf's, with one half added to each cell (Gart): it begins at 0, or has no end,
    where the ratio is 0 or infinite.

    >>> odds_ratios(np.array([10]), np.array([10]), 100, 30, 0.95)[0]
    array([inf])
    """
    a, b = positives.astype(float), (support - positives).astype(float)
    c, d = n_positives - a, n_records - n_positives - b
    with np.errstate(divide="ignore"):  # both classes are there, so that it is never 0 / 0
        ratio = a * d / (b * c)
    centre = np.log((a + 0.5) * (d + 0.5)) - np.log((b + 0.5) * (c + 0.5))
    spread = np.sqrt(sum(1 / (cell + 0.5) for cell in (a, b, c, d)))
    half = NormalDist().inv_cdf((1 + level) / 2) * spread
    low = np.where(a * d == 0, 0.0, np.exp(centre - half))
    high = np.where(b * c == 0, np.inf, np.exp(centre + half))
    return ratio, low, high


def risk_differences(
    support: NDArray[np.int64], positives: NDArray[np.int64], n_records: int, n_positives: int
) -> NDArray[np.float64]:
    """Return fractions of positives among the records of rules, minus those among all others."""
    others = n_records - support
    return np.asarray(positives / support - (n_positives - positives) / others)
