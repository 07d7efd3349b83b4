"""Contingency tables as frames, in terminals and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.counts.contingency.cells import codes_of
from tacit.counts.formatting import free_name, label_column, show_label, show_number
from tacit.machine import check_fits
from tacit.plot.html import frame_html, table_html

if TYPE_CHECKING:
    from tacit.counts.contingency.table import ContingencyTable

__all__ = ["html_text", "plain_text", "to_frame"]

_WIDEST_TEXT, _WIDEST_HTML = 20, 50  # labels of a grid; more make a list


def to_frame(table: ContingencyTable, zeros: bool) -> pl.DataFrame:
    """Return a frame with a row for each cell that occurs, or for each cell there is."""
    if zeros:
        needed = 8 * table.n_cells * (len(table.columns) + 1)
        check_fits(needed, f"a frame of {table.n_cells:,} rows", "leave zeros out")
        table = table.to_dense()
        cells, arrays = np.arange(table.n_cells), table._flat()
    else:
        cells, arrays = table._listed()
        occurs = arrays[0] != 0
        cells, arrays = cells[occurs], [array[occurs] for array in arrays]
    data: dict[str, Any] = {}
    for position, column in enumerate(table.columns):
        codes = codes_of(cells, table.shape, position)
        data[free_name(column.name, data)] = label_column(column).gather(codes)
    for name, array in zip(("count", "lower", "upper"), arrays, strict=False):
        data[free_name(name, data)] = array
    return pl.DataFrame(data)


def title(table: ContingencyTable) -> str:
    """Return the line above the counts."""
    parts = [
        " × ".join(table.names),
        table._note or f"{'' if table.exact else 'about '}{show_number(table.total)} records",
    ]
    if table.layout == "sparse":
        parts.append(f"{table.n_occurring:,} of {table.n_cells:,} cells occur")
    if not table.exact:
        parts.append("approximate [lower, upper]")
        if table.rest_upper:
            parts.append(f"cells not listed are at most {show_number(table.rest_upper)}")
    return ", ".join(parts)


def plain_text(table: ContingencyTable) -> str:
    """Return the counts as text: two columns as a grid if they fit, all else as a list."""
    if not _fits(table, _WIDEST_TEXT):
        return f"{title(table)}\n{table.to_frame()}"
    head, body = _grid(table)
    widths = [max(len(line[k]) for line in [head, *body]) for k in range(len(head))]
    lines = [
        "  ".join(
            text.ljust(width) if k == 0 else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [head, *body]
    ]
    return "\n".join([title(table), *lines])


def html_text(table: ContingencyTable) -> str:
    """Return the counts as HTML."""
    if not _fits(table, _WIDEST_HTML):
        return frame_html(table.to_frame(), title=title(table))
    head, body = _grid(table)
    return table_html(head, body, title=title(table))


def _fits(table: ContingencyTable, widest: int) -> bool:
    return len(table.columns) == 2 and max(table.shape) <= widest


def _grid(table: ContingencyTable) -> tuple[list[str], list[list[str]]]:
    rows, columns = table.columns
    head = [f"{rows.name} \\ {columns.name}", *map(show_label, columns.labels)]
    texts = [_count_text(*numbers) for numbers in zip(*_each(table), strict=True)]
    width = columns.arity
    body = [
        [show_label(label), *texts[k * width : (k + 1) * width]]
        for k, label in enumerate(rows.labels)
    ]
    return head, body


def _each(table: ContingencyTable) -> list[list[int | float]]:
    """Return all counts, and their bounds where there are any. A grid is small: it may be dense."""
    return [array.tolist() for array in table.to_dense()._flat()]


def _count_text(count: float, lower: float | None = None, upper: float | None = None) -> str:
    if lower is None or upper is None or lower == upper:
        return show_number(count)
    return f"{show_number(count)} [{show_number(lower)}, {show_number(upper)}]"
