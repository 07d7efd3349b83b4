"""A schema as JSON, for files: labels keep their types."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from tacit.errors import InputError
from tacit.schema import Label, Labels, Schema
from tacit.schema.types import parse_type

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


def pack_schema(schema: Schema) -> dict[str, Any]:
    """Return a schema as JSON can hold it; labels that columns share are written once."""
    shared: dict[int, int] = {}
    sets: list[Any] = []
    for labels in schema.labels:
        if id(labels) not in shared:
            shared[id(labels)] = len(sets)
            sets.append({"dtype": labels.dtype, "items": [_pack(x) for x in labels]})
    return {
        "names": schema.names,
        "labels": [shared[id(labels)] for labels in schema.labels],
        "defaults": schema.defaults.tolist(),
        "sets": sets,
    }


def unpack_schema(content: Any) -> Schema:
    """Read what :func:`pack_schema` returned, and believe none of it unchecked."""
    try:
        sets = [Labels([_unpack(x) for x in s["items"]], str(s["dtype"])) for s in content["sets"]]
        for each in sets:
            parse_type(each.dtype)
            each.code(each[0])  # which refuses labels that are there twice
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
