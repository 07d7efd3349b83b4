"""Clusters that are divided: each half is drawn towards the cluster that it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.mixture.em.expected import ExpectedCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.clusters import Tree
    from tacit.density.learn import Fit
    from tacit.table import Table

__all__ = ["sizes_of", "split_clusters"]

_ROWS = 4096  # records that are divided at a time
_DRAWS = 10  # of seeds, for two that differ
_LEAST_CHANCE = 1e-12  # of a record to be a seed, so that there are two


def sizes_of(n_clusters: int, splits: int) -> tuple[int, ...]:
    """Return how many clusters there are at first and after each split.

    >>> sizes_of(12, 3)
    (2, 3, 6, 12)
    """
    sizes = [-(-n_clusters // 2**k) for k in range(splits, -1, -1)]
    return tuple(n for k, n in enumerate(sizes) if k == 0 or n > sizes[k - 1])


def split_clusters(
    fit: Fit, table: Table, n_clusters: int, rng: np.random.Generator, n_jobs: int = 1
) -> tuple[Tree, ExpectedCounts]:
    """Divide the largest clusters of one tree in two, for so many in all.

    Returns the tree, whose prior draws each cluster to the tables it had or its parent had, and
    expected counts to start EM with: records of a parent belong to the nearer of two seeds, the
    more the nearer it is, and seeds are drawn by P(cluster | record). O(records × clusters).
    """
    group, tree = fit.groups[0], fit.trees[0]
    layout, n = group.layout, group.n_clusters
    order = np.argsort(-group.weights, kind="stable")
    divided = np.sort(order[: n_clusters - n])
    parents = np.sort(np.concatenate([np.arange(n), divided]))
    records = layout.records(table, n_jobs)
    parts = group.posterior(records, n_jobs)[0]
    if table.weights is not None:
        parts *= table.weights[:, None]
    values, columns = indicators(table)
    seeds = np.concatenate([_draw_two(parts[:, k], values, rng) for k in divided.tolist()])
    shape = (table.n_records, layout.n_ids)
    ones = np.ones(len(records.values))
    ids = sparse.csr_array((ones, records.values.astype(np.int64), records.indptr), shape)
    of_seeds = values[seeds], columns[seeds]
    apart = distances((values[seeds], columns[seeds]), of_seeds)
    spread = max(float(apart[np.arange(0, len(seeds), 2), np.arange(1, len(seeds), 2)].std()), 1.0)
    is_half = np.bincount(parents, minlength=n)[parents] == 2
    totals = np.zeros(n_clusters)
    stored = np.zeros((layout.n_ids, n_clusters))
    for first in range(0, table.n_records, _ROWS):
        rows = slice(first, first + _ROWS)
        near = distances((values[rows], columns[rows]), of_seeds)
        part = parts[rows][:, parents]
        part[:, is_half] *= _halves(near / spread)
        totals += part.sum(axis=0)
        stored += np.asarray(ids[rows].T @ part)
    prior = tree.prior._replace(of_clusters=np.ascontiguousarray(group.cells[:, parents]))
    start = ExpectedCounts(totals, stored, 0.0, float(totals.sum()))
    return tree._replace(prior=prior), start


def indicators(table: Table) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return which values, and which columns, records store."""
    ones, schema = np.ones(len(table.values)), table.schema
    values = table.values.astype(np.int64)
    columns = schema.value_columns[values]
    n = table.n_records
    return (
        sparse.csr_array((ones, values, table.indptr), (n, schema.n_values)),
        sparse.csr_array((ones, columns, table.indptr), (n, len(schema))),
    )


def distances(
    records: tuple[sparse.csr_array, sparse.csr_array],
    seeds: tuple[sparse.csr_array, sparse.csr_array],
) -> NDArray[np.float64]:
    """Return in how many columns records differ from seeds; both are what `indicators` returns.

    These are the columns that either of them stores, less those that both store, less those in
    which both store the same.
    """
    lengths, of_seeds = (np.diff(some[0].indptr).astype(np.float64) for some in (records, seeds))
    same = records[0] @ seeds[0].T.toarray() + records[1] @ seeds[1].T.toarray()
    found: NDArray[np.float64] = lengths[:, None] + of_seeds - same
    return found


def _draw_two(
    chances: NDArray[np.float64], values: sparse.csr_array, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return two records, by their chances, that differ, unless that is rare."""
    chances = chances + _LEAST_CHANCE * max(float(chances.max()), _LEAST_CHANCE)
    chances /= chances.sum()
    for _ in range(_DRAWS):
        seeds = rng.choice(len(chances), 2, replace=False, p=chances)
        one, other = (_row(values, int(seed)) for seed in seeds)
        if not np.array_equal(one, other):
            break
    return seeds


def _row(values: sparse.csr_array, record: int) -> NDArray[Any]:
    row: NDArray[Any] = values.indices[values.indptr[record] : values.indptr[record + 1]]
    return row


def _halves(near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the parts of each two columns: e times less for each unit that one is further."""
    gaps = np.clip(near[:, 1::2] - near[:, 0::2], -700, 700)
    first = 1 / (1 + np.exp(-gaps))
    return np.stack([first, 1 - first], axis=2).reshape(near.shape)
