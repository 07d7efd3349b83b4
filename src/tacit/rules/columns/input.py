"""Whatever X is, as columns of numbers.

Numbers stay what they are, booleans are 0 and 1, moments the numbers that Polars holds for them. A
label is its place among those that fit found; `UNSEEN` where it is not among them.
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

__all__ = ["NewColumns", "ColumnKinds", "read_columns", "survey_columns"]

UNSEEN = -2.0  # equal to no label's number
_TEXT = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True)
class NewColumns:
    """Columns of numbers: those that are listed, and what all others are.

    Attributes
    ----------
    n_records : int
    indptr : ndarray of int64
        The first listed value of each column, and one past the last.
    records : ndarray of int32, optional
        Those that a column lists, ascending; ``None`` if all columns list all records.
    values : ndarray of float64
        The numbers of these records; NaN is missing.
    unlisted : ndarray of float64
        What the records have that a column does not list.
    """

    n_records: int
    indptr: NDArray[np.int64]
    records: NDArray[np.int32] | None
    values: NDArray[np.float64]
    unlisted: NDArray[np.float64]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What kernels take, in their order."""
        return self.n_records, self.indptr, self.records, self.values, self.unlisted


@dataclass(frozen=True)
class ColumnKinds:
    """What there is to remember of X.

    Attributes
    ----------
    kind : {"array", "frame", "table"}
        What X was.
    names : tuple of str
        The columns; x0, x1, … for arrays.
    nominal : frozenset of int
        The places of columns whose values have no order.
    labels : dict of int to tuple of str
        Those of columns that do not hold numbers, by place; a label's number is its place here.
    types : dict of int to str
        The types of columns whose numbers stand for something else: booleans and moments.
    """

    kind: Literal["array", "frame", "table"]
    names: tuple[str, ...]
    nominal: frozenset[int]
    labels: dict[int, tuple[str, ...]]
    types: dict[int, str]

    def position(self, column: Any, argument: str) -> int:
        """Return the place of a column given by name or place."""
        n = len(self.names)
        if isinstance(column, str):
            if column in self._places:
                return self._places[column]
            raise InputError(f"{argument}: there is no column {column!r}")
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if -n <= column < n:
                return int(column) % n
            raise InputError(f"{argument}: column {column} is not among the {n} columns")
        raise InputError(f"{argument} must be names or places of columns, got {column!r}")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def survey_columns(
    X: Any, estimator: Any, nominal: Sequence[str | int] | None
) -> tuple[ColumnKinds, NewColumns]:
    """Return what to remember of the X of fit, and its columns.

    Parameters
    ----------
    X : Table, frame, mapping of columns, array or sparse array
    estimator : scikit-learn estimator
        Notes the columns.
    nominal : sequence of str or int, optional
    """
    if isinstance(X, Table):
        names = X.schema.names
        note_names(estimator, names)
        kinds = _with_nominal(_survey_table(X), nominal)
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
    kinds = _with_nominal(_survey_frame(given, kind, orders), nominal)
    return kinds, _frame_columns(given, kinds)


def read_columns(known: ColumnKinds, X: Any, estimator: Any) -> NewColumns:
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
        lost = [item is None or item != item for item in items]  # NaN among strings, as in pandas
        items = [None if is_lost else item for item, is_lost in zip(items, lost, strict=True)]
        return pl.Series(name, items, dtype=pl.String, strict=True)
    except TypeError as error:
        if any(isinstance(item, str) for item in items):
            raise InputError(f"X: column {name!r} holds strings and others") from error
        raise  # what NumPy says of objects that are no numbers, which scikit-learn expects


def _array_columns(given: Any) -> NewColumns:
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


def _full_columns(values: NDArray[np.float64]) -> NewColumns:
    n, m = values.shape
    starts = np.arange(n + 1, dtype=np.int64) * m
    return NewColumns(m, starts, None, values.reshape(-1), np.zeros(n))


def _sparse_columns(given: Any) -> NewColumns:
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
        place = int(infinite.argmax())
        column = int(np.searchsorted(indptr, place, side="right")) - 1
        raise InputError(
            f"X contains infinity: {values[place]} at row {columns.indices[place]}, column {column}"
        )
    records = columns.indices.astype(np.int32, copy=False)
    return NewColumns(given.shape[0], indptr, records, values, np.zeros(given.shape[1]))


# Frames


def _declared_orders(X: Any) -> dict[str, tuple[str, ...]]:
    """Return the order of categories that a pandas or Arrow frame declares, by column."""
    orders: dict[str, tuple[str, ...]] = {}
    if nw.dependencies.is_pandas_dataframe(X):
        for place, kind in enumerate(X.dtypes):
            if getattr(kind, "ordered", False):
                orders[X.columns[place]] = tuple(kind.categories)
    elif nw.dependencies.is_pyarrow_table(X):
        for field in X.schema:
            if getattr(field.type, "ordered", False):
                whole = X.column(field.name).unify_dictionaries()
                chunks = whole.chunks
                if chunks:
                    orders[field.name] = tuple(chunks[0].dictionary.to_pylist())
    return {n: own for n, own in orders.items() if all(isinstance(x, str) for x in own) and own}


