"""Frames in, frames out: pandas, Polars, Arrow and plain mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.schema import Labels
from tacit.schema.types import label_items, label_series, sort_labels
from tacit.table.build import Coded, Native, Parts, store_codes
from tacit.table.discretise import MDL, Edges, apply_cuts, as_spec, bin_labels, cut_points
from tacit.table.gateway import check_missing, check_size
from tacit.table.index import index_of_frame, put_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.table.table import Table

__all__ = [
    "as_numbers",
    "class_codes",
    "decode_frame",
    "encode_columns",
    "encode_frame",
    "find_cuts",
    "numbers_to_cut",
    "specs_of",
    "to_polars",
]

_KEYS = (pl.Boolean, pl.Date, pl.Datetime, pl.Duration, pl.Time)
_TURNS = 8  # to code all columns in, as the tables of the lookup take more than the frame does


def encode_frame(
    data: Any,
    defaults: Any,
    weights: Any,
    missing: str,
    discretise: Any,
    target: str | None,
    n_jobs: int,
) -> Parts:
    """Turn a frame into the parts of a Table; see :class:`tacit.Table` for the arguments."""
    check_missing(missing)
    frame, native = to_polars(data)
    record_weights = None
    if isinstance(weights, str):
        record_weights = as_numbers(_column(frame, weights, "weights"), "weights")
        frame = frame.drop(weights)
    check_size(frame.height, frame.width)
    specs = specs_of(frame, discretise, target)
    coded = encode_columns(frame, missing, specs, target, n_jobs)
    parts = store_codes(coded, defaults, n_jobs)
    parts.weights, parts.native = record_weights, native
    parts.index = index_of_frame(data)
    return parts


def to_polars(data: Any) -> tuple[pl.DataFrame, Native | None]:
    """Return any eager frame as Polars, with what it takes to go back."""
    if isinstance(data, pl.DataFrame):
        return data, None
    if isinstance(data, Mapping):
        try:
            return pl.DataFrame(dict(data), strict=True), None
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise InputError(f"data: the mapping does not make a frame: {error}") from None
    try:
        frame = nw.from_native(data, eager_only=True)
        backend = str(frame.implementation.name).lower()
        types = _native_types(data, backend)
    except TypeError:
        raise InputError(
            "data must be a frame (pandas, Polars, Arrow), a mapping of columns, a NumPy array of "
            f"whole numbers or a SciPy sparse array, got {type(data).__name__}"
        ) from None
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"data: {error}") from None
    return pl.DataFrame([_series_of(column) for column in frame.iter_columns()]), (backend, types)


def _native_types(data: Any, backend: str) -> dict[str, Any]:
    """Return the types of a frame's columns as its library knows them."""
    if backend == "pandas":
        for name in data.columns:
            if not isinstance(name, str):
                raise InputError(f"data: column names must be strings, got {name!r}")
        return {name: data.dtypes.iloc[k] for k, name in enumerate(data.columns)}
    if backend == "pyarrow":
        return {field.name: field.type for field in data.schema}
    return {}


def _series_of(column: Any) -> pl.Series:
    """Turn a column of any frame into a Polars series."""
    try:
        return column.to_polars().alias(column.name)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return pl.Series(column.name, column.to_list())
    except Exception as error:  # whatever Arrow or Polars think of mixed Python objects
        raise InputError(f"data: column {column.name!r} cannot be read: {error}") from None


def _column(frame: pl.DataFrame, name: str, argument: str) -> pl.Series:
    if name not in frame.columns:
        raise InputError(f"{argument}: there is no column {name!r}")
    return frame.get_column(name)


