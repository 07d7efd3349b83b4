"""Arrays in: NumPy numbers, SciPy sparse arrays and matrices, and lists of items."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.counts.one_way import sum_by_column
from tacit.errors import InputError
from tacit.schema import Labels, NumberedNames, Schema
from tacit.table.build import Parts, default_codes, value_type
from tacit.table.containers import is_sparse
from tacit.table.gateway import check_codes, check_size, check_sparse
from tacit.table.recode import restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = [
    "PRESENCE",
    "column_names",
    "encode_baskets",
    "encode_matrix",
    "holds_codes",
    "is_sparse",
    "presence_parts",
    "sorted_columns",
    "sparse_numbers",
]

_BINARY = Labels([0, 1], "Int64")
PRESENCE = Labels([False, True], "Boolean", kind="boolean")  # an item is there, or not


def encode_matrix(data: Any, columns: Sequence[str] | None, defaults: Any) -> Parts:
    """Turn a two-dimensional array of numbers, dense or sparse, into the parts of a Table.

    Whole numbers from 0 on are codes. A sparse array may hold others, which are labels then.
    """
    names = column_names(data, columns)
    boolean = data.dtype.kind == "b"
    if not is_sparse(data):
        return _store(names, data.shape[0], *_dense_codes(data), defaults, boolean)
    if (parts := _store_ones(names, data, defaults, boolean)) is not None:
        return parts
    indptr, indices, numbers = sparse_numbers(data)
    if holds_codes(numbers):
        codes = numbers.astype(np.int64)
        return _store(names, data.shape[0], indptr, indices, codes, defaults, boolean)
    return _store_numbers(names, data.shape[0], indptr, indices, numbers, defaults)


def _store_ones(names: Sequence[str], data: Any, defaults: Any, boolean: bool) -> Parts | None:
    """Store sorted rows of nothing but ones, as most sparse arrays are; None if it is not one."""
    m, n = data.shape
    if data.format != "csr" or n == 0 or data.dtype.kind not in "biuf":
        return None
    indptr, indices, ones = data.indptr, data.indices, data.data
    same_type = indptr.dtype == indices.dtype and indices.dtype in (np.int32, np.int64)
    fine = all(a.ndim == 1 and a.flags.c_contiguous and a.flags.aligned for a in (indptr, indices))
    equally_long = len(indptr) == m + 1 and ones.shape == indices.shape
    if not (same_type and fine and equally_long and (ones == 1).all()):
        return None
    counts = _core.count_presence(indptr, indices, n)
    if counts is None:  # there is something to sort, to add up or to refuse
        return None
    schema = Schema(names, [PRESENCE if boolean else _BINARY] * n, np.zeros(n, np.int64))
    if defaults is None:
        chosen = (2 * counts > m).astype(np.int64)
    else:
        chosen = default_codes(schema, np.column_stack((m - counts, counts)).ravel(), defaults)
    usual = np.flatnonzero(chosen)
    if len(usual):
        schema = schema.with_defaults(chosen)
        counts[usual] = m - counts[usual]
    values = np.empty(int(counts.sum()), value_type(n))
    offsets = _core.store_presence(indptr, indices, usual, values)
    return Parts(schema, offsets, values, sizes=counts)


def holds_codes(numbers: NDArray[Any]) -> bool:
    """Return whether an array holds nothing but whole numbers from 0 on."""
    kind = numbers.dtype.kind
    if kind == "b" or numbers.size == 0:
        return True
    if kind in "iu":
        return bool(numbers.min() >= 0 and numbers.max() < 2**63)
    if kind != "f":
        return False
    numbers = numbers.astype(np.float64, copy=False)  # small floats cannot hold the bound below
    return bool(((numbers >= 0) & (numbers < 2.0**63) & (numbers == np.floor(numbers))).all())


def _store_numbers(
    names: Sequence[str],
    m: int,
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    numbers: NDArray[Any],
    defaults: Any,
) -> Parts:
    """Number the (column, number) pairs that occur and store them with zero as the default."""
    dtype = {"i": "Int64", "u": "UInt64", "f": "Float64"}[numbers.dtype.kind]
    distinct, ranks = np.unique(numbers, return_inverse=True)
    top = len(distinct)
    keys, ids, stored_counts = np.unique(
        indices.astype(np.int64) * top + ranks, return_inverse=True, return_counts=True
    )
    held = distinct[keys % top]
    bounds = np.searchsorted(keys, np.arange(len(names) + 1) * top)
    labels, start = [], []
    for lo, hi in pairwise(bounds.tolist()):
        zero = int(np.searchsorted(held[lo:hi], 0))
        labels.append(Labels.of_numbers(np.insert(held[lo:hi], zero, 0), dtype))
        start.append(zero)
    zeros = np.array(start, np.int64)
    return _with_defaults(names, labels, m, indptr, ids, stored_counts, defaults, zeros)


def column_names(data: Any, columns: Sequence[str] | None) -> Sequence[str]:
    """Return the names of an array's columns: those given, or their positions."""
    if isinstance(data, np.ma.MaskedArray):
        raise InputError("data is a masked array; fill what is masked, or give a frame")
    if data.ndim != 2:
        raise InputError(f"data must have two dimensions, got {data.ndim}")
    m, n = data.shape
    check_size(m, n)
    if columns is None:
        return list(map(str, range(n)))
    if isinstance(columns, str) or len(columns) != n:
        raise InputError(f"columns must be {n} names, one for each column of data")
    if isinstance(columns, NumberedNames):
        return columns
    columns = list(columns)
    if set(map(type, columns)) != {str} and not all(isinstance(name, str) for name in columns):
        raise InputError("columns must be names, that is strings")
    return columns


