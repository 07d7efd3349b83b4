"""Fast learning from sparse and discrete data: the names that a user starts from."""

from . import (
    baskets,
    counts,
    datasets,
    density,
    explore,
    io,
    metrics,
    mixture,
    network,
    rules,
    scale,
    schema,
    select,
    similarity,
    table,
    tree,
)
from .baskets import FrequentItemsets, Recommender, SignificantRules, evaluate_recommender
from .counts import ADTree, counter
from .density import TreeMixture
from .errors import FileError, InputError, InputWarning
from .io import (
    read,
    read_arff,
    read_baskets,
    read_csv,
    read_msweb,
    read_multilabel,
    read_svmlight,
    scan,
)
from .mixture import KMeans, NaiveBayesMixture
from .network import BayesNet, Branching, DependencyTree
from .rules import (
    BoostedRulesClassifier,
    BoostedRulesRegressor,
    CoveringRulesClassifier,
    RuleFinder,
)
from .scale import PartitionedTable
from .schema import between, exclude
from .select import BestSubset
from .similarity import (
    NormalizedCutClassifier,
    SparseComputation,
    SparseKNeighborsClassifier,
    SparseSVC,
    minimum_cut,
    normalized_cut,
    normalized_cut_path,
    tune,
)
from .store import load
from .table import MDL, Edges, EqualFrequency, EqualWidth, Table, as_table
from .tree import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DependencyNetwork,
)

__version__: str

__all__ = [
    "ADTree",
    "as_table",
    "BayesNet",
    "BestSubset",
    "between",
    "BoostedRulesClassifier",
    "BoostedRulesRegressor",
    "Branching",
    "counter",
    "CoveringRulesClassifier",
    "DecisionGraphClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DependencyNetwork",
    "DependencyTree",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "evaluate_recommender",
    "exclude",
    "explore",
    "FileError",
    "FrequentItemsets",
    "InputError",
    "InputWarning",
    "KMeans",
    "load",
    "MDL",
    "minimum_cut",
    "NaiveBayesMixture",
    "normalized_cut",
    "normalized_cut_path",
    "NormalizedCutClassifier",
    "PartitionedTable",
    "read",
    "read_arff",
    "read_baskets",
    "read_csv",
    "read_msweb",
    "read_multilabel",
    "read_svmlight",
    "Recommender",
    "RuleFinder",
    "scan",
    "SignificantRules",
    "SparseComputation",
    "SparseKNeighborsClassifier",
    "SparseSVC",
    "Table",
    "TreeMixture",
    "tune",
    "baskets",
    "counts",
    "datasets",
    "density",
    "io",
    "metrics",
    "mixture",
    "network",
    "rules",
    "scale",
    "schema",
    "select",
    "similarity",
    "table",
    "tree",
]
