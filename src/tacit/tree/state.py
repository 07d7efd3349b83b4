"""Trees and graphs as the arrays of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit import store
from tacit.errors import InputError
from tacit.parameters import (
    check_choice,
    check_number,
    earlier_parameters,
    plain_parameters,
)
from tacit.table.input_spec import InputSpec
from tacit.table.schema_json import write_json
from tacit.table.targets import pack_classes, unpack_classes
from tacit.tree.growth.settings import PRIORS, grow_settings, learnt_kappa
from tacit.tree.model import TreeModel
from tacit.tree.nodes import Nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.tree.base import TreeEstimator

__all__ = ["is_averaged", "tree_from_state", "tree_to_state"]

T = TypeVar("T", bound="TreeEstimator")

# The arrays of Nodes in their order, by their names in files: "share" is the prior's fraction.
_TYPES = {
    "column": np.int32, "low": np.int32, "high": np.int32, "complete": np.uint8, "left": np.int32,
    "right": np.int32, "first": np.int32, "children": np.int32, "gain": np.float64,
    "share": np.float64, "also": np.int32, "counts": np.float64,
}  # fmt: skip


def tree_to_state(tree: TreeEstimator) -> store.State:
    """Return a fitted tree or graph; parameters that are no plain values are left out."""
    model = tree._fitted()
    arrays: dict[str, NDArray[Any]] = {
        name: np.asarray(array, dtype)
        for (name, dtype), array in zip(_TYPES.items(), model.nodes.arrays, strict=True)
    }
    facts: dict[str, Any] = {
        "parameters": plain_parameters(tree),
        "target": model.target_name,
        "criterion": model.criterion,
        "prior": model.prior,
        "prior_weight": model.prior_weight,
        "kappa": model.kappa,
        "log_structure": model.log_structure,
        "averaged": model.averaged,
    }
    if hasattr(tree, "classes_"):
        facts |= pack_classes(tree.classes_)
    else:
        arrays["means"] = model.means
        facts["normal"] = model.normal
    arrays["features"] = np.frombuffer(model.input.to_json(), np.uint8)
    arrays["settings"] = np.frombuffer(write_json(facts), np.uint8)
    return arrays


def tree_from_state(kind: type[T], state: store.State) -> T:
    """Make a tree of a class, after checking that the arrays go together."""
    spec = InputSpec.from_json(state["features"].tobytes())
    facts = store.read_json(state["settings"])
    tree = kind(**earlier_parameters(facts["parameters"]))
    grow_settings(tree)
    if "also" not in state:  # of files from before missing values could go below thresholds
        state = {**state, "also": np.full(len(state["column"]), -1, np.int32)}
    for name, dtype in _TYPES.items():
        if state[name].dtype != dtype:
            raise InputError(f"{name!r} has the type {state[name].dtype}")
    _check_nodes(state, spec.schema, merged=tree._merge)
    nodes = Nodes(*(state[name] for name in _TYPES))
    model = TreeModel(
        nodes,
        spec.schema,
        None,
        spec,
        target_name=_name(facts["target"]),
        criterion=check_choice(facts["criterion"], "criterion", tree._criteria),
        prior=check_choice(facts["prior"], "prior", PRIORS),
        prior_weight=check_number(facts["prior_weight"], "prior_weight", 0.0),
        kappa=learnt_kappa(facts["kappa"]),
        log_structure=-check_number(-facts.get("log_structure", 0.0), "log_structure", 0.0),
        averaged=is_averaged(facts),
    )
    if hasattr(kind, "predict_proba"):
        tree.classes_ = unpack_classes(facts)
        tree.n_classes_ = len(tree.classes_)
        if nodes.counts.shape[1] != tree.n_classes_ or (nodes.counts < 0).any():
            raise InputError("'counts' are not those of its classes")
    else:
        _note_numbers(model, state["means"], facts["normal"])
    tree._model = model
    spec.note(tree)
    return tree


def is_averaged(facts: dict[str, Any]) -> bool:
    """Return whether a model's probabilities are averages on the way."""
    averaged = facts.get("averaged", False)  # not in files from before there were averages
    if not isinstance(averaged, bool):
        raise InputError(f"'averaged' is {averaged!r}")
    return averaged


