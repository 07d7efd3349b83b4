"""The minimum spanning tree of mutual reachability, and the object that a new one reaches first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.similarity.csr import csr_arrays
from tacit.similarity.neighbors.exact import CosineIndex, ExactIndex
from tacit.similarity.neighbors.search import NeighborIndex
from tacit.similarity.projection.linear import coordinates, project
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "Reached",
    "SpanningTree",
    "first_reached",
    "metric_tree",
    "spanning_tree",
    "unit_rows",
]

_BOUNDS = 10  # coordinates that rule boxes out
_SAMPLE = 20_000  # objects that say which coordinates do so best
_MORE = 3  # neighbours beyond those of the core distance: they spare searches


@dataclass(frozen=True)
class SpanningTree:
    """Edges of the tree, ascending, and core distances."""

    a: NDArray[np.int32]  # (n_objects - 1,)
    b: NDArray[np.int32]
    reach: Floats  # at which both ends reach each other
    cores: Floats  # (n_objects,)


def spanning_tree(numbers: Any, n_core: int, n_jobs: int | None = None) -> SpanningTree:
    """Return the minimum spanning tree of mutual reachability; exact.

    The core distance of an object is that to the `n_core`-th nearest, itself the first. Equal rows
    are one place: what is compared are places.

    >>> tree = spanning_tree(np.array([[0.0], [1.0], [5.0], [7.0]]), 2)
    >>> tree.reach.tolist(), tree.cores.tolist()
    ([1.0, 2.0, 4.0], [1.0, 1.0, 2.0, 2.0])
    """
    if is_sparse(numbers) and not numbers.has_sorted_indices:
        numbers = numbers.sorted_indices()
    places = _Places.of(numbers)
    rows = places.rows
    index = NeighborIndex(rows, n_jobs=n_jobs)
    nearest = index.search(rows, min(n_core + _MORE, len(places.first))).objects
    del index
    edges = _core.reach_tree(
        csr_arrays(rows) if is_sparse(rows) else np.ascontiguousarray(rows),
        rows.shape[1],
        np.ascontiguousarray(coordinates(rows, *_basis(rows))),
        np.ascontiguousarray(nearest),
        places.counts,
        n_core,
        count_jobs(n_jobs),
    )
    return places.tree(*edges)


def metric_tree(numbers: Any, n_core: int, metric: str, n_jobs: int | None = None) -> SpanningTree:
    """Return the minimum spanning tree by Euclidean distance, or by 1 less the cosine.

    For the cosine, `numbers` are unit rows. Sparse ones are searched through inverted lists.
    """
    if metric != "cosine":
        return spanning_tree(numbers, n_core, n_jobs)
    if not is_sparse(numbers):
        tree = spanning_tree(numbers, n_core, n_jobs)
        # Between unit rows, half of the square is 1 less the cosine.
        return SpanningTree(tree.a, tree.b, tree.reach**2 / 2, tree.cores**2 / 2)
    if not numbers.has_sorted_indices:
        numbers = numbers.sorted_indices()
    places = _Places.of(numbers)
    index = CosineIndex(places.rows)
    n = len(places.first)
    itself = np.arange(n, dtype=np.int32)[:, None]
    k = min(n_core + _MORE, n) - 1
    nearest = itself
    if k:
        others = index.nearest(None, k, n_jobs)[1].astype(np.int32)
        nearest = np.ascontiguousarray(np.hstack((itself, others)))
    edges = index.reach_tree(nearest, places.counts, n_core, n_jobs)
    return places.tree(*edges)


@dataclass(frozen=True)
class _Places:
    """Rows that differ: equal ones are one place."""

    rows: Any  # one of each place
    first: Ints  # the first object of each place, ascending
    place: Ints  # (n_objects,): that of each object
    counts: Ints  # how many objects are there

    @classmethod
    def of(cls, numbers: Any) -> _Places:
        """Find the places of rows.

        Objects that are equal have equal sums along random directions. Where others have these,
        too, some equal objects may be apart in the order, and count as several places.
        """
        n, width = numbers.shape
        directions = np.random.default_rng(0).normal(size=(2, width))
        sums = coordinates(numbers, directions, np.zeros(width))
        order = np.lexsort(sums.T)
        same = np.zeros(n, np.bool_)
        close = 1 + np.flatnonzero((sums[order[1:]] == sums[order[:-1]]).all(axis=1))
        if len(close):
            one, other = numbers[order[close]], numbers[order[close - 1]]
            if is_sparse(numbers):
                differs: Any = abs(one - other).tocsr()
                differs.eliminate_zeros()
                same[close] = np.diff(differs.indptr) == 0
            else:
                same[close] = (one == other).all(axis=1)
        place = np.empty(n, np.int64)
        place[order] = np.cumsum(~same) - 1
        firsts = np.minimum.reduceat(order, np.flatnonzero(~same))
        # Places are numbered by their first objects, so that those of unequal rows are the rows.
        rank = np.argsort(firsts, kind="stable")
        number = np.empty(len(rank), np.int64)
        number[rank] = np.arange(len(rank))
        place, first = number[place], firsts[rank]
        counts = np.bincount(place, minlength=len(rank)).astype(np.int64)
        return cls(numbers if len(rank) == n else numbers[first], first, place, counts)

    def tree(self, a: Any, b: Any, reach: Floats, cores: Floats) -> SpanningTree:
        """Return the tree of all objects: those at one place reach each other at its core."""
        first, place = self.first, self.place
        others = np.flatnonzero(first[place] != np.arange(len(place)))
        here = place[others]
        reach = np.concatenate((cores[here], reach))
        order = np.argsort(reach, kind="stable")
        ends = [
            np.concatenate((one, first[other])).astype(np.int32)[order]
            for one, other in ((first[here], a), (others, b))
        ]
        return SpanningTree(ends[0], ends[1], reach[order], cores[place])


def _basis(numbers: Any) -> tuple[Floats, Floats]:
    """Return orthonormal directions along which objects differ most, and a mean of zero."""
    n, width = numbers.shape
    if width <= _BOUNDS:
        return np.eye(width), np.zeros(width)
    sample = numbers[:: -(-n // _SAMPLE)]
    components = project(sample, _BOUNDS, normalize=False, random_state=0).components
    return np.linalg.qr(components.T)[0].T, np.zeros(width)


def unit_rows(numbers: Any) -> Any:
    """Return rows divided by their lengths; refuse those without a direction."""
    if is_sparse(numbers):
        unit = numbers.astype(np.float64)  # a copy
        row = np.repeat(np.arange(unit.shape[0]), np.diff(unit.indptr))
        most = np.zeros(unit.shape[0])
        np.maximum.at(most, row, np.abs(unit.data))
        _refuse_zeros(most)
        unit.data /= most[row]  # so that squares neither overflow nor vanish
        lengths = np.sqrt(np.bincount(row, unit.data * unit.data, len(most)))
        unit.data /= lengths[row]
        return unit
    rows = np.asarray(numbers, np.float64)
    most = np.abs(rows).max(axis=1, initial=0.0)
    _refuse_zeros(most)
    rows = rows / most[:, None]
    return rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def _refuse_zeros(most: Floats) -> None:
    if not most.all():
        row = int(np.argmin(most > 0))
        raise InputError(f"X: row {row} is all zeros, and has no cosine to others")


@dataclass(frozen=True)
class Reached:
    """The training object that each new object reaches first."""

    objects: Ints
    reach: Floats


def first_reached(
    index: ExactIndex, numbers: Any, cores: Floats, n_core: int, n_jobs: int | None = None
) -> Reached:
    """Return the object that each new one would be merged with first, if it came alone; exact.

    Of several that are reached at once, it is the nearest.
    """
    n_new, n = numbers.shape[0], len(cores)
    objects, reach = np.zeros(n_new, np.int64), np.zeros(n_new)
    todo, k = np.arange(n_new), min(n, 2 * n_core + 8)
    while len(todo):
        distances, found = index.nearest(numbers[todo], k, n_jobs)
        own = distances[:, min(n_core, n + 1) - 2] if n_core > 1 else np.zeros(len(todo))
        reached = np.maximum(np.maximum(distances, cores[found]), own[:, None])
        # Lists are sorted by distance and number: the first of equals is the nearest.
        best = reached.argmin(axis=1)
        rows = np.arange(len(todo))
        objects[todo], reach[todo] = found[rows, best], reached[rows, best]
        # What is not listed is farther than all that is.
        open_ = (reach[todo] > distances[:, -1]) & (k < n)
        todo, k = todo[open_], min(n, 4 * k)
    return Reached(objects, reach)
