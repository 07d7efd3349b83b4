"""Learning from similarities of near objects only: projection, grid; neighbours, cuts, SVM."""

from tacit.similarity.clusters.agglomerative import SparseAgglomerative
from tacit.similarity.clusters.components import SparseComponents
from tacit.similarity.clusters.condensed import CondensedTree
from tacit.similarity.clusters.density_peaks import SparseDensityPeaks
from tacit.similarity.clusters.hdbscan import SparseHDBSCAN
from tacit.similarity.clusters.spectral import SparseSpectral
from tacit.similarity.cuts.classifier import NormalizedCutClassifier
from tacit.similarity.cuts.minimum_cut import minimum_cut, normalized_cut, normalized_cut_path
from tacit.similarity.cuts.result import Cut, CutPath, MinimumCut
from tacit.similarity.grid.forecast import Forecast
from tacit.similarity.grouping.groups import Groups
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.near_graph.propagation import PropagatedLabels
from tacit.similarity.neighbors.join import SimilarityJoin
from tacit.similarity.neighbors.k_neighbors import SparseKNeighborsClassifier
from tacit.similarity.neighbors.regressor import SparseKNeighborsRegressor
from tacit.similarity.neighbors.sparse_neighbors import SparseNeighbors
from tacit.similarity.sparse_computation import SparseComputation
from tacit.similarity.svm.svc import SparseSVC
from tacit.similarity.tuning.result import Tuning
from tacit.similarity.tuning.tune import tune

__all__ = [
    "CondensedTree",
    "Cut",
    "CutPath",
    "Forecast",
    "Groups",
    "MinimumCut",
    "NearGraph",
    "NormalizedCutClassifier",
    "PropagatedLabels",
    "SimilarityJoin",
    "SparseAgglomerative",
    "SparseComponents",
    "SparseComputation",
    "SparseDensityPeaks",
    "SparseHDBSCAN",
    "SparseKNeighborsClassifier",
    "SparseKNeighborsRegressor",
    "SparseNeighbors",
    "SparseSVC",
    "SparseSpectral",
    "Tuning",
    "minimum_cut",
    "normalized_cut",
    "normalized_cut_path",
    "tune",
]
