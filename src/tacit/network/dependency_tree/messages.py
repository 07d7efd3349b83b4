"""Message passing in trees, for many records at once.

Work is done only where something is missing: known columns cut a tree apart, and what hangs below a
known parent is a number for each record. Exact, whatever is missing, in trees of discrete columns
and in those of numbers. In mixed trees there is no closed form where something is known below a
discrete column that hangs below a missing number: :func:`without_closed_form` finds such records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.network.dependency_tree.links import (
    ClassPosterior,
    add_logs,
    normal_terms,
    term_moments,
    term_points,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.parameters import TreeDensity

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "Evidence",
    "all_beliefs",
    "belief",
    "belief_moments",
    "log_densities",
    "without_closed_form",
]


@dataclass
class Evidence:
    """What is known of m records."""

    # Of each column (m,): codes, or numbers in the units of the model; anything where it is missing
    values: Any
    missing: list[NDArray[np.bool_] | None]  # where a column has none, (m,); None if nowhere
    n_records: int

    def without(self, column: int) -> Evidence:
        """Return the evidence as if a column were missing throughout."""
        missing = list(self.missing)
        missing[column] = np.ones(self.n_records, np.bool_)
        return replace(self, missing=missing)

    def take(self, rows: NDArray[np.int64]) -> Evidence:
        """Return the evidence of some records."""
        missing = [
            None if values is None or not values[rows].any() else values[rows]
            for values in self.missing
        ]
        return Evidence([values[rows] for values in self.values], missing, len(rows))


class _Upward:
    """Messages from the leaves: what the records know below each column.

    `inside` has the product of what the children say, of columns with missing values; `sent`, what
    each column says to a parent with missing values; `known`, of shape (m,), the logarithms of all
    that has become a number.
    """

    def __init__(self, model: TreeDensity, evidence: Evidence) -> None:
        self.model, self.evidence = model, evidence
        self.known = np.zeros(evidence.n_records)
        self.inside: dict[int, Floats] = {}
        self.sent: dict[int, Floats] = {}

    def nothing(self, column: int) -> Floats:
        """Return the message that says nothing."""
        m = self.evidence.n_records
        if self.model.numeric[column]:
            return np.zeros((m, 1, 3))
        return np.zeros((m, int(self.model.arities[column])))

    def of(self, column: int) -> Floats:
        """Return what is known below a column."""
        if column not in self.inside:
            self.inside[column] = self.nothing(column)
        return self.inside[column]

    def send(self, child: int, keep: bool = False) -> None:
        """Pass on what a child knows to its parent."""
        parent = int(self.model.tree.parents[child])
        link, values = self.model.link(child), self.evidence.values
        below, above = self.evidence.missing[child], self.evidence.missing[parent]
        if below is None and above is None:
            self.known += link.at(values[child], values[parent])
            return
        hidden = np.zeros(len(self.known), np.bool_) if below is None else below
        open_ = np.zeros(len(self.known), np.bool_) if above is None else above
        rows = np.flatnonzero(~hidden & ~open_)
        self.known[rows] += link.at(values[child][rows], values[parent][rows])
        rows = np.flatnonzero(hidden & ~open_)
        if len(rows):
            self.known[rows] += link.up_at(self.of(child)[rows], values[parent][rows])
        if not open_.any():
            return
        message = self.nothing(parent)
        rows = np.flatnonzero(~hidden & open_)
        message[rows] = link.from_child(values[child][rows])
        rows = np.flatnonzero(hidden & open_)
        if len(rows):
            message[rows] = link.up(self.of(child)[rows])
        self.inside[parent] = self.of(parent) + message
        if keep:
            self.sent[child] = message


def without_closed_form(
    model: TreeDensity, evidence: Evidence, column: int | None = None
) -> NDArray[np.bool_]:
    """Return which records have something below a label that hangs below a missing number.

    If a column is asked about, nothing passes up from it or from what is above it, and its own
    children do not matter.
    """
    path = set() if column is None else set(model.tree.path_to(column))
    m = evidence.n_records
    apart = np.zeros(m, np.bool_)
    known_below = np.zeros(
        (model.n_columns, m), np.bool_
    )  # is anything known at or below a column?
    for child in model.tree.order[:0:-1].tolist():
        if child in path:
            continue
        missing, parent = evidence.missing[child], int(model.tree.parents[child])
        known_below[child] |= True if missing is None else ~missing
        known_below[parent] |= known_below[child]
        above, below = evidence.missing[parent], isinstance(model.link(child), ClassPosterior)
        if above is not None and below and parent != column:
            apart |= above & known_below[child]
    return apart


def _prior(model: TreeDensity) -> Floats:
    """Return the distribution of the root, as a message for one record."""
    root = model.tree.root
    marginal = model.marginals[root]
    if marginal is None:
        return normal_terms(np.zeros((1, 1)), 1.0)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(marginal)[None]
    return logs


def log_densities(model: TreeDensity, evidence: Evidence) -> Floats:
    """Return the logarithm of each record's density, over what is known of it."""
    up = _Upward(model, evidence)
    for column in model.tree.order[:0:-1].tolist():
        up.send(column)
        up.inside.pop(column, None)
    return _finish(up)


