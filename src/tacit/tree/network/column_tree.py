"""One tree of a dependency network, as a model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.schema import Schema
from tacit.table.features import Features, note_names
from tacit.tree.decision_tree import DecisionTreeClassifier
from tacit.tree.growth.bins import without_column
from tacit.tree.growth.target import class_array
from tacit.tree.model import TreeModel

if TYPE_CHECKING:
    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["tree_of_column"]


def tree_of_column(network: DependencyNetwork, place: int) -> DecisionTreeClassifier:
    """Return a column's tree as a classifier that was fitted on all other columns."""
    schema = network.schema_
    shared = DecisionTreeClassifier().get_params().keys() & network.get_params().keys()
    settings = {name: getattr(network, name) for name in shared - {"discretise", "ordered"}}
    model = DecisionTreeClassifier(**{**settings, **network._learnt_by})
    features = _without(network._features, place)
    model._model = TreeModel(
        without_column(network.forest_.tree(place), schema, place),
        features.schema,
        None,
        features,
        target_name=schema.names[place],
        **network._learnt_by,
    )
    model.classes_ = class_array(schema.labels[place].items)
    model.n_classes_ = len(model.classes_)
    note_names(model, features.schema.names)
    if network._features.kind == "array":
        del model.feature_names_in_
    return model


def _without(features: Features, place: int) -> Features:
    """Return features without a column. The rest of an array is a frame: places would shift."""
    schema = features.schema
    names, labels = list(schema.names), list(schema.labels)
    del names[place], labels[place]
    cuts = {name: edges for name, edges in features.cuts.items() if name != schema.names[place]}
    rest = Schema(names, labels, np.delete(schema.defaults, place))
    return Features(rest, cuts, "table" if features.kind == "table" else "frame")
