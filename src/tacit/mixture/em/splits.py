"""Clusters cut in two: what a mixture of one more cluster can start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.iterations import Run, run_em
from tacit.mixture.em.scores import score_run
from tacit.mixture.em.starts import distances, indicators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.mixture.em.iterations import Parameters, TableProblem

__all__ = ["Members", "Split", "find_members", "split_cluster"]

# Records, the probability that each belongs to the cluster, and the logarithm of the probability
# that it belongs to any other.
Members: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]

_MIN_PROBABILITY = 1e-2  # records that belong to a cluster with less are not split with it
_CHUNK = 2**20  # responsibilities that are held at once
_SAMPLE = 5_000  # records that starts are compared on, at most
_N_STARTS = 6
_SHORT_RUN = 8  # passes
_LONG_RUN = 60
_ROUGH_TOL = 1e-5


@dataclass(frozen=True)
class Split:
    """A cluster cut in two."""

    cluster: int
    gain: float  # by how much the criterion is expected to improve
    parent: ExpectedCounts
    children: ExpectedCounts  # of the two halves


def find_members(problem: TableProblem, parameters: Parameters) -> list[Members]:
    """Return for each cluster the records that may belong to it, with what probability.

    Negligible probabilities are left out, so that the clusters together have not many more
    members than there are records.
    """
    n, n_clusters = problem.records.n_records, len(parameters.weights)
    chunks: list[list[Members]] = [[] for _ in range(n_clusters)]
    step = max(_CHUNK // n_clusters, 1)
    for first in range(0, n, step):
        chosen = np.arange(first, min(first + step, n))
        posterior = replace(problem, chosen=chosen).posterior(parameters)[0]
        others = _log_others(posterior)
        for k in range(n_clusters):
            rows = np.flatnonzero(posterior[:, k] > _MIN_PROBABILITY)
            probabilities = posterior[rows, k].astype(np.float32)
            chunks[k].append(((rows + first).astype(np.int32), probabilities, others[rows, k]))
    return [
        (np.concatenate(rows), np.concatenate(probabilities), np.concatenate(others))
        for rows, probabilities, others in (zip(*parts, strict=True) for parts in chunks)
    ]


def _log_others(posterior: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return log Σ of the other clusters' probabilities, however small: 1 - p would round to 0."""
    others = np.zeros_like(posterior)
    others[:, 1:] = np.cumsum(posterior[:, :-1], axis=1)
    others[:, :-1] += np.cumsum(posterior[:, :0:-1], axis=1)[:, ::-1]
    return np.log(np.maximum(others, 1e-300)).astype(np.float32)


def split_cluster(
    problem: TableProblem,
    cluster: int,
    parent: ExpectedCounts,
    members: Members,
    criterion: str,
    rng: np.random.Generator,
) -> Split | None:
    """Cut a cluster in two by EM on its members alone, weighted by their probabilities.

    The log-likelihood of all records then rises by as much, at least, as that of the members, but
    for those of negligible probability. Return None where all members are the same.
    """
    rows, probabilities, _ = members
    weights = np.zeros(problem.records.n_records)
    given = problem.record_weights
    weights[rows] = probabilities if given is None else probabilities * given[rows]
    chosen = rows[weights[rows] > 0].astype(np.int64)
    local = replace(problem, chosen=chosen, weights=weights)
    sample = local
    if len(chosen) > _SAMPLE:
        drawn = np.sort(rng.choice(chosen, _SAMPLE, replace=False))
        sample = replace(local, chosen=drawn)
    best: Run | None = None
    for start in _starts(sample, rng):
        run = run_em(sample, start, max_iter=_SHORT_RUN, tol=_ROUGH_TOL, accelerate=False)
        if best is None or run.objective > best.objective:
            best = run
    if best is None:
        return None
    counts = best.expected
    if sample is not local:
        counts = counts.scaled(local.weight / sample.weight)
    run = run_em(local, counts, max_iter=_LONG_RUN, tol=_ROUGH_TOL)
    merged = _one_cluster(local, run.expected)
    gain = _value(problem, run, criterion) - _value(problem, merged, criterion)
    return Split(cluster, gain, parent, run.expected)


def _starts(problem: TableProblem, rng: np.random.Generator) -> Iterator[ExpectedCounts]:
    """Yield counts of members that are nearer to one of two of them that were drawn."""
    chosen, weights = problem.chosen, problem.weights
    assert chosen is not None
    assert weights is not None
    if len(chosen) < 2:
        return
    matrix, weight = indicators(problem, chosen), weights[chosen]
    for _ in range(_N_STARTS):
        seed = int(rng.choice(len(chosen), p=weight / weight.sum()))
        one = distances(problem, matrix, seed)
        chance = weight * one
        if chance.sum() == 0:
            continue
        seed = int(rng.choice(len(chosen), p=chance / chance.sum()))
        other = distances(problem, matrix, seed)
        nearer = np.where(one == other, 0.5, one < other)
        groups = np.column_stack([weight * nearer, weight * (1 - nearer)])
        totals = groups.sum(axis=0)
        stored = np.ascontiguousarray(matrix.T @ groups)
        yield ExpectedCounts(totals, stored, 0.0, float(totals.sum()))


def _one_cluster(problem: TableProblem, halves: ExpectedCounts) -> Run:
    """Return the mixture of one cluster, which has a closed form."""
    totals = halves.totals.sum(keepdims=True)
    counts = ExpectedCounts(totals, halves.stored.sum(axis=1, keepdims=True), 0.0, halves.weight)
    parameters = problem.maximise(counts)
    return Run(parameters, problem.expect(parameters))


def _value(problem: TableProblem, run: Run, criterion: str) -> float:
    """Score some of the records as if they were among all others."""
    expected = replace(run.expected, weight=problem.weight)
    return score_run(problem, replace(run, expected=expected)).value(criterion)
