"""How good a set of columns is: the information it has about the target, less what it is charged.

All scores are in nats. S is a set of columns, Y the target, Z the columns that are given (or none),
N the number of records (or the sum of their weights), and K the number of combinations of labels
that occur. The **gain** of S is the mutual information I(Y; S | Z) = H(Y | Z) − H(Y | S, Z), and

==================  ==========================================================
information_gain    I(Y; S | Z)
corrected           I(Y; S | Z) − (K(YSZ) − K(SZ) − K(YZ) + K(Z)) / (2 N)
penalized           I(Y; S | Z) − (K(SZ) − K(Z)) (K(Y) − 1) ln(N) / (2 N)
==================  ==========================================================

The gain never falls when a column is added, and columns with many labels raise it by chance alone.
``corrected`` takes away what Miller and Madow expect of chance: each entropy H of K combinations is
too low by about (K − 1) / (2 N). ``penalized`` takes away half of ln(N) for each parameter that the
distribution of Y given S and Z has beyond that of Y given Z, as BIC does, divided by the number of
records. Without given columns, K(Z) is 1 and K(YZ) is K(Y).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CRITERIA", "Baseline", "Criterion", "choose_criterion"]

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Baseline:
    """What is known before a column is chosen."""

    total: float  # N
    entropy: float  # H(Y | Z) in nats, the most that can be gained
    given_entropy: float  # H(Z) in nats
    n_classes: int  # K(Y)
    n_given: int  # K(Z)
    n_given_cells: int  # K(YZ)


@dataclass(frozen=True)
class Criterion:
    """What sets are compared by: the gain less a charge."""

    name: str
    charge: Callable[[Baseline, Numbers, Numbers], Numbers]  # of the baseline, K(SZ) and K(YSZ)
    # Of the baseline and K(SZ): no set that holds S is charged less. Without it, bounds on the gain
    # would say nothing about the score.
    least_charge: Callable[[Baseline, Numbers], Numbers]


def _nothing(base: Baseline, n_rows: Numbers, n_cells: Numbers | None = None) -> Numbers:
    return np.zeros(np.shape(n_rows))


def _bias(base: Baseline, n_rows: Numbers, n_cells: Numbers) -> Numbers:
    surplus = n_cells - n_rows - base.n_given_cells + base.n_given
    return np.asarray(surplus / (2 * base.total))


def _least_bias(base: Baseline, n_rows: Numbers) -> Numbers:
    return _bias(base, n_rows, n_rows)  # each row that occurs has a cell that does


def _penalty(base: Baseline, n_rows: Numbers, n_cells: Numbers | None = None) -> Numbers:
    parameters = (n_rows - base.n_given) * (base.n_classes - 1)
    return np.asarray(parameters * (max(math.log(base.total), 0.0) / (2 * base.total)))


CRITERIA = {
    criterion.name: criterion
    for criterion in (
        Criterion("information_gain", _nothing, _nothing),
        Criterion("corrected", _bias, _least_bias),
        Criterion("penalized", _penalty, _penalty),  # combinations never become fewer
    )
}


def choose_criterion(name: Any) -> Criterion:
    """Return the criterion of this name."""
    if isinstance(name, str) and name in CRITERIA:
        return CRITERIA[name]
    known = ", ".join(repr(known) for known in CRITERIA)
    hint = did_you_mean(name, CRITERIA)
    raise InputError(f"criterion must be one of {known}; got {name!r}{hint}")
