"""Drags over linked views, as people make them, and what a page asks of the server for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.explore.state import Condition, Selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Step", "asked_for_drag", "asked_for_step", "drags"]


@dataclass(frozen=True)
class Step:
    """Where a drag has come to.

    Attributes
    ----------
    active : int
        The view that is dragged over.
    ranges : dict of int to (int, int)
        The first and the last code that each view lets through; views without one let all.
    switches : bool
        Whether the drag over this view begins.
    """

    active: int
    ranges: Mapping[int, tuple[int, int]]
    switches: bool

    def others(self, *views: int) -> dict[int, tuple[int, int]]:
        """Return the ranges of all views but these."""
        return {c: r for c, r in self.ranges.items() if c not in views}


def drags(arities: Sequence[int], n_sessions: int, n_steps: int, seed: int = 0) -> list[Step]:
    """Return sessions in which all views are dragged over, one after another.

    A range of any width is moved over a view, an end at a time or both; it stays when the next view
    is dragged over, so that a session begins with one condition and ends with as many as there are
    views.
    """
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(n_sessions):
        ranges: dict[int, tuple[int, int]] = {}
        for active in rng.permutation(len(arities)).tolist():
            last = arities[active] - 1
            width = int(rng.integers(last // 4, 1 + 3 * last // 4))
            low = int(rng.integers(0, 1 + last - width))
            high = low + width
            for k in range(n_steps):
                which = rng.integers(3)
                by = int(rng.choice((-1, 1)))
                low = min(max(0, low + by * (which != 1)), high)
                high = max(low, min(last, high + by * (which != 0)))
                ranges = {**ranges, active: (low, high)}
                steps.append(Step(active, ranges, k == 0))
    return steps


def _text(ranges: Mapping[int, tuple[int, int]]) -> str:
    conditions = {c: Condition(tuple(range(a, b + 1))) for c, (a, b) in ranges.items()}
    return Selection(conditions).to_text()


def asked_for_step(step: Step, views: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the request for all views, each given the conditions on others."""
    groups: dict[str, list[list[int]]] = {}
    for columns in views:
        groups.setdefault(_text(step.others(*columns)), []).append(list(columns))
    return {"ask": [{"given": given, "sets": sets} for given, sets in groups.items()]}


def asked_for_drag(step: Step, n_columns: int) -> dict[str, Any]:
    """Return the request for what a whole drag needs: tables of the active view and each other."""
    a = step.active
    groups: dict[str, list[list[int]]] = {_text(step.others(a)): [[a]]}
    for c in range(n_columns):
        if c != a:
            groups.setdefault(_text(step.others(a, c)), []).append([a, c])
    return {"ask": [{"given": given, "sets": sets} for given, sets in groups.items()]}


def by_view(
    step: Step, views: Sequence[Sequence[int]], counts: list[NDArray[Any]], arities: Sequence[int]
) -> dict[tuple[int, ...], NDArray[Any]]:
    """Return the answer to a step by view."""
    found = {}
    for group, cells in zip(asked_for_step(step, views)["ask"], counts, strict=True):
        start = 0
        for columns in group["sets"]:
            end = start + int(np.prod([arities[c] for c in columns]))
            found[tuple(columns)] = cells[start:end]
            start = end
    return found
