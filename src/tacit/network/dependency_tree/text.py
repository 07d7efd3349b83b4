"""Dependency trees in words, frames and graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.network.density import shorten
from tacit.network.dependency_tree.rooted import Rooted, root_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.dependency_tree import DependencyTree

__all__ = [
    "by_weight",
    "edges_frame",
    "middle_of",
    "nats",
    "strengths",
    "tree_dot",
    "tree_graph",
    "tree_text",
]


def edges_frame(tree: DependencyTree) -> pl.DataFrame:
    """Return the edges, the heaviest first; of equals, earlier columns first."""
    names = tree.column_names_
    order = np.argsort(-tree.weights_, kind="stable")
    ends = tree.edges_[order].tolist()
    return pl.DataFrame(
        {
            "from": pl.Series([names[a] for a, _ in ends], dtype=pl.String),
            "to": pl.Series([names[b] for _, b in ends], dtype=pl.String),
            "weight": tree.weights_[order],
            "low": tree.intervals_[order, 0],
            "high": tree.intervals_[order, 1],
        }
    )


def nats(weight: float) -> str:
    """Write an amount of information.

    >>> nats(0.123456), nats(float("inf")), nats(1e-7)
    ('0.123', '∞', '1e-07')
    """
    if not np.isfinite(weight):
        return "∞"
    return f"{weight:.3f}" if weight >= 5e-4 or weight == 0 else f"{weight:.1g}"


def middle_of(n: int, edges: NDArray[np.int64]) -> Rooted:
    """Return the tree as seen from its middle, from where no column is far."""
    ends = root_tree(n, edges, 0).order[-1]
    tree = root_tree(n, edges, int(ends))
    path = tree.path_to(int(tree.order[-1]))
    return root_tree(n, edges, path[(len(path) - 1) // 2])


def by_weight(tree: DependencyTree, rooted: Rooted) -> list[list[int]]:
    """Return the children of each column, the heaviest edge first."""
    weights = tree.weights_
    return [sorted(below, key=lambda c: (-weights[rooted.edge[c]], c)) for below in rooted.children]


def tree_text(tree: DependencyTree, top: int | None) -> str:
    """Return a line about the tree, and then a line for each column, below its neighbour."""
    names = tree.column_names_
    rooted = middle_of(len(names), tree.edges_)
    children = by_weight(tree, rooted)
    lines, waiting = [_headline(tree)], [(rooted.root, 0)]
    while waiting:
        column, depth = waiting.pop()
        edge = int(rooted.edge[column])
        weight = f"  {nats(float(tree.weights_[edge]))}" if edge >= 0 else ""
        lines.append(f"{'  ' * depth}{' '.join(names[column].split())}{weight}")
        waiting += [(child, depth + 1) for child in reversed(children[column])]
    return shorten(lines, top, "column")


def _headline(tree: DependencyTree) -> str:
    n, numbers = len(tree.column_names_), int(tree._layout.numeric.sum())
    kinds = {0: "", n: " of numbers"}.get(numbers, f", {numbers:,} of them numbers")
    total = nats(float(tree.weights_.sum()))
    read = "all pairs read in full" if tree.edge_usage_ == 1 else f"{tree.edge_usage_:.1%} read"
    return (
        f"Dependency tree of {n:,} column{'' if n == 1 else 's'}{kinds}; edges have {total} nats "
        f"in all; {read}"
    )


def tree_dot(tree: DependencyTree) -> str:
    """Return the tree in the language of Graphviz; edges are the wider the heavier."""
    lines = [
        "graph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor="#f3f6fa", color="#8294a8", '
        'fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#2f6690"];',
    ]
    for column, name in enumerate(tree.column_names_):
        colour = ', fillcolor="#fbf3e6"' if tree._layout.numeric[column] else ""
        lines.append(f'  n{column} [label="{_escape(name)}"{colour}];')
    for (a, b), weight, width in zip(
        tree.edges_.tolist(), tree.weights_.tolist(), strengths(tree.weights_), strict=True
    ):
        lines.append(f'  n{a} -- n{b} [label="{nats(weight)}", penwidth={0.6 + 4 * width:.2f}];')
    return "\n".join([*lines, "}", ""])


def strengths(weights: NDArray[np.float64]) -> list[float]:
    """Return weights as fractions of the largest one that is finite."""
    finite = weights[np.isfinite(weights)]
    most = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    return np.minimum(weights / most, 1.0).tolist()  # type: ignore[no-any-return]


def _escape(text: str) -> str:
    line = " ".join(text.split())
    return line.replace("\\", r"\\").replace('"', r"\"")


def tree_graph(tree: DependencyTree) -> Any:
    """Return the tree as a networkx graph: names, and weight, low and high of edges."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx: pip install networkx") from error
    names = tree.column_names_
    graph = nx.Graph()
    for column, name in enumerate(names):
        graph.add_node(name, numeric=bool(tree._layout.numeric[column]))
    for (a, b), weight, (low, high) in zip(
        tree.edges_.tolist(), tree.weights_.tolist(), tree.intervals_.tolist(), strict=True
    ):
        graph.add_edge(names[a], names[b], weight=weight, low=low, high=high)
    return graph
