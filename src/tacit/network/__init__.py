"""Dependency trees, branchings and Bayes nets."""

from tacit.network.bayes_net.bayes_net import BayesNet
from tacit.network.bayes_net.branching import Branching
from tacit.network.bootstrap.arc_strengths import ArcStrengths
from tacit.network.dependency_tree.dependency_tree import DependencyTree
from tacit.network.inference.distribution import Distribution
from tacit.network.search.learning import Learning
from tacit.network.structure.red_rule import red_rule_tree

__all__ = [
    "ArcStrengths",
    "BayesNet",
    "Branching",
    "DependencyTree",
    "Distribution",
    "Learning",
    "red_rule_tree",
]
