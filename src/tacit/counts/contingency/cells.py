"""Cell numbers: the index of a combination of codes in a table of counts.

Cells are numbered in C order, the last column fastest. No array here has an entry for each
cell: there may be up to 2**62 of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InputError
from tacit.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.counts.records import Counts
    from tacit.schema import Column

__all__ = [
    "MAX_CELLS",
    "MAX_COUNT",
    "Cells",
    "Groups",
    "capped",
    "check_cells",
    "codes_of",
    "group_totals",
    "number_of",
    "renumber",
    "resolve",
    "resolve_each",
    "strides_of",
]

Cells: TypeAlias = NDArray[np.int64]

MAX_CELLS = 2**62
MAX_COUNT = 2**61  # an upper bound stops here: the sum of two is still an integer


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return how far apart neighbouring codes of each column are.

    >>> strides_of((2, 3, 5))
    [15, 5, 1]
    """
    strides = [1]
    for arity in reversed(shape[1:]):
        strides.append(strides[-1] * arity)
    return strides[::-1]


def check_cells(shape: Sequence[int], argument: str) -> int:
    """Return the number of cells, or refuse what cannot be numbered."""
    n_cells = math.prod(shape)
    if n_cells > MAX_CELLS:
        raise InputError(f"{argument}: {n_cells:,} cells are more than can be numbered (2**62)")
    return n_cells


def codes_of(cells: Cells, shape: Sequence[int], position: int) -> Cells:
    """Return the code that one column has in each cell."""
    stride = math.prod(shape[position + 1 :])
    codes: Cells = cells // stride
    return codes % shape[position] if position else codes


def number_of(codes: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return the cell of a code (or of an array of codes) for each column."""
    return sum(code * step for code, step in zip(codes, strides_of(shape), strict=True))


def renumber(cells: Cells, shape: Sequence[int], positions: Sequence[int]) -> Cells:
    """Return the cells of the table that has only these columns, in this order."""
    if list(positions) == list(range(len(positions))):  # the last columns go: the rest is in front
        return cells // math.prod(shape[len(positions) :])
    codes = [codes_of(cells, shape, position) for position in positions]
    numbers: Cells = number_of(codes, [shape[position] for position in positions])
    return numbers


class Groups:
    """Equal numbers, brought together: the different `numbers`, ascending, and their `sizes`."""

    def __init__(self, numbers: Cells) -> None:
        if len(numbers) == 0 or bool((numbers[1:] >= numbers[:-1]).all()):
            self._order = None
        else:
            self._order = np.argsort(numbers, kind="stable")
            numbers = numbers[self._order]
        first = np.ones(len(numbers), np.bool_)
        np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
        self._starts = np.flatnonzero(first)
        self.numbers = numbers[self._starts]
        self.sizes: Cells = np.diff(self._starts, append=len(numbers))

    def add_up(self, values: Counts) -> Counts:
        """Return the sum of the values of each group."""
        if not len(self._starts):
            return values[:0]
        ordered = values if self._order is None else values[self._order]
        sums: Counts = np.add.reduceat(ordered, self._starts)
        return sums

    def spread(self, values: Counts) -> Counts:
        """Return, in the original order, the value of each number's group."""
        spread = np.repeat(values, self.sizes)
        if self._order is None:
            return spread
        result = np.empty_like(spread)
        result[self._order] = spread
        return result


def group_totals(numbers: Cells, counts: Counts) -> tuple[Counts, int]:
    """Return the total of the group that each cell is in, and how many groups there are."""
    groups = Groups(numbers)
    return groups.spread(groups.add_up(counts)), len(groups.numbers)


def capped(add: Callable[..., Counts], *uppers: Counts) -> Counts:
    """Return sums of upper bounds; what an integer cannot hold stops at 2**61."""
    sums = add(*uppers)
    if not np.issubdtype(sums.dtype, np.integer):
        return sums
    rough = add(*(upper.astype(np.float64) for upper in uppers))
    return np.where(rough < MAX_COUNT, sums, MAX_COUNT)


def resolve(columns: Sequence[Column], column: Any, argument: str) -> int:
    """Return the position of a column given by name or position; refuse one that is not there."""
    if isinstance(column, str):
        for position, candidate in enumerate(columns):
            if candidate.name == column:
                return position
    elif type(column) is int and 0 <= column < len(columns):
        return column
    names, labels = [c.name for c in columns], [c.labels for c in columns]
    schema = Schema(names, labels, [c.default for c in columns])
    return schema.position(column, argument)


def resolve_each(columns: Sequence[Column], wanted: Any, argument: str) -> list[int]:
    """Return the positions of one column or several, which must be there and differ."""
    if isinstance(wanted, (str, int, np.integer)):
        wanted = [wanted]
    try:
        items = list(wanted)
    except TypeError:
        raise InputError(
            f"{argument} must be a column or several, got {type(wanted).__name__}"
        ) from None
    positions = [resolve(columns, item, argument) for item in items]
    if not positions:
        raise InputError(f"{argument} must be one or more columns, got none")
    for k, position in enumerate(positions):
        if position in positions[:k]:
            raise InputError(f"{argument}: column {columns[position].name!r} is there twice")
    return positions
