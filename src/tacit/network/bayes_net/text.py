"""Nets in words, in DOT, and as graphs of networkx."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.network.density import shorten
from tacit.schema.types import label_series

if TYPE_CHECKING:
    from tacit.network.bayes_net.net_estimator import NetEstimator

__all__ = ["arcs_frame", "conditional_frame", "net_dot", "net_graph", "net_line", "net_text"]


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def net_line(net: NetEstimator) -> str:
    """Return the sizes of a net in one line."""
    return (
        f"{net._noun} of {_many(len(net.schema_), 'column')}, {_many(net.n_arcs_, 'arc')}, "
        f"{_many(net.n_parameters_, 'parameter')}"
    )


def net_text(net: NetEstimator, top: int | None) -> str:
    """Return the sizes of a net, how it was learnt, and what columns depend on."""
    names, lines = net.column_names_, [""]
    width = max(map(len, names))
    for column, parents in zip(net.schema_, net.parents_, strict=True):
        above = ", ".join(names[p] for p in parents)
        size = _many(column.arity, "label")
        lines.append(f"  {column.name:<{width}}  {size:>9}{f'  ← {above}' if above else ''}")
    learning = getattr(net, "learning_", None)
    head = [net_line(net)] if learning is None else [net_line(net), str(learning)]
    return "\n".join(head) + shorten(lines, top, "column")


def arcs_frame(net: NetEstimator) -> pl.DataFrame:
    """Return a row for each arc."""
    ends = list(zip(*net.arcs_, strict=True)) or [(), ()]
    return pl.DataFrame(
        [pl.Series(name, end, pl.String) for name, end in zip(("from", "to"), ends, strict=True)]
    )


def net_dot(net: NetEstimator) -> str:
    """Return the arcs in the language of Graphviz."""
    names = {name: json.dumps(name, ensure_ascii=False) for name in net.column_names_}
    lines = ["digraph bayes_net {", "  node [shape=box, style=rounded, fontname=Helvetica];"]
    lines += [f"  {name};" for name in names.values()]
    lines += [f"  {names[parent]} -> {names[child]};" for parent, child in net.arcs_]
    return "\n".join([*lines, "}"]) + "\n"


def net_graph(net: NetEstimator) -> Any:
    """Return a networkx.DiGraph: nodes have labels, parents and a table."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("graphs need networkx: pip install networkx") from error
    graph = nx.DiGraph()
    for column, parents in zip(net.schema_, net.parents_, strict=True):
        graph.add_node(
            column.name,
            labels=tuple(column.labels),
            parents=tuple(net.column_names_[p] for p in parents),
            table=net.table(column.name),
        )
    graph.add_edges_from(net.arcs_)
    return graph


def conditional_frame(net: NetEstimator, position: int) -> pl.DataFrame:
    """Return a column's table as people read it: parents' labels, then a column for each label."""
    schema, parents = net.schema_, net.parents_[position]
    sizes = [int(schema.arities[p]) for p in parents]
    # With no parents there is nothing to be indexed, and no -1 to be made out.
    codes = np.indices(sizes).reshape(len(parents), math.prod(sizes))
    series = [
        label_series(schema.labels[p]).alias(schema.names[p]).gather(column)
        for p, column in zip(parents, codes, strict=True)
    ]
    for label, numbers in zip(schema.labels[position], net.tables_[position].T, strict=True):
        shown = "missing" if label is None else label
        series.append(pl.Series(f"P({schema.names[position]}={shown})", numbers))
    return pl.DataFrame(series)
