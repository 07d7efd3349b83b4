"""The nearest of all objects by several metrics, proven to be so: one search for each kind of X."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.parameters import check_choice
from tacit.similarity.neighbors.search import NeighborIndex
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "METRICS",
    "ROUNDING",
    "SET_METRICS",
    "CosineIndex",
    "ExactIndex",
    "Metric",
    "exact_index",
]

Metric: TypeAlias = Literal["euclidean", "cosine", "jaccard", "overlap", "hamming"]
SET_METRICS = ("jaccard", "overlap", "hamming")  # of which columns are not 0
METRICS = ("euclidean", "cosine", *SET_METRICS)
_FIRST_K = 32  # neighbours that a search within a radius begins with
ROUNDING = 1e-12  # what rounding can do to a distance of at most 2
# Offsets by query, numbers of objects, distances.
Found: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]"


class ExactIndex(Protocol):
    """Objects among which the nearest of all are found; ties go to the lower number.

    Queries that are None are the objects themselves, which are not their own neighbours.
    """

    numbers: Any

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and numbers of the k nearest objects of each query, nearest first."""

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        """Return all objects within a distance of each query, in the order of their numbers."""


def exact_index(numbers: Any, metric: Metric, n_jobs: int | None = None) -> ExactIndex:
    """Return what finds the nearest of some objects, dense or sparse, by a metric.

    - "euclidean": by boxes of leading principal components.
    - "cosine": 1 less the cosine of the angle; of a row of zeros, 1.
    - "jaccard", "overlap", "hamming": of the sets of columns that are not 0. 1 less the shared ones
      among those that one of both has (1 less 1 for two empty sets), or among the smaller set; the
      fraction of all columns that only one has.

    >>> X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])
    >>> distances, objects = exact_index(X, "jaccard").nearest(None, 1, None)
    >>> distances.round(3).tolist(), objects.tolist()
    ([[0.5], [0.5], [0.667]], [[1], [0], [0]])
    """
    check_choice(metric, "metric", METRICS)
    if metric == "euclidean":
        return _EuclideanIndex(numbers, n_jobs)
    if metric in SET_METRICS:
        return _SetIndex(numbers, metric)
    if not is_sparse(numbers):
        return _UnitIndex(numbers, n_jobs)
    return _EqualNumbersIndex(numbers) if _holds_one_number(numbers) else CosineIndex(numbers)


class _SetIndex:
    """Sets of columns, by inverted lists."""

    def __init__(self, numbers: Any, metric: str) -> None:
        self.numbers, self.metric = numbers, metric
        self._rows = _pattern(numbers)
        self._index  # noqa: B018 -- made now, since it takes the longest

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_index"}

    @cached_property
    def _index(self) -> _core.SetNeighbours:
        return _core.SetNeighbours(*self._rows, self.numbers.shape[1])

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        itself = queries is None
        rows = self._rows if itself else _pattern(queries)
        distances, objects = self._index.nearest(*rows, itself, self.metric, k, count_jobs(n_jobs))
        return distances, objects.astype(np.int64)

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        itself = queries is None
        rows = self._rows if itself else _pattern(queries)
        least = _least_nearness(self.metric, radius, self.numbers.shape[1])
        found = self._index.within(*rows, itself, False, self.metric, least, count_jobs(n_jobs))
        return _no_farther(found, radius)

    def pairs(self, radius: float, n_jobs: int | None) -> Found:
        """Return each pair within a distance for one of the two."""
        least = _least_nearness(self.metric, radius, self.numbers.shape[1])
        jobs = count_jobs(n_jobs)
        found = self._index.within(*self._rows, False, True, self.metric, least, jobs)
        return _no_farther(found, radius)


class CosineIndex:
    """Sparse vectors by their angles, by inverted lists."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers
        self._rows = _vectors(numbers)
        self._index  # noqa: B018 -- made now, since it takes the longest

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_index"}

    @cached_property
    def _index(self) -> _core.CosineNeighbours:
        return _core.CosineNeighbours(*self._rows, self.numbers.shape[1])

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and numbers of the k nearest objects of each query, nearest first."""
        itself = queries is None
        rows = self._rows if itself else _vectors(queries)
        distances, objects = self._index.nearest(*rows, itself, k, count_jobs(n_jobs))
        return distances, objects.astype(np.int64)

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        """Return all objects within a distance of each query, in the order of their numbers."""
        itself = queries is None
        rows = self._rows if itself else _vectors(queries)
        found = self._index.within(*rows, itself, False, 1 - radius - ROUNDING, count_jobs(n_jobs))
        return _no_farther(found, radius)

    def pairs(self, radius: float, n_jobs: int | None) -> Found:
        """Return each pair within a distance for one of the two."""
        least = 1 - radius - ROUNDING
        found = self._index.within(*self._rows, False, True, least, count_jobs(n_jobs))
        return _no_farther(found, radius)

    def reach_tree(
        self, nearest: NDArray[np.int32], counts: NDArray[np.int64], n_core: int, n_jobs: int | None
    ) -> tuple[Any, Any, Any, Any]:
        """Return the minimum spanning tree of mutual reachability, and core distances.

        Both ends of its edges, ascending, and their lengths. `nearest` are the nearest objects of
        each, itself the first; each stands for `counts` objects.
        """
        return self._index.reach_tree(nearest, counts, n_core, count_jobs(n_jobs))


