"""Counts of one target column against every other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit import _core
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.exact import ExactCounts, combine, count_digits, rounded
from tacit.counts.formatting import free_name, label_text, show_number
from tacit.counts.one_way import OneWay, sum_by_column
from tacit.counts.records import Counts, StoredRecords, Subset, derive
from tacit.machine import check_fits
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from tacit.schema import Schema

__all__ = ["TwoWay", "two_way"]


def two_way(
    records: StoredRecords, target: int, chosen: Subset, singles: OneWay, n_jobs: int
) -> TwoWay:
    """Count a target's values against those of all columns (figure 3 of the paper).

    `singles` are the one-way counts of the same chosen records.
    """
    schema = records.schema
    ids = schema.values_of(target)
    cells = int(schema.arities[target]) * int(schema.cells[-1])
    check_fits(16 * cells, f"two-way counts of {cells:,} cells", "select fewer columns")
    stored = count_digits(
        records, chosen, lambda given: _core.two_way(given, ids.start, len(ids), n_jobs)
    )
    return TwoWay(schema, target, stored, singles)


def _all_counts(
    schema: Schema, target: int, stored: Counts, singles: Counts, of_target: Counts
) -> Counts:
    """Return the counts of all values of all columns, by code of the target."""
    default = int(schema.defaults[target])
    codes = schema.codes_of(target)
    cells = schema.value_cells
    counts = np.empty((int(schema.arities[target]), int(schema.cells[-1])), stored.dtype)
    counts[np.ix_(codes, cells)] = stored
    # Equation 2: a stored value's records that are not with another state of the target.
    counts[default, cells] = derive(singles, stored.sum(axis=0))
    # Equations 3 and 4: the target's records that hold none of a column's stored values.
    by_column = sum_by_column(schema, counts[:, cells])
    counts[:, schema.default_cells] = derive(of_target[:, None], by_column)
    return counts


class TwoWay(Result):
    r"""Counts of a target against every other column.

    Attributes
    ----------
    schema : Schema
    target : int
        Position of the target column.
    counts : ndarray of shape (target's arity, total arity)
        Row t holds the counts of all values of all columns among the records whose target has
        code t; columns follow each other as in :attr:`OneWay.counts`.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"A": [1, 2, 1, 1, 0, 1, 1], "C": [0, 0, 2, 1, 0, 2, 0]})
    >>> table.two_way("A")["C"]
    A × C, 7 records
    A \ C  0  1  2
    0      1  0  0
    1      2  1  2
    2      1  0  0
    """

    def __init__(self, schema: Schema, target: int, stored: ExactCounts, singles: OneWay) -> None:
        self.schema = schema
        self.target = target
        self.singles = singles
        self.sums = stored  # before rounding
        counted = stored, singles.sums[0], singles.exact_array(target)
        self.counts: Counts = rounded(combine(partial(_all_counts, schema, target), *counted))

    def __getitem__(self, column: str | int) -> ContingencyTable:
        c = self.schema.position(column)
        block = self.counts[:, self.schema.cells[c] : self.schema.cells[c + 1]]
        columns = (self.schema.column(self.target), self.schema.column(c))
        return ContingencyTable(columns, block)

    def to_frame(self) -> pl.DataFrame:
        """Return a Polars frame with a row for each pair of labels that occurs."""
        schema, t = self.schema, self.target
        codes, cells = np.nonzero(self.counts)
        columns = np.searchsorted(schema.cells, cells, side="right") - 1
        other = columns != t
        codes, cells, columns = codes[other], cells[other], columns[other]
        labels = [
            label_text(schema.labels[c][k])
            for c, k in zip(columns.tolist(), (cells - schema.cells[columns]).tolist(), strict=True)
        ]
        name = schema.names[t]
        return pl.DataFrame(
            {
                name: [label_text(schema.labels[t][k]) for k in codes.tolist()],
                free_name("column", [name]): [schema.names[c] for c in columns.tolist()],
                free_name("label", [name]): labels,
                free_name("count", [name]): self.counts[codes, cells],
            }
        )

    def _html(self) -> str:
        target, n = self.schema.names[self.target], len(self.schema)
        total = show_number(self.singles.total)
        title = f"{target} against {n - 1:,} columns, {total} records"
        return frame_html(self.to_frame(), title=title)

    def __repr__(self) -> str:
        name = self.schema.names[self.target]
        return f"TwoWay of {name!r} against {len(self.schema) - 1} columns\n{self.to_frame()}"
