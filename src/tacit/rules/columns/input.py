"""Whatever X is, as columns of numbers.

Numbers stay what they are, booleans are 0 and 1, timestamps the numbers that Polars holds for them.
A label is its index among those of fit; `UNSEEN` where it is not among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import polars as pl
from scipy import sparse

from tacit.errors import InputError
from tacit.schema.types import is_temporal, label_series, parse_type
from tacit.table.discretise import bin_edges
from tacit.table.features import array_names, is_sparse, note_names, take_columns
from tacit.table.gateway import check_size
from tacit.table.matrices import sorted_columns
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.schema import Labels

__all__ = ["NumberColumns", "ColumnKinds", "read_columns", "fit_columns"]

UNSEEN = -2.0  # equal to no label's number
_TEXT = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True)
class NumberColumns:
    """Columns of numbers: those that are listed, and what all others are."""

    n_records: int
    indptr: NDArray[np.int64]  # the first listed value of each column, and one past the last
    # Those that a column lists, ascending; None if all columns list all records.
    records: NDArray[np.int32] | None
    values: NDArray[np.float64]  # the numbers of these records; NaN is missing
    unlisted: NDArray[np.float64]  # what the records have that a column does not list

    @property
    def arguments(
        self,
    ) -> tuple[
        int,
        NDArray[np.int64],
        NDArray[np.int32] | None,
        NDArray[np.float64],
        NDArray[np.float64],
    ]:
        """What kernels take, in their order."""
        return self.n_records, self.indptr, self.records, self.values, self.unlisted


@dataclass(frozen=True)
class ColumnKinds:
    """What there is to remember of X."""

    kind: Literal["array", "frame", "table"]  # what X was
    names: tuple[str, ...]  # the columns; x0, x1, … for arrays
    nominal: frozenset[int]  # the indices of columns whose values have no order
    # Those of columns that do not hold numbers, by index; a label's number is its index here.
    labels: dict[int, tuple[str, ...]]
    # The types of columns whose numbers stand for something else: booleans and timestamps.
    types: dict[int, str]

    def position(self, column: Any, argument: str) -> int:
        """Return the index of a column given by name or index."""
        n = len(self.names)
        if isinstance(column, str):
            if column in self._indices:
                return self._indices[column]
            raise InputError(f"{argument}: there is no column {column!r}")
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if -n <= column < n:
                return int(column) % n
            raise InputError(f"{argument}: column {column} is not among the {n} columns")
        raise InputError(f"{argument} must be names or indices of columns, got {column!r}")

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}


def fit_columns(
    X: Any, estimator: Any, nominal: Sequence[str | int] | None
) -> tuple[ColumnKinds, NumberColumns]:
    """Return what to remember of the X of fit, and its columns, which `estimator` notes."""
    if isinstance(X, Table):
        names = X.schema.names
        note_names(estimator, names)
        kinds = _with_nominal(_table_kinds(X), nominal)
        return kinds, _table_columns(X, range(len(names)), kinds)
    orders = _declared_orders(X)
    kind, given = take_columns(estimator, X, reset=True)
    if kind == "array":
        given = _numbers_or_frame(given)
    if not isinstance(given, pl.DataFrame):
        names = tuple(array_names(given.shape[1]))
        kinds = _with_nominal(ColumnKinds("array", names, frozenset(), {}, {}), nominal)
        return kinds, _array_columns(given)
    check_size(given.height, given.width)
    kinds = _with_nominal(_frame_kinds(given, kind, orders), nominal)
    return kinds, _frame_columns(given, kinds)


def read_columns(known: ColumnKinds, X: Any, estimator: Any) -> NumberColumns:
    """Return the columns of other data, as numbers that mean what they meant in fit."""
    if isinstance(X, Table):
        return _table_columns(X, [X.schema.position(name, "X") for name in known.names], known)
    kind, given = take_columns(estimator, X, reset=False)
    if kind == "array":
        given = _numbers_or_frame(given)
    if not isinstance(given, pl.DataFrame):
        if known.labels:
            name = known.names[min(known.labels)]
            raise InputError(f"X holds numbers, but in fit column {name!r} held labels")
        return _array_columns(given)
    return _frame_columns(given, known)


def _with_nominal(kinds: ColumnKinds, columns: Any) -> ColumnKinds:
    if columns is None:
        return kinds
    if isinstance(columns, str):
        raise InputError(f"nominal must be a list of columns, got {columns!r}")
    try:
        more = {kinds.position(column, "nominal") for column in columns}
    except TypeError:
        raise InputError(f"nominal must be a list of columns, got {columns!r}") from None
    return replace(kinds, nominal=kinds.nominal | more)


# Arrays


def _numbers_or_frame(given: Any) -> Any:
    """Return an array of numbers as it is; one of other objects as a frame."""
    if is_sparse(given) or given.dtype.kind in "biuf":
        return given
    names = array_names(given.shape[1])
    return pl.DataFrame([_object_series(name, given[:, k]) for k, name in enumerate(names)])


def _object_series(name: str, values: NDArray[Any]) -> pl.Series:
    """Return a column of an array of objects: strings or numbers."""
    items = values.tolist()
    try:
        if not any(isinstance(item, str) for item in items):
            return pl.Series(name, values.astype(np.float64))
        # NaN among strings is missing, as in pandas.
        items = [None if item is None or item != item else item for item in items]
        return pl.Series(name, items, dtype=pl.String, strict=True)
    except TypeError as error:
        if any(isinstance(item, str) for item in items):
            raise InputError(f"X: column {name!r} holds strings and others") from error
        raise  # what NumPy says of objects that are no numbers, which scikit-learn expects


def _array_columns(given: Any) -> NumberColumns:
    m, n = given.shape
    check_size(m, n)
    if is_sparse(given):
        return _sparse_columns(given)
    values = np.ascontiguousarray(given.T, dtype=np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        column, row = np.unravel_index(int(infinite.argmax()), values.shape)
        raise InputError(
            f"X contains infinity: {values[column, row]} at row {row}, column {column}"
        )
    return _full_columns(values)


def _full_columns(values: NDArray[np.float64]) -> NumberColumns:
    n, m = values.shape
    starts = np.arange(n + 1, dtype=np.int64) * m
    return NumberColumns(m, starts, None, values.reshape(-1), np.zeros(n))


def _sparse_columns(given: Any) -> NumberColumns:
    try:
        columns = sorted_columns(given)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None
    if columns.data.dtype.kind not in "biuf":
        raise InputError(f"X must hold numbers, got {columns.data.dtype}")
    indptr = columns.indptr.astype(np.int64, copy=False)
    values = columns.data.astype(np.float64, copy=False)
    infinite = np.isinf(values)
    if infinite.any():
        k = int(infinite.argmax())
        column = int(np.searchsorted(indptr, k, side="right")) - 1
        raise InputError(
            f"X contains infinity: {values[k]} at row {columns.indices[k]}, column {column}"
        )
    records = columns.indices.astype(np.int32, copy=False)
    return NumberColumns(given.shape[0], indptr, records, values, np.zeros(given.shape[1]))


# Frames


def _declared_orders(X: Any) -> dict[str, tuple[str, ...]]:
    """Return the order of categories that a pandas or Arrow frame declares, by column."""
    orders: dict[str, tuple[str, ...]] = {}
    if nw.dependencies.is_pandas_dataframe(X):
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            if getattr(kind, "ordered", False):
                orders[name] = tuple(kind.categories)
    elif nw.dependencies.is_pyarrow_table(X):
        for field in X.schema:
            if getattr(field.type, "ordered", False):
                chunks = X.column(field.name).unify_dictionaries().chunks
                if chunks:
                    orders[field.name] = tuple(chunks[0].dictionary.to_pylist())
    return {
        name: order
        for name, order in orders.items()
        if order and all(isinstance(label, str) for label in order)
    }


def _frame_kinds(frame: pl.DataFrame, kind: Any, orders: dict[str, tuple[str, ...]]) -> ColumnKinds:
    nominal, labels, types = set(), {}, {}
    for column, series in enumerate(frame.iter_columns()):
        dtype = series.dtype
        if dtype in _TEXT:
            declared = orders.get(series.name)
            if isinstance(dtype, pl.Enum):
                declared = tuple(dtype.categories.to_list())
            if declared is None:
                nominal.add(column)
                declared = tuple(series.cast(pl.String).drop_nulls().unique().sort().to_list())
            labels[column] = declared or ("",)  # a column with nothing in it
        elif dtype == pl.Boolean:
            nominal.add(column)
            types[column] = "Boolean"
        elif dtype.is_temporal():
            types[column] = str(dtype)
        elif not (dtype.is_numeric() or dtype == pl.Null):
            raise InputError(f"X: column {series.name!r} holds {dtype}, which has no conditions")
    return ColumnKinds(kind, tuple(frame.columns), frozenset(nominal), labels, types)


def _frame_columns(frame: pl.DataFrame, known: ColumnKinds) -> NumberColumns:
    check_size(frame.height, frame.width)
    values = np.empty((frame.width, frame.height))
    for column, series in enumerate(frame.iter_columns()):
        values[column] = _series_numbers(series, column, known)
    return _full_columns(values)


def _series_numbers(series: pl.Series, column: int, known: ColumnKinds) -> NDArray[np.float64]:
    """Return a column of a frame as numbers."""
    name, held = known.names[column], series.dtype
    if held == pl.Null:
        return np.full(len(series), np.nan)
    kind = known.types.get(column)
    if column in known.labels:
        if held not in _TEXT:
            raise InputError(f"X: column {name!r} holds {held}, but in fit labels")
        return _label_numbers(series, known.labels[column], ordered=column not in known.nominal)
    if kind is not None and is_temporal(kind):
        return _timestamps(series, name, kind)
    if not (held.is_numeric() or held == pl.Boolean):
        raise InputError(f"X: column {name!r} holds {held}, but in fit numbers")
    numbers = series.cast(pl.Float64).to_numpy()
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        raise InputError(f"X contains infinity: {numbers[row]} at row {row}, column {name!r}")
    return numbers


def _label_numbers(
    series: pl.Series, labels: tuple[str, ...], *, ordered: bool
) -> NDArray[np.float64]:
    texts = series.cast(pl.String)
    codes = texts.cast(pl.Enum(labels), strict=False).to_physical()
    numbers = codes.cast(pl.Float64).to_numpy(writable=True)
    if not ordered:
        numbers[(codes.is_null() & texts.is_not_null()).to_numpy()] = UNSEEN
    return numbers


def _timestamps(series: pl.Series, name: str, kind: str) -> NDArray[np.float64]:
    wanted = parse_type(kind)
    if type(series.dtype) is not type(wanted) and series.dtype != wanted:
        raise InputError(f"X: column {name!r} holds {series.dtype}, but in fit {kind}")
    return series.cast(wanted).to_physical().cast(pl.Float64).to_numpy()


# Tables


def _table_kinds(table: Table) -> ColumnKinds:
    schema, nominal, labels, types = table.schema, set(), {}, {}
    for column, known in enumerate(schema.labels):
        if known.dtype == "Boolean":
            nominal.add(column)
            types[column] = known.dtype
        elif is_temporal(known.dtype):
            types[column] = known.dtype
        elif not _is_numeric(known):
            labels[column] = tuple(str(label) for label in known.items[: known.missing]) or ("",)
            if known.dtype != "Enum" and bin_edges(known) is None:
                nominal.add(column)
    return ColumnKinds("table", schema.names, frozenset(nominal), labels, types)


def _is_numeric(labels: Labels) -> bool:
    kind = parse_type(labels.dtype)
    return bool(kind == pl.Null or kind.is_numeric()) and not isinstance(labels[0], str)


def _table_columns(table: Table, indices: Sequence[int], known: ColumnKinds) -> NumberColumns:
    """Return columns of a Table, in the order that fit knows them; defaults are not listed."""
    schema, n = table.schema, len(indices)
    numbers = np.empty(int(schema.cells[-1]))  # what each label of each column stands for
    shared: dict[Any, NDArray[np.float64]] = {}
    for column, index in enumerate(indices):
        labels = schema.labels[index]
        meaning = known.labels.get(column), known.types.get(column), column in known.nominal
        key = id(labels), meaning
        if key not in shared:
            shared[key] = _cell_numbers(labels, known.names[column], *meaning)
        numbers[schema.cells[index] : schema.cells[index + 1]] = shared[key]
    rank = np.full(len(schema), -1, np.int32)
    rank[list(indices)] = np.arange(n, dtype=np.int32)
    stored = numbers[schema.value_cells[table.values]]
    columns = rank[schema.value_columns[table.values]]
    rows = sparse.csr_array((stored, columns, table.indptr), (table.n_records, n))
    if (rank < 0).any():
        rows = _without_others(rows, columns)
    by_column = rows.tocsc()
    unlisted = numbers[schema.default_cells[list(indices)]]
    return NumberColumns(
        table.n_records,
        by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int32, copy=False),
        by_column.data,
        unlisted,
    )


def _without_others(rows: Any, columns: NDArray[np.int32]) -> Any:
    """Drop stored values of columns that the model does not know."""
    kept = columns >= 0
    indptr = np.concatenate(([0], np.cumsum(kept)))[rows.indptr]
    return sparse.csr_array((rows.data[kept], columns[kept], indptr), rows.shape)


def _cell_numbers(
    labels: Labels, name: str, known: tuple[str, ...] | None, kind: str | None, nominal: bool
) -> NDArray[np.float64]:
    """Return what each label of a column stands for."""
    if known is not None:
        if _is_numeric(labels) and labels.dtype != "Null":
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit labels")
        codes = {label: float(code) for code, label in enumerate(known)}
        unseen = UNSEEN if nominal else np.nan
        return np.array([np.nan if x is None else codes.get(str(x), unseen) for x in labels])
    if labels.dtype == "Null":
        return np.full(len(labels), np.nan)
    if is_temporal(labels.dtype):
        if kind is None or not is_temporal(kind):
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit numbers")
        return _timestamps(label_series(labels), name, kind)
    if not (_is_numeric(labels) or labels.dtype == "Boolean") or (kind and is_temporal(kind)):
        raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit {kind or 'numbers'}")
    return np.array([np.nan if x is None else float(x) for x in labels])  # type: ignore[arg-type]
