"""From codes to stored values: the last step wherever a Table is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit import _core
from tacit.errors import InputError, did_you_mean
from tacit.schema import Schema
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.schema import Labels

__all__ = [
    "Coded",
    "Native",
    "Parts",
    "choose_defaults",
    "default_codes",
    "lay_out",
    "store_codes",
    "value_type",
]

Native: TypeAlias = tuple[str, dict[str, Any]]  # the kind of frame, and the types of its columns


@dataclass
class Parts:
    """What a Table is made of."""

    schema: Schema
    indptr: NDArray[np.int64]
    values: NDArray[Any]
    weights: Any = None
    native: Native | None = None
    index: pl.Series | None = None  # record ids
    sizes: NDArray[np.int64] | None = None  # how many records hold each value id, if it is known


@dataclass
class Coded:
    """One column that is to be stored in a Table."""

    name: str
    labels: Labels  # in their final order
    codes: NDArray[np.uint32]  # a raw code for each record
    # The code under `labels` of each raw code, or -1 for "whatever is the default".
    ranks: NDArray[np.int64]
    counts: NDArray[np.int64]  # how often each label occurs


def choose_defaults(
    names: Sequence[str],
    labels: Sequence[Labels],
    counts: Sequence[NDArray[Any]],
    defaults: Any,
) -> NDArray[np.int64]:
    """Return each column's default: the label asked for, or the most common (then the first)."""
    if not len(names):
        return np.zeros(0, np.int64)
    columns = Schema(names, labels, np.zeros(len(names), np.int64))
    return default_codes(columns, np.concatenate(counts), defaults)


def default_codes(columns: Schema, counts: NDArray[Any], defaults: Any) -> NDArray[np.int64]:
    """Return the defaults to choose where `counts` are those of all labels, column after column."""
    starts = columns.cells[:-1]
    highest = np.repeat(np.maximum.reduceat(counts, starts), columns.arities)
    most_common = np.flatnonzero(counts == highest)
    chosen: NDArray[np.int64] = most_common[np.searchsorted(most_common, starts)] - starts
    if defaults is None:
        return chosen
    if isinstance(defaults, Mapping):
        for column, label in defaults.items():
            position = columns.position(column, "defaults")
            chosen[position] = columns.column(position).code(label)
        return chosen
    codes: dict[int, int] = {}  # columns mostly share their labels
    for position, labels in enumerate(columns.labels):
        if id(labels) not in codes:
            try:
                codes[id(labels)] = labels.code(defaults)
            except (KeyError, TypeError):
                raise InputError(
                    f"defaults: column {columns.names[position]!r} has no label {defaults!r}"
                    + did_you_mean(defaults, labels)
                ) from None
    asked = map(codes.__getitem__, map(id, columns.labels))
    return np.fromiter(asked, np.int64, len(columns))


def store_codes(columns: Sequence[Coded], defaults: Any, n_jobs: int) -> Parts:
    """Lay the codes of all columns out as stored values, record by record."""
    names = [column.name for column in columns]
    labels = [column.labels for column in columns]
    schema = Schema(
        names, labels, choose_defaults(names, labels, [c.counts for c in columns], defaults)
    )
    return Parts(schema, *lay_out(columns, schema.offsets, schema.defaults, n_jobs))


def lay_out(
    columns: Sequence[Any], offsets: NDArray[np.int64], defaults: NDArray[np.int64], n_jobs: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return what records store, in CSR form, of columns with raw codes and their ranks."""
    dtype = value_type(int(offsets[-1]))
    ids = []
    for column, first, default in zip(columns, offsets[:-1], defaults, strict=True):
        value_ids = first + column.ranks - (column.ranks > default)
        value_ids[(column.ranks == default) | (column.ranks < 0)] = -1
        ids.append(value_ids.astype(np.int32))
    codes = [column.codes for column in columns]
    n_records = len(codes[0])
    indptr = np.zeros(n_records + 1, np.int64)
    np.cumsum(_core.stored_lengths(codes, ids, n_records, n_jobs), out=indptr[1:])
    values = np.empty(indptr[-1], dtype)
    _core.stored_values(codes, ids, indptr, values, n_jobs)
    return indptr, values
