"""How many records go along each edge of a graph: what nodes hold says it, nearly always."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.tree.nodes import Nodes

__all__ = ["edge_counts"]

Edge: TypeAlias = tuple[int, int]
_ROUNDS = 40


def edge_counts(nodes: Nodes, weights: NDArray[np.float64]) -> tuple[dict[Edge, float], set[Edge]]:
    """Return the records on each edge, and the edges of which they are certain.

    An edge is a node and which of its children; `weights` are the records of each node. What comes
    into a node is what it holds, and so is what goes out of it. In a tree that settles it. Where a
    graph's edges are left open, they are scaled in turn until both hold.
    """
    weight = weights.tolist()
    out: dict[int, list[Edge]] = {}
    into: dict[int, list[Edge]] = {}
    for node in range(nodes.n_nodes):
        for k, child in enumerate(nodes.children_of(node).tolist()):
            out.setdefault(node, []).append((node, k))
            into.setdefault(child, []).append((node, k))
    sums = [(edges, weight[node]) for ends in (into, out) for node, edges in ends.items()]
    counts: dict[Edge, float] = {}
    n_before = -1
    while len(counts) > n_before:
        n_before = len(counts)
        for edges, total in sums:
            open_edges = [edge for edge in edges if edge not in counts]
            if len(open_edges) == 1:
                rest = total - sum(counts.get(edge, 0.0) for edge in edges)
                counts[open_edges[0]] = max(0.0, rest)
    certain = set(counts)
    still = [
        ([e for e in edges if e not in certain], total - sum(counts.get(e, 0.0) for e in edges))
        for edges, total in sums
    ]
    still = [(edges, max(0.0, rest)) for edges, rest in still if edges]
    counts |= {edge: 1.0 for edges, _ in still for edge in edges}
    for _ in range(_ROUNDS if still else 0):
        for edges, rest in still:
            now = sum(counts[edge] for edge in edges)
            for edge in edges:
                counts[edge] *= rest / now if now > 0 else 0.0
    return counts, certain
