"""Learning from similarities of near objects only: projection, grid; neighbours, cuts, SVM."""

from tacit.similarity import saving  # noqa: F401 - so that files of classifiers can be loaded
from tacit.similarity.cuts.classifier import NormalizedCutClassifier
from tacit.similarity.cuts.minimum_cut import (
    Cut,
    CutPath,
    MinimumCut,
    minimum_cut,
    normalized_cut,
    normalized_cut_path,
)
from tacit.similarity.neighbors.k_neighbors import SparseKNeighborsClassifier
from tacit.similarity.sparse_computation import SparseComputation
from tacit.similarity.svm.svc import SparseSVC
from tacit.similarity.tuning.tune import Tuning, tune

__all__ = [
    "Cut",
    "CutPath",
    "MinimumCut",
    "NormalizedCutClassifier",
    "SparseComputation",
    "SparseKNeighborsClassifier",
    "SparseSVC",
    "Tuning",
    "minimum_cut",
    "normalized_cut",
    "normalized_cut_path",
    "tune",
]
