"""One scorer for the nets of all libraries, and how far a net is from another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Parents: TypeAlias = Sequence[Sequence[int]]


def parents_of(names: Sequence[str], arcs: Sequence[tuple[str, str]]) -> list[tuple[int, ...]]:
    """Return the parents of each column, by place, from arcs between names."""
    place = {name: i for i, name in enumerate(names)}
    above: list[list[int]] = [[] for _ in names]
    for a, b in arcs:
        above[place[b]].append(place[a])
    return [tuple(sorted(p)) for p in above]


def family_counts(codes: Any, arities: Sequence[int], child: int, parents: Sequence[int]) -> Any:
    """Return counts by parent state and child, for the parent states that occur."""
    state = np.zeros(len(codes), np.int64)
    for p in parents:
        state = np.unique(state * arities[p] + codes[:, p], return_inverse=True)[1]
    r = arities[child]
    return np.bincount(state * r + codes[:, child], minlength=(int(state.max()) + 1) * r).reshape(
        -1, r
    )


def bic(counts: Any, q: float) -> float:
    """Return the maximum log-likelihood less half a log of the records for each parameter."""
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts / total), 0.0)
    return float(terms.sum() - 0.5 * math.log(counts.sum()) * q * (counts.shape[1] - 1))


def bdeu(counts: Any, q: float, size: float = 1.0) -> float:
    """Return the log marginal likelihood; parent states that do not occur add nothing."""
    a, b = size / q, size / (q * counts.shape[1])
    rows = gammaln(a) - gammaln(counts.sum(axis=1) + a)
    return float(rows.sum() + (gammaln(counts + b) - gammaln(b)).sum())


def score_net(
    codes: Any, arities: Sequence[int], parents: Parents, *, prior_weight: float = 1.0
) -> tuple[float, float]:
    """Return the BIC and the BDeu score of a whole net."""
    both = [0.0, 0.0]
    for child, above in enumerate(parents):
        counts = family_counts(codes, arities, child, above)
        q = math.prod(float(arities[p]) for p in above)
        both[0] += bic(counts, q)
        both[1] += bdeu(counts, q, prior_weight)
    return both[0], both[1]
