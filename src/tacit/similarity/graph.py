"""Similarities of near objects, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.machine import available_memory, check_fits, count_jobs
from tacit.parameters import check_number
from tacit.similarity.csr import csr_arrays
from tacit.similarity.grid.blocks import Blocks, NearRanges, near_blocks
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "Kind",
    "Triangle",
    "graph_bytes",
    "is_distance",
    "near_graph",
    "near_indices",
    "similarities",
]

Kind: TypeAlias = (
    Literal["exponential", "rbf", "cosine", "distance", "squared_distance"]
    | Callable[[Any, Any], Any]
)
Triangle: TypeAlias = Literal["both", "upper"]
_MEASURES = {"squared_distance": 0, "distance": 1, "exponential": 2, "rbf": 3, "cosine": 4}
_ALL, _OTHERS, _LATER, _LATER_AND_SELF = range(4)
_AT_ONCE = 1 << 16  # pairs given to a function at once


def near_graph(
    grid: Grid,
    coords: Floats,
    X: Any,
    *,
    others: tuple[Floats, Any] | None = None,
    **options: Any,
) -> sparse.csr_array:
    """Return similarities of near objects, among each other or to other objects.

    `coords` are coordinates in the projection that the grid is over, `X` what objects are compared
    by; `others` such a pair of the objects that make up the columns. Options are those of
    `SparseComputation.similarity`: kind, scale, triangle, diagonal, dtype; and n_jobs.
    """
    rows = Blocks.of(grid, coords)
    columns = rows if others is None else Blocks.of(grid, others[0])
    numbers = None if others is None else others[1]
    return similarities(near_blocks(rows, columns, grid), X, numbers, **options)


def similarities(
    near: NearRanges,
    X: Any,
    X_columns: Any = None,
    *,
    kind: Kind = "exponential",
    scale: float = 1.0,
    triangle: Triangle = "both",
    diagonal: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
    instead: Callable[[int], str] | None = None,
) -> sparse.csr_array:
    """Return similarities of near objects; without `X_columns`, of objects among each other."""
    dtype = _number_type(dtype)
    scale = check_number(scale, "scale", 0)
    if not callable(kind) and kind not in _MEASURES:
        raise InputError(
            f"kind must be one of {', '.join(map(repr, _MEASURES))}, or a function; got {kind!r}"
        )
    which = _which(triangle, diagonal, square=X_columns is None)
    jobs = count_jobs(n_jobs)
    _check_memory(near, which, dtype.itemsize, instead)
    other = X if X_columns is None else X_columns
    pairs = (near.arrays, which, jobs)
    if callable(kind):
        offsets, indices, data = _by_function(pairs, X, other, kind, dtype)
    elif is_sparse(X):
        rows = _sparse_arrays(X)
        columns = rows if other is X else _sparse_arrays(other)
        offsets, indices, data = _core.sparse_similarities(
            near.arrays, which, rows, columns, X.shape[1], _MEASURES[kind], scale,
            dtype == np.float32, jobs,
        )  # fmt: skip
    else:
        offsets, indices, data = _by_rows(pairs, X, other, _MEASURES[kind], scale, dtype)
    graph = sparse.csr_array((data, indices, offsets), shape=(X.shape[0], other.shape[0]))
    graph.has_sorted_indices = True
    graph.has_canonical_format = True
    return graph


def is_distance(kind: Any) -> bool:
    """Return whether similarities of a kind depend on differences of columns alone."""
    return kind != "cosine" and not callable(kind)


def near_indices(
    near: NearRanges,
    triangle: Triangle,
    n_jobs: int | None,
    instead: Callable[[int], str] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return near pairs as the offsets and indices of a CSR array without values."""
    which = _which(triangle, False, square=True)
    _check_memory(near, which, 4, instead)  # rows are written out, too, as columns are
    return _structure((near.arrays, which, count_jobs(n_jobs)))


def graph_bytes(n_entries: int, n_objects: int, itemsize: int) -> int:
    """Return the memory of a CSR array of so many entries."""
    index = 4 if n_entries < 2**31 else 8
    return n_entries * (itemsize + index) + (n_objects + 1) * (8 + index)


_Pairs: TypeAlias = "tuple[tuple[NDArray[Any], ...], int, int]"  # who is near, which of them, jobs
_Csr: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]"  # of a CSR array


