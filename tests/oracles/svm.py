"""The dual problem of support vectors, slow and dense: projected gradients on the whole matrix.

Minimise ½ βᵀKβ − yᵀβ, where Σβ = 0 and lower ≤ β ≤ upper. Written from the definition and never by
calling tacit.
"""

import numpy as np


def objective(K, y, beta):
    """Return what is to be minimised."""
    return beta @ K @ beta / 2 - y @ beta


def violation(K, y, lower, upper, beta):
    """Return by how much the two worst coefficients break the conditions of optimality."""
    downhill = y - K @ beta
    may_grow, may_shrink = beta < upper, beta > lower
    if not (may_grow.any() and may_shrink.any()):
        return 0.0
    return max(0.0, downhill[may_grow].max() - downhill[may_shrink].min())


def project(point, lower, upper):
    """Return the nearest point whose coordinates add up to 0 and are within their bounds."""
    low, high = (point - upper).min(), (point - lower).max()
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(point - middle, lower, upper).sum() > 0:
            low = middle
        else:
            high = middle
    return np.clip(point - high, lower, upper)


def solve(K, y, lower, upper, n_steps=1500):
    """Return β for a positive semi-definite K, by accelerated projected gradients."""
    step = 1 / max(np.linalg.eigvalsh(K)[-1], 1e-12)
    beta = ahead = np.zeros(len(y))
    momentum = 1.0
    for _ in range(n_steps):
        projected = project(ahead + step * (y - K @ ahead), lower, upper)
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = projected + (momentum - 1) / grown * (projected - beta)
        beta, momentum = projected, grown
    return beta
