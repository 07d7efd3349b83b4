"""Boosted rules in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.parameters import plain_parameters
from tacit.rules.boosted.binarise import check_sets
from tacit.rules.boosted.calibration import Isotonic
from tacit.rules.boosted.estimators import BoostedRulesClassifier, BoostedRulesRegressor
from tacit.rules.boosted.rule_arrays import RuleArrays
from tacit.rules.boosted.rule_set import RuleSet
from tacit.rules.boosted.settings import CLASS_LOSSES, check_parameters
from tacit.rules.checks import check_choice
from tacit.rules.class_files import pack_classes, unpack_classes
from tacit.rules.columns.features import RuleFeatures
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.rules.boosted.base import BoostedRules

    Arrays = dict[str, NDArray[Any]]

__all__ = ["write_boosted"]

_KINDS: dict[str, type[BoostedRules]] = {
    "boosted_rules_classifier": BoostedRulesClassifier,
    "boosted_rules_regressor": BoostedRulesRegressor,
}


def write_boosted(path: str | os.PathLike[str], model: BoostedRules) -> None:
    """Write a fitted model; parameters that are no plain values are left out."""
    kind = next(name for name, cls in _KINDS.items() if isinstance(model, cls))
    arrays: Arrays = model.rules_.arrays.to_dict()
    arrays["validation_losses"] = model.validation_losses_
    facts: dict[str, Any] = {
        "parameters": _parameters(model),
        "kind": model._kind,
        "loss": model._loss,
        "target": model._target_name,
    }
    if isinstance(model, BoostedRulesClassifier):
        facts |= pack_classes(model.classes_)
        if model._curves is not None:
            arrays |= model._curves.to_dict()
        if model._sets is not None:
            arrays["label_sets"] = model._sets
    elif isinstance(model, BoostedRulesRegressor):
        facts["names"] = model._names
    arrays["features"] = np.frombuffer(model._features.to_json(), np.uint8)
    arrays["settings"] = np.frombuffer(write_json(facts), np.uint8)
    store.write_arrays(path, kind, arrays)


def _parameters(model: BoostedRules) -> dict[str, Any]:
    """Return parameters that JSON can hold."""
    plain = plain_parameters(model)
    if isinstance(plain.get("predominant"), list):
        del plain["predominant"]  # NaN may be in it, and fit alone has a use for it
    return plain


def _register(kind: str) -> None:
    @store.loads(kind)
    def _load(path: str | os.PathLike[str], arrays: Arrays) -> BoostedRules:
        """Make a model of a file's arrays, after checking that they go together."""
        try:
            return _make(kind, arrays)
        except KeyError as error:
            raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(path, f"is damaged: {error}") from None


for _kind in _KINDS:
    _register(_kind)


def _make(kind: str, arrays: Arrays) -> BoostedRules:
    facts = json.loads(arrays["settings"].tobytes())
    model: Any = _KINDS[kind](**facts["parameters"])
    check_parameters(model)
    model._features = RuleFeatures.from_json(arrays["features"].tobytes())
    model._features.note(model)
    model._target_name = facts["target"]
    if not isinstance(model._target_name, str | None):
        raise InputError("its target has no name that could be one")
    if kind == "boosted_rules_classifier":
        _read_classifier(model, facts, arrays)
    else:
        _read_regressor(model, facts)
    n_outputs = len(model._labels())
    rules = RuleArrays.checked(arrays, len(model._features.names), n_outputs)
    model._features.check_numbers(rules.columns, rules.thresholds)
    model.rules_ = RuleSet(rules, model._features, model._labels())
    model.n_rules_ = len(rules)
    losses = arrays["validation_losses"]
    if losses.dtype != np.float64 or losses.shape not in ((0,), (len(rules),)):
        raise InputError("'validation_losses' are not one for each rule")
    model.validation_losses_ = losses
    return model  # type: ignore[no-any-return]


def _read_classifier(model: Any, facts: Any, arrays: Arrays) -> None:
    model._kind = check_choice(facts["kind"], "kind", ("binary", "multiclass", "multilabel"))
    model._loss = check_choice(facts["loss"], "loss", CLASS_LOSSES[1:])
    model.classes_ = unpack_classes(facts)
    if (len(model.classes_) == 2) != (model._kind == "binary") and model._kind != "multilabel":
        raise InputError(f"it has {len(model.classes_)} classes, and is {model._kind}")
    n_outputs = len(model._labels())
    model._curves = Isotonic.checked(arrays, n_outputs)
    model._sets = check_sets(arrays, n_outputs)


def _read_regressor(model: Any, facts: Any) -> None:
    model._kind = check_choice(facts["kind"], "kind", ("number", "numbers"))
    model._loss = check_choice(facts["loss"], "loss", ("squared", "squared"))
    names = facts["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("its outputs have no names")
    if not names or (model._kind == "number" and len(names) != 1):
        raise InputError(f"it has {len(names)} outputs")
    model._names, model.n_outputs_ = names, len(names)
