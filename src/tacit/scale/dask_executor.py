"""On a Dask cluster: partitions stay with the workers, and only statistics cross the network.

Every pass is a graph of tasks: one for each block of consecutive partitions, and a tree of mergers.
Dask decides where they run, and runs them again elsewhere when a worker dies. For that, everything
that a task needs is the result of a task: loaded partitions, and the statistic that is asked for.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.errors import InputError
from tacit.scale.cost import Cost
from tacit.scale.dask_losses import LostWorkers, reaching
from tacit.scale.dask_tasks import (
    Block,
    load_block,
    map_partitions,
    merge_partials,
    on_loaded,
    on_read,
    pack,
    reduce_partitions,
    same,
)
from tacit.scale.executor import Executor, using
from tacit.scale.partitions import check_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.scale.executor import PartitionFunction, Report
    from tacit.scale.partitions import Partitions
    from tacit.statistic import Statistic

__all__ = ["Dask", "on_dask"]

S = TypeVar("S")
R = TypeVar("R")

_LARGEST_BLOCK = 16  # partitions of a task: what has begun when a pass is cancelled is finished
_TASKS = 2  # for each thread of the cluster, so that all have work until the end
_FAN_IN = 8  # partials that are merged at a time
_SMALL = 1 << 22  # bytes of a partial, of which a few are merged here
_SENT_ALONG = 1 << 25  # bytes that tasks may take with them, in all
_FRACTION = 0.5  # of the workers' memory, for partitions that are kept


class Dask(Executor):
    """Computes on a cluster, where partitions stay in the workers' memory between passes.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds to wait for a first worker, and for another when the last one was lost.

    Notes
    -----
    Partitions are kept as long as they fit into half of the workers' memory; those of other tables
    make room for the table in use. Files must be found under the same path on all workers.
    """

    def __init__(self, client: Any, timeout: float = 30.0) -> None:
        self.client = client
        self.timeout = timeout
        self._kept: dict[str, _Kept] = {}  # by key of the partitions, in order of last use
        self._checked: set[str] = set()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Dask({self.client!r})"

    def threads(self, n_jobs: int) -> int:
        """Return how many threads the workers have."""
        with reaching(self.client):
            return sum(self.client.nthreads().values())

    def statistic_bytes(self, n_partitions: int) -> int | None:
        """Return how large a partial may be, by the smallest worker."""
        least = min(self._limits(self._workers()), default=None)
        return None if least is None else least // (4 * (_FAN_IN + 1))

    def _limits(self, workers: dict[str, Any]) -> list[int]:
        return [w["memory_limit"] for w in workers.values() if w["memory_limit"]]

    def release(self) -> None:
        """Let the cluster forget all partitions."""
        self._kept.clear()

    def reduce(
        self, partitions: Partitions, statistic: Statistic[S], n_jobs: int, report: Report
    ) -> S | None:
        """Return the statistic of all records; see :class:`tacit.scale.Executor`."""
        import distributed

        as_completed: Any = distributed.as_completed  # which has no types
        n_bytes = statistic.n_bytes
        with self._passing(partitions, n_bytes, pack(statistic)) as run:
            waiting = work = run.work(reduce_partitions, run.blocks)
            while len(waiting) > (_FAN_IN if n_bytes <= _SMALL else 1):
                groups = [waiting[k : k + _FAN_IN] for k in range(0, len(waiting), _FAN_IN)]
                waiting = run.submit(merge_partials, *((run.asked, group) for group in groups))
            sizes = dict(zip(work, (len(block.sources) for block in run.blocks), strict=True))
            for done in as_completed(work, loop=self.client.loop):
                if done.status != "finished":
                    done.result()  # raises what the partition raised
                report(Cost(partitions=sizes[done]))
            summary: S | None
            summary, cost = merge_partials(run.packed, self.client.gather(waiting))
            report(replace(cost, partitions=0))
        return summary

    def map(
        self, partitions: Partitions, function: PartitionFunction[R], n_jobs: int, report: Report
    ) -> Iterator[R]:
        """Yield what a function says of each partition; see :class:`tacit.scale.Executor`."""
        with self._passing(partitions, 0, pack(function)) as run:
            ahead, done = 2 * run.n_threads, 0
            running = deque(run.work(map_partitions, run.blocks[:ahead]))
            while running:
                future = running.popleft()
                results, cost = future.result()
                run.submitted.remove(future)  # nobody holds it any more: workers let go of it
                del future
                done += 1
                running += run.work(map_partitions, run.blocks[ahead + done - 1 : ahead + done])
                report(cost)
                yield from results

    @contextmanager
    def _passing(self, partitions: Partitions, result_bytes: int, asked: bytes) -> Iterator[_Pass]:
        """Make a pass; when it does not come to its end, cancel it, and only it."""
        workers = self._workers()
        threads = sum(w["nthreads"] for w in workers.values())
        limits = self._limits(workers)
        check_limit(partitions, min(limits, default=None), (_FAN_IN + 1) * result_bytes)
        kept = self._keep(partitions, sum(limits), threads)
        run = _Pass(self.client, partitions, threads, kept, asked)
        with reaching(self.client), LostWorkers(self.client, run.submitted, self.timeout):
            try:
                yield run
            except BaseException:
                run.forget_unloaded()
                with suppress(Exception):  # the cluster may be what has failed
                    self.client.cancel(run.submitted, force=True)
                raise

    def _workers(self) -> dict[str, Any]:
        """Return what the scheduler says of its workers, once it has some of our version."""
        from distributed import TimeoutError as NoWorker

        with reaching(self.client):
            try:
                self.client.wait_for_workers(1, timeout=self.timeout)
            except NoWorker:
                raise InputError(
                    f"cluster: no worker came to {self.client.scheduler.address} in "
                    f"{self.timeout:g} seconds"
                ) from None
            workers: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
            new = [address for address in workers if address not in self._checked]
            if new:
                _check_versions(self.client, new)
                self._checked.update(new)
        return workers

    def _keep(self, partitions: Partitions, memory: int, n_threads: int) -> _Kept:
        """Return where loaded partitions are noted, and make room for them."""
        if not partitions.keep:
            return _Kept(0, block_size(len(partitions.sources), n_threads), room=-1)
        n_bytes = sum(source.kept_bytes for source in partitions.sources)
        room = int(memory * _FRACTION) if memory else None
        with self._lock:
            known = self._kept.pop(partitions.key, None)
            kept = known or _Kept(n_bytes, block_size(len(partitions.sources), n_threads))
            kept.room = room
            others = sum(other.n_bytes for other in self._kept.values())
            while room is not None and self._kept and n_bytes + others > room:
                others -= self._kept.pop(next(iter(self._kept))).n_bytes
            self._kept[partitions.key] = kept
        return kept


@dataclass
class _Kept:
    """The partitions of a table that are in the workers' memory: futures by block."""

    n_bytes: int
    block_size: int  # the same in all passes, whoever comes and goes meanwhile
    room: int | None = None  # for as many of them as fit; below 0 nothing is to be kept
    blocks: dict[int, Any] = field(default_factory=dict)


