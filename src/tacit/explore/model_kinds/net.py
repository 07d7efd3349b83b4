"""A Bayes net: arcs, and the distributions of all columns given evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.explore.model_kinds.asked import code_of, column_of
from tacit.explore.model_kinds.graph import draw_graph
from tacit.network import BayesNet

if TYPE_CHECKING:
    from tacit.table import Table

__all__ = ["ask", "check", "learn"]

_SECONDS = 60.0  # of search; what was found until then is shown
_MOST_BOXES_ARCS = 400


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request: there are none."""
    return {}


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], BayesNet]:
    """Return the arcs of a net, laid out, and the marginals without evidence."""
    net = BayesNet(discretise=None, n_restarts=3, max_seconds=_SECONDS, random_state=0).fit(table)
    at = table.schema.position
    arcs = [(at(a), at(b)) for a, b in net.arcs_]
    shown = arcs[:_MOST_BOXES_ARCS]
    graph = draw_graph(table.schema, shown, [0.12] * len(shown), [1] * len(shown))
    return {
        "graph": graph,
        "arcs": len(arcs),
        "interrupted": net.interrupted_,
        **_distributions(table, net, {}),
    }, net


def ask(table: Table, net: BayesNet, question: dict[str, Any]) -> dict[str, Any]:
    """Return the marginals given evidence: ``{"evidence": {column: code}}``."""
    evidence = question.get("evidence")
    if not isinstance(evidence, dict):
        raise InputError("evidence must be an object of columns and codes")
    given: dict[int, int] = {}
    for name, code in evidence.items():
        good = isinstance(name, str) and name.isdecimal() and len(name) < 10
        column = column_of(table, int(name) if good else None, "evidence")
        given[column] = code_of(table, column, code, "evidence")
    return _distributions(table, net, given)


def _distributions(table: Table, net: BayesNet, given: dict[int, int]) -> dict[str, Any]:
    """Return the probabilities of the labels of each column, and that of the evidence."""
    schema = table.schema
    found = net.marginals({schema.names[c]: schema.labels[c][k] for c, k in given.items()})
    marginals = []
    evidence = 0.0
    for c, name in enumerate(schema.names):
        if c in given:
            marginals.append([float(k == given[c]) for k in range(len(schema.labels[c]))])
            continue
        distribution = found[name]
        evidence = distribution.log_evidence
        [column] = distribution.columns
        p = dict(zip(column.labels, distribution.probabilities.tolist(), strict=True))
        marginals.append([p.get(label, 0.0) for label in schema.labels[c]])
    return {"marginals": marginals, "logEvidence": evidence}
