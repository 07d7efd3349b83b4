"""Which columns a tree joins: what they say of each other within clusters, where that pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.structure import chow_liu
from tacit.network.structure.spanning import maximum_spanning_tree, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.table import Table

__all__ = ["learn_forest", "paying_edges"]

_SQUARE = 2**28  # bytes of pairs of values up to which all pairs of columns are compared


def learn_forest(
    table: Table,
    clusters: NDArray[np.int64] | None = None,
    *,
    prune: bool,
    missing: chow_liu.Missing = "state",
    n_jobs: int = 1,
) -> NDArray[np.int64]:
    """Return the edges of the tree that raises the likelihood most, given each record's cluster.

    An edge is left out, if `prune`, where that is less than what BIC asks for its parameters and
    for having chosen it among all columns. Where there are so many columns that pairs are counted
    sparsely, it is the tree of all records, whatever their clusters.
    """
    n = len(table.schema)
    if n < 2:
        return np.zeros((0, 2), np.int64)
    choice = np.log(n - 1) if prune else 0.0
    if 8 * table.schema.n_values**2 > _SQUARE:
        if prune:
            return paying_edges(table, n_jobs, missing)[0]
        return chow_liu.learn(table, missing, n_jobs).edges
    gains = np.zeros((n, n))
    columns = np.arange(n)
    for cluster in (None,) if clusters is None else np.unique(clusters).tolist():
        members = table if cluster is None else table.take(np.flatnonzero(clusters == cluster))
        gains += _weight(members) * chow_liu.informations(members, missing, n_jobs)
        if prune:
            gains -= _costs(members, columns[:, None], columns[None, :])
    scale = max(float(np.abs(gains).max()), 1.0)
    edges = maximum_spanning_tree(settle(gains / scale))
    return edges[gains[edges[:, 0], edges[:, 1]] > choice] if prune else edges


def paying_edges(
    table: Table, n_jobs: int = 1, missing: chow_liu.Missing = "state"
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the edges of the tree of all records that pay for themselves, and what is left."""
    tree = chow_liu.learn(table, missing, n_jobs)
    gains = _weight(table) * tree.weights - _costs(table, *tree.edges.T)
    pays = gains > np.log(len(table.schema) - 1)
    return tree.edges[pays], gains[pays]


def _weight(table: Table) -> float:
    return float(table.n_records if table.weights is None else table.weights.sum())


def _costs(table: Table, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what BIC asks for the parameters of edges, in nats."""
    free = table.schema.arities - 1.0
    costs: NDArray[np.float64] = 0.5 * free[a] * free[b] * np.log(max(_weight(table), 2.0))
    return costs
