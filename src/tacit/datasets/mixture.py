"""Sparse tables of several kinds of people: a naive-Bayes mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from tacit.datasets.draws import (
    cumulate,
    fill_distinct,
    generator,
    pick_cluster,
    skewed_lengths,
    zipf_weights,
)
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import check_number
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["make_mixture", "presence_schema"]

_BLOCK = 2**18  # values looked at at once
_SKEW = 1.0  # standard deviation of the logarithm of how much a record's owner clicks


class _Options(TypedDict, total=False):
    n_clusters: int
    exponent: float
    concentration: float
    noun: str
    random_state: int | np.random.Generator


@overload
def make_mixture(
    n_records: int, n_columns: int, n_stored: int, *,
    return_clusters: Literal[False] = ..., **options: Unpack[_Options],
) -> Table: ...  # fmt: skip
@overload
def make_mixture(
    n_records: int, n_columns: int, n_stored: int, *,
    return_clusters: Literal[True], **options: Unpack[_Options],
) -> tuple[Table, NDArray[np.int64]]: ...  # fmt: skip
def make_mixture(
    n_records: int,
    n_columns: int,
    n_stored: int,
    *,
    n_clusters: int = 20,
    exponent: float = 1.0,
    concentration: float = 0.5,
    noun: str = "column",
    random_state: int | np.random.Generator = 0,
    return_clusters: bool = False,
) -> Table | tuple[Table, NDArray[np.int64]]:
    """Draw a sparse table of True and False from a naive-Bayes mixture.

    Each record belongs to a cluster and has a length. Its columns are drawn one after another from
    the cluster's preferences, which are a popularity shared by all clusters (Zipf's law, the
    ranks in random order) times a factor of the cluster for each column. Clusters differ in
    size, and lengths are skewed as in click logs: most are short, a few very long.

    Parameters
    ----------
    n_records, n_columns, n_stored : int
        The size of the table, exactly. If there are as many stored values as columns, every column
        occurs; if there are as many as records, no record is empty.
    n_clusters : int, default 20
    exponent : float, default 1.0
        Of Zipf's law; 0 makes all columns equally popular.
    concentration : float, default 0.5
        How alike the clusters are. Their factors have mean 1 and variance ``1 / concentration``.
    noun : str, default "column"
        Columns are called by it: "column 0", "column 1", …
    random_state : int or numpy.random.Generator, default 0
        The same number gives the same table, whatever the platform.
    return_clusters : bool, default False
        Return the cluster of each record too.

    Returns
    -------
    table : Table
        All columns have the labels False and True, and the default False.
    clusters : int64 array of shape (n_records,)
        Only with `return_clusters`.

    Examples
    --------
    >>> from tacit.datasets import make_mixture
    >>> make_mixture(1000, 50, 4000)
    Table of 1,000 records × 50 columns, 4,000 stored values (m·n/l = 12.5)
    >>> table, clusters = make_mixture(1000, 50, 4000, n_clusters=3, return_clusters=True)
    >>> int(clusters.max())
    2
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    n = check_int(n_columns, "n_columns", 1)
    k = check_int(n_clusters, "n_clusters", 1)
    total = check_int(n_stored, "n_stored", 0)
    if total > m * n:
        raise InputError(f"n_stored: {total:,} values do not fit into {m:,} × {n:,} cells")
    popularity = zipf_weights(n, check_number(exponent, "exponent", 0))
    shape = check_number(concentration, "concentration", 0, above=True)
    schema = presence_schema(noun, n)
    rng = generator(random_state)

    popularity = rng.permutation(popularity)
    clusters = pick_cluster(rng, k, m)
    activity = np.exp(_SKEW * rng.standard_normal(m))
    lengths = skewed_lengths(rng, activity, total, int(total >= m), n)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    values = np.empty(total, value_type(n))
    by_cluster = np.argsort(clusters, kind="stable")
    bounds = np.searchsorted(clusters[by_cluster], np.arange(k + 1))
    for cluster in range(k):
        preferences = cumulate(popularity * (rng.standard_gamma(shape, n) / shape))
        records = by_cluster[bounds[cluster] : bounds[cluster + 1]]
        starts = indptr[records]
        fill_distinct(rng, preferences, indptr[records + 1] - starts, starts, values)
    _bring_in_absent(rng, n, indptr, values)
    table = Table.from_stored(schema, indptr, values)
    return (table, clusters) if return_clusters else table


def presence_schema(noun: str, n: int) -> Schema:
    """Return n columns "noun 0", "noun 1", … of False and True, by default False."""
    if not isinstance(noun, str):
        raise InputError(f"noun must be a word, got {noun!r}")
    labels = Labels([False, True], "Boolean", kind="boolean")
    return Schema([f"{noun} {c}" for c in range(n)], [labels] * n, np.zeros(n, np.int64))


def _bring_in_absent(
    rng: np.random.Generator, n: int, indptr: NDArray[np.int64], values: NDArray[Any]
) -> None:
    """Let columns that do not occur replace values whose column occurs elsewhere."""
    held = np.zeros(n, np.int64)
    for first in range(0, len(values), _BLOCK):
        held += np.bincount(values[first : first + _BLOCK], minlength=n)
    absent = np.flatnonzero(held == 0)
    if len(absent) == 0 or len(values) < n:
        return
    # Of n positions and one for each absent column, at most n are a column's last.
    positions = _draw_positions(rng, len(values), n + len(absent))
    columns = values[positions]
    by_column = np.argsort(columns, kind="stable")
    earlier = np.empty(len(positions), np.int64)
    earlier[by_column] = np.arange(len(positions)) - np.searchsorted(
        columns[by_column], columns[by_column]
    )
    spare = positions[earlier < held[columns] - 1][: len(absent)]
    values[spare] = rng.permutation(absent)
    rows = np.unique(np.searchsorted(indptr, spare, side="right") - 1)
    for lo, hi in zip(indptr[rows].tolist(), indptr[rows + 1].tolist(), strict=True):
        values[lo:hi].sort()


def _draw_positions(rng: np.random.Generator, size: int, count: int) -> NDArray[np.int64]:
    """Draw `count` distinct positions in random order, or all if there are fewer."""
    if size < 8 * count:
        return rng.permutation(size)[:count]
    drawn = np.zeros(0, np.int64)
    while len(drawn) < count:
        drawn = np.unique(np.concatenate((drawn, rng.integers(0, size, count))))
    return rng.permutation(drawn)[:count]
