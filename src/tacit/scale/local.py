"""On one machine: partitions come one after another, and no more at a time than memory allows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.machine import available_memory, parse_bytes
from tacit.scale.cost import Cost
from tacit.scale.executor import Executor, compute
from tacit.scale.partitions import check_limit
from tacit.statistic import MergeTree, Partition, Totals
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from concurrent.futures import Future

    from tacit.scale.executor import PartitionFunction, Report
    from tacit.scale.partitions import Partitions
    from tacit.statistic import Statistic

__all__ = ["Local"]

S = TypeVar("S")
R = TypeVar("R")

_FRACTION = 0.5  # of the memory that is free, where no limit is given


class Local(Executor):
    """Computes on this machine, in memory that does not grow with the data.

    Each thread loads a partition, computes its statistic and takes the next, so that
    there are never more partitions in memory than threads, or than the limit allows. Partitions
    that fit within the limit stay loaded for the next pass.

    Parameters
    ----------
    memory : int or str, optional
        Bytes, or a text such as "4GB", for partitions in flight, those that are kept, and
        statistics; by default half of what is free when a pass begins.

    Examples
    --------
    >>> import tacit
    >>> tacit.scale.Local(memory="2GB")
    Local(memory=2000000000)
    """

    def __init__(self, memory: int | str | None = None) -> None:
        self.memory = parse_bytes(str(memory), "memory") if memory is not None else None
        self._kept: dict[tuple[str, int], tuple[Any, int]] = {}  # records and their bytes
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"Local(memory={self.memory})"

    takes_some = True

    def threads(self, n_jobs: int) -> int:
        """Return how many threads compute at a time."""
        return n_jobs

    def statistic_bytes(self, n_partitions: int) -> int | None:
        """Return how large a partial may be: a quarter of the memory for all that wait."""
        return None if self.memory is None else self.memory // (4 * (n_partitions.bit_length() + 2))

    def release(self) -> None:
        """Forget partitions that were kept."""
        with self._lock:
            self._kept.clear()

    @property
    def kept_bytes(self) -> int:
        """What the partitions that are kept take."""
        with self._lock:
            return sum(size for _, size in self._kept.values())

    def _forget_others(self, key: str) -> None:
        with self._lock:
            for other in [kept for kept in self._kept if kept[0] != key]:
                del self._kept[other]

    def reduce(
        self, partitions: Partitions, statistic: Statistic[S], n_jobs: int, report: Report
    ) -> S | None:
        """Return the statistic of all records; see :class:`tacit.scale.Executor`."""
        n, n_bytes = len(partitions.sources), statistic.n_bytes
        if statistic.exact:
            totals = Totals[S](statistic)
            with closing(self._each(partitions, totals.add, n_jobs, report, n_bytes)) as done:
                for _ in done:
                    pass
            return totals.result
        tree = MergeTree(statistic.merge, n)
        # Results wait for their siblings: one for each level of the tree, besides those in work.
        levels, partial = n.bit_length(), statistic.partial
        with closing(self._each(partitions, partial, n_jobs, report, n_bytes, levels)) as each:
            for index, summary in each:
                tree.put(index, summary)
        return tree.result

    def map(
        self, partitions: Partitions, function: PartitionFunction[R], n_jobs: int, report: Report
    ) -> Iterator[R]:
        """Yield what a function says of each partition; see :class:`tacit.scale.Executor`."""
        with closing(self._each(partitions, function, n_jobs, report)) as each:
            for _, result in each:
                if result is not None:
                    yield result

    def _each(
        self,
        partitions: Partitions,
        function: PartitionFunction[R],
        n_jobs: int,
        report: Report,
        result_bytes: int = 0,
        n_waiting: int = 0,
    ) -> Generator[tuple[int, R | None]]:
        """Yield what a function says of each partition, in their order."""
        flight = _Flight(self, partitions, n_jobs, result_bytes, n_waiting)

        def work(index: int) -> tuple[R | None, Cost]:
            records, cost = flight.load(index)
            if records is None:
                return None, cost + Cost(partitions=1)
            number = partitions.identity(index)[1]
            first = partitions.firsts[index]
            partition = Partition(records, number, first, flight.jobs_each)
            result, spent = compute(function, partition)
            return result, cost + spent

        waiting = iter(range(len(partitions.sources)))
        if flight.n_threads == 1:  # here, where kernels notice Ctrl-C at once
            for index in waiting:
                result, cost = work(index)
                report(cost)
                yield index, result
            return
        queue: deque[tuple[int, Future[tuple[R | None, Cost]]]] = deque()
        pool = ThreadPoolExecutor(flight.n_threads, "tacit")
        try:
            while True:
                while len(queue) <= flight.n_threads and (index := next(waiting, -1)) >= 0:
                    queue.append((index, pool.submit(work, index)))
                if not queue:
                    return
                index, future = queue.popleft()
                result, cost = future.result()
                report(cost)
                yield index, result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class _Flight:
    """One pass: how many partitions are in memory at a time, and which of them stay."""

    def __init__(
        self,
        local: Local,
        partitions: Partitions,
        n_jobs: int,
        result_bytes: int,
        n_waiting: int,
    ) -> None:
        self._local = local
        self._partitions = partitions
        sources = partitions.sources
        missing = [i for i in range(len(sources)) if partitions.identity(i) not in local._kept]
        self._largest = max((sources[i].load_bytes for i in missing), default=0)
        waiting = result_bytes * n_waiting
        check_limit(partitions, local.memory, waiting + result_bytes)
        limit = local.memory
        if limit is None and (free := available_memory()) is not None:
            limit = int(free * _FRACTION) + local.kept_bytes
        self._free = None if limit is None else limit - waiting
        threads = max(1, min(n_jobs, len(sources)))
        if self._free is not None:
            wanted = sum(sources[i].kept_bytes for i in missing) + threads * self._largest
            if local.kept_bytes + wanted > self._free:  # the table in use comes first
                local._forget_others(partitions.identity(0)[0])
            each = self._largest + 2 * result_bytes
            if each:
                threads = min(threads, max(1, (self._free - local.kept_bytes) // each))
        self._in_flight = threads * (self._largest + result_bytes)
        self.n_threads = threads
        self.jobs_each = max(1, n_jobs // threads)

    def load(self, index: int) -> tuple[Any, Cost]:
        """Return a partition that was kept, or load it, and keep it if there is memory for it."""
        kept = self._local._kept.get(self._partitions.identity(index))
        if kept is not None:
            return kept[0], Cost()
        source = self._partitions.sources[index]
        begin = time.perf_counter()
        records = self._partitions.load(index, self.jobs_each)
        cost = Cost.of_load(source.disk_bytes, time.perf_counter() - begin)
        if self._partitions.keep:
            self._keep(index, records)
        return records, cost

    def _keep(self, index: int, records: Any) -> None:
        local, size = self._local, self._partitions.sources[index].kept_bytes
        if size and isinstance(records, Table):
            size = records.nbytes
        with local._lock:
            if self._free is None or local.kept_bytes + size + self._in_flight <= self._free:
                local._kept[self._partitions.identity(index)] = records, size
