"""Criteria for the number of clusters: likelihoods with a penalty for parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

if TYPE_CHECKING:
    from tacit.mixture.em.iterations import Problem, Run

__all__ = ["Scores", "score_run"]

_MIN_PROBABILITY = 1e-60  # as in the kernels of EM


class Scores(NamedTuple):
    """Scores of a mixture with some number of clusters."""

    clusters: int
    log_likelihood: float  # in nats
    # The logarithm of the marginal likelihood, about, in nats; higher is better. None: no prior
    cheeseman_stutz: float | None
    bic: float  # lower is better; twice nats, as usual
    icl: float  # the same

    def value(self, criterion: str) -> float:
        """Return a criterion in nats, as a log-likelihood: the higher, the better."""
        if criterion == "cheeseman_stutz":
            assert self.cheeseman_stutz is not None
            return self.cheeseman_stutz
        return -0.5 * float(getattr(self, criterion))


def score_run(problem: Problem, run: Run) -> Scores:
    """Score a mixture by all criteria.

    Let D' be the records with clusters filled in, fractionally, as the mixture expects them. Then
    after Cheeseman and Stutz log p(D) ≈ log p(D') − log p(D' | θ) + log p(D | θ), where p(D') has
    a closed form for Dirichlet priors: exact for one cluster. For several it is too little by
    log K! where they differ (there are K! ways to name clusters), which is added. ICL is BIC with
    log p(D' | θ), which falls short of the log-likelihood by the entropy of what cluster each
    record belongs to.
    """
    prior, schema = problem.prior, problem.schema
    expected, parameters = run.expected, run.parameters
    counted = prior.counted
    counts = expected.cells(schema)[counted]
    probabilities = np.empty((int(schema.cells[-1]), expected.n_clusters))
    probabilities[schema.value_cells] = parameters.stored
    probabilities[schema.default_cells] = parameters.defaults
    completed = float(
        xlogy(expected.totals, np.maximum(parameters.weights, _MIN_PROBABILITY)).sum()
        + xlogy(counts, np.maximum(probabilities[counted], _MIN_PROBABILITY)).sum()
    )
    penalty = prior.n_parameters(schema, expected.n_clusters) * np.log(max(expected.weight, 1.0))
    marginal = None
    if prior.clusters > 0:
        columns = np.repeat(np.arange(len(schema)), schema.arities)[counted]
        sums = np.zeros((len(schema), expected.n_clusters))
        np.add.at(sums, columns, counts)
        marginal = (
            _log_dirichlet(expected.totals[:, None], np.full(expected.n_clusters, prior.clusters))
            + float((gammaln(counts + prior.cells[counted][:, None])).sum())
            - expected.n_clusters * float(gammaln(prior.cells[counted]).sum())
            + _log_sums(sums, prior.column_sums(schema))
            - completed
            + expected.log_likelihood
            + float(gammaln(expected.n_clusters + 1))
        )
    return Scores(
        expected.n_clusters,
        expected.log_likelihood,
        marginal,
        float(penalty - 2 * expected.log_likelihood),
        float(penalty - 2 * completed),
    )


def _log_dirichlet(counts: np.ndarray, alphas: np.ndarray) -> float:
    """Return log p of counts of one multinomial under a Dirichlet distribution."""
    total, strength = counts.sum(), alphas.sum()
    each = (gammaln(counts[:, 0] + alphas) - gammaln(alphas)).sum()
    return float(gammaln(strength) - gammaln(total + strength) + each)


def _log_sums(sums: np.ndarray, alphas: np.ndarray) -> float:
    """Return what the sums of columns add to log p(D'), for columns that are not ignored."""
    used = alphas > 0
    return float(
        (gammaln(alphas[used][:, None]) - gammaln(sums[used] + alphas[used][:, None])).sum()
    )
