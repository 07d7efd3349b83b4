"""Frames in, frames out: pandas, Polars, Arrow and plain mappings of columns."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError, no_column
from tacit.machine import check_fits
from tacit.schema import Labels
from tacit.schema.types import label_items, label_series, sort_labels
from tacit.table.build import Coded, Native, Parts, store_codes
from tacit.table.containers import array_columns, as_frame, is_sparse, sparse_frame
from tacit.table.cuts import find_cuts, numbers_to_cut, refuse_infinite
from tacit.table.discretise import apply_cuts, bins_of
from tacit.table.gateway import check_missing, check_size
from tacit.table.index import index_of_frame, put_index
from tacit.table.kinds import as_kinds, check_kinds, mark_identifier, of_kind
from tacit.table.matrices import column_names, encode_matrix, holds_codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.table.discretise import Edges
    from tacit.table.table import Table

__all__ = [
    "as_numbers",
    "decode_frame",
    "encode_array",
    "encode_columns",
    "encode_frame",
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
    kinds: Any,
    n_jobs: int,
) -> Parts:
    """Turn a frame into the parts of a Table; see :class:`tacit.Table` for the arguments."""
    check_missing(missing)
    native: Native | None
    record_weights = None
    as_it_is = discretise is None and target is None and not kinds and not isinstance(weights, str)
    sparse = sparse_frame(data) if as_it_is else None
    if sparse is not None:
        matrix, names, native = sparse
        parts = encode_matrix(matrix, names, defaults)
    else:
        frame, native = as_frame(data)
        if isinstance(weights, str):
            record_weights = as_numbers(_column(frame, weights, "weights"), "weights")
            frame = frame.drop(weights)
        check_size(frame.height, frame.width)
        wanted = check_kinds(kinds, frame.columns)
        frame = as_kinds(frame, wanted)
        cuts = find_cuts(frame, discretise, target, wanted)
        coded = encode_columns(frame, missing, cuts, n_jobs)
        for column in coded:
            labels = of_kind(column.labels, wanted.get(column.name), column.name)
            column.labels = mark_identifier(labels, frame.height)
        parts = store_codes(coded, defaults, n_jobs)
        if native is not None:  # a column that is cut holds bins, no numbers any more
            native = native[0], {name: t for name, t in native[1].items() if name not in cuts}
    parts.weights, parts.native = record_weights, native
    parts.index = index_of_frame(data)
    return parts


def encode_array(
    data: Any, columns: Sequence[str] | None, defaults: Any, missing: str, n_jobs: int
) -> Parts:
    """Turn an array, dense or sparse, into the parts of a Table.

    Whole numbers from 0 on are codes; other numbers, and objects, are labels as they are.
    """
    if is_sparse(data) or (data.dtype.kind in "biuf" and holds_codes(data)):
        return encode_matrix(data, columns, defaults)
    if data.dtype.kind in "cS":
        raise InputError(f"data must hold numbers, text or dates, got {data.dtype}")
    frame = array_columns(data, column_names(data, columns))
    return encode_frame(frame, defaults, None, missing, None, None, None, n_jobs)


def _column(frame: pl.DataFrame, name: str, argument: str) -> pl.Series:
    if name not in frame.columns:
        raise no_column(argument, name, frame.columns)
    return frame.get_column(name)


def as_numbers(series: pl.Series, argument: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column of numbers, or say in what argument it is none."""
    if not series.dtype.is_numeric():
        raise InputError(f"{argument}: column {series.name!r} holds {series.dtype}, not numbers")
    return series.cast(pl.Float64).to_numpy().astype(np.float64)


def encode_columns(
    frame: pl.DataFrame,
    missing: str,
    cuts: Mapping[str, Edges],
    n_jobs: int,
    start: int = 0,
    known: Mapping[str, Labels] | None = None,
) -> list[Coded]:
    """Code every column of a frame whose first record has the number `start` in all of the data.

    A column all of whose labels are among those `known` of it is given just them.
    """
    ready: dict[str, Coded] = {}
    plain = []
    for series in frame.iter_columns():
        if missing == "error":
            _refuse_missing(series, start)
        if series.name in cuts:
            ready[series.name] = _cut(series, cuts[series.name], missing, start)
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
        return series.alias("").__arrow_c_stream__()  # whatever it is called
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
    numbers = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    valid = ~np.isnan(numbers)
    refuse_infinite(series.name, numbers, start)
    keys = np.where(valid, numbers, 0.0) + 0.0  # the sum turns -0.0 into 0.0
    return keys.view(np.int64), None if valid.all() else valid.astype(np.uint8)


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
    if series.dtype.is_numeric():
        return _label_numbers(series, codes, first, counts, missing_code, missing, known)
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