def sparse_numbers(data: Any) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return sorted CSR arrays of finite numbers without zeros; `data` itself stays as it is.

    They are of 64 bits: whole ones stay whole.
    """
    rows = _sorted_rows(data)
    if rows.data.dtype.kind not in "biuf":
        raise InputError(f"data must hold numbers, got {rows.data.dtype}")
    wide = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64}
    indptr, numbers = rows.indptr.astype(np.int64), rows.data.astype(wide[rows.data.dtype.kind])
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        k = int(np.argmax(wrong))
        row = int(np.searchsorted(indptr, k, side="right")) - 1
        raise InputError(
            f"data contains NaN or inf: {numbers[k]} at row {row}, column {rows.indices[k]}"
        )
    return _without_zeros(indptr, rows.indices, numbers)


def sorted_columns(data: Any) -> Any:
    """Return a sparse array as CSC with sorted columns; `data` itself stays as it is."""
    with _converting(data):
        converted = _sound(data).tocsc()
    return _canonical(data, converted)


def _sorted_rows(data: Any) -> Any:
    """Return a sparse array as CSR with sorted rows; `data` itself stays as it is."""
    with _converting(data):
        converted = _sound(data).tocsr()
    return _canonical(data, converted)


@contextmanager
def _converting(data: Any) -> Iterator[None]:
    """Name the data where SciPy cannot convert what it would not have made itself."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(f"data: this {data.format} array cannot be converted: {error}") from error


def _sound(data: Any) -> Any:
    """Check a sparse array as it stands: conversion would follow a bad index anywhere.

    Arrays of the other byte order, which SciPy does not convert, and arrays that are not aligned,
    as kernels want them, are copied.
    """
    if data.dtype.kind not in "biufc":  # which SciPy refuses to convert
        raise InputError(f"data must hold numbers, got {data.dtype}")
    if data.format == "coo":
        _check_coo(data)
        if not all(map(_is_plain, (*data.coords, data.data))):
            coords = tuple(map(_plain, data.coords))
            return type(data)((_plain(data.data), coords), shape=data.shape)
    elif data.format in ("csr", "csc", "bsr"):
        _check_compressed(data)
        arrays = (data.data, data.indices, data.indptr)
        if not all(map(_is_plain, arrays)):
            return type(data)(tuple(map(_plain, arrays)), shape=data.shape)
    elif data.format == "dia" and not _is_plain(data.data):
        return type(data)((_plain(data.data), data.offsets), shape=data.shape)
    return data


def _is_plain(array: NDArray[Any]) -> bool:
    return array.dtype.isnative and array.flags.aligned


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    return np.require(array, array.dtype.newbyteorder("="), ["ALIGNED"])


def _canonical(data: Any, compressed: Any) -> Any:
    """Return CSR or CSC with sorted indices and no duplicates, which are added up as SciPy does.

    Indices are 32 bits wide where they fit.
    """
    by_column = compressed.format == "csc"
    length = compressed.shape[0 if by_column else 1]
    indptr, indices = compressed.indptr, compressed.indices
    if not check_sparse(
        indptr, indices, length, argument="data", by_column=by_column, duplicates=True
    ):
        compressed = compressed.copy() if compressed is data else compressed
        compressed.has_canonical_format = False  # whatever SciPy remembers of it
        compressed.has_sorted_indices = False
        compressed.sum_duplicates()
    if compressed.indices.dtype != np.int32 and max(length, len(compressed.data)) < 2**31:
        indices, indptr = (a.astype(np.int32) for a in (compressed.indices, compressed.indptr))
        compressed = type(compressed)((compressed.data, indices, indptr), shape=compressed.shape)
    return compressed