def _survey_frame(
    frame: pl.DataFrame, kind: Any, orders: dict[str, tuple[str, ...]]
) -> ColumnKinds:
    nominal, labels, types = set(), {}, {}
    for place, series in enumerate(frame.iter_columns()):
        own = series.dtype
        if own in _TEXT:
            declared = orders.get(series.name)
            if isinstance(own, pl.Enum):
                declared = tuple(own.categories.to_list())
            if declared is None:
                nominal.add(place)
                declared = tuple(series.cast(pl.String).drop_nulls().unique().sort().to_list())
            labels[place] = declared or ("",)  # a column with nothing in it
        elif own == pl.Boolean:
            nominal.add(place)
            types[place] = "Boolean"
        elif own.is_temporal():
            types[place] = str(own)
        elif not (own.is_numeric() or own == pl.Null):
            raise InputError(f"X: column {series.name!r} holds {own}, which has no conditions")
    return ColumnKinds(kind, tuple(frame.columns), frozenset(nominal), labels, types)


def _frame_columns(frame: pl.DataFrame, known: ColumnKinds) -> NewColumns:
    check_size(frame.height, frame.width)
    values = np.empty((frame.width, frame.height))
    for place, series in enumerate(frame.iter_columns()):
        values[place] = _series_numbers(series, place, known)
    return _full_columns(values)


def _series_numbers(series: pl.Series, place: int, known: ColumnKinds) -> NDArray[np.float64]:
    """Return a column of a frame as numbers."""
    name, held = known.names[place], series.dtype
    if held == pl.Null:
        return np.full(len(series), np.nan)
    kind = known.types.get(place)
    if place in known.labels:
        if held not in _TEXT:
            raise InputError(f"X: column {name!r} holds {held}, but in fit labels")
        return _label_numbers(series, known.labels[place], ordered=place not in known.nominal)
    if kind is not None and is_temporal(kind):
        return _moments(series, name, kind)
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


def _moments(series: pl.Series, name: str, kind: str) -> NDArray[np.float64]:
    wanted = parse_type(kind)
    if type(series.dtype) is not type(wanted) and series.dtype != wanted:
        raise InputError(f"X: column {name!r} holds {series.dtype}, but in fit {kind}")
    return series.cast(wanted).to_physical().cast(pl.Float64).to_numpy()


# Tables


def _survey_table(table: Table) -> ColumnKinds:
    schema, nominal, labels, types = table.schema, set(), {}, {}
    for place, own in enumerate(schema.labels):
        if own.dtype == "Boolean":
            nominal.add(place)
            types[place] = own.dtype
        elif is_temporal(own.dtype):
            types[place] = own.dtype
        elif not _is_numeric(own):
            labels[place] = tuple(str(label) for label in own.items[: own.missing]) or ("",)
            if own.dtype != "Enum" and bin_edges(own) is None:
                nominal.add(place)
    return ColumnKinds("table", schema.names, frozenset(nominal), labels, types)


def _is_numeric(labels: Labels) -> bool:
    kind = parse_type(labels.dtype)
    return bool(kind == pl.Null or kind.is_numeric()) and not isinstance(labels[0], str)


def _table_columns(table: Table, places: Sequence[int], known: ColumnKinds) -> NewColumns:
    """Return columns of a Table, in the order that fit knows them; defaults are not listed."""
    schema, n = table.schema, len(places)
    numbers = np.empty(int(schema.cells[-1]))  # what each label of each column stands for
    shared: dict[Any, NDArray[np.float64]] = {}
    for place, own in enumerate(places):
        labels = schema.labels[own]
        meaning = known.labels.get(place), known.types.get(place), place in known.nominal
        key = id(labels), meaning
        if key not in shared:
            shared[key] = _cell_numbers(labels, known.names[place], *meaning)
        numbers[schema.cells[own] : schema.cells[own + 1]] = shared[key]
    rank = np.full(len(schema), -1, np.int32)
    rank[list(places)] = np.arange(n, dtype=np.int32)
    stored = numbers[schema.value_cells[table.values]]
    columns = rank[schema.value_columns[table.values]]
    rows = sparse.csr_array((stored, columns, table.indptr), (table.n_records, n))
    if (rank < 0).any():
        rows = _without_others(rows, columns)
    by_column = rows.tocsc()
    unlisted = numbers[schema.default_cells[list(places)]]
    return NewColumns(
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
        own = [np.nan if x is None else codes.get(str(x), unseen) for x in labels]
        return np.array(own)
    if labels.dtype == "Null":
        return np.full(len(labels), np.nan)
    if is_temporal(labels.dtype):
        if kind is None or not is_temporal(kind):
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit numbers")
        return _moments(label_series(labels), name, kind)
    if not (_is_numeric(labels) or labels.dtype == "Boolean") or (kind and is_temporal(kind)):
        raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit {kind or 'numbers'}")
    return np.array([np.nan if x is None else float(x) for x in labels])  # type: ignore[arg-type]
