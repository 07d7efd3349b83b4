"""Trees and graphs in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.parameters import plain_parameters
from tacit.schema import Labels, Schema
from tacit.table.features import features_from_json, features_to_json, note_features
from tacit.table.schema_json import pack_schema, unpack_schema, write_json
from tacit.tree.decision_graph import DecisionGraphClassifier
from tacit.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from tacit.tree.growth.settings import PRIORS, check_choice, check_number, grow_settings
from tacit.tree.growth.target import class_array
from tacit.tree.model import TreeModel
from tacit.tree.nodes import Nodes

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.tree.base import TreeEstimator

__all__ = ["check_nodes", "write_tree"]

_KINDS: dict[str, type[TreeEstimator]] = {
    "decision_tree_classifier": DecisionTreeClassifier,
    "decision_tree_regressor": DecisionTreeRegressor,
    "decision_graph_classifier": DecisionGraphClassifier,
}
_TYPES = {
    "column": np.int32, "low": np.int32, "high": np.int32, "complete": np.uint8, "left": np.int32,
    "right": np.int32, "first": np.int32, "children": np.int32, "gain": np.float64,
    "share": np.float64, "counts": np.float64,
}  # fmt: skip


def write_tree(path: str | os.PathLike[str], tree: TreeEstimator) -> None:
    """Write a fitted tree or graph; parameters that are no plain values are left out."""
    model = tree._fitted()
    kind = next(name for name, cls in _KINDS.items() if isinstance(tree, cls))
    arrays: dict[str, NDArray[Any]] = {
        name: np.asarray(getattr(model.nodes, name), dtype) for name, dtype in _TYPES.items()
    }
    facts: dict[str, Any] = {
        "parameters": plain_parameters(tree),
        "target": model.target_name,
        "criterion": model.criterion,
        "prior": model.prior,
        "prior_weight": model.prior_weight,
        "kappa": model.kappa,
    }
    if isinstance(tree, DecisionTreeRegressor):
        arrays["means"] = model.means
        facts["normal"] = model.normal
    else:
        classes = tree.classes_
        items = classes.tolist()
        packed = Schema(["y"], [Labels(items, "String")], [0])  # of types that JSON has no word for
        facts["classes"] = pack_schema(packed)
        facts["class_type"] = classes.dtype.str if classes.dtype.kind in "biuf" else None
    arrays["features"] = np.frombuffer(features_to_json(model.features), np.uint8)
    arrays["settings"] = np.frombuffer(write_json(facts), np.uint8)
    store.write_arrays(path, kind, arrays)


def _register(kind: str) -> None:
    @store.loads(kind)
    def _load(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> TreeEstimator:
        """Make a tree of a file's arrays, after checking that they go together."""
        try:
            return _make(kind, arrays)
        except KeyError as error:
            raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FileError(path, f"is damaged: {error}") from None


for _kind in _KINDS:
    _register(_kind)


def _make(kind: str, arrays: dict[str, NDArray[Any]]) -> TreeEstimator:
    features = features_from_json(arrays["features"].tobytes())
    facts = json.loads(arrays["settings"].tobytes())
    tree: Any = _KINDS[kind](**facts["parameters"])
    grow_settings(tree, tree._criteria, merge=tree._merge)
    for name, dtype in _TYPES.items():
        if arrays[name].dtype != dtype:
            raise InputError(f"{name!r} has the type {arrays[name].dtype}")
    nodes = Nodes(**{name: arrays[name] for name in _TYPES})
    check_nodes(nodes, features.schema, may_share=tree._merge)
    model = TreeModel(
        nodes,
        features.schema,
        None,
        features,
        target_name=_name(facts["target"]),
        criterion=check_choice(facts["criterion"], "criterion", tree._criteria),
        prior=check_choice(facts["prior"], "prior", PRIORS),
        prior_weight=check_number(facts["prior_weight"], "prior_weight", 0.0),
        kappa=check_number(facts["kappa"], "kappa", 0.0, above=True),
    )
    if kind == "decision_tree_regressor":
        _note_numbers(model, arrays["means"], facts["normal"])
    else:
        tree.classes_ = _classes(facts["classes"], facts["class_type"])
        tree.n_classes_ = len(tree.classes_)
        if nodes.counts.shape[1] != tree.n_classes_ or (nodes.counts < 0).any():
            raise InputError("'counts' are not those of its classes")
    tree._model = model
    note_features(tree, features)
    return tree  # type: ignore[no-any-return]


