"""From a Table to what the growth kernel takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.table.discretise import MANY
from tacit.tree.growth.settings import MISSING, NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Labels, Schema
    from tacit.table import Table

__all__ = ["MISSING", "NUMBERS", "Coding", "number_columns", "ordered_columns", "table_coding"]


class Coding(NamedTuple):
    """What the growth kernel takes of X (see :class:`tacit.schema.Schema` for value ids)."""

    # The stored values, by record and by value.
    indptr: NDArray[np.int64]
    values: NDArray[Any]
    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    # The first value id and the default's code of each column.
    offsets: NDArray[np.int64]
    defaults: NDArray[np.int64]
    # Which columns are split at thresholds: 1 for labels, 2 for numbers, which never have a child
    # for each. MISSING more where the last label is that of missing values.
    ordered: NDArray[np.uint8]


def number_columns(schema: Schema, least: int = 1) -> NDArray[np.bool_]:
    """Return which columns hold numbers that mean numbers, at least so many different ones."""
    if least > 2 and schema.two_valued:
        return np.zeros(len(schema), np.bool_)
    return schema.of_labels(
        lambda labels: labels.is_numeric and labels.kind == "numeric" and len(labels) >= least,
        np.bool_,
    )


def ordered_columns(schema: Schema) -> NDArray[np.uint8]:
    """Return which columns are split at thresholds: ordered ones of three labels or more.

    Whole numbers may have a child for each, as labels have; real numbers never do. Columns with
    missing values are marked, too.
    """
    if schema.two_valued:
        return np.zeros(len(schema), np.uint8)
    return schema.of_labels(_order, np.uint8)


def _order(labels: Labels) -> int:
    if len(labels) <= 2:
        return 0
    kind = NUMBERS if _real(labels) else int(labels.kind in ("numeric", "ordered"))
    return kind | MISSING if kind and labels.missing is not None else kind


def _real(labels: Labels) -> bool:
    """Return whether labels are numbers that are not all whole."""
    if not labels.is_numeric or labels.kind != "numeric":
        return False
    numbers = labels.numbers[: labels.missing]
    return not bool((numbers == np.floor(numbers)).all())


def table_coding(table: Table, *, numbers: bool) -> Coding:
    """Take a Table as it is; its columns of `numbers` may be split at thresholds alone."""
    schema, (start, rows) = table.schema, table.postings
    flags = ordered_columns(schema)
    only = number_columns(schema, MANY + 1)  # too many for a child each
    if numbers:
        only |= number_columns(schema)
    flags[only] = (flags[only] & MISSING) | NUMBERS
    return Coding(table.indptr, table.values, start, rows, schema.offsets, schema.defaults, flags)
