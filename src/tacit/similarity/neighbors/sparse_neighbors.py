"""The nearest neighbours of objects, without classes: in scikit-learn's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_number, store_parameters
from tacit.similarity import state as files
from tacit.similarity.base import refuse_huge
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.neighbors.exact import METRICS, ExactIndex, exact_index
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit import store

__all__ = ["NeighborSearch", "SparseNeighbors"]

_MODES = ("connectivity", "distance")


class NeighborSearch(Estimator):
    """What is asked of fitted objects by their distances: neighbours, radius, graphs.

    Subclasses have the parameters n_neighbors, radius, metric and n_jobs.
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _index: ExactIndex
    encoder_: OneHot

    def _check_parameters(self) -> None:
        check_int(self.n_neighbors, "n_neighbors", 1)
        check_number(self.radius, "radius", 0)
        check_choice(self.metric, "metric", METRICS)
        count_jobs(self.n_jobs)

    def _fit_index(self, encoder: OneHot, numbers: Any) -> None:
        refuse_huge(numbers, np.zeros((1, 1)))
        self.encoder_ = encoder
        self._index = exact_index(numbers, self.metric, self.n_jobs)
        self.n_samples_fit_ = int(numbers.shape[0])

    def _queries(self, X: Any) -> Any:
        """Return X as the numbers of fit are; None for the fitted objects themselves."""
        check_is_fitted(self)
        if X is None:
            return None
        numbers = self.encoder_.transform(X, self)
        dtype = self._index.numbers.dtype
        if numbers.dtype != dtype:
            with np.errstate(over="ignore"):
                numbers = numbers.astype(dtype)
        refuse_huge(numbers, np.zeros((1, 1)))
        return numbers

    def _count(self, n_neighbors: Any, *, itself: bool) -> int:
        """Return how many neighbours are asked for, if there are so many."""
        given = self.n_neighbors if n_neighbors is None else n_neighbors
        k, n = check_int(given, "n_neighbors", 1), self.n_samples_fit_ - itself
        if k > n:
            others = " other" if itself else ""
            raise InputError(
                f"n_neighbors must be at most {n}, the number of{others} objects that were fitted; "
                f"got {k}"
            )
        return k

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest of the fitted objects.

        Parameters
        ----------
        X : like the one that was fitted, optional
            By default the fitted objects themselves, none of which is its own neighbour.
        n_neighbors : int, optional
        return_distance : bool, default True

        Returns
        -------
        distances : ndarray of shape (n_objects, n_neighbors)
            Ascending. Not with ``return_distance=False``.
        neighbors : ndarray of shape (n_objects, n_neighbors)
            Numbers of fitted objects; of equally near ones, the first. Cosines of vectors are
            rounded: which of several counts as nearer may follow from that.
        """
        queries = self._queries(X)
        k = self._count(n_neighbors, itself=X is None)
        distances, neighbors = self._index.nearest(queries, k, self.n_jobs)
        return (distances, neighbors) if return_distance else neighbors

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True
    ) -> Any:
        """Return all fitted objects within a distance.

        Parameters
        ----------
        X : like the one that was fitted, optional
            By default the fitted objects themselves, none of which is its own neighbour.
        radius : float, optional
        return_distance : bool, default True

        Returns
        -------
        distances, neighbors : ndarrays of shape (n_objects,) of arrays
            By number of the neighbour.
        """
        offsets, neighbors, distances = self._within(X, radius)
        lists = _split(neighbors, offsets)
        return (_split(distances, offsets), lists) if return_distance else lists

    def _within(self, X: Any, radius: Any) -> Any:
        queries = self._queries(X)
        far = check_number(self.radius if radius is None else radius, "radius", 0)
        return self._index.within(queries, far, self.n_jobs)

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> sparse.csr_array:
        """Return the neighbours as a sparse array: in each row from the nearest on.

        Parameters
        ----------
        X, n_neighbors
            As for :meth:`kneighbors`.
        mode : {"connectivity", "distance"}
            Values are 1, or distances.

        Returns
        -------
        csr_array of shape (n_objects, n_fitted_objects)
        """
        check_choice(mode, "mode", _MODES)
        distances, neighbors = self.kneighbors(X, n_neighbors)
        n, k = neighbors.shape
        data = np.ones(n * k) if mode == "connectivity" else distances.ravel()
        offsets = np.arange(n + 1, dtype=np.int64) * k
        return sparse.csr_array((data, neighbors.ravel(), offsets), (n, self.n_samples_fit_))

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> sparse.csr_array:
        """Return all fitted objects within a distance as a sparse array, by number.

        Parameters
        ----------
        X, radius
            As for :meth:`radius_neighbors`.
        mode : {"connectivity", "distance"}
        """
        check_choice(mode, "mode", _MODES)
        offsets, neighbors, distances = self._within(X, radius)
        data = np.ones(len(neighbors)) if mode == "connectivity" else distances
        shape = (len(offsets) - 1, self.n_samples_fit_)
        return sparse.csr_array((data, neighbors, offsets), shape)

    def near_graph(
        self,
        n_neighbors: int | None = None,
        *,
        keep: Literal["directed", "either", "both"] = "either",
    ) -> NearGraph:
        """Return the fitted objects and their neighbours as a :class:`NearGraph` of distances.

        Parameters
        ----------
        n_neighbors : int, optional
        keep : {"directed", "either", "both"}
            As of :meth:`NearGraph.from_neighbors`.
        """
        return NearGraph.from_neighbors(*self.kneighbors(None, n_neighbors), keep=keep)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are objects to search."""
        return hasattr(self, "_index")

    # Saving

    def to_state(self) -> store.State:
        """Return the arrays of a file: the objects, and how X becomes numbers."""
        facts, arrays = self._learned()
        arrays |= files.numbers_arrays(self._index.numbers)
        arrays["encoder"] = np.frombuffer(self.encoder_.to_json(), np.uint8)
        return arrays | files.settings(self, {"n": self.n_samples_fit_} | facts)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the estimator that :meth:`to_state` described."""
        facts, parameters = files.read_settings(state)
        model = cls(**parameters)
        model._check_parameters()
        encoder = OneHot.from_json(state["encoder"].tobytes())
        files.read_names(model, facts, encoder)
        model._fit_index(encoder, files.read_numbers(state, int(facts["n"]), encoder))
        model._restore(facts, state)
        return model

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what else a file holds: facts, and arrays."""
        return {}, {}

    def _restore(self, facts: dict[str, Any], state: store.State) -> None:
        """Take it from a file."""


