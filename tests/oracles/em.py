"""EM for mixtures of independent columns, slow and dense: every column of every record, in logs.

Written from the definitions of the sparse-data paper (section 4) and never by calling tacit.
"""

from dataclasses import dataclass

import numpy as np

LEAST = 1e-60  # probabilities below this count as this


@dataclass(frozen=True)
class Model:
    """Probabilities of a mixture, and the codes that its columns leave unsaid."""

    shares: np.ndarray  # (K,)
    columns: list[np.ndarray]  # for each column (arity, K)
    defaults: list[int]

    def arrays(self):
        """Return offsets, shares, stored and default rows, as the kernels take them."""
        pairs = list(zip(self.columns, self.defaults, strict=True))
        stored = [np.delete(rows, default, axis=0) for rows, default in pairs]
        offsets = np.cumsum([0, *map(len, stored)], dtype=np.int64)
        return offsets, self.shares, np.concatenate(stored), np.array([r[d] for r, d in pairs])


def random_model(rng, n_clusters, arities, defaults, concentration=1.0):
    """Draw a mixture; with a concentration of 0 every probability is exactly 0 or 1."""

    def draw(arity, size):
        if concentration == 0:
            return np.eye(arity)[rng.integers(0, arity, size)]
        return rng.dirichlet(np.full(arity, concentration), size)

    columns = [np.ascontiguousarray(draw(arity, n_clusters).T) for arity in arities]
    return Model(rng.dirichlet(np.full(n_clusters, 3.0)), columns, list(defaults))


def log_joint(model, codes):
    """Return log P(cluster, record), in extended precision where the machine has it."""

    def log(p):
        return np.log(np.maximum(p, LEAST).astype(np.longdouble))

    total = np.tile(log(model.shares), (len(codes), 1))
    for c, rows in enumerate(model.columns):
        total += log(rows)[codes[:, c]]
    return total


def posterior(model, codes):
    """Return P(cluster | record) and log P(record)."""
    joint = log_joint(model, codes)
    top = joint.max(axis=1, keepdims=True)
    parts = np.exp(joint - top)
    whole = parts.sum(axis=1, keepdims=True)
    return parts / whole, (top + np.log(whole))[:, 0]


def expectations(model, codes, weights=None, chosen=None):
    """Return expected counts of clusters and of stored values in them, and the log-likelihood."""
    codes = np.asarray(codes)
    weights = np.ones(len(codes)) if weights is None else weights
    if chosen is not None:
        codes, weights = codes[chosen], weights[chosen]
    responsibilities, logs = posterior(model, codes)
    weighted = responsibilities * weights[:, None]
    stored = [
        weighted[codes[:, c] == code].sum(axis=0)
        for c, rows in enumerate(model.columns)
        for code in range(len(rows))
        if code != model.defaults[c]
    ]
    shape = (-1, len(model.shares))
    return weighted.sum(axis=0), np.array(stored).reshape(shape), (weights * logs).sum()


def maximise(offsets, totals, counts, alpha_clusters, alpha_stored, alpha_defaults):
    """Return shares, stored and default rows, and the logarithm of the prior, cell by cell."""
    shares = totals + alpha_clusters
    shares = shares / shares.sum() if shares.any() else np.full(len(totals), 1 / len(totals))
    stored, defaults = np.ones_like(counts), np.ones((len(alpha_defaults), len(totals)))
    log_prior = 0.0 if alpha_clusters == 0 else alpha_clusters * np.log(shares).sum()
    for c, alpha_default in enumerate(alpha_defaults):
        ids = range(offsets[c], offsets[c + 1])
        for k, total in enumerate(totals):
            rest = total - sum(counts[v, k] for v in ids)
            cells = [("default", rest, alpha_default)]
            cells += [(v, counts[v, k], alpha_stored[v]) for v in ids]
            heard = [cell for cell in cells if cell[2] >= 0]  # the others say nothing
            whole = sum(count + alpha for _, count, alpha in heard)
            for place, count, alpha in heard:
                p = (count + alpha) / whole if whole > 0 else 1 / len(heard)
                if place == "default":
                    defaults[c, k] = p
                else:
                    stored[place, k] = p
                if alpha > 0:
                    log_prior += alpha * np.log(max(p, LEAST))
    return shares, stored, defaults, log_prior
