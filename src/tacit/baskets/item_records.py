"""Records as sets of items: which values are items, and records with one of them hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.schema import Schema
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["as_matrix", "hidden_entries", "item_schema", "missing_values", "without_entries"]


def item_schema(schema: Schema) -> Schema:
    """Return the schema with False, or 0, as the default of columns that are True or False.

    An item is a value that is not the default: of a flag, that it is set, however common that is.
    """
    defaults = schema.defaults.copy()
    for labels in {id(x): x for x in schema.labels}.values():
        if len(labels) == 2 and labels.items in ((False, True), (0, 1)):
            shared = [k for k, x in enumerate(schema.labels) if x is labels]
            defaults[shared] = 0
    if (defaults == schema.defaults).all():
        return schema
    return Schema(schema.names, schema.labels, defaults)


def missing_values(schema: Schema) -> NDArray[np.bool_]:
    """Return which value ids say that a value is missing, which is no item."""
    codes = np.array([-1 if x.missing is None else x.missing for x in schema.labels], np.int64)
    return np.asarray(schema.value_codes == codes[schema.value_columns])


def as_matrix(table: Table) -> sparse.csr_array:
    """Return records × values, with a one for each value that a record holds."""
    ones = np.ones(len(table.values))
    shape = (table.n_records, table.schema.n_values)
    return sparse.csr_array((ones, table.values.astype(np.int64), table.indptr), shape=shape)


def hidden_entries(table: Table) -> NDArray[np.int64]:
    """Return positions among the stored values: items of records that hold another value, too."""
    lengths = np.diff(table.indptr)
    several = np.repeat(lengths >= 2, lengths)
    return np.flatnonzero(several & ~missing_values(table.schema)[table.values])


def without_entries(table: Table, entries: NDArray[np.int64]) -> tuple[Table, NDArray[np.int64]]:
    """Return, for each entry, its record without it; and the values that were taken out.

    Parameters
    ----------
    table : Table
    entries : array of int64
        Positions among the stored values.
    """
    records = np.searchsorted(table.indptr, entries, side="right") - 1
    lengths = np.diff(table.indptr)[records]
    ends = np.cumsum(lengths)
    starts = ends - lengths
    first = table.indptr[:-1][records]
    source = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - starts, lengths)
    kept = source != np.repeat(entries, lengths)
    indptr = np.concatenate(([0], ends - np.arange(1, len(ends) + 1)))
    values: Any = table.values
    weights = None if table.weights is None else table.weights[records]
    baskets = Table.from_stored(table.schema, indptr, values[source[kept]], weights)
    return baskets, values[entries].astype(np.int64)
