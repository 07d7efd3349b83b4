"""What the tasks of a pass do: they run on workers, in one thread each."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tacit.scale.cost import Cost
from tacit.scale.executor import compute
from tacit.statistic import MergeTree, Partition, Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.scale.executor import PartitionFunction
    from tacit.statistic import Statistic

__all__ = [
    "Block",
    "Loaded",
    "load_block",
    "map_partitions",
    "merge_partials",
    "on_loaded",
    "on_read",
    "pack",
    "reduce_partitions",
    "same",
]

S = TypeVar("S")
R = TypeVar("R")
Visits: TypeAlias = "Iterator[tuple[Partition | None, Cost]]"  # None where there is no record


@dataclass(frozen=True)
class Block:
    """Consecutive partitions that a task computes over."""

    first: int  # the number of the first of them
    sources: tuple[Any, ...]
    firsts: tuple[int, ...]  # the numbers of their first records


@dataclass(frozen=True)
class Loaded:
    """The records of a block, in a worker's memory.

    Where files are mapped, a copy for another worker is not made of records: that one maps the
    files itself.
    """

    first: int
    firsts: tuple[int, ...]
    records: list[Any]
    cost: Cost
    source: tuple[bytes, Block] | None = None  # the reader and the block of what is mapped

    def __sizeof__(self) -> int:
        n_bytes = 0 if self.source else sum(getattr(x, "nbytes", 0) for x in self.records)
        return 256 + n_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source is not None:
            return load_block, self.source
        return Loaded, (self.first, self.firsts, self.records, self.cost)

    def partitions(self, fresh: bool) -> Visits:
        """Yield each partition, and what it cost to load those that were loaded just now."""
        for k, (first, records) in enumerate(zip(self.firsts, self.records, strict=True)):
            cost = self.cost if fresh and not k else Cost()
            yield _partition(records, self.first + k, first), cost


def _partition(records: Any, index: int, first: int) -> Partition | None:
    return None if records is None else Partition(records, index, first, 1)


def _read_partitions(reader: bytes, block: Block, frames: Any) -> Visits:
    """Load one partition after another."""
    load = unpack(reader).load
    for k, source in enumerate(block.sources):
        if frames is not None:
            source = replace(source, delayed=frames[k])
        begin = time.perf_counter()
        records = load(source, 1)
        cost = Cost.of_load(source.disk_bytes, time.perf_counter() - begin)
        yield _partition(records, block.first + k, block.firsts[k]), cost


def load_block(reader: bytes, block: Block, frames: Any = None) -> Loaded:
    """Load a block that is to be kept."""
    records, total = [], Cost()
    for partition, cost in _read_partitions(reader, block, frames):
        records.append(None if partition is None else partition.records)
        total += cost
    mapped = not any(source.kept_bytes for source in block.sources)
    return Loaded(block.first, block.firsts, records, total, (reader, block) if mapped else None)


def on_loaded(work: Callable[..., Any], asked: bytes, loaded: Loaded, fresh: bool) -> Any:
    """Do work on a block that is in memory."""
    return work(asked, loaded.partitions(fresh), len(loaded.records))


def on_read(
    work: Callable[..., Any], asked: bytes, reader: bytes, block: Block, frames: Any
) -> Any:
    """Do work on a block that is read for this pass only."""
    return work(asked, _read_partitions(reader, block, frames), len(block.sources))


def _each(function: PartitionFunction[R], partitions: Visits) -> Iterator[tuple[R | None, Cost]]:
    for partition, cost in partitions:
        if partition is None:
            yield None, cost + Cost(partitions=1)
        else:
            result, spent = compute(function, partition)
            yield result, cost + spent


def reduce_partitions(asked: bytes, partitions: Visits, n: int) -> tuple[S | None, Cost]:
    """Return the statistic of n partitions."""
    statistic: Statistic[S] = unpack(asked)
    total = Cost()
    if statistic.exact:
        sums = Totals[S](statistic)
        for _, cost in _each(sums.add, partitions):
            total += cost
        return sums.result, total
    tree = MergeTree(statistic.merge, n)
    for k, (summary, cost) in enumerate(_each(statistic.partial, partitions)):
        tree.put(k, summary)
        total += cost
    return tree.result, total


def map_partitions(asked: bytes, partitions: Visits, n: int) -> tuple[list[Any], Cost]:
    """Return what a function says of each partition."""
    results, total = [], Cost()
    for result, cost in _each(unpack(asked), partitions):
        total += cost
        if result is not None:
            results.append(result)
    return results, total


def merge_partials(
    asked: bytes, partials: Sequence[tuple[S | None, Cost]]
) -> tuple[S | None, Cost]:
    """Return the statistic of some blocks."""
    statistic: Statistic[S] = unpack(asked)
    tree, total = MergeTree(statistic.merge, len(partials)), Cost()
    for k, (summary, cost) in enumerate(partials):
        # Merging may change the earlier one, which is another task's result and may be asked for
        # again. Where there is none before it, a later one is the earlier one.
        later = k & 1 and partials[k - 1][0] is not None
        tree.put(k, summary if later else deepcopy(summary))
        total += cost
    return tree.result, total


def same(value: R) -> R:
    """Return what all tasks of a pass need, as a task: so it is made again if a worker dies."""
    return value


def pack(asked: Any) -> bytes:
    """Return what is asked for as bytes, to be sent along."""
    from distributed.protocol import pickle

    dumps: Any = pickle.dumps  # which has no types
    packed: bytes = dumps(asked)
    return packed


def unpack(asked: bytes) -> Any:
    """Return what was packed."""
    from distributed.protocol import pickle

    loads: Any = pickle.loads
    return loads(asked)
