"""Objects sorted by block, and for each block the objects that are near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["Blocks", "NearRanges", "near_blocks", "split_blocks"]

_MAX_BITS = 62  # of a block's number and the position within the block
_MAX_CUTS = 12


@dataclass(frozen=True)
class Blocks:
    """The blocks that hold at least one object, in the order of their numbers."""

    keys: Ints  # (n_blocks,): numbers of blocks, ascending
    starts: Ints  # (n_blocks + 1,): where the objects of a block begin in `order`
    order: NDArray[np.int32]  # (n_objects,): objects by block; within a block as they are numbered
    # (n_blocks,): how often the block was cut into halves, where crowded blocks are split.
    # Divisions of a block have its number
    levels: NDArray[np.int8] | None = None

    @classmethod
    def of(cls, grid: Grid, coords: Floats, n_jobs: int = 1) -> Blocks:
        """Sort objects by block."""
        return cls(*_core.sort_blocks(grid.keys(coords, n_jobs)))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def sizes(self) -> Ints:
        """How many objects each block holds."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class NearRanges:
    """Which objects are near the objects of each block.

    Near the objects of block ``b`` of `rows` are ``columns.order[first[r]:last[r]]`` for each ``r``
    from ``pointer[b]`` up to ``pointer[b + 1]``.
    """

    rows: Blocks
    columns: Blocks
    pointer: Ints
    first: Ints
    last: Ints

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """What the kernels take."""
        rows, columns = self.rows, self.columns
        return rows.starts, rows.order, self.pointer, self.first, self.last, columns.order

    @property
    def counts(self) -> Ints:
        """How many objects are near each block of `rows`."""
        of_range = np.append(0, np.cumsum(self.last - self.first))
        counts: Ints = of_range[self.pointer[1:]] - of_range[self.pointer[:-1]]
        return counts

    @property
    def n_entries(self) -> int:
        """How many combinations of a row and a near column there are."""
        return int(self.rows.sizes @ self.counts)


def near_blocks(rows: Blocks, columns: Blocks, grid: Grid) -> NearRanges:
    """Find the objects of `columns` in the same block as those of `rows`, or next to it."""
    resolution = np.asarray(grid.resolution, np.int64)
    return NearRanges(
        rows, columns, *_core.near_ranges(rows.keys, columns.keys, columns.starts, resolution)
    )


def split_blocks(grid: Grid, coords: Floats, max_objects: int) -> NearRanges:
    """Sort objects by block, and cut blocks with more than `max_objects` until none is left.

    Blocks of any size are near if they touch. So every pair of the plain grid stays whose
    projections are closer, in each dimension, than the smaller of their blocks is wide.
    """
    cells = 1
    for one in grid.resolution:
        cells *= one + 2
    depth = min(_MAX_CUTS, (_MAX_BITS - cells.bit_length()) // grid.n_dimensions)
    keys, starts, order, levels, *ranges = _core.split_blocks(*grid.box(coords), max_objects, depth)
    blocks = Blocks(keys, starts, order, levels)
    return NearRanges(blocks, blocks, *ranges)
