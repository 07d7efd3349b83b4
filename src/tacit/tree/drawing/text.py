"""Trees as text, and their leaves as rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.plot.html import Result
from tacit.tree.drawing.conditions import Conditions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.tree.base import TreeEstimator
    from tacit.tree.nodes import Nodes

__all__ = ["LeafRule", "leaf_rules", "rules_frame", "tree_text"]

_MOST_WAYS = 50  # to one leaf of a graph that a rule lists
_MOST_CLASSES = 4  # that a headline lists


@dataclass(frozen=True)
class LeafRule(Result):
    """What a leaf says of the records that end in it.

    Attributes
    ----------
    leaf : int
        The number of its node.
    conditions : tuple of tuples of str
        The ways that lead to it, each a tuple of conditions; one way in a tree, of a graph at most
        fifty.
    target : str
    prediction
        The most probable class, or the mean.
    probability : float or None
        That of the class; None for a mean.
    records : float
        The (weighted) number of training records.
    """

    leaf: int
    conditions: tuple[tuple[str, ...], ...]
    target: str
    prediction: Any
    probability: float | None
    records: float

    @property
    def condition(self) -> str:
        """The conditions as one line."""
        ways = [" and ".join(way) for way in self.conditions]
        if len(ways) < 2:
            return "".join(ways)
        return " or ".join(f"({way})" if " and " in way else way for way in ways)

    def __str__(self) -> str:
        then = f"{self.target} = {_value(self.prediction)} ({_records(self.records)}"
        then += ")" if self.probability is None else f", {percent(self.probability)})"
        return f"if {self.condition} then {then}" if self.condition else then


def percent(probability: float) -> str:
    """Return a probability in per cent; only what is sure is 100 %.

    >>> percent(0.914), percent(0.999), percent(1.0), percent(0.0004)
    ('91 %', '> 99 %', '100 %', '< 1 %')
    """
    if 0.995 <= probability < 1:
        return "> 99 %"
    if 0 < probability < 0.005:
        return "< 1 %"
    return f"{100 * probability:.0f} %"


def _records(weight: float) -> str:
    text = f"{weight:,.0f}" if weight == int(weight) else f"{weight:,.6g}"
    return f"{text} record" if text == "1" else f"{text} records"


def _value(prediction: Any) -> str:
    return f"{prediction:.6g}" if isinstance(prediction, float) else str(prediction)


class _NodeTexts:
    """What the nodes of a model say, whatever it predicts."""

    def __init__(self, model: TreeEstimator) -> None:
        fitted = model._fitted()
        self.nodes = fitted.nodes
        self.is_class = hasattr(model, "classes_")
        self.target = fitted.target_name or ("class" if self.is_class else "y")
        if self.is_class:
            self.records = self.nodes.counts.sum(axis=1)
            self.probabilities = fitted.probabilities
            self.classes = model.classes_
            self.best = self.probabilities.argmax(axis=1)
        else:
            self.records = self.nodes.counts[:, 0]
            self.means = fitted.means

    def prediction(self, node: int) -> Any:
        if self.is_class:
            label = self.classes[self.best[node]]
            return label.item() if isinstance(label, np.generic) else label
        return float(self.means[node])

    def probability(self, node: int) -> float | None:
        return float(self.probabilities[node, self.best[node]]) if self.is_class else None

    def line(self, node: int) -> str:
        probability = self.probability(node)
        sure = "" if probability is None else f" {percent(probability)}"
        return f"{_value(self.prediction(node))}{sure} ({_records(self.records[node])})"

    def headline(self) -> str:
        if not self.is_class:
            return f"{self.target}: {self.line(0)}"
        frequencies = self.nodes.counts[0] / self.records[0]
        order = np.argsort(-frequencies, kind="stable")
        shown = [f"{self.classes[k]} {percent(frequencies[k])}" for k in order[:_MOST_CLASSES]]
        more = f", … ({len(order)} classes)" if len(order) > _MOST_CLASSES else ""
        return f"{self.target}: {', '.join(shown)}{more} ({_records(self.records[0])})"


def tree_text(model: TreeEstimator, max_depth: int | None = None) -> str:
    """Return a tree as indented text; what a graph says twice is said once and referred to."""
    limit = None if max_depth is None else check_int(max_depth, "max_depth", 1)
    texts = _NodeTexts(model)
    nodes, conditions = texts.nodes, Conditions(texts.nodes, model.schema_)
    shared = np.bincount(nodes.children, minlength=nodes.n_nodes) > 1
    lines, seen = [texts.headline()], set()
    stack = _below(conditions, 0, 0)
    while stack:
        node, depth, condition = stack.pop()
        is_leaf = nodes.column[node] < 0
        name = f"{'leaf' if is_leaf else 'node'} {node}"
        text = "  " * depth + condition
        if node in seen:
            lines.append(f"{text} → {name}")
            continue
        if shared[node]:
            seen.add(node)
            text = f"{text}: {name}"
        if is_leaf:
            lines.append(f"{text}: {texts.line(node)}")
        elif limit is not None and depth + 1 >= limit:
            lines.append(f"{text}: … {texts.line(node)}")
        else:
            lines.append(text)
            stack += _below(conditions, node, depth + 1)
    return "\n".join(lines)


def _below(conditions: Conditions, node: int, depth: int) -> list[tuple[int, int, str]]:
    """Return the children of a node as they go on a stack: what is shown first on top."""
    nodes = conditions.nodes
    if nodes.column[node] < 0:
        return []
    children, branches = nodes.children_of(node).tolist(), conditions.branches(node)
    return [(children[k], depth, branches[k]) for k in reversed(conditions.order(node))]


def leaf_rules(model: TreeEstimator) -> list[LeafRule]:
    """Return a rule for each leaf of a fitted tree or graph."""
    texts = _NodeTexts(model)
    conditions = Conditions(texts.nodes, model.schema_)
    is_tree = len(texts.nodes.children) == texts.nodes.n_nodes - 1
    ways = _tree_ways(conditions) if is_tree else _graph_ways(conditions)
    return [
        LeafRule(
            leaf,
            ways[leaf],
            texts.target,
            texts.prediction(leaf),
            texts.probability(leaf),
            float(texts.records[leaf]),
        )
        for leaf in np.flatnonzero(texts.nodes.leaves).tolist()
    ]


Allowed: TypeAlias = "dict[int, NDArray[np.bool_]]"  # codes of columns


def _tree_ways(conditions: Conditions) -> dict[int, tuple[tuple[str, ...], ...]]:
    """Return the way to each leaf of a tree."""
    nodes = conditions.nodes
    ways: dict[int, tuple[tuple[str, ...], ...]] = {}
    stack: list[tuple[int, Allowed]] = [(0, {})]
    while stack:
        node, allowed = stack.pop()
        if nodes.column[node] < 0:
            ways[node] = (_texts(conditions, allowed),)
            continue
        column = int(nodes.column[node])
        for child, here in zip(nodes.children_of(node), conditions.allowed(node), strict=True):
            stack.append((int(child), _narrowed(allowed, column, here)))
    return ways


def _narrowed(allowed: Allowed, column: int, here: NDArray[np.bool_]) -> Allowed:
    return allowed | {column: allowed[column] & here if column in allowed else here}


def _texts(conditions: Conditions, allowed: Allowed) -> tuple[str, ...]:
    some = ((column, mask) for column, mask in allowed.items() if not mask.all())
    return tuple(conditions.text(column, mask) for column, mask in some)


def _graph_ways(conditions: Conditions) -> dict[int, tuple[tuple[str, ...], ...]]:
    """Return the ways to each leaf of a graph, from which there may be very many."""
    parents = _parents(conditions.nodes)
    ways: dict[int, tuple[tuple[str, ...], ...]] = {}
    for leaf in np.flatnonzero(conditions.nodes.leaves).tolist():
        every = (_way_text(conditions, way) for way in _ways(parents, leaf))
        possible = [way for way in islice(every, _MOST_WAYS * 20) if way is not None]
        ways[leaf] = tuple(dict.fromkeys(possible))[:_MOST_WAYS]
    return ways


def _parents(nodes: Nodes) -> list[list[tuple[int, int]]]:
    """Return for each node its parents, and which of their children it is."""
    parents: list[list[tuple[int, int]]] = [[] for _ in range(nodes.n_nodes)]
    for node in np.flatnonzero(nodes.column >= 0).tolist():
        for branch, child in enumerate(nodes.children_of(node).tolist()):
            parents[child].append((node, branch))
    return parents


def _ways(parents: list[list[tuple[int, int]]], leaf: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the ways from the root to a node: nodes, and which of their children is next."""
    stack: list[tuple[int, Any]] = [(leaf, None)]  # the way is a linked list, with common tails
    while stack:
        node, way = stack.pop()
        if node == 0:
            steps = []
            while way is not None:
                step, way = way
                steps.append(step)
            yield steps
            continue
        for parent, branch in reversed(parents[node]):
            stack.append((parent, ((parent, branch), way)))


def _way_text(conditions: Conditions, way: list[tuple[int, int]]) -> tuple[str, ...] | None:
    """Return the conditions on a way, one for each column; None if no record can go it."""
    allowed: Allowed = {}
    for node, branch in way:
        column = int(conditions.nodes.column[node])
        allowed = _narrowed(allowed, column, conditions.allowed(node)[branch])
        if not allowed[column].any():
            return None
    return _texts(conditions, allowed)


def rules_frame(model: TreeEstimator) -> pl.DataFrame:
    """Return the rules of a model as a frame, one row a leaf."""
    rules = leaf_rules(model)
    try:
        predictions = pl.Series([rule.prediction for rule in rules])
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise InputError(f"classes of several types do not make a column: {error}") from None
    columns: dict[str, Any] = {
        "leaf": [rule.leaf for rule in rules],
        "conditions": [rule.condition for rule in rules],
        "prediction": predictions,
        "records": [rule.records for rule in rules],
    }
    if rules[0].probability is not None:
        columns["probability"] = [rule.probability for rule in rules]
    return pl.DataFrame(columns)