def _finish(up: _Upward) -> Floats:
    """Return the densities, when all messages have come to the root."""
    model, evidence, root = up.model, up.evidence, up.model.tree.root
    prior, missing = _prior(model), evidence.missing[root]
    densities = up.known.copy()
    hidden = np.zeros(len(densities), np.bool_) if missing is None else missing
    densities[hidden] += _log_mass(model, root, prior + up.of(root)[hidden])
    seen = ~hidden
    densities[seen] += _value_of(model, root, prior, evidence.values[root][seen])
    for column in np.flatnonzero(model.numeric).tolist():
        missing = evidence.missing[column]
        densities[slice(None) if missing is None else ~missing] -= np.log(model.scale[column])
    return densities


def _log_mass(model: TreeDensity, column: int, message: Floats) -> Floats:
    return add_logs(term_moments(message)[0] if model.numeric[column] else message)


def _value_of(model: TreeDensity, column: int, message: Floats, values: Any) -> Floats:
    logs: Floats
    if model.numeric[column]:
        g, h, q = message[0, 0]
        logs = g + h * values - q * values**2 / 2
    else:
        logs = message[0][values]
    return logs


def belief(model: TreeDensity, evidence: Evidence, column: int) -> tuple[Floats, list[Any]]:
    """Return what records say of a column, whose own values are not used.

    The message is not normalised. For numbers there are factors as well: what discrete children
    say, as functions of numbers (m, j) for some records.
    """
    evidence = evidence.without(column)
    up, path = _Upward(model, evidence), model.tree.path_to(column)
    # Above a parent that is known in all records there is nothing more to learn.
    first = next((k for k in range(len(path) - 2, -1, -1) if evidence.missing[path[k]] is None), 0)
    path = path[first:]
    factors = []
    for node in _needed(model, evidence, path):
        parent = int(model.tree.parents[node])
        link = model.link(node)
        if parent == column and isinstance(link, ClassPosterior):
            factors.append(_factor(link, _known_or_said(up, node)))
        else:
            up.send(node)
    message = np.repeat(_prior(model), evidence.n_records, axis=0)
    for parent, child in pairwise(path):
        if evidence.missing[parent] is not None:
            message = message + up.of(parent)
        message = _step_down(model, evidence, parent, child, message)
    return message + up.of(column), factors


def _needed(model: TreeDensity, evidence: Evidence, path: list[int]) -> list[int]:
    """Return the nodes off the path whose messages matter, children first."""
    on_path, needed = set(path), []
    waiting = [node for node in path if evidence.missing[node] is not None]
    while waiting:
        node = waiting.pop()
        below = [child for child in model.tree.children[node] if child not in on_path]
        needed += below
        waiting += [child for child in below if evidence.missing[child] is not None]
    return needed[::-1]


