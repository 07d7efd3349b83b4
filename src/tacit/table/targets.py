"""How estimators take their y: one value for each record, and none missing."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.utils.validation import column_or_1d

from tacit.errors import InputError

__all__ = ["read_target", "refuse_reals"]


def read_target(y: Any, n_records: int) -> pl.Series:
    """Return a target as a series: as long as there are records, and with nothing missing.

    Parameters
    ----------
    y : array-like of shape (n_records,), or series of any kind
    n_records : int
    """
    series = _series(y)
    if len(series) != n_records:
        raise InputError(
            f"y must have {n_records:,} entries, one for each record; got {len(series):,}"
        )
    is_missing = series.is_null() | (series.is_nan() if series.dtype.is_float() else False)
    if is_missing.any():
        raise InputError(
            f"y contains NaN or None: record {int(is_missing.arg_max() or 0)} is missing"
        )
    return series


def refuse_reals(series: pl.Series) -> None:
    """Refuse numbers that are not whole, where classes are asked for."""
    if not series.dtype.is_float():
        return
    numbers = series.to_numpy()
    broken = ~(np.isfinite(numbers) & (np.floor(numbers) == numbers))
    if broken.any():
        record = int(broken.argmax())
        raise InputError(
            f"y holds real numbers (record {record}: {series[record]}); cut it into classes first"
        )


def _mixes_strings(y: Any) -> bool:
    known = (value for value in y if value is not None and value == value)
    return len({isinstance(value, str) for value in known}) > 1


def _series(y: Any) -> pl.Series:
    try:
        if nw.dependencies.is_into_series(y):
            series: pl.Series = nw.from_native(y, series_only=True).to_polars()
            return series
        if isinstance(y, list | tuple) and _mixes_strings(y):
            raise InputError("y holds strings and others, which NumPy would all make strings")
        flat = column_or_1d(y, warn=True)
    except InputError:
        raise
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(f"y cannot be read: {error}") from None
    values = flat.tolist() if flat.dtype.kind in "OSU" else flat
    try:
        return pl.Series(values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        kinds = ", ".join(dict.fromkeys(type(value).__name__ for value in flat.tolist()))
        why = f"it holds values of these types: {kinds}"
        if kinds == "int":
            why = "it holds whole numbers that are too large; make them strings"
        raise InputError(f"y cannot be read: {why}") from None
