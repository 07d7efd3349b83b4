"""The validation gateway: what is wrong with an argument is said here, before a kernel sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError, refuse_partitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.counts import Subset
    from tacit.schema import Schema
    from tacit.table.table import Table

__all__ = [
    "MOST_RECORDS",
    "as_table",
    "check_absent",
    "check_codes",
    "check_missing",
    "check_records",
    "check_size",
    "check_sparse",
    "check_stored",
    "check_target",
    "check_weights",
    "refuse_numbers",
    "value_type",
]

MOST_RECORDS = 2**31 - 1  # record numbers are held in 32 bits


def as_table(X: Any, **options: Any) -> Table:
    """Return `X` if it is a Table, else the Table made of it with the options of a Table."""
    from tacit.table.table import Table

    refuse_partitions(X, "a Table")
    return X if isinstance(X, Table) else Table(X, **options)


def check_size(n_records: int, n_columns: int) -> None:
    """Refuse tables with nothing in them, or with more records than can be numbered."""
    if n_columns == 0:
        raise InputError("the table is empty: it has no columns")
    if n_records == 0:
        raise InputError("the table is empty: it has no records")
    if n_records > MOST_RECORDS:
        raise InputError(f"the table has {n_records:,} records; at most {MOST_RECORDS:,} fit")


def value_type(n_values: int) -> type[np.uint16] | type[np.uint32]:
    """Return the smallest type for value ids (the last number of each type is never one)."""
    if n_values > 2**31 - 1:
        raise InputError(f"the columns have {n_values:,} non-default values; at most 2³¹ - 1 fit")
    return np.uint16 if n_values < 2**16 else np.uint32


_OUT_OF_RANGE, _DUPLICATE, _UNSORTED = 4, 5, 6
_FAULTS = {
    1: "indptr must start with 0, got {index}",
    2: "indptr must not decrease or pass the end of indices, but does after row {row}",
    3: "indptr must end with the number of indices, got {index}",
    4: "row {row} has the column index {index}, which is not in [0, {n})",
    5: "row {row} has the column index {index} twice; sum or drop duplicates first",
    6: "row {row} is not sorted by column index",
}
_COLUMN_FAULTS = {
    1: "indptr must start with 0, got {row}",
    2: "indptr must not decrease or pass the end of indices, but does after column {index}",
    3: "indptr must end with the number of indices, got {row}",
    4: "column {index} has the row index {row}, which is not in [0, {n})",
}


def check_sparse(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    n: int,
    *,
    argument: str = "X",
    sorted_only: bool = False,
    by_column: bool = False,
    duplicates: bool = False,
) -> bool:
    """Check a compressed sparse structure in O(stored); True if all rows are sorted.

    Indices must be in [0, n), and those of a row ascend if `sorted_only`. The caller calls it
    `argument`. Compressed `by_column`, its indices are those of rows. Rows with `duplicates`
    are refused, unless the caller adds them up, and are not sorted then.
    """
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1:
            raise InputError(f"{argument}: {name} must have one dimension, got {array.ndim}")
        if array.dtype.kind not in "iu":
            raise InputError(f"{argument}: {name} must be integers, got {array.dtype}")
    if len(indptr) == 0:
        raise InputError(f"{argument}: indptr must have one entry more than there are rows, got 0")
    fault, row, index = _core.check_sparse(
        _as_type(indptr, "int32", "int64"),
        _as_type(indices, "int32", "int64", "uint16", "uint32"),
        n,
    )
    if fault == _DUPLICATE and duplicates:
        # What comes after the first of them has not been looked at.
        wrong = (indices < 0) | (indices >= n)
        if not wrong.any():
            return False
        k = int(np.argmax(wrong))
        row = int(np.searchsorted(indptr, k, side="right")) - 1
        fault, index = _OUT_OF_RANGE, int(indices[k])
    if fault == 0 or (fault == _UNSORTED and not sorted_only):
        return fault == 0
    if by_column:
        row, index = index, row
    text = _COLUMN_FAULTS.get(fault, _FAULTS[fault]) if by_column else _FAULTS[fault]
    raise InputError(f"{argument}: {text.format(row=row, index=index, n=n)}")


def _as_type(indices: NDArray[Any], *types: str) -> NDArray[Any]:
    """Return indices as one of the types that the kernel takes."""
    fine = indices.dtype.name in types and indices.dtype.isnative
    return np.require(indices if fine else indices.astype(np.int64), None, ["C", "ALIGNED"])


def check_stored(schema: Schema, indptr: NDArray[Any], values: NDArray[Any], where: str) -> None:
    """Check arrays that claim to be a table's: O(stored)."""
    check_sparse(indptr, values, schema.n_values, argument=where, sorted_only=True)
    fault, row, column = _core.check_columns(indptr, values, schema.offsets)
    if fault:
        name = schema.names[column]
        raise InputError(f"{where}: record {row} stores two values of column {name!r}")


