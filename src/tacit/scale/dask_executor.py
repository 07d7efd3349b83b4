"""On a Dask cluster: partitions stay with the workers, and only statistics cross the network.

Every pass is a graph of tasks: one for each block of consecutive partitions, and a tree of mergers.
Dask decides where they run, and runs them again elsewhere when a worker dies. For that, everything
that a task needs is the result of a task: loaded partitions, and the statistic that is asked for.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import metadata
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.errors import InputError
from tacit.scale.cost import Cost
from tacit.scale.executor import compute, using
from tacit.scale.partitions import check_limit
from tacit.scale.statistic import MergeTree, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.scale.partitions import Partitions
    from tacit.scale.statistic import Statistic

__all__ = ["Dask", "on_dask"]

S = TypeVar("S")
R = TypeVar("R")

_NAME = "tacit"  # of the package
_LARGEST_BLOCK = 16  # partitions of a task: what has begun when a pass is cancelled is finished
_TASKS = 4  # for each thread of the cluster, so that all have work until the end
_FAN_IN = 8  # partials that a task merges
_PATIENCE = 30  # seconds to wait for a scheduler, and for a first worker
_SHARE = 0.5  # of the workers' memory, for partitions that are kept


class Dask:
    """Computes on a cluster, where partitions stay in the workers' memory between passes.

    Parameters
    ----------
    client : distributed.Client

    Notes
    -----
    Partitions are kept as long as they fit into half of the workers' memory; those of other tables
    make room for the table in use. Files must be found under the same path on all workers.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._kept: dict[str, _Kept] = {}  # by key of the partitions, in order of last use
        self._checked: set[str] = set()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Dask({self.client!r})"

    def threads(self, n_jobs: int) -> int:
        """Return how many threads the workers have."""
        return sum(self.client.nthreads().values())

    def release(self) -> None:
        """Let the cluster forget all partitions."""
        self._kept.clear()

    def reduce(
        self,
        partitions: Partitions,
        statistic: Statistic[S],
        n_jobs: int,
        report: Callable[[Cost], None],
    ) -> S | None:
        """Return the statistic of all records; see :class:`tacit.scale.Executor`."""
        import distributed

        as_completed: Any = distributed.as_completed  # which has no types
        with self._passing(partitions, getattr(statistic, "n_bytes", 0)) as run:
            asked = run.submit(_same, statistic)
            work = [
                run.submit(_reduce_block, asked, block, *run.load(block)) for block in run.blocks
            ]
            waiting: list[Any] = work
            while len(waiting) > 1:
                waiting = [
                    run.submit(_merge, asked, waiting[k : k + _FAN_IN])
                    for k in range(0, len(waiting), _FAN_IN)
                ]
            sizes = dict(zip(work, (len(block.pieces) for block in run.blocks), strict=True))
            for done in as_completed(work, loop=self.client.loop):
                if done.status != "finished":
                    done.result()  # raises what the partition raised
                report(Cost(partitions=sizes[done]))
            found, cost = waiting[0].result()
            report(replace(cost, partitions=0))
        return found  # type: ignore[no-any-return]

    def map(
        self,
        partitions: Partitions,
        function: Callable[[Part], R],
        n_jobs: int,
        report: Callable[[Cost], None],
    ) -> Iterator[R]:
        """Yield what a function says of each partition; see :class:`tacit.scale.Executor`."""
        with self._passing(partitions, 0) as run:
            asked = run.submit(_same, function)
            blocks, running = deque(run.blocks), deque[Any]()
            while blocks or running:
                while blocks and len(running) < 2 * run.n_threads:
                    block = blocks.popleft()
                    running.append(run.submit(_map_block, asked, block, *run.load(block)))
                found, cost = running.popleft().result()
                report(cost)
                yield from found

    @contextmanager
    def _passing(self, partitions: Partitions, result_bytes: int) -> Iterator[_Pass]:
        """Make a pass; when it does not end well, cancel it and forget what it loaded."""
        workers = self._workers()
        threads = sum(own["nthreads"] for own in workers.values())
        limits = [own["memory_limit"] for own in workers.values() if own["memory_limit"]]
        check_limit(partitions, min(limits, default=None), (_FAN_IN + 1) * result_bytes)
        run = _Pass(self.client, partitions, threads, self._keep(partitions, sum(limits)))
        try:
            yield run
        except BaseException:
            with self._lock:
                kept = self._kept.pop(partitions.key, None)
            loading = [] if kept is None else list(kept.blocks.values())
            with suppress(Exception):  # the cluster may be what has failed
                self.client.cancel([*run.submitted, *loading], force=True)
            raise

    def _workers(self) -> dict[str, Any]:
        """Return what the scheduler says of its workers, once it has some of our version."""
        from distributed import TimeoutError as NoWorker

        try:
            self.client.wait_for_workers(1, timeout=_PATIENCE)
        except NoWorker:
            raise InputError(
                f"cluster: no worker came to {self.client.scheduler.address} in {_PATIENCE} seconds"
            ) from None
        workers: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        new = [address for address in workers if address not in self._checked]
        if new:
            _check_versions(self.client, new)
            self._checked.update(new)
        return workers

    def _keep(self, partitions: Partitions, memory: int) -> _Kept | None:
        """Return where loaded partitions are noted; None where there is nothing to be kept."""
        n_bytes = sum(piece.kept_bytes for piece in partitions.pieces)
        if not partitions.keep or not n_bytes:  # they are read once, or mapped anyway
            return None
        room = int(memory * _SHARE) if memory else None
        with self._lock:
            own = self._kept.pop(partitions.key, None) or _Kept(n_bytes)
            own.room = room
            others = sum(kept.n_bytes for kept in self._kept.values())
            while room is not None and self._kept and n_bytes + others > room:
                others -= self._kept.pop(next(iter(self._kept))).n_bytes
            self._kept[partitions.key] = own
        return own


