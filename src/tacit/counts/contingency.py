"""Counts of all label combinations of a few columns."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.machine import check_fits

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from tacit.counts.records import Counts, StoredRecords, Subset
    from tacit.schema import Column

__all__ = ["ContingencyTable", "contingency"]


def contingency(records: StoredRecords, columns: Sequence[int], chosen: Subset) -> ContingencyTable:
    """Count the label combinations of the given columns among the chosen records.

    O(stored values of these columns + records + cells).
    """
    schema = records.schema
    if len(set(columns)) < len(columns):
        raise InputError("columns must be distinct")
    shape = tuple(int(schema.arities[c]) for c in columns)
    n_cells = math.prod(shape)
    check_fits(8 * n_cells, f"a table of {n_cells:,} cells", "ask for fewer columns")
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    start, rows = records.postings
    # A record's cell is the all-default cell plus a step for each stored value.
    base = sum(int(schema.defaults[c]) * s for c, s in zip(columns, strides, strict=True))
    cell = np.full(records.n_records, base, np.int64)
    for c, stride in zip(columns, strides, strict=True):
        bounds = start[schema.offsets[c] : schema.offsets[c + 1] + 1]
        steps = (schema.codes_of(c) - schema.defaults[c]) * stride
        cell[rows[bounds[0] : bounds[-1]]] += np.repeat(steps, np.diff(bounds))
    weights = records.weights
    if chosen is not None:
        cell = cell[chosen]
        weights = weights if weights is None else weights[chosen]
    counts: Counts = np.bincount(cell, weights, minlength=n_cells)
    return ContingencyTable(tuple(schema.column(c) for c in columns), counts.reshape(shape))


class ContingencyTable:
    r"""Counts for every combination of labels of some columns.

    Parameters
    ----------
    columns : tuple of Column
    counts : ndarray
        One axis for each column, in its code order.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"sky": ["blue", "grey", "grey"], "rain": [False, True, False]})
    >>> table.contingency(["sky", "rain"])
    sky × rain, 3 records
    sky \ rain  False  True
    blue            1     0
    grey            1     1
    """

    def __init__(self, columns: tuple[Column, ...], counts: Counts) -> None:
        self.columns = columns
        self._counts = counts

    @property
    def total(self) -> int | float:
        """The (weighted) number of records."""
        total: int | float = self._counts.sum().item()
        return total

    def to_array(self) -> Counts:
        """Return a copy of the counts, one axis for each column."""
        return self._counts.copy()

    def __getitem__(self, labels: Any) -> int | float:
        wanted = labels if isinstance(labels, tuple) else (labels,)
        if len(wanted) != len(self.columns):
            names = ", ".join(column.name for column in self.columns)
            raise InputError(f"one label is needed for each of {names}, got {len(wanted)}")
        cell = tuple(c.code(label) for c, label in zip(self.columns, wanted, strict=True))
        count: int | float = self._counts[cell].item()
        return count

    def to_frame(self, *, zeros: bool = False) -> pl.DataFrame:
        """Return a Polars frame with a row for each combination that occurs.

        Parameters
        ----------
        zeros : bool, default False
            Include combinations that do not occur.
        """
        codes = (
            np.indices(self._counts.shape).reshape(len(self.columns), -1)
            if zeros
            else np.array(np.nonzero(self._counts)).reshape(len(self.columns), -1)
        )
        data: dict[str, Any] = {}
        for column, k in zip(self.columns, codes, strict=True):
            data[column.name] = _label_series(column).gather(k)
        data[free_name("count", data)] = self._counts[tuple(codes)]
        return pl.DataFrame(data)

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        rows, cols = self.columns
        head = [f"{rows.name} \\ {cols.name}", *(_show(x) for x in cols.labels)]
        body = [
            [_show(label), *(f"{n:,}" if isinstance(n, int) else f"{n:,.6g}" for n in line)]
            for label, line in zip(rows.labels, self._counts.tolist(), strict=True)
        ]
        return head, body

    def __repr__(self) -> str:
        total = self.total
        shown = f"{total:,}" if isinstance(total, int) else f"{total:,.6g}"
        title = f"{' × '.join(c.name for c in self.columns)}, {shown} records"
        if len(self.columns) != 2 or max(self._counts.shape) > 20:
            return f"{title}\n{self.to_frame()}"
        head, body = self._grid()
        widths = [max(len(line[k]) for line in [head, *body]) for k in range(len(head))]
        lines = [
            "  ".join(
                text.ljust(width) if k == 0 else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in [head, *body]
        ]
        return "\n".join([title, *lines])

    def _repr_html_(self) -> str:
        if len(self.columns) != 2 or max(self._counts.shape) > 50:
            return self.to_frame()._repr_html_()
        head, body = self._grid()
        lines = ["<table><tr>" + "".join(f"<th>{html.escape(t)}</th>" for t in head) + "</tr>"]
        for label, *cells in body:
            lines.append(
                f"<tr><th>{html.escape(label)}</th>"
                + "".join(f"<td>{cell}</td>" for cell in cells)
                + "</tr>"
            )
        return "".join([*lines, "</table>"])


def _label_series(column: Column) -> pl.Series:
    try:
        return pl.Series(list(column.labels))
    except (TypeError, OverflowError):  # moments, some of them as numbers
        return pl.Series([label_text(label) for label in column.labels], dtype=pl.String)


def free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with as many underscores behind it as it takes to be a new one."""
    while name in taken:
        name += "_"
    return name


def label_text(label: Any) -> str | None:
    """Return a label as text for a frame; missing stays missing."""
    return None if label is None else str(label)


def _show(label: Any) -> str:
    return "(missing)" if label is None else str(label)
