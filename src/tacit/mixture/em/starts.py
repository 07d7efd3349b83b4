"""Where EM starts: expected counts of clusters that are made up."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.counts.records import gather_values
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.counts import StoredRecords
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import TableProblem

__all__ = [
    "INITS",
    "check_enough",
    "count_weighty",
    "distances",
    "distinct_records",
    "draw_seed",
    "draw_starts",
    "hash_numbers",
    "indicators",
    "kinds_of_starts",
    "make_start",
    "nearest_seeds",
    "sample_size",
    "soften",
]

_LOG = logging.getLogger("tacit")
INITS = ("both", "seeds", "random")
_SAMPLE = 20_000  # records that seeds are drawn from, at most
_SOFTNESS = 0.5  # fraction of each cluster that starts as all records are


def kinds_of_starts(init: str, n_init: int) -> list[str]:
    """Return how each of several starts is made: "both" takes turns, seeds first."""
    if init not in INITS:
        raise InputError(f"init must be one of {', '.join(map(repr, INITS))}, got {init!r}")
    return [("seeds", "random")[i % 2] if init == "both" else init for i in range(n_init)]


def draw_starts(
    problem: TableProblem, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
) -> Iterator[ExpectedCounts]:
    """Yield several first guesses."""
    for kind in kinds_of_starts(init, n_init):
        yield make_start(problem, n_clusters, kind, rng)


def make_start(
    problem: TableProblem, n_clusters: int, init: str, rng: np.random.Generator
) -> ExpectedCounts:
    """Return the expected counts of a first guess.

    "random" lets each record belong to a cluster drawn at random. "seeds" draws records that differ
    from each other, as k-means++ does, and lets records belong to the nearest; each cluster then
    is half of what that says, and half of what all of these records say.
    """
    if init == "random":
        numbers = np.arange(problem.records.n_records, dtype=np.uint64)
        clusters = hash_numbers(numbers, draw_seed(rng)) % np.uint64(n_clusters)
        return problem.count_clusters(clusters.astype(np.int64), n_clusters)
    return soften(problem.count_clusters(_near_seeds(problem, n_clusters, rng), n_clusters))


def soften(start: ExpectedCounts) -> ExpectedCounts:
    """Mix each cluster with all of them: no value is impossible where some record has it.

    Without a prior EM could never give back a probability that starts at 0; and records that are
    nearest to a seed by chance are not held to it.
    """
    fractions = start.stored.sum(axis=1, keepdims=True) / max(float(start.totals.sum()), 1e-300)
    stored = (1 - _SOFTNESS) * start.stored + _SOFTNESS * fractions * start.totals
    return replace(start, stored=stored)


def draw_seed(rng: np.random.Generator) -> np.uint64:
    """Draw what random clusters follow from."""
    return np.uint64(rng.integers(0, 2**64, dtype=np.uint64))


def hash_numbers(numbers: NDArray[np.uint64], seed: np.uint64) -> NDArray[np.uint64]:
    """Return a pseudorandom number for each number and a seed: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        x: NDArray[np.uint64] = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + seed
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def distinct_records(records: StoredRecords, enough: int) -> set[bytes]:
    """Return the stored values of so many distinct records, or of all if they are fewer."""
    begin, seen = records.indptr, set()
    possible = range(records.n_records)
    for r in possible if records.weights is None else np.flatnonzero(records.weights):
        seen.add(records.values[begin[r] : begin[r + 1]].tobytes())
        if len(seen) == enough:
            break
    return seen


def count_weighty(weights: NDArray[np.float64] | None, n_records: int) -> int:
    """Return how many records have a weight above 0."""
    return n_records if weights is None else int(np.count_nonzero(weights))


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
    indptr, values = gather_values(problem.records, sample)
    shape = (len(sample), problem.schema.n_values)
    return sparse.csr_array((np.ones(len(values)), values.astype(np.int64), indptr), shape=shape)


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
