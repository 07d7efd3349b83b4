"""What the tasks of a pass do: they run on workers, in one thread each."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.scale.cost import Cost
from tacit.scale.executor import compute
from tacit.statistic import MergeTree, Partition, Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.statistic import Statistic

__all__ = [
    "Block",
    "Loaded",
    "load_block",
    "map_parts",
    "merge_partials",
    "on_loaded",
    "on_read",
    "pack",
    "reduce_parts",
    "same",
]

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class Block:
    """Consecutive partitions that a task looks at.

    Attributes
    ----------
    first : int
        The number of the first of them.
    pieces : tuple of Piece
    firsts : tuple of int
        The numbers of their first records.
    """

    first: int
    pieces: tuple[Any, ...]
    firsts: tuple[int, ...]


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
        held = 0 if self.source else sum(getattr(own, "nbytes", 0) for own in self.records)
        return 256 + held

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source is not None:
            return load_block, self.source
        return Loaded, (self.first, self.firsts, self.records, self.cost)

    def parts(self, fresh: bool) -> Iterator[tuple[Partition | None, Cost]]:
        """Yield each partition, and what it cost to load those that were loaded just now."""
        for place, (first, records) in enumerate(zip(self.firsts, self.records, strict=True)):
            cost = self.cost if fresh and not place else Cost()
            yield _part(records, self.first + place, first), cost


def _part(records: Any, index: int, first: int) -> Partition | None:
    return None if records is None else Partition(records, index, first, 1)


def _read_parts(
    reader: bytes, block: Block, frames: Any
) -> Iterator[tuple[Partition | None, Cost]]:
    """Load one partition after another."""
    load = unpack(reader).load
    for place, piece in enumerate(block.pieces):
        if frames is not None:
            piece = replace(piece, delayed=frames[place])
        begin = time.perf_counter()
        records = load(piece, 1)
        cost = Cost.of_load(piece.disk_bytes, time.perf_counter() - begin)
        yield _part(records, block.first + place, block.firsts[place]), cost


def load_block(reader: bytes, block: Block, frames: Any = None) -> Loaded:
    """Load a block that is to be kept."""
    records, total = [], Cost()
    for part, cost in _read_parts(reader, block, frames):
        records.append(None if part is None else part.records)
        total += cost
    mapped = not any(piece.kept_bytes for piece in block.pieces)
    return Loaded(block.first, block.firsts, records, total, (reader, block) if mapped else None)


def on_loaded(work: Callable[..., Any], asked: bytes, loaded: Loaded, fresh: bool) -> Any:
    """Do work on a block that is in memory."""
    return work(asked, loaded.parts(fresh), len(loaded.records))


def on_read(
    work: Callable[..., Any], asked: bytes, reader: bytes, block: Block, frames: Any
) -> Any:
    """Do work on a block that is read for this pass only."""
    return work(asked, _read_parts(reader, block, frames), len(block.pieces))


def _each(
    function: Callable[[Partition], R], parts: Iterator[tuple[Partition | None, Cost]]
) -> Iterator[tuple[R | None, Cost]]:
    for part, cost in parts:
        if part is None:
            yield None, cost + Cost(partitions=1)
        else:
            found, spent = compute(function, part)
            yield found, cost + spent


def reduce_parts(
    asked: bytes, parts: Iterator[tuple[Partition | None, Cost]], n: int
) -> tuple[S | None, Cost]:
    """Return the statistic of n partitions."""
    statistic: Statistic[S] = unpack(asked)
    total = Cost()
    if statistic.exact:
        sums = Totals[S](statistic)
        for _, cost in _each(sums.add, parts):
            total += cost
        return sums.result, total
    tree = MergeTree(statistic.merge, n)
    for place, (found, cost) in enumerate(_each(statistic.partial, parts)):
        tree.put(place, found)
        total += cost
    return tree.result, total


def map_parts(
    asked: bytes, parts: Iterator[tuple[Partition | None, Cost]], n: int
) -> tuple[list[Any], Cost]:
    """Return what a function says of each partition."""
    results, total = [], Cost()
    for found, cost in _each(unpack(asked), parts):
        total += cost
        if found is not None:
            results.append(found)
    return results, total


def merge_partials(
    asked: bytes, partials: Sequence[tuple[S | None, Cost]]
) -> tuple[S | None, Cost]:
    """Return the statistic of some blocks."""
    statistic: Statistic[S] = unpack(asked)
    tree, total = MergeTree(statistic.merge, len(partials)), Cost()
    for place, (found, cost) in enumerate(partials):
        # Merging may change the earlier one, which is another task's result and may be asked for
        # again. Where there is none before it, a later one is the earlier one.
        later = place & 1 and partials[place - 1][0] is not None
        tree.put(place, found if later else deepcopy(found))
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
