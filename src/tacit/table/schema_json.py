"""A schema as JSON, for files: labels keep their types."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.schema import KINDS, Label, Labels, Schema
from tacit.schema.types import label_series, parse_type
from tacit.table.discretise import Edges, bin_labels, text_labels

__all__ = ["pack_schema", "schema_from_json", "schema_to_json", "unpack_schema", "write_json"]


def _pack(label: Label) -> Any:
    """JSON has no dates: they travel as a one-entry object that says what they are."""
    if isinstance(label, dt.datetime):
        return {"datetime": label.isoformat()}
    if isinstance(label, dt.date):
        return {"date": label.isoformat()}
    if isinstance(label, dt.time):
        return {"time": label.isoformat()}
    if isinstance(label, dt.timedelta):
        return {"timedelta": [label.days, label.seconds, label.microseconds]}
    return label


def _unpack(item: Any) -> Label:
    if isinstance(item, dict):
        ((kind, text),) = item.items()
        if kind == "timedelta":
            return dt.timedelta(*text)
        types: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}
        unpacked: Label = types[kind].fromisoformat(text)
        return unpacked
    if item is not None and not isinstance(item, (str, int, float, bool)):
        raise ValueError("a label is not a scalar")
    return item


def _pack_labels(labels: Labels) -> dict[str, Any]:
    packed: dict[str, Any] = {"dtype": labels.dtype, "items": [_pack(x) for x in labels]}
    if labels.edges is not None:
        packed["edges"] = labels.edges
    if labels.chosen_kind is not None:
        packed["kind"] = labels.chosen_kind
    return packed


def _unpack_labels(packed: Any, typed: bool) -> Labels:
    items, dtype = [_unpack(x) for x in packed["items"]], str(packed["dtype"])
    parse_type(dtype)
    kind = packed.get("kind")
    if kind is not None and kind not in KINDS:
        raise ValueError(f"a column is of the kind {kind!r}")
    edges = packed.get("edges")
    if edges is None and dtype == "String":  # files of version 0.1 say it in the labels alone
        edges = text_labels(items).edges
    elif edges is not None:
        edges = Edges(tuple(edges)).edges
        if tuple(items[: len(items) - (items[-1] is None)]) != bin_labels(edges):
            raise ValueError("a column is cut into other bins than its labels")
    labels = Labels(items, dtype, edges=edges, kind=kind)
    labels.code(labels[0])  # which refuses labels that are there twice
    if labels.is_numeric:
        kind_of = {"I": np.int64, "U": np.uint64, "F": np.float64}
        numbers = np.array(items[: labels.missing], kind_of[dtype[0]])
        if numbers.tolist() == items[: labels.missing] and (numbers[1:] > numbers[:-1]).all():
            return Labels.of_numbers(numbers, dtype, missing=items[-1] is None, kind=kind)
    try:
        if typed:
            label_series(labels)  # which refuses labels of another type
    except (TypeError, pl.exceptions.PolarsError):
        raise ValueError(f"a column has labels that are not of the type {dtype}") from None
    return labels


def pack_schema(schema: Schema) -> dict[str, Any]:
    """Return a schema as JSON can hold it; labels that columns share are written once."""
    shared: dict[int, int] = {}
    sets: list[Any] = []
    for labels in schema.labels:
        if id(labels) not in shared:
            shared[id(labels)] = len(sets)
            sets.append(_pack_labels(labels))
    return {
        "names": schema.names,
        "labels": [shared[id(labels)] for labels in schema.labels],
        "defaults": schema.defaults.tolist(),
        "sets": sets,
    }


def unpack_schema(content: Any, *, typed: bool = True) -> Schema:
    """Read what :func:`pack_schema` returned, and believe none of it unchecked.

    Labels are of the type that their column has if it is `typed`; classes, for one, are not.
    """
    try:
        sets = [_unpack_labels(packed, typed) for packed in content["sets"]]
        names = content["names"]
        labels = [sets[k] for k in content["labels"]]
        defaults = content["defaults"]
        fine = all(isinstance(name, str) for name in names) and all(
            isinstance(d, int) and 0 <= d < len(ls) for d, ls in zip(defaults, labels, strict=True)
        )
    except (
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise InputError(f"its schema cannot be read ({error})") from None
    if not fine:
        raise InputError("its schema names a column or a default that cannot be")
    return Schema(names, labels, defaults)


def write_json(content: Any) -> bytes:
    """Write JSON that names and labels of users are part of."""
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a name or label cannot be written as text: {error.object!r}") from None


def schema_to_json(schema: Schema) -> bytes:
    """Write a schema."""
    return write_json(pack_schema(schema))


def schema_from_json(data: bytes) -> Schema:
    """Read what :func:`schema_to_json` wrote."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"its schema cannot be read ({error})") from None
    return unpack_schema(content)
