"""Weights of records that sums and products of stay finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["exponent", "refuse_large"]

_MOST_WEIGHT = 1e100  # beyond which sums of squares would not be finite


def exponent(weights: NDArray[np.float64]) -> int:
    """Return the e of the 2**e that the largest weight is just below: 0 if all are zero.

    Weights that are divided by 2**e lose nothing and have sums and products that are finite.

    >>> exponent(np.array([3.0, 0.1]))
    2
    """
    return int(np.frexp(weights.max(initial=0.0))[1])


def refuse_large(weights: NDArray[np.float64] | None, argument: str = "sample_weight") -> None:
    """Refuse weights whose squares would not be finite."""
    if weights is not None and weights.max() > _MOST_WEIGHT:
        raise InputError(f"{argument}: {weights.max():g} is too large; scale weights down")
