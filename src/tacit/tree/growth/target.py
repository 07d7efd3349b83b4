"""What a tree of numbers learns from: moments of fixed point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Moments"]


@dataclass(frozen=True)
class Moments:
    """Sums that say how a target varies, in fixed point: the same in any order of the records.

    d is a record's deviation from `base`, the most common number, and w its weight. The kernel adds
    up w, w·d·scale and w·d²·scale², all in units of 1/unit. Unit and scale are powers of two, as
    large as leaves the sums below 2⁵³ and 2⁶².
    """

    base: float
    scale: float
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    @staticmethod
    def of(numbers: NDArray[np.float64], weights: NDArray[np.int64]) -> Moments:
        """Return the moments of numbers; the weights are in units."""
        distinct, counts = np.unique(numbers, return_counts=True)
        base = float(distinct[np.argmax(counts)])
        with np.errstate(over="ignore"):
            widest = max(float(distinct[-1]) - base, base - float(distinct[0]))
        if widest and not 1e-150 < widest < 1e150:  # squares would be infinite, or zero
            kind = "far apart; scale them down" if widest > 1 else "close together; scale them up"
            raise InputError(f"y: its numbers are too {kind}")
        small = 2.0 ** -math.frexp(widest)[1]  # the widest deviation is at most 1
        deviations = (numbers - base) * small
        second = float((weights * deviations**2).sum())
        first = float((weights * np.abs(deviations)).sum())
        # The kernel's scale: sums of squares below 2⁶¹, and so are those of deviations.
        more = min((60 - math.frexp(second)[1]) // 2, 60 - math.frexp(first)[1]) if second else 0
        deviations *= 2.0**more
        return Moments(
            base,
            small * 2.0**more,
            np.rint(weights * deviations).astype(np.int64),
            np.rint(weights * deviations**2).astype(np.int64),
        )

    def prior(self, weight: float, units: NDArray[np.int64]) -> tuple[float, float, float, float]:
        """Return a normal-inverse-gamma prior worth `weight` records, in the kernel's scale.

        It expects the mean and the variance of all numbers (mean0, kappa0, alpha0, beta0).
        """
        total = float(units.sum())
        mean = float(self.first.sum()) / total
        variance = max(float(self.second.sum()) / total - mean**2, 0.0)
        return mean, weight, weight / 2, weight / 2 * (variance or 1.0)

    def plain_prior(
        self, prior: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        """Return a prior in the scale of the numbers; its mean is a deviation, too."""
        mean, kappa, alpha, beta = prior
        return mean / self.scale, kappa, alpha, beta / self.scale / self.scale
