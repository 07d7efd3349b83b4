"""Counts of every value of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.counts.formatting import label_text, show_number
from tacit.counts.records import Counts, StoredRecords, Subset, as_records, derive, total_weight
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from tacit.schema import Label, Schema

__all__ = ["OneWay", "one_way"]


def one_way(records: StoredRecords, chosen: Subset, n_jobs: int) -> OneWay:
    """Count every value of every column in one pass over the stored values."""
    schema = records.schema
    stored = _core.one_way(as_records(records, chosen), n_jobs)
    return OneWay(schema, stored, total_weight(records, chosen))


def sum_by_column(schema: Schema, stored: Counts) -> Counts:
    """Add up, along the last axis, the counts of the stored values of each column."""
    sums = np.zeros((*stored.shape[:-1], len(schema)), stored.dtype)
    busy = np.flatnonzero(schema.arities > 1)  # reduceat has no notion of an empty range
    if len(busy):
        sums[..., busy] = np.add.reduceat(stored, schema.offsets[busy], axis=-1)
    return sums


class OneWay(Result):
    """Counts of every value of every column.

    Attributes
    ----------
    schema : Schema
    stored : ndarray of shape (n_values,)
        Counts of the stored values, by value id.
    counts : ndarray of shape (total arity,)
        Counts of all values, column after column in code order; the defaults are derived.
    total : int or float
        The (weighted) number of records counted.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"A": [1, 2, 1, 1, 0, 1, 1], "B": [1, 2, 0, 2, 0, 0, 0]})
    >>> counts = table.one_way()
    >>> counts["A"]
    {0: 1, 1: 5, 2: 1}
    """

    def __init__(self, schema: Schema, stored: Counts, total: float | int) -> None:
        self.schema = schema
        self.stored = stored
        self.total = total
        self.counts = np.empty(int(schema.cells[-1]), stored.dtype)
        self.counts[schema.value_cells] = stored
        self.counts[schema.default_cells] = derive(total, sum_by_column(schema, stored))
        for array in (self.counts, self.stored):
            array.flags.writeable = False  # tables keep them, for all who ask

    def array(self, column: str | int) -> Counts:
        """Return the counts of one column, in code order."""
        c = self.schema.position(column)
        return self.counts[self.schema.cells[c] : self.schema.cells[c + 1]]

    def __getitem__(self, column: str | int) -> dict[Label, Any]:
        c = self.schema.position(column)
        return dict(zip(self.schema.labels[c], self.array(c).tolist(), strict=True))

    def to_frame(self) -> pl.DataFrame:
        """Return a Polars frame with a row for each value: column, label, count and fraction."""
        schema = self.schema
        return pl.DataFrame(
            {
                "column": np.repeat(np.array(schema.names, dtype=object), schema.arities).tolist(),
                "label": [label_text(x) for ls in schema.labels for x in ls],
                "count": self.counts,
                "fraction": self.counts / self.total if self.total else np.zeros(len(self.counts)),
            }
        )

    def _html(self) -> str:
        title = f"Counts of {len(self.schema):,} columns, {show_number(self.total)} records"
        return frame_html(self.to_frame(), title=title)

    def __repr__(self) -> str:
        return f"OneWay of {len(self.schema)} columns, {self.total:,} records\n{self.to_frame()}"