def _name(target: Any) -> str | None:
    if target is not None and not isinstance(target, str):
        raise InputError("its target has no name")
    return target


def _note_numbers(model: TreeModel, means: NDArray[Any], normal: Any) -> None:
    if means.dtype != np.float64 or means.shape != (model.nodes.n_nodes,):
        raise InputError("'means' are not those of its nodes")
    prior = tuple(float(x) for x in normal)
    if len(prior) != 4 or not np.isfinite(prior).all() or not min(prior[1:]) > 0:
        raise InputError("its prior cannot be")
    if not np.isfinite(means).all() or model.nodes.counts.shape[1] != 3:
        raise InputError("'means' or 'counts' cannot be those of numbers")
    model.means, model.normal = means, prior


def _check_nodes(state: store.State, schema: Schema, *, merged: bool) -> None:
    """Check that arrays are a tree, or a graph if leaves may have merged, of a schema's columns."""
    n = len(state["column"])
    for name in _TYPES:
        array = state[name]
        if array.ndim != (2 if name == "counts" else 1):
            raise InputError(f"{name!r} has the shape {array.shape}")
        if name != "children" and len(array) != n:
            raise InputError(f"{name!r} is not as long as 'column'")
        if array.dtype == np.float64 and not np.isfinite(array).all():
            raise InputError(f"{name!r} has a number that is not finite")
    if n == 0 or state["counts"].shape[1] == 0:
        raise InputError("it has no nodes, or they no counts")
    if (state["share"] < 0).any() or (state["complete"] > 1).any():
        raise InputError("'share' or 'complete' has a number that cannot be")
    if (state["column"] < -1).any() or (state["column"] >= len(schema)).any():
        raise InputError("'column' has a column that is not there")
    _check_splits(Nodes(*(state[name] for name in _TYPES)), schema, merged)


def _check_splits(nodes: Nodes, schema: Schema, merged: bool) -> None:
    split = np.flatnonzero(nodes.column >= 0)
    column = nodes.column[split]
    low, high = nodes.low[split].astype(np.int64), nodes.high[split].astype(np.int64)
    begin, end = schema.offsets[column], schema.offsets[column + 1]
    complete = nodes.complete[split] == 1
    if not ((begin <= low) & (low < high) & (high <= end)).all():
        raise InputError("a split asks about values that its column has not")
    also = nodes.also[split]
    more = (also == end - 1) & (low == begin) & (high <= also) & ~complete
    if not ((also == -1) | more).all() or (nodes.also[nodes.column < 0] != -1).any():
        raise InputError("'also' has a value that is not the last of its column")
    if not ((low == begin) & (high == end))[complete].all():
        raise InputError("a complete split asks about some values of its column only")
    for side in (nodes.left[split], nodes.right[split]):
        if not ((side >= -1) & (side < schema.arities[column])).all():
            raise InputError("a threshold lies outside of its column")
    first = nodes.first[split].astype(np.int64)
    widths = np.where(complete, high - low + 1, 2)
    if not ((first >= 0) & (first + widths <= len(nodes.children))).all():
        raise InputError("a split has children that are not there")
    if int(widths.sum()) != len(nodes.children):
        raise InputError("'children' are not those of its splits")
    parents = np.repeat(split, widths)
    within = np.arange(len(parents)) - np.repeat(np.cumsum(widths) - widths, widths)
    children = nodes.children[within + np.repeat(first, widths)].astype(np.int64)
    if not ((children > parents) & (children < len(nodes.column))).all():
        raise InputError("a node has a child that does not come after it")
    n_parents = np.bincount(children, minlength=len(nodes.column))
    if (n_parents[1:] == 0).any() or (not merged and (n_parents > 1).any()):
        raise InputError("a node has no parent, or too many")
