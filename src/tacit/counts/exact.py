"""Sums of weights without rounding, so that no count depends on defaults, order or partitions.

A weight is cut into digits of 26 bits, at positions that are the same for all weights. Each digit
is counted for itself, as a whole number; so are differences. The sum of all digits is rounded once,
when somebody looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit.counts.records import Counts, StoredRecords, Subset

__all__ = ["Exact", "ExactCounts", "combine", "count_digits", "rounded", "total_weight"]

_BITS = 26  # a double holds the sum of so many bits of 2²⁷ records
_CHUNK = 1 << 18  # cells to round at a time


@dataclass(frozen=True)
class Exact:
    """Σ digits[p] · 2^(26 p): whole numbers, or arrays or sparse arrays of them, by position.

    >>> tenth = Exact.sum_of(np.array([0.1]))
    >>> three = tenth + tenth + tenth
    >>> float(three.rounded()), three == Exact.sum_of(np.array([0.1, 0.1, 0.1]))
    (0.30000000000000004, True)
    """

    digits: dict[int, Any]  # int64

    @staticmethod
    def sum_of(weights: NDArray[np.float64]) -> Exact:
        """Return the sum of weights."""
        return Exact({p: np.int64(digit.sum()) for p, digit in _cut(weights)})

    def __add__(self, other: Exact) -> Exact:
        """Return the sum."""
        positions = sorted(self.digits.keys() | other.digits.keys())
        return Exact({p: self.at(p) + other.at(p) for p in positions})

    def at(self, position: int) -> Any:
        """Return the digits at a position: zeros where there are none."""
        if position in self.digits:
            return self.digits[position]
        return 0 * next(iter(self.digits.values()))

    def map(self, function: Callable[[Any], Any]) -> Exact:
        """Return what a linear function makes of the numbers."""
        return Exact({p: function(digit) for p, digit in self.digits.items()})

    def rounded(self) -> Any:
        """Return the nearest floats."""
        first = next(iter(self.digits.values()))
        if not hasattr(first, "toarray"):
            return _round({p: np.asarray(x) for p, x in self.digits.items()})
        whole = sum(self.digits.values(), 0 * first).tocsr()  # all cells that any digit has
        whole.sort_indices()
        each = {p: _at_cells(whole, digit) for p, digit in self.digits.items()}
        whole.data = whole.data.astype(np.float64)
        result = type(whole)((_round(each), whole.indices, whole.indptr), whole.shape)
        result.has_canonical_format = True
        return result


ExactCounts: TypeAlias = "Exact | Counts"  # of weights, or of records


def _cut(weights: NDArray[np.float64]) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the digits of weights that are not all zero, the highest first, and their positions."""
    rest = np.array(weights, np.float64)
    if not rest.any():
        yield 0, rest
    while rest.any():
        position = (int(np.frexp(rest.max())[1]) - 1) // _BITS
        digit = np.floor(_shift(rest, -_BITS * position))
        yield position, digit
        rest -= _shift(digit, _BITS * position)


def _shift(numbers: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """Return numbers · 2^power; to multiply is quicker than ``ldexp``, as long as there is one."""
    return numbers * 2.0**power if abs(power) < 1000 else np.ldexp(numbers, power)


def count_digits(
    records: StoredRecords, chosen: Subset, count: Callable[[_core.Records], Any]
) -> ExactCounts:
    """Return what a kernel counts of the chosen records: by weight, digit by digit."""
    given = (records.indptr, records.values, records.schema.n_values, chosen)
    if records.weights is None:
        counts: Counts = count(_core.Records(*given, None))
        return counts
    weights = records.weights
    if chosen is not None:  # digits that no chosen record has need not be counted
        weights = np.zeros_like(weights)
        weights[chosen] = records.weights[chosen]
    return Exact({p: _whole(count(_core.Records(*given, digit))) for p, digit in _cut(weights)})


def _whole(counts: Any) -> Any:
    return counts.astype(np.int64)


def combine(function: Callable[..., Any], *parts: Any) -> Any:
    """Return what a linear function makes of counts: of each digit, if they are of weights."""
    if not any(isinstance(part, Exact) for part in parts):
        return function(*parts)
    positions = sorted({p for part in parts for p in part.digits})
    return Exact({p: function(*(part.at(p) for part in parts)) for p in positions})


def rounded(counts: Any) -> Any:
    """Return counts of records as they are, and those of weights as the nearest floats."""
    return counts.rounded() if isinstance(counts, Exact) else counts


def total_weight(records: StoredRecords, chosen: Subset) -> Exact | int:
    """Return the (weighted) number of the chosen records."""
    if records.weights is None:
        return records.n_records if chosen is None else len(chosen)
    return Exact.sum_of(records.weights if chosen is None else records.weights[chosen])


def _at_cells(whole: Any, digit: Any) -> NDArray[np.int64]:
    """Return the numbers of a sparse array at the cells that another one stores."""
    digit = digit.tocsr(copy=True)
    digit.eliminate_zeros()
    n = whole.shape[1]
    cells, held = (
        np.repeat(np.arange(x.shape[0], dtype=np.int64), np.diff(x.indptr)) * n + x.indices
        for x in (whole, digit)
    )
    numbers = np.zeros(len(cells), np.int64)
    numbers[np.searchsorted(cells, held)] = digit.data
    return numbers


def _round(digits: dict[int, NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return Σ digits[p] · 2^(26 p), rounded once; digits may be beyond 26 bits, not below 0."""
    lowest, highest = min(digits), max(digits)
    shape = next(iter(digits.values())).shape
    flat = {p: digit.reshape(-1) for p, digit in digits.items()}
    result = np.empty(int(np.prod(shape, dtype=np.int64)))
    for begin in range(0, len(result), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        rows = np.zeros((max(highest - lowest + 1, 3), len(result[part])), np.int64)
        for position, digit in flat.items():
            rows[position - lowest] = digit[part]
        simple = len(rows) == 3 and rows[2].max() < 2**_BITS and rows[:2].max() < 2**52
        numbers, powers = (_round_three if simple else _round_all)(rows)
        result[part] = np.ldexp(numbers, powers + _BITS * lowest)
    return result.reshape(shape)


def _round_three(rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], int]:
    """Round where the two higher digits fit into a double, so that only one sum is rounded."""
    high = (rows[2] << _BITS) + rows[1]
    return np.ldexp(high.astype(np.float64), _BITS) + rows[0], 0


def _round_all(rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Round by four digits from the highest on, and by whether there is anything below them."""
    below = 4  # positions of zeros, so that there are always as many
    rows = np.concatenate((np.zeros((below, rows.shape[1]), np.int64), rows, 0 * rows[:2]))
    for k in range(below, len(rows) - 1):  # what is beyond 26 bits is carried on
        rows[k + 1] += rows[k] >> _BITS
        rows[k] &= 2**_BITS - 1
    filled = rows != 0
    filled[below] = True
    top = len(rows) - 1 - np.argmax(filled[::-1], axis=0)
    cells = np.arange(rows.shape[1])
    first, second, third, fourth = (rows[top - k, cells] for k in range(4))
    left = np.cumsum(rows != 0, axis=0)[top - 4, cells] > 0
    low = ((third << _BITS) + fourth) | left  # an odd last bit says that there is more
    high = ((first << _BITS) + second).astype(np.float64)
    return np.ldexp(high, 2 * _BITS) + low, _BITS * (top - below - 3)
