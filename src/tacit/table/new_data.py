"""Data that a fitted model is asked about, brought to the columns that it knows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError, InputWarning, absent_column
from tacit.schema import Labels, Schema
from tacit.table.build import Parts
from tacit.table.containers import as_frame
from tacit.table.recode import fill_absent
from tacit.table.table import Table

if TYPE_CHECKING:
    from tacit.table.input_spec import InputSpec

__all__ = ["baskets_table", "frame_by_name", "known_columns"]

_NAMED = 5  # names that a warning shows


def baskets_table(X: Any, spec: InputSpec) -> Table:
    """Return baskets under the columns of a model; items that it does not know are reported."""
    known = set(spec.names)
    unknown: dict[str, int] = {}
    kept = []
    for basket in X:
        items = {str(item) for item in basket}
        for item in items - known:
            unknown[item] = unknown.get(item, 0) + 1
        kept.append(items & known)
    if unknown:
        shown = ", ".join(repr(item) for item in list(unknown)[:_NAMED])
        more = ", …" if len(unknown) > _NAMED else ""
        warnings.warn(
            f"X: items that were not there in fit are passed over: {shown}{more} "
            f"({len(unknown):,} of them, {sum(unknown.values()):,} times)",
            InputWarning,
            stacklevel=5,
        )
    position = {name: k for k, name in enumerate(spec.names)}
    rows = [sorted(position[item] for item in items) for items in kept]
    indptr = np.cumsum([0, *map(len, rows)])
    values = np.array([k for row in rows for k in row], np.int64)
    return Table.from_stored(spec.schema, indptr, values)


def frame_by_name(X: Any, spec: InputSpec, *, fill: bool) -> pl.DataFrame:
    """Return a frame with the columns of a model, in order; absent ones may have their defaults."""
    frame, _ = as_frame(X, "X")
    held, columns = set(frame.columns), []
    for k, name in enumerate(spec.names):
        if name in held:
            columns.append(frame.get_column(name))
        elif fill:
            default = spec.schema.column(k).default_label
            columns.append(pl.repeat(default, frame.height, eager=True).alias(name))
        else:
            raise absent_column("X", name, frame.columns)
    return pl.DataFrame(columns)


def known_columns(table: Table, spec: InputSpec, model: str, *, fill: bool) -> Table:
    """Return a Table that has all columns of a model; absent ones may have their defaults.

    A model of an array knows no names: its columns are those that have positions for names, as
    Tables of arrays do, or all columns in order.
    """
    held = set(table.schema.names)
    if held.issuperset(spec.names):
        return table
    if spec.origin == "array":
        return _by_position(table, spec, model)
    if fill:
        return Table._of(fill_absent(table, spec.schema))
    name = next(name for name in spec.names if name not in held)
    raise absent_column("X", name, table.schema.names)


def _by_position(table: Table, spec: InputSpec, model: str) -> Table:
    n, held = len(spec.names), set(table.schema.names)
    names = [str(k) for k in range(n)]
    if "0" in held:  # of a sparse file, whose last columns may hold nothing but zeros
        zero = Labels([0], "Int64")
        wanted = Schema(names, [zero] * n, [0] * n)
        table = Table._of(fill_absent(table, wanted)).select(names)
    elif table.n_columns != n:
        raise InputError(
            f"X has {table.n_columns} features, but {model} is expecting {n} features as input"
        )
    schema = Schema(spec.names, table.schema.labels, table.schema.defaults)
    parts = Parts(schema, table.indptr, table.values, table.weights)
    return Table._of(parts).with_index(table.index)
