"""Groups of objects that are all but identical: one representative for each.

In data with millions of objects, many are so close together that it does not matter which of them
is compared. Objects of the same type in the same cell of a block become one, at their centroid,
that counts for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.machine import count_jobs
from tacit.parameters import check_number
from tacit.similarity.projection.centred import is_binary
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["Cells", "Groups", "check_group_width", "find_cells", "group"]

_MAX_KEY = 2**62
_MAX_DIVISIONS = 2**31 - 1  # of a block in one dimension; finer ones are not distinguished
_MAX_POSITION = 2.0**48  # of divisions beside the grid, counted from its border


@dataclass(frozen=True)
class Groups:
    """Representatives, ordered by block, cell of the block and type.

    Attributes
    ----------
    labels : int32 array of shape (n,) or None
        The representative of each object; None for objects in partitions, which may be too many.
    X : array or csr_array of shape (n_groups, d)
        Centroids.
    coords : float64 array of shape (n_groups, p)
        Their coordinates in the projection.
    types : int32 array of shape (n_groups,)
    weights : float64 array of shape (n_groups,)
        How many objects each represents.
    """

    labels: NDArray[np.int32] | None
    X: Any
    coords: NDArray[np.float64]
    types: NDArray[np.int32]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.weights)


def group(
    grid: Grid,
    coords: NDArray[np.float64],
    X: Any,
    types: NDArray[Any],
    group_width: float,
    n_jobs: int | None = None,
) -> Groups:
    """Return representatives of objects that are of the same type and in the same cell of a block.

    Types are classes, or -1 where they are not known. Blocks are divided, from their lower corner
    on, into cells that are `group_width` times as wide, from 0 to 1. 1 leaves them undivided, so
    that a block has one representative of each type. With 0, only objects with the same coordinates
    are grouped.

    Examples
    --------
    >>> from tacit.similarity.grid.grid import Grid
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [9.0, 5.0], [0.5, 1.0]])
    >>> groups = group(Grid.over(X, 2), X, X, np.array([0, 0, 0, 1]), group_width=1.0)
    >>> groups.labels.tolist(), groups.weights.tolist()
    ([0, 0, 2, 1], [2.0, 1.0, 1.0])
    >>> groups.X.tolist(), groups.types.tolist()
    ([[0.5, 1.0], [0.5, 1.0], [9.0, 5.0]], [0, 1, 0])
    """
    coords = np.ascontiguousarray(coords, np.float64)
    jobs = count_jobs(n_jobs)
    cells = find_cells(grid, coords, types, check_group_width(group_width), jobs)
    return Groups(
        cells.labels,
        _centroids(X, cells, jobs),
        _core.group_means(coords, cells.order, cells.starts, jobs),
        cells.types,
        cells.sizes.astype(np.float64),
    )


@dataclass(frozen=True)
class Cells:
    """Objects sorted by block, division of the block and type."""

    starts: NDArray[np.int64]  # (n_cells + 1,): where the objects of a cell begin in `order`
    order: NDArray[np.int32]  # (n,)
    types: NDArray[np.int32]  # (n_cells,)
    # (n_cells,): what tells cells apart, most significant first; wherever the objects of a cell
    # are, their digits are the same. Only if they were asked for
    digits: list[NDArray[np.uint64]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many objects there are in each."""
        return np.diff(self.starts)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The cell of each object."""
        labels = np.empty(len(self.order), np.int32)
        labels[self.order] = np.repeat(np.arange(len(self.types), dtype=np.int32), self.sizes)
        return labels

    def sum(self, X: Any) -> Any:
        """Return the sums of the columns of an array or a CSR array, cell by cell."""
        n, shape = len(self.order), (len(self.types), len(self.order))
        sums = sparse.csr_array((np.ones(n, X.dtype), self.order, self.starts), shape) @ X
        if not is_sparse(X):
            return sums
        rows = sparse.csr_array(sums)
        rows.sort_indices()
        return rows


def find_cells(
    grid: Grid,
    coords: NDArray[np.float64],
    types: NDArray[Any],
    group_width: float,
    n_jobs: int,
    *,
    with_digits: bool = False,
) -> Cells:
    """Sort objects into cells of blocks; see :func:`group`.

    `with_digits` says what tells cells apart, for those of other objects to be compared.
    """
    blocks = grid.keys(coords, n_jobs)
    outside = (coords < grid.lower) | (coords > grid.upper)
    divisions = _divisions(grid, coords, group_width, outside)
    kinds = np.asarray(types, np.int64)
    lowest = int(kinds.min(initial=0))
    keys = _Keys(blocks)
    for division in divisions:
        for digit, n_digits in division.digits():
            keys.append(digit, n_digits)
    keys.append(kinds - lowest, int(kinds.max(initial=0)) - lowest + 1)
    _, starts, order = _core.sort_blocks(keys.now)
    first = order[starts[:-1]]
    digits: list[NDArray[np.uint64]] = []
    if with_digits:
        each = [
            blocks,
            *(digit for division in divisions for digit in division.global_digits()),
            kinds + 1,
        ]
        digits = [digit[first].astype(np.uint64) for digit in each]
    return Cells(starts, order, kinds[first].astype(np.int32), digits)


def check_group_width(group_width: Any) -> float:
    """Return a number from 0 to 1, or say that `group_width` must be one."""
    return check_number(group_width, "group_width", 0, 1)


class _Keys:
    """One whole number for each object, made of several; equal if all of them are."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self.now = keys
        self.size = int(keys.max(initial=0)) + 1

    def append(self, digits: NDArray[np.int64], base: int) -> None:
        """Append a digit from 0 to ``base - 1`` to each number."""
        if self.size * base >= _MAX_KEY:
            # Only their order matters, and there are no more of them than objects.
            self.now, self.size = _ranks(self.now)
        self.now = self.now * base + digits
        self.size *= base


