"""How a dependency tree takes its X: numbers, labels or both, and the same columns ever after."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from tacit import io
from tacit.errors import FileError, InputError
from tacit.network.dependency_tree.layout import Layout
from tacit.network.inference.records import without_missing
from tacit.network.structure.columns import Columns
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.features import (
    Features,
    array_frame,
    array_names,
    fit_features,
    is_sparse,
    note_features,
    read_features,
    take_columns,
)
from tacit.table.frames import specs_of
from tacit.table.gateway import check_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable

__all__ = ["Records", "fit_columns", "label_layout", "partition_columns", "read_records"]

_ON_DISK = (".parquet", ".pq", ".arrow", ".ipc", ".feather")


@dataclass(frozen=True)
class Records:
    """Records as a fitted tree reads them."""

    n_records: int
    numbers: NDArray[Any] | None  # (n_records, n_numeric), NaN where one is missing
    table: Table | None  # the discrete columns, under the schema of the layout's features
    weights: NDArray[np.float64] | None


def fit_columns(
    estimator: Any,
    X: Any,
    *,
    numeric: Any,
    discretise: Any,
    missing: str,
    sample_weight: Any,
    n_jobs: int | None,
) -> tuple[Columns, Layout]:
    """Take the X that a tree is fitted on, and say what to remember of it.

    The estimator gets `n_features_in_` and, where columns have names, `feature_names_in_`.
    """
    _check_numeric(numeric)
    if isinstance(X, (str, os.PathLike)):
        X = _open(X, numeric, discretise)
        if isinstance(X, Columns):
            if sample_weight is not None:
                raise InputError("sample_weight: records of a file have none")
            layout = Layout("frame", tuple(X.names), X.numeric, None, None)
            layout.note(estimator)
            return X, layout
    if isinstance(X, Table) or is_sparse(X):
        _refuse_numbers(numeric)
        table, features = fit_features(
            estimator, X, discretise=discretise, sample_weight=sample_weight, n_jobs=n_jobs
        )
        flags = np.zeros(table.n_columns, np.bool_)
        return _table_columns(table), _layout(features.kind, table, features, flags, missing)
    kind, given = take_columns(estimator, X, reset=True)
    if kind == "array" and discretise is None and _all_numbers(given, numeric):
        return _number_columns(given, sample_weight)
    frame = given if kind == "frame" else _frame(given)
    flags, specs = _choose(frame, numeric, discretise)
    numbers = _numbers(frame, flags) if flags.any() else None
    names = tuple(frame.columns)
    if flags.all():
        assert numbers is not None
        weights = _weights(sample_weight, frame.height)
        columns = Columns.from_array(numbers, names, weights)
        return columns, Layout(kind, names, flags, None, None)
    rest = frame.select([name for name, flag in zip(names, flags, strict=True) if not flag])
    if kind == "array" and missing == "state":
        _refuse_nan(rest)
    table, features = fit_features(
        BaseEstimator(), rest, discretise=specs or None, sample_weight=sample_weight, n_jobs=n_jobs
    )
    layout = _layout(kind, table, features, flags, missing, names)
    if numbers is None:
        return _table_columns(table), layout
    held = [name for name, flag in zip(names, flags, strict=True) if flag]
    _check_total(table.weights)
    return Columns.mixed(numbers, held, table, names), layout


def partition_columns(
    table: PartitionedTable, numeric: Any, missing: str
) -> tuple[Columns, Layout]:
    """Take a partitioned table: only its schema is read here."""
    _check_numeric(numeric)
    _refuse_numbers(numeric)
    features = Features(table.schema, {}, "table")
    flags = np.zeros(table.n_columns, np.bool_)
    return Columns.from_table(table), _layout("table", table, features, flags, missing)


def _refuse_nan(frame: pl.DataFrame) -> None:
    """Refuse NaN in discrete columns of arrays: what is missing has no label there."""
    for series in frame.iter_columns():
        if series.dtype.is_float() and series.is_nan().any():
            record = int(series.is_nan().arg_max() or 0)
            raise InputError(f"X contains NaN: column {series.name!r} at record {record}")


def _check_numeric(numeric: Any) -> None:
    if isinstance(numeric, str) and numeric not in ("auto", "all", "none"):
        raise InputError(
            f"numeric must be 'auto', 'all', 'none' or a list of columns, got {numeric!r}"
        )
    if not isinstance(numeric, str) and not isinstance(numeric, (list, tuple, np.ndarray)):
        raise InputError(
            f"numeric must be 'auto', 'all', 'none' or a list of columns, got {numeric!r}"
        )


def _refuse_numbers(numeric: Any) -> None:
    if isinstance(numeric, str):
        if numeric == "all":
            raise InputError("numeric: X is discrete; give numbers as an array or a frame")
    elif len(numeric):
        raise InputError("numeric: X is discrete; give numbers as an array or a frame")


def _open(path: Any, numeric: Any, discretise: Any) -> Any:
    """Return a file's numbers, to be read in parts, or all of it as a frame or a Table."""
    if PurePath(path).suffix.lower() in _ON_DISK and discretise is None:
        if not os.path.isfile(path):  # noqa: PTH113 - whatever has a path
            raise FileError(path, "no such file")
        try:
            scan = pl.scan_parquet if _is_parquet(path) else pl.scan_ipc
            types = scan(path).collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise FileError(path, f"cannot be read: {error}") from None
        flags, _ = _choose(pl.DataFrame(schema=types), numeric, None)
        if len(flags) and flags.all():
            return Columns.from_file(path)
    frame = io.read_frame(path)
    return io.read(path) if frame is None else frame


