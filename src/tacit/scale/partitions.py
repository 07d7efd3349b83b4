"""Where partitions are and how they become records."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import InputError
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema
    from tacit.table import Table

__all__ = [
    "MemoryReader",
    "MemorySource",
    "PartitionSource",
    "Partitions",
    "Reader",
    "check_limit",
]


@dataclass(frozen=True, kw_only=True)
class PartitionSource:
    """Where a partition is: small and picklable."""

    name: str  # for error messages: the file and the row group or the bytes
    disk_bytes: int = 0  # what reading it takes from a disk
    # Memory that is needed to load it, at most: an estimate, no less than `kept_bytes`.
    load_bytes: int = 0
    kept_bytes: int = 0  # memory that it takes once it is loaded; 0 where it is mapped

    @property
    def copy_bytes(self) -> int:
        """Memory that a copy of some of its columns may take."""
        return self.kept_bytes or self.disk_bytes

    def delayed_frame(self) -> Any:
        """Return what a cluster has to compute before the partition can be read, or None."""
        return None


class Reader(ABC):
    """How the sources of a table become records: shared by all of them, picklable."""

    @abstractmethod
    def load(self, source: Any, n_jobs: int) -> Any:
        """Return the records of a partition, mostly as a Table; None if it has none.

        An error names the source.
        """

    def select(
        self, sources: tuple[Any, ...], schema: Schema, columns: Sequence[int]
    ) -> tuple[Reader, tuple[Any, ...]]:
        """Return a reader of some columns of all in `schema`, and the sources that it takes."""
        return _SelectingReader(self, tuple(columns)), _copied(sources)

    def conform(
        self, sources: tuple[Any, ...], schema: Schema, unseen: Literal["error", "default"]
    ) -> tuple[Reader, tuple[Any, ...]]:
        """Return a reader of the same records under another schema, and its sources."""
        return _ConformingReader(self, schema, unseen), _copied(sources)


def _copied(sources: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(s if s.kept_bytes else _CopiedSource.of(s) for s in sources)


@dataclass(frozen=True)
class _CopiedSource(PartitionSource):
    """A source that takes no memory, until some of its columns are copied out of it."""

    source: PartitionSource

    @classmethod
    def of(cls, source: PartitionSource) -> _CopiedSource:
        kept = source.copy_bytes
        load = max(source.load_bytes, kept)
        sizes = {"disk_bytes": source.disk_bytes, "load_bytes": load, "kept_bytes": kept}
        return cls(source, name=source.name, **sizes)


@dataclass(frozen=True)
class _SelectingReader(Reader):
    """Reads all columns and keeps some."""

    reader: Reader
    columns: tuple[int, ...]

    def load(self, source: Any, n_jobs: int) -> Table | None:
        inner = source.source if isinstance(source, _CopiedSource) else source
        table = self.reader.load(inner, n_jobs)
        return None if table is None else table.select(self.columns)


@dataclass(frozen=True)
class _ConformingReader(Reader):
    """Reads records and brings them under another schema: other labels, or bins for numbers."""

    reader: Reader
    schema: Schema
    unseen: Literal["error", "default"]

    def load(self, source: Any, n_jobs: int) -> Table | None:
        inner = source.source if isinstance(source, _CopiedSource) else source
        table = self.reader.load(inner, n_jobs)
        return None if table is None else table.conform(self.schema, unseen=self.unseen)


@dataclass(frozen=True)
class Partitions:
    """The partitions of a table, in order."""

    sources: tuple[Any, ...]
    reader: Reader
    # The number of the first record of each; zeros where that is not known yet.
    firsts: tuple[int, ...]
    # What is loaded under one key may be kept and used again.
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    # Whether a later pass will want them: not if they are only read to find the schema.
    keep: bool = True
    # The key of the partitions that these are some of, and which of them.
    home: tuple[str, tuple[int, ...]] | None = None

    def only(self, numbers: Sequence[int]) -> Partitions:
        """Return some of the partitions, in their order."""
        if len(numbers) == len(self.sources):
            return self
        chosen = tuple(numbers)
        sources, firsts = (tuple(x[k] for k in chosen) for x in (self.sources, self.firsts))
        return Partitions(sources, self.reader, firsts, keep=self.keep, home=(self.key, chosen))

    def identity(self, index: int) -> tuple[str, int]:
        """Return under which name a partition may be kept, whichever of them it is with."""
        return (self.key, index) if self.home is None else (self.home[0], self.home[1][index])

    def load(self, index: int, n_jobs: int) -> Any:
        """Load one of them."""
        return self.reader.load(self.sources[index], n_jobs)


def check_limit(partitions: Partitions, memory: int | None, reserved: int = 0) -> None:
    """Refuse partitions of which a single one would exceed a limit of memory."""
    if memory is None or not partitions.sources:
        return
    largest = max(partitions.sources, key=lambda source: source.load_bytes)
    if reserved > memory:
        raise InputError(
            f"memory: the statistic that is asked for needs about {human_bytes(reserved)} with its "
            f"merging, but the limit is {human_bytes(memory)}; raise the limit, or ask for less: "
            "fewer columns, clusters or starts"
        )
    if largest.load_bytes + reserved > memory:
        besides = f", besides {human_bytes(reserved)} for the statistic" if reserved else ""
        raise InputError(
            f"memory: {largest.name} needs about {human_bytes(largest.load_bytes)} to be "
            f"loaded{besides}, but the limit is {human_bytes(memory)}; raise the limit, or make "
            "smaller partitions"
        )


@dataclass(frozen=True)
class MemorySource(PartitionSource):
    """A Table in memory."""

    table: Table

    @property
    def copy_bytes(self) -> int:
        """Memory that a copy of some of its columns may take."""
        return self.table.nbytes


class MemoryReader(Reader):
    """Hands out tables that are in memory already."""

    def load(self, source: MemorySource, n_jobs: int) -> Table:
        """Return the Table."""
        return source.table
