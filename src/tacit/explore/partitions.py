"""Tables in partitions: their distinct records as they are shown, or a pass for each question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts import Counter, Distinct
from tacit.counts.distinct import CodeWords, CountedWords, linked_counts
from tacit.errors import InputError
from tacit.machine import available_memory
from tacit.statistic import Statistic
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit import _core
    from tacit.counts.counter import Given, Group, Tables
    from tacit.explore.views import Views
    from tacit.scale import PartitionedTable
    from tacit.statistic import Partition

__all__ = ["Passes", "count_partitions", "table_of"]


class TooManyError(Exception):
    """There are more distinct records than fit."""


@dataclass(frozen=True)
class _Shown:
    """How the codes of a partition become those of what is shown."""

    columns: list[int]
    codes: list[NDArray[np.int64]]
    arities: list[int]

    @classmethod
    def of(cls, views: Views) -> _Shown:
        return cls(views.columns, views.codes, views.schema.arities.tolist())

    def codes_of(self, table: Table) -> Iterator[NDArray[np.int64]]:
        for column, code in zip(self.columns, self.codes, strict=True):
            yield code[table.codes(column)]


@dataclass(frozen=True)
class DistinctRecords(Statistic["CountedWords"]):
    """The distinct records of partitions, up to so many."""

    shown: _Shown
    most: int
    largest: int  # records of a partition

    @property
    def n_bytes(self) -> int:
        """What those of a partition take."""
        return 8 * (len(CodeWords(self.shown.arities)) + 1) * min(self.largest, self.most)

    def partial(self, partition: Partition) -> CountedWords:
        """Return those of a partition."""
        table, words = partition.records, CodeWords(self.shown.arities)
        return self._few(words.count(words.of(table.n_records, self.shown.codes_of(table))))

    def merge(self, one: CountedWords, other: CountedWords) -> CountedWords:
        """Return those of both."""
        return self._few(CodeWords(self.shown.arities).merge(one, other))

    def _few(self, counted: CountedWords) -> CountedWords:
        if len(counted.times) > self.most:
            raise TooManyError
        return counted


def count_partitions(table: PartitionedTable, views: Views) -> Counter:
    """Return what answers questions about a table in partitions, as it is shown.

    That is its distinct records, found in one pass, if they fit within a quarter of the memory
    limit; else every question is a pass.
    """
    if table.weighted:
        raise InputError("table: partitions with weights cannot be explored; read them as a Table")
    shown = _Shown.of(views)
    words = CodeWords(shown.arities)
    memory = table.memory or available_memory() or 2**62
    # While two parts are merged there are up to four copies of the words and the times.
    most = memory // (4 * (4 * 8 * (len(words) + 1) + len(shown.arities)))
    statistic = DistinctRecords(shown, int(most), int(table.partition_sizes.max()))
    try:
        counted = table.reduce(statistic, what="distinct records")
    except TooManyError:
        return Passes(table, views)
    return Distinct.of_counts(views.schema, words, counted)


def table_of(distinct: Distinct) -> Table:
    """Return the distinct records as a Table; how often each occurs is its weight."""
    schema = distinct.schema
    ids = np.empty((distinct.n_distinct, len(schema)), np.int64)
    for c, codes in enumerate(distinct.codes):
        default = int(schema.defaults[c])
        values = schema.offsets[c] + codes.astype(np.int64)
        values -= codes > default
        values[codes == default] = -1
        ids[:, c] = values
    stored = ids >= 0
    indptr = np.concatenate(([0], np.cumsum(stored.sum(axis=1))))
    return Table.from_stored(schema, indptr, ids[stored], distinct.times.astype(np.float64))


@dataclass(frozen=True)
class LinkedCounts(Statistic["NDArray[np.int64]"]):
    """Tables of several selections, in one pass over partitions."""

    shown: _Shown
    groups: list[tuple[list[list[int]], Given]]

    @property
    def exact(self) -> bool:
        """Sums of whole numbers: partitions may be added in any order."""
        return True

    def partial(self, partition: Partition) -> NDArray[np.int64]:
        """Count those of a partition."""
        codes = [code.astype(np.uint32) for code in self.shown.codes_of(partition.records)]
        arities = np.array(self.shown.arities, np.int64)
        return linked_counts(codes, None, arities, self.groups, partition.n_jobs)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up."""
        return one + other


class Passes(Counter):
    """Counts by one pass over partitions for each question, or each group of them."""

    def __init__(self, table: PartitionedTable, views: Views) -> None:
        self._table, self._views = table, views
        self._know(views.schema)

    @property
    def schema(self) -> Any:
        """Columns, labels and defaults as they are shown."""
        return self._views.schema

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self._table.n_records

    @property
    def nbytes(self) -> int:
        """Nothing is held."""
        return 0

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of weights: they are not."""
        return False

    def _engine(self) -> _core.Engine:
        raise NotImplementedError  # each question is a pass

    def count(self, query: Mapping[str, Any]) -> int:
        """Return the number of records that match."""
        return int(self._pass([([[]], self._query(query, "query"))])[0])

    def table(self, columns: Any, given: Any = None, *, layout: Any = "auto") -> Any:
        """Count every combination of labels of some columns."""
        return self.tables([columns], given)[0]

    def tables(self, column_sets: Any, given: Mapping[str, Any] | None = None) -> Tables:
        """Count many tables in one pass."""
        return self.linked([(column_sets, given)])[0]

    def linked(self, groups: Sequence[Group]) -> list[Tables]:
        """Count tables of several selections in one pass."""
        fixed: list[tuple[list[list[int]], Given]] = []
        for column_sets, given in groups:
            query: Given = ([], [], []) if given is None else self._query(given, "given")
            fixed.append((self._sets(column_sets), query))
        return self._divided(fixed, self._pass(fixed))

    def _pass(self, groups: list[tuple[list[list[int]], Given]]) -> NDArray[np.int64]:
        return self._table.reduce(LinkedCounts(_Shown.of(self._views), groups), what="counts")
