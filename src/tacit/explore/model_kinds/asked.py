"""What requests of the page may ask for, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.table import Table

__all__ = ["code_of", "column_of", "fraction_of", "whole_of"]


def column_of(table: Table, asked: Any, argument: str) -> int:
    """Return the position of a column."""
    if type(asked) is not int or not 0 <= asked < len(table.schema):
        raise InputError(f"{argument} must be the position of a column")
    return asked


def code_of(table: Table, column: int, asked: Any, argument: str) -> int:
    """Return the code of a label."""
    if type(asked) is not int or not 0 <= asked < len(table.schema.labels[column]):
        raise InputError(f"{argument} must be the code of a label of column {column}")
    return asked


def whole_of(asked: Any, argument: str, low: int, high: int) -> int:
    """Return a whole number of a range."""
    if type(asked) is not int or not low <= asked <= high:
        raise InputError(f"{argument} must be a number from {low} to {high}")
    return asked


def fraction_of(asked: Any, argument: str) -> float:
    """Return a number above 0 and up to 1."""
    if type(asked) not in (int, float) or not 0 < asked <= 1:
        raise InputError(f"{argument} must be a number above 0, at most 1")
    return float(asked)
