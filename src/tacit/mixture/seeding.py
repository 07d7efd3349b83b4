"""Where k-means begins: records far from each other, or any records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.points import Points

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["plus_plus", "random_records"]



def random_records(points: Points, n_clusters: int, random: np.random.RandomState) -> Floats:
    """Return distinct records, drawn with probabilities proportional to their weights."""
    return points.rows(random.choice(points.n_records, n_clusters, replace=False, p=_odds(points)))


def plus_plus(
    points: Points, n_clusters: int, random: np.random.RandomState, n_jobs: int
) -> Floats:
    """Return seeds by greedy k-means++, after Arthur and Vassilvitskii.

    Each seed is the best of a few records that are drawn with probabilities proportional to their
    weight times their squared distance from the nearest seed so far: the one that leaves the least
    sum of such distances. One pass over the stored values for each seed.
    """
    n_trials = 2 + int(math.log(n_clusters))
    seeds = np.empty((n_clusters, points.width))
    seeds[0] = points.rows(random.choice(points.n_records, 1, p=_odds(points)))
    closest = points.distances(seeds[:1], n_jobs)[:, 0]
    for k in range(1, n_clusters):
        reached = np.cumsum(points.weigh(closest))
        drawn = np.searchsorted(reached, random.uniform(size=n_trials) * reached[-1], side="right")
        tried = points.rows(np.minimum(drawn, points.n_records - 1))
        distances, left = points.try_centres(tried, closest, n_jobs)
        best = int(np.argmin(left))
        seeds[k] = tried[best]
        np.minimum(closest, distances[:, best], out=closest)
    return seeds


def _odds(points: Points) -> Any:
    return None if points.weights is None else points.weights / points.weights.sum()
