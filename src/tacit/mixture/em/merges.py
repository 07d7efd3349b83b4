"""Mixtures of one cluster fewer: two clusters merged, or one removed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Run, TableProblem
    from tacit.mixture.em.splits import Members

__all__ = ["Merge", "find_merges"]

_PAIRS = 4  # of clusters that are compared, for each cluster


class Merge(NamedTuple):
    """A mixture of one cluster fewer."""

    gain: float  # by how much the criterion improves, about, before EM goes on from there
    counts: ExpectedCounts  # where EM would go on from
    merged: tuple[int, ...]  # the clusters that are merged, or the one that is removed


def find_merges(
    problem: TableProblem, run: Run, members: list[Members], criterion: str, most: int | None = None
) -> list[Merge]:
    """Merge two clusters, or remove one; return what may be better, the best first, so many.

    Where it is filled in which cluster records belong to, a score is a sum over clusters. Merging
    two gains the score of both as one less their separate scores, and loses the entropy of which of
    the two a record belongs to (but for ICL, which does not count it). Removing one gains the
    penalty of its parameters, and loses what its records become less likely.
    """
    expected = run.expected
    if expected.n_clusters < 2:
        return []
    cells = expected.cells(problem.schema)
    fits, scores = _score_clusters(problem, cells, expected.totals, criterion)
    candidates = []
    a, b = _similar_pairs(problem, run).T
    both = expected.totals[a] + expected.totals[b]
    gains = _score_clusters(problem, cells[:, a] + cells[:, b], both, criterion)[1]
    gains -= scores[a] + scores[b]
    if criterion == "cheeseman_stutz":  # fewer ways to name them: K! becomes (K - 1)!
        scores = scores + np.log(expected.n_clusters)
        gains -= np.log(expected.n_clusters)
    for p in np.flatnonzero(gains > 0).tolist():
        entropy = 0.0 if criterion == "icl" else _entropy(problem, members[a[p]], members[b[p]])
        candidates.append((float(gains[p]) - entropy, int(a[p]), int(b[p])))
    losses = [_removal_loss(problem, rows) for rows in members]
    candidates += [(float(fits[k] - scores[k]) - loss, k, -1) for k, loss in enumerate(losses)]
    candidates.sort(reverse=True)
    return [
        Merge(gain, _without(expected, k, other), (k,) if other < 0 else (k, other))
        for gain, k, other in candidates[:most]
        if gain > 0
    ]


def _score_clusters(
    problem: TableProblem,
    cells: NDArray[np.float64],
    totals: NDArray[np.float64],
    criterion: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the maximal log-likelihood of the records of each cluster, and their score."""
    prior, schema, weight = problem.prior, problem.schema, max(problem.weight, 1.0)
    counted = prior.counted
    begin = schema.cells[:-1]
    counts = np.where(counted[:, None], cells, 0.0)
    sums = np.add.reduceat(counts, begin)
    fits = xlogy(counts, counts).sum(axis=0) - xlogy(sums, sums).sum(axis=0)
    fits += xlogy(totals, totals / weight)
    if criterion != "cheeseman_stutz":
        free = prior.n_parameters(schema, 2) - prior.n_parameters(schema, 1)
        return fits, fits - 0.5 * free * np.log(weight)
    alphas, strengths = prior.cells[counted][:, None], prior.column_sums(schema)[:, None]
    used = strengths[:, 0] > 0
    scores = (gammaln(counts[counted] + alphas) - gammaln(alphas)).sum(axis=0)
    scores += (gammaln(strengths[used]) - gammaln(sums[used] + strengths[used])).sum(axis=0)
    a = prior.clusters  # the same for mixing weights, by Stirling's formula for their sum
    scores += gammaln(totals + a) - gammaln(a) + totals - (totals + a) * np.log(weight)
    return fits, scores


def _similar_pairs(problem: TableProblem, run: Run) -> NDArray[np.int64]:
    """Return the pairs of clusters that lose least, by Hellinger's distance."""
    parameters, totals = run.parameters, run.expected.totals
    prior = problem.prior
    stored = np.sqrt(np.where(prior.stored[:, None] >= 0, parameters.stored, 0.0))
    defaults = np.sqrt(np.where(prior.defaults[:, None] >= 0, parameters.defaults, 0.0))
    similarity = stored.T @ stored + defaults.T @ defaults
    norms = np.diag(similarity)
    a, b = np.triu_indices(len(totals), 1)
    distance = np.maximum(0.5 * (norms[a] + norms[b]) - similarity[a, b], 0.0)
    loss = distance * totals[a] * totals[b] / np.maximum(totals[a] + totals[b], 1e-300)
    best = np.argsort(loss, kind="stable")[: _PAIRS * len(totals)]
    return np.column_stack([a[best], b[best]])


def _entropy(problem: TableProblem, one: Members, other: Members) -> float:
    """Return the entropy, in nats, of which of two clusters records belong to."""
    rows, here, there = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    x, y = one[1][here].astype(np.float64), other[1][there].astype(np.float64)
    entropies = xlogy(x + y, x + y) - xlogy(x, x) - xlogy(y, y)
    return float(np.dot(entropies, _weights(problem, rows)))


def _removal_loss(problem: TableProblem, members: Members) -> float:
    """Estimate the loss of log-likelihood without a cluster."""
    rows, probabilities, log_others = members
    weights = _weights(problem, rows)
    fraction = float(np.dot(probabilities, weights)) / max(problem.weight, 1e-300)
    regained = -problem.weight * np.log(max(1.0 - fraction, 1e-7))  # by the others' larger weights
    return float(np.dot(-log_others.astype(np.float64), weights) - regained)


def _weights(problem: TableProblem, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    weights = problem.record_weights
    return np.ones(len(rows)) if weights is None else weights[rows]


def _without(expected: ExpectedCounts, k: int, other: int) -> ExpectedCounts:
    """Return the counts without a cluster, or with it in another if that is not -1."""
    totals, stored = expected.totals.copy(), expected.stored.copy()
    if other >= 0:
        totals[other] += totals[k]
        stored[:, other] += stored[:, k]
    return replace(
        expected, totals=np.delete(totals, k), stored=np.ascontiguousarray(np.delete(stored, k, 1))
    )