def _is_parquet(path: Any) -> bool:
    return PurePath(path).suffix.lower() in (".parquet", ".pq")


def _all_numbers(X: NDArray[Any], numeric: Any) -> bool:
    wanted = {"auto": "f", "all": "iuf"}.get(numeric, "") if isinstance(numeric, str) else ""
    return X.dtype.kind in wanted


def _number_columns(X: NDArray[Any], sample_weight: Any) -> tuple[Columns, Layout]:
    """Take an array of numbers as it is."""
    names = array_names(X.shape[1])
    columns = Columns.from_array(X, names, _weights(sample_weight, len(X)))
    return columns, Layout("array", tuple(names), columns.numeric, None, None)


def _table_columns(table: Table) -> Columns:
    _check_total(table.weights)
    return Columns.from_table(table)


def _weights(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    try:
        weights = check_weights(sample_weight, n_records)
    except InputError as error:
        raise InputError(f"sample_weight: {error}") from None
    _check_total(weights)
    return weights


def _check_total(weights: NDArray[np.float64] | None) -> None:
    if weights is not None and not weights.any():
        raise InputError("sample_weight: all weights are zero")


def _frame(X: NDArray[Any]) -> pl.DataFrame:
    """Return an array as a frame; NaN is left as it is in columns of numbers."""
    names = array_names(X.shape[1])
    if X.dtype.kind == "f":
        X = X.astype(np.float64, copy=False)
        return pl.DataFrame([pl.Series(name, X[:, k]) for k, name in enumerate(names)])
    return array_frame(X, names)


def _choose(
    frame: pl.DataFrame, numeric: Any, discretise: Any
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Return which columns are numbers, and how to cut others."""
    names, types = frame.columns, frame.dtypes
    if isinstance(numeric, str):
        specs = specs_of(frame, discretise, None)
        chosen = [
            name not in specs and _is_number(t, numeric)
            for name, t in zip(names, types, strict=True)
        ]
        return np.array(chosen, np.bool_), specs
    one = Labels([0], "Int64")
    shown = Schema(names, [one] * len(names), [0] * len(names))
    positions = {shown.position(column, "numeric") for column in numeric}
    for position in sorted(positions):
        if not types[position].is_numeric():
            raise InputError(
                f"numeric: column {names[position]!r} holds {types[position]}, not numbers"
            )
    named = {names[position] for position in positions}
    if isinstance(discretise, Mapping):
        for name in discretise:
            if name in named:
                raise InputError(f"numeric: column {name!r} is to be cut by discretise")
        specs = specs_of(frame, discretise, None)
    else:
        specs = specs_of(frame.drop(named), discretise, None)
    return np.array([name in named for name in names], np.bool_), specs


def _is_number(dtype: Any, numeric: str) -> bool:
    if numeric == "none":
        return False
    return bool(dtype.is_float() if numeric == "auto" else dtype.is_numeric())


def _numbers(frame: pl.DataFrame, flags: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the columns of numbers, NaN where one is missing, column after column in memory."""
    numbers = np.empty((frame.height, int(flags.sum())), np.float64, order="F")
    chosen = (s for s, flag in zip(frame.iter_columns(), flags, strict=True) if flag)
    for k, series in enumerate(chosen):
        numbers[:, k] = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return numbers


def _layout(
    kind: Any,
    table: Table | PartitionedTable,
    features: Features,
    flags: NDArray[np.bool_],
    missing: str,
    names: Sequence[str] | None = None,
) -> Layout:
    """Say which labels have probabilities, and which mean that a value is missing."""
    schema = features.schema
    kept = schema if missing == "state" else without_missing(schema, table)
    reading = Features(_with_missing(kept), features.cuts, features.kind)
    return Layout(kind, tuple(names or schema.names), flags, kept, reading)


def label_layout(schema: Schema) -> Layout:
    """Return the layout of an array's discrete columns that lack no value and are not cut."""
    reading = Features(_with_missing(schema), {}, "array")
    return Layout("array", tuple(schema.names), np.zeros(len(schema), np.bool_), schema, reading)


def _with_missing(schema: Schema) -> Schema:
    """Return the schema with a label for missing values in every column, behind the others."""
    shared: dict[int, Labels] = {}
    for labels in schema.labels:
        if id(labels) not in shared:
            known = labels.missing is not None
            shared[id(labels)] = labels if known else Labels([*labels.items, None], labels.dtype)
    return Schema(schema.names, [shared[id(labels)] for labels in schema.labels], schema.defaults)


def read_records(
    estimator: Any,
    X: Any,
    layout: Layout,
    *,
    unseen: Literal["error", "default"] = "error",
    n_jobs: int | None = None,
) -> Records:
    """Read other records as those of fit were read; what is missing stays missing.

    `unseen` says what to do with labels that were not there in fit.
    """
    if isinstance(X, (str, os.PathLike)):
        frame = io.read_frame(X)
        X = io.read(X) if frame is None else frame
    features = layout.features
    if features is not None and not layout.numeric.any():
        reading = Features(features.schema, features.cuts, layout.kind)
        table = read_features(estimator, X, reading, unseen=unseen, n_jobs=n_jobs)
        return Records(table.n_records, None, table, table.weights)
    if isinstance(X, Table) or is_sparse(X):
        name = layout.names[int(np.argmax(layout.numeric))]
        raise InputError(f"X is discrete, but column {name!r} was numbers in fit")
    kind, given = take_columns(estimator, X, reset=False)
    if kind == "array" and features is None:
        numbers = _real(given)
        _check_finite(numbers, layout)
        return Records(len(numbers), numbers, None, None)
    frame = given if kind == "frame" else _frame(given)
    for name, dtype, flag in zip(layout.names, frame.dtypes, layout.numeric, strict=True):
        if flag and not (dtype.is_numeric() or dtype in (pl.Null, pl.Boolean)):
            raise InputError(f"X: column {name!r} holds {dtype}, but was numbers in fit")
    numbers = _numbers(frame, layout.numeric)
    _check_finite(numbers, layout)
    if features is None:
        return Records(frame.height, numbers, None, None)
    rest = frame.select(
        series.alias(name)
        for name, series, flag in zip(
            layout.names, frame.iter_columns(), layout.numeric, strict=True
        )
        if not flag
    )
    reader = BaseEstimator()
    note_features(reader, features)
    table = read_features(reader, rest, features, unseen=unseen, n_jobs=n_jobs)
    return Records(frame.height, numbers, table, None)


def _real(X: Any) -> NDArray[Any]:
    if X.dtype.kind == "f":
        return np.asarray(X)
    try:
        return np.asarray(X.astype(np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"X cannot be read as numbers: {error}") from None


def _check_finite(numbers: NDArray[Any], layout: Layout) -> None:
    wrong = np.isinf(numbers)
    if wrong.any():
        row, position = np.unravel_index(int(np.argmax(wrong)), numbers.shape)
        name = layout.names[int(np.flatnonzero(layout.numeric)[position])]
        raise InputError(f"X: column {name!r} holds {numbers[row, position]} (inf) at record {row}")
