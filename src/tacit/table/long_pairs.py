"""The pairs of record and item that a log holds: coded, sorted, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SPREAD",
    "LongOptions",
    "Pairs",
    "code_values",
    "gather_pairs",
    "id_series",
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
    """What records and items have to do with each other: sorted by record, then item, each once.

    An entry is an item, or an item and a value. A record holds entries as a record of a table holds
    value ids.
    """

    records: pl.Series  # ids, ascending
    items: pl.Series  # ascending
    labels: pl.Series | None  # values of all items, ascending
    indptr: NDArray[np.int64]  # where the entries of each record begin
    entries: NDArray[Any]  # of one record after the other, ascending
    entry_items: NDArray[np.int64]  # the item of each entry
    entry_labels: NDArray[np.int64] | None  # its value
    weights: NDArray[np.float64] | None  # of records

    def kernel_records(self, chosen: NDArray[np.int64] | None = None) -> _core.Records:
        """Return records as kernels take them."""
        return _core.Records(self.indptr, self.entries, len(self.entry_items), chosen)


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
    codes, labels = None, None
    if options.value is not None:
        codes, labels = _values(frame.get_column(options.value), n_jobs)
    repeats = options.duplicates if options.duplicates in ("first", "last") else "all"
    sizes = len(records), len(items)
    indptr, sorted_items, values, n_repeated = _core.sort_log(
        rows, cols, codes, *sizes, repeats, n_jobs
    )
    if n_repeated and options.duplicates == "error":
        if codes is None:  # then each pair was kept once
            indptr, sorted_items, _, _ = _core.sort_log(rows, cols, cols, *sizes, "all", n_jobs)
        log = _SortedRows(records, items, indptr, sorted_items)
        record, item = log.locate(int(np.argmin(log.begins())))
        raise InputError(
            f"duplicates: record {record!r} has item {item!r} more than once; "
            "duplicates='sum' adds up"
        )
    if values is None or labels is None:
        every = np.arange(len(items))
        return Pairs(records, items, None, indptr, sorted_items, every, None, weights)
    if n_repeated and repeats == "all":
        log = _SortedRows(records, items, indptr, sorted_items)
        values, labels = _add_up(log, values, labels, n_jobs)
        indptr, sorted_items = log.indptr, log.items_of_rows
    entries, entry_items, entry_labels = _number_entries(sorted_items, values, items, labels)
    return Pairs(records, items, labels, indptr, entries, entry_items, entry_labels, weights)


def _number_entries(
    cols: NDArray[Any], codes: NDArray[np.int32], items: pl.Series, labels: pl.Series
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Number pairs of item and value in their order; returns the item and the value of each, too.

    Where they are not too many, pairs that do not occur have a number as well.
    """
    n, width = len(items) * len(labels), len(labels)
    if n < min(SPREAD * len(cols) + 1000, MOST_RECORDS):
        dtype = value_type(n)
        entries: NDArray[Any] = cols.astype(dtype)
        entries *= dtype(width)
        entries += codes.view(np.uint32).astype(dtype, copy=False)
        held = np.arange(n)
    else:
        keys = cols.astype(np.int64) * width + codes
        held, entries = np.unique(keys, return_inverse=True)
        entries = entries.astype(value_type(len(held)))
    return entries, *np.divmod(held, width)


def without_missing(frame: pl.DataFrame, options: LongOptions) -> pl.DataFrame:
    """Leave rows out in which something is missing, or refuse them."""
    for field in fields(options)[:4]:
        name = getattr(options, field.name)
        if name is None:
            continue
        series = frame.get_column(name)
        floating = series.dtype.is_float()
        if not series.null_count() and not (floating and series.is_nan().any()):
            continue
        missing = series.is_null()
        if floating:
            missing |= series.is_nan().fill_null(True)
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
        [(codes, first, _, _)] = _core.encode_columns(
            [series.alias("").__arrow_c_stream__()], n_jobs
        )
    else:
        if not dtype.is_float() and dtype not in (pl.UInt64, pl.Enum):  # ordered as their keys are
            chunks = _integer_chunks(series)
            low, high = _core.integer_bounds(chunks, n_jobs)
            if high - low < SPREAD * len(series) + 1000:  # close together: no hashing
                ranks, numbers = _core.code_integers(chunks, low, high, n_jobs)
                physical = series.head(0).to_physical().dtype
                return ranks, pl.Series(series.name, numbers).cast(physical).cast(dtype)
        keys = [(chunk, None) for chunk in _key_chunks(series)]
        [(codes, first, _, _)] = _core.encode_columns([keys], n_jobs)
    values = series[first]
    if dtype.is_float():
        values = values + 0.0  # turns -0.0 into 0.0
    order = values.arg_sort()
    values = values.gather(order)
    new = (values != values.shift()).fill_null(True).to_numpy()  # 0.0 may be there twice
    ranks = np.empty(len(order), np.int32)
    ranks[order.to_numpy()] = np.cumsum(new) - 1
    return ranks[codes], values.filter(new)


