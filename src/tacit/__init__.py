"""Fast learning from sparse and discrete data.

What equals its column's default is never stored and never visited; counts of it are derived.
"""

from tacit import datasets
from tacit.counts import (
    ADTree,
    Bitmaps,
    ContingencyTable,
    Counter,
    IndependenceTest,
    OneWay,
    Pairs,
    Plan,
    Planner,
    Scan,
    Tables,
    TreeStats,
    TwoWay,
    counter,
)
from tacit.errors import FileError, InputError
from tacit.mixture import ClusterTraits, ExpectedCounts, KMeans, NaiveBayesMixture, Profile, Trait
from tacit.network import (
    BayesNet,
    Branching,
    DependencyTree,
    Distribution,
    Learning,
    red_rule_tree,
)
from tacit.rules import Rule, RuleFinder
from tacit.schema import Column, Labels, Schema
from tacit.select import BestSubset
from tacit.store import load
from tacit.table import (
    MDL,
    Edges,
    EqualFrequency,
    EqualWidth,
    Summary,
    Table,
    as_table,
    read,
    read_arff,
    read_baskets,
    read_csv,
    read_msweb,
    read_svmlight,
)
from tacit.tree import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DependencyNetwork,
)

__version__ = "0.1.0"

__all__ = [
    "MDL",
    "ADTree",
    "BayesNet",
    "BestSubset",
    "Bitmaps",
    "Branching",
    "ClusterTraits",
    "Column",
    "ContingencyTable",
    "Counter",
    "DecisionGraphClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DependencyNetwork",
    "DependencyTree",
    "Distribution",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "ExpectedCounts",
    "FileError",
    "IndependenceTest",
    "InputError",
    "KMeans",
    "Labels",
    "Learning",
    "NaiveBayesMixture",
    "OneWay",
    "Pairs",
    "Plan",
    "Planner",
    "Profile",
    "Rule",
    "RuleFinder",
    "Scan",
    "Schema",
    "Summary",
    "Table",
    "Tables",
    "Trait",
    "TreeStats",
    "TwoWay",
    "as_table",
    "counter",
    "datasets",
    "load",
    "read",
    "read_arff",
    "read_baskets",
    "read_csv",
    "read_msweb",
    "read_svmlight",
    "red_rule_tree",
]
