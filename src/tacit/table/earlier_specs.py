"""What models of version 0.1 remembered of their X, in four ways, read as one."""

from __future__ import annotations

from typing import Any

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.schema.types import is_temporal, parse_type
from tacit.table.discretise import Edges, bins_of
from tacit.table.input_spec import InputSpec, Numbers, Origin, array_names
from tacit.table.schema_json import unpack_schema

__all__ = ["read_earlier"]


def read_earlier(content: dict[str, Any]) -> InputSpec:
    """Return the spec of a model's columns, whichever model it was."""
    origin = content["kind"]
    if origin not in ("table", "frame", "array"):
        raise InputError(f"its features are of the kind {origin!r}, which is not known")
    if "nominal" in content:
        return _of_rules(origin, content)
    if "inputs" in content:
        labels = content["labels"]
        return _of_parts(origin, content["inputs"], labels)
    if "numeric" in content:
        packed = content["features"]
        if packed is None:
            return InputSpec.of_domains(
                origin, content["names"], [Numbers()] * len(content["names"])
            )
        import json

        return _of_parts(origin, content["names"], json.loads(packed)["schema"])
    return InputSpec.of_schema(_cut(unpack_schema(content["schema"]), content["cuts"]), origin)


def _cut(schema: Schema, cuts: dict[str, Any]) -> Schema:
    """Return a schema whose bins know their edges; one bin of all numbers has none to be read."""
    labels = list(schema.labels)
    for name, points in cuts.items():
        column = schema.position(name, "cuts")
        old = labels[column]
        labels[column] = bins_of(Edges(tuple(points)).edges, missing=old.missing is not None)
        if labels[column].items != old.items:
            raise InputError(f"its features have column {name!r} cut into other bins than labels")
    return Schema(schema.names, labels, schema.defaults)


def _of_parts(origin: Origin, names: Any, packed: Any) -> InputSpec:
    """Return the spec of columns that have labels where a schema knows them."""
    schema = None if packed is None else unpack_schema(packed)
    held = set() if schema is None else set(schema.names)
    if schema is None:
        return InputSpec.of_domains(origin, _checked(names), [Numbers()] * len(names))
    numbers = {k: Numbers() for k, name in enumerate(_checked(names)) if name not in held}
    return InputSpec._assembled(origin, names, numbers, schema)


def _of_rules(origin: Origin, content: dict[str, Any]) -> InputSpec:
    names = content["names"]
    names = array_names(names) if origin == "array" else _checked(names)
    nominal = set(content["nominal"])
    told = {*nominal, *map(int, content["types"]), *map(int, content["labels"])}
    if not told <= set(range(len(names))):
        raise ValueError("a column is not among those that have names")
    domains: list[Any] = [
        Numbers("Float64", "categorical" if k in nominal else "numeric") for k in range(len(names))
    ]
    for k, dtype in content["types"].items():
        if dtype == "Boolean":
            domains[int(k)] = Labels([False, True], "Boolean")
        elif is_temporal(dtype):
            parse_type(dtype)
            domains[int(k)] = Numbers(dtype, "ordered")
        else:
            raise ValueError("a column has a type that is not known")
    for k, items in content["labels"].items():
        kind: Any = "categorical" if int(k) in nominal else "ordered"
        if not items or len(set(items)) < len(items) or not all(isinstance(x, str) for x in items):
            raise ValueError("labels must be distinct strings")
        domains[int(k)] = Labels(items, "String", kind=kind)
    return InputSpec.of_domains(origin, names, domains)


def _checked(names: Any) -> list[str]:
    fine = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not fine or not 0 < len(set(names)) == len(names):
        raise ValueError("names must be distinct strings")
    return list(names)
