"""What estimators do with their parameters: random states, and parameters in files."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from tacit.errors import InputError

__all__ = ["make_generator", "plain_parameters", "store_parameters"]


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a generator for anything that scikit-learn takes as random_state.

    >>> int(make_generator(3).integers(99)) == int(make_generator(3).integers(99))
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None
    return np.random.default_rng(seed)


def store_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Store what a constructor was given, its ``locals()``, under the parameters' own names."""
    vars(estimator).update({name: value for name, value in given.items() if name != "self"})


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Return an estimator's parameters as JSON can hold them.

    Generators, rules for bins and weights of classes are left out.
    """
    return {k: _plain(v) for k, v in estimator.get_params().items() if _is_plain(v)}


def _plain(value: Any) -> Any:
    """Return a parameter with Python's numbers and lists instead of NumPy's and tuples."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(_plain(value), str | int | float)
