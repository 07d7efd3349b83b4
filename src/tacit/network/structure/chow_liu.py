"""Exact dependency trees of discrete columns: mutual information of all pairs, and their tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacit import _core
from tacit.machine import check_fits
from tacit.network.structure.spanning import maximum_spanning_tree, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import Pairs
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["ChowLiu", "Missing", "edge_tables", "informations", "learn"]

Missing = Literal["state", "ignore"]


def informations(table: Table, missing: Missing = "state", n_jobs: int = 1) -> NDArray[np.float64]:
    """Return the mutual information of every two columns in nats.

    A missing value is a state like any other, or leaves its record out of the pair ("ignore").

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]})
    >>> informations(table).round(3).tolist()
    [[0.0, 0.693, 0.0], [0.693, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _of_pairs(table.pairs(layout="dense", n_jobs=n_jobs), missing, n_jobs)


def _of_pairs(pairs: Pairs, missing: Missing, n_jobs: int) -> NDArray[np.float64]:
    schema, total = pairs.schema, float(pairs.total)
    check_fits(8 * len(schema) ** 2, f"all pairs of {len(schema):,} columns", "select fewer")
    if total <= 0:
        return np.zeros((len(schema), len(schema)))
    values, defaults = _unknown(schema) if missing == "ignore" else (None, None)
    square = np.asarray(pairs.stored)
    return _core.pair_information(square, schema.offsets, total, values, defaults, n_jobs)


@dataclass(frozen=True)
class ChowLiu:
    """The tree of most mutual information, and the counts of its columns and edges."""

    edges: NDArray[np.int64]  # (n_columns - 1, 2): each with a < b, in lexicographic order
    weights: NDArray[np.float64]  # mutual information in nats
    nodes: list[NDArray[np.float64]]  # counts of each column by code
    # Two-way counts of each edge, by codes. Missing values have none where they are ignored
    pairs: list[NDArray[np.float64]]


def learn(table: Table | PartitionedTable, missing: Missing = "state", n_jobs: int = 1) -> ChowLiu:
    """Return the tree of most mutual information.

    Counts of all pairs are all that is asked of the records: one pass, if they are in partitions.

    A wide table of few stored values never becomes a square of columns. Columns that share a
    record are compared one by one; for all others the information grows with the number of
    records that hold anything but the default, so only the first of each queue matters
    (Meilă 1999).

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 1]})
    >>> tree = learn(table)
    >>> tree.edges.tolist(), tree.weights.round(3).tolist()
    ([[0, 1], [0, 2]], [0.693, 0.216])
    """
    labels = table.schema.labels
    known_only = missing == "ignore" and any(known.missing is not None for known in labels)
    pairs = table.pairs(layout="dense" if known_only else "auto", n_jobs=n_jobs)
    stored = pairs.stored
    if isinstance(stored, np.ndarray):
        informations = _of_pairs(pairs, missing, n_jobs)
        edges = maximum_spanning_tree(settle(informations))
        weights = informations[edges[:, 0], edges[:, 1]]
    else:
        edges, weights = _core.sparse_spanning_tree(
            stored.indptr.astype(np.int64),
            stored.indices.astype(np.int32, copy=False),
            stored.data,
            table.schema.offsets,
            float(pairs.total),
            n_jobs,
        )
    nodes = np.split(pairs.singles.counts.astype(np.float64), table.schema.cells[1:-1])
    tables = edge_tables(pairs, edges)
    if known_only:
        unknown = [slice(0, 0) if known.missing is None else known.missing for known in labels]
        for counts, code in zip(nodes, unknown, strict=True):
            counts[code] = 0.0
        for counts, (a, b) in zip(tables, edges.tolist(), strict=True):
            counts[unknown[a], :] = 0.0
            counts[:, unknown[b]] = 0.0
    return ChowLiu(edges, weights, nodes, tables)


def edge_tables(pairs: Pairs, edges: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Return the two-way counts of some pairs of columns, by codes.

    Edges have the shape (n, 2).
    """
    tables: list[NDArray[np.float64]] = [np.zeros((0, 0))] * len(edges)
    arities = pairs.schema.arities[edges]
    cells = arities.prod(axis=1, dtype=np.float64)
    if len(edges):
        a, b = (pairs.schema.names[c] for c in edges[int(np.argmax(cells))])
        check_fits(
            int(6 * 8 * cells.sum()),
            f"tables of all edges (that of {a!r} and {b!r} has {cells.max():,.0f} cells)",
            "leave out columns of very many values, or cut them into bins",
        )
    for shape in np.unique(arities, axis=0) if len(edges) else ():
        chosen = np.flatnonzero((arities == shape).all(axis=1))
        for k, counts in zip(chosen.tolist(), _equal_tables(pairs, edges[chosen]), strict=True):
            tables[k] = counts
    return tables


def _equal_tables(pairs: Pairs, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return two-way counts of pairs of columns that all have equally many labels."""
    schema, counts = pairs.schema, pairs.singles.counts.astype(np.float64)
    ends = edges.T
    r, s = schema.arities[edges[0]].tolist()
    codes, ids, margins = [], [], []
    for columns, arity in zip(ends, (r, s), strict=True):
        steps = np.arange(arity - 1)
        codes.append(steps + (steps >= schema.defaults[columns][:, None]))
        ids.append(schema.offsets[columns][:, None] + steps)
        margins.append(counts[schema.cells[columns][:, None] + np.arange(arity)])
    rows = np.repeat(ids[0], s - 1, axis=1).ravel()
    cells = pairs.stored[rows, np.tile(ids[1], (1, r - 1)).ravel()] if len(rows) else np.zeros(0)
    cells = cells if isinstance(cells, np.ndarray) else cells.todense()
    edge = np.arange(len(edges))
    counts = np.zeros((len(edges), r, s))
    counts[edge[:, None, None], codes[0][:, :, None], codes[1][:, None, :]] = np.reshape(
        cells, (len(edges), r - 1, s - 1)
    )
    left, right = (schema.defaults[columns] for columns in ends)
    # What a default has with a value is what is left of that value; 0 stands there so far.
    counts[edge, :, right] = margins[0] - counts.sum(axis=2)
    counts[edge, left, :] = margins[1] - counts.sum(axis=1) + counts[edge, left, :]
    return np.maximum(counts, 0.0)


def _unknown(schema: Schema) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return for each value id, and for each default, whether it says "not known"."""
    codes = [-1 if labels.missing is None else labels.missing for labels in schema.labels]
    missing = np.array(codes, np.int64)
    values = schema.value_codes == missing[schema.value_columns]
    return values.astype(np.uint8), (schema.defaults == missing).astype(np.uint8)