def _label_numbers(
    series: pl.Series,
    codes: Any,
    first: Any,
    counts: Any,
    missing_code: int,
    missing: str,
    known: Labels | None,
) -> Coded:
    """Rank the numbers of an encoded column; missing comes last, or becomes the default."""
    values = series[first].to_numpy()
    values = values.astype(np.float64) + 0.0 if series.dtype.is_float() else values  # -0.0 is 0.0
    order = np.argsort(values, kind="stable")
    order = order[order != missing_code]
    stated = missing_code >= 0 and (missing == "state" or not len(order))
    numbers = values[order]
    if missing_code >= 0 and not series.dtype.is_float():  # NumPy has no missing whole numbers
        numbers = series[first[order]].to_numpy()
        order = order[np.argsort(numbers, kind="stable")]
        numbers = np.sort(numbers)
    labels = Labels.of_numbers(numbers, str(series.dtype), missing=stated)
    ranks = np.full(len(first), -1, np.int64)
    ranks[order] = np.arange(len(order))
    if stated:
        ranks[missing_code], order = len(order), np.append(order, missing_code)
    if known is not None and known.array is not None and (missing_code < 0 or missing == "state"):
        at = known.find_all(labels)
        if (at >= 0).all():
            totals = np.zeros(len(known), np.int64)
            totals[at] = counts[order]
            return Coded(series.name, known, codes, at[ranks], totals)
    return Coded(series.name, labels, codes, ranks, counts[order])


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


def _cut(series: pl.Series, cuts: Edges, missing: str, start: int) -> Coded:
    """Cut a numeric column into bins."""
    numbers = numbers_to_cut(series, start)
    bins = apply_cuts(numbers, cuts.edges)
    n = len(cuts.edges) + 1
    is_missing = bins < 0
    codes = np.where(is_missing, n, bins).astype(np.uint32)
    counts = np.bincount(codes, minlength=n + 1).astype(np.int64)
    ranks = np.arange(n + 1)
    stated = bool(is_missing.any()) and missing == "state"
    if not stated:
        ranks[-1], counts = -1, counts[:-1]
    return Coded(series.name, bins_of(cuts.edges, missing=stated), codes, ranks, counts)


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
            is_text = frame.schema[name] in (pl.Enum, pl.Categorical)
            result[name] = _as_pandas_type(result[name], dtype, is_text)
    return result


def _as_pandas_type(column: Any, dtype: Any, is_text: bool) -> Any:
    if is_text and hasattr(dtype, "categories"):
        texts = type(dtype)([str(item) for item in dtype.categories], dtype.ordered)
        return column.astype(texts).cat.rename_categories(dtype.categories)
    column = column.astype(dtype)
    if dtype.kind == "O" and dtype.name == "object":
        column = column.where(column.notna(), None)
    return column


def _to_arrow(frame: pl.DataFrame, types: dict[str, Any]) -> Any:
    """Return an Arrow table with the given types."""
    result = frame.to_arrow()
    for k, name in enumerate(result.column_names):
        dtype = types.get(name, result.column(k).type)
        if result.column(k).type == dtype:
            continue
        column = result.column(k)
        if hasattr(dtype, "value_type") and hasattr(dtype, "index_type"):  # a dictionary
            column = _as_dictionary(column, dtype)
        result = result.set_column(k, name, column.cast(dtype))
    return result


def _as_dictionary(column: Any, dtype: Any) -> Any:
    """Return an Arrow column as a dictionary; an ordered one has its categories in their order."""
    if not dtype.ordered:
        return column.cast(dtype.value_type).dictionary_encode()
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.combine_chunks()
    if hasattr(array, "indices"):
        indices, items = array.indices, array.dictionary
    else:  # categories in their own order, such as numbers
        items = array.unique().drop_null()
        items = items.take(pc.sort_indices(items))
        indices = pc.index_in(array, value_set=items)
    indices, items = indices.cast(dtype.index_type), items.cast(dtype.value_type)
    return pa.DictionaryArray.from_arrays(indices, items, ordered=True)
