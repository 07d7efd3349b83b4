"""Contingency tables counted directly, from a table's stored values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.contingency import ContingencyTable
from tacit.errors import InputError
from tacit.machine import check_fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.counts.records import Counts, StoredRecords, Subset

__all__ = ["contingency"]


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