def _name(target: Any) -> str | None:
    if target is not None and not isinstance(target, str):
        raise InputError("its target has no name")
    return target


def _classes(packed: Any, dtype: str | None) -> NDArray[Any]:
    labels = unpack_schema(packed).labels[0]
    if dtype is None:
        return class_array(labels.items)
    kind = np.dtype(str(dtype))
    if kind.kind not in "biuf":
        raise InputError(f"its classes are of the type {dtype!r}")
    return np.array(labels.items, kind)


def _note_numbers(model: TreeModel, means: NDArray[Any], normal: Any) -> None:
    if means.dtype != np.float64 or means.shape != (model.nodes.n_nodes,):
        raise InputError("'means' are not those of its nodes")
    prior = tuple(float(x) for x in normal)
    if len(prior) != 4 or not np.isfinite(prior).all() or not min(prior[1:]) > 0:
        raise InputError("its prior cannot be")
    if not np.isfinite(means).all() or model.nodes.counts.shape[1] != 3:
        raise InputError("'means' or 'counts' cannot be those of numbers")
    model.means, model.normal = means, prior


def check_nodes(nodes: Nodes, schema: Schema, *, may_share: bool) -> None:
    """Check that arrays are a tree, or a graph, of the columns of a schema.

    Parameters
    ----------
    nodes : Nodes
        Arrays of the right types; nothing else is believed.
    schema : Schema
    may_share : bool
        Whether a node may have several parents.
    """
    n = len(nodes.column)
    for name in _TYPES:
        array = getattr(nodes, name)
        if array.ndim != (2 if name == "counts" else 1):
            raise InputError(f"{name!r} has the shape {array.shape}")
        if name != "children" and len(array) != n:
            raise InputError(f"{name!r} is not as long as 'column'")
    if n == 0 or nodes.counts.shape[1] == 0:
        raise InputError("it has no nodes, or they no counts")
    for name in ("gain", "share", "counts"):
        if not np.isfinite(getattr(nodes, name)).all():
            raise InputError(f"{name!r} has a number that is not finite")
    if (nodes.share < 0).any() or (nodes.complete > 1).any():
        raise InputError("'share' or 'complete' has a number that cannot be")
    if (nodes.column < -1).any() or (nodes.column >= len(schema)).any():
        raise InputError("'column' has a column that is not there")
    _check_splits(nodes, schema, np.flatnonzero(nodes.column >= 0), may_share)


def _check_splits(nodes: Nodes, schema: Schema, split: NDArray[Any], may_share: bool) -> None:
    column = nodes.column[split]
    low, high = nodes.low[split].astype(np.int64), nodes.high[split].astype(np.int64)
    begin, end = schema.offsets[column], schema.offsets[column + 1]
    complete = nodes.complete[split] == 1
    if not ((begin <= low) & (low < high) & (high <= end)).all():
        raise InputError("a split asks about values that its column has not")
    if not ((low == begin) & (high == end))[complete].all():
        raise InputError("a complete split asks about a part of its column")
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
    places = np.arange(len(parents)) - np.repeat(np.cumsum(widths) - widths, widths)
    children = nodes.children[places + np.repeat(first, widths)].astype(np.int64)
    if not ((children > parents) & (children < len(nodes.column))).all():
        raise InputError("a node has a child that does not come after it")
    held = np.bincount(children, minlength=len(nodes.column))
    if (held[1:] == 0).any() or (not may_share and (held > 1).any()):
        raise InputError("a node has no parent, or too many")
