"""Statistics: additive summaries of records, and the one order in which parts are merged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MergeTree", "Part", "Statistic", "Totals"]

S = TypeVar("S")


@dataclass(frozen=True)
class Part:
    """Some consecutive records of a partitioned table, as a statistic sees them.

    Attributes
    ----------
    records : Table
        Under the schema of the whole; never empty. (In the pass that finds the schema it is
        whatever the reader of that pass makes.)
    index : int
        Which partition this is.
    first : int
        The number of its first record among all records.
    n_jobs : int
        Threads that kernels may use.
    """

    records: Any
    index: int
    first: int
    n_jobs: int


class Statistic(Protocol[S]):
    """An additive summary: that of all records is the merger of those of any parts of them.

    A statistic has to be picklable, and small: it is sent to wherever the records are. It may
    have an attribute `n_bytes`, what a partial takes in memory, for limits to be kept. Where sums
    are of whole numbers it may have a true attribute `exact` and a method ``accumulate(s, part)``,
    the same as ``merge(s, partial(part))``; then parts are added one to another in any order.
    """

    def partial(self, part: Part) -> S:
        """Summarise some records; they must not be changed, nor be referred to by the result."""

    def merge(self, one: S, other: S) -> S:
        """Return the summary of both; may reuse `one`, the earlier records, but not `other`."""


class MergeTree(Generic[S]):
    """Merges the parts 0 … n − 1 as they arrive, always in the same tree.

    Neighbours are merged, then pairs of neighbours, and so on. So sums of floats do not depend on
    who computed the parts or on which came first, and aligned blocks of 2, 4, 8, … parts can be
    merged elsewhere. At most one part for each level of the tree waits, besides those that came
    out of order.

    Parameters
    ----------
    merge : callable
    n : int
        How many parts there are.

    Examples
    --------
    >>> tree = MergeTree(lambda a, b: f"({a}{b})", 5)
    >>> for place in (3, 0, 4, 1, 2):
    ...     tree.put(place, "abcde"[place])
    >>> tree.result
    '(((ab)(cd))e)'
    """

    def __init__(self, merge: Callable[[S, S], S], n: int) -> None:
        self.result: S | None = None
        self._merge = merge
        self._n = n
        self._waiting: dict[tuple[int, int], S | None] = {}

    def put(self, place: int, part: S | None) -> None:
        """Take a part; None for one that has nothing to say."""
        level = 0
        while 1 << level < self._n:
            sibling = place ^ 1
            if sibling << level < self._n:
                if (level, sibling) not in self._waiting:
                    self._waiting[level, place] = part
                    return
                other = self._waiting.pop((level, sibling))
                earlier, later = (other, part) if place & 1 else (part, other)
                if earlier is None or later is None:
                    part = later if earlier is None else earlier
                else:
                    part = self._merge(earlier, later)
            level, place = level + 1, place >> 1
        self.result = part


class Totals(Generic[S]):
    """Running totals of an exact statistic: as many as there are threads that add parts.

    Parameters
    ----------
    statistic : Statistic
        With `exact` and ``accumulate``.
    """

    def __init__(self, statistic: Any) -> None:
        self._statistic = statistic
        self._idle: list[S] = []  # whoever adds a part takes one, and puts it back

    def add(self, part: Part) -> bool:
        """Take a part."""
        try:
            total = self._idle.pop()
        except IndexError:
            self._idle.append(self._statistic.partial(part))
        else:
            self._idle.append(self._statistic.accumulate(total, part))
        return True

    @property
    def result(self) -> S | None:
        """The statistic of all parts; None if there were none."""
        return reduce(self._statistic.merge, self._idle) if self._idle else None
