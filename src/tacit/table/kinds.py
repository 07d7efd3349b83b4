"""Kinds of columns: numeric, ordered, categorical, boolean or identifier.

They follow from the type of a column and how often its values repeat, unless the caller names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError, no_column
from tacit.schema import KINDS, Schema
from tacit.table.discretise import Auto

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Kind, Labels

__all__ = [
    "as_kinds",
    "check_kinds",
    "kind_reason",
    "mark_identifier",
    "of_kind",
    "schema_of_kinds",
]

_IDENTIFIERS = 50  # labels that a column has at least before they are called identifiers


def of_kind(labels: Labels, kind: Kind | None, name: str) -> Labels:
    """Return the labels of a column as the kind that was asked for, if one was."""
    if kind is None or kind == labels.chosen_kind:
        return labels
    if kind == "boolean" and len(labels) - (labels.missing is not None) > 2:
        raise InputError(f"kinds: column {name!r} has {len(labels):,} labels, not two")
    if kind == "numeric" and not labels.is_numeric and labels.edges is None:
        raise InputError(f"kinds: column {name!r} holds {labels.dtype}, not numbers")
    return labels.with_kind(kind)


def schema_of_kinds(schema: Schema, kinds: Any) -> Schema:
    """Return a schema whose columns are of the kinds that a caller names."""
    wanted = check_kinds(kinds, schema.names)
    labels = list(schema.labels)
    for name, kind in wanted.items():
        column = schema.position(name)
        labels[column] = of_kind(labels[column], kind, name)
    return Schema(schema.names, labels, schema.defaults) if wanted else schema


def mark_identifier(labels: Labels, n_records: int) -> Labels:
    """Return text labels as those of an identifier, if nearly every record has one of its own.

    That is from nine labels to ten records on. Numbers are cut where they are many, and say no more
    of a record than its bin.
    """
    n = len(labels) - (labels.missing is not None)
    few = n < _IDENTIFIERS or n < 0.9 * n_records
    if few or labels.chosen_kind is not None or labels.kind != "categorical":
        return labels
    return labels.with_kind("identifier")


def kind_reason(labels: Labels, n_records: int) -> str:
    """Return in words why a column is of its kind, and where it is cut."""
    if labels.edges is not None:
        shown = ", ".join(f"{edge:g}" for edge in labels.edges[:4])
        more = ", …" if len(labels.edges) > 4 else ""
        return f"numbers, cut at {shown}{more}" if labels.edges else "numbers, in one bin"
    n = len(labels) - (labels.missing is not None)
    if labels.chosen_kind == "identifier":
        return f"{n:,} labels in {n_records:,} records: nearly all records have one of their own"
    if labels.chosen_kind == "boolean" and labels.dtype == "Boolean":
        return "items, which are there or not"
    if labels.chosen_kind is not None:
        return f"as was asked for; the data are {labels.dtype}"
    if labels.is_numeric:
        real = not (np.floor(labels.numbers[:n]) == labels.numbers[:n]).all()
        cut = Auto().cuts(labels.numbers[:n], n_records)
        what = f"{'real' if real else 'whole'} numbers; {n:,} are"
        return f"{what} too many for labels" if cut else f"{what} few enough to be labels"
    return {"boolean": "truth values", "ordered": f"{labels.dtype}, which has an order"}.get(
        labels.kind, f"{'text' if labels.dtype == 'String' else labels.dtype} without an order"
    )


def check_kinds(kinds: Any, names: Sequence[str]) -> dict[str, Kind]:
    """Return the kinds of columns that a caller names, by name."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise InputError(f"kinds must map columns to kinds, got {type(kinds).__name__}")
    known, checked = set(names), {}
    for column, kind in kinds.items():
        name = column
        if isinstance(column, int | np.integer) and not isinstance(column, bool):
            if not -len(names) <= column < len(names):
                raise InputError(f"kinds: column {column} is not among the {len(names)} columns")
            name = names[int(column)]
        if name not in known:
            raise no_column("kinds", column, names)
        if kind not in KINDS:
            raise InputError(
                f"kinds: column {name!r} must be one of {', '.join(KINDS)}; got {kind!r}"
            )
        checked[name] = kind
    return checked


def as_kinds(frame: pl.DataFrame, kinds: Mapping[str, Kind]) -> pl.DataFrame:
    """Return a frame whose columns of text are numbers where they are said to be numeric."""
    changed = []
    for name, kind in kinds.items():
        series = frame.get_column(name)
        if kind == "numeric" and not (series.dtype.is_numeric() or series.dtype == pl.Null):
            text = series.cast(pl.String)
            numbers = text.cast(pl.Float64, strict=False)
            wrong = numbers.is_null() & text.is_not_null()
            if wrong.any():
                record = int(wrong.arg_max() or 0)
                raise InputError(
                    f"kinds: column {name!r} is no number at record {record}: {text[record]!r}"
                )
            changed.append(numbers)
    return frame.with_columns(changed)
