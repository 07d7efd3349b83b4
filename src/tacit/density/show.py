"""Mixtures of trees in words and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.density.clusters import cell_counts
from tacit.density.layout import orient
from tacit.network.density import shorten
from tacit.network.dependency_tree.picture import forest_scene
from tacit.network.dependency_tree.text import nats
from tacit.network.structure.spanning import sort_edges
from tacit.plot.theme import FILL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters
    from tacit.density.tree_mixture import TreeMixture
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.plot.scene import Scene

    Floats = NDArray[np.float64]

__all__ = ["edge_frame", "mixture_scene", "mixture_text"]


class EdgeFrame(NamedTuple):
    """What trees join. Edges have a < b and are in lexicographic order."""

    blocks: list[tuple[int, ...]]  # columns that are taken together, in lexicographic order
    edges: NDArray[np.int64]  # positions of blocks
    weights: Floats  # in nats a record
    held: Floats  # the weight of clusters that have the edge
    names: list[str]  # of blocks


def edge_frame(mix: TreeMixture) -> EdgeFrame:
    """Return all blocks and edges, of all trees."""
    columns = [
        [tuple(some.tolist()) for some in group.layout.blocks.members] for group in mix._fitted()
    ]
    blocks = sorted({block for held in columns for block in held})
    position = {block: k for k, block in enumerate(blocks)}
    said: dict[tuple[int, int], list[float]] = {}
    for group, expected, known in zip(mix._fitted(), mix._expected, columns, strict=True):
        total = float(sum(counts.totals.sum() for counts in mix._expected))
        weight = float(group.weights.sum())
        gains = _edge_gains(group, expected) / total
        for (a, b), gain in zip(group.layout.edges.tolist(), gains.tolist(), strict=True):
            ends = sorted((position[known[a]], position[known[b]]))
            entry = said.setdefault((ends[0], ends[1]), [0.0, 0.0])
            entry[0] += gain
            entry[1] += weight
    edges = sort_edges(np.array(list(said), np.int64).reshape(-1, 2))
    values = np.array([said[a, b] for a, b in edges.tolist()]).reshape(-1, 2)
    names = [" & ".join(mix.column_names_[c] for c in block) for block in blocks]
    return EdgeFrame(blocks, edges, values[:, 0], values[:, 1], names)


def _edge_gains(group: TreeClusters, expected: ExpectedCounts) -> Floats:
    """Return for each edge the mutual information within clusters, times their records."""
    layout = group.layout
    counts = cell_counts(layout, expected)
    gains: list[float] = []
    for column in np.flatnonzero(layout.parents >= 0).tolist():
        table = layout.table(counts, column)
        total, above, below = table.sum(axis=(0, 1)), table.sum(axis=1), table.sum(axis=0)
        gains.append(
            _times_log(table).sum() - _times_log(above).sum() - _times_log(below).sum()
            + _times_log(total).sum()
        )  # fmt: skip
    positive: Floats = np.maximum(np.array(gains), 0.0)
    return positive


def _times_log(x: Floats) -> Floats:
    positive = np.maximum(x, 1e-300)
    product: Floats = np.where(x > 0, x * np.log(positive), 0.0)
    return product


def _headline(mix: TreeMixture) -> str:
    n, groups = len(mix.column_names_), mix._fitted()
    trees = "one tree" if len(groups) == 1 else f"{len(groups):,} trees"
    clusters = f"{mix.n_clusters_:,} cluster{'' if mix.n_clusters_ == 1 else 's'}"
    return f"{clusters} of {n:,} column{'' if n == 1 else 's'}, {trees}"


def mixture_text(mix: TreeMixture, top: int | None) -> str:
    """Return a line about the mixture, and one for each edge, the heaviest first."""
    frame = mix.to_frame()
    lines = [f"Mixture of dependency trees: {_headline(mix)}; what joined columns say, in nats"]
    for one, other, weight, held in frame.iter_rows():
        part = "" if held > 1 - 1e-9 else f"  (in {held:.0%})"
        lines.append(f"{nats(weight)}  {' '.join(one.split())} – {' '.join(other.split())}{part}")
    found = edge_frame(mix)
    alone = set(range(len(found.blocks))) - set(found.edges.ravel().tolist())
    lines += [f"alone  {found.names[k]}" for k in sorted(alone) if len(found.blocks[k]) > 1]
    return shorten(lines, top, "edge")


def mixture_scene(mix: TreeMixture) -> Scene:
    """Lay out the heaviest edges that make a forest; columns that nothing joins are left out."""
    _, edges, weights, held, every = edge_frame(mix)
    kept, sets = [], list(range(len(every)))

    def find(column: int) -> int:
        while sets[column] != column:
            sets[column] = sets[sets[column]]
            column = sets[column]
        return column

    for e in np.argsort(-weights, kind="stable").tolist():
        a, b = (find(int(c)) for c in edges[e])
        if a != b:
            sets[a] = b
            kept.append(e)
    joined = np.unique(edges[kept]) if kept else np.arange(len(every))
    position = {int(c): k for k, c in enumerate(joined.tolist())}
    renamed = np.array([[position[int(c)] for c in edges[e]] for e in kept]).reshape(-1, 2)
    parents = orient(len(joined), renamed.astype(np.int64)).tolist()
    edge_of = {(min(a, b), max(a, b)): e for e, (a, b) in zip(kept, renamed.tolist(), strict=True)}
    edge = [
        -1 if parent < 0 else edge_of[min(parent, c), max(parent, c)]
        for c, parent in enumerate(parents)
    ]
    names = [every[int(c)] for c in joined]
    note = "mutual information of neighbours given the cluster, in nats"
    alone = len(every) - len(names)
    if alone:
        note += f"; {alone:,} column{' is' if alone == 1 else 's are'} joined to none"
    if len(kept) < len(edges):
        note += f"; {len(kept):,} of {len(edges):,} edges"
    return forest_scene(
        names,
        parents,
        [0.0 if e < 0 else float(weights[e]) for e in edge],
        f"Mixture of dependency trees: {_headline(mix)}",
        note,
        fills=[FILL] * len(names),
        titles=["" if e < 0 else _edge_title(weights[e], held[e]) for e in edge],
    )


def _edge_title(weight: float, held: float) -> str:
    part = "" if held > 1 - 1e-9 else f", in clusters that weigh {held:.0%}"
    return f"{nats(float(weight))} nats{part}"
