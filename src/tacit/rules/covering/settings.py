"""How covering rules are learnt, and weights as the search takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.rules.scaling import exponent

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CRITERIA", "CoveringSettings", "on_a_grid", "scale_power"]

CRITERIA = ("precision", "laplace", "m_estimate", "f_measure", "kulczynski", "foil_gain")
_MOST = 1e300  # more than any sum of weights
_GRID_BITS = 20  # weights keep so many binary digits: sums of them are exact in any order


@dataclass(frozen=True)
class CoveringSettings:
    """How rules are learnt; see :class:`tacit.CoveringRulesClassifier`."""

    criterion: str
    parameter: float
    prune_fraction: float  # 0: rules are not pruned
    n_iter_no_change: int
    max_conditions: int
    min_support: float
    max_rules: int | None
    n_jobs: int
    ascending: bool = True  # rules for rare classes come first
    n_optimisations: int = 0
    n_possible: int = 1  # how many different conditions there are
    record: float = 1.0  # the weight of one record

    def scaled(self, power: int) -> CoveringSettings:
        """Return settings for weights that were divided by 2**power."""
        parameter = self.parameter
        if self.criterion == "m_estimate":
            parameter = _divided(parameter, power)
        support, record = _divided(self.min_support, power), _divided(self.record, power)
        return replace(self, parameter=parameter, min_support=support, record=record)


def _divided(number: float, power: int) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.minimum(np.ldexp(number, -power), _MOST))


def scale_power(weights: NDArray[np.float64], criterion: str) -> int:
    """Return which power of two to divide weights by, so that float32 can hold them.

    Rules stay the same. Laplace's criterion adds one record in the kernel itself, so that weights
    are left alone for it unless that record is next to nothing, or to everything, anyway.

    >>> scale_power(np.array([3.0]), "precision"), scale_power(np.array([3.0]), "laplace")
    (2, 0)
    """
    power = exponent(weights)
    return power - min(max(power, -20), 60) if criterion == "laplace" else power


def on_a_grid(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as multiples of a power of two, so that their sums are exact.

    Whole numbers up to a million stay as they are.

    >>> on_a_grid(np.array([1.0, 2.0, 0.1])).tolist()
    [1.0, 2.0, 0.1000003814697265...]
    """
    largest = float(weights.max(initial=0.0))
    if largest == 0:
        return weights
    step = 2.0 ** (np.ceil(np.log2(largest)) - _GRID_BITS)
    rounded: NDArray[np.float64] = np.round(weights / step) * step
    return rounded