@dataclass
class _Kept:
    """The partitions of a table that are in the workers' memory: futures by block."""

    n_bytes: int
    room: int | None = None  # for as many of them as fit
    blocks: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Block:
    """Consecutive partitions that a task looks at."""

    first: int  # the number of the first of them
    pieces: tuple[Any, ...]
    firsts: tuple[int, ...]


class _Pass:
    """The tasks of one pass."""

    def __init__(
        self, client: Any, partitions: Partitions, n_threads: int, kept: _Kept | None
    ) -> None:
        self.n_threads = max(1, n_threads)
        self.submitted: list[Any] = []
        self._client = client
        self._reader: Any = None
        self._partitions = partitions
        self._kept = kept
        pieces, firsts = partitions.pieces, partitions.firsts
        size = block_size(len(pieces), self.n_threads)
        self.blocks = [
            _Block(k, pieces[k : k + size], firsts[k : k + size])
            for k in range(0, len(pieces), size)
        ]
        self._room = None if kept is None else kept.room

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a task."""
        future = self._client.submit(function, *arguments, pure=False)
        self.submitted.append(future)
        return future

    def load(self, block: _Block) -> tuple[Any, Any, bool]:
        """Return what a task needs to get at a block: the reader, loaded records, if they stay.

        The last says whether they are loaded for this pass.
        """
        if self._kept is not None and block.first in self._kept.blocks:
            self._fits(block)
            return None, self._kept.blocks[block.first], False
        if self._reader is None:
            self._reader = self.submit(_same, self._partitions.reader)
        if self._kept is None or not self._fits(block):
            return self._reader, self._frames(block), False
        loaded = self._client.submit(
            _load_block, self._reader, block, self._frames(block), pure=False
        )
        self._kept.blocks[block.first] = loaded
        return None, loaded, True

    def _fits(self, block: _Block) -> bool:
        """Take room for a block that is to be kept, if there is any."""
        if self._room is not None:
            self._room -= sum(piece.kept_bytes for piece in block.pieces)
        return self._room is None or self._room >= 0

    def _frames(self, block: _Block) -> list[Any] | None:
        """Return futures of frames that the cluster itself makes, where pieces are such."""
        delayed = [piece.delayed for piece in block.pieces if hasattr(piece, "delayed")]
        return self._client.compute(delayed) if delayed else None


def block_size(n: int, n_threads: int) -> int:
    """Return how many partitions a task looks at: a power of two, as :class:`MergeTree` merges.

    >>> block_size(16, 2), block_size(1000, 2), block_size(3, 8)
    (2, 16, 1)
    """
    size = 1
    while size < _LARGEST_BLOCK and -(-n // (2 * size)) >= _TASKS * n_threads:
        size *= 2
    return size


# What tasks do: on workers, one thread each.


@dataclass
class _Loaded:
    """The records of a block, in a worker's memory."""

    records: list[Any]
    cost: Cost

    def __sizeof__(self) -> int:
        return 64 + sum(getattr(own, "nbytes", 0) for own in self.records)


