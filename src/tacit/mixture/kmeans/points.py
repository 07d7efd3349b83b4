"""Records as points, and the arrays that k-means kernels take of them and of centres.

Numbers are points as they are. A Table's records are points of as many coordinates as there are
labels: 1 for the label that a record has in a column, 0 for the others of the column. Distances do
not depend on which labels are defaults, and only stored values are visited all the same.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.table.gateway import check_size, check_sparse, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]
    Labels: TypeAlias = NDArray[np.int32]

__all__ = [
    "Bounds",
    "NumberPoints",
    "Points",
    "TablePoints",
    "label_inertia",
    "label_fractions",
    "label_spread",
]

_MOSTLY_ZERO = 0.5  # arrays with fewer numbers than that are stored without their zeros


class Bounds:
    """Bounds of each record's distances to the centre of its cluster and to the nearest other."""

    def __init__(self, n_records: int, n_clusters: int) -> None:
        self.upper = np.zeros(n_records, np.float32)
        self.lower = np.zeros(n_records, np.float32)
        self.moves = np.zeros((3, n_clusters))

    def move(self, drift: Floats, half: Floats) -> None:
        """Update for how far each centre has moved, and half its distance to the nearest other."""
        moved, rest, half_gaps = self.moves
        moved += drift
        rest += _largest_other(drift)
        half_gaps[:] = half


def _largest_other(drift: Floats) -> Floats:
    """Return for each centre how far any other one has moved at most."""
    if len(drift) == 1:
        return np.zeros(1)
    first, second = np.argsort(-drift, kind="stable")[:2]
    largest = np.full(len(drift), drift[first])
    largest[first] = drift[second]
    return largest


class Points(ABC):
    """Records and their weights; a centre is a row of `width` numbers."""

    width: int
    offset: Floats | None = None  # what was taken off every record, and has to be added to centres
    indptr: NDArray[np.int64]
    values: NDArray[Any]
    x: NDArray[Any] | None
    norms: Floats | None
    weights: Floats | None

    @property
    def n_records(self) -> int:
        """How many there are."""
        return len(self.indptr) - 1

    @property
    def n_stored(self) -> int:
        """How many values a pass visits."""
        return len(self.values)

    @property
    def exact(self) -> bool:
        """Whether sums are of whole numbers, so that updates never round."""
        return self.x is None and self.weights is None

    @property
    @abstractmethod
    def n_values(self) -> int:
        """How many value ids there are."""

    @abstractmethod
    def scores(self, centres: Floats) -> tuple[Floats, Floats]:
        """Return what kernels make distances of: base and corrections."""

    @abstractmethod
    def means(self, sums: Floats, totals: Floats) -> Floats:
        """Return centres from the sums of stored values and the weights of clusters."""

    @abstractmethod
    def rows(self, records: NDArray[Any]) -> Floats:
        """Return records as centres."""

    @abstractmethod
    def spread(self) -> float:
        """Return the mean variance of a coordinate."""

    # Kernels

    @property
    def _points(self) -> _core.Points:
        return _core.Points(self.indptr, self.values, self.x, self.norms)

    def weigh(self, numbers: Floats) -> Floats:
        """Return one number for each record, times its weight."""
        return numbers if self.weights is None else numbers * self.weights

    def total_weight(self) -> float:
        """Return the weight of all records."""
        return float(self.n_records if self.weights is None else self.weights.sum())

    def assign(
        self,
        centres: Floats,
        labels: Labels,
        n_jobs: int,
        previous: Labels | None = None,
        bounds: Bounds | None = None,
        prune: bool = False,
    ) -> tuple[int, int]:
        """Write the nearest centre of each record into `labels`.

        Returns how many labels are not the previous ones, and how many records had to be compared
        with all centres.
        """
        kept: tuple[Any, Any, Any] = (None, None, None)
        if bounds is not None:
            kept = (bounds.upper, bounds.lower, bounds.moves)
        changed, scanned, _ = _core.kmeans_assign(
            self._points, *self.scores(centres), previous, labels, *kept, prune, n_jobs
        )
        return changed, scanned

    def distances(self, centres: Floats, n_jobs: int) -> Floats:
        """Return the squared distances of all records to all centres."""
        out = np.empty((self.n_records, len(centres)))
        _core.kmeans_distances(self._points, *self.scores(centres), None, None, out, n_jobs)
        return out

    def try_centres(self, centres: Floats, closest: Floats, out: Floats, n_jobs: int) -> Floats:
        """Write squared distances into `out`; return what each centre leaves of the closest."""
        return _core.kmeans_distances(
            self._points, *self.scores(centres), closest, self.weights, out, n_jobs
        )

    def member_distances(self, centres: Floats, labels: Labels, n_jobs: int) -> Floats:
        """Return the squared distance of each record to the centre of its cluster."""
        return _core.kmeans_own_distances(self._points, *self.scores(centres), labels, n_jobs)

    def nearest_sum(self, centres: Floats, n_jobs: int) -> float:
        """Return the sum of squared distances to the nearest centres, times weights."""
        labels = np.empty(self.n_records, np.int32)
        self.assign(centres, labels, n_jobs)
        return float(self.weigh(self.member_distances(centres, labels, n_jobs)).sum())

    def add_up(
        self, labels: Labels, previous: Labels | None, sums: Floats, totals: Floats, n_jobs: int
    ) -> None:
        """Add up the members of each cluster, or what changed since the previous labels."""
        _core.kmeans_sums(self._points, self.weights, labels, previous, sums, totals, n_jobs)

    def all_sums(self, n_jobs: int) -> tuple[Floats, Floats]:
        """Return the sums of stored values, and the weight, of all records as one cluster."""
        sums, totals = np.zeros((1, self.n_values)), np.zeros(1)
        self.add_up(np.zeros(self.n_records, np.int32), None, sums, totals, n_jobs)
        return sums, totals


