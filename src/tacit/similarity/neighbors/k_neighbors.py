"""The K nearest neighbours as a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import check_choice, store_parameters
from tacit.similarity.base import SimilarityClassifier
from tacit.similarity.neighbors.search import NeighborIndex, check_reach
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.similarity.base import Objects
    from tacit.similarity.neighbors.search import Nearest

__all__ = ["SparseKNeighborsClassifier"]

_ALGORITHMS = ("exact", "near")
_WEIGHTS = ("uniform", "distance")


class SparseKNeighborsClassifier(SimilarityClassifier):
    """Classify objects by the nearest of the training objects.

    Objects are compared only if bounds on their distance do not rule out that they are neighbours,
    so that the neighbours are proven to be the nearest of all; or only if they are near in a
    projection to a few dimensions, on a grid. Distances are Euclidean, in the original space.

    Parameters
    ----------
    n_neighbors : int, default 5
        If there are fewer training objects, all of them are neighbours.
    algorithm : {"exact", "near"}
        "exact": the nearest of all training objects. "near": the nearest training objects in the
        object's block of the grid and in blocks that touch it. Where these are fewer than
        `n_neighbors`, or others may be nearer (see `reach`), more blocks are searched in each
        direction: so a resolution that is too fine does no harm.
    weights : {"uniform", "distance"}
        Whether all neighbours count the same, or as much as they are near: 1 / distance, and
        those at no distance alone, if there are any.
    reach : float or "auto"
        For "near": all training objects are compared that are, in each dimension of the
        projection, within this many times the distance of the farthest neighbour. 0: what is near
        is enough, as in the paper. 1: all neighbours are found, if the projection is orthonormal.
        "auto": far enough for 99.5 % of the neighbours of 256 training objects.
    resolution, n_dimensions, projection
        Of the grid: see :class:`SparseComputation`. "exact" has no use for a
        resolution. Columns are projected as they are measured: scaled if `normalize`.
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    group_width : float from 0 to 1, optional
        Objects of a class that are within this fraction of a block's width, in each dimension of
        the projection, are replaced by one that counts as often. By default, none are.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    computation_ : SparseComputation
        Projection and grid.
    n_fallback_ : int
        How many objects of the last prediction had no near training object on the grid as it was;
        0 for "exact".
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

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

    _kind: ClassVar[str] = "sparse_k_neighbors_classifier"
    _normalize_projection: ClassVar[bool] = False

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        algorithm: Literal["exact", "near"] = "exact",
        weights: Literal["uniform", "distance"] = "uniform",
        reach: float | Literal["auto"] = "auto",
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        n_dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomized_svd",
        normalize: bool = False,
        group_width: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        check_int(self.n_neighbors, "n_neighbors", 1)
        check_reach(self.reach)
        check_choice(self.algorithm, "algorithm", _ALGORITHMS)
        check_choice(self.weights, "weights", _WEIGHTS)

    def _learn(self, objects: Objects) -> None:
        """Keep training objects, ready to be searched."""
        near = self.algorithm == "near"
        self._index = NeighborIndex(
            objects.numbers,
            grid=self.computation_.grid_ if near else None,
            coords=objects.coords if near else None,
            components=self.computation_.components_ if near else None,
            reach=check_reach(self.reach),
            n_jobs=self.n_jobs,
        )
        super()._learn(objects)

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest training objects.

        Parameters
        ----------
        X : like the one that was fitted; with `group_width` also a PartitionedTable
        n_neighbors : int, optional
            As many as for predictions, unless given; at most as many as there are training
            objects.
        return_distance : bool, default True

        Returns
        -------
        distances : ndarray of shape (n_objects, n_neighbors)
            Ascending. Not with ``return_distance=False``.
        neighbours : ndarray of shape (n_objects, n_neighbors)
            Numbers of training objects; with `group_width`, of their representatives.
        """
        check_is_fitted(self)
        k = self._default_k() if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1)
        n = len(self._training)
        if k > n:
            raise InputError(
                f"n_neighbors must be at most {n}, the number of training objects; got {k}"
            )
        objects = self._new_objects(X)
        nearest = self._search(objects, k)
        neighbours = objects.expand(nearest.objects.astype(np.int64))
        return (objects.expand(nearest.distances), neighbours) if return_distance else neighbours

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that most of the neighbours have.

        Of classes with as many neighbours, the first of `classes_`: the most probable class by
        :meth:`predict_proba`, always.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        objects = self._new_objects(X)
        codes = self._majority(self._search(objects, self._default_k()))
        predicted: NDArray[Any] = self.classes_[objects.expand(codes)]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the fraction of each class among the neighbours of each object.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        objects = self._new_objects(X)
        return objects.expand(self._fractions(self._search(objects, self._default_k())))

    def _default_k(self) -> int:
        return min(check_int(self.n_neighbors, "n_neighbors", 1), len(self._training))

    def _search(self, objects: Objects, k: int) -> Nearest:
        numbers, dtype = objects.numbers, self._index.numbers.dtype
        if numbers.dtype != dtype:
            with np.errstate(over="ignore"):
                numbers = numbers.astype(dtype)
            if not np.isfinite(numbers.data if is_sparse(numbers) else numbers).all():
                raise InputError("X holds numbers too large for the float32 that was fitted")
        nearest = self._index.search(numbers, k, objects.coords, n_jobs=self.n_jobs)
        on_grid = self._index.grid is not None
        self._last_prediction["n_fallback"] = objects.count(nearest.isolated) if on_grid else 0
        return nearest

    def _fractions(self, nearest: Nearest) -> NDArray[np.float64]:
        """Return what fraction of the neighbours' votes each class has."""
        codes = self._training.codes[nearest.objects]
        each = self._votes(nearest)
        votes = np.zeros((len(codes), len(self.classes_)))
        rows = np.arange(len(codes))
        for rank in range(codes.shape[1]):
            votes[rows, codes[:, rank]] += each[:, rank]
        fractions: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return fractions

    def _majority(self, nearest: Nearest) -> NDArray[np.int32]:
        """Return the class that most neighbours have; of several, the first."""
        return np.asarray(self._fractions(nearest).argmax(axis=1), np.int32)

    def _votes(self, nearest: Nearest) -> NDArray[np.float64]:
        """Return how much each neighbour counts."""
        each = self._training.weights[nearest.objects]
        before = np.cumsum(each, axis=1) - each
        # Until there are enough neighbours.
        votes: NDArray[np.float64] = np.clip(self.n_neighbors - before, 0.0, each)
        if self.weights == "distance":
            zero = nearest.distances == 0
            # In units of the nearest: of the smallest numbers, 1 / x would be infinite.
            first = np.broadcast_to(nearest.distances[:, :1], zero.shape)
            inverse = np.divide(first, nearest.distances, out=zero.astype(float), where=~zero)
            votes = votes * np.where(zero.any(axis=1)[:, None], zero, inverse)
        return votes