class _EqualNumbersIndex(_SetIndex):
    """Angles of sparse vectors that hold one number alone: those of sets, which are counted."""

    def __init__(self, numbers: Any) -> None:
        super().__init__(numbers, "cosine")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_of_any"}

    @cached_property
    def _of_any(self) -> CosineIndex:
        """What finds the nearest of queries that hold several numbers."""
        return CosineIndex(self.numbers)

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if queries is None:
            return super().nearest(None, k, n_jobs)
        rows = _rows_without_zeros(queries)
        equal = _rows_of_one_number(rows)
        distances = np.empty((len(equal), k))
        objects = np.empty((len(equal), k), np.int64)
        if equal.any():
            distances[equal], objects[equal] = super().nearest(rows[equal], k, n_jobs)
        if not equal.all():
            distances[~equal], objects[~equal] = self._of_any.nearest(rows[~equal], k, n_jobs)
        return distances, objects

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        if queries is None:
            return super().within(None, radius, n_jobs)
        rows = _rows_without_zeros(queries)
        equal = _rows_of_one_number(rows)
        if equal.all():
            return super().within(rows, radius, n_jobs)
        one = super().within(rows[equal], radius, n_jobs)
        other = self._of_any.within(rows[~equal], radius, n_jobs)
        counts = np.empty(len(equal), np.int64)
        counts[equal], counts[~equal] = np.diff(one[0]), np.diff(other[0])
        first = np.repeat(equal, counts)  # of each that is found: whether it is in `one`
        objects, distances = np.empty(len(first), np.int64), np.empty(len(first))
        objects[first], objects[~first] = one[1], other[1]
        distances[first], distances[~first] = one[2], other[2]
        return np.append(0, np.cumsum(counts)), objects, distances


def _holds_one_number(numbers: Any) -> bool:
    """Return whether all that is stored is the same number, above 0."""
    stored = numbers.data
    return len(stored) > 0 and bool(stored[0] > 0) and bool((stored == stored[0]).all())


def _rows_of_one_number(rows: Any) -> NDArray[np.bool_]:
    """Return which CSR rows hold one number alone, above 0, or nothing: each for itself."""
    equal = np.ones(rows.shape[0], np.bool_)
    lengths = np.diff(rows.indptr)
    some = lengths > 0
    starts = rows.indptr[:-1][some]
    same = (rows.data == np.repeat(rows.data[starts], lengths[some])) & (rows.data > 0)
    equal[some] = np.logical_and.reduceat(same, starts) if len(starts) else True
    return equal


class _EuclideanIndex:
    """Points, dense or sparse, by boxes of their leading principal components."""

    def __init__(self, numbers: Any, n_jobs: int | None) -> None:
        self.numbers = numbers
        self._index = NeighborIndex(numbers, n_jobs=n_jobs)

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if queries is not None:
            found = self._index.search(queries, k, n_jobs=n_jobs)
            return found.distances, found.objects.astype(np.int64)
        found = self._index.search(self.numbers, k + 1, n_jobs=n_jobs)
        return _without_itself(found.distances, found.objects.astype(np.int64))

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        itself = queries is None
        rows = self.numbers if itself else queries
        n, m = len(self._index), rows.shape[0]
        todo, k = np.arange(m), min(_FIRST_K, n)
        parts: list[tuple[NDArray[Any], ...]] = []
        while len(todo):  # as many neighbours as there may be, and more where these are not all
            found = self._index.search(rows if len(todo) == m else rows[todo], k, n_jobs=n_jobs)
            whole = (found.distances[:, -1] > radius) | (k == n)
            near = (found.distances <= radius) & whole[:, None]
            if itself:
                near &= found.objects != todo[:, None]
            row, rank = np.nonzero(near)
            parts.append((todo[row], found.objects[row, rank], found.distances[row, rank]))
            todo, k = todo[~whole], min(4 * k, n)
        query, objects, distances = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((objects, query))
        offsets = np.append(0, np.cumsum(np.bincount(query, minlength=m)))
        return offsets, objects[order].astype(np.int64), distances[order]


