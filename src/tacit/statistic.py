"""Statistics: additive summaries of records, and the one order in which they are merged."""

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
        Under the schema of the table; never empty. (In the pass that finds the schema it is
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
    """An additive summary: that of all records is the merger of those of any partitions.

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
    """Merges the summaries of n partitions as they arrive, always in the same tree.

    Neighbours are merged, then pairs of neighbours, and so on. So sums of floats do not depend on
    who computed them or on which came first, and aligned blocks of 2, 4, 8, … partitions can be
    merged elsewhere. At most one summary for each level of the tree waits, besides those that
    came out of order.

    Parameters
    ----------
    merge : callable
    n : int
        How many partitions there are.

    Examples
    --------
    >>> tree = MergeTree(lambda a, b: f"({a}{b})", 5)
    >>> for index in (3, 0, 4, 1, 2):
    ...     tree.put(index, "abcde"[index])
    >>> tree.result
    '(((ab)(cd))e)'
    """

    def __init__(self, merge: Callable[[S, S], S], n: int) -> None:
        self.result: S | None = None
        self._merge = merge
        self._n = n
        self._waiting: dict[tuple[int, int], S | None] = {}

    def put(self, index: int, summary: S | None) -> None:
        """Take the summary of a partition; None for one without records."""
        level = 0
        while 1 << level < self._n:
            sibling = index ^ 1
            if sibling << level < self._n:
                if (level, sibling) not in self._waiting:
                    self._waiting[level, index] = summary
                    return
                other = self._waiting.pop((level, sibling))
                earlier, later = (other, summary) if index & 1 else (summary, other)
                if earlier is None or later is None:
                    summary = later if earlier is None else earlier
                else:
                    summary = self._merge(earlier, later)
            level, index = level + 1, index >> 1
        self.result = summary


class Totals(Generic[S]):
    """Running totals of an exact statistic: as many as there are threads that add partitions."""

    def __init__(self, statistic: Statistic[S]) -> None:
        self._statistic = statistic
        self._idle: list[S] = []  # whoever adds a partition takes one, and puts it back

    def add(self, partition: Partition) -> bool:
        """Take a partition."""
        try:
            total = self._idle.pop()
        except IndexError:
            self._idle.append(self._statistic.partial(partition))
        else:
            self._idle.append(self._statistic.accumulate(total, partition))
        return True

    @property
    def result(self) -> S | None:
        """The statistic of all partitions; None if there were none."""
        return reduce(self._statistic.merge, self._idle) if self._idle else None
