"""Where k-means begins: records far from each other, or any records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.kmeans.points import Points

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["plus_plus", "random_records"]


def random_records(points: Points, n_clusters: int, random: np.random.RandomState) -> Floats:
    """Return distinct records, drawn with probabilities proportional to their weights."""
    odds = None if points.weights is None else points.weights / points.weights.sum()
    return points.rows(random.choice(points.n_records, n_clusters, replace=False, p=odds))


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
    seeds[0] = points.rows(_draw(points.weigh(np.ones(points.n_records)), 1, random))
    closest = points.distances(seeds[:1], n_jobs)[:, 0]
    distances = np.empty((points.n_records, n_trials))
    for k in range(1, n_clusters):
        tried = points.rows(_draw(points.weigh(closest), n_trials, random))
        left = points.try_centres(tried, closest, distances, n_jobs)
        best = int(np.argmin(left))
        seeds[k] = tried[best]
        np.minimum(closest, distances[:, best], out=closest)
    return seeds


def _draw(odds: Floats, n: int, random: np.random.RandomState) -> NDArray[np.intp]:
    """Return records drawn with these odds, or any records if all odds are 0."""
    reached = np.cumsum(odds)
    if reached[-1] == 0:
        reached = np.arange(1.0, len(odds) + 1)
    drawn: Floats = random.uniform(size=n) * reached[-1]
    return np.minimum(np.searchsorted(reached, drawn, side="right"), len(odds) - 1)