class _UnitIndex:
    """Dense vectors by their angles: half the squared distance of vectors of length 1."""

    def __init__(self, numbers: Any, n_jobs: int | None) -> None:
        self.numbers = numbers
        self._index = _EuclideanIndex(_unit(numbers), n_jobs)

    def nearest(
        self, queries: Any, k: int, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        units = None if queries is None else _unit(queries)
        distances, objects = self._index.nearest(units, k, n_jobs)
        distances = distances**2 / 2
        distances[self._index.numbers[objects, -1] > 0] = 1.0
        for q in np.flatnonzero((self._index.numbers if units is None else units)[:, -1]):
            distances[q] = 1.0  # a row of zeros is as far from all others
            first = np.arange(k + 1)
            objects[q] = first[first != q][:k] if units is None else first[:k]
        # Squares are rounded, and rows of zeros are where they are set: not in order any more.
        order = np.lexsort((objects, distances), axis=1)
        return np.take_along_axis(distances, order, 1), np.take_along_axis(objects, order, 1)

    def within(self, queries: Any, radius: float, n_jobs: int | None) -> Found:
        units = None if queries is None else _unit(queries)
        far = float(np.sqrt(2 * radius)) * (1 + 1e-12)
        offsets, objects, distances = self._index.within(units, far, n_jobs)
        rows = self._index.numbers if units is None else units
        zero = np.repeat(rows[:, -1] > 0, np.diff(offsets))
        zero |= self._index.numbers[objects, -1] > 0
        return _no_farther((offsets, objects, np.where(zero, 1.0, distances**2 / 2)), radius)


def _unit(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return rows of length 1, and one more column that keeps rows of zeros away from all others.

    Half the squared distance of a row of zeros from any other is 1, as their cosine is 0.
    """
    rows = np.asarray(numbers, np.float64)
    most = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    rows = rows / np.where(most > 0, most, 1.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.hstack((rows / np.where(lengths > 0, lengths, 1.0), lengths == 0))


def _least_nearness(metric: str, radius: float, n_columns: int) -> float:
    """Return how near sets are in the kernel's terms that are within a distance, or a bit more."""
    if metric == "hamming":
        return -radius * n_columns - 1e-6
    least = 1 - radius - ROUNDING
    if metric == "cosine":
        return least * abs(least)
    return least


def _no_farther(found: tuple[NDArray[Any], ...], radius: float) -> Found:
    """Return what is found without what is farther than the radius after all."""
    offsets, objects, distances = found
    near = distances <= radius
    if near.all():
        return offsets, objects.astype(np.int64, copy=False), distances
    kept = np.append(0, np.cumsum(near))[offsets]
    return kept, objects[near].astype(np.int64, copy=False), distances[near]


def _without_itself(
    distances: NDArray[np.float64], objects: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return k of k + 1 neighbours of each object: without itself, or without the last."""
    n, k = objects.shape[0], objects.shape[1] - 1
    itself = objects == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return distances[~itself].reshape(n, k), objects[~itself].reshape(n, k)


def _rows_without_zeros(numbers: Any) -> Any:
    if not is_sparse(numbers):
        return sparse.csr_array(numbers)
    if not numbers.has_sorted_indices or not (numbers.data != 0).all():
        numbers = numbers.copy()
        numbers.eliminate_zeros()
        numbers.sort_indices()
    return numbers


def _pattern(numbers: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    rows = _rows_without_zeros(numbers)
    return rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.int32, copy=False)


def _vectors(
    numbers: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the parts of CSR rows, and their lengths; rows are scaled so that these are finite."""
    rows = _rows_without_zeros(numbers)
    indptr, columns = rows.indptr.astype(np.int64, copy=False), rows.indices
    data = rows.data.astype(np.float64)
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    most = np.zeros(len(indptr) - 1)
    np.maximum.at(most, row, np.abs(data))
    exponent = -np.floor(np.log2(np.where(most > 0, most, 1.0)))
    scale = np.exp2(np.minimum(exponent, 1023.0))
    data *= scale[row]
    lengths = np.sqrt(np.bincount(row, data * data, minlength=len(most)))
    if not np.isfinite(lengths).all():
        raise InputError("X holds numbers that are too large")
    return indptr, columns.astype(np.int32, copy=False), data, lengths
