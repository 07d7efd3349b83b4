"""A decision tree of the selected records: the nodes, each with the codes that lead to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.explore.model_kinds.asked import column_of
from tacit.schema import exclude
from tacit.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.table import Table

__all__ = ["check", "learn"]


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request."""
    return {"target": column_of(table, request.get("target"), "target")}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], None]:
    """Return the nodes of a tree, each with the codes of columns that lead to it."""
    target = int(request["target"])
    name = table.schema.names[target]
    if table.schema.labels[target].missing is not None:  # such records teach nothing
        table = table.take(table.where({name: exclude(None)}))
    if np.count_nonzero(table.select([target]).one_way().counts) < 2:
        raise InputError(f"all selected records have the same {name}")
    tree = DecisionTreeClassifier().fit(table, name)
    nodes, schema = tree.nodes_, tree.schema_
    position = [table.schema.position(column) for column in schema.names]
    # Numbers that are labels of the table lie between thresholds of the tree.
    codes_of = [
        now.find_all(table.schema.labels[c]) for now, c in zip(schema.labels, position, strict=True)
    ]
    paths: list[dict[int, NDArray[np.bool_]] | None] = [None] * nodes.n_nodes
    parents = [-1] * nodes.n_nodes
    asked = [-1] * nodes.n_nodes
    paths[0] = {}
    for k in range(nodes.n_nodes):
        c = int(nodes.column[k])
        if c < 0:
            continue
        path = paths[k]
        assert path is not None
        for child, inside in _branches(nodes, schema, k):
            matching = inside[codes_of[c]] & (codes_of[c] >= 0)
            before = path.get(position[c], np.ones(len(matching), np.bool_))
            paths[child] = {**path, position[c]: before & matching}
            parents[child], asked[child] = k, position[c]
    codes = [table.schema[name].code(label) for label in tree.classes_.tolist()]
    found = {
        "target": target,
        "classes": codes,
        "nodes": [
            {
                "parent": parents[k],
                "column": asked[k],
                "given": {c: np.flatnonzero(x).tolist() for c, x in (paths[k] or {}).items()},
                "counts": nodes.counts[k].tolist(),
            }
            for k in range(nodes.n_nodes)
        ],
    }
    return found, None


def _branches(nodes: Any, schema: Any, k: int) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return the children of a node, and which codes of its column go to each."""
    c, first = int(nodes.column[k]), int(nodes.first[k])
    arity = len(schema.labels[c])
    low, high = int(nodes.low[k]), int(nodes.high[k])
    if nodes.complete[k]:
        ids = list(schema.values_of(c))
        codes = [*(int(schema.value_codes[v]) for v in ids), int(schema.defaults[c])]
        children = nodes.children[first : first + len(codes)].tolist()
        return [
            (child, np.arange(arity) == code) for child, code in zip(children, codes, strict=True)
        ]
    inside = np.zeros(arity, np.bool_)
    ids = list(range(low, high))
    if nodes.also[k] >= 0:
        ids.append(int(nodes.also[k]))
    inside[[int(schema.value_codes[v]) for v in ids]] = True
    one, other = nodes.children[first : first + 2].tolist()
    return [(one, inside), (other, ~inside)]
