"""Entries of sparse files, whose value left out is given, under the defaults asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.schema import Schema
from tacit.table.build import Parts, choose_defaults, value_type
from tacit.table.recode import restore

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["store_entries"]


def store_entries(
    schema: Schema,
    n_records: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    codes: NDArray[np.int64],
    defaults: Any,
    *,
    drop_missing: bool = False,
) -> Parts:
    """Store (row, column, code) entries; where there is none, a record has the schema's default.

    Entries come in any order, but at most one for each row and column. `defaults` are as for
    :class:`tacit.Table`. With `drop_missing`, missing values become the default.
    """
    kept = codes != schema.defaults[columns]
    rows, columns, codes = rows[kept], columns[kept], codes[kept]
    ids = schema.offsets[columns] + codes - (codes > schema.defaults[columns])
    keys = rows * max(1, schema.n_values) + ids  # below 2^62, as both factors are below 2^31
    if len(keys) > 1 and not (np.diff(keys) > 0).all():
        keys.sort()
        rows, ids = np.divmod(keys, schema.n_values)
    indptr = np.searchsorted(rows, np.arange(n_records + 1)).astype(np.int64)
    parts = Parts(schema, indptr, ids.astype(value_type(schema.n_values)))
    held = np.bincount(ids, minlength=schema.n_values)
    stored = np.add.reduceat(np.append(held, 0), schema.offsets[:-1])
    stored[schema.arities == 1] = 0  # an empty range, which reduceat takes for one entry
    counts, labels = [], list(schema.labels)
    for c, column_labels in enumerate(labels):
        lo, hi = schema.offsets[c], schema.offsets[c + 1]
        default = int(schema.defaults[c])
        every = np.insert(held[lo:hi], default, n_records - stored[c])
        if drop_missing and column_labels.missing is not None and len(column_labels) > 1:
            labels[c] = column_labels.without_missing()
            every = every[:-1]
        counts.append(every)
    chosen = choose_defaults(schema.names, labels, counts, defaults)
    new = Schema(schema.names, labels, chosen)
    return parts if new == schema else restore(parts, new)
