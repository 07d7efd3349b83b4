"""Queries: ``{column: label, …}``, a conjunction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.schema.schema import Schema

__all__ = ["check_query"]


def check_query(schema: Schema, query: Any, argument: str = "given") -> list[tuple[int, int]]:
    """Turn ``{column: label, …}`` into (column position, code) pairs, one for each column."""
    if not isinstance(query, Mapping):
        raise InputError(f"{argument} must map columns to labels, got {type(query).__name__}")
    codes: dict[int, int] = {}
    for column, label in query.items():
        position = schema.position(column, argument)
        if position in codes:
            raise InputError(f"{argument}: column {schema.names[position]!r} has two values")
        codes[position] = schema.column(position).code(label)
    return list(codes.items())