def _known_or_said(up: _Upward, column: int) -> Floats:
    """Return a discrete column's own value, or what is known below it, as a message."""
    missing, values = up.evidence.missing[column], up.evidence.values[column]
    message = up.of(column).copy()
    seen = np.flatnonzero(~missing) if missing is not None else np.arange(len(values))
    message[seen] = -np.inf
    message[seen, values[seen]] = 0.0
    return message


def _factor(link: ClassPosterior, message: Floats) -> Any:
    def logs(points: Floats, rows: slice) -> Floats:
        return add_logs(link.logs(points) + message[rows, None, :])

    return logs


def _step_down(
    model: TreeDensity, evidence: Evidence, parent: int, child: int, outside: Floats
) -> Floats:
    """Return what is known of a child from all but what is below it.

    `outside` is what is known of the parent without that child, where the parent is missing.
    """
    link, missing, values = model.link(child), evidence.missing[parent], evidence.values[parent]
    if missing is None:
        return link.given(values)
    low, high = link.down(outside[missing]), link.given(values[~missing])
    message = np.zeros((len(missing), *low.shape[1:]))
    if low.ndim == 3:  # terms that are not needed have no mass
        message[..., 0], message[..., 2] = -np.inf, 1.0
    message[missing] = low
    message[~missing, : high.shape[1]] = high
    return message


def belief_moments(message: Floats, factors: list[Any]) -> tuple[Floats, Floats]:
    """Return mean and variance of a number, in the units of the model; NaN if nothing is possible.

    Message and factors are as :func:`belief` returns them.
    """
    if not factors:
        mass, mean, variance = term_moments(message)
        probability = _normalise(mass)
        middle = (probability * mean).sum(axis=1)
        spread = (probability * (variance + (mean - middle[:, None]) ** 2)).sum(axis=1)
        return middle, spread
    middle, spread = np.empty(len(message)), np.empty(len(message))
    step = 256
    for first in range(0, len(message), step):
        rows = slice(first, first + step)
        points, logs = term_points(message[rows])
        for factor in factors:
            logs = logs + factor(points, rows)
        probability = _normalise(logs)
        middle[rows] = (probability * points).sum(axis=1)
        spread[rows] = (probability * (points - middle[rows, None]) ** 2).sum(axis=1)
    return middle, spread


def _normalise(logs: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.exp(logs - add_logs(logs)[:, None])


def all_beliefs(model: TreeDensity, evidence: Evidence) -> tuple[list[Floats], Floats]:
    """Return what records say of every column, and the logarithms of their densities.

    Messages are not normalised. Of columns that are known, it is what the others say of them.
    """
    up = _Upward(model, evidence)
    for column in model.tree.order[:0:-1].tolist():
        up.send(column, keep=True)
    m, root = evidence.n_records, model.tree.root
    above = {root: np.repeat(_prior(model), m, axis=0)}
    for parent in model.tree.order.tolist():
        children = model.tree.children[parent]
        for child, rest in zip(children, _all_but_one(up, parent, children), strict=True):
            above[child] = _step_down(model, evidence, parent, child, above[parent] + rest)
    return [above[c] + up.of(c) for c in range(model.n_columns)], _finish(up)


def _all_but_one(up: _Upward, parent: int, children: list[int]) -> list[Floats]:
    """Return for each child the product of what the others say; without division, for zeros."""
    nothing = up.nothing(parent)
    sent = [up.sent.get(child, nothing) for child in children]
    before = list(accumulate(sent[:-1], initial=nothing))
    after = list(accumulate(sent[:0:-1], initial=nothing))
    return [before[k] + after[-1 - k] for k in range(len(children))]
