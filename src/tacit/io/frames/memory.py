"""What values take in memory while they are read and coded: estimates that are not to be passed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["coding_bytes", "frame_width", "has_heap", "record_width"]

_CODE_BYTES = 4  # of a value that is being coded
_KEY_BYTES = 26  # of a value that is being looked up, which an eighth of the columns is at a time
_TURNS = 8


def frame_width(dtype: Any) -> float:
    """Return the bytes that a value takes in a frame, without the text that it points to."""
    if dtype == pl.Null:
        width = 0.0
    elif dtype == pl.Boolean:
        width = 0.125
    elif dtype.is_numeric() and not dtype.is_decimal():
        width = int(re.sub(r"\D", "", str(dtype))) / 8
    elif dtype in (pl.Categorical, pl.Enum, pl.Date):
        width = 4
    else:
        width = 8 if dtype.is_temporal() else 16
    return width + 0.125  # whether it is missing


def has_heap(dtype: Any) -> bool:
    """Return whether values of a type may point to text elsewhere."""
    return bool(dtype == pl.String or dtype == pl.Binary or dtype.is_nested())


def record_width(types: Iterable[Any]) -> float:
    """Return the bytes of a record with columns of these types: in a frame, and to be coded."""
    widths = [frame_width(dtype) for dtype in types]
    return sum(widths) + coding_bytes(1, len(widths))


def coding_bytes(n_records: int, n_columns: int) -> int:
    """Return what it takes to code a frame, beside the frame and the Table that it becomes."""
    at_once = max(min(2, n_columns), -(-n_columns // _TURNS))
    return n_records * (_CODE_BYTES * n_columns + _KEY_BYTES * at_once)
