"""Records in random order, a round's worth at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.network.structure.columns import NumberSource

__all__ = ["ArrayNumbers", "FileNumbers", "Numbers", "RowDraw"]

_CELLS = 1 << 22  # numbers of a block
_SLICE = 64  # records of a file that are read next to each other in the first rounds


class RowDraw:
    """Draws records without replacement.

    Parameters
    ----------
    n : int
        How many there are.
    generator : numpy.random.Generator
    """

    def __init__(self, n: int, generator: np.random.Generator) -> None:
        self.n = n
        self.n_drawn = 0
        self._generator = generator
        self._drawn = np.zeros(n, np.bool_)

    def more(self, count: int) -> NDArray[np.int64]:
        """Return so many records that were not drawn before, ascending."""
        free = np.flatnonzero(~self._drawn) if self.n_drawn else None
        left = self.n - self.n_drawn
        ranks = self._generator.choice(left, min(count, left), replace=False, shuffle=False)
        ranks.sort()
        rows: NDArray[np.int64] = ranks if free is None else free[ranks]
        self._drawn[rows] = True
        self.n_drawn += len(rows)
        return rows

    def rest(self) -> NDArray[np.int64]:
        """Return all records that were not drawn so far, without drawing them."""
        return np.flatnonzero(~self._drawn)


class Numbers(ABC):
    """Numeric columns that can be sampled."""

    n_records: int

    @abstractmethod
    def more(self, n_total: int) -> NDArray[np.int64]:
        """Draw until about `n_total` records were drawn, and return the new ones."""

    @abstractmethod
    def rest(self) -> NDArray[np.int64]:
        """Return the records that were not drawn."""

    @abstractmethod
    def _read(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some records of some columns, shape (n_columns, n_rows)."""

    def blocks(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield records in blocks: their numbers, and their values column after column."""
        size = max(256, _CELLS // max(len(columns), 1))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            yield part, self._read(part, columns)


class ArrayNumbers(Numbers):
    """Numbers in memory: any record can be drawn.

    Parameters
    ----------
    numbers : array of shape (n_records, n_columns)
    rows : RowDraw
    n_jobs : int
    """

    def __init__(self, numbers: NDArray[Any], rows: RowDraw, n_jobs: int) -> None:
        self.n_records = len(numbers)
        self._numbers = numbers
        self._draw = rows
        self._n_jobs = n_jobs

    def more(self, n_total: int) -> NDArray[np.int64]:
        """Draw until `n_total` records were drawn, and return the new ones."""
        return self._draw.more(n_total - self._draw.n_drawn)

    def rest(self) -> NDArray[np.int64]:
        """Return the records that were not drawn."""
        return self._draw.rest()

    def _read(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        x = self._numbers
        if x.dtype in (np.float32, np.float64) and x.dtype.isnative:
            return _core.gather_columns(x, rows, columns, self._n_jobs)
        return np.ascontiguousarray(x[np.ix_(rows, columns)].T, np.float64)


class FileNumbers(Numbers):
    """Numbers in a file: short slices of neighbouring records are drawn.

    That is as good as a sample of records unless neighbours are alike, as in a sorted file.

    Parameters
    ----------
    source : NumberSource
    generator : numpy.random.Generator
    """

    def __init__(self, source: NumberSource, generator: np.random.Generator) -> None:
        self.n_records = source.n_records
        self._n_drawn = 0
        self._source = source
        starts = [np.arange(first, last, _SLICE) for first, last in source.pieces()]
        ends = [
            np.append(part[1:], last)
            for part, (_, last) in zip(starts, source.pieces(), strict=True)
        ]
        self._firsts = np.array([first for first, _ in source.pieces()])
        self._starts, self._ends = np.concatenate(starts), np.concatenate(ends)
        self._draw = RowDraw(len(self._starts), generator)

    def more(self, n_total: int) -> NDArray[np.int64]:
        """Draw until about `n_total` records were drawn, and return the new ones."""
        share = (n_total - self._n_drawn) / self.n_records
        rows = self._expand(self._draw.more(int(np.ceil(share * len(self._starts)))))
        self._n_drawn += len(rows)
        return rows

    def rest(self) -> NDArray[np.int64]:
        """Return the records that were not drawn."""
        return self._expand(self._draw.rest())

    def _expand(self, slices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the records of some slices."""
        first, sizes = self._starts[slices], (self._ends - self._starts)[slices]
        ends = np.cumsum(sizes)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        rows: NDArray[np.int64] = np.repeat(first, sizes) + within
        return rows

    def _read(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        # Slices that follow each other become one, but not across the file's own stretches.
        breaks = np.flatnonzero((np.diff(rows) != 1) | np.isin(rows[1:], self._firsts)) + 1
        starts = rows[np.concatenate(([0], breaks))]
        stops = rows[np.concatenate((breaks - 1, [len(rows) - 1]))] + 1
        return self._source.gather(starts, stops, columns)
