"""The K nearest neighbours as a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.similarity.base import SimilarityClassifier, each_record
from tacit.similarity.neighbors.search import Neighbours, check_reach
from tacit.table.features import is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.similarity.base import Objects
    from tacit.similarity.neighbors.search import Found

__all__ = ["SparseKNeighborsClassifier"]

_SEARCHES = ("near", "exact")
_WEIGHTS = ("uniform", "distance")


class SparseKNeighborsClassifier(SimilarityClassifier):
    """Classify objects by the nearest of the training objects.

    Objects are compared only if they are near in a projection to a few dimensions, on a grid; or
    only if the projection does not rule out that they are neighbours, and then the neighbours are
    proven to be the nearest of all. Distances are Euclidean, in the original space.

    Parameters
    ----------
    n_neighbors : int, default 5
        If there are fewer training objects, all of them are neighbours.
    search : {"near", "exact"}
        "near": neighbours are the nearest training objects in the object's block of the grid and
        in blocks that touch it. Where these are fewer than `n_neighbors`, or others may be nearer
        (see `reach`), more blocks are looked at in each direction: so a resolution that is too
        fine does no harm. "exact": the nearest of all training objects.
    weights : {"uniform", "distance"}
        Whether all neighbours count the same, or as much as they are near: 1 / distance, and
        those at no distance alone, if there are any.
    reach : float or "auto"
        For "near": all training objects are looked at that are, in each dimension of the
        projection, within this many times the distance of the farthest neighbour. 0: what is near
        is enough, as in the paper. 1: all neighbours are found, if the projection is orthonormal.
        "auto": far enough for 99.5 % of the neighbours of 256 training objects.
    resolution : int, sequence of int, or "auto"
        Intervals of the grid in each dimension. "exact" has no use for them.
    dimensions : int from 1 to 4, or "auto"
        Dimensions of the projection. "auto" is 3, or 2 for more than half a million objects.
    projection : str, default "randomised_svd"
        How objects are projected for the grid; see :class:`SparseComputation`. Columns are
        projected as they are measured: scaled if `normalise`, else as they are.
    normalise : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    delta : float, optional
        Objects of the same class, within this share of a block's width of each other, are taken
        for one that counts as many times. By default, none are.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    computation_ : SparseComputation
        Projection and grid.
    n_fallback_ : int
        How many objects of the last prediction had no near training object on the grid as it was.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        For frames and Tables.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(2_000, 8, n_clusters=4, random_state=0)
    >>> model = tacit.SparseKNeighborsClassifier(3, random_state=0).fit(X[:1_500], y[:1_500])
    >>> float((model.predict(X[1_500:]) == y[1_500:]).mean()) > 0.9
    True
    >>> distances, neighbours = model.kneighbors(X[:2])
    >>> neighbours[:, 0].tolist(), distances[:, 0].tolist()
    ([0, 1], [0.0, 0.0])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        search: Literal["near", "exact"] = "near",
        weights: Literal["uniform", "distance"] = "uniform",
        reach: float | Literal["auto"] = "auto",
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomised_svd",
        normalise: bool = False,
        delta: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.search = search
        self.weights = weights
        self.reach = reach
        self.resolution = resolution
        self.dimensions = dimensions
        self.projection = projection
        self.normalise = normalise
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> SparseKNeighborsClassifier:
        """Keep the training objects, in an order in which neighbours are found.

        Parameters
        ----------
        X : array-like, sparse array, frame, Table or PartitionedTable
            Of shape (n_objects, n_columns). Arrays are not copied: do not change them while the
            model is in use. A PartitionedTable takes `delta`: what is kept are groups of records.
        y : array-like of shape (n_objects,) or str
            Their classes; or the column of a Table or PartitionedTable that holds them.

        Returns
        -------
        SparseKNeighborsClassifier
            Itself.
        """
        self._check_parameters()
        with self._kept_on_failure():
            self._keep(self._fit_objects(X, y, normalise_projection=False))
        return self

    def _check_parameters(self) -> None:
        check_int(self.n_neighbors, "n_neighbors", 1)
        check_reach(self.reach)
        _one_of(self.search, "search", _SEARCHES)
        _one_of(self.weights, "weights", _WEIGHTS)

    def _keep(self, objects: Objects) -> None:
        """Keep training objects, ready to be searched."""
        near = self.search == "near"
        self._neighbours = Neighbours(
            objects.numbers,
            grid=self.computation_.grid_ if near else None,
            coords=objects.coords if near else None,
            components=self.computation_.components_ if near else None,
            reach=check_reach(self.reach),
            n_jobs=self.n_jobs,
        )
        self._labelled = objects
        self._codes = objects.codes
        self._counts = None if self.delta is None else objects.weights
        self._last = {"n_fallback": 0}

    @property
    def n_fallback_(self) -> int:
        """How many objects of the last prediction had nothing near on the grid as it was."""
        check_is_fitted(self)
        return self._last["n_fallback"]

    def _note_fallback(self, n: int) -> None:
        self._last = {"n_fallback": n}

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest training objects.

        Parameters
        ----------
        X : like the one that was fitted; with `delta` also a PartitionedTable
        n_neighbors : int, optional
            As many as for predictions, unless given; at most as many as there are training
            objects.
        return_distance : bool, default True

        Returns
        -------
        distances : ndarray of shape (n_objects, n_neighbors)
            Ascending. Not with ``return_distance=False``.
        neighbours : ndarray of shape (n_objects, n_neighbors)
            Numbers of training objects; with `delta`, of those that stand for them.
        """
        check_is_fitted(self)
        k = self._default_k() if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1)
        if k > len(self._codes):
            raise InputError(
                f"n_neighbors must be at most {len(self._codes)}, the number of training objects; "
                f"got {k}"
            )
        objects = self._new_objects(X)
        found = self._find(objects, k)
        neighbours = objects.spread(found.objects.astype(np.int64))
        return (objects.spread(found.distances), neighbours) if return_distance else neighbours

    @each_record
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that most of the neighbours have.

        Of classes with as many neighbours, the one of the nearest among them.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable

        Returns
        -------
        ndarray of shape (n_objects,)
        """
        objects = self._new_objects(X)
        winners = self._winners(self._find(objects, self._default_k()))
        predicted: NDArray[Any] = self.classes_[objects.spread(winners)]
        return predicted

    @each_record
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class among the neighbours.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable

        Returns
        -------
        ndarray of shape (n_objects, n_classes)
        """
        objects = self._new_objects(X)
        _, votes = self._vote(self._find(objects, self._default_k()))
        return objects.spread(votes / votes.sum(axis=1, keepdims=True))

    def _default_k(self) -> int:
        return min(check_int(self.n_neighbors, "n_neighbors", 1), len(self._codes))

    def _find(self, objects: Objects, k: int) -> Found:
        numbers = objects.numbers
        if numbers.dtype != self._neighbours.numbers.dtype:
            with np.errstate(over="ignore"):
                numbers = numbers.astype(self._neighbours.numbers.dtype)
            if not np.isfinite(numbers.data if is_sparse(numbers) else numbers).all():
                raise InputError("X holds numbers too large for the float32 that was fitted")
        found = self._neighbours.search(numbers, k, objects.coords, n_jobs=self.n_jobs)
        self._last["n_fallback"] = objects.count(found.lonely) if self._is_near else 0
        return found

    @property
    def _is_near(self) -> bool:
        return self._neighbours.grid is not None

    def _vote(self, found: Found) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the classes of neighbours, and what these amount to."""
        codes = self._codes[found.objects]
        counts = self._shares(found)
        votes = np.zeros((len(codes), len(self.classes_)))
        rows = np.arange(len(codes))
        for rank in range(codes.shape[1]):
            votes[rows, codes[:, rank]] += counts[:, rank]
        return codes, votes

    def _winners(self, found: Found) -> NDArray[np.int32]:
        """Return the class that most neighbours have; of several, that of the nearest."""
        codes, votes = self._vote(found)
        most = votes.max(axis=1, keepdims=True)
        leads = np.take_along_axis(votes, codes, axis=1) >= most * (1 - 1e-12)
        nearest = leads.argmax(axis=1)[:, None]  # neighbours are in the order of their distances
        return np.take_along_axis(codes, nearest, axis=1)[:, 0]

    def _shares(self, found: Found) -> NDArray[np.float64]:
        """Return how much each neighbour counts."""
        shares = np.ones(found.distances.shape)
        if self._counts is not None:  # as many as it stands for, until there are enough
            each = self._counts[found.objects]
            before = np.cumsum(each, axis=1) - each
            shares = np.clip(self.n_neighbors - before, 0.0, each)
        if self.weights == "distance":
            touching = found.distances == 0
            inverse = np.divide(1.0, found.distances, out=touching.astype(float), where=~touching)
            shares = shares * np.where(touching.any(axis=1)[:, None], touching, inverse)
        return shares


def _one_of(value: Any, argument: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{argument} must be one of {', '.join(allowed)}; got {value!r}")
