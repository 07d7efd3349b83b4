"""The nearest of many objects: proven to be so, or among those that are near on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_number
from tacit.similarity.csr import csr_arrays
from tacit.similarity.neighbors.narrow import Narrowing, narrow_sample
from tacit.similarity.projection.linear import project
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["Nearest", "NeighborIndex", "check_reach"]

_BOUNDS = 6  # coordinates that rule objects out; more of them cost more than they spare
_SAMPLE = 20_000  # objects that say which coordinates do so best; fewer where they are wide
_ROWS = 2048  # objects whose coordinates are found at a time
_TRIED = 256  # queries that say whether fewer numbers should rule out more
_NARROW = 32  # columns that have fewer
# Nanoseconds: of a pair by its columns, of narrow numbers by entries, and of finding their
# components by entries of a square matrix.
_PER_PAIR, _PER_NUMBER, _PER_PRODUCT = 0.008, 3.0, 500.0
_N_PROBES = 256  # objects whose neighbours say how far they are in the projection
_REACHED = 0.995  # fraction of their neighbours that are to be within reach


@dataclass(frozen=True)
class Nearest:
    """The nearest objects of each query, nearest first; of equally near ones, the first."""

    distances: NDArray[np.float64]  # (n_queries, k)
    objects: NDArray[np.int32]  # (n_queries, k): numbers of the objects
    # (n_queries,): how often the search went farther than blocks that touch
    n_widened: NDArray[np.int32]
    isolated: NDArray[np.bool_]  # (n_queries,): whether no object at all was near at first


class NeighborIndex:
    """Objects among which the nearest are to be found.

    Without a grid, they are the nearest of all objects. Objects are kept in small boxes of their
    leading principal components; since a projection of norm 1 brings no two objects farther
    apart, a box that is farther away than the k-th nearest object so far holds
    none of the k nearest, and is passed over. What is left is measured in single precision first,
    and in double precision where that might matter.

    With a grid, they are the nearest of those in the query's block and in blocks that touch it.
    Where these are fewer than k, the search widens to twice as many blocks in each direction, again
    and again. Once there are k, it compares everything that is, in each dimension of the
    projection, within `reach` times the k-th distance. So a grid that is too fine costs a little
    time, and no neighbours. With a reach of 0 what is near is enough; with 1 all neighbours are
    found, if the projection is orthonormal; "auto" is as far as the neighbours of some of the
    objects are from them in the projection, all but 0.5 % of them.

    `numbers` are finite, with sorted indices; `components` made the coordinates of them.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 1.0]])
    >>> nearest = NeighborIndex(X).search(np.array([[0.0, 0.0]]), 3)
    >>> nearest.objects.tolist(), nearest.distances.tolist()
    ([[0, 3, 1]], [[0.0, 1.0, 5.0]])
    """

    def __init__(
        self,
        numbers: Any,
        *,
        grid: Grid | None = None,
        coords: NDArray[np.float64] | None = None,
        components: NDArray[np.float64] | None = None,
        reach: float | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.numbers = numbers
        self.grid = grid
        self.coords = coords
        self.reach = check_reach(reach)
        self._jobs = count_jobs(n_jobs)
        self._reaches: dict[int, float] = {}
        # Fewer numbers of the objects, in a tuple once it is known whether there are such.
        self._narrow: tuple[tuple[Narrowing, _core.NarrowNumbers] | None] | None = None
        self._basis = _bounding_basis(numbers, components)
        self._index  # noqa: B018 -- made now, since it takes the longest

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_index"} | {"_narrow": None}

    @cached_property
    def _index(self) -> _core.NearNeighbours:
        cells = None if self.grid is None or self.coords is None else self.grid.cells(self.coords)
        bounds = _coords(self.numbers, self._basis)
        # Boxes that are small on the grid hold objects of few blocks.
        n_split = bounds.shape[1] if cells is None else min(cells.shape[1], bounds.shape[1])
        width = self.numbers.shape[1]
        return _core.NearNeighbours(
            _kernel_arrays(self.numbers), width, bounds, n_split, cells, self._jobs
        )

    def search(
        self,
        numbers: Any,
        k: int,
        coords: NDArray[np.float64] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Nearest:
        """Return the k nearest objects of each query, numbers of the type of the objects'."""
        k = check_int(k, "k", 1)
        if k > len(self):
            raise InputError(f"k must be at most {len(self)}, the number of objects; got {k}")
        if self.grid is None or coords is None:
            return self._search(numbers, k, None, 0.0, count_jobs(n_jobs))
        return self._search(numbers, k, coords, self.reach_for(k), count_jobs(n_jobs))

    def reach_for(self, k: int) -> float:
        """Return how far the search for k neighbours goes, in distances of the k-th of them."""
        if self.reach != "auto":
            return float(self.reach)
        if k not in self._reaches:
            self._reaches[k] = self._measure_reach(k)
        return self._reaches[k]

    def _measure_reach(self, k: int) -> float:
        assert self.coords is not None
        probes = np.linspace(0, len(self) - 1, min(_N_PROBES, len(self))).astype(np.int64)
        nearest = self._search(self.numbers[probes], min(k + 1, len(self)), None, 0.0, self._jobs)
        itself = nearest.objects == probes[:, None]
        gaps = np.abs(self.coords[nearest.objects] - self.coords[probes][:, None]).max(axis=2)
        farthest = nearest.distances[:, -1:]
        ratios = np.divide(gaps, farthest, out=np.zeros_like(gaps), where=farthest > 0)[~itself]
        return float(np.quantile(ratios, _REACHED)) if ratios.size else 0.0

    def _search(
        self, numbers: Any, k: int, coords: NDArray[np.float64] | None, reach: float, jobs: int
    ) -> Nearest:
        n, tried = numbers.shape[0], 0
        parts: list[Nearest] = []
        if self._may_narrow() and n >= 4 * _TRIED:  # first, a few queries by all their numbers
            tried = _TRIED
            part, n_compared = self._run(numbers[:tried], k, _first(coords, tried), reach, jobs)
            parts.append(part)
            if self._narrow_pays(n_compared * (n - tried) / tried):
                self._narrow = (self._make_narrow(k, jobs),)
        rest = None if coords is None else coords[tried:]
        parts.append(self._run(numbers[tried:], k, rest, reach, jobs)[0])
        nearest = _joined(parts)
        if not np.isfinite(nearest.distances).all():
            row = int(np.argmin(np.isfinite(nearest.distances).all(axis=1)))
            raise InputError(
                f"X: row {row} is too far from what was fitted: beside the distance, all numbers "
                "of that vanish"
            )
        return nearest

    def _may_narrow(self) -> bool:
        """Return whether it is unknown yet if fewer numbers help."""
        return self._narrow is None and not is_sparse(self.numbers) and len(self) > _TRIED

    def _narrow_pays(self, n_compared: float) -> bool:
        """Return whether finding fewer numbers costs little beside so many comparisons."""
        n, d = self.numbers.shape
        rows = len(narrow_sample(self.numbers))
        finding = _PER_NUMBER * n * d + d * d * (rows / 20 + _PER_PRODUCT)
        return bool(d >= _NARROW and n_compared * d * _PER_PAIR > 2 * finding)

    def _make_narrow(self, k: int, jobs: int) -> tuple[Narrowing, _core.NarrowNumbers] | None:
        narrowing = Narrowing.find(self.numbers, k)
        rows = None if narrowing is None else narrowing.rows(self.numbers)
        if narrowing is None or rows is None:
            return None
        farthest = float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))
        return narrowing, self._index.narrow(rows, farthest, jobs)

    def _run(
        self, numbers: Any, k: int, coords: NDArray[np.float64] | None, reach: float, jobs: int
    ) -> tuple[Nearest, int]:
        """Return what is found, and how many pairs were compared."""
        bounds = _coords(numbers, self._basis)
        on_grid: tuple[Any, Any, Any, Any] = (None, None, None, None)
        if coords is not None and self.grid is not None:
            widths = self.grid.widths
            positions = (coords - self.grid.lower) / np.where(widths > 0, widths, 1.0)
            on_grid = (
                self.grid.cells(coords),
                np.ascontiguousarray(positions),
                np.asarray(self.grid.resolution, np.int32),
                widths,
            )
        narrow: tuple[Any, Any, float] = (None, None, 0.0)
        if self._narrow and self._narrow[0] is not None:
            narrowing, narrow_objects = self._narrow[0]
            rows = narrowing.rows(numbers)
            if rows is not None:
                narrow = narrow_objects, rows, narrowing.error
        distances, objects, n_widened, isolated, n_compared = self._index.search(
            _kernel_arrays(numbers), bounds, k, *on_grid, reach, *narrow, jobs
        )
        return Nearest(distances, objects, n_widened, isolated.astype(bool)), n_compared


