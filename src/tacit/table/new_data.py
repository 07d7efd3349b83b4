"""Data that a fitted model is asked about, brought to the columns that it knows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError, InputWarning, absent_column
from tacit.schema import Schema
from tacit.table.build import Parts
from tacit.table.containers import as_frame
from tacit.table.recode import fill_absent
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table.input_spec import InputSpec

__all__ = ["baskets_table", "frame_by_name", "known_columns", "text_to_numbers"]

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
    _check_held(held, spec, frame.columns, fill=fill)
    defaults = dict(zip(spec.schema.names, spec.schema, strict=True))
    for name in spec.names:
        if name in held:
            columns.append(frame.get_column(name))
        else:
            default = defaults[name].default_label
            columns.append(pl.repeat(default, frame.height, eager=True).alias(name))
    return pl.DataFrame(columns)


def _check_held(held: set[str], spec: InputSpec, names: Sequence[str], *, fill: bool) -> None:
    """Refuse data that lack a column which has no default, or all columns of a model."""
    numeric = dict(zip(spec.names, spec.numeric.tolist(), strict=True))
    lacking = [name for name in spec.names if name not in held]
    if len(lacking) == len(spec.names):
        raise absent_column("X", lacking[0], names)
    for name in lacking:
        if not fill or numeric[name]:
            raise absent_column("X", name, names)


def text_to_numbers(frame: pl.DataFrame, spec: InputSpec) -> pl.DataFrame:
    """Return a frame with text as numbers, where the model was told that text is numeric."""
    changed = []
    for series, domain in zip(frame.iter_columns(), spec.domains, strict=True):
        if series.dtype != pl.String or domain.kind != "numeric":
            continue
        numbers = series.cast(pl.Float64, strict=False)
        if numbers.null_count() == series.null_count():
            changed.append(numbers)
    return frame.with_columns(changed)


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
    _check_held(held, spec, table.schema.names, fill=fill)
    return Table._of(fill_absent(table, spec.schema))


def _by_position(table: Table, spec: InputSpec, model: str) -> Table:
    n = len(spec.names)
    positions = [name for name in table.schema.names if name.isdecimal()] or table.schema.names
    if len(positions) != n:
        raise InputError(
            f"X has {len(positions)} features, but {model} is expecting {n} features as input"
        )
    if len(positions) < table.n_columns:  # a column beside those of an array, such as a target
        table = table.select(positions)
    schema = Schema(spec.names, table.schema.labels, table.schema.defaults)
    parts = Parts(schema, table.indptr, table.values, table.weights)
    return Table._of(parts).with_index(table.index)
