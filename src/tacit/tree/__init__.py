"""Decision trees, decision graphs and dependency networks."""

from __future__ import annotations

from tacit.tree import saving  # noqa: F401 - so that files of trees can be loaded
from tacit.tree.decision_graph import DecisionGraphClassifier
from tacit.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = [
    "DecisionGraphClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DependencyNetwork",
]