class NumberPoints(Points):
    """Rows of finite numbers, of which zeros are not stored.

    `offset` is taken off records that are mostly not zero; by default it is their mean.
    """

    def __init__(self, X: Any, weights: Floats | None, offset: Floats | None = None) -> None:
        check_size(*X.shape)
        self.width = X.shape[1]
        self.weights = weights
        ids_type = value_type(X.shape[1])
        is_sparse: bool = sparse.issparse(X)
        if is_sparse and not check_sparse(X.indptr, X.indices, X.shape[1]):
            X = X.sorted_indices()
        if is_sparse and X.nnz > _MOSTLY_ZERO * X.shape[0] * X.shape[1]:
            X, is_sparse = X.toarray(), False
        if is_sparse:
            indptr, ids, self.x = X.indptr, X.indices, X.data
        elif np.count_nonzero(X) < _MOSTLY_ZERO * X.size:
            rows, ids = np.nonzero(X)
            indptr, self.x = np.searchsorted(rows, np.arange(len(X) + 1)), X[rows, ids]
        else:
            # Distances of numbers far from zero would be small differences of large numbers.
            self.offset = X.mean(axis=0, dtype=np.float64) if offset is None else offset
            self.x = (X - self.offset).astype(X.dtype).reshape(-1)
            indptr = np.arange(len(X) + 1) * X.shape[1]
            ids = np.tile(np.arange(X.shape[1], dtype=ids_type), len(X))
        self.indptr = indptr.astype(np.int64)
        self.values = ids.astype(ids_type, copy=False)
        self._find_norms()

    def _find_norms(self) -> None:
        assert self.x is not None
        if bool((self.x == 1).all()):
            self.x = None
            self.norms = np.diff(self.indptr).astype(np.float64)
            return
        self.x = np.ascontiguousarray(self.x)
        with np.errstate(over="ignore"):
            squares = np.square(self.x, dtype=np.float64)
        self.norms = np.zeros(self.n_records)
        filled = np.flatnonzero(np.diff(self.indptr))
        self.norms[filled] = np.add.reduceat(squares, self.indptr[filled]) if len(filled) else 0
        if not self.norms.max(initial=0) < 1e300:
            raise InputError("X: numbers are too large to be squared; scale them down")

    @property
    def n_values(self) -> int:  # noqa: D102
        return self.width

    def scores(self, centres: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        return np.square(centres).sum(axis=1), -2.0 * centres

    def means(self, sums: Floats, totals: Floats) -> Floats:  # noqa: D102
        return sums / totals[:, None]

    def rows(self, records: NDArray[Any]) -> Floats:  # noqa: D102
        rows = np.zeros((len(records), self.width))
        for row, r in zip(rows, records, strict=True):
            values = slice(self.indptr[r], self.indptr[r + 1])
            row[self.values[values]] = 1.0 if self.x is None else self.x[values]
        return rows

    def spread(self) -> float:  # noqa: D102
        assert self.norms is not None
        sums, totals = self.all_sums(1)
        square = np.square(sums / totals).sum()
        mean = self.weigh(self.norms).sum() / totals[0]
        return max(0.0, float(mean - square)) / self.width


class TablePoints(Points):
    """The records of a Table; a centre holds the fraction of every label in every column."""

    def __init__(self, table: Table, weights: Floats | None) -> None:
        self.schema = table.schema
        self.width = int(self.schema.cells[-1])
        self.weights = weights
        self.indptr, self.values, self.x, self.norms = table.indptr, table.values, None, None
        self._default_cells = self.schema.default_cells
        self._value_cells = self.schema.value_cells

    @property
    def n_values(self) -> int:  # noqa: D102
        return self.schema.n_values

    def scores(self, centres: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        default, stored = centres[:, self._default_cells], centres[:, self._value_cells]
        base = np.square(1.0 - default).sum(axis=1) + np.square(stored).sum(axis=1)
        return base, 2.0 * (default[:, self.schema.value_columns] - stored)

    def means(self, sums: Floats, totals: Floats) -> Floats:  # noqa: D102
        return label_fractions(self.schema, sums, totals)

    def rows(self, records: NDArray[Any]) -> Floats:  # noqa: D102
        rows = np.zeros((len(records), self.width))
        rows[:, self._default_cells] = 1.0
        for row, r in zip(rows, records, strict=True):
            ids = self.values[self.indptr[r] : self.indptr[r + 1]]
            row[self._default_cells[self.schema.value_columns[ids]]] = 0.0
            row[self._value_cells[ids]] = 1.0
        return rows

    def spread(self) -> float:  # noqa: D102
        return label_spread(self.schema, *self.all_sums(1))


def label_counts(schema: Schema, sums: Floats, totals: Floats) -> Floats:
    """Return the counts of every label in clusters, from sums of stored values and weights."""
    counts = np.repeat(totals[:, None], int(schema.cells[-1]), axis=1)
    several = np.flatnonzero(schema.arities > 1)
    if len(several):
        stored = np.add.reduceat(sums, schema.offsets[several], axis=1)
        counts[:, schema.default_cells[several]] = np.maximum(totals[:, None] - stored, 0.0)
        counts[:, schema.value_cells] = sums
    return counts


def label_fractions(schema: Schema, sums: Floats, totals: Floats) -> Floats:
    """Return the fraction of every label in clusters: their centres."""
    fractions = label_counts(schema, sums, totals)
    fractions /= totals[:, None]
    return fractions


def label_inertia(schema: Schema, centres: Floats, sums: Floats, totals: Floats) -> float:
    """Return the squared distances of members to centres, added up over labels, not over records.

    Members that have a label are 1 - c off in its coordinate, and all others c. None of these sums
    is a small difference of large ones.
    """
    counts = label_counts(schema, sums, totals)
    others = np.maximum(totals[:, None] - counts, 0.0)
    each = (counts * np.square(1.0 - centres) + others * np.square(centres)).sum(axis=1)
    return math.fsum(each)  # the same for any order of clusters


def label_spread(schema: Schema, sums: Floats, totals: Floats) -> float:
    """Return the mean variance of a coordinate, from the sums and the weight of all records."""
    fractions = label_fractions(schema, sums, totals)
    return float((fractions - np.square(fractions)).mean())
