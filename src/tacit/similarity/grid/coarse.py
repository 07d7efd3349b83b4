"""The coarsest grid that leaves each object so many near ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.similarity.grid.blocks import Blocks, near_blocks
from tacit.similarity.grid.grid import Grid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["coarsest_resolution"]

_FINEST = 1024


def coarsest_resolution(
    coords: NDArray[np.float64], n_near: float, n_entries: float, all_up_to: int, n_jobs: int = 1
) -> int:
    """Return the least resolution at which few enough objects are near.

    That is `n_near` in the mean, and `n_entries` pairs of an object and a near one. Up to so many
    objects it is 1: all pairs are near. It is 1,024 where nothing finer helps.

    >>> import numpy as np
    >>> line = np.linspace(0, 1, 1000)[:, None]
    >>> [coarsest_resolution(line, 100, 1e9, most) for most in (500, 1000)]
    [30, 1]
    """
    n = len(coords)
    if n <= all_up_to:
        return 1
    most = min(n_near * n, n_entries)

    def fits(resolution: int) -> bool:
        grid = Grid.over(coords, resolution)
        blocks = Blocks.of(grid, coords, n_jobs)
        return near_blocks(blocks, blocks, grid).n_entries <= most

    low, high = 2, 4  # at 2 all pairs are near
    while not fits(high) and high < _FINEST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
