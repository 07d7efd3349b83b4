"""How fine a grid should be, and what a graph of near pairs would take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.machine import human_bytes
from tacit.plot.html import Result

__all__ = ["Forecast", "choose_n_dimensions", "choose_resolution"]

_MANY = 500_000  # objects, from which on two dimensions are enough


def choose_n_dimensions(n_objects: int) -> int:
    """Return the number of dimensions that Hochbaum and Baumann recommend.

    >>> choose_n_dimensions(20_000), choose_n_dimensions(581_012)
    (3, 2)
    """
    return 3 if n_objects <= _MANY else 2


def choose_resolution(n_objects: int) -> int:
    """Return a resolution within the ranges that Hochbaum and Baumann recommend.

    From 20 to 50 up to a hundred thousand objects, to 600 up to a million, then more.

    >>> [choose_resolution(n) for n in (1_000, 20_000, 100_000, 581_012, 4_000_000)]
    [20, 26, 50, 334, 1200]
    """
    logs = np.log([1e4, 1e5, 1e6])
    if n_objects > 1_000_000:
        return round(600 * float(np.sqrt(n_objects / 1e6)))
    return round(float(np.exp(np.interp(np.log(n_objects), logs, np.log([20.0, 50.0, 600.0])))))


@dataclass(frozen=True)
class Forecast(Result):
    """What a graph of near pairs would be, known before it is made.

    Attributes
    ----------
    n_blocks : int
        Blocks that hold an object.
    n_pairs : int
        Pairs of near objects, each counted once.
    density : float
        Fraction of all pairs that are near.
    n_bytes : int
        Memory of the graph with both triangles and 64-bit similarities.
    """

    n_blocks: int
    n_pairs: int
    density: float
    n_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.n_pairs:,} pairs in {self.n_blocks:,} blocks, {self.density:.3%} of all, "
            f"{human_bytes(self.n_bytes)}"
        )