def _first(coords: NDArray[np.float64] | None, n: int) -> NDArray[np.float64] | None:
    return None if coords is None else coords[:n]


def _joined(parts: list[Nearest]) -> Nearest:
    if len(parts) == 1:
        return parts[0]
    return Nearest(
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.objects for part in parts]),
        np.concatenate([part.n_widened for part in parts]),
        np.concatenate([part.isolated for part in parts]),
    )


def check_reach(reach: Any) -> float | Literal["auto"]:
    """Return `reach`, or say that it must be "auto" or a number that is not negative."""
    if isinstance(reach, str) and reach == "auto":
        return "auto"
    if isinstance(reach, str):
        raise InputError(f'reach must be "auto" or a number of at least 0, got {reach!r}')
    return check_number(reach, "reach", 0)


def _kernel_arrays(numbers: Any) -> Any:
    """Return what the kernel takes of numbers."""
    if not is_sparse(numbers):
        return np.ascontiguousarray(numbers)
    if not numbers.has_sorted_indices:
        numbers = numbers.sorted_indices()
    return csr_arrays(numbers)


def _bounding_basis(numbers: Any, first: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return orthonormal rows that tell objects apart: those given, then principal components."""
    n, d = numbers.shape
    if d <= _BOUNDS:
        basis = np.eye(d)
    else:
        n_rows = _SAMPLE if is_sparse(numbers) else len(narrow_sample(numbers))
        sample = numbers[:: -(-n // n_rows)]
        basis = project(sample, _BOUNDS, normalize=False, random_state=0).components
    if first is not None:
        basis = np.vstack((first, basis))
    return np.linalg.qr(basis.T)[0].T[:_BOUNDS]


def _coords(numbers: Any, basis: NDArray[np.float64]) -> NDArray[np.float64]:
    if is_sparse(numbers):
        return np.ascontiguousarray(numbers @ basis.T, np.float64)
    coords = np.empty((len(numbers), len(basis)))
    for first in range(0, len(numbers), _ROWS):
        np.matmul(numbers[first : first + _ROWS], basis.T, out=coords[first : first + _ROWS])
    return coords
