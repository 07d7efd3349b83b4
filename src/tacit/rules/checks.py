"""What parameters of rule learners may be."""

from __future__ import annotations

import math
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_choice", "check_flag", "check_number", "is_number", "kept_on_failure"]


def check_choice(value: Any, argument: str, choices: tuple[str, ...]) -> str:
    """Return a word that is one of those there are.

    >>> check_choice("exact", "search", ("exact", "histogram"))
    'exact'
    """
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(word) for word in choices[:-1])
    raise InputError(f"{argument} must be {listed} or {choices[-1]!r}, got {value!r}")


def check_number(
    value: Any,
    argument: str,
    least: float,
    most: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
) -> float:
    """Return a finite number from `least` to `most`; `above` and `below` leave out the ends.

    >>> check_number(0.3, "learning_rate", 0, 1, above=True)
    0.3
    """
    if is_number(value):
        number = float(value)
        low_enough = number < most if below else number <= most
        if math.isfinite(number) and low_enough and (number > least if above else number >= least):
            return number
    bound = f"{'above' if above else 'of at least'} {least:g}"
    if math.isfinite(most):
        bound += f" and {'below' if below else 'at most'} {most:g}"
    raise InputError(f"{argument} must be a finite number {bound}, got {value!r}")


def is_number(value: Any) -> bool:
    """Return whether this is a real number; True and False are none."""
    return not isinstance(value, bool | np.bool_) and isinstance(value, Real)


def check_flag(value: Any, argument: str) -> bool:
    """Return a flag."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{argument} must be True or False, got {value!r}")


@contextmanager
def kept_on_failure(model: Any) -> Iterator[None]:
    """Leave a fitted model as it was if it cannot be fitted again, or is interrupted."""
    known = vars(model).copy()
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(known)
        raise
