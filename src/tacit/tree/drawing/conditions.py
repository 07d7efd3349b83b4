"""What splits ask, in words: ``age < 29.5``, ``colour = red``, ``colour ≠ red``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.tree.nodes import Nodes

__all__ = ["Conditions", "number_text"]

_MOST = 8  # labels that are listed


class Conditions:
    """The conditions of a tree's splits; `schema` is that of the ids in the nodes."""

    def __init__(self, nodes: Nodes, schema: Schema) -> None:
        self.nodes = nodes
        self.schema = schema
        self._edges: dict[int, Any] = {}  # of columns in bins

    @cached_property
    def _ordered(self) -> set[int]:
        """The columns that are split at thresholds."""
        return set(self.nodes.column[self.nodes.left >= 0].tolist())

    def allowed(self, node: int) -> list[NDArray[np.bool_]]:
        """Return which codes of a split's column lead to each of its children."""
        nodes, schema = self.nodes, self.schema
        column = int(nodes.column[node])
        begin, default = int(schema.offsets[column]), int(schema.defaults[column])
        ids = np.arange(nodes.low[node], nodes.high[node]) - begin
        if nodes.also[node] >= 0:
            ids = np.append(ids, nodes.also[node] - begin)
        codes = ids + (ids >= default)
        inside = np.zeros(int(schema.arities[column]), np.bool_)
        if not nodes.complete[node]:
            inside[codes] = True
            return [inside, ~inside]
        each = []
        for code in [*codes.tolist(), default]:
            one = inside.copy()
            one[code] = True
            each.append(one)
        return each

    def order(self, node: int) -> list[int]:
        """Return a node's branches as they are shown: low before high, one before the rest."""
        nodes, column = self.nodes, int(self.nodes.column[node])
        masks = self.allowed(node)
        if nodes.complete[node]:
            return sorted(range(len(masks)), key=lambda k: int(np.argmax(masks[k])))
        inside = masks[0]
        if nodes.left[node] >= 0:
            return [0, 1] if inside[0] else [1, 0]
        rest = np.count_nonzero(inside) > 1 and int(self.schema.arities[column]) > 2
        return [1, 0] if rest else [0, 1]

    def branches(self, node: int) -> list[str]:
        """Return the conditions of a node's children, in order."""
        column = int(self.nodes.column[node])
        return [self.text(column, mask) for mask in self.allowed(node)]

    def short_branches(self, node: int) -> list[str]:
        """Return the same beside a node that says the column's name: without it."""
        name = self.schema.names[int(self.nodes.column[node])]
        return [
            text.removeprefix(f"{name} ")
            if text.startswith(f"{name} ")
            else text.replace(f" {name} ", " … ", 1)
            for text in self.branches(node)
        ]

    def text(self, column: int, allowed: NDArray[np.bool_]) -> str:
        """Return in words that a column has one of the allowed codes."""
        name, labels = self.schema.names[column], self.schema.labels[column]
        if column in self._ordered or labels.edges is not None:
            text = _range_text(name, labels, allowed)
            if text is not None:
                return text
        return _set_text(name, labels, allowed)


def _range_text(name: str, labels: Any, allowed: NDArray[np.bool_]) -> str | None:
    """Return a condition on a range of ordered labels, or None where it is none."""
    n = len(labels) if labels.missing is None else labels.missing
    known, missing = np.flatnonzero(allowed[:n]), bool(allowed[n:].any())
    if len(known) == 0:
        return f"{name} is missing"
    begin, end = int(known[0]), int(known[-1]) + 1
    if end - begin != len(known):
        return None
    if (begin, end) == (0, n):
        return f"{name} is anything" if missing or n == len(labels) else f"{name} is known"
    between = _bins_text if labels.edges is not None else _labels_text
    text = between(name, labels.edges or labels, begin, end, n)
    return f"{text} or missing" if missing else text


def _bins_text(name: str, edges: Any, begin: int, end: int, n: int) -> str:
    if begin == 0:
        return f"{name} < {number_text(edges[end - 1])}"
    if end == n:
        return f"{name} ≥ {number_text(edges[begin - 1])}"
    return f"{number_text(edges[begin - 1])} ≤ {name} < {number_text(edges[end - 1])}"


def _labels_text(name: str, labels: Any, begin: int, end: int, n: int) -> str:
    if n == 2 or 0 < begin == end - 1 < n - 1:
        return f"{name} = {labels[begin]}"
    if begin == 0:
        return f"{name} ≤ {labels[end - 1]}"
    if end == n:
        return f"{name} > {labels[begin - 1]}"
    return f"{labels[begin]} ≤ {name} ≤ {labels[end - 1]}"


def _set_text(name: str, labels: Any, allowed: NDArray[np.bool_]) -> str:
    inside, outside = np.flatnonzero(allowed).tolist(), np.flatnonzero(~allowed).tolist()
    if not outside:
        return f"{name} is anything"
    if len(inside) == 1:
        label = labels[inside[0]]
        return f"{name} is missing" if label is None else f"{name} = {label}"
    if len(outside) == 1:
        label = labels[outside[0]]
        return f"{name} is known" if label is None else f"{name} ≠ {label}"
    few, word = (inside, "in") if len(inside) <= len(outside) else (outside, "not in")
    shown = ["missing" if labels[k] is None else str(labels[k]) for k in few[:_MOST]]
    more = ", …" if len(few) > _MOST else ""
    return f"{name} {word} {{{', '.join(shown)}{more}}}"


def number_text(x: float) -> str:
    """Return a number as short as it can be read back.

    >>> number_text(29.5), number_text(1e6), number_text(0.1 + 0.2)
    ('29.5', '1e+06', '0.30000000000000004')
    """
    short = f"{x:g}"
    return short if float(short) == x else repr(float(x)).removesuffix(".0")
