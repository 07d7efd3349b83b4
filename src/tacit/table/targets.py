"""How estimators take their y, from beside X or out of it, and how classes are saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.utils.validation import column_or_1d

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table.features import is_frame, is_sparse
from tacit.table.gateway import check_weights
from tacit.table.schema_json import pack_schema, unpack_schema
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "class_labels",
    "pack_classes",
    "read_class_target",
    "read_sample_weight",
    "read_target",
    "refuse_reals",
    "require_target",
    "take_target",
    "unpack_classes",
    "without_target",
]

_CLASS_KINDS = "biufM"  # of arrays; others are strings or objects


def read_target(y: Any, n_records: int) -> pl.Series:
    """Return a target as a series: as long as there are records, and with nothing missing."""
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


def require_target(model: Any, y: Any) -> None:
    """Refuse to learn without a target, in the words of scikit-learn."""
    if y is None:
        raise InputError(
            f"This {type(model).__name__} estimator requires y to be passed, "
            "but the target y is None"
        )


def read_sample_weight(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    """Return weights that were given beside X."""
    try:
        return check_weights(sample_weight, n_records)
    except InputError as error:
        raise InputError(f"sample_weight: {error}") from None


def read_class_target(y: Any, n_records: int) -> pl.Series:
    """Return a target of classes as a series; real numbers are refused as scikit-learn does."""
    series = read_target(y, n_records)
    try:
        refuse_reals(series)
    except InputError as error:
        raise InputError(f"Unknown label type: {error}") from None
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


def take_target(X: Any, name: str) -> tuple[Any, Any]:
    """Return a frame, or a mapping of columns, without its target, and the target."""
    if isinstance(X, Mapping) and not is_sparse(X):
        columns = dict(X)
        if name not in columns:
            raise InputError(f"y: there is no column {name!r}")
        return columns, columns.pop(name)
    if not nw.dependencies.is_into_dataframe(X):
        raise InputError(f"y: an array has no column {name!r}; give a frame, or y as an array")
    frame = nw.from_native(X, eager_only=True)
    if name not in frame.columns:
        raise InputError(f"y: there is no column {name!r}")
    return frame.drop(name).to_native(), frame[name].to_native()


def without_target(X: Any, name: str | None) -> Any:
    """Return X without a column that was the target in fit, if it is there."""
    if name is None or isinstance(X, Table):
        return X
    if isinstance(X, Mapping) and not is_sparse(X):
        return {key: column for key, column in X.items() if key != name}
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return frame.drop(name).to_native() if name in frame.columns else X
    return X


def class_labels(items: Sequence[Any]) -> NDArray[Any]:
    """Return labels as an array of their type; of objects where they are of several."""
    kinds = {type(item) for item in items}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        try:
            return np.array(items)
        except OverflowError:
            pass
    labels = np.empty(len(items), object)
    labels[:] = items
    return labels


def pack_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return classes as JSON can hold them, under the names that files have for them."""
    kept = classes.dtype.kind in _CLASS_KINDS
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
        return class_labels(items)
    kind = np.dtype(str(dtype))
    if kind.kind not in _CLASS_KINDS:
        raise InputError(f"its classes are of the type {dtype!r}")
    return np.array(items, kind)


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