def _without_zeros(
    indptr: NDArray[np.int64], indices: NDArray[Any], numbers: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    if numbers.all():
        return indptr, indices, numbers
    kept = numbers != 0  # zeros that are written out are still zeros
    return np.concatenate(([0], np.cumsum(kept)))[indptr], indices[kept], numbers[kept]


def _check_compressed(data: Any) -> None:
    wanted = 3 if data.format == "bsr" else 1
    if data.data.ndim != wanted:
        raise InputError(f"data: its data must be {wanted}-dimensional, got {data.data.ndim}")
    height, width = data.blocksize if data.format == "bsr" else (1, 1)
    major, minor = data.shape[0] // height, data.shape[1] // width
    if data.format == "csc":
        major, minor = minor, major
    if len(data.indptr) != major + 1:
        raise InputError(f"data: indptr has {len(data.indptr)} entries for shape {data.shape}")
    by_column = data.format == "csc"
    check_sparse(
        data.indptr, data.indices, minor, argument="data", by_column=by_column, duplicates=True
    )
    if len(data.data) != len(data.indices):
        only = "only " if len(data.data) < len(data.indices) else ""
        raise InputError(f"data: {len(data.indices)} indices but {only}{len(data.data)} values")


def _check_coo(data: Any) -> None:
    row, col = (np.asarray(a) for a in data.coords)
    for name, array in (("row", row), ("column", col), ("data", data.data)):
        if array.shape != (len(data.data),):
            raise InputError(
                f"data: {name} of COO has shape {array.shape} for {len(data.data)} values"
            )
        if name != "data" and array.dtype.kind not in "iu":
            raise InputError(f"data: {name} indices must be integers, got {array.dtype}")
    for name, index, size in (("row", row, data.shape[0]), ("column", col, data.shape[1])):
        wrong = (index < 0) | (index >= size)
        if wrong.any():
            raise InputError(f"data: the {name} index {index[wrong][0]} is not in [0, {size})")


def _dense_codes(data: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    if data.dtype.kind not in "biuf":
        raise InputError(f"data must hold whole numbers, got {data.dtype}; give strings as a frame")
    n = data.shape[1]
    flat = np.ascontiguousarray(data).reshape(-1)
    codes = check_codes(flat, "data", lambda k: f"row {k // n}, column {k % n}")
    positions = np.flatnonzero(codes)
    indptr = np.searchsorted(positions, np.arange(data.shape[0] + 1) * n).astype(np.int64)
    return indptr, positions % n, codes[positions]


def _store(
    names: Sequence[str],
    m: int,
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    codes: NDArray[np.int64],
    defaults: Any,
    boolean: bool,
) -> Parts:
    """Number the (column, code) pairs that occur and store them with zero as the default.

    All columns are 0/1 if nothing above 1 occurs, False/True if they are `boolean`; else each has
    the codes it holds, and 0.
    """
    n = len(names)
    if len(codes) == 0 or codes.max() <= 1:
        labels = [PRESENCE if boolean else _BINARY] * n
        stored_counts = np.bincount(indices, minlength=n)
        return _with_defaults(names, labels, m, indptr, indices, stored_counts, defaults)
    top = int(codes.max()) + 1
    if n > (2**63 - 1) // top:
        raise InputError(f"data: the code {top - 1} is too large for {n} columns")
    keys, ids, stored_counts = np.unique(
        indices.astype(np.int64) * top + codes, return_inverse=True, return_counts=True
    )
    bounds = np.searchsorted(keys, np.arange(n + 1) * top).tolist()
    codes_seen = (keys % top).tolist()
    shared: dict[tuple[int, ...], Labels] = {}
    labels = []
    for lo, hi in pairwise(bounds):
        items = (0, *codes_seen[lo:hi])
        if items not in shared:
            shared[items] = Labels(items, "Int64")
        labels.append(shared[items])
    return _with_defaults(names, labels, m, indptr, ids, stored_counts, defaults)


def _with_defaults(
    names: Sequence[str],
    labels: list[Labels],
    m: int,
    indptr: NDArray[np.int64],
    ids: NDArray[Any],
    stored_counts: NDArray[Any],
    defaults: Any,
    zeros: NDArray[np.int64] | None = None,
) -> Parts:
    """Store value ids whose default is zero under the defaults that were asked for.

    `zeros` are the codes of zero; 0 in all columns unless given.
    """
    zeros = np.zeros(len(names), np.int64) if zeros is None else zeros
    schema = Schema(names, labels, zeros)
    parts = Parts(schema, indptr, ids.astype(value_type(schema.n_values)))
    rest = m - sum_by_column(schema, stored_counts)
    counts = np.insert(stored_counts, schema.offsets[:-1] + zeros, rest)
    chosen = default_codes(schema, counts, defaults)
    return parts if np.array_equal(chosen, zeros) else restore(parts, schema.with_defaults(chosen))


def encode_baskets(baskets: Iterable[Iterable[Any]], defaults: Any) -> Parts:
    """Turn collections of items into the parts of a Table of True and False."""
    lists = list(baskets)
    coded = _core.encode_baskets(lists)
    if isinstance(coded, int):
        kind = type(lists[coded]).__name__
        raise InputError(f"baskets: basket {coded} is a {kind}; give a list of items")
    names, indptr, ids = coded
    return presence_parts(names, indptr, ids, defaults)


def presence_parts(
    names: Sequence[str], indptr: NDArray[np.int64], ids: NDArray[Any], defaults: Any
) -> Parts:
    """Return the parts of a Table of True and False; `ids` are sorted, distinct columns."""
    check_size(len(indptr) - 1, len(names))
    stored_counts = np.bincount(ids, minlength=len(names))
    labels = [PRESENCE] * len(names)
    return _with_defaults(names, labels, len(indptr) - 1, indptr, ids, stored_counts, defaults)
