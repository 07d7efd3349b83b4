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

    from tacit.mixture.em.iterations import Parameters, Problem

__all__ = ["Members", "Split", "find_members", "split_cluster"]

# Records, and the share of each.
Members: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]

_LEAST = 1e-2  # of a record: a cluster that has less of it is split without it
_STRETCH = 2**20  # responsibilities that are held at once
_SAMPLE = 5_000  # records that starts are compared on, at most
_STARTS = 6
_FEW_PASSES = 8
_MANY_PASSES = 60
_ROUGH = 1e-5


@dataclass(frozen=True)
class Split:
    """A cluster cut in two.

    Attributes
    ----------
    cluster : int
    gain : float
        By how much the criterion is expected to improve.
    parent, children : ExpectedCounts
        Of the cluster and of the two parts.
    """

    cluster: int
    gain: float
    parent: ExpectedCounts
    children: ExpectedCounts


def find_members(problem: Problem, parameters: Parameters) -> list[Members]:
    """Return for each cluster the records it has a share of, and these shares.

    Shares that hardly matter are left out, so that the clusters together have not many more
    members than there are records.
    """
    n, n_clusters = problem.records.n_records, len(parameters.shares)
    parts: list[list[Members]] = [[] for _ in range(n_clusters)]
    step = max(_STRETCH // n_clusters, 1)
    for first in range(0, n, step):
        chosen = np.arange(first, min(first + step, n))
        shares = replace(problem, chosen=chosen).posterior(parameters)[0]
        for k in range(n_clusters):
            own = np.flatnonzero(shares[:, k] > _LEAST)
            parts[k].append(((own + first).astype(np.int32), shares[own, k].astype(np.float32)))
    return [
        (np.concatenate([rows for rows, _ in own]), np.concatenate([some for _, some in own]))
        for own in parts
    ]


def split_cluster(
    problem: Problem,
    cluster: int,
    parent: ExpectedCounts,
    members: Members,
    criterion: str,
    rng: np.random.Generator,
) -> Split | None:
    """Cut a cluster in two by EM on its members alone, each as far as it is one.

    The log-likelihood of all records then rises by as much, at least, as that of the members, but
    for those with a negligible share. Return None where all members are the same.
    """
    rows, shares = members
    weights = np.zeros(problem.records.n_records)
    own = problem.record_weights
    weights[rows] = shares if own is None else shares * own[rows]
    chosen = rows[weights[rows] > 0].astype(np.int64)
    local = replace(problem, chosen=chosen, weights=weights)
    sample = local
    if len(chosen) > _SAMPLE:
        drawn = np.sort(rng.choice(chosen, _SAMPLE, replace=False))
        sample = replace(local, chosen=drawn)
    best: Run | None = None
    for start in _starts(sample, rng):
        run = run_em(sample, start, max_iter=_FEW_PASSES, tol=_ROUGH, accelerate=False)
        if best is None or run.objective > best.objective:
            best = run
    if best is None:
        return None
    counts = best.expected
    if sample is not local:
        counts = counts.scaled(local.weight / sample.weight)
    run = run_em(local, counts, max_iter=_MANY_PASSES, tol=_ROUGH)
    whole = _one_cluster(local, run.expected)
    gain = _value(problem, run, criterion) - _value(problem, whole, criterion)
    return Split(cluster, gain, parent, run.expected)


def _starts(problem: Problem, rng: np.random.Generator) -> Iterator[ExpectedCounts]:
    """Yield counts of members that are nearer to one of two of them that were drawn."""
    chosen, weights = problem.chosen, problem.weights
    assert chosen is not None
    assert weights is not None
    if len(chosen) < 2:
        return
    matrix, weight = indicators(problem, chosen), weights[chosen]
    for _ in range(_STARTS):
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


def _one_cluster(problem: Problem, parts: ExpectedCounts) -> Run:
    """Return the mixture of one cluster, which needs no passes to be found."""
    totals = parts.totals.sum(keepdims=True)
    counts = ExpectedCounts(totals, parts.stored.sum(axis=1, keepdims=True), 0.0, parts.weight)
    parameters = problem.maximise(counts)
    return Run(parameters, problem.expect(parameters))


def _value(problem: Problem, run: Run, criterion: str) -> float:
    """Score a part of the records, as a part of all of them."""
    expected = replace(run.expected, weight=problem.weight)
    return score_run(problem, replace(run, expected=expected)).value(criterion)
