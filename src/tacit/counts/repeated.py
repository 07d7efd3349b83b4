"""Distinct records of partitions, as engines count them: each stands for several."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core, store
from tacit.counts.distinct import CodeMap, CodeWords, DistinctRecords, TooManyError, stored_values
from tacit.errors import InputError
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.store import State

__all__ = ["Repeated"]


class Repeated:
    """Records each of which occurs several times, as the weights of a Table say.

    Engines count them in whole numbers: as if each were there as often as it occurs.

    Parameters
    ----------
    table : Table
        With weights that are whole.
    """

    def __init__(self, table: Any) -> None:
        self.table = table
        times = table.weights
        if times is None or not ((times >= 1) & (times == np.floor(times))).all():
            raise InputError("table: how often records occur must be whole numbers")
        self.total = int(times.sum())

    @classmethod
    def of_partitions(cls, table: Any, memory: int) -> Repeated:
        """Return the distinct records of a table in partitions, in one pass.

        Parameters
        ----------
        table : PartitionedTable
        memory : int
            Bytes that they may take.
        """
        if table.weighted:
            raise InputError("table: partitions with weights have no tree; collect() them first")
        schema = table.schema
        shown = CodeMap(list(range(len(schema))), schema.arities.tolist())
        statistic = DistinctRecords.within(shown, memory, table.partition_sizes)
        try:
            counted = table.reduce(statistic, what="distinct records")
        except TooManyError:
            raise InputError(
                f"memory_limit: {human_bytes(memory)} are too little for the distinct records of "
                "the partitions; raise it, select fewer columns or cut numbers into fewer bins"
            ) from None
        codes = CodeWords(shown.arities).codes(counted)
        made: Any = store.class_of("table")
        indptr, values = stored_values(schema, codes)
        return cls(made.from_stored(schema, indptr, values, counted.times.astype(np.float64)))

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        schema: Schema = self.table.schema
        return schema

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where each record's stored values begin."""
        indptr: NDArray[np.int64] = self.table.indptr
        return indptr

    @property
    def values(self) -> NDArray[Any]:
        """Value ids, ascending within each record."""
        values: NDArray[Any] = self.table.values
        return values

    @property
    def weights(self) -> NDArray[np.float64]:
        """How often each record occurs."""
        times: NDArray[np.float64] = self.table.weights
        return times

    @property
    def n_records(self) -> int:
        """Number of distinct records."""
        return int(self.table.n_records)

    @property
    def postings(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The records of each value id, and where they begin."""
        postings: tuple[NDArray[np.int64], NDArray[np.int32]] = self.table.postings
        return postings

    @cached_property
    def column_store(self) -> _core.ColumnStore:
        """The columns as counting engines want them."""
        schema, (start, rows) = self.schema, self.postings
        return _core.ColumnStore(
            self.n_records, schema.offsets, schema.defaults, start, rows, self.weights, True
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Repeated, (self.table,)

    def to_state(self) -> State:
        """The named arrays that a file holds of the records."""
        state: State = self.table.to_state()
        return state
