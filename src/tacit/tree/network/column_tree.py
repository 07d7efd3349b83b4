"""One tree of a dependency network, as a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.table.features import note_names
from tacit.table.targets import class_labels
from tacit.tree.decision_tree import DecisionTreeClassifier
from tacit.tree.growth.bins import features_without, nodes_without
from tacit.tree.model import TreeModel

if TYPE_CHECKING:
    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["tree_of_column"]


def tree_of_column(network: DependencyNetwork, column: int) -> DecisionTreeClassifier:
    """Return a column's tree as a classifier that was fitted on all other columns."""
    schema = network.schema_
    shared = DecisionTreeClassifier().get_params().keys() & network.get_params().keys()
    settings = {name: getattr(network, name) for name in shared - {"discretise", "ordered"}}
    model = DecisionTreeClassifier(**{**settings, **network._learnt_by})
    features = features_without(column, network._features)
    model._model = TreeModel(
        nodes_without(column, network.forest_.tree(column), schema),
        features.schema,
        None,
        features,
        target_name=schema.names[column],
        **network._learnt_by,
    )
    model.classes_ = class_labels(schema.labels[column].items)
    model.n_classes_ = len(model.classes_)
    note_names(model, features.schema.names)
    if network._features.kind == "array":
        del model.feature_names_in_
    return model
