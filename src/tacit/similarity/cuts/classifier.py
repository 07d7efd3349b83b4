"""Supervised normalised cut: a classifier by minimum cuts of the graph of near objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.similarity.base import SimilarityClassifier
from tacit.similarity.cuts.labelling import UNKNOWN, cut_labels, neighbour_shares, surroundings
from tacit.similarity.cuts.minimum_cut import check_balance
from tacit.similarity.graph import near_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.base import Objects

__all__ = ["NormalizedCutClassifier"]

KINDS = ("exponential", "rbf", "cosine")
NODE_WEIGHTS = ("degree", "neighbours")


class NormalizedCutClassifier(SimilarityClassifier):
    """Classify objects together, by the cut that parts the fewest similar ones.

    After Hochbaum's supervised normalised cut. New objects and training objects are the nodes of a
    graph, similarities of near ones its edges. With two classes, S is to hold the training objects
    of the second class and none of the first, and minimises

        C(S, S̄) - balance · C(S, S),

    the similarity between S and the rest against that within S. This is solved exactly, by a
    minimum cut; of several solutions it is the one with the fewest members. More than two classes
    are one cut for each against all others; an object that several claim, or none, goes to the
    class with the largest share of its similarity to training objects.

    What is predicted for an object depends on the other objects that are predicted with it.

    Parameters
    ----------
    scale : float, default 5.0
        ε of the similarity: how fast it falls with distance.
    balance : float, default 0.001
        λ of the objective: the larger, the more objects go to the second class.
    node_weights : {"degree", "neighbours"}
        "degree" is the objective above (SNC). "neighbours" (KSNC) sums node weights over S in place
        of C(S, S): the share of the class among the `n_neighbors` most similar training objects.
    n_neighbors : int, default 3
        For node weights by neighbours.
    kind : {"exponential", "rbf", "cosine"} or callable
        The similarity: exp(-ε‖x-y‖), exp(-ε‖x-y‖²), the cosine, or a function of two arrays of
        rows that returns one number, not negative, for each pair of rows.
    resolution : int, sequence of int, or "auto"
        Intervals of the grid in each dimension; objects are near if their blocks touch.
    dimensions : int from 1 to 4, or "auto"
        Dimensions of the projection.
    projection : str, default "randomised_svd"
        How objects are projected: see :class:`SparseComputation`.
    normalise : bool, default False
        Whether similarities are measured between columns scaled to [0, 1].
    delta : float, optional
        Objects of the same class that are closer than `delta` times a block's width, in each
        dimension of the projection, are grouped: one stands for all. None: no grouping.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    computation_ : SparseComputation
        The projection and the grid.
    n_fallback_ : int
        Objects of the last prediction about which the graph says nothing, as they are connected
        with no training object: they have the class of the training object that is nearest in the
        projection.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        For frames and Tables.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 4)) + 2 * y[:, None]
    >>> model = tacit.NormalizedCutClassifier(scale=1.0, resolution=5, random_state=0)
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    def __init__(
        self,
        scale: float = 5.0,
        balance: float = 0.001,
        *,
        node_weights: Literal["degree", "neighbours"] = "degree",
        n_neighbors: int = 3,
        kind: str | Callable[[Any, Any], Any] = "exponential",
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomised_svd",
        normalise: bool = False,
        delta: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.scale = scale
        self.balance = balance
        self.node_weights = node_weights
        self.n_neighbors = n_neighbors
        self.kind = kind
        self.resolution = resolution
        self.dimensions = dimensions
        self.projection = projection
        self.normalise = normalise
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> NormalizedCutClassifier:
        """Project the training objects, and keep them.

        Parameters
        ----------
        X : array, sparse array, frame, Table or PartitionedTable
            Arrays are not copied: do not change them while the model is in use. A PartitionedTable
            takes `delta`: what is kept are groups of records.
        y : array-like of shape (n_objects,) or str
            Their classes; or the column of a Table or PartitionedTable that holds them.

        Returns
        -------
        NormalizedCutClassifier
            Itself.
        """
        self._check_parameters()
        with self._kept_on_failure():
            self._labelled = self._fit_objects(X, y)
        self.n_fallback_ = 0
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each object.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
            All objects are classified together; those of a PartitionedTable by groups, so that it
            takes `delta`.

        Returns
        -------
        ndarray of shape (n_objects,)
        """
        found: NDArray[Any] = self.predict_path(X, [self.balance])[0]
        return found

    def predict_path(self, X: Any, balances: Any) -> NDArray[Any]:
        """Return the classes of objects for several balances.

        Takes little longer than one: the graph is made once, and sets of members grow with the
        balance, so that most of what one cut decides need not be looked at again.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        balances : array-like of shape (n_balances,)

        Returns
        -------
        ndarray of shape (n_balances, n_objects)
        """
        check_is_fitted(self)
        self._check_parameters()
        if isinstance(balances, str) or np.ndim(balances) == 0 or len(balances) == 0:
            raise InputError(f"balances must be a list of at least one number, got {balances!r}")
        values = np.array([check_balance(b, "balances") for b in balances])
        new = self._new_objects(X)
        codes = self._cut(new, values)
        unknown = codes == UNKNOWN
        lost = np.flatnonzero(unknown.any(axis=0))
        self.n_fallback_ = new.count(unknown.any(axis=0))
        if len(lost):
            # Near objects are found in the projection, so that is where nearness has a meaning.
            nearest = cKDTree(self._labelled.coords).query(new.coords[lost])[1]
            fallback = np.where(unknown[:, lost], self._labelled.codes[nearest], codes[:, lost])
            codes[:, lost] = fallback
        found: NDArray[Any] = self.classes_[new.spread(np.ascontiguousarray(codes.T)).T]
        return found

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are training objects."""
        return hasattr(self, "_labelled")

    def _facts(self) -> list[tuple[str, str]]:
        kind = getattr(self.kind, "__name__", self.kind)
        by = f"{self.n_neighbors} neighbours" if self.node_weights == "neighbours" else "degree"
        return [
            ("similarity", f"{kind}, scale {self.scale:g}"),
            ("cut", f"balance {self.balance:g}, nodes weighted by {by}"),
        ]

    def _cut(self, new: Objects, balances: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return codes of classes for each balance; -1 where the graph says nothing."""
        labelled, n_classes = self._labelled, len(self.classes_)
        grid, jobs = self.computation_.grid_, self.n_jobs
        how: dict[str, Any] = {"kind": self.kind, "scale": float(self.scale), "n_jobs": jobs}
        graph = near_graph(grid, new.coords, new.numbers, **how)
        others = (labelled.coords, labelled.numbers)
        links = near_graph(grid, new.coords, new.numbers, others=others, **how)
        for similarities in (graph, links):
            _check_similarities(similarities.data)
        classes = labelled.codes, n_classes
        near = surroundings(graph, links, *classes, new.weights, labelled.weights)
        weights = None
        if self.node_weights == "neighbours":
            k = int(self.n_neighbors)
            weights = neighbour_shares(links, *classes, labelled.weights, k, n_jobs=jobs)
            weights *= new.weights[:, None]
        return cut_labels(near, balances, node_weights=weights, n_jobs=jobs)

    def _check_parameters(self) -> None:
        check_balance(self.balance)
        count_jobs(self.n_jobs)
        check_int(self.n_neighbors, "n_neighbors", 1)
        if self.node_weights not in NODE_WEIGHTS:
            raise InputError(
                f"node_weights must be one of {NODE_WEIGHTS}, got {self.node_weights!r}"
            )
        if not callable(self.kind) and self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS} or callable, got {self.kind!r}")
        if not _is_positive(self.scale):
            raise InputError(f"scale must be a number above 0, got {self.scale!r}")


def _is_positive(value: Any) -> bool:
    try:
        return bool(0 < float(value) < np.inf)
    except (TypeError, ValueError):
        return False


def _check_similarities(values: NDArray[np.float64]) -> None:
    """Refuse similarities that cannot be capacities: those of a callable, or cosines below 0."""
    if len(values) and not (values.min() >= 0 and values.max() < np.inf):
        raise InputError(
            "kind: similarities must be finite and not negative, but they range from "
            f"{values.min():g} to {values.max():g}"
        )
