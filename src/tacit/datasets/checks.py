"""What generators refuse."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from tacit.errors import InputError

__all__ = ["check_number", "check_whole", "generator"]


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number in [least, most].

    >>> check_whole("n_columns", 0, 1)
    Traceback (most recent call last):
    tacit.errors.InputError: n_columns must be a whole number of at least 1, got 0
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        whole = int(value)
        if whole >= least and (most is None or whole <= most):
            return whole
    allowed = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
    raise InputError(f"{name} must be a whole number {allowed}, got {value!r}")


def check_number(
    name: str, value: Any, least: float, most: float = math.inf, *, above: bool = False
) -> float:
    """Return a finite number in [least, most], or in (least, most] if it must be `above`."""
    if not isinstance(value, bool) and isinstance(value, Real):
        number = float(value)
        if math.isfinite(number) and least <= number <= most and not (above and number == least):
            return number
    word = "above" if above else "of at least"
    allowed = f"{word} {least:g}" + ("" if math.isinf(most) else f" and at most {most:g}")
    raise InputError(f"{name} must be a number {allowed}, got {value!r}")


def generator(random_state: Any) -> np.random.Generator:
    """Return NumPy's generator of a seed; a generator is taken as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_whole("random_state", random_state, 0))
