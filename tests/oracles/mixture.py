"""EM for mixtures of independent columns as a textbook has it: dense, one cell at a time, in logs.

Nothing here knows of defaults or of stored values. Cells that are missing at random have code -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from tacit.mixture.em.expected import ExpectedCounts

LEAST = 1e-60  # nothing is held to be less probable


@dataclass(frozen=True)
class DenseMixture:
    """Records and a prior.

    codes : (records, columns), -1 where nothing is known
    arities : how many values each column has, without what is missing at random
    weights : one for each record
    alphas : for each column the pseudo-counts of its values
    strength : the pseudo-count of each cluster
    """

    codes: np.ndarray
    arities: list[int]
    weights: np.ndarray
    alphas: list[np.ndarray]
    strength: float

    @classmethod
    def of(cls, codes, arities, weights=None, strength=1.0, mean="marginals"):
        weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
        alphas = [np.full(arity, strength / arity) if arity else np.zeros(0) for arity in arities]
        if mean == "marginals":
            for c, arity in enumerate(arities):
                held = np.array([weights[codes[:, c] == v].sum() + 1 / arity for v in range(arity)])
                alphas[c] = strength * held / held.sum()
        return cls(codes, list(arities), weights, alphas, float(strength))

    def count(self, responsibilities):
        """Expected counts: of clusters, and of each column's values in them."""
        weighted = self.weights[:, None] * responsibilities
        cells = [
            np.array([weighted[self.codes[:, c] == v].sum(axis=0) for v in range(arity)])
            for c, arity in enumerate(self.arities)
        ]
        return weighted.sum(axis=0), cells

    def maximise(self, counts):
        totals, cells = counts
        shares = (totals + self.strength) / (totals + self.strength).sum()
        tables = []
        for own, alpha in zip(cells, self.alphas, strict=True):
            smoothed = own + alpha[:, None] if len(alpha) else np.zeros((0, len(totals)))
            tables.append(smoothed / smoothed.sum(axis=0))
        return shares, tables

    def log_joint(self, parameters):
        """log P(record, cluster), records × clusters."""
        shares, tables = parameters
        logs = np.tile(np.log(np.maximum(shares, LEAST)), (len(self.codes), 1))
        for c, table in enumerate(tables):
            known = self.codes[:, c] >= 0
            logs[known] += np.log(np.maximum(table[self.codes[known, c]], LEAST))
        return logs

    def expect(self, parameters):
        """Return the log-likelihood, and responsibilities."""
        logs = self.log_joint(parameters)
        each = logsumexp(logs, axis=1)
        return float(self.weights @ each), np.exp(logs - each[:, None])

    def log_prior(self, parameters):
        shares, tables = parameters
        if self.strength == 0:
            return 0.0
        columns = zip(self.alphas, tables, strict=True)
        inner = sum((alpha[:, None] * np.log(table)).sum() for alpha, table in columns)
        return float(self.strength * np.log(shares).sum() + inner)

    def run(self, counts, n_passes):
        """Objectives of plain EM, the last parameters, and the responsibilities they give."""
        trace = []
        for _ in range(n_passes):
            parameters = self.maximise(counts)
            log_likelihood, responsibilities = self.expect(parameters)
            counts = self.count(responsibilities)
            trace.append(log_likelihood + self.log_prior(parameters))
        return trace, parameters, responsibilities

    def cheeseman_stutz(self, parameters):
        """log p(D'), less log p(D' | θ), plus log p(D | θ), cluster by cluster and cell by cell."""
        log_likelihood, responsibilities = self.expect(parameters)
        totals, cells = self.count(responsibilities)
        marginal = log_dirichlet(totals, np.full(len(totals), self.strength))
        for own, alpha in zip(cells, self.alphas, strict=True):
            marginal += sum(log_dirichlet(own[:, k], alpha) for k in range(len(totals)))
        return marginal - self.completed(parameters) + log_likelihood

    def completed(self, parameters):
        """log p(D' | θ): records belong to clusters as much as is expected."""
        _, responsibilities = self.expect(parameters)
        logs = self.log_joint(parameters)
        weighted = self.weights[:, None] * responsibilities
        return float((weighted * logs)[weighted > 0].sum())


def log_dirichlet(counts, alphas):
    """log p of one sequence with these counts under a Dirichlet distribution."""
    if len(alphas) == 0:
        return 0.0
    ends = gammaln(alphas.sum()) - gammaln(counts.sum() + alphas.sum())
    return float(ends + (gammaln(counts + alphas) - gammaln(alphas)).sum())


def dense_view(table, *, ignore=False, **prior):
    """Return the dense mixture of a table's records; None is missing at random with `ignore`."""
    codes, arities = table.to_numpy(), table.schema.arities.tolist()
    for c, labels in enumerate(table.schema.labels):
        if ignore and labels.missing is not None:
            lost = labels.missing
            codes[codes[:, c] == lost, c] = -1
            codes[codes[:, c] > lost, c] -= 1
            arities[c] -= 1
    return DenseMixture.of(codes, arities, table.weights, **prior)


def stored_counts(table, responsibilities):
    """Return the same start as a table's expected counts, missing values counted like others."""
    totals, cells = dense_view(table).count(responsibilities)
    values = zip(table.schema.value_columns, table.schema.value_codes, strict=True)
    stored = np.array([cells[c][v] for c, v in values]).reshape(-1, len(totals))
    return ExpectedCounts(totals, stored, 0.0, float(totals.sum()))


def random_responsibilities(n_records, n_clusters, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_clusters, 0.7), n_records)


def dense_parameters(mix, *, ignore=False):
    """Return a fitted mixture's probabilities as dense ones; what is ignored has no row."""
    tables = []
    for c, labels in enumerate(mix.schema_.labels):
        table = mix.probabilities(c)
        lost = ignore and labels.missing is not None
        tables.append(np.delete(table, labels.missing, axis=0) if lost else table)
    return mix.weights_, tables
