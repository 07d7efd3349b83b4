"""Statistics: additive summaries of records, and the one order in which parts are merged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MergeTree", "Partition", "Statistic", "Totals"]

S = TypeVar("S")


@dataclass(frozen=True)
class Partition:
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


class Statistic(ABC, Generic[S]):
    """An additive summary: that of all records is the merger of those of any parts of them.

    A statistic has to be picklable, and small: it is sent to wherever the records are. A
    :class:`~tacit.Table` and a :class:`~tacit.PartitionedTable` compute it with ``reduce``.
    """

    @property
    def exact(self) -> bool:
        """Whether sums are of whole numbers, so that partitions may be added in any order."""
        return False

    @property
    def n_bytes(self) -> int:
        """What the summary of a partition takes in memory, for limits to be kept."""
        return 0

    @abstractmethod
    def partial(self, partition: Partition) -> S:
        """Summarise some records; they must not be changed, nor be referred to by the result."""

    @abstractmethod
    def merge(self, one: S, other: S) -> S:
        """Return the summary of both; may reuse `one`, the earlier records, but not `other`."""

    def accumulate(self, total: S, partition: Partition) -> S:
        """Return the summary of what is in `total` and of a partition; may reuse `total`."""
        return self.merge(total, self.partial(partition))

    def finalize(self, summary: S) -> S:
        """Return what the caller is given; by default the merged summary itself."""
        return summary


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
        One that is exact.
    """

    def __init__(self, statistic: Statistic[S]) -> None:
        self._statistic = statistic
        self._idle: list[S] = []  # whoever adds a part takes one, and puts it back

    def add(self, part: Partition) -> bool:
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
