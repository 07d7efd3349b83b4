"""A picture of a condensed tree: clusters from the top down, as wide as they hold objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.drawing import INK, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.similarity.clusters.condensed import CondensedTree

__all__ = ["plot_tree"]

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