def as_numbers(series: pl.Series, argument: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column of numbers, or say in what argument it is none."""
    if not series.dtype.is_numeric():
        raise InputError(f"{argument}: column {series.name!r} holds {series.dtype}, not numbers")
    return series.cast(pl.Float64).to_numpy().astype(np.float64)


def specs_of(frame: pl.DataFrame, discretise: Any, target: str | None) -> dict[str, Any]:
    """Return the discretisation spec of each column that gets one."""
    if discretise is None:
        return {}
    if isinstance(discretise, Mapping):
        names = set(frame.columns)
        for name in discretise:
            if name not in names:
                _column(frame, name, "discretise")  # which says so
        specs = {name: as_spec(spec) for name, spec in discretise.items()}
    else:
        spec = as_spec(discretise)
        specs = {s.name: spec for s in frame.iter_columns() if s.dtype.is_float()}
        specs.pop(target or "", None)
    if any(isinstance(spec, MDL) for spec in specs.values()) and target is None:
        raise InputError("discretise='mdl' needs target, the column to tell apart")
    return specs


def encode_columns(
    frame: pl.DataFrame,
    missing: str,
    specs: dict[str, Any],
    target: str | None,
    n_jobs: int,
    start: int = 0,
    known: Mapping[str, Labels] | None = None,
) -> list[Coded]:
    """Code every column of a frame whose first record has the number `start` in all of the data.

    A column all of whose labels are among those `known` of it is given just them.
    """
    target_codes = None
    if target is not None:
        series = _column(frame, target, "target")
        target_codes = class_codes(series, n_jobs)
    ready: dict[str, Coded] = {}
    plain = []
    for series in frame.iter_columns():
        if missing == "error":
            _refuse_missing(series, start)
        if series.name in specs:
            ready[series.name] = _cut(series, specs[series.name], target_codes, missing, start)
        else:
            plain.append(series)
    step = max(1, n_jobs, -(-len(plain) // _TURNS))
    for k in range(0, len(plain), step):
        group = plain[k : k + step]
        encoded = _core.encode_columns([_key(series, start) for series in group], n_jobs)
        for series, (codes, first, counts, missing_code) in zip(group, encoded, strict=True):
            expected = known.get(series.name) if known else None
            ready[series.name] = _label(
                series, codes, first, counts, missing_code, missing, expected
            )
    return [ready[name] for name in frame.columns]


def class_codes(series: pl.Series, n_jobs: int) -> NDArray[np.int64]:
    """Code the classes of a target, for cuts that are to tell them apart."""
    [(codes, _, _, _)] = _core.encode_columns([_key(series)], n_jobs)
    return codes.astype(np.int64)


def _refuse_missing(series: pl.Series, start: int) -> None:
    is_missing = series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()
    if is_missing.any():
        record = start + int(is_missing.arg_max() or 0)
        raise InputError(
            f"column {series.name!r} has a missing value at record {record}, and missing='error'"
        )


def _key(series: pl.Series, start: int = 0) -> Any:
    """Return what the encoder takes: string views, or 64-bit keys and validity."""
    dtype = series.dtype
    if dtype == pl.String:
        return series.__arrow_c_stream__()
    if dtype.is_float():
        return _float_key(series, start)
    if dtype == pl.Null:
        keys = pl.repeat(0, len(series), dtype=pl.Int64, eager=True)
        return keys.to_numpy(), np.zeros(len(series), np.uint8)
    if dtype in (pl.Categorical, pl.Enum) or dtype in _KEYS:
        coded = dtype in (pl.Categorical, pl.Enum)
        integers = (series.to_physical() if coded else series).cast(pl.Int64)
    elif dtype == pl.UInt64:
        integers = series.reinterpret(signed=True)
    elif dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128):
        integers = series.cast(pl.Int64)
    else:
        raise InputError(
            f"column {series.name!r} has the type {dtype}, which is not discrete; "
            "turn it into strings, integers or bins first"
        )
    if not series.null_count():
        return np.ascontiguousarray(integers.to_numpy()), None
    valid = series.is_not_null().cast(pl.UInt8).to_numpy()
    return np.ascontiguousarray(integers.fill_null(0).to_numpy()), np.ascontiguousarray(valid)


def _float_key(series: pl.Series, start: int) -> Any:
    """Whole floats are codes with a point behind; anything else is a number to be cut first."""
    numbers = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    valid = ~np.isnan(numbers)
    _refuse_infinite(series.name, numbers, start)
    broken = valid & (numbers != np.floor(numbers))
    if broken.any():
        raise InputError(
            f"column {series.name!r} holds real numbers (record {start + int(np.argmax(broken))}: "
            f"{numbers[broken][0]}); say how to cut it with discretise={{{series.name!r}: …}}"
        )
    keys = np.where(valid, numbers, 0.0) + 0.0  # the sum turns -0.0 into 0.0
    return keys.view(np.int64), None if valid.all() else valid.astype(np.uint8)


def _refuse_infinite(name: str, numbers: NDArray[np.float64], start: int) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        k = int(np.argmax(infinite))
        raise InputError(f"column {name!r} holds {numbers[k]} at record {start + k}")


def _label(
    series: pl.Series,
    codes: Any,
    first: Any,
    counts: Any,
    missing_code: int,
    missing: str,
    known: Labels | None = None,
) -> Coded:
    """Sort the labels of an encoded column; missing comes last, or becomes the default."""
    if series.dtype == pl.Enum:
        return _label_enum(series, codes, first, counts, missing_code, missing)
    values = label_items(series[first])  # which begins much sooner than gather()
    if known is not None and (missing_code < 0 or missing == "state"):
        with suppress(KeyError):
            seen_labels = (None if k == missing_code else x for k, x in enumerate(values))
            ranks = np.array([known.code(label) for label in seen_labels], np.int64)
            totals = np.zeros(len(known), np.int64)
            totals[ranks] = counts
            return Coded(series.name, known, codes, ranks, totals)
    index_of = {label: k for k, label in enumerate(values) if k != missing_code}
    seen = [index_of[label] for label in sort_labels(index_of, str(series.dtype))]
    if missing_code >= 0 and (missing == "state" or not seen):
        seen.append(missing_code)
    items = [None if k == missing_code else values[k] for k in seen]
    ranks = np.full(len(values), -1, np.int64)
    ranks[seen] = np.arange(len(seen))
    labels = Labels(items, str(series.dtype))
    return Coded(series.name, labels, codes, ranks, counts[seen])


def _label_enum(
    series: pl.Series, codes: Any, first: Any, counts: Any, missing_code: int, missing: str
) -> Coded:
    """An enumeration declares its labels and their order, also of those that do not occur."""
    items: list[str | None] = series.dtype.categories.to_list()  # type: ignore[attr-defined]
    code_of = {item: k for k, item in enumerate(items)}
    if missing_code >= 0 and (missing == "state" or not items):
        code_of[None] = len(items)
        items.append(None)
    ranks = np.array([code_of.get(x, -1) for x in series.gather(first).to_list()], np.int64)
    totals = np.zeros(len(items), np.int64)
    totals[ranks[ranks >= 0]] = counts[ranks >= 0]
    return Coded(series.name, Labels(items, "Enum"), codes, ranks, totals)


def find_cuts(frame: pl.DataFrame, discretise: Any) -> dict[str, Edges]:
    """Find where each column that is to be cut is cut, so that other data can be cut there, too."""
    cuts = {}
    for name, spec in specs_of(frame, discretise, None).items():
        points = cut_points(numbers_to_cut(frame.get_column(name)), spec, column=name)
        cuts[name] = Edges(tuple(points.tolist()))
    return cuts


def numbers_to_cut(series: pl.Series, start: int = 0) -> NDArray[np.float64]:
    """Return a column of numbers that are finite or, where they are missing, NaN."""
    if not series.dtype.is_numeric():
        raise InputError(f"discretise: column {series.name!r} holds {series.dtype}, not numbers")
    numbers = series.cast(pl.Float64).to_numpy()  # what is missing is NaN in arrays
    _refuse_infinite(series.name, numbers, start)
    return numbers


def _cut(series: pl.Series, spec: Any, target_codes: Any, missing: str, start: int) -> Coded:
    """Cut a numeric column into bins."""
    numbers = numbers_to_cut(series, start)
    cuts = cut_points(numbers, spec, target=target_codes, column=series.name)
    bins = apply_cuts(numbers, cuts)
    items: list[Any] = list(bin_labels(cuts))
    is_missing = bins < 0
    codes = np.where(is_missing, len(items), bins).astype(np.uint32)
    counts = np.bincount(codes, minlength=len(items) + 1).astype(np.int64)
    ranks = np.arange(len(items) + 1)
    if is_missing.any() and missing == "state":
        items.append(None)
    else:
        ranks[-1], counts = -1, counts[:-1]
    return Coded(series.name, Labels(items, "String"), codes, ranks, counts)


def decode_frame(table: Table, backend: str | None, native: Native | None) -> Any:
    """Give a table's data back as a frame of the kind asked for, or of the kind it came from."""
    schema = table.schema
    kind = backend or (native[0] if native else "polars")
    if kind not in ("polars", "pandas", "pyarrow"):
        raise InputError(f"backend must be 'polars', 'pandas' or 'pyarrow', got {kind!r}")
    check_fits(
        8 * table.n_records * table.n_columns, "the dense frame", "take fewer records or columns"
    )
    shared: dict[int, pl.Series] = {}
    columns = []
    for c, name in enumerate(schema.names):
        labels = schema.labels[c]
        if id(labels) not in shared:
            shared[id(labels)] = label_series(labels)
        columns.append(shared[id(labels)].gather(table.codes(c)).alias(name))
    frame: Any = pl.DataFrame(columns)
    types = native[1] if native and native[0] == kind else {}
    if kind == "pandas":
        frame = _to_pandas(frame, types)
    elif kind == "pyarrow":
        frame = _to_arrow(frame, types)
    return put_index(frame, table.index, kind)


def _to_pandas(frame: pl.DataFrame, types: dict[str, Any]) -> Any:
    """Return a pandas frame with the given types; by way of Arrow, which loses nothing."""
    if not types:
        return frame.to_pandas()
    result = frame.to_pandas(use_pyarrow_extension_array=True)
    for name, dtype in types.items():
        if name in result.columns and result[name].dtype != dtype:
            column = result[name].astype(dtype)
            if dtype.kind == "O" and dtype.name == "object":
                column = column.where(column.notna(), None)
            result[name] = column
    return result


def _to_arrow(frame: pl.DataFrame, types: dict[str, Any]) -> Any:
    """Return an Arrow table with the given types."""
    result = frame.to_arrow()
    for k, name in enumerate(result.column_names):
        dtype = types.get(name, result.column(k).type)
        if result.column(k).type == dtype:
            continue
        column = result.column(k)
        if hasattr(dtype, "value_type") and hasattr(dtype, "index_type"):  # a dictionary
            column = column.cast(dtype.value_type).dictionary_encode()
        result = result.set_column(k, name, column.cast(dtype))
    return result