def _ranks(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the ranks of numbers among those that occur, and how many these are."""
    _, starts, order = _core.sort_blocks(keys)
    sizes = np.diff(starts)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.repeat(np.arange(len(sizes)), sizes)
    return ranks, len(sizes)


@dataclass(frozen=True)
class _Division:
    """Where objects are within their blocks, in one dimension."""

    # (n,): the same for objects of the same division: numbers, or (int64) the bits of numbers
    positions: NDArray[Any]
    # (n,): objects so far from the grid that rounding would make divisions wider there: only the
    # same coordinates are together
    far: NDArray[np.bool_]
    n: int | None  # positions are whole numbers below this one, if it is given

    def digits(self) -> list[tuple[NDArray[np.int64], int]]:
        """Return numbers that distinguish divisions, and how many values each of them has."""
        if self.n is not None:
            return [(self.positions.astype(np.int64), self.n)] if self.n > 1 else []
        far = [(self.far.astype(np.int64), 2)] if self.far.any() else []
        return [*far, _ranks(self.global_digits()[1].view(np.int64))]

    def global_digits(self) -> list[NDArray[np.uint64]]:
        """Return numbers that distinguish divisions from those of other objects, too."""
        if self.n is None and self.positions.dtype == np.int64:
            positions = self.positions.view(np.uint64)
        else:
            bits = (self.positions.astype(np.float64) + 0.0).view(np.uint64)
            sign = np.uint64(1 << 63)
            positions = np.where(bits & sign, ~bits, bits | sign)  # in the order of the numbers
        return [self.far.astype(np.uint64), positions]


def _divisions(
    grid: Grid, coords: NDArray[np.float64], group_width: float, outside: NDArray[np.bool_]
) -> list[_Division]:
    """Return which division of its block each object is in, dimension by dimension.

    Objects outside the grid belong to the blocks at its border, however far these are:
    divisions of the same width go on there.
    """
    never = np.zeros(len(coords), np.bool_)
    if group_width * _MAX_DIVISIONS < 1.0:
        # The bits of numbers tell them apart, once there is only one zero.
        return [_Division((column + 0.0).view(np.int64), never, None) for column in coords.T]
    if group_width == 1.0 and not outside.any():
        return [_Division(np.zeros(len(coords), np.int64), never, 1)] * grid.n_dimensions
    n_divisions = int(np.ceil(1.0 / group_width - 1e-9))
    cells, divisions = grid.cells(coords), []
    for j, resolution in enumerate(grid.resolution):
        span = grid.upper[j] - grid.lower[j]
        out = outside[:, j]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            within = (coords[:, j] - grid.lower[j]) / (span if span > 0 else 1.0) * resolution
            unbounded = np.floor((within - cells[:, j]) / group_width)
        position = np.clip(unbounded, 0, n_divisions - 1)
        if not out.any():
            divisions.append(_Division(position, never, n_divisions))
            continue
        far = out & ((span == 0) | ~(np.abs(unbounded) < _MAX_POSITION))
        position = np.where(far, coords[:, j], np.where(out, unbounded, position))
        divisions.append(_Division(position, far, None))
    return divisions


def _centroids(X: Any, cells: Cells, n_jobs: int) -> Any:
    if is_sparse(X):
        if len(cells.types) == len(cells.order):
            return X[cells.order]
        sums = cells.sum(X)
        sums.data /= np.repeat(cells.sizes, np.diff(sums.indptr))
        return sums
    if is_binary(X):  # sums are exact, whoever adds them up
        return (cells.sum(X) / cells.sizes[:, None]).astype(X.dtype, copy=False)
    numbers = X if X.dtype == np.float32 else np.asarray(X, np.float64)
    return _core.group_means(np.ascontiguousarray(numbers), cells.order, cells.starts, n_jobs)
