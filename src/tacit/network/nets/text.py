"""Nets in words, in DOT, and as graphs of networkx."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.schema.types import label_series

if TYPE_CHECKING:
    from tacit.network.nets.bayes_net import BayesNet

__all__ = ["conditional_frame", "net_dot", "net_graph", "net_line", "net_text"]


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def net_line(net: BayesNet) -> str:
    """Return the sizes of a net in one line."""
    return (
        f"Bayes net of {_many(len(net.schema), 'column')}, {_many(net.n_arcs, 'arc')}, "
        f"{_many(net.n_parameters, 'parameter')}"
    )


def net_text(net: BayesNet) -> str:
    """Return the sizes of a net, and what each column depends on."""
    lines = [net_line(net)]
    if net.report_ is not None:
        lines.append(str(net.report_))
    wide = max(map(len, net.schema.names))
    for place, column in enumerate(net.schema):
        own = ", ".join(net.schema.names[p] for p in net.parents[place])
        size = _many(column.arity, "label")
        lines.append(f"  {column.name:<{wide}}  {size:>9}{f'  ← {own}' if own else ''}")
    return "\n".join(lines)


def net_dot(net: BayesNet) -> str:
    """Return the arcs in the language of Graphviz."""
    names = [json.dumps(name, ensure_ascii=False) for name in net.schema.names]
    lines = ["digraph bayes_net {", "  node [shape=box, style=rounded, fontname=Helvetica];"]
    lines += [f"  {name};" for name in names]
    lines += [
        f"  {names[parent]} -> {names[child]};"
        for child, own in enumerate(net.parents)
        for parent in own
    ]
    return "\n".join([*lines, "}"]) + "\n"


def net_graph(net: BayesNet) -> Any:
    """Return a networkx.DiGraph: nodes have labels, parents and a table."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("graphs need networkx: pip install networkx") from error
    graph = nx.DiGraph()
    for place, column in enumerate(net.schema):
        graph.add_node(
            column.name,
            labels=tuple(column.labels),
            parents=tuple(net.schema.names[p] for p in net.parents[place]),
            table=net.table(place),
        )
    graph.add_edges_from(net.arcs)
    return graph


def conditional_frame(net: BayesNet, place: int) -> pl.DataFrame:
    """Return a column's table as people read it: parents' labels, then a column for each label."""
    parents = net.parents[place]
    sizes = [int(net.schema.arities[p]) for p in parents]
    # With no parents there is nothing to be indexed, and no -1 to be made out.
    codes = np.indices(sizes).reshape(len(parents), math.prod(sizes))
    series = [
        label_series(net.schema.labels[p]).alias(net.schema.names[p]).gather(own)
        for p, own in zip(parents, codes, strict=True)
    ]
    for label, numbers in zip(net.schema.labels[place], net.tables[place].T, strict=True):
        shown = "missing" if label is None else label
        series.append(pl.Series(f"P({net.schema.names[place]}={shown})", numbers))
    return pl.DataFrame(series)
