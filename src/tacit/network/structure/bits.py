"""Exact trees of 0/1 matrices, straight from their bits: no table is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.machine import count_jobs
from tacit.network.structure.learn import Structure, exact_structure
from tacit.network.structure.spanning import maximum_spanning_tree, settle
from tacit.schema import Labels, Schema
from tacit.table.input_spec import array_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["binary_structure", "is_bytes"]

_TYPES = {"bool": "Boolean", "uint8": "UInt8", "int8": "Int8"}


def is_bytes(X: Any) -> bool:
    """Say whether X is a matrix of bytes that may be bits."""
    return (
        isinstance(X, np.ndarray)
        and X.ndim == 2
        and X.dtype.name in _TYPES
        and X.flags.c_contiguous
        and min(X.shape) > 0
    )


def binary_structure(X: NDArray[Any], n_jobs: int | None) -> tuple[Schema, Structure] | None:
    """Return the columns and the exact tree of a matrix of 0 and 1; ``None`` if it holds others.

    The matrix is one of bytes.

    Examples
    --------
    >>> x = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], np.uint8)
    >>> schema, structure = binary_structure(x, 1)
    >>> structure.edges.tolist(), structure.pairs[0].tolist()
    ([[0, 1], [0, 2]], [[2.0, 0.0], [0.0, 2.0]])
    """
    jobs = count_jobs(n_jobs)
    square = _core.pair_counts_bytes(X.view(np.uint8), jobs)
    if square is None:
        return None
    n_records, n = X.shape
    informations = _core.pair_information(
        square, np.arange(n + 1), float(n_records), None, None, jobs
    )
    edges = maximum_spanning_tree(settle(informations))
    weights = informations[edges[:, 0], edges[:, 1]]
    ones = square.diagonal()
    seen = np.column_stack([ones < n_records, ones > 0])
    nodes, pairs = list(_margins(ones, n_records)), list(_tables(square, ones, edges, n_records))
    if not seen.all():  # constant columns have one label
        nodes = [row[codes] for row, codes in zip(nodes, seen, strict=True)]
        ends = zip(pairs, edges.tolist(), strict=True)
        pairs = [table[np.ix_(seen[a], seen[b])] for table, (a, b) in ends]
    return _schema(X, ones, seen), exact_structure(edges, weights, n_records, nodes, pairs)


def _margins(ones: NDArray[np.int64], n_records: int) -> NDArray[np.float64]:
    return np.column_stack([n_records - ones, ones]).astype(np.float64)


def _tables(
    square: NDArray[np.int64], ones: NDArray[np.int64], edges: NDArray[np.int64], n_records: int
) -> NDArray[np.float64]:
    """Return the two-way counts of each edge."""
    a, b = edges.T
    both = square[a, b]
    only_a, only_b = ones[a] - both, ones[b] - both
    cells = np.stack([n_records - both - only_a - only_b, only_b, only_a, both], axis=1)
    return cells.reshape(-1, 2, 2).astype(np.float64)


def _schema(X: NDArray[Any], ones: NDArray[np.int64], seen: NDArray[np.bool_]) -> Schema:
    """Return what a Table of X would have: labels that occur, and the most common one."""
    name = _TYPES[X.dtype.name]
    values = (False, True) if name == "Boolean" else (0, 1)
    kinds = {
        (True, True): Labels(list(values), name),
        (True, False): Labels([values[0]], name),
        (False, True): Labels([values[1]], name),
    }
    labels = [kinds[low, high] for low, high in seen.tolist()]
    defaults = (seen.all(axis=1) & (2 * ones > len(X))).astype(np.int64)
    return Schema(array_names(X.shape[1]), labels, defaults)
