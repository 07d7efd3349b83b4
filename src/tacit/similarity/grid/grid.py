"""A grid over projected objects: which block an object is in, and which blocks touch.

Only blocks that hold an object exist, so that a resolution of a million costs what one of ten does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

__all__ = ["MAX_DIMENSIONS", "Grid"]

MAX_DIMENSIONS = 4
_MAX_CELLS = 2**62  # the number of a block is a 64-bit integer
_MAX_INTERVALS = 2**31 - 3  # that of an interval, and of those beside it, a 32-bit one


@dataclass(frozen=True)
class Grid:
    """Intervals of equal length in each dimension."""

    # (n_dimensions,): where the first interval begins and the last one ends. What lies outside
    # belongs to the interval at the end
    lower: Floats
    upper: Floats
    resolution: tuple[int, ...]  # how many intervals there are in each dimension

    @classmethod
    def over(cls, coords: Floats, resolution: int | Sequence[int]) -> Grid:
        """Return the grid that just holds all objects."""
        n_dimensions = coords.shape[1]
        if not 1 <= n_dimensions <= MAX_DIMENSIONS:
            raise InputError(f"n_dimensions must be from 1 to {MAX_DIMENSIONS}, got {n_dimensions}")
        each = (resolution,) * n_dimensions if np.ndim(resolution) == 0 else tuple(resolution)  # type: ignore[arg-type]
        if len(each) != n_dimensions:
            raise InputError(
                f"resolution must be one number, or {n_dimensions}: one for each dimension; "
                f"got {len(each)}"
            )
        checked = tuple(check_int(one, "resolution", 1) for one in each)
        if max(checked) > _MAX_INTERVALS:
            raise InputError(
                f"resolution must be at most {_MAX_INTERVALS} in each dimension, got {max(checked)}"
            )
        cells = 1
        for one in checked:
            cells *= one + 2
        if cells >= _MAX_CELLS:
            raise InputError(f"resolution: a grid of {' x '.join(map(str, checked))} is too fine")
        return cls(coords.min(axis=0), coords.max(axis=0), checked)

    @property
    def n_dimensions(self) -> int:
        """How many dimensions there are."""
        return len(self.resolution)

    @cached_property
    def widths(self) -> Floats:
        """Length of an interval in each dimension."""
        width: Floats = (self.upper - self.lower) / np.asarray(self.resolution)
        return width

    def cells(self, coords: Floats) -> NDArray[np.int32]:
        """Return the interval of each object in each dimension, from 0 on."""
        return _core.grid_cells(*self.box(coords), 1)

    def keys(self, coords: Floats, n_jobs: int = 1) -> Ints:
        """Return the number of the block of each object."""
        return _core.grid_keys(*self.box(coords), n_jobs)

    def box(self, coords: Floats) -> tuple[Floats, Floats, Floats, Ints]:
        """Return objects, and the grid as the kernels take it."""
        return (
            np.ascontiguousarray(coords, np.float64),
            np.ascontiguousarray(self.lower, np.float64),
            np.ascontiguousarray(self.upper, np.float64),
            np.asarray(self.resolution, np.int64),
        )
