"""Where EM starts: expected counts of clusters that are made up."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import StoredRecords
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import TableProblem

__all__ = [
    "check_enough",
    "distances",
    "distinct_records",
    "indicators",
    "make_start",
    "nearest_seeds",
    "sample_size",
]

_LOG = logging.getLogger("tacit")
_SAMPLE = 20_000  # records that seeds are drawn from, at most


def make_start(
    problem: TableProblem, n_clusters: int, init: str, rng: np.random.Generator
) -> ExpectedCounts:
    """Return the expected counts of a first guess.

    "random" lets each record belong to a cluster drawn at random. "seeds" draws records that differ
    from each other, as k-means++ does, and lets records belong to the nearest.
    """
    if init == "random":
        clusters = rng.integers(0, n_clusters, problem.records.n_records)
    elif init == "seeds":
        clusters = _near_seeds(problem, n_clusters, rng)
    else:
        raise InputError(f'init must be "seeds" or "random", got {init!r}')
    return problem.count_clusters(clusters, n_clusters)


def distinct_records(records: StoredRecords, enough: int) -> set[bytes]:
    """Return the stored values of so many distinct records, or of all if they are fewer."""
    begin, seen = records.indptr, set()
    possible = range(records.n_records)
    for r in possible if records.weights is None else np.flatnonzero(records.weights):
        seen.add(records.values[begin[r] : begin[r + 1]].tobytes())
        if len(seen) == enough:
            break
    return seen


def check_enough(n_clusters: int, n_records: int, distinct: int) -> None:
    """Refuse more clusters than records, and warn where records are too much alike."""
    if n_clusters > n_records:
        raise InputError(
            f"n_clusters={n_clusters}, but there are only n_samples={n_records} records"
        )
    if distinct < n_clusters:
        _LOG.warning(
            "n_clusters=%d, but only %d records are distinct: some clusters will be empty, or "
            "alike",
            n_clusters,
            distinct,
        )


def _near_seeds(
    problem: TableProblem, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the nearest seed of a sample of the records, and -1 for all others."""
    records = problem.records
    possible = np.arange(records.n_records)
    if records.weights is not None:
        possible = np.flatnonzero(records.weights > 0)
    size = sample_size(len(possible), n_clusters)
    sample = np.sort(rng.choice(possible, size, replace=False))
    clusters = np.full(records.n_records, -1, np.int64)
    clusters[sample] = nearest_seeds(problem, sample, n_clusters, rng)
    return clusters


def sample_size(n_records: int, n_clusters: int) -> int:
    """Return how many of so many records with weight seeds are drawn from."""
    return min(n_records, max(_SAMPLE, 50 * n_clusters))


def nearest_seeds(
    problem: TableProblem, sample: NDArray[np.int64], n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw seeds among some records, and return which is nearest to each of these.

    Takes one number of `rng` for each seed.
    """
    size, weights = len(sample), problem.records.weights
    likely = np.ones(size) if weights is None else weights[sample]
    matrix = indicators(problem, sample)
    nearest = np.zeros(size, np.int64)
    distance = np.full(size, np.inf)
    for k in range(n_clusters):
        chance = likely * (1.0 if k == 0 else distance)
        if chance.sum() == 0:  # fewer distinct records than clusters
            chance = likely
        seed = int(rng.choice(size, p=chance / chance.sum()))
        distance_to_seed = distances(problem, matrix, seed)
        closer = distance_to_seed < distance
        nearest[closer], distance[closer] = k, distance_to_seed[closer]
    return nearest


def indicators(problem: TableProblem, sample: NDArray[np.int64]) -> sparse.csr_array:
    """Return the stored values of some records as ones."""
    records = problem.records
    starts, lengths = records.indptr[sample], np.diff(records.indptr)[sample]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    positions = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    values = records.values[positions].astype(np.int64)
    shape = (len(sample), problem.schema.n_values)
    return sparse.csr_array((np.ones(len(values)), values, indptr), shape=shape)


def distances(problem: TableProblem, matrix: sparse.csr_array, seed: int) -> NDArray[np.float64]:
    """Return in how many columns records differ from one of them, whatever the defaults.

    These are the columns that either record stores, less those that both store, less those in
    which both store the same.
    """
    columns, lengths = problem.schema.value_columns, np.diff(matrix.indptr)
    values = matrix.indices[matrix.indptr[seed] : matrix.indptr[seed + 1]]
    stored = np.zeros(len(problem.schema))
    stored[columns[values]] = 1
    shared = stored[columns]
    shared[values] += 1
    distance_to_seed: NDArray[np.float64] = lengths + lengths[seed] - matrix @ shared
    return distance_to_seed
