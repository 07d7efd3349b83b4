"""What estimators do with their parameters: checks, random states, and parameters in files."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "check_choice",
    "check_flag",
    "check_number",
    "is_number",
    "make_generator",
    "plain_parameters",
    "rename_parameters",
    "store_parameters",
]


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a generator for anything that scikit-learn takes as random_state.

    >>> int(make_generator(3).integers(99)) == int(make_generator(3).integers(99))
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    from sklearn.utils.validation import check_random_state

    try:
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None
    return np.random.default_rng(seed)


def store_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Store what a constructor was given, its ``locals()``, under the names of its parameters."""
    vars(estimator).update({name: value for name, value in given.items() if name != "self"})


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Return an estimator's parameters as JSON can hold them.

    Generators, rules for bins and weights of classes are left out.
    """
    return {k: _plain(v) for k, v in estimator.get_params().items() if _is_plain(v)}


def rename_parameters(saved: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of a file under their names of today.

    Parameters
    ----------
    saved : mapping of str to value
    names : mapping of str to str
        The name of today for each that was renamed.

    Examples
    --------
    >>> rename_parameters({"patience": 5, "l2": 1.0}, {"patience": "n_iter_no_change"})
    {'n_iter_no_change': 5, 'l2': 1.0}
    """
    return {names.get(name, name): value for name, value in saved.items()}


_KINDS_BEFORE = {"ordered": "ordered", "nominal": "categorical", "numeric": "numeric"}


def earlier_parameters(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved parameters with the kinds of columns in one place, as they are since 0.2.

    >>> earlier_parameters({"kappa": 0.1, "nominal": ["zip"], "ordered": "auto"})
    {'kappa': 0.1, 'kinds': {'zip': 'categorical'}}
    """
    parameters = {name: x for name, x in saved.items() if name not in _KINDS_BEFORE}
    kinds = {
        column: kind
        for name, kind in _KINDS_BEFORE.items()
        if isinstance(saved.get(name), list)
        for column in saved[name]
    }
    return parameters | ({"kinds": kinds} if kinds else {})


def _plain(value: Any) -> Any:
    """Return a parameter with Python's numbers and lists instead of NumPy's and tuples."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(item) for name, item in value.items())
    return value is None or isinstance(_plain(value), str | int | float)


def check_choice(value: Any, argument: str, choices: tuple[str, ...]) -> str:
    """Return a word that is one of those there are.

    >>> check_choice("exact", "algorithm", ("exact", "histogram"))
    'exact'
    """
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(word) for word in choices[:-1])
    hint = did_you_mean(value, choices)
    raise InputError(f"{argument} must be {listed} or {choices[-1]!r}, got {value!r}{hint}")


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
