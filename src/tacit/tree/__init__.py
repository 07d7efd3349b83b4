"""Decision trees, decision graphs and dependency networks."""

from __future__ import annotations

from tacit.tree.decision_graph import DecisionGraphClassifier
from tacit.tree.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from tacit.tree.drawing.text import LeafRule
from tacit.tree.network.dependency_network import DependencyNetwork
from tacit.tree.network.forest import Arcs, Forest
from tacit.tree.nodes import Nodes

__all__ = [
    "Arcs",
    "DecisionGraphClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DependencyNetwork",
    "Forest",
    "LeafRule",
    "Nodes",
]
