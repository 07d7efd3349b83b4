"""The dependency web: which columns predict which, by a tree for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.explore.model_kinds.graph import draw_graph
from tacit.tree import DependencyNetwork

if TYPE_CHECKING:
    from tacit.table import Table

__all__ = ["check", "learn"]

_MOST_ARCS = 150
_SIGNS = {"raises": 1, "lowers": -1, "varies": 0}


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request: there are none."""
    return {}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], None]:
    """Return the strongest arcs of a dependency network, laid out."""
    if len(table.schema) < 2:
        raise InputError("there is one column only")
    network = DependencyNetwork(discretise=None).fit(table)
    strongest = network.strongest(_MOST_ARCS)
    at = table.schema.position
    arcs = [(at(a), at(b)) for a, b in strongest.select("predictor", "target").iter_rows()]
    gains = strongest["gain"].to_list()
    largest = max([*gains, 1e-300])
    signs = [_SIGNS[word] for word in strongest["influence"].to_list()]
    graph = draw_graph(table.schema, arcs, [max(g, 0.0) / largest for g in gains], signs)
    facts = zip(graph["arrows"], gains, strongest["influence"], strongest["change"], strict=True)
    for arrow, gain, influence, change in facts:
        arrow.update(gain=gain, influence=influence, change=change)
    return {"graph": graph, "arcs": len(network.arcs_.gain)}, None
