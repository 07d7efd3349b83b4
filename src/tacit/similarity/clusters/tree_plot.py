"""Pictures of clusters: condensed trees, dendrograms, and peaks among other objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.drawing import INK, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.similarity.clusters.condensed import CondensedTree

__all__ = ["plot_decision", "plot_dendrogram", "plot_tree"]

_COLOURS = ("#0b7a75", "#d1495b", "#edae49", "#30638e", "#7b5ea7", "#6b705c", "#c97b84", "#2e294e")
_REST = "#c9c6ba"
_BEYOND = 1.1  # where what never ends is drawn to, in the largest λ that is finite


def plot_tree(tree: CondensedTree, ax: Axes | None, selected: list[int]) -> Axes:
    """Draw the clusters of a tree; those that were chosen, and what is within them, in colours."""
    ax = new_axes(ax, 7.0, 5.0)
    finite = [
        values[np.isfinite(values)].max(initial=0.0)
        for values in (tree.object_lambdas, tree.births)
    ]
    end = _BEYOND * (max(finite) or 1.0)
    lambdas = np.minimum(tree.object_lambdas, end)
    births = np.minimum(tree.births, end)
    colour = dict.fromkeys(range(tree.n_clusters), _REST)
    left = np.zeros(tree.n_clusters)  # where a cluster's strip begins
    order = np.argsort(tree.object_clusters, kind="stable")
    starts = np.searchsorted(tree.object_clusters[order], np.arange(tree.n_clusters + 1))
    parts: dict[int, list[int]] = {}
    for cluster in range(1, tree.n_clusters):
        parts.setdefault(int(tree.cluster_parents[cluster]), []).append(cluster)
    for cluster in range(tree.n_clusters):
        if cluster in selected:
            colour[cluster] = _COLOURS[selected.index(cluster) % len(_COLOURS)]
        inside = parts.get(cluster, [])
        leaves = np.sort(lambdas[order[starts[cluster] : starts[cluster + 1]]])
        size = int(tree.cluster_sizes[cluster])
        ends = np.concatenate(([births[cluster]], leaves))
        widths = size - np.arange(len(ends))
        if inside:
            ends = np.append(ends, births[inside[0]])
            widths = np.append(widths, widths[-1])
        middle = left[cluster] + size / 2
        ax.fill_betweenx(
            ends, middle - widths / 2, middle + widths / 2, color=colour[cluster], linewidth=0
        )
        at = middle - sum(int(tree.cluster_sizes[part]) for part in inside) / 2
        for part in inside:
            left[part] = at
            at += int(tree.cluster_sizes[part])
            colour[part] = colour[cluster]
    ax.set(xlabel="objects", ylabel="density λ (1 / distance)", ylim=(end, 0))
    ax.set_title(f"{tree.n_clusters:,} clusters within each other", color=INK)
    return ax


def plot_dendrogram(tree: NDArray[np.float64], n_clusters: int, ax: Axes | None, top: int) -> Axes:
    """Draw the last merges of a tree, those within clusters in colours."""
    from scipy.cluster import hierarchy

    ax = new_axes(ax, 8.0, 4.5)
    n = len(tree) + 1
    if n > 1:
        ordered = _by_height(tree)
        heights = ordered[:, 2]
        cut = heights[n - n_clusters] if 1 < n_clusters <= n else np.inf
        hierarchy.set_link_color_palette(list(_COLOURS))
        try:
            hierarchy.dendrogram(
                ordered,
                p=top,
                truncate_mode="lastp",
                color_threshold=cut,
                above_threshold_color=_REST,
                no_labels=n > top,
                ax=ax,
            )
        finally:
            hierarchy.set_link_color_palette(None)
    ax.set(xlabel="objects", ylabel="height of the merge")
    ax.set_title(f"{n_clusters:,} clusters of {n:,} objects", color=INK)
    return ax


def _by_height(tree: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the merges in the order of their heights; one comes after those it contains."""
    n = len(tree) + 1
    order = np.argsort(tree[:, 2], kind="stable")
    number = np.arange(n + len(tree), dtype=np.float64)
    number[n + order] = n + np.arange(len(tree))
    ordered = tree[order]
    ordered[:, :2] = np.sort(number[ordered[:, :2].astype(np.int64)], axis=1)
    return ordered


def plot_decision(
    radii: NDArray[np.float64],
    separations: NDArray[np.float64],
    centers: NDArray[np.int64],
    ax: Axes | None,
) -> Axes:
    """Draw how dense objects are against how far anything denser is; centres in colours."""
    ax = new_axes(ax, 6.0, 4.5)
    least = radii[radii > 0].min(initial=np.inf)
    density = 1 / np.maximum(radii, least if np.isfinite(least) else 1.0)
    ax.scatter(density, separations, s=6, color=_REST, linewidths=0, rasterized=True)
    for k, center in enumerate(centers.tolist()):
        colour = _COLOURS[k % len(_COLOURS)]
        ax.scatter(density[center], separations[center], s=36, color=colour)
        ax.annotate(str(k), (density[center], separations[center]), color=INK, fontsize=8)
    ax.set(xlabel="density (1 / distance)", ylabel="distance to what is denser", xscale="log")
    ax.set_title(f"{len(centers):,} peaks among {len(radii):,} objects", color=INK)
    return ax
