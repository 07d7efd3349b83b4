"""Intervals for mutual information from a sample of the records.

They are for the information of all N records, of which n were drawn without replacement; that is
where the factor 1 − n/N comes from. Ends are in nats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import special

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "Confidence",
    "bounded_correlations",
    "bounded_tables",
    "sampled_binary_tables",
    "sampled_classes",
    "sampled_correlations",
    "sampled_ratios",
    "sampled_tables",
]

_EVENTS = 20  # records that an average must rest on before it is trusted at all
_SAME = 1e-13
_FLOOR = 1e-9  # least variance within a class, as a fraction of the variance of all


class Confidence:
    """How sure each interval has to be.

    `delta`, the probability of an error anywhere, is spread over `n_intervals`.

    Examples
    --------
    >>> round(Confidence(0.05, 1).z, 2)
    1.96
    """

    def __init__(self, delta: float, n_intervals: float) -> None:
        self.delta = delta / max(n_intervals, 1.0)
        self.z = float(-special.ndtri(self.delta / 2))

    def chi_square(self, degrees: Any) -> Floats:
        """Return what a chi-square variable exceeds with probability delta."""
        halves = np.asarray(degrees, np.float64) / 2
        return 2 * np.asarray(special.gammainccinv(halves, self.delta), np.float64)

    def hoeffding(self, n: float, n_records: int, parts: Any = 1) -> Floats:
        """Return how far the mean of n numbers in [0, 1] may be off, δ spread over some of them.

        Serfling's version of Hoeffding's inequality, for drawing without replacement.
        """
        left = 1 - (n - 1) / n_records
        half: Floats = np.sqrt(left * np.log(2 * np.asarray(parts) / self.delta) / (2 * n))
        return half


def sampled_correlations(
    n: float,
    n_records: int,
    rho: Floats,
    mixed: tuple[Floats, Floats, Floats],
    fourth: tuple[Floats, Floats],
    confidence: Confidence,
) -> tuple[Floats, Floats]:
    """Return ends for pairs of numeric columns, by the central limit theorem.

    On Fisher's scale atanh ρ, with the delta method's variance E[(xy − ρ(x² + y²)/2)²]/(1 − ρ²)²
    for standardised x and y; it is 1 for Gaussian columns. `rho` has the correlations in the
    sample; `mixed`, E[x²y²], E[x³y] and E[xy³] of the standardised columns; `fourth`, E[x⁴] and
    E[y⁴]. All are of shape (n_pairs,).
    """
    (m22, m31, m13), (m40, m04) = mixed, fourth
    left = np.maximum(1 - rho**2, 1e-100)
    raw = m22 - rho * (m31 + m13) + 0.25 * rho**2 * (m40 + 2 * m22 + m04)
    # Less than a Gaussian's spread may be luck: rare values that the sample did not meet together.
    spread = np.maximum(raw / left**2, 1.0)
    # The normal approximation is late where few records make up the average.
    late = 1 + m40 * m04 / n
    count = max(n - 3.0, 1.0)
    half = confidence.z * np.sqrt(spread * (1 - n / n_records) / count) * late
    half += np.abs(rho) / (2 * count)
    centre = np.arctanh(np.clip(np.abs(rho), 0, 1 - 1e-16))
    low = log_cosh(np.maximum(centre - half, 0.0))
    high = log_cosh(centre + half)
    few = n / _EVENTS
    vague = (n < 8) | (m40 > few) | (m04 > few) | (spread > few) | (1 - np.abs(rho) < _SAME)
    vague |= (m40 <= 0) | (m04 <= 0)  # constant so far
    return np.where(vague, 0.0, low), np.where(vague, np.inf, high)


def bounded_correlations(
    n: float, n_records: int, rho: Floats, ranges: Floats, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for pairs of numeric columns, by Hoeffding's inequality.

    `rho` has the mean product of the columns, standardised with mean and variance of all records;
    `ranges`, how far the largest product is from the smallest. Both are of shape (n_pairs,).
    """
    half = ranges * confidence.hoeffding(n, n_records)
    low = np.clip(np.abs(rho) - half, 0.0, 1.0)
    high = np.clip(np.abs(rho) + half, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return -0.5 * np.log1p(-(low**2)), -0.5 * np.log1p(-(high**2))


def log_cosh(x: Floats) -> Floats:
    """Return log cosh x, the information of a correlation of tanh x.

    >>> log_cosh(np.array([0.0, 700.0])).round(4).tolist()
    [0.0, 699.3069]
    """
    x = np.abs(x)
    value: Floats = x + np.log1p(np.exp(-2 * x)) - np.log(2)
    return np.maximum(value, 0.0)


def sampled_binary_tables(
    n: float, n_records: int, tables: Floats, left: Floats, right: Floats, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for pairs of binary columns whose one-way counts are known.

    The unknown is one cell p of the two-way table. Its interval is that of the likelihood ratio:
    all p with 2(log L(p̂) − log L(p)) ≤ z², or 2 log(2/δ), a bound of Chernoff's kind, where a cell
    has few records. The information is taken at both ends, and is 0 at the lower one where
    independence lies between them. Tables (n_pairs, 2, 2) are counts in the sample; left and right
    (n_pairs, 2) are those of the first and of the second column in all records.
    """
    pa, pb = left[:, 0] / n_records, right[:, 0] / n_records
    counts = np.ascontiguousarray(tables.reshape(-1, 4))
    enough = counts.min(axis=1) >= _EVENTS
    drop = np.where(enough, confidence.z**2 / 2, np.log(2 / confidence.delta))
    low, high = _core.likelihood_ends(counts, pa, pb, drop * (1 - n / n_records), 1)
    at_low, at_high = _binary_information(low, pa, pb), _binary_information(high, pa, pb)
    independent = (low <= pa * pb) & (pa * pb <= high)
    return np.where(independent, 0.0, np.minimum(at_low, at_high)), np.maximum(at_low, at_high)


def _binary_cells(p: Floats, pa: Floats, pb: Floats) -> tuple[Floats, ...]:
    """Return the four cells of a table from its first one and the margins."""
    return p, np.maximum(pa - p, 0.0), np.maximum(pb - p, 0.0), np.maximum(1 - pa - pb + p, 0.0)


def _binary_information(p: Floats, pa: Floats, pb: Floats) -> Floats:
    margins = ((pa, pb), (pa, 1 - pb), (1 - pa, pb), (1 - pa, 1 - pb))
    total = np.zeros(len(p))
    for cell, (a, b) in zip(_binary_cells(p, pa, pb), margins, strict=True):
        total += special.rel_entr(cell, np.maximum(a * b, 1e-300))
    return np.maximum(total, 0.0)


def sampled_tables(
    n: float, n_records: int, tables: Floats, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for pairs of discrete columns with any number of values.

    Tables (n_pairs, r, s) are counts in the sample.
    """
    p = tables / n
    rows, columns = p.sum(axis=2), p.sum(axis=1)
    independent = rows[:, :, None] * columns[:, None, :]
    log_ratio = np.log(np.divide(p, independent, out=np.ones_like(p), where=p > 0))
    mean = (p * log_ratio).sum(axis=(1, 2))
    variance = (p * log_ratio**2).sum(axis=(1, 2)) - mean**2
    degrees = (tables.shape[1] - 1) * (tables.shape[2] - 1)
    return sampled_ratios(n, n_records, mean, variance, degrees, confidence)


def sampled_ratios(
    n: float, n_records: int, mean: Floats, variance: Floats, degrees: Any, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for an information that is the mean of a log-likelihood ratio over records.

    Beside the normal approximation there is a term of second order: 2n times the information in a
    sample of independent columns is a chi-square variable. Mean and variance (n_pairs,) are those
    of the ratio in the sample, degrees those of freedom of the chi-square variable.
    """
    left = 1 - n / n_records
    second = confidence.chi_square(np.maximum(degrees, 1)) / n
    half = confidence.z * np.sqrt((np.maximum(variance, 0.0) + second) * left / n)
    low = np.maximum(mean - half - second * left / 2, 0.0)
    none = np.asarray(degrees) == 0
    return np.where(none, 0.0, low), np.where(none, 0.0, mean + half)


def sampled_classes(
    n_records: int, powers: Floats, fractions: Floats, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for a discrete and some numeric columns.

    The information is the mean log-likelihood ratio of a normal distribution for each class to one
    for all. Classes of which the sample has few records enter with all that they could add. Powers
    (5, n_pairs, n_classes) are Σ 1, Σ x, … Σ x⁴ in the sample for each class, with x roughly
    standardised; fractions (n_classes,) are the share of each class in all records.
    """
    counts = powers[0]
    n = counts.sum(axis=1)
    mean, square = powers[1].sum(axis=1) / n, powers[2].sum(axis=1) / n
    spread = square - mean**2
    known = spread > 1e-12 * np.maximum(square, 1.0)
    spread = np.where(known, spread, 1.0)
    common = (counts >= _EVENTS) & known[:, None]
    safe = np.where(counts > 0, counts, 1.0)
    m1, r2, r3, r4 = powers[1:] / safe
    m2 = np.maximum(r2 - m1**2, _FLOOR * spread[:, None])
    m3 = r3 - 3 * m1 * r2 + 2 * m1**3
    m4 = np.maximum(r4 - 4 * m1 * r3 + 6 * m1**2 * r2 - 3 * m1**4, m2**2)
    # For a record of class k at m1 + u, the log-likelihood ratio is base + slope·u + bend·u².
    away = m1 - mean[:, None]
    base = -0.5 * np.log(m2 / spread[:, None]) + away**2 / (2 * spread[:, None])
    slope = away / spread[:, None]
    bend = 0.5 / spread[:, None] - 0.5 / m2
    first = base + bend * m2
    second = base**2 + 2 * base * bend * m2 + bend**2 * m4 + 2 * bend * slope * m3 + slope**2 * m2
    p = np.where(common, counts / n[:, None], 0.0)
    centre = (p * first).sum(axis=1)
    variance = (p * second).sum(axis=1) - centre**2
    degrees = np.maximum(2 * (common.sum(axis=1) - 1), 1)
    low, high = sampled_ratios(float(n.min()), n_records, centre, variance, degrees, confidence)
    # The normal approximation is late where few records make up a variance.
    tail = np.where(common, m4 / (m2**2 * safe), 0.0).max(axis=1)
    low = centre - (centre - low) * (1 + 10 * tail)
    high = centre + (high - centre) * (1 + 10 * tail)
    rare = np.where(common | (counts == n[:, None]), 0.0, fractions)
    low -= 0.5 * special.entr(rare).sum(axis=1)
    high += -0.5 * np.log(_FLOOR) * rare.sum(axis=1)
    vague = ~known | (tail > 1 / _EVENTS)
    return np.where(vague, 0.0, np.maximum(low, 0.0)), np.where(vague, np.inf, high)


def bounded_tables(
    n: float, n_records: int, tables: Floats, left: Floats, right: Floats, confidence: Confidence
) -> tuple[Floats, Floats]:
    """Return ends for pairs of discrete columns, by Hoeffding's inequality.

    One-way counts are known; each free cell of the two-way table has an interval, and with them the
    joint entropy. Counts are as in :func:`sampled_binary_tables`, with any number of values.
    """
    r, s = tables.shape[1:]
    rows, columns = left[:, :, None] / n_records, right[:, None, :] / n_records
    half = confidence.hoeffding(n, n_records, max(r * s if r * s > 4 else 1, 1))
    p = tables / n
    low = np.clip(p - half, np.maximum(rows + columns - 1, 0.0), np.minimum(rows, columns))
    high = np.clip(p + half, np.maximum(rows + columns - 1, 0.0), np.minimum(rows, columns))
    if r == 2 and s == 2:
        pa, pb = rows[:, 0, 0], columns[:, 0, 0]
        first, last = low[:, 0, 0], high[:, 0, 0]
        ends = _binary_information(first, pa, pb), _binary_information(last, pa, pb)
        independent = (first <= pa * pb) & (pa * pb <= last)
        return np.where(independent, 0.0, np.minimum(*ends)), np.maximum(*ends)
    at_low, at_high = special.entr(low), special.entr(high)
    peak = np.where((low <= np.exp(-1)) & (np.exp(-1) <= high), np.exp(-1), 0.0)
    most = np.maximum(np.maximum(at_low, at_high), peak).sum(axis=(1, 2))
    least = np.minimum(at_low, at_high).sum(axis=(1, 2))
    apart = special.entr(rows).sum(axis=(1, 2)) + special.entr(columns).sum(axis=(1, 2))
    smaller = np.minimum(
        special.entr(rows).sum(axis=(1, 2)), special.entr(columns).sum(axis=(1, 2))
    )
    return np.clip(apart - most, 0.0, smaller), np.clip(apart - least, 0.0, smaller)
