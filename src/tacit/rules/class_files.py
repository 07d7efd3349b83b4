"""Classes in files: what they are, and the type of the array that held them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table.schema_json import pack_schema, unpack_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pack_classes", "unpack_classes"]

_KINDS = "biufM"  # others are strings or objects


def pack_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return classes as JSON can hold them, under the names that files have for them."""
    kept = classes.dtype.kind in _KINDS
    return {
        "classes": pack_schema(Schema(["y"], [Labels(classes.tolist(), "String")], [0])),
        "class_type": classes.dtype.str if kept else None,
    }


def unpack_classes(facts: dict[str, Any]) -> NDArray[Any]:
    """Return the classes that :func:`pack_classes` packed.

    >>> days = np.array(["2026-05-01", "2026-05-02"], "datetime64[D]")
    >>> unpack_classes(pack_classes(days)).dtype
    dtype('<M8[D]')
    """
    items, dtype = unpack_schema(facts["classes"]).labels[0].items, facts["class_type"]
    if dtype is None:
        texts = all(isinstance(item, str) for item in items)
        return np.array(items, None if texts else object)
    kind = np.dtype(str(dtype))
    if kind.kind not in _KINDS:
        raise InputError(f"its classes are of the type {dtype!r}")
    return np.array(items, kind)
