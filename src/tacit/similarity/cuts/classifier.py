"""Supervised normalised cut: a classifier by minimum cuts of the graph of near objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_number, store_parameters
from tacit.similarity.base import SimilarityClassifier
from tacit.similarity.cuts.labelling import UNKNOWN, cut_labels, labelled_graph, neighbor_fractions
from tacit.similarity.graph import near_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.similarity.base import Objects

__all__ = ["NormalizedCutClassifier"]

KINDS = ("exponential", "rbf", "cosine")
NODE_WEIGHTS = ("degree", "neighbours")


class NormalizedCutClassifier(SimilarityClassifier):
    """Classify objects together, by the cut that separates the fewest similar ones.

    After Hochbaum's supervised normalised cut. New objects and training objects are the nodes of a
    graph, similarities of near ones its edges. With two classes, S is to hold the training objects
    of the second class and none of the first, and minimises

        C(S, S̄) - balance · C(S, S),

    the similarity between S and the rest against that within S. This is solved exactly, by a
    minimum cut; of several solutions it is the one with the fewest members. More than two classes
    are one cut for each against all others; an object that several claim, or none, goes to the
    class with the largest fraction of its similarity to training objects.

    What is predicted for an object depends on the other objects that are predicted with it.

    Parameters
    ----------
    scale : float, default 5.0
        ε of the similarity: how fast it falls with distance.
    balance : float, default 0.001
        λ of the objective: the larger, the more objects go to the second class.
    node_weights : {"degree", "neighbours"}
        "degree" is the objective above (SNC). "neighbours" (KSNC) sums node weights over S instead
        of C(S, S): the fraction of the class among the `n_neighbors` most similar training objects.
    n_neighbors : int, default 3
        For node weights by neighbours.
    kind : {"exponential", "rbf", "cosine"} or callable
        The similarity: exp(-ε‖x-y‖), exp(-ε‖x-y‖²), the cosine, or a function of two arrays of
        rows that returns one number, not negative, for each pair of rows.
    resolution, n_dimensions, projection
        Of the grid: see :class:`SparseComputation`.
    normalize : bool, default False
        Whether similarities are measured between columns scaled to [0, 1].
    group_width : float from 0 to 1, optional
        Objects of a class within this fraction of a block's width are replaced by one: see
        :class:`SparseKNeighborsClassifier`.
    random_state, n_jobs
        As of :class:`SparseComputation`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    computation_ : SparseComputation
        The projection and the grid.
    n_fallback_ : int
        Objects of the last prediction about which the graph says nothing, as they are connected
        with no training object: they have the class of the training object that is nearest in the
        projection.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

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

    _kind: ClassVar[str] = "normalized_cut_classifier"

    def __init__(
        self,
        scale: float = 5.0,
        balance: float = 0.001,
        *,
        node_weights: Literal["degree", "neighbours"] = "degree",
        n_neighbors: int = 3,
        kind: str | Callable[[Any, Any], Any] = "exponential",
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        n_dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomized_svd",
        normalize: bool = False,
        group_width: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each object.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
            All objects are classified together; those of a PartitionedTable by groups, so that it
            takes `group_width`.
        """
        classes: NDArray[Any] = self.predict_path(X, [self.balance])[0]
        return classes

    def predict_path(self, X: Any, balances: Any) -> NDArray[Any]:
        """Return the classes of objects for several balances.

        Takes little longer than one: the graph is made once, and sets of members grow with the
        balance, so that most of what one cut decides need not be decided again.

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
        values = np.array([check_number(b, "balances", 0) for b in balances])
        new = self._new_objects(X)
        codes = self._cut(new, values)
        unknown = codes == UNKNOWN
        isolated = np.flatnonzero(unknown.any(axis=0))
        self._set_fallback(new.count(unknown.any(axis=0)))
        if len(isolated):
            # What is near is defined by the projection, so that is where nearness has a meaning.
            nearest = cKDTree(self._training.coords).query(new.coords[isolated])[1]
            codes[:, isolated] = np.where(
                unknown[:, isolated], self._training.codes[nearest], codes[:, isolated]
            )
        classes: NDArray[Any] = self.classes_[new.expand(np.ascontiguousarray(codes.T)).T]
        return classes

    def _answer_partitions(
        self, method: Callable[..., Any], X: PartitionedTable, options: dict[str, Any]
    ) -> NDArray[Any]:
        classes: NDArray[Any] = method(self, X, **options)  # all objects are classified together
        return classes

    def _facts(self) -> list[tuple[str, str]]:
        kind = getattr(self.kind, "__name__", self.kind)
        by = f"{self.n_neighbors} neighbours" if self.node_weights == "neighbours" else "degree"
        return [
            ("similarity", f"{kind}, scale {self.scale:g}"),
            ("cut", f"balance {self.balance:g}, nodes weighted by {by}"),
        ]

    def _cut(self, new: Objects, balances: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return codes of classes for each balance; -1 where the graph says nothing."""
        training = self._training
        grid, classes = self.computation_.grid_, (training.codes, len(self.classes_))
        measure: dict[str, Any] = {
            "kind": self.kind, "scale": float(self.scale), "n_jobs": self.n_jobs
        }  # fmt: skip
        graph = near_graph(grid, new.coords, new.numbers, **measure)
        others = (training.coords, training.numbers)
        links = near_graph(grid, new.coords, new.numbers, others=others, **measure)
        for similarities in (graph, links):
            _check_similarities(similarities.data)
        problem = labelled_graph(graph, links, *classes, new.weights, training.weights)
        weights = None
        if self.node_weights == "neighbours":
            k = int(self.n_neighbors)
            weights = neighbor_fractions(links, *classes, training.weights, k, n_jobs=self.n_jobs)
            weights *= new.weights[:, None]
        return cut_labels(problem, balances, node_weights=weights, n_jobs=self.n_jobs)

    def _check_parameters(self) -> None:
        check_number(self.balance, "balance", 0)
        check_number(self.scale, "scale", 0, above=True)
        count_jobs(self.n_jobs)
        check_int(self.n_neighbors, "n_neighbors", 1)
        check_choice(self.node_weights, "node_weights", NODE_WEIGHTS)
        if not callable(self.kind) and self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS} or callable, got {self.kind!r}")


def _check_similarities(values: NDArray[np.float64]) -> None:
    """Refuse similarities that cannot be capacities: those of a callable, or cosines below 0."""
    if len(values) and not (values.min() >= 0 and values.max() < np.inf):
        raise InputError(
            "kind: similarities must be finite and not negative, but they range from "
            f"{values.min():g} to {values.max():g}"
        )