def _by_rows(
    pairs: _Pairs, X: Any, other: Any, measure: int, scale: float, dtype: np.dtype[Any]
) -> _Csr:
    near, which, jobs = pairs
    rows = _row_major(X)
    columns = None if other is X else _row_major(other)
    cosine = measure == _MEASURES["cosine"]
    row_norms = _lengths(rows) if cosine else None
    column_norms = _lengths(columns) if cosine and columns is not None else None
    single = dtype == np.float32
    # Columns far from zero would lose most of their digits: rounded are differences to one object.
    rounded = single and not cosine and rows.dtype == np.float64 and len(rows) > 0
    centre = rows[0].copy() if rounded else None
    return _core.dense_similarities(
        near, which, rows, columns, row_norms, column_norms, centre, measure, scale, True, single,
        jobs,
    )  # fmt: skip


def _row_major(X: NDArray[Any]) -> NDArray[Any]:
    """Return numbers row by row in a precision that the kernel takes, itself where it is so."""
    return np.ascontiguousarray(X, X.dtype if X.dtype == np.float32 else np.float64)


def _lengths(rows: NDArray[Any]) -> Floats:
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return lengths


def _sparse_arrays(X: Any) -> tuple[Any, ...]:
    """Return offsets, sorted indices, numbers and squared lengths of sparse rows."""
    rows = X
    if not rows.has_sorted_indices:
        rows = rows.copy()
        rows.sort_indices()
    indptr, indices, data = csr_arrays(rows)
    numbers = data.astype(np.float64, copy=False)
    squares = sparse.csr_array((numbers * numbers, rows.indices, rows.indptr), shape=rows.shape)
    return indptr, indices, numbers, np.asarray(squares.sum(axis=1), np.float64)


def _by_function(
    pairs: _Pairs, X: Any, other: Any, function: Callable[[Any, Any], Any], dtype: np.dtype[Any]
) -> _Csr:
    offsets, indices = _structure(pairs)
    data = np.empty(len(indices), dtype)
    for begin in range(0, len(indices), _AT_ONCE):
        entries = np.arange(begin, min(begin + _AT_ONCE, len(indices)))
        rows = np.searchsorted(offsets, entries, side="right") - 1
        values = np.asarray(function(X[rows], other[indices[entries]]))
        if values.dtype.kind not in "biuf":
            raise InputError(f"kind must return real numbers, got {values.dtype}")
        if values.shape != entries.shape:
            raise InputError(
                f"kind must return one similarity for each pair of rows: {len(entries)} pairs gave "
                f"an array of shape {values.shape}"
            )
        data[entries] = values
    return offsets, indices, data


def _structure(pairs: _Pairs) -> tuple[NDArray[Any], NDArray[Any]]:
    near, which, jobs = pairs
    nothing = np.zeros((len(near[1]), 0)), np.zeros((len(near[5]), 0))
    offsets, indices, _ = _core.dense_similarities(
        near, which, *nothing, None, None, None, 0, 1.0, False, False, jobs
    )
    return offsets, indices


def _which(triangle: Any, diagonal: bool, *, square: bool) -> int:
    if triangle not in ("both", "upper"):
        raise InputError(f'triangle must be "both" or "upper", got {triangle!r}')
    if not square:
        return _ALL
    if triangle == "upper":
        return _LATER_AND_SELF if diagonal else _LATER
    return _ALL if diagonal else _OTHERS


def _number_type(dtype: Any) -> np.dtype[Any]:
    checked: np.dtype[Any] = np.dtype(dtype)
    if checked not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"dtype must be float32 or float64, got {checked}")
    return checked


def _check_memory(
    near: NearRanges, which: int, itemsize: int, instead: Callable[[int], str] | None
) -> None:
    n_entries = near.n_entries
    if which in (_LATER, _LATER_AND_SELF):
        n_entries //= 2
    n_bytes = graph_bytes(n_entries, len(near.rows.order), itemsize)
    available = available_memory()
    if available is not None and n_bytes > available:  # what to do instead may take long to find
        advice = "use a finer grid (resolution), or group objects that are alike (group_width)"
        advice = advice if instead is None else instead(available)
        check_fits(n_bytes, f"the graph of {n_entries:,} near pairs", advice)
