"""Significant rules as named arrays, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.baskets.significant.found import Found, SignificantRuleList
from tacit.errors import InputError
from tacit.parameters import plain_parameters
from tacit.table.input_spec import InputSpec
from tacit.table.schema_json import write_json
from tacit.table.targets import class_labels, pack_classes, unpack_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.significant.significant_rules import SignificantRules
    from tacit.schema import Schema

__all__ = ["significant_rules_of_state", "state_of_significant_rules"]

_ARRAYS = ("condition_start", "conditions", "implied_start", "implied", "support", "positives")
_FLOATS = ("log_p", "adjusted")
_COUNTS = ("n_testable", "n_significant", "least_support")


def state_of_significant_rules(model: SignificantRules) -> store.State:
    """Return the arrays a file must hold to make the rules again."""
    found = model._found
    parameters = plain_parameters(model)
    parameters.pop("value", None)  # a label of any type: it is the one below
    facts = {
        "parameters": parameters,
        "value_given": model.value is not None,
        "target": model.target_,
        "value": pack_classes(class_labels([model.value_])),
        "n_records": model.n_records_,
        "n_positives": model.n_positives_,
        "threshold": found.threshold,
        **{name: getattr(found, name) for name in _COUNTS},
    }
    return {
        "features": np.frombuffer(model._input.to_json(), np.uint8),
        "settings": np.frombuffer(write_json(facts), np.uint8),
        **{name: getattr(found, name) for name in (*_ARRAYS, *_FLOATS)},
    }


def significant_rules_of_state(
    kind: type[SignificantRules], state: store.State
) -> SignificantRules:
    """Make the rules of a file's arrays, after checking that they go together."""
    facts = store.read_json(state["settings"])
    model = kind(**facts["parameters"])
    model._input = InputSpec.from_json(state["features"].tobytes())
    model._input.note(model)
    [value] = unpack_classes(facts["value"]).tolist()
    if facts["value_given"]:
        model.value = value
    model._check()
    n_records, n_positives = facts["n_records"], facts["n_positives"]
    numbers = [n_records, n_positives, *(facts[name] for name in _COUNTS)]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise InputError("its numbers of records and hypotheses cannot be")
    if not 0 < n_positives < n_records:
        raise InputError("its numbers of records do not go together")
    threshold = facts["threshold"]
    if type(threshold) not in (int, float) or not 0 <= threshold <= 1:
        raise InputError("its threshold is not a p-value")
    if not isinstance(facts["target"], str):
        raise InputError("its target has no name")
    arrays: dict[str, Any] = {name: state[name] for name in (*_ARRAYS, *_FLOATS)}
    counts = {name: facts[name] for name in _COUNTS}
    found = Found(**arrays, **counts, threshold=float(threshold))
    _check_found(found, model._input.schema, n_records, n_positives)
    model._found = found
    model.threshold_, model.n_testable_ = found.threshold, found.n_testable
    model.n_significant_, model.least_support_ = found.n_significant, found.least_support
    model.n_records_, model.n_positives_ = n_records, n_positives
    model.target_, model.value_ = facts["target"], value
    model.rules_ = SignificantRuleList(
        found, model._input.schema, n_records, n_positives, float(model.level)
    )
    return model


def _check_found(found: Found, schema: Schema, n_records: int, n_positives: int) -> None:
    n = len(found.support)
    for name in _ARRAYS:
        if getattr(found, name).dtype != np.int64:
            raise InputError(f"{name!r} does not hold whole numbers")
    for name in ("support", "positives", *_FLOATS):
        if getattr(found, name).shape != (n,):
            raise InputError(f"{name!r} is not a number for each rule")
    for name in _FLOATS:
        array = getattr(found, name)
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise InputError(f"{name!r} has a number that is not finite")
    if (found.log_p > 0).any() or (np.diff(found.log_p) < 0).any():
        raise InputError("'log_p' does not begin with the least")
    if not ((found.adjusted >= 0) & (found.adjusted <= 1)).all():
        raise InputError("'adjusted' has a number that is no p-value")
    negatives = found.support - found.positives
    fine = (found.support >= 1) & (found.support < n_records)
    fine &= (found.positives >= 0) & (found.positives <= n_positives)
    fine &= (negatives >= 0) & (negatives <= n_records - n_positives)
    if not fine.all():
        raise InputError("its rules have records that are not there")
    if n > found.n_significant:
        raise InputError("its numbers of rules do not go together")
    _check_cells(found.condition_start, found.conditions, schema, n, 1)
    _check_cells(found.implied_start, found.implied, schema, n, 0)


def _check_cells(
    start: NDArray[Any], cells: NDArray[Any], schema: Schema, n: int, least: int
) -> None:
    """Check lists of columns and codes: those of a rule ascend by column."""
    if start.shape != (n + 1,) or start[0] != 0 or (np.diff(start) < least).any():
        raise InputError("the conditions of its rules do not go together")
    if cells.shape != (int(start[-1]), 2):
        raise InputError("the conditions of its rules do not go together")
    columns, codes = cells.T
    if ((columns < 0) | (columns >= len(schema))).any():
        raise InputError("a condition is on a column that is not there")
    if ((codes < 0) | (codes >= schema.arities[columns])).any():
        raise InputError("a condition asks for a label that is not there")
    owner = np.repeat(np.arange(n), np.diff(start))
    if (np.diff(owner * len(schema) + columns) <= 0).any():
        raise InputError("the conditions of a rule are not in the order of their columns")
