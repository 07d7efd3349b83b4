"""Counts of every value of every column."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.counts.exact import Exact, ExactCounts, combine, count_digits, rounded, total_weight
from tacit.counts.formatting import label_text, show_number
from tacit.counts.records import Counts, StoredRecords, Subset, derive
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from tacit.schema import Label, Schema

__all__ = ["OneWay", "one_way"]


def one_way(records: StoredRecords, chosen: Subset, n_jobs: int) -> OneWay:
    """Count every value of every column in one pass over the stored values."""
    schema = records.schema
    stored = count_digits(records, chosen, lambda given: _core.one_way(given, n_jobs))
    return OneWay(schema, stored, total_weight(records, chosen))


def sum_by_column(schema: Schema, stored: Counts) -> Counts:
    """Add up, along the last axis, the counts of the stored values of each column."""
    sums = np.zeros((*stored.shape[:-1], len(schema)), stored.dtype)
    busy = np.flatnonzero(schema.arities > 1)  # reduceat has no notion of an empty range
    if len(busy):
        sums[..., busy] = np.add.reduceat(stored, schema.offsets[busy], axis=-1)
    return sums


def _all_counts(schema: Schema, stored: Counts, total: int | float) -> Counts:
    """Return the counts of all values, column after column in code order."""
    counts = np.empty(int(schema.cells[-1]), stored.dtype)
    counts[schema.value_cells] = stored
    counts[schema.default_cells] = derive(total, sum_by_column(schema, stored))
    return counts


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

    def __init__(self, schema: Schema, stored: ExactCounts, total: Exact | float | int) -> None:
        self.schema = schema
        self.sums = stored, total  # before rounding
        self.stored: Counts = rounded(stored)
        self.total: int | float = total.rounded().item() if isinstance(total, Exact) else total
        self.exact_counts = combine(partial(_all_counts, schema), stored, total)
        self.counts: Counts = rounded(self.exact_counts)
        for array in (self.counts, self.stored):
            array.flags.writeable = False  # tables keep them, for all who ask

    def array(self, column: str | int) -> Counts:
        """Return the counts of one column, in code order."""
        c = self.schema.position(column)
        return self.counts[self.schema.cells[c] : self.schema.cells[c + 1]]

    def exact_array(self, column: int) -> ExactCounts:
        """Return the counts of one column before rounding."""
        cells = slice(*self.schema.cells[column : column + 2].tolist())
        counts: ExactCounts = combine(lambda counts: counts[cells], self.exact_counts)
        return counts

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
