"""What goes with a basket: items, baskets by name, and ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse

from tacit.errors import InputError, did_you_mean
from tacit.table import Table
from tacit.table.containers import is_frame
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["is_one_basket", "item_name", "rank_items", "read_basket", "same_columns"]

_CELLS = 4_000_000  # probabilities that are ranked together


def item_name(schema: Schema, value: int) -> str:
    """Return a value as people call it; of two-valued columns, True and 1 need no saying.

    >>> from tacit.schema import Labels, Schema
    >>> flag, words = Labels([False, True], "Boolean"), Labels(["no", "some", "all"], "String")
    >>> schema = Schema(["milk", "fat"], [flag, words], [0, 0])
    >>> item_name(schema, 0), item_name(schema, 2)
    ('milk', 'fat=all')
    """
    name, label = schema.value_label(value)
    plain = schema.arities[schema.value_columns[value]] == 2 and label in (True, 1)
    return name if plain else f"{name}={'(missing)' if label is None else label}"


def is_one_basket(basket: Any) -> bool:
    """Return whether this is one basket and not a table of many."""
    if isinstance(basket, Table | PathLike) or sparse.issparse(basket) or is_frame(basket):
        return False
    if isinstance(basket, Mapping):  # of labels, or of columns
        return not any(
            hasattr(x, "__len__") and not isinstance(x, str | bytes) for x in basket.values()
        )
    if isinstance(basket, list | tuple) and len(basket):  # pairs of one basket are tuples
        return not all(isinstance(items, list | set | frozenset) for items in basket)
    return not isinstance(basket, np.ndarray) or basket.ndim < 2


def read_basket(schema: Schema, basket: Any) -> Table:
    """Return one basket as a Table of one record."""
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"basket must be a list of items, got {basket!r}")
    entries = basket.items() if isinstance(basket, Mapping) else basket
    value_of: dict[int, int | None] = {}
    for entry in entries:
        column, value = _read_item(schema, entry)
        if value_of.setdefault(column, value) != value:
            raise InputError(f"basket: column {schema.names[column]!r} has two values")
    ids = np.array(sorted(v for v in value_of.values() if v is not None), np.int64)
    return Table.from_stored(schema, [0, len(ids)], ids.astype(value_type(schema.n_values)))


def _read_item(schema: Schema, entry: Any) -> tuple[int, int | None]:
    """Return the column and the value id of an item; no id for a default."""
    if isinstance(entry, tuple):
        if len(entry) != 2:
            raise InputError(f"basket: a pair is a column and a label, got {entry!r}")
        column = schema.position(entry[0], "basket")
        try:
            return column, schema.value_id(column, schema.column(column).code(entry[1]))
        except InputError as error:
            raise InputError(f"basket: {error}") from None
    if isinstance(entry, str) and entry not in schema.names:
        return _find_item(schema, entry)
    column = schema.position(entry, "basket")
    values = schema.values_of(column)
    if len(values) != 1:
        name = schema.names[column]
        known = "one value only" if not values else "several values; say which: (column, label)"
        raise InputError(f"basket: column {name!r} has {known}")
    [value] = values
    if item_name(schema, value) == schema.names[column]:
        return column, value
    if schema.column(column).default_label in (True, 1):
        return column, None  # what most records have
    labels = schema.column(column).labels.items
    raise InputError(
        f"basket: column {schema.names[column]!r} has the labels {labels[0]!r} and {labels[1]!r}; "
        "say which: (column, label)"
    )


def _find_item(schema: Schema, text: str) -> tuple[int, int]:
    """Return the item that is written like this, or say which ones are near."""
    items = {item_name(schema, value): value for value in range(schema.n_values)}
    if text in items:
        return int(schema.value_columns[items[text]]), items[text]
    raise InputError(f"basket: there is no item {text!r}{did_you_mean(text, items)}")


def rank_items(
    table: Table,
    predict: Callable[[Table], NDArray[np.float64]],
    most: int,
    column: str = "probability",
) -> pl.DataFrame:
    """Rank the items that records have nothing of: record, rank, item, and what ranks them.

    `predict` returns P(value | rest of the record), or a score, for all value ids, records ×
    values; `most` is how many items each record gets; `column` is what the probability is called.
    """
    schema = table.schema
    missing_codes = np.array([-1 if x.missing is None else x.missing for x in schema.labels])
    is_missing = schema.value_codes == missing_codes[schema.value_columns]
    step = max(1, _CELLS // max(schema.n_values, 1))
    chunks = []
    for begin in range(0, table.n_records, step):
        chunk = table.take(np.arange(begin, min(begin + step, table.n_records)))
        probabilities = predict(chunk)
        probabilities[:, is_missing] = -np.inf
        probabilities[same_columns(chunk)] = -np.inf
        record, value = _best(probabilities, most)
        chunks.append((record + begin, value, probabilities[record, value]))
    record, value, probability = (np.concatenate(columns) for columns in zip(*chunks, strict=True))
    first = np.searchsorted(record, record)  # where each record's items begin
    named = {int(v): item_name(schema, int(v)) for v in np.unique(value)}
    return pl.DataFrame(
        {
            "record": record,
            "rank": np.arange(1, len(record) + 1) - first,
            "item": pl.Series([named[v] for v in value.tolist()], dtype=pl.String),
            column: probability,
        }
    )


def same_columns(table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return records and values such that the record holds a value of the same column."""
    schema = table.schema
    columns = schema.value_columns[table.values]
    widths = schema.arities[columns] - 1
    rows = np.repeat(np.repeat(np.arange(table.n_records), np.diff(table.indptr)), widths)
    ends = np.cumsum(widths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - widths, widths)
    return rows, np.repeat(schema.offsets[columns], widths) + within


def _best(entries: NDArray[np.float64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the largest entries of each row, in order; of equals, the first."""
    n = entries.shape[1]
    if n == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    worst = np.partition(entries, max(n - most, 0), axis=1)[:, max(n - most, 0)]
    row, column = np.nonzero((entries >= worst[:, None]) & (entries > -np.inf))
    order = np.lexsort((column, -entries[row, column], row))
    row, column = row[order], column[order]
    kept = np.arange(len(row)) - np.searchsorted(row, row) < most
    return row[kept], column[kept]
