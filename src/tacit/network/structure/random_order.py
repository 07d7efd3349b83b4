"""Records in random order, a round's worth at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.network.structure.columns import NumberSource

__all__ = ["ArrayNumbers", "FileNumbers", "Numbers", "RandomOrder", "RowDraw", "draw_key"]

_CELLS = 1 << 22  # numbers of a block
_LEAST_BITS = 8  # halves of fewer bits could not be mixed well
_ROUNDS = 8  # of the network that makes a random order
_STRETCH = 1 << 15  # numbers that are put in order together: they stay in the cache
_SLICE = 64  # records of a file that are read next to each other in the first rounds


@dataclass(frozen=True)
class RandomOrder:
    """The numbers 0 … n − 1 in an order that looks random, without a list of them.

    The number at a position, and the position of a number, are worked out from the key alone, by a
    Feistel network over the next power of two; what falls beyond n goes through it again. So
    whoever holds some of the records knows which of them come first, and nobody needs to know all.

    Examples
    --------
    >>> order = RandomOrder(1000, 7)
    >>> some = order.numbers(0, 5)
    >>> order.positions(some).tolist()
    [0, 1, 2, 3, 4]
    """

    n: int  # at least 1
    key: int  # below 2⁶⁴; another key is another order

    def numbers(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return what is at the positions from `start` to `stop`."""
        return self._each(np.arange(start, stop, dtype=np.uint64), range(_ROUNDS))

    def positions(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of some numbers."""
        return self._each(numbers.astype(np.uint64), range(_ROUNDS)[::-1])

    def within(self, first: int, last: int, start: int, stop: int) -> NDArray[np.int64]:
        """Return which numbers from `first` to `last` are at positions from `start` to `stop`.

        They ascend. The work is that of the shorter of the two ranges.
        """
        if stop - start < last - first:
            rows = self.numbers(start, stop)
            rows = rows[(rows >= first) & (rows < last)]
            rows.sort()
            return rows
        positions = self.positions(np.arange(first, last))
        return first + np.flatnonzero((positions >= start) & (positions < stop))

    def _each(self, x: NDArray[np.uint64], rounds: range) -> NDArray[np.int64]:
        for begin in range(0, len(x), _STRETCH):
            part = x[begin : begin + _STRETCH]
            part[:] = self._mix(part, rounds)
            beyond = np.flatnonzero(part >= self.n)
            while len(beyond):
                part[beyond] = self._mix(part[beyond], rounds)
                beyond = beyond[part[beyond] >= self.n]
        return x.view(np.int64)

    def _mix(self, x: NDArray[np.uint64], rounds: range) -> NDArray[np.uint64]:
        bits = max(_LEAST_BITS, (self.n - 1).bit_length())
        low = np.uint64(bits // 2)
        masks = np.uint64(2 ** (bits - bits // 2) - 1), np.uint64(2 ** (bits // 2) - 1)
        halves = [x >> low, x & masks[1]]
        for k in rounds:
            changed, other = k % 2, 1 - k % 2
            mixed = _mixed(halves[other], self.key, k)
            halves[changed] = halves[changed] ^ (mixed & masks[changed])
        return halves[0] << low | halves[1]


def _mixed(x: NDArray[np.uint64], key: int, k: int) -> NDArray[np.uint64]:
    """Mix numbers with a key and the number of a round (after SplitMix64)."""
    step = (key + (k + 1) * 0x9E3779B97F4A7C15) % 2**64
    y: NDArray[np.uint64] = (x + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) ^ np.uint64(step)
    y ^= y >> np.uint64(29)
    y *= np.uint64(0x94D049BB133111EB)
    return y >> np.uint64(32)


class RowDraw:
    """Draws records without replacement."""

    def __init__(self, n: int, generator: np.random.Generator) -> None:
        self.n = n
        self.n_drawn = 0
        self._order = RandomOrder(n, draw_key(generator))
        self._drawn = np.zeros(n, np.bool_)

    def more(self, count: int) -> NDArray[np.int64]:
        """Return so many records that were not drawn before, ascending."""
        rows = self._order.numbers(self.n_drawn, min(self.n_drawn + count, self.n))
        rows.sort()
        self._drawn[rows] = True
        self.n_drawn += len(rows)
        return rows

    def rest(self) -> NDArray[np.int64]:
        """Return all records that were not drawn so far, without drawing them."""
        return np.flatnonzero(~self._drawn)


def draw_key(generator: np.random.Generator) -> int:
    """Return a key for a random order."""
    return int(generator.integers(2**63))


class Numbers(ABC):
    """Numeric columns that can be sampled."""

    n_records: int
    slice_size = 1  # how many neighbouring records are drawn together

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
    """Numbers in memory: any record can be drawn."""

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
    """

    slice_size = _SLICE

    def __init__(self, source: NumberSource, generator: np.random.Generator) -> None:
        self.n_records = source.n_records
        self._n_drawn = 0
        self._source = source
        starts = [np.arange(first, last, _SLICE) for first, last in source.chunks()]
        ends = [
            np.append(part[1:], last)
            for part, (_, last) in zip(starts, source.chunks(), strict=True)
        ]
        self._firsts = np.array([first for first, _ in source.chunks()])
        self._starts, self._ends = np.concatenate(starts), np.concatenate(ends)
        self._draw = RowDraw(len(self._starts), generator)

    def more(self, n_total: int) -> NDArray[np.int64]:
        """Draw until about `n_total` records were drawn, and return the new ones."""
        fraction = (n_total - self._n_drawn) / self.n_records
        rows = self._expand(self._draw.more(int(np.ceil(fraction * len(self._starts)))))
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
        # Slices that follow each other become one, but not across the file's chunks.
        breaks = np.flatnonzero((np.diff(rows) != 1) | np.isin(rows[1:], self._firsts)) + 1
        starts = rows[np.concatenate(([0], breaks))]
        stops = rows[np.concatenate((breaks - 1, [len(rows) - 1]))] + 1
        return self._source.gather(starts, stops, columns)