def _integer_chunks(series: pl.Series) -> list[NDArray[Any]]:
    """Return the chunks of a column, as it stores them where that is as whole numbers."""
    numbers = series.to_physical()
    if numbers.dtype not in (pl.Int32, pl.Int64):
        numbers = numbers.cast(pl.Int64)
    return [np.ascontiguousarray(chunk.to_numpy()) for chunk in numbers.get_chunks()]


def _key_chunks(series: pl.Series) -> list[NDArray[np.int64]]:
    """Return the chunks of values that are not text as 64-bit keys."""
    if series.dtype.is_float():
        series = series.cast(pl.Float64)
    elif series.dtype != pl.UInt64:
        series = series.to_physical().cast(pl.Int64)
    return [np.ascontiguousarray(chunk.to_numpy()).view(np.int64) for chunk in series.get_chunks()]


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


def _values(series: pl.Series, n_jobs: int) -> tuple[NDArray[np.int32], pl.Series]:
    """Return values as codes, and what they stand for: numbers of 64 bits, or labels."""
    dtype = series.dtype
    if dtype.is_float() or dtype == pl.Decimal:
        series = series.cast(pl.Float64)
        finite = series.is_finite()
        if not finite.all():
            k = int(finite.arg_min() or 0)
            raise InputError(f"value: column {series.name!r} holds {series[k]} at row {k}")
    elif dtype.is_integer():
        try:
            series = series.cast(pl.Int64)
        except pl.exceptions.PolarsError:
            raise InputError(f"value: column {series.name!r} holds numbers beyond 2^63") from None
    elif dtype == pl.Categorical:
        series = series.cast(pl.String)
    elif dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Null):
        raise InputError(f"value: column {series.name!r} holds {dtype}, which cannot be labels")
    return code_values(series, n_jobs)


@dataclass
class _SortedRows:
    """The rows of a log, sorted by record and item."""

    records: pl.Series
    items: pl.Series
    indptr: NDArray[np.int64]
    items_of_rows: NDArray[Any]

    def begins(self) -> NDArray[np.bool_]:
        """Say of each row whether it is the first of its record and item."""
        new = np.ones(len(self.items_of_rows), np.bool_)
        np.not_equal(self.items_of_rows[1:], self.items_of_rows[:-1], out=new[1:])
        new[self.indptr[:-1]] = True  # as every record has a row
        return new

    def locate(self, k: int) -> tuple[Any, Any]:
        """Return the record and the item of a row."""
        row = int(np.searchsorted(self.indptr, k, side="right")) - 1
        return self.records[row], self.items[int(self.items_of_rows[k])]


def _add_up(
    log: _SortedRows, values: NDArray[np.int32], labels: pl.Series, n_jobs: int
) -> tuple[NDArray[np.int32], pl.Series]:
    """Make one row of several of the same record and item; returns their values."""
    new = log.begins()
    starts = np.flatnonzero(new)
    if labels.dtype.is_numeric():
        sums = _sum(log, labels.to_numpy()[values], starts)
        values, labels = code_values(pl.Series(labels.name, sums), n_jobs)
    else:
        _refuse_different(log, values, labels, new)
        values = values[starts]
    log.items_of_rows = log.items_of_rows[starts]
    log.indptr = np.concatenate(([0], np.cumsum(new)))[log.indptr]
    return values, labels


def _sum(log: _SortedRows, numbers: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Add up the numbers of rows that are put together."""
    with np.errstate(over="ignore"):
        sums: NDArray[Any] = np.add.reduceat(numbers, starts)
    if sums.dtype.kind == "i":
        about = np.add.reduceat(numbers.astype(np.float64), starts)
        wrong = np.abs(about) >= 2**62
    else:
        wrong = ~np.isfinite(sums)
    if wrong.any():
        record, item = log.locate(int(starts[np.argmax(wrong)]))
        raise InputError(f"value: the sum of record {record!r} and item {item!r} is too large")
    return sums


def _refuse_different(
    log: _SortedRows, values: NDArray[np.int32], labels: pl.Series, new: NDArray[np.bool_]
) -> None:
    """Refuse labels that differ in rows that are put together."""
    differs = ~new
    differs[1:] &= values[1:] != values[:-1]
    if differs.any():
        k = int(np.argmax(differs))
        record, item = log.locate(k)
        one, other = labels[int(values[k - 1])], labels[int(values[k])]
        raise InputError(
            f"duplicates: record {record!r} has item {item!r} with {one!r} and {other!r}, "
            "which do not add up; say duplicates='first' or 'last'"
        )