class _Pass:
    """The tasks of one pass."""

    def __init__(
        self, client: Any, partitions: Partitions, n_threads: int, kept: _Kept, packed: bytes
    ) -> None:
        self.n_threads = max(1, n_threads)
        self.submitted: list[Any] = []
        self.packed = packed
        self._client = client
        self._reader: Any = None
        self._partitions = partitions
        self._kept = kept
        self._free = kept.room
        sources, firsts, size = partitions.sources, partitions.firsts, kept.block_size
        self.blocks = [
            Block(k, sources[k : k + size], firsts[k : k + size])
            for k in range(0, len(sources), size)
        ]
        self.asked = self._sent(packed)

    def submit(self, function: Callable[..., Any], *rows: Sequence[Any]) -> list[Any]:
        """Return the futures of tasks, given by their arguments; all of them are one graph."""
        futures = self._map(function, *rows)
        self.submitted += futures
        return futures

    def _map(self, function: Callable[..., Any], *rows: Sequence[Any]) -> list[Any]:
        columns = map(list, zip(*rows, strict=True))
        return self._client.map(function, *columns, pure=False) if rows else []

    def _sent(self, packed: bytes) -> Any:
        """Return bytes as all tasks get them.

        What is small is sent along with every task. That takes least time, and tasks that load are
        not drawn to the worker which has what all of them need.
        """
        small = len(packed) * len(self.blocks) <= _SENT_ALONG
        return packed if small else self.submit(same, [packed])[0]

    def work(self, function: Callable[..., Any], blocks: Sequence[Block]) -> list[Any]:
        """Return the futures of work on blocks, which are loaded for that if they have to be."""
        held, fit = self._kept.blocks, {block.first: self._fits(block) for block in blocks}
        lacking = [block for block in blocks if block.first not in held]
        if lacking and self._reader is None:
            self._reader = self._sent(pack(self._partitions.reader))
        frames = {block.first: self._frames(block) for block in lacking}
        fresh = [block for block in lacking if fit[block.first]]
        loading = [(self._reader, block, frames[block.first]) for block in fresh]
        futures = self._map(load_block, *loading)
        held |= {block.first: future for block, future in zip(fresh, futures, strict=True)}
        there = [block for block in blocks if block.first in held]
        rest = [block for block in lacking if not fit[block.first]]
        done = self.submit(
            on_loaded,
            *((function, self.asked, held[b.first], b in fresh) for b in there),
        ) + self.submit(
            on_read,
            *((function, self.asked, self._reader, b, frames[b.first]) for b in rest),
        )
        order = {block.first: future for block, future in zip([*there, *rest], done, strict=True)}
        return [order[block.first] for block in blocks]

    def forget_unloaded(self) -> None:
        """Let go of blocks that are not in memory; who else waits for one still gets it."""
        for first, loaded in list(self._kept.blocks.items()):
            if loaded.status != "finished":
                self._kept.blocks.pop(first, None)

    def _fits(self, block: Block) -> bool:
        """Take room for a block that is to be kept, if there is any."""
        if self._free is not None:
            self._free -= sum(source.kept_bytes for source in block.sources)
        return self._free is None or self._free >= 0

    def _frames(self, block: Block) -> list[Any] | None:
        """Return futures of frames that the cluster itself makes, where sources are such."""
        frames = (source.delayed_frame() for source in block.sources)
        delayed = [frame for frame in frames if frame is not None]
        return self._client.compute(delayed) if delayed else None


