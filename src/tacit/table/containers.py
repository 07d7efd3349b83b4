"""What data come in: which container it is, and any frame as one Polars frame.

Frames are those of pandas, Polars and Arrow, what narwhals knows, mappings of columns, NumPy's
record arrays, queries (a LazyFrame, a DuckDB relation) and whatever has the Arrow PyCapsule
interface. Ordered categories become a Polars enumeration, which keeps their order.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.forks import watch_forks
from tacit.schema import check_names
from tacit.table.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tacit.table.build import Native

__all__ = [
    "Container",
    "array_columns",
    "as_frame",
    "collect",
    "container_kind",
    "is_frame",
    "is_sparse",
    "read_series",
    "sparse_frame",
]

watch_forks()  # from now on, as Polars is there

Container: TypeAlias = Literal["table", "partitions", "frame", "array", "sparse", "file", "baskets"]


_NUMBERS = (int, float, np.integer, np.floating)
# The types of arrays that Polars takes as they are, which is quicker than by way of Arrow.
_PLAIN = frozenset(("bool", "float32", "float64")) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def container_kind(data: Any) -> Container | None:
    """Return what data come in, or ``None`` if it is nothing that is known.

    A list or a tuple is taken for baskets, that is for collections of items.

    >>> container_kind({"sky": ["blue", "grey"]}), container_kind(np.eye(2))
    ('frame', 'array')
    >>> container_kind([{"milk", "bread"}, {"tea"}]), container_kind("baskets.txt")
    ('baskets', 'file')
    """
    if isinstance(data, Records):
        return "partitions" if getattr(data, "in_partitions", False) else "table"
    if isinstance(data, str | os.PathLike):
        return "file"
    if is_sparse(data):  # before mappings, as SciPy has a dict, too
        return "sparse"
    if isinstance(data, Mapping) or _is_any_frame(data):
        return "frame"
    if isinstance(data, np.ndarray):
        return "array"
    if type(data).__module__.startswith("dask") and hasattr(data, "npartitions"):
        return "partitions"
    return "baskets" if isinstance(data, list | tuple) else None


def is_sparse(X: Any) -> bool:
    """Return whether this is one of SciPy's sparse arrays or matrices; does not import SciPy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def is_frame(X: Any) -> bool:
    """Return whether this is a frame whose columns have names; pandas' may have numbers instead."""
    if not _is_any_frame(X):
        return False
    native = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        return all(isinstance(name, str) for name in native.columns)
    return True


