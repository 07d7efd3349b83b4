"""Selections as named arrays, for files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import InputError
from tacit.parameters import plain_parameters
from tacit.select.criteria import choose_criterion
from tacit.table.input_spec import InputSpec
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    from tacit.select.best_subset import BestSubset

__all__ = ["best_subset_of_state", "state_of_best_subset"]


def state_of_best_subset(selector: BestSubset) -> store.State:
    """Return the arrays a file must hold to make the selector again."""
    facts = {
        "parameters": plain_parameters(selector),
        "target": selector.target_,
        "sets": [list(subset.columns) for subset in selector.ranking_],
        "n_subsets": selector.n_subsets_,
        "n_scored": selector.n_scored_,
    }
    return {
        "features": np.frombuffer(selector._input.to_json(), np.uint8),
        "settings": np.frombuffer(write_json(facts), np.uint8),
        "scores": np.array([subset.score for subset in selector.ranking_]),
        "gains": np.array([subset.gain for subset in selector.ranking_]),
        "combinations": np.array([subset.n_combinations for subset in selector.ranking_]),
    }


def best_subset_of_state(kind: type[BestSubset], state: store.State) -> BestSubset:
    """Make the selector of a file's arrays, after checking that they go together."""
    from tacit.select.best_subset import Subset

    facts = store.read_json(state["settings"])
    selector = kind(**facts["parameters"])
    choose_criterion(selector.criterion)
    selector._input = InputSpec.from_json(state["features"].tobytes())
    selector._input.note(selector)
    selector._names = list(selector._input.names)
    selector.target_ = facts["target"]
    selector.n_subsets_, selector.n_scored_ = facts["n_subsets"], facts["n_scored"]
    columns = _read_sets(facts["sets"], selector)
    numbers = [
        _read_numbers(state, name, dtype, len(columns))
        for name, dtype in (("scores", np.float64), ("gains", np.float64), ("combinations", "i8"))
    ]
    if any(numbers[0][k] < numbers[0][k + 1] for k in range(len(columns) - 1)):
        raise InputError("'scores' does not begin with the best")
    if min(numbers[2]) < 1:
        raise InputError("'combinations' has a number below 1")
    selector.ranking_ = [Subset(*row) for row in zip(columns, *numbers, strict=True)]
    selector.subset_ = selector.ranking_[0].columns
    selector.score_ = selector.ranking_[0].score
    return selector


def _read_sets(sets: Any, selector: BestSubset) -> list[tuple[str, ...]]:
    """Return sets of columns that are there, each in their order."""
    known = {name: k for k, name in enumerate(selector._names)}
    if not isinstance(selector.target_, str) or selector.target_ in known:
        raise InputError("its target has no name that could be one")
    if not isinstance(sets, list) or not sets:
        raise InputError("it has no sets of columns")
    n, n_scored = len(sets), selector.n_scored_
    if not _is_count(selector.n_subsets_) or not _is_count(n_scored):
        raise InputError("its numbers of sets cannot be")
    if not n <= n_scored <= selector.n_subsets_:
        raise InputError("its numbers of sets do not go together")
    for chosen in sets:
        positions = [known.get(name, -1) for name in chosen]
        if not positions or -1 in positions or sorted(set(positions)) != positions:
            raise InputError("a set has columns that are not there, or not in their order")
        if len(positions) != len(sets[0]):
            raise InputError("its sets are not of one size")
    if selector.n_subsets_ > math.comb(len(known), len(sets[0])):
        raise InputError("its numbers of sets do not go together")
    return [tuple(chosen) for chosen in sets]


def _is_count(number: Any) -> bool:
    return type(number) is int and number >= 1


def _read_numbers(state: store.State, name: str, dtype: Any, n: int) -> list[Any]:
    """Return one finite number for each set."""
    array = state[name]
    if array.dtype != np.dtype(dtype) or array.shape != (n,):
        raise InputError(f"{name!r} is not a number for each set")
    if not np.isfinite(array).all():
        raise InputError(f"{name!r} has a number that is not finite")
    numbers: list[Any] = array.tolist()
    return numbers
