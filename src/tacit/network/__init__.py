"""Dependency trees, branchings and Bayes nets."""

from tacit.network.inference.distribution import Distribution
from tacit.network.nets.bayes_net import BayesNet
from tacit.network.nets.branching import Branching
from tacit.network.search.learning import Learning
from tacit.network.structure.red_rule import red_rule_tree
from tacit.network.trees.dependency_tree import DependencyTree

__all__ = [
    "BayesNet",
    "Branching",
    "DependencyTree",
    "Distribution",
    "Learning",
    "red_rule_tree",
]
