"""Covering rules in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.parameters import plain_parameters
from tacit.rules.class_files import pack_classes, unpack_classes
from tacit.rules.columns.features import RuleFeatures
from tacit.rules.covering.decision_list import DecisionList, ListArrays
from tacit.rules.covering.estimator import CoveringRulesClassifier
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["KIND", "write_model"]

KIND = "covering_rules_classifier"


def write_model(path: str | os.PathLike[str], model: CoveringRulesClassifier) -> None:
    """Write a fitted model; parameters that JSON cannot hold matter in fit alone: left out."""
    facts = {
        "parameters": plain_parameters(model),
        "target": model._target_name,
    } | pack_classes(model.classes_)
    arrays = model.rules_.arrays.to_dict() | {
        "features": np.frombuffer(model._features.to_json(), np.uint8),
        "settings": np.frombuffer(write_json(facts), np.uint8),
    }
    store.write_arrays(path, KIND, arrays)


@store.loads(KIND)
def _load(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> CoveringRulesClassifier:
    try:
        return _read(arrays)
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FileError(path, f"is damaged: {error}") from None


def _read(arrays: dict[str, NDArray[Any]]) -> CoveringRulesClassifier:
    facts = json.loads(arrays["settings"].tobytes())
    model = CoveringRulesClassifier(**facts["parameters"])
    model._settings()
    features = RuleFeatures.from_json(arrays["features"].tobytes())
    classes = unpack_classes(facts)
    rules = ListArrays.checked(arrays, len(features.names), len(classes))
    features.check_numbers(rules.columns, rules.thresholds)
    if not isinstance(facts["target"], str | None):
        raise InputError("its target has no name that could be one")
    features.note(model)
    model._target_name = facts["target"]
    model.classes_ = classes
    model._features = features
    model.rules_ = DecisionList(rules, features, classes.tolist())
    return model
