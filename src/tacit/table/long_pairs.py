"""The pairs of record and item that a log holds: coded, sorted, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.table.gateway import MOST_RECORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SPREAD",
    "LongOptions",
    "Pairs",
    "code_values",
    "gather_pairs",
    "id_series",
    "sort_pairs",
    "without_missing",
]

_NO_IDS = (pl.Binary, pl.Object, pl.Decimal, pl.Null, pl.Int128, pl.UInt128)
_DUPLICATES = ("sum", "first", "last", "error")
SPREAD = 4  # numbers are looked up in an array where it has at most so many entries for each


@dataclass(frozen=True)
class LongOptions:
    """How a log is to be read, as :meth:`tacit.Table.from_long` takes it."""

    record: str
    item: str
    value: str | None = None
    weight: str | None = None
    duplicates: str = "sum"
    min_count: int = 1
    min_items: int = 0
    missing: str = "error"
    # What items are called, by what they are as text: the columns "item" and "name".
    names: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        for field in fields(self)[:4]:
            name = getattr(self, field.name)
            if not isinstance(name, str) and (name is not None or field.name in ("record", "item")):
                raise InputError(f"{field.name} must be the name of a column, got {name!r}")
        seen: dict[str, str] = {}
        for field in fields(self)[:4]:
            name = getattr(self, field.name)
            if name in seen:
                raise InputError(f"{field.name}: the column {name!r} is the {seen[name]} already")
            if name is not None:
                seen[name] = field.name
        if self.duplicates not in _DUPLICATES:
            known = "', '".join(_DUPLICATES)
            raise InputError(f"duplicates must be one of '{known}', got {self.duplicates!r}")
        if self.missing not in ("error", "drop"):
            raise InputError(f"missing must be 'error' or 'drop', got {self.missing!r}")
        check_int(self.min_count, "min_count", 1)
        check_int(self.min_items, "min_items", 0)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        given = (self.record, self.item, self.value, self.weight)
        return [name for name in given if name is not None]


@dataclass
class Pairs:
    """What records and items have to do with each other: sorted by record, then item, each once."""

    records: pl.Series  # ids, ascending
    items: pl.Series  # ascending
    indptr: NDArray[np.int64]  # where the pairs of each record begin
    cols: NDArray[np.int32]  # the item of each pair
    values: NDArray[Any] | None  # numbers, or codes of `labels`
    labels: pl.Series | None  # of values that are not numbers, ascending
    weights: NDArray[np.float64] | None  # of records


def gather_pairs(frame: pl.DataFrame, options: LongOptions, n_jobs: int) -> Pairs:
    """Sort the rows of a log, and put together what it says twice."""
    frame = without_missing(frame, options)
    if frame.height == 0:
        raise InputError("frame: the log has no rows")
    if frame.height > MOST_RECORDS:
        raise InputError(f"frame: the log has {frame.height:,} rows; read it in partitions")
    rows, records = code_values(id_series(frame, options.record, "record"), n_jobs)
    cols, items = code_values(id_series(frame, options.item, "item"), n_jobs)
    weights = None
    if options.weight is not None:
        weights = _record_weights(frame.get_column(options.weight), rows, records)
    given, labels = None, None
    if options.value is not None:
        given, labels = _values(frame.get_column(options.value), n_jobs)
    indptr, cols, values = sort_pairs(rows, cols, len(records), len(items), given)
    pairs = Pairs(records, items, indptr, cols, values, labels, weights)
    return _put_together(pairs, options)


def without_missing(frame: pl.DataFrame, options: LongOptions) -> pl.DataFrame:
    """Leave rows out in which something is missing, or refuse them."""
    for field in fields(options)[:4]:
        name = getattr(options, field.name)
        if name is None:
            continue
        series = frame.get_column(name)
        missing = series.is_null()
        if series.dtype.is_float():
            missing |= series.is_nan().fill_null(True)
        if not missing.any():
            continue
        if options.missing == "error":
            row = int(missing.arg_max() or 0)
            raise InputError(
                f"{field.name}: column {name!r} has a missing value at row {row}; "
                "missing='drop' leaves such rows out"
            )
        frame = frame.filter(~missing)
    return frame


def id_series(frame: pl.DataFrame, name: str, argument: str) -> pl.Series:
    """Return a column of ids or items, which must be of a type that has an order."""
    series = frame.get_column(name)
    if series.dtype == pl.Categorical:
        return series.cast(pl.String)
    if series.dtype.is_nested() or series.dtype in _NO_IDS:
        raise InputError(f"{argument}: column {name!r} holds {series.dtype}, which cannot be ids")
    return series


def code_values(series: pl.Series, n_jobs: int) -> tuple[NDArray[np.int32], pl.Series]:
    """Return the rank of each value among the distinct ones, and those, ascending."""
    dtype = series.dtype
    if dtype == pl.String:
        [(codes, first, _, _)] = _core.encode_columns([series.__arrow_c_stream__()], n_jobs)
    else:
        keys = _keys(series)
        low, high = int(keys.min()), int(keys.max())
        ordered = not dtype.is_float() and dtype not in (pl.UInt64, pl.Enum)  # as their keys are
        if ordered and high - low < SPREAD * len(keys) + 1000:
            return _code_range(series, keys, low, high)
        [(codes, first, _, _)] = _core.encode_columns([(keys, None)], n_jobs)
    values = series[first]
    order = values.arg_sort()
    ranks = np.empty(len(order), np.int32)
    ranks[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return ranks[codes], values.gather(order)


def _keys(series: pl.Series) -> NDArray[np.int64]:
    """Return values that are not text as 64-bit keys."""
    if series.dtype.is_float():
        numbers = series.cast(pl.Float64).to_numpy() + 0.0  # the sum turns -0.0 into 0.0
        return numbers.view(np.int64)
    if series.dtype == pl.UInt64:
        return np.ascontiguousarray(series.reinterpret(signed=True).to_numpy())
    return np.ascontiguousarray(series.to_physical().cast(pl.Int64).to_numpy())


def _code_range(
    series: pl.Series, keys: NDArray[np.int64], low: int, high: int
) -> tuple[NDArray[np.int32], pl.Series]:
    """Code whole numbers that lie close together, which takes no hashing."""
    present = np.zeros(high - low + 1, np.bool_)
    offsets = keys - low if low else keys
    present[offsets] = True
    ranks = np.cumsum(present, dtype=np.int32) - np.int32(1)
    numbers = pl.Series(series.name, np.flatnonzero(present) + low)
    physical = series.head(0).to_physical().dtype
    return ranks[offsets], numbers.cast(physical).cast(series.dtype)


def _record_weights(
    series: pl.Series, rows: NDArray[np.int32], records: pl.Series
) -> NDArray[np.float64]:
    if not series.dtype.is_numeric():
        raise InputError(f"weight: column {series.name!r} holds {series.dtype}, not numbers")
    given = series.cast(pl.Float64).to_numpy()
    weights = np.empty(len(records), np.float64)
    weights[rows] = given
    differs = weights[rows] != given
    if differs.any():
        k = int(np.argmax(differs))
        raise InputError(
            f"weight: record {records[int(rows[k])]!r} has the weights {given[k]} and "
            f"{weights[rows[k]]}; a record has one"
        )
    return weights


def _values(series: pl.Series, n_jobs: int) -> tuple[NDArray[Any], pl.Series | None]:
    """Return values as numbers, or as codes and what they stand for."""
    dtype = series.dtype
    if dtype.is_float() or dtype == pl.Decimal:
        numbers = series.cast(pl.Float64).to_numpy() + 0.0
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(f"value: column {series.name!r} holds {numbers[k]} at row {k}")
        return numbers, None
    if dtype.is_integer():
        try:
            return series.cast(pl.Int64).to_numpy(), None
        except pl.exceptions.PolarsError:
            raise InputError(f"value: column {series.name!r} holds numbers beyond 2^63") from None
    if dtype == pl.Categorical:
        series = series.cast(pl.String)
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Null):
        raise InputError(f"value: column {series.name!r} holds {dtype}, which cannot be labels")
    return code_values(series, n_jobs)


def sort_pairs(
    rows: NDArray[np.int32],
    cols: NDArray[np.int32],
    n_records: int,
    n_items: int,
    values: NDArray[Any] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any] | None]:
    """Sort (row, column, value) by row and column; equal ones stay in their order.

    Two transpositions of a sparse array are two passes of a radix sort.
    """
    from scipy import sparse

    data = np.zeros(len(rows), np.int8) if values is None else values
    entries = sparse.coo_array((data, (rows, cols)), shape=(n_records, n_items))
    entries.has_canonical_format = True  # that is: do not add up what is there twice
    by_row = entries.tocsc().tocsr()
    return by_row.indptr.astype(np.int64), by_row.indices, None if values is None else by_row.data


def _put_together(pairs: Pairs, options: LongOptions) -> Pairs:
    """Make one pair of several rows of the same record and item."""
    indptr, cols, values = pairs.indptr, pairs.cols, pairs.values
    new = np.ones(len(cols), np.bool_)
    np.not_equal(cols[1:], cols[:-1], out=new[1:])
    new[indptr[:-1]] = True  # as every record has a row
    if new.all():
        return pairs
    if options.duplicates == "error":
        record, item = _locate(pairs, int(np.argmin(new)))
        raise InputError(
            f"duplicates: record {record!r} has item {item!r} more than once; "
            "duplicates='sum' adds up"
        )
    starts = np.flatnonzero(new)
    if values is not None:
        if options.duplicates == "last":
            values = values[np.append(starts[1:], len(cols)) - 1]
        elif options.duplicates == "sum":
            values = _sum(pairs, starts, new)
        else:
            values = values[starts]
    pairs.indptr = np.concatenate(([0], np.cumsum(new)))[indptr]
    pairs.cols, pairs.values = cols[starts], values
    return pairs


def _sum(pairs: Pairs, starts: NDArray[np.int64], new: NDArray[np.bool_]) -> NDArray[Any]:
    """Add up the numbers of equal pairs; other values must be the same."""
    values = pairs.values
    assert values is not None
    if pairs.labels is not None:
        differs = ~new
        differs[1:] &= values[1:] != values[:-1]
        if differs.any():
            k = int(np.argmax(differs))
            record, item = _locate(pairs, k)
            one, other = pairs.labels[int(values[k - 1])], pairs.labels[int(values[k])]
            raise InputError(
                f"duplicates: record {record!r} has item {item!r} with {one!r} and {other!r}, "
                "which do not add up; say duplicates='first' or 'last'"
            )
        return values[starts]
    with np.errstate(over="ignore"):
        sums: NDArray[Any] = np.add.reduceat(values, starts)
    if sums.dtype.kind == "i":
        about = np.add.reduceat(values.astype(np.float64), starts)
        if np.abs(about).max() >= 2**62:
            record, item = _locate(pairs, int(starts[np.argmax(np.abs(about))]))
            raise InputError(f"value: the sum of record {record!r} and item {item!r} is too large")
    elif not np.isfinite(sums).all():
        record, item = _locate(pairs, int(starts[np.argmin(np.isfinite(sums))]))
        raise InputError(f"value: the sum of record {record!r} and item {item!r} is too large")
    return sums


def _locate(pairs: Pairs, k: int) -> tuple[Any, Any]:
    """Return the record and the item of a pair."""
    row = int(np.searchsorted(pairs.indptr, k, side="right")) - 1
    return pairs.records[row], pairs.items[int(pairs.cols[k])]
