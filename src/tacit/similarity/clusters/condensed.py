"""The condensed tree: clusters within clusters, and which of them are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.similarity.clusters.reachability import SpanningTree

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["CondensedTree", "Selection", "condense"]

NOISE = -1


@dataclass(frozen=True, repr=False)
class CondensedTree(Result):
    """Clusters within clusters, by the density at which they begin and objects leave them.

    Density λ is 1 / distance. Cluster 0 is all objects; clusters are numbered after the one that
    they are part of.

    Attributes
    ----------
    cluster_parents : ndarray of int64, shape (n_clusters,)
        The cluster that each is part of; -1 for cluster 0.
    births : ndarray of shape (n_clusters,)
        The λ at which each begins; 0 for cluster 0.
    cluster_sizes : ndarray of int64, shape (n_clusters,)
        How many objects each begins with.
    object_clusters : ndarray of int64, shape (n_objects,)
        The last cluster of each object.
    object_lambdas : ndarray of shape (n_objects,)
        The λ at which each object leaves that; inf for objects that equal enough others.
    """

    cluster_parents: Ints
    births: Floats
    cluster_sizes: Ints
    object_clusters: Ints
    object_lambdas: Floats

    @property
    def n_clusters(self) -> int:
        """How many clusters there are, the one of all objects included."""
        return len(self.births)

    @cached_property
    def deaths(self) -> Floats:
        """The λ at which a cluster is divided, or its last object leaves."""
        deaths = np.zeros(self.n_clusters)
        np.maximum.at(deaths, self.object_clusters, self.object_lambdas)
        np.maximum.at(deaths, self.cluster_parents[1:], self.births[1:])
        return deaths

    @cached_property
    def stabilities(self) -> Floats:
        """The sum over a cluster's objects of how long each stays, in λ."""
        stays = np.zeros(self.n_clusters)
        with np.errstate(invalid="ignore"):  # from inf to inf is nothing
            gone = self.object_lambdas - self.births[self.object_clusters]
            parents = self.cluster_parents[1:]
            divided = (self.births[1:] - self.births[parents]) * self.cluster_sizes[1:]
        np.add.at(stays, self.object_clusters, np.nan_to_num(gone, nan=0.0, posinf=np.inf))
        np.add.at(stays, parents, np.nan_to_num(divided, nan=0.0, posinf=np.inf))
        return stays

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each cluster."""
        return pl.DataFrame(
            {
                "cluster": np.arange(self.n_clusters),
                "parent": self.cluster_parents,
                "size": self.cluster_sizes,
                "birth": self.births,
                "death": self.deaths,
                "stability": self.stabilities,
            }
        )

    def to_text(self) -> str:
        """Return how many clusters there are."""
        return (
            f"{self.n_clusters:,} clusters within each other, {len(self.object_lambdas):,} objects"
        )

    def plot(self, ax: Axes | None = None, *, selected: Any = ()) -> Axes:
        """Draw clusters from the top down, as wide as they hold objects.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        selected : sequence of int
            Clusters that are drawn in colours.
        """
        from tacit.similarity.clusters.tree_plot import plot_tree

        return plot_tree(self, ax, list(selected))

    def _html(self) -> str:
        return frame_html(self.to_frame(), title="Condensed tree", top=12, note=self.to_text())

    def __repr__(self) -> str:
        return f"<CondensedTree: {self.to_text()}>"


def condense(tree: SpanningTree, least_size: int) -> CondensedTree:
    """Return the clusters of a spanning tree that hold at least so many objects."""
    n = len(tree.cores)
    if n == 1:
        one = np.zeros(1, np.int64)
        return CondensedTree(np.array([-1]), np.zeros(1), one + 1, one, np.zeros(1))
    parent, child, height, size = _core.condense_tree(tree.a, tree.b, tree.reach, n, least_size)
    with np.errstate(divide="ignore"):
        density = 1 / height
    is_cluster = child >= n
    parents = np.append(-1, parent[is_cluster] - n).astype(np.int64)
    births = np.append(0.0, density[is_cluster])
    sizes = np.append(n, size[is_cluster])
    clusters, lambdas = np.zeros(n, np.int64), np.zeros(n)
    objects = child[~is_cluster]
    clusters[objects], lambdas[objects] = parent[~is_cluster] - n, density[~is_cluster]
    return CondensedTree(parents, births, sizes, clusters, lambdas)


class Selection:
    """Clusters that were chosen, none within another, and what that makes of objects."""

    def __init__(self, tree: CondensedTree, chosen: Ints, epsilon: float) -> None:
        self.tree, self.chosen = tree, chosen
        label = np.full(tree.n_clusters, NOISE, np.int64)
        label[chosen] = np.arange(len(chosen))
        for cluster in range(1, tree.n_clusters):
            if label[cluster] == NOISE:
                label[cluster] = label[tree.cluster_parents[cluster]]
        self.label_of = label
        # All objects are one cluster: those that leave it early are noise.
        self.least = 0.0
        if chosen.tolist() == [0]:
            self.least = 1 / epsilon if epsilon > 0 else float(tree.deaths[0])

    @classmethod
    def choose(
        cls, tree: CondensedTree, method: str, *, allow_single: bool, epsilon: float
    ) -> Selection:
        """Choose clusters by their stability ("eom"), or those that are not divided ("leaf")."""
        n, parents = tree.n_clusters, tree.cluster_parents
        divided = np.zeros(n, np.bool_)
        divided[parents[1:]] = True
        if method == "leaf":
            chosen = ~divided
        else:
            value, chosen = tree.stabilities.copy(), np.ones(n, np.bool_)
            within = np.zeros(n)
            for cluster in range(n - 1, -1, -1):
                root_only = cluster == 0 and not allow_single
                if divided[cluster] and (root_only or within[cluster] > value[cluster]):
                    value[cluster], chosen[cluster] = within[cluster], False
                if cluster:
                    within[parents[cluster]] += value[cluster]
        if not allow_single:
            chosen[0] = False
        taken = np.zeros(n, np.bool_)  # itself, or what it is part of
        for cluster in range(n):
            above = cluster > 0 and taken[parents[cluster]]
            chosen[cluster] &= not above
            taken[cluster] = above or chosen[cluster]
        clusters = np.flatnonzero(chosen)
        if epsilon > 0:
            clusters = _merge_up(tree, clusters, epsilon, allow_single)
        return cls(tree, clusters, epsilon)

    def labels(self, clusters: Ints, lambdas: Floats) -> Ints:
        """Return the labels of objects that leave clusters at some λ."""
        return np.where(lambdas >= self.least, self.label_of[clusters], NOISE)

    def probabilities(self, labels: Ints, lambdas: Floats) -> Floats:
        """Return how long objects stay in their clusters, beside those that stay longest."""
        strength = np.zeros(len(labels))
        own = labels >= 0
        deaths = self.tree.deaths[self.chosen[labels[own]]]
        usual = np.isfinite(deaths) & (deaths > 0)
        stays = np.minimum(lambdas[own], deaths)
        strength[own] = np.divide(stays, deaths, out=np.ones(len(deaths)), where=usual)
        return strength


def _merge_up(tree: CondensedTree, chosen: Ints, epsilon: float, allow_single: bool) -> Ints:
    """Replace clusters that begin at a distance below epsilon by the first that does not."""
    merged = set()
    for cluster in chosen.tolist():
        now = cluster
        while now and tree.births[now] * epsilon > 1:
            above = int(tree.cluster_parents[now])
            if above == 0 and not allow_single:
                break
            now = above
        merged.add(now)
    # Of a cluster and one within it, the outer stays.
    kept = []
    for cluster in sorted(merged):
        above = int(tree.cluster_parents[cluster])
        while above > 0 and above not in merged:
            above = int(tree.cluster_parents[above])
        if cluster == 0 or above not in merged:
            kept.append(cluster)
    return np.array(kept, np.int64)
