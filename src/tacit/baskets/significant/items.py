"""Items of records: the conditions ``column = label`` of which conjunctions are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Items", "list_items"]


class Items(NamedTuple):
    """Which records hold each item: ``rows[start[i] : start[i + 1]]``, ascending."""

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    columns: NDArray[np.int64]  # of each item
    codes: NDArray[np.int64]


def list_items(table: Table, default_conditions: bool | str, missing: str) -> Items:
    """Return the items of a table: stored values, and defaults where conditions may ask for them.

    Columns of one value have none.
    """
    schema, (start, rows) = table.schema, table.postings
    lists: list[NDArray[np.int32]] = []
    columns, codes = [], []
    for c in range(len(schema)):
        if schema.arities[c] < 2:
            continue
        labels, default = schema.labels[c], int(schema.defaults[c])
        first, last = int(schema.offsets[c]), int(schema.offsets[c + 1])
        held = [(k + (k >= default), start[first + k]) for k in range(last - first)]
        ends = [*(begin for _, begin in held[1:]), start[last]]
        for (code, begin), end in zip(held, ends, strict=True):
            if end > begin and not (missing == "ignore" and code == labels.missing):
                lists.append(rows[begin:end])
                columns.append(c)
                codes.append(code)
        wanted = _asks_for_default(schema, c, default_conditions)
        if wanted and not (missing == "ignore" and default == labels.missing):
            absent = np.ones(table.n_records, np.bool_)
            absent[rows[start[first] : start[last]]] = False
            lists.append(np.flatnonzero(absent).astype(np.int32))
            columns.append(c)
            codes.append(default)
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


def _asks_for_default(schema: Schema, column: int, default_conditions: bool | str) -> bool:
    """Return whether a condition may ask for a column's default.

    Where a column says whether something is there, absence is no item.
    """
    if default_conditions != "auto":
        return bool(default_conditions)
    labels, default = schema.labels[column], schema.defaults[column]
    label: Any = labels[default]
    return not (len(labels) == 2 and isinstance(label, bool | int | float) and label == 0)


def _refuse_missing(schema: Schema, columns: list[int], codes: list[int]) -> None:
    for column, code in zip(columns, codes, strict=True):
        if code == schema.labels[column].missing:
            raise InputError(f"X: column {schema.names[column]!r} has missing values")
