"""Fewer numbers than objects have, which say of most that they are too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Narrowing", "narrow_sample"]

_ROWS = 1024  # at a time, so that they stay in the cache
_SAMPLE = 1 << 20  # numbers that say what the principal components are
_MOST_ROWS, _LEAST_ROWS = 16_384, 2_048  # which hold them
_N_PROBES = 128  # objects that say what is too far
_WIDTHS = (8, 16, 32, 48, 64, 96, 128, 192)
_LARGEST, _SMALLEST = 1e100, 1e-100  # whose squares say something
# In cycles: of a pair besides its numbers (of which 32 take one), and of one distance.
_PAIR, _DISTANCE = 8, 200
_GAIN = 0.7  # of the time; it takes as much to be worth it


@dataclass(frozen=True)
class Narrowing:
    """Leading principal components, and the length of what they leave of a row.

    No two such rows are farther apart than the rows that they are made of: ‖x - y‖² is ‖Px - Py‖²
    plus the square of what P leaves of the difference, whose length is at least the difference of
    the lengths.
    """

    mean: NDArray[np.float64]
    components: NDArray[np.float64]  # (p, d), orthonormal

    @classmethod
    def find(cls, numbers: NDArray[Any], k: int) -> Narrowing | None:
        """Return one that makes a search faster, or None."""
        sample = narrow_sample(numbers)
        most = float(np.abs(sample).max(initial=0.0))
        if not _SMALLEST < most < _LARGEST:
            return None
        mean = sample.mean(axis=0)
        sample = sample - mean  # which may be a view of the numbers themselves
        d = sample.shape[1]
        widths = [p for p in _WIDTHS if 2 * p <= d]
        first = max(d - widths[-1], 0)
        directions = linalg.eigh(sample.T @ sample, subset_by_index=(first, d - 1))[1]
        components = np.ascontiguousarray(directions[:, ::-1].T)
        width = _best_width(sample, components, widths, k / len(numbers))
        return None if width is None else cls(mean, components[:width])

    @property
    def error(self) -> float:
        """What rounding can add to a distance, as a part of the norms of both rows.

        The square of the last number is a difference of sums, each off by less than 4 d (√p + 1)
        units of rounding times the squared norm.
        """
        p, d = self.components.shape
        products = self.components @ self.components.T
        off = float(np.abs(products - np.eye(p)).sum(axis=1).max())
        return float(np.sqrt(32 * d * (np.sqrt(p) + 1) * 2.0**-53 + 2 * off))

    def rows(self, numbers: NDArray[Any]) -> NDArray[np.float64] | None:
        """Return (n, p + 1) numbers; None if some are too large for that."""
        n, p = len(numbers), len(self.components)
        narrow = np.empty((n, p + 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, n, _ROWS):
                rows = numbers[first : first + _ROWS] - self.mean
                part = narrow[first : first + _ROWS]
                np.matmul(rows, self.components.T, out=part[:, :p])
                part[:, p] = _left(rows, part[:, :p])
        return narrow if float(np.abs(narrow).max(initial=0.0)) < _LARGEST else None


def narrow_sample(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return evenly spaced rows, fewer of them where they are wide."""
    n, d = numbers.shape
    n_rows = min(_MOST_ROWS, max(_LEAST_ROWS, _SAMPLE // d))
    return np.asarray(numbers[:: -(-n // n_rows)], np.float64)


def _left(rows: NDArray[np.float64], narrow: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", narrow, narrow)
    lengths: NDArray[np.float64] = np.sqrt(np.maximum(squares, 0.0))
    return lengths


def _best_width(
    sample: NDArray[np.float64],
    components: NDArray[np.float64],
    widths: list[int],
    part: float,
) -> int | None:
    """Return with how many components a search costs least, if that is little enough.

    As far as a part of the sample is from a probe, so far a search must look.
    """
    m, d = sample.shape
    probes = sample[:: -(-m // _N_PROBES)]
    coords = sample @ components.T
    at = probes @ components.T
    squares = _squares(probes, sample)
    rank = min(max(1, round(part * m)), m - 1)  # the probe itself is the first
    limits = np.partition(squares, rank, axis=1)[:, rank : rank + 1]
    best, least = None, _GAIN * (d + _PAIR) / 32
    for p in widths:
        near = _squares(at[:, :p], coords[:, :p])
        gaps = _left(probes, at[:, :p])[:, None] - _left(sample, coords[:, :p])
        survivors = float((near + gaps * gaps <= limits).mean())
        cost = (p + 1 + _PAIR) / 32 + survivors * (_DISTANCE + d / 4)
        if cost < least:
            best, least = p, cost
    return best


def _squares(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b)
    squares: NDArray[np.float64] = norms - 2 * (a @ b.T)
    return squares
