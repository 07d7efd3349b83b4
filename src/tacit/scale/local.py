"""On one machine: partitions come one after another, and no more at a time than memory allows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.machine import available_memory, parse_bytes
from tacit.scale.cost import Cost
from tacit.scale.executor import compute
from tacit.scale.partitions import check_limit
from tacit.scale.statistic import MergeTree
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from concurrent.futures import Future

    from tacit.scale.partitions import Partitions
    from tacit.scale.statistic import Part, Statistic

__all__ = ["Local"]

S = TypeVar("S")
R = TypeVar("R")

_SHARE = 0.5  # of the memory that is free, where no limit is given


class Local:
    """Computes on this machine, in memory that does not grow with the data.

    One partition is computed at a time, with all threads, while other threads load those that
    come next. Partitions that fit within the limit stay loaded for the next pass.

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

    def __repr__(self) -> str:
        return f"Local(memory={self.memory})"

    def release(self) -> None:
        """Forget partitions that were kept."""
        self._kept.clear()

    @property
    def kept_bytes(self) -> int:
        """What the partitions that are kept take."""
        return sum(size for _, size in self._kept.values())

    def reduce(
        self,
        partitions: Partitions,
        statistic: Statistic[S],
        n_jobs: int,
        report: Callable[[Cost], None],
    ) -> S | None:
        """Return the statistic of all records; see :class:`tacit.scale.Executor`."""
        n = len(partitions.pieces)
        tree = MergeTree(statistic.merge, n)
        # Partials wait for their siblings: one for each level, and the one that is made.
        reserved = getattr(statistic, "n_bytes", 0) * (1 + n.bit_length())
        with closing(self._each(partitions, statistic.partial, n_jobs, report, reserved)) as each:
            for index, found in each:
                tree.put(index, found)
        return tree.result

    def map(
        self,
        partitions: Partitions,
        function: Callable[[Part], R],
        n_jobs: int,
        report: Callable[[Cost], None],
    ) -> Iterator[R]:
        """Yield what a function says of each partition; see :class:`tacit.scale.Executor`."""
        with closing(self._each(partitions, function, n_jobs, report, 0)) as each:
            for _, found in each:
                if found is not None:
                    yield found

    def _each(
        self,
        partitions: Partitions,
        function: Callable[[Part], R],
        n_jobs: int,
        report: Callable[[Cost], None],
        reserved: int,
    ) -> Generator[tuple[int, R | None]]:
        limit = self.memory
        if limit is None:
            free = available_memory()
            limit = None if free is None else int(free * _SHARE) + self.kept_bytes
        check_limit(partitions, self.memory, reserved)
        room = None if limit is None else limit - reserved
        with closing(self._loaded(partitions, n_jobs, room, report)) as loaded:
            for index, records in loaded:
                if records is None:
                    report(Cost(partitions=1))
                    yield index, None
                    continue
                found, cost = compute(partitions, index, function, n_jobs, _fresh(records))
                report(cost)
                yield index, found

    def _loaded(
        self, partitions: Partitions, n_jobs: int, room: int | None, report: Callable[[Cost], None]
    ) -> Generator[tuple[int, Any]]:
        """Yield partitions in order, the next ones being loaded by other threads meanwhile."""
        pieces, key = partitions.pieces, partitions.key
        missing = [i for i in range(len(pieces)) if (key, i) not in self._kept]
        largest = max((pieces[i].load_bytes for i in missing), default=0)
        wanted = sum(pieces[i].kept_bytes for i in missing) + largest
        if room is not None and self.kept_bytes + wanted > room:  # the table in use comes first
            self._kept = {own: kept for own, kept in self._kept.items() if own[0] == key}
        ahead = min(n_jobs, len(missing) - 1) if n_jobs > 1 else 0
        if room is not None and largest:
            ahead = min(ahead, max(0, (room - self.kept_bytes) // largest - 1))

        def load(index: int, jobs: int) -> tuple[Any, Cost]:
            begin = time.perf_counter()
            records = partitions.load(index, jobs)
            return records, Cost.of_load(pieces[index].disk_bytes, time.perf_counter() - begin)

        def keep(index: int, records: Any) -> None:
            size = pieces[index].kept_bytes
            if room is None or self.kept_bytes + size + (ahead + 1) * largest <= room:
                self._kept[key, index] = records, size

        queue: deque[Future[tuple[Any, Cost]]] = deque()
        waiting = iter(missing)
        pool = ThreadPoolExecutor(max(1, ahead), "tacit-load")
        try:
            for index in range(len(pieces)):
                while (
                    ahead and len(queue) < ahead and (following := next(waiting, None)) is not None
                ):
                    queue.append(pool.submit(load, following, 1))
                if (key, index) in self._kept:
                    yield index, self._kept[key, index][0]
                    continue
                records, cost = queue.popleft().result() if ahead else load(index, n_jobs)
                report(cost)
                keep(index, records)
                yield index, records
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _fresh(records: Any) -> Any:
    """Return a table that forgets what it derives: what is kept must not grow."""
    return records.fresh() if isinstance(records, Table) else records