def _is_any_frame(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    if nw.dependencies.is_into_dataframe(X) or isinstance(X, pl.LazyFrame | nw.LazyFrame):
        return True
    if nw.dependencies.is_into_series(X) or isinstance(X, type):
        return False
    if hasattr(X, "__arrow_c_stream__"):
        return True
    arrow = sys.modules.get("pyarrow")  # whose arrays are single columns
    return hasattr(X, "__arrow_c_array__") and not (arrow and isinstance(X, arrow.Array))


def collect(data: Any, argument: str = "data") -> Any:
    """Run a query, read a stream: return any frame as one in memory that narwhals knows.

    Anything else is returned as it is. A stream can be read once only.
    """
    if isinstance(data, pl.LazyFrame | nw.LazyFrame):
        try:
            query: Any = nw.to_native(data, pass_through=True)
            is_polars = isinstance(query, pl.LazyFrame)
            return query.collect(engine="streaming") if is_polars else collect(query, argument)
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{argument}: the query cannot be run: {error}") from None
    if nw.dependencies.is_into_dataframe(data) or not _is_any_frame(data):
        return data
    return (
        _from_records(data, argument)
        if isinstance(data, np.ndarray)
        else _read_stream(data, argument)
    )


def _read_stream(data: Any, argument: str) -> Any:
    """Return what the Arrow PyCapsule interface gives as an Arrow table, or as a Polars frame."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:  # then nobody says whether categories are ordered
        pa = None
    try:
        if pa is None:
            return pl.DataFrame(data)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
        return pa.Table.from_batches([pa.record_batch(data)])
    except Exception as error:  # whatever the other side thinks of it
        raise InputError(f"{argument}: the Arrow data cannot be read: {error}") from None


def as_frame(data: Any, argument: str = "data") -> tuple[pl.DataFrame, Native | None]:
    """Return any frame as a Polars frame, with what it takes to go back.

    Whole numbers that are names of columns become their text. Errors call the data `argument`.

    >>> frame, _ = as_frame({0: [1, 2], "sky": ["blue", "grey"]})
    >>> frame.columns
    ['0', 'sky']
    """
    frame, native = _as_frame(data, argument)
    decimal = [name for name, dtype in frame.schema.items() if dtype == pl.Decimal]
    return (frame.with_columns(pl.col(decimal).cast(pl.Float64)) if decimal else frame), native


def _as_frame(data: Any, argument: str) -> tuple[pl.DataFrame, Native | None]:
    data = nw.to_native(collect(data, argument), pass_through=True)
    if isinstance(data, pl.DataFrame):
        check_names(data.columns, argument)
        return data, None
    if isinstance(data, Mapping):
        return _from_mapping(data, argument), None
    if nw.dependencies.is_pandas_dataframe(data):
        return _from_pandas(data, argument)
    if nw.dependencies.is_pyarrow_table(data):
        return _from_arrow(data, argument)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(
            f"{argument} must be a frame (pandas, Polars, Arrow, DuckDB), a mapping of columns, a "
            f"NumPy array or a SciPy sparse array, got {type(data).__name__}"
        ) from None
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"{argument}: {error}") from None
    check_names(frame.columns, argument)
    columns = [_known_series(column, column.name, argument) for column in frame.iter_columns()]
    return pl.DataFrame(columns), (str(frame.implementation.name).lower(), {})


# Names


def _names(given: Iterable[Any], argument: str) -> list[str]:
    """Return names of columns as distinct strings."""
    given = list(given)
    for name in given:
        whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if not (isinstance(name, str) or whole):
            raise InputError(
                f"{argument}: column names must be strings or whole numbers, got {name!r}"
            )
    names = [str(name) for name in given]
    check_names(names, argument)
    if len(set(names)) < len(names):
        first: dict[str, Any] = {}
        for raw, name in zip(given, names, strict=True):
            other = first.setdefault(name, raw)
            if type(other) is not type(raw):
                raise InputError(
                    f"{argument}: the columns {other!r} and {raw!r} would have the same name; "
                    "rename one"
                )
        twice = [repr(name) for name in first if names.count(name) > 1]
        shown = ", ".join(twice[:5]) + (", …" if len(twice) > 5 else "")
        raise InputError(
            f"{argument}: column names must be distinct, but there is more than one {shown}"
        )
    return names


# Mappings and arrays


def _from_mapping(data: Mapping[Any, Any], argument: str) -> pl.DataFrame:
    names = _names(data, argument)
    columns = {
        name: _mapped(name, values, argument)
        for name, values in zip(names, data.values(), strict=True)
    }
    try:
        return pl.DataFrame(columns, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InputError(f"{argument}: the mapping does not make a frame: {error}") from None


def _from_records(data: NDArray[Any], argument: str) -> pl.DataFrame:
    """Return a record array as a frame."""
    if data.ndim != 1:
        raise InputError(f"{argument}: record arrays must have one dimension, got {data.ndim}")
    return _from_mapping({name: data[name] for name in data.dtype.names or ()}, argument)


def _mapped(name: str, values: Any, argument: str) -> Any:
    """Return a column of a mapping as something that Polars takes for what it is."""
    values = nw.to_native(values, pass_through=True)
    if isinstance(values, np.ndarray) and values.dtype.kind == "O" and values.ndim == 1:
        return _object_series(name, values, argument)
    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(
        values, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray
    ):
        return _pandas_series(pandas.Series(values), name, argument)
    if arrow is not None and isinstance(values, arrow.Array | arrow.ChunkedArray):
        chunks = arrow.chunked_array([values]) if isinstance(values, arrow.Array) else values
        return _arrow_series(chunks, name, argument)
    return values


def array_columns(data: NDArray[Any], names: Sequence[str], argument: str = "data") -> pl.DataFrame:
    """Return a two-dimensional array of strings, objects or dates as a frame.

    ``None``, NaN and their like are missing values.
    """
    columns = []
    for k, name in enumerate(names):
        values = data[:, k]
        if data.dtype.kind in "OUT":
            columns.append(_object_series(name, values, argument))
            continue
        try:
            columns.append(pl.Series(name, np.ascontiguousarray(values)))
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{argument}: column {name!r} cannot be read: {error}") from None
    return pl.DataFrame(columns)


def _object_series(name: str, values: Any, argument: str) -> pl.Series:
    """Return a column of Python objects: all of one kind, or missing."""
    items = [None if _is_missing(item) else item for item in values.tolist()]
    kinds = {type(item) for item in items if item is not None}
    if len(kinds) > 1 and all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds):
        real = any(issubclass(kind, float | np.floating) for kind in kinds)
        items = [None if item is None else float(item) if real else int(item) for item in items]
    try:
        return pl.Series(name, items, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        why = f"it holds values of these types: {named}" if len(kinds) > 1 else error
        raise InputError(f"{argument}: column {name!r} cannot be read: {why}") from None


def _is_missing(item: Any) -> bool:
    if item is None or (isinstance(item, float | np.floating) and item != item):
        return True
    return type(item).__name__ in ("NAType", "NaTType")  # of pandas, which need not be there


# pandas


def _from_pandas(data: Any, argument: str) -> tuple[pl.DataFrame, Native]:
    names = _pandas_names(data, argument)
    columns = [_pandas_series(data.iloc[:, k], name, argument) for k, name in enumerate(names)]
    return pl.DataFrame(columns), ("pandas", dict(zip(names, data.dtypes, strict=True)))


def _pandas_names(data: Any, argument: str) -> list[str]:
    if data.columns.nlevels > 1:
        raise InputError(
            f"{argument}: column names have {data.columns.nlevels} levels; join them first, as by "
            "frame.columns = frame.columns.map('_'.join)"
        )
    return _names(data.columns, argument)


def _pandas_series(series: Any, name: str, argument: str) -> pl.Series:
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.isnative and dtype.name in _PLAIN:
        return pl.Series(name, np.ascontiguousarray(series.to_numpy()), nan_to_null=True)
    if hasattr(dtype, "categories"):
        raw = series.array.codes
        codes = pl.Series(raw.astype(np.int64))
        items, values = dtype.categories, None
        if items.dtype.kind in "biufmM":
            values = _known_series(
                nw.from_native(items.to_series(), series_only=True), "", argument
            )
        if raw.min(initial=0) < 0:
            codes = codes.set(codes < 0, None)
        return _category_series(name, codes, items, values, dtype.ordered, argument)
    if _is_sparse_type(dtype):
        series = series.sparse.to_dense()
    elif getattr(getattr(dtype, "pyarrow_dtype", None), "ordered", False):
        return _arrow_series(series.array.__arrow_array__(), name, argument)
    elif _is_python_text(dtype):
        return _object_series(name, series.to_numpy(object), argument)
    return _known_series(nw.from_native(series, series_only=True), name, argument)


def read_series(series: Any, argument: str) -> pl.Series:
    """Return a column of pandas, Polars or whatever narwhals knows as a Polars series."""
    native = nw.to_native(series, pass_through=True)
    if nw.dependencies.is_pandas_series(native) and _is_python_text(native.dtype):
        return _object_series(str(native.name or ""), native.to_numpy(object), argument)
    try:
        known: pl.Series = nw.from_native(series, series_only=True).to_polars()
    except ModuleNotFoundError:  # of pyarrow
        return _object_series(str(native.name or ""), native.to_numpy(), argument)
    return known


def _is_python_text(dtype: Any) -> bool:
    """Whether pandas keeps texts as Python objects, as it does without pyarrow."""
    return getattr(dtype, "storage", None) == "python"


def _is_sparse_type(dtype: Any) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def sparse_frame(data: Any, argument: str = "data") -> tuple[Any, list[str], Native] | None:
    """Return a pandas frame of sparse columns as a SciPy array, or ``None`` if it is none.

    All columns must be sparse and hold whole numbers that are not negative, or all of them truth
    values, and what they do not store must be zero or False.
    """
    frame: Any = nw.to_native(data, pass_through=True)
    if not nw.dependencies.is_pandas_dataframe(frame) or not len(frame.columns):
        return None
    types = list(frame.dtypes)
    if not all(_is_sparse_type(t) and t.fill_value == 0 for t in types):
        return None
    kinds = {"b" if t.subtype.kind == "b" else "n" for t in types}
    if len(kinds) > 1 or not all(t.subtype.kind in "biuf" for t in types):
        return None
    names = _pandas_names(frame, argument)
    columns: Any = frame.sparse
    matrix = columns.to_coo()
    values = matrix.data
    if values.dtype.kind in "if" and not ((values >= 0) & (values == np.floor(values))).all():
        return None
    return matrix, names, ("pandas", dict(zip(names, types, strict=True)))


# Arrow


def _from_arrow(data: Any, argument: str) -> tuple[pl.DataFrame, Native]:
    names = _names(data.column_names, argument)
    columns = [_arrow_series(data.column(k), name, argument) for k, name in enumerate(names)]
    return pl.DataFrame(columns), ("pyarrow", {field.name: field.type for field in data.schema})


def _arrow_series(column: Any, name: str, argument: str) -> pl.Series:
    if not getattr(column.type, "ordered", False):
        try:
            return pl.Series(name, column)
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{argument}: column {name!r} cannot be read: {error}") from None
    column = column.unify_dictionaries().combine_chunks()
    codes, values = pl.Series(column.indices), pl.Series(column.dictionary)
    return _category_series(name, codes, values.to_list(), values, True, argument)


# Categories, and all other columns


def _category_series(
    name: str,
    codes: pl.Series,
    items: Sequence[Any],
    values: pl.Series | None,
    ordered: bool,
    argument: str,
) -> pl.Series:
    """Return a column of categories by their codes, null for what is missing.

    Categories are `items`, or `values` where Polars can hold them. Numbers, truth values and dates
    stay what they are, unless they are in an order that is not their own; all others are texts.
    """
    if values is not None and _is_natural(values.dtype) and (not ordered or values.is_sorted()):
        return values.gather(codes).alias(name)
    texts = [str(item) for item in items]
    if len(set(texts)) < len(texts):
        raise InputError(f"{argument}: column {name!r} has categories that read the same")
    dtype = pl.Enum(texts) if ordered else pl.Categorical
    return pl.Series(name, texts, dtype=dtype).gather(codes)


def _is_natural(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean)


def _known_series(column: Any, name: str, argument: str) -> pl.Series:
    """Turn a column of any frame that narwhals knows into a Polars series."""
    try:
        return column.to_polars().alias(name)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return _object_series(name, column.to_numpy(), argument)
    except Exception as error:  # whatever Arrow or Polars think of mixed Python objects
        raise InputError(f"{argument}: column {name!r} cannot be read: {error}") from None
