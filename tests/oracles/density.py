"""Slow and obvious versions of what a dependency tree says: all joint states, one by one."""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["Joint", "conditionals", "tree_joint"]


def tree_joint(codes, arities, edges, smoothing):
    """Return P(all columns) as one array: the product over edges over the product over columns."""
    n_records, n = codes.shape
    joint = np.ones(arities)
    degree = np.zeros(n, int)
    for a, b in edges:
        degree[[a, b]] += 1
        pair = np.full((arities[a], arities[b]), smoothing / (arities[a] * arities[b]))
        for row in codes:
            pair[row[a], row[b]] += 1
        shape = [1] * n
        shape[a], shape[b] = arities[a], arities[b]
        joint = joint * (pair / (n_records + smoothing)).reshape(shape)
    for c in range(n):
        single = np.full(arities[c], smoothing / arities[c])
        for row in codes:
            single[row[c]] += 1
        shape = [1] * n
        shape[c] = arities[c]
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = (single / (n_records + smoothing)).reshape(shape) ** float(1 - degree[c])
            joint = np.where(joint > 0, joint * factor, 0.0)
    return joint


class Joint:
    """A joint distribution that answers by summing over everything."""

    def __init__(self, joint):
        self.joint = joint

    def probability(self, known):
        """Return P(known), where known has -1 for what is missing."""
        return self.joint[tuple(slice(None) if k < 0 else k for k in known)].sum()

    def conditional(self, known, column):
        """Return P(column | the rest of known)."""
        result = []
        for code in range(self.joint.shape[column]):
            asked = list(known)
            asked[column] = code
            result.append(self.probability(asked))
        return np.array(result) / sum(result)


def conditionals(joint, known):
    """Return P(column | known) of every column that is not known."""
    summed = {c: np.zeros(joint.shape[c]) for c in range(joint.ndim)}
    for state in itertools.product(*(range(r) for r in joint.shape)):
        if all(k < 0 or k == s for k, s in zip(known, state, strict=True)):
            for c, s in enumerate(state):
                summed[c][s] += joint[state]
    return [summed[c] / summed[c].sum() for c in range(joint.ndim)]
