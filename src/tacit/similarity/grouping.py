"""Groups of objects that are all but identical: one representative for each.

In data with millions of objects, many are so close together that it does not matter which of them
is compared. Objects of the same type in the same part of a block become one, at their centre of
gravity, that counts for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.table.features import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid import Grid

__all__ = ["Groups", "group"]

_MOST_KEYS = 2**62
_MOST_PARTS = 2**31 - 1  # of a block in one dimension; finer parts are not told apart
_MOST_PLACES = 2.0**48  # of parts beside the grid, counted from its border


@dataclass(frozen=True)
class Groups:
    """Representatives, ordered by block, part of the block and type.

    Attributes
    ----------
    labels : int32 array of shape (n,)
        The representative of each object.
    X : array or csr_array of shape (n_groups, d)
        Centres of gravity.
    coords : float64 array of shape (n_groups, p)
        Where these are in the projection.
    types : int32 array of shape (n_groups,)
    weights : float64 array of shape (n_groups,)
        How many objects each represents.
    """

    labels: NDArray[np.int32]
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
    delta: float,
    n_jobs: int | None = None,
) -> Groups:
    """Return representatives of objects that are of the same type and in the same part of a block.

    Parameters
    ----------
    grid : Grid
    coords : float64 array of shape (n, p)
        Where objects are in the grid.
    X : float array or CSR array of shape (n, d)
    types : integer array of shape (n,)
        Only objects of the same type are grouped: their class, or -1 if it is not known.
    delta : float
        From 0 to 1: blocks are cut, from their lower corner on, into parts that are `delta` times
        as wide. 1 leaves them whole, so that a block has one representative of each type. With 0,
        only objects with the same coordinates are grouped.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from tacit.similarity.grid import Grid
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [9.0, 5.0], [0.5, 1.0]])
    >>> groups = group(Grid.over(X, 2), X, X, np.array([0, 0, 0, 1]), delta=1.0)
    >>> groups.labels.tolist(), groups.weights.tolist()
    ([0, 0, 2, 1], [2.0, 1.0, 1.0])
    >>> groups.X.tolist(), groups.types.tolist()
    ([[0.5, 1.0], [0.5, 1.0], [9.0, 5.0]], [0, 1, 0])
    """
    coords = np.ascontiguousarray(coords, np.float64)
    jobs = count_jobs(n_jobs)
    keys = _Keys(grid.keys(coords, jobs))
    for part, n_parts in _parts(grid, coords, _share(delta)):
        keys.append(part, n_parts)
    kinds = np.asarray(types, np.int64)
    lowest = int(kinds.min(initial=0))
    keys.append(kinds - lowest, int(kinds.max(initial=0)) - lowest + 1)
    _, starts, order = _core.sort_blocks(keys.now)
    sizes = np.diff(starts)
    labels = np.empty(len(order), np.int32)
    labels[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Groups(
        labels,
        _centres(X, order, starts, labels, jobs),
        _core.group_means(coords, order, starts, jobs),
        kinds[order[starts[:-1]]].astype(np.int32),
        sizes.astype(np.float64),
    )


def _share(delta: Any) -> float:
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 <= float(delta) <= 1:
        raise InputError(f"delta must be a number from 0 to 1, got {delta!r}")
    return float(delta)


class _Keys:
    """One whole number for each object, made of several; equal if all of them are."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self.now = keys
        self.size = int(keys.max(initial=0)) + 1

    def append(self, digits: NDArray[np.int64], base: int) -> None:
        """Append a digit from 0 to ``base - 1`` to each number."""
        if self.size * base >= _MOST_KEYS:
            # Only their order matters, and there are no more of them than objects.
            self.now, self.size = _ranks(self.now)
        self.now = self.now * base + digits
        self.size *= base


def _ranks(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the places of numbers among those that occur, and how many these are."""
    _, starts, order = _core.sort_blocks(keys)
    sizes = np.diff(starts)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.repeat(np.arange(len(sizes)), sizes)
    return ranks, len(sizes)


def _parts(
    grid: Grid, coords: NDArray[np.float64], delta: float
) -> list[tuple[NDArray[np.int64], int]]:
    """Return digits that tell parts of blocks apart, and how many values each of them has.

    Objects outside the grid belong to the blocks at its border, however far these are: parts of
    the same width go on there.
    """
    outside = (coords < grid.lower) | (coords > grid.upper)
    if delta == 1.0 and not outside.any():
        return []
    if delta * _MOST_PARTS < 1.0:
        # The bits of numbers tell them apart, once there is only one zero.
        return [_ranks((column + 0.0).view(np.int64)) for column in coords.T]
    n_parts = int(np.ceil(1.0 / delta - 1e-9))
    cells, found = grid.cells(coords), []
    for j, resolution in enumerate(grid.resolution):
        span = grid.upper[j] - grid.lower[j]
        out = outside[:, j]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            within = (coords[:, j] - grid.lower[j]) / (span if span > 0 else 1.0) * resolution
            place = np.floor((within - cells[:, j]) / delta)
        own = np.clip(place, 0, n_parts - 1)
        if not out.any():
            found.append((own.astype(np.int64), n_parts))
            continue
        # Far away, rounding would make parts wider: only the same coordinates are together there.
        far = out & ((span == 0) | ~(np.abs(place) < _MOST_PLACES))
        own = np.where(far, coords[:, j], np.where(out, place, own))
        values, ranks = np.unique(own, return_inverse=True)
        found += [(far.astype(np.int64), 2), (ranks.astype(np.int64), len(values))]
    return found


def _centres(
    X: Any,
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    n_jobs: int,
) -> Any:
    if not is_sparse(X):
        numbers = X if X.dtype == np.float32 else np.asarray(X, np.float64)
        return _core.group_means(np.ascontiguousarray(numbers), order, starts, n_jobs)
    n_groups = len(starts) - 1
    if n_groups == len(labels):
        return X[order]
    member = sparse.csr_array((np.ones(len(order), X.dtype), order, starts), (n_groups, len(order)))
    sums = sparse.csr_array(member @ X)
    sums.data /= np.repeat(np.diff(starts), np.diff(sums.indptr))
    sums.sort_indices()
    return sums
