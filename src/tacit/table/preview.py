"""A table at a glance, for notebooks: its size, its first columns, and its first records.

One-way counts are all that is counted, and they are kept: the work is proportional to the stored
values, and only the columns that are shown are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.formatting import show_label, show_number
from tacit.plot.html import histogram, html_frame, table_html

if TYPE_CHECKING:
    from tacit.counts.records import Counts
    from tacit.schema import Column
    from tacit.table.table import Table

__all__ = ["preview"]

_COLUMNS, _RECORDS = 20, 5  # that are shown
_BARS, _SAID = 24, 8  # bars of a histogram, and labels that it names
_LONGEST = 60  # characters of a label


def preview(table: Table) -> str:
    """Return the HTML of a table."""
    shown = list(range(min(table.n_columns, _COLUMNS)))
    counts = table.one_way()
    rows = [_row(table.schema.column(c), counts.array(c), counts.total) for c in shown]
    hidden = table.n_columns - len(shown)
    note = f"… and {hidden:,} more column{'' if hidden == 1 else 's'}" if hidden else ""
    head = ["column", "kind", "default", "of records", "labels", "missing", "distribution"]
    title = str(table.summary().line())
    described = table_html(head, rows, title=title, note=note)
    return html_frame(described, _first_records(table, shown))


def _row(column: Column, counts: Counts, total: float) -> list[str]:
    default = float(counts[column.default])
    missing = column.labels.missing
    lost = 0.0 if missing is None else float(counts[missing])
    return [
        _short(column.name),
        _kind(column),
        _short(show_label(column.default_label)),
        _fraction(default, total),
        f"{column.arity - (missing is not None):,}",
        _fraction(lost, total) if lost else "",
        _bars(column, counts, total),
    ]


def _kind(column: Column) -> str:
    """Return what kind of column it is, and whether it is in bins."""
    if column.edges is None:
        return column.kind
    return f"{column.kind}, {len(column.edges) + 1} bins"


def _bars(column: Column, counts: Counts, total: float) -> str:
    """Return a histogram: of each label in code order, or where labels are many, of a part of them.

    Numbers are cut into intervals; of other labels, the most common ones are shown.
    """
    said = ", ".join(
        f"{_short(show_label(column.labels[code]))} {_fraction(float(counts[code]), total)}"
        for code in range(min(column.arity, _SAID))
    )
    known = column.labels.without_missing() if column.arity > 1 else column.labels
    if column.arity <= _BARS:
        heights = counts
    elif all(isinstance(x, int | float) for x in known):
        numbers = np.array(known.items, np.float64)
        heights, ends = np.histogram(numbers, _BARS, weights=counts[: len(numbers)])
        said = f"from {ends[0]:,.6g} to {ends[-1]:,.6g} in {_BARS} intervals"
    else:
        heights = counts[np.sort(np.argsort(-counts, kind="stable")[:_BARS])]
        said = f"the {_BARS} most common of {column.arity:,} labels"
    more = ", …" if _SAID < column.arity <= _BARS else ""
    return histogram((heights / (total or 1)).tolist(), f"{said}{more}")


def _first_records(table: Table, shown: list[int]) -> str:
    n = min(table.n_records, _RECORDS)
    first = table.take(np.arange(n)).select(shown)
    codes = first.to_numpy()
    labels = first.schema.labels
    rows = [
        [_short(show_label(labels[c][int(code)])) for c, code in enumerate(record)]
        for record in codes
    ]
    title = f"First {n} record{'' if n == 1 else 's'}"
    return table_html([_short(name) for name in first.schema.names], rows, title=title)


def _fraction(count: float, total: float) -> str:
    """Write a count as a fraction of all records.

    >>> _fraction(25, 100), _fraction(1, 100_000), _fraction(0, 0)
    ('25.0%', '<0.1%', '0')
    """
    if not total:
        return show_number(count)
    fraction = count / total
    return "<0.1%" if 0 < fraction < 0.0005 else f"{fraction:.1%}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
