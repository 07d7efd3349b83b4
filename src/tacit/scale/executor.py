"""Who computes: the one interface between statistics and machines.

An implementation decides where partitions are loaded, how many at a time and how long they stay;
:func:`compute` is the work that it has to get done. :class:`tacit.scale.Local` is one,
:class:`tacit.scale.Dask` another; for a third engine, write a third.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from tacit.scale.cost import Cost
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.scale.partitions import Partitions
    from tacit.statistic import Partition, Statistic

__all__ = ["Executor", "PartitionFunction", "Report", "chosen_executor", "compute", "using"]

S = TypeVar("S")
R = TypeVar("R")
PartitionFunction: TypeAlias = "Callable[[Partition], R]"
Report: TypeAlias = "Callable[[Cost], None]"  # is told what each partition cost

_CHOSEN: ContextVar[Executor | None] = ContextVar("tacit_executor", default=None)


class Executor(ABC):
    """Computes over partitions; `reduce` and `map` raise what a partition raised, and free all.

    Attributes
    ----------
    memory : int or None
        The limit on this machine, if there is one.
    takes_some : bool
        Whether it can compute over some of a table's partitions and reuse what it kept of them.
    """

    memory: int | None = None
    takes_some: ClassVar[bool] = False

    @abstractmethod
    def threads(self, n_jobs: int) -> int:
        """Return how many threads compute at a time, where the caller asks for `n_jobs`."""

    @abstractmethod
    def statistic_bytes(self, n_partitions: int) -> int | None:
        """Return how large a partial of so many partitions may be; None if there is no limit."""

    @abstractmethod
    def reduce(
        self, partitions: Partitions, statistic: Statistic[S], n_jobs: int, report: Report
    ) -> S | None:
        """Return the statistic of all records, merged as :class:`MergeTree` merges.

        `n_jobs` threads compute, where the caller's machine does; `report` is told what each
        partition cost, as they are done. None where no partition has a record.
        """

    @abstractmethod
    def map(
        self, partitions: Partitions, function: PartitionFunction[R], n_jobs: int, report: Report
    ) -> Iterator[R]:
        """Yield what a function says of each partition with records, in their order.

        Closing the iterator cancels what has not been computed yet.
        """


def compute(function: PartitionFunction[R], partition: Partition) -> tuple[R, Cost]:
    """Apply a function to a partition that has been loaded, and say what that took."""
    begin = time.perf_counter()
    if isinstance(partition.records, Table):  # what is kept must not grow by what a table derives
        partition = replace(partition, records=partition.records.fresh())
    result = function(partition)
    return result, Cost.of_work(partition.records, time.perf_counter() - begin)


def chosen_executor() -> Executor | None:
    """Return what :func:`using` chose, if anything."""
    return _CHOSEN.get()


@contextmanager
def using(executor: Executor) -> Iterator[Executor]:
    """Let an executor do all passes over partitioned tables inside the block."""
    token = _CHOSEN.set(executor)
    try:
        yield executor
    finally:
        _CHOSEN.reset(token)
