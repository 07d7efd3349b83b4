"""A tree or graph as text for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.tree.drawing.captions import captions_of
from tacit.tree.drawing.conditions import Conditions
from tacit.tree.drawing.edge_counts import edge_counts

if TYPE_CHECKING:
    from tacit.tree.nodes import Nodes

__all__ = ["dot_escape", "tree_dot"]


def tree_dot(model: Any) -> str:
    """Return a fitted tree or graph in the language of Graphviz.

    Each node is drawn once, even where several branches of a graph lead to it.
    """
    nodes: Nodes = model.nodes_
    captions, conditions = captions_of(model), Conditions(nodes, model.schema_)
    lines = [
        "digraph tree {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded", fontname="Helvetica", color="#8a8f98"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#8a8f98"];',
    ]
    total = float(captions.weights[0]) or 1.0
    counts, _ = edge_counts(nodes, captions.weights)
    for node in range(nodes.n_nodes):
        title, note, _ = captions.box(node)
        texts = [title + (f" ({note})" if note else ""), f"{captions.count(node)} records"]
        colour = f', color="{captions.leaf(node)[2]}"' if nodes.column[node] < 0 else ""
        label = r"\n".join(map(dot_escape, texts))
        lines.append(
            f'  n{node} [label="{label}", tooltip="{dot_escape(captions.details(node))}"{colour}];'
        )
    for node in range(nodes.n_nodes):
        if nodes.column[node] < 0:
            continue
        below = nodes.children_of(node).tolist()
        texts = conditions.short_branches(node)
        for k, (child, text) in enumerate(zip(below, texts, strict=True)):
            width = 1 + 5 * counts[node, k] / total
            lines.append(
                f'  n{node} -> n{child} [label="{dot_escape(text)}", penwidth={width:.2f}];'
            )
    return "\n".join([*lines, "}", ""])


def dot_escape(text: str) -> str:
    r"""Escape what means something between double quotes; a label is on one line.

    >>> print(dot_escape('a "b" \\n c'))
    a \"b\" \\n c
    """
    line = " ".join(text.split())
    return line.replace("\\", r"\\").replace('"', r"\"")