def _same(value: R) -> R:
    return value


def _load(reader: Any, block: _Block, frames: Any, place: int) -> tuple[Any, Cost]:
    piece = block.pieces[place]
    if frames is not None:
        piece = replace(piece, delayed=frames[place])
    begin = time.perf_counter()
    records = reader.load(piece, 1)
    return records, Cost.of_load(piece.disk_bytes, time.perf_counter() - begin)


def _load_block(reader: Any, block: _Block, frames: Any) -> _Loaded:
    loaded = _Loaded([], Cost())
    for place in range(len(block.pieces)):
        records, cost = _load(reader, block, frames, place)
        loaded.records.append(records)
        loaded.cost += cost
    return loaded


def _each(
    function: Callable[[Part], R], block: _Block, reader: Any, loaded: Any, fresh: bool
) -> Iterator[tuple[R | None, Cost]]:
    """Yield what a function says of each partition of a block; None for an empty one."""
    for place in range(len(block.pieces)):
        if reader is None:
            records, cost = loaded.records[place], loaded.cost if fresh and not place else Cost()
        else:
            records, cost = _load(reader, block, loaded, place)
        if records is None:
            yield None, cost + Cost(partitions=1)
            continue
        found, spent = compute(function, Part(records, block.first + place, block.firsts[place], 1))
        yield found, cost + spent


def _reduce_block(
    statistic: Statistic[S], block: _Block, reader: Any, loaded: Any, fresh: bool
) -> tuple[S | None, Cost]:
    tree, total = MergeTree(statistic.merge, len(block.pieces)), Cost()
    for place, (found, cost) in enumerate(_each(statistic.partial, block, reader, loaded, fresh)):
        tree.put(place, found)
        total += cost
    return tree.result, total


def _map_block(
    function: Callable[[Part], R], block: _Block, reader: Any, loaded: Any, fresh: bool
) -> tuple[list[R], Cost]:
    results, total = [], Cost()
    for found, cost in _each(function, block, reader, loaded, fresh):
        total += cost
        if found is not None:
            results.append(found)
    return results, total


def _merge(
    statistic: Statistic[S], parts: Sequence[tuple[S | None, Cost]]
) -> tuple[S | None, Cost]:
    tree, total = MergeTree(statistic.merge, len(parts)), Cost()
    for place, (found, cost) in enumerate(parts):
        # Merging may change the earlier one, which is another task's result and may be asked for
        # again.
        tree.put(place, found if place & 1 else deepcopy(found))
        total += cost
    return tree.result, total


# Getting at a cluster


@contextmanager
def on_dask(cluster: Any) -> Iterator[Dask]:
    """Let a Dask cluster do all passes over partitioned tables inside the block.

    Parameters
    ----------
    cluster : distributed.Client or str
        A client, or the address of a scheduler, such as "tcp://10.0.0.5:8786".

    Examples
    --------
    >>> import tacit
    >>> from dask.distributed import Client
    >>> parts = tacit.scale.partition(tacit.datasets.load_visits(), 4)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     with tacit.scale.on_dask(client):
    ...         parts.count({"weather": True, "news": True})
    845
    """
    client, own = _connect(cluster)
    executor = Dask(client)
    try:
        executor._workers()
        with using(executor):
            yield executor
    finally:
        executor.release()
        if own:
            client.close()


def _connect(cluster: Any) -> tuple[Any, bool]:
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
        return Client(cluster, timeout=_PATIENCE, set_as_default=False), True
    except (OSError, ValueError) as error:
        raise InputError(f"cluster: no scheduler answers at {cluster!r}: {error}") from None


def _check_versions(client: Any, workers: list[str]) -> None:
    """Refuse workers that would compute with another version of tacit."""
    here = metadata.version("tacit")
    found = client.run(metadata.version, _NAME, workers=workers, on_error="return")
    for address, there in found.items():
        if isinstance(there, OSError):  # gone meanwhile
            continue
        if there != here:
            problem = there if isinstance(there, str) else "none that can be found"
            raise InputError(
                f"cluster: the worker at {address} has another version of tacit: {problem}, "
                f"but here it is {here}"
            )
