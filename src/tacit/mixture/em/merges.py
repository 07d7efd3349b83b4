"""Mixtures of one cluster fewer: two clusters taken together, or one left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Problem, Run
    from tacit.mixture.em.splits import Members

__all__ = ["Shrunk", "find_shrunk"]

_PAIRS = 4  # of clusters that are looked at, for each cluster


class Shrunk(NamedTuple):
    """A mixture of one cluster fewer.

    Attributes
    ----------
    gain : float
        By how much the criterion improves, about, before EM goes on from there.
    counts : ExpectedCounts
        Where EM would go on from.
    """

    gain: float
    counts: ExpectedCounts


def find_shrunk(problem: Problem, run: Run, members: list[Members], criterion: str) -> list[Shrunk]:
    """Take two clusters together, or leave one to the others; return what may be better.

    Where it is filled in which cluster records belong to, a score is a sum over clusters. Two of
    them gain what they score together less what they score apart; what is lost is the doubt which
    of the two a record belongs to (but for ICL, which has no regard for doubt). One that is left
    out gains what it pays for its parameters; what is lost is what its records are less likely.
    """
    expected = run.expected
    if expected.n_clusters < 2:
        return []
    cells = expected.cells(problem.schema)
    fits, scores = _score_clusters(problem, cells, expected.totals, criterion)
    found = []
    a, b = _similar_pairs(problem, run).T
    both = expected.totals[a] + expected.totals[b]
    gains = _score_clusters(problem, cells[:, a] + cells[:, b], both, criterion)[1]
    gains -= scores[a] + scores[b]
    for p in np.flatnonzero(gains > 0).tolist():
        doubt = 0.0 if criterion == "icl" else _doubt(problem, members[a[p]], members[b[p]])
        found.append((float(gains[p]) - doubt, int(a[p]), int(b[p])))
    losses = [_loss(problem, own) for own in members]
    found += [(float(fits[k] - scores[k]) - loss, k, -1) for k, loss in enumerate(losses)]
    found.sort(reverse=True)
    return [Shrunk(gain, _without(expected, k, other)) for gain, k, other in found if gain > 0]


def _score_clusters(
    problem: Problem,
    cells: NDArray[np.float64],
    totals: NDArray[np.float64],
    criterion: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how likely the records of each cluster are at best, and what they score."""
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
    alphas, wholes = prior.cells[counted][:, None], prior.column_sums(schema)[:, None]
    some = wholes[:, 0] > 0
    scores = (gammaln(counts[counted] + alphas) - gammaln(alphas)).sum(axis=0)
    scores += (gammaln(wholes[some]) - gammaln(sums[some] + wholes[some])).sum(axis=0)
    a = prior.clusters  # the same for shares of clusters, by Stirling's formula for their sum
    scores += gammaln(totals + a) - gammaln(a) + totals - (totals + a) * np.log(weight)
    return fits, scores


def _similar_pairs(problem: Problem, run: Run) -> NDArray[np.int64]:
    """Return the pairs of clusters that lose least, by Hellinger's distance."""
    parameters, totals = run.parameters, run.expected.totals
    prior = problem.prior
    stored = np.sqrt(np.where(prior.stored[:, None] >= 0, parameters.stored, 0.0))
    defaults = np.sqrt(np.where(prior.defaults[:, None] >= 0, parameters.defaults, 0.0))
    alike = stored.T @ stored + defaults.T @ defaults
    own = np.diag(alike)
    a, b = np.triu_indices(len(totals), 1)
    away = np.maximum(0.5 * (own[a] + own[b]) - alike[a, b], 0.0)
    loss = away * totals[a] * totals[b] / np.maximum(totals[a] + totals[b], 1e-300)
    best = np.argsort(loss, kind="stable")[: _PAIRS * len(totals)]
    return np.column_stack([a[best], b[best]])


def _doubt(problem: Problem, one: Members, other: Members) -> float:
    """Return the entropy of which of two clusters records belong to."""
    rows, here, there = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    x, y = one[1][here].astype(np.float64), other[1][there].astype(np.float64)
    doubt = xlogy(x + y, x + y) - xlogy(x, x) - xlogy(y, y)
    return float(np.dot(doubt, _weights(problem, rows)))


def _loss(problem: Problem, own: Members) -> float:
    """Return how much less likely records are without a cluster, as far as that can be said."""
    rest = np.maximum(1.0 - own[1].astype(np.float64), 1e-7)
    weights = _weights(problem, own[0])
    share = float(np.dot(own[1], weights)) / max(problem.weight, 1e-300)
    regained = -problem.weight * np.log(max(1.0 - share, 1e-7))  # by the others' larger shares
    return float(np.dot(-np.log(rest), weights) - regained)


def _weights(problem: Problem, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    own = problem.record_weights
    return np.ones(len(rows)) if own is None else own[rows]


def _without(expected: ExpectedCounts, k: int, other: int) -> ExpectedCounts:
    """Return the counts without a cluster, or with it in another if that is not -1."""
    totals, stored = expected.totals.copy(), expected.stored.copy()
    if other >= 0:
        totals[other] += totals[k]
        stored[:, other] += stored[:, k]
    return replace(
        expected, totals=np.delete(totals, k), stored=np.ascontiguousarray(np.delete(stored, k, 1))
    )