class SparseNeighbors(TransformerMixin, NeighborSearch):  # type: ignore[misc]
    """The nearest neighbours of objects among all fitted ones, exact, dense or sparse.

    What scikit-learn's ``NearestNeighbors`` and ``KNeighborsTransformer`` do, without comparing all
    pairs. Sets (baskets, or the columns of X that are not 0) and sparse vectors are found through
    inverted lists, with bounds on what an object can still reach; points in boxes of their leading
    principal components.

    Parameters
    ----------
    n_neighbors : int, default 5
    radius : float, default 1.0
        The distance of :meth:`radius_neighbors`, unless given there.
    metric : {"euclidean", "cosine", "jaccard", "overlap", "hamming"}
        "jaccard", "overlap" and "hamming" compare sets: the columns of X that are not 0. 1 less the
        fraction of shared columns among those that one of both has, or among the smaller set's; the
        fraction of all columns that only one of both has.
    mode : {"distance", "connectivity"}
        What :meth:`transform` returns. Distances have one neighbour more, as scikit-learn has it:
        the object itself, where X is what was fitted.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        How many objects were fitted.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> from tacit.similarity import SparseNeighbors
    >>> baskets = [["bread", "milk"], ["bread"], ["milk", "tea"], ["bread", "milk", "tea"]]
    >>> model = SparseNeighbors(1, metric="jaccard").fit(baskets)
    >>> distances, neighbors = model.kneighbors()
    >>> neighbors.ravel().tolist(), distances.ravel().round(2).tolist()
    ([3, 0, 3, 0], [0.33, 0.5, 0.33, 0.33])
    >>> model.kneighbors([["tea"]], 2, return_distance=False).tolist()
    [[2, 3]]
    """

    _kind: ClassVar[str] = "sparse_neighbors"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        radius: float = 1.0,
        metric: Literal["euclidean", "cosine", "jaccard", "overlap", "hamming"] = "euclidean",
        mode: Literal["distance", "connectivity"] = "distance",
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the objects, ready to be searched.

        Parameters
        ----------
        X : array-like, sparse array, frame, baskets or Table
            Of shape (n_objects, n_columns). Arrays are not copied: do not change them while the
            model is in use.
        y : ignored
        """
        self._check_parameters()
        self._fit_index(*OneHot.fit(X, self))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.mode, "mode", _MODES)

    def transform(self, X: Any) -> sparse.csr_array:
        """Return the graph of the neighbours of X, as ``KNeighborsTransformer`` does.

        Parameters
        ----------
        X : like the one that was fitted

        Returns
        -------
        csr_array of shape (n_objects, n_fitted_objects)
        """
        check_is_fitted(self)
        extra = self.mode == "distance"
        k = min(check_int(self.n_neighbors, "n_neighbors", 1) + extra, self.n_samples_fit_)
        return self.kneighbors_graph(X, k, self.mode)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return a name for each column of what :meth:`transform` returns."""
        check_is_fitted(self)
        return np.array([f"sparseneighbors{k}" for k in range(self.n_samples_fit_)], object)

    def to_text(self) -> str:
        """Return what the model knows, in words."""
        check_is_fitted(self)
        n, d = self.n_samples_fit_, self.n_features_in_
        return f"{n:,} objects of {d:,} columns, by {self.metric} distance"

    def to_frame(self) -> pl.DataFrame:
        """Return the nearest neighbours of the fitted objects: object, neighbor, distance."""
        check_is_fitted(self)
        k = min(check_int(self.n_neighbors, "n_neighbors", 1), self.n_samples_fit_ - 1)
        distances, neighbors = (
            self.kneighbors(None, k) if k else (np.empty((1, 0)), np.empty((1, 0), np.int64))
        )
        objects = np.repeat(np.arange(len(neighbors)), k)
        columns = {"object": objects, "neighbor": neighbors.ravel(), "distance": distances.ravel()}
        return pl.DataFrame(columns)


def _split(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.object_]:
    lists = np.empty(len(offsets) - 1, object)
    lists[:] = np.split(values, offsets[1:-1])
    return lists