def block_size(n: int, n_threads: int) -> int:
    """Return how many partitions a task takes: a power of two, as :class:`MergeTree` merges.

    >>> block_size(16, 2), block_size(1000, 2), block_size(3, 8)
    (4, 16, 1)
    """
    size = 1
    while size < _LARGEST_BLOCK and -(-n // (2 * size)) >= _TASKS * n_threads:
        size *= 2
    return size


# Connecting to a cluster


@contextmanager
def on_dask(cluster: Any, *, timeout: float = 30.0) -> Iterator[Dask]:
    """Let a Dask cluster do all passes over partitioned tables inside the block.

    Threads that are started inside the block do not know of it; let them enter one themselves.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, or the address of a scheduler, such as "tcp://10.0.0.5:8786".
    timeout : float
        Seconds to wait for the scheduler, for its first worker, and, when the last one was lost in
        a pass, for another.

    Examples
    --------
    >>> import tacit
    >>> from dask.distributed import Client
    >>> parts = tacit.scale.partition(tacit.datasets.load_visits(), 4)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     with tacit.scale.on_dask(client):
    ...         parts.count({"weather": True, "news": True})
    845
    """
    client, made = _connect(cluster, timeout)
    executor = Dask(client, timeout)
    try:
        executor._workers()
        with using(executor):
            yield executor
    finally:
        executor.release()
        if made:
            client.close()


def _connect(cluster: Any, timeout: float) -> tuple[Any, bool]:
    """Return a client, and whether it was made here."""
    try:
        from distributed import Client as Typeless
    except ImportError:
        raise InputError("dask is not installed: pip install 'tacit[dask]'") from None
    Client: Any = Typeless
    if isinstance(cluster, Client):
        if cluster.asynchronous:
            raise InputError("cluster: the client is asynchronous; give one that waits")
        return cluster, False
    if not isinstance(cluster, str):
        raise InputError(f"cluster must be a distributed.Client or an address, got {cluster!r}")
    try:
        return Client(cluster, timeout=timeout, set_as_default=False), True
    except (OSError, ValueError) as error:
        raise InputError(f"cluster: no scheduler answers at {cluster!r}: {error}") from None


def _check_versions(client: Any, workers: list[str]) -> None:
    """Refuse workers that would compute with another version of tacit."""
    here = metadata.version("tacit")
    versions = client.run(metadata.version, "tacit", workers=workers, on_error="return")
    for address, there in versions.items():
        if isinstance(there, OSError):  # gone meanwhile
            continue
        if there != here:
            problem = there if isinstance(there, str) else "none that can be found"
            raise InputError(
                f"cluster: the worker at {address} has another version of tacit: {problem}, "
                f"but here it is {here}"
            )
