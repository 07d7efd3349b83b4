"""Tables in partitions: their distinct records as they are shown, or a pass for each question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts import Counter, Distinct
from tacit.counts.distinct import (
    CodeMap,
    CodeWords,
    DistinctRecords,
    TooManyError,
    code_type,
    linked_counts,
    stored_values,
)
from tacit.errors import InputError
from tacit.machine import available_memory
from tacit.statistic import Statistic
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit import _core
    from tacit.counts.counter import Given, Group, Tables
    from tacit.explore.views import Views
    from tacit.scale import PartitionedTable
    from tacit.statistic import Partition

__all__ = ["Passes", "count_partitions", "shown_codes", "table_of"]


def _code_map(views: Views) -> CodeMap:
    return CodeMap(views.columns, views.schema.arities.tolist(), views.codes)


def count_partitions(table: PartitionedTable, views: Views) -> Counter:
    """Return what answers questions about a table in partitions, as it is shown.

    That is its distinct records, found in one pass, if they fit within a quarter of the memory
    limit; else every question is a pass.
    """
    if table.weighted:
        raise InputError("table: partitions with weights cannot be explored; read them as a Table")
    shown = _code_map(views)
    memory = (table.memory or available_memory() or 2**62) // 4
    statistic = DistinctRecords.within(shown, memory, table.partition_sizes)
    try:
        counted = table.reduce(statistic, what="distinct records")
    except TooManyError:
        return Passes(table, views)
    return Distinct.of_counts(views.schema, CodeWords(shown.arities), counted)


def shown_codes(table: PartitionedTable, views: Views) -> list[NDArray[Any]]:
    """Return the codes of all records as they are shown, column by column."""
    parts = list(table.map(CodesOf(_code_map(views))))
    return [np.concatenate([part[c] for part in parts]) for c in range(len(views.columns))]


@dataclass(frozen=True)
class CodesOf:
    """The codes of a partition as they are shown."""

    shown: CodeMap

    def __call__(self, partition: Partition) -> list[NDArray[Any]]:
        """Return an array for each column."""
        each = zip(self.shown.of(partition.records), self.shown.arities, strict=True)
        return [codes.astype(code_type(arity)) for codes, arity in each]


def table_of(distinct: Distinct) -> Table:
    """Return the distinct records as a Table; how often each occurs is its weight."""
    indptr, values = stored_values(distinct.schema, distinct.codes)
    times = distinct.times.astype(np.float64)
    return Table.from_stored(distinct.schema, indptr, values, times)


@dataclass(frozen=True)
class LinkedCounts(Statistic["NDArray[np.int64]"]):
    """Tables of several selections, in one pass over partitions."""

    shown: CodeMap
    groups: list[tuple[list[list[int]], Given]]

    @property
    def exact(self) -> bool:
        """Sums of whole numbers: partitions may be added in any order."""
        return True

    def partial(self, partition: Partition) -> NDArray[np.int64]:
        """Count those of a partition."""
        codes = CodesOf(self.shown)(partition)
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
        return self._table.reduce(LinkedCounts(_code_map(self._views), groups), what="counts")
