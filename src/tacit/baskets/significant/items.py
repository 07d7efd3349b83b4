"""Items of records: the conditions ``column = label`` of which conjunctions are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Labels, Schema
    from tacit.table import Table

__all__ = ["Items", "list_items"]


class Items(NamedTuple):
    """Which records hold each item: ``rows[start[i] : start[i + 1]]``, ascending."""

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    columns: NDArray[np.int64]  # of each item
    codes: NDArray[np.int64]

    def repeated(self, often: NDArray[np.int64]) -> Items:
        """Return the items of records that are there several times, one after another, or never."""
        begin = np.cumsum(often) - often
        counts = often[self.rows]
        ends = np.concatenate(([0], np.cumsum(counts)))
        rows = np.repeat(begin[self.rows] - ends[:-1], counts) + np.arange(ends[-1])
        return self._replace(start=ends[self.start], rows=rows.astype(np.int32))


def list_items(table: Table, default_conditions: bool | str, missing: str) -> Items:
    """Return the items of a table: stored values, and defaults where conditions may ask for them.

    Columns of one value have none.
    """
    schema, (start, rows) = table.schema, table.postings
    lists: list[NDArray[np.int32]] = []
    columns, codes = [], []
    for c in range(len(schema)):
        labels, default = schema.labels[c], int(schema.defaults[c])
        first, last = int(schema.offsets[c]), int(schema.offsets[c + 1])
        for code in _conditions(labels, default, default_conditions):
            if missing == "ignore" and code == labels.missing:
                continue
            if code == default:
                absent = np.ones(table.n_records, np.bool_)
                absent[rows[start[first] : start[last]]] = False
                held = np.flatnonzero(absent).astype(np.int32)
            else:
                value = first + code - (code > default)
                held = rows[start[value] : start[value + 1]]
            if len(held):
                lists.append(held)
                columns.append(c)
                codes.append(code)
    if missing == "error":
        _refuse_missing(schema, columns, codes)
    lengths = np.array([0, *map(len, lists)], np.int64)
    together = np.concatenate(lists) if lists else np.zeros(0, np.int32)
    return Items(
        np.cumsum(lengths),
        np.ascontiguousarray(together, np.int32),
        np.array(columns, np.int64),
        np.array(codes, np.int64),
    )


def _conditions(labels: Labels, default: int, default_conditions: bool | str) -> list[int]:
    """Return the codes that conditions may ask for.

    Where a column says whether something is there, absence is no item, whatever the default.
    """
    if len(labels) < 2:
        return []
    if default_conditions != "auto":
        return [code for code in range(len(labels)) if default_conditions or code != default]
    presence = len(labels) == 2 and labels.missing is None and _is_absence(labels[0])
    return [1] if presence and labels[1] == 1 else list(range(len(labels)))


def _is_absence(label: Any) -> bool:
    return isinstance(label, bool | int | float) and label == 0


def _refuse_missing(schema: Schema, columns: list[int], codes: list[int]) -> None:
    for column, code in zip(columns, codes, strict=True):
        if code == schema.labels[column].missing:
            raise InputError(f"X: column {schema.names[column]!r} has missing values")