def check_codes(values: NDArray[Any], argument: str, locate: Any) -> NDArray[np.int64]:
    """Check that numbers are whole, finite and not negative; return them as int64.

    `locate` turns a position in `values` into words, for the message.
    """
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind in "iu":
        wrong = values < 0 if values.dtype.kind == "i" else values > np.uint64(2**63 - 1)
        problem = "negative" if values.dtype.kind == "i" else "too large"
    elif values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)  # small floats cannot hold the bound below
        wrong = ~np.isfinite(values)
        problem = "not finite"
        if not wrong.any():
            wrong, problem = values != np.floor(values), "not a whole number"
        if not wrong.any():
            wrong, problem = (values < 0), "negative"
        if not wrong.any():
            wrong, problem = values >= 2.0**63, "too large"
    else:
        raise InputError(f"{argument} must hold whole numbers, got {values.dtype}")
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InputError(
            f"{argument}: the value {values.flat[k]} at {locate(k)} is {problem}; "
            "codes are the whole numbers 0, 1, 2, …"
        )
    return values.astype(np.int64)


def check_weights(weights: Any, n_records: int) -> NDArray[np.float64] | None:
    """Check record weights: one for each record, finite and not negative."""
    if weights is None:
        return None
    try:
        array = np.array(weights, dtype=np.float64)  # a copy: the caller may change theirs
    except (TypeError, ValueError):
        raise InputError(f"weights must be numbers, got {type(weights).__name__}") from None
    if array.shape != (n_records,):
        raise InputError(f"weights must have shape ({n_records},), got {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InputError(f"weights must be finite and not negative; record {k}: {array[k]}")
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise InputError("weights must have a finite sum; scale them down")
    array.flags.writeable = False
    return array


def check_records(records: Any, n_records: int) -> Subset:
    """Turn a subset of records, a mask or record numbers, into ascending numbers."""
    if records is None:
        return None
    array = np.asarray(records)
    if array.ndim != 1:
        raise InputError(f"records must have one dimension, got {array.ndim}")
    if array.dtype == np.bool_:
        if len(array) != n_records:
            raise InputError(f"records: a mask must have length {n_records}, got {len(array)}")
        return np.flatnonzero(array).astype(np.int64)
    if len(array) == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"records must be a mask or record numbers, got {array.dtype}")
    numbers = array.astype(np.int64)
    if len(numbers) > 1 and not (np.diff(numbers) > 0).all():
        numbers = np.sort(numbers)
        twice = np.flatnonzero(np.diff(numbers) == 0)
        if len(twice):
            raise InputError(f"records: {numbers[twice[0]]} occurs twice; use weights to repeat")
    if numbers[0] < 0 or numbers[-1] >= n_records:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise InputError(f"records: {wrong} is not in [0, {n_records})")
    return np.ascontiguousarray(numbers)


def refuse_numbers(
    numbers: NDArray[np.floating[Any]],
    names: Sequence[str] | None = None,
    *,
    missing: bool = False,
) -> None:
    """Refuse numbers of X that are infinite or, unless NaN stands for what is `missing`, NaN.

    Columns of arrays have no names; numbers of one dimension are those of the only column.
    """
    wrong = np.isinf(numbers) if missing else ~np.isfinite(numbers)
    if not wrong.any():
        return
    row, column = np.unravel_index(int(wrong.argmax()), (len(wrong), wrong[0].size))
    named = int(column) if names is None else repr(names[int(column)])
    what = "infinity" if missing else "NaN or inf"
    value = numbers[row].flat[column]
    raise InputError(f"X contains {what}: {value} at row {row}, column {named}")


def check_missing(missing: Any) -> None:
    """Refuse what is no way to treat missing values."""
    if missing not in ("state", "default", "error"):
        raise InputError(f"missing must be 'state', 'default' or 'error', got {missing!r}")


def check_absent(absent: Any) -> None:
    """Refuse what is no way to treat columns that are not there."""
    if absent not in (None, "error", "default"):
        raise InputError(f"absent must be 'error', 'default' or None, got {absent!r}")


def check_target(schema: Schema, target: Any) -> int:
    """Return the position of a column that has at least two values."""
    position = schema.position(target, "target")
    if schema.arities[position] < 2:
        column = schema.column(position)
        raise InputError(
            f"target: column {column.name!r} has one value only ({column.default_label!r})"
        )
    return position
