"""What the nodes of a tree say in pictures: titles, counts, colours, and a small bar for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot import Box
from tacit.plot.theme import EMPTY, LINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.tree.nodes import Nodes

__all__ = ["BAR", "Captions", "captions_of", "short_count"]

# The first two are those of the page about clusters.
_COLOURS = (
    "#2f7fc1", "#d97a2b", "#4a9d5b", "#a94fa0", "#c7a51c", "#5c5fb3", "#35a6a6", "#b8433f",
    "#8a6a4f", "#d97fae",
)  # fmt: skip
# For ten classes more, where there are as many.
_PALER = (
    "#9cc8ee", "#f2bf94", "#a5d6ae", "#dca8d6", "#ead98a", "#b3b5e6", "#9fdada", "#e6a19e",
    "#cbb39f", "#f3c6dc",
)  # fmt: skip
_OTHER, _PALE = "#b4b9c0", "#9cc3e4"
BAR = 7.0  # height


def short_count(n: float) -> str:
    """Write a number of records short enough for a box.

    >>> short_count(48842.0), short_count(2.5), short_count(1234567.0)
    ('48,842', '2.5', '1.23M')
    """
    if n >= 1e6:
        return f"{n / 1e6:,.3g}M" if n < 1e9 else f"{n:.3g}"
    return f"{n:,.0f}" if n == round(n) or n >= 1000 else f"{n:.3g}"


def _percent(fraction: float) -> str:
    """Write a fraction; only what is all or nothing is 100% or 0%.

    >>> _percent(0.256), _percent(0.9996), _percent(1.0), _percent(0.004)
    ('26%', '99.9%', '100%', '0.4%')
    """
    if fraction in (0.0, 1.0) or 0.01 <= fraction <= 0.99:
        return f"{fraction:.0%}"
    return f"{min(max(fraction, 0.001), 0.999):.1%}"


class Captions:
    """What is said of each node; here what does not depend on the kind of target."""

    def __init__(self, model: Any, weights: NDArray[np.float64]) -> None:
        self.nodes: Nodes = model.nodes_
        self.names = model.schema_.names
        self.target: str | None = model._fitted().target_name
        self.weights = weights

    def count(self, node: int) -> str:
        """Return the number of records."""
        return short_count(float(self.weights[node]))

    def box(self, node: int) -> tuple[str, str, str]:
        """Return title, note and border of a box: the column asked, or what a leaf says."""
        column = int(self.nodes.column[node])
        return self.leaf(node) if column < 0 else (self.names[column], "", LINE)

    def leaf(self, node: int) -> tuple[str, str, str]:
        """Return title, note and colour of a leaf: what it predicts, and how probable it is."""
        raise NotImplementedError

    def details(self, node: int) -> str:
        """Return all that there is to say."""
        raise NotImplementedError

    def bar(self, node: int, x: float, y: float, width: float) -> list[Box]:
        """Return a small picture of what is in a node."""
        raise NotImplementedError

    def legend(self) -> list[tuple[str, str]]:
        """Return colours and what they stand for."""
        raise NotImplementedError


def captions_of(model: Any) -> Captions:
    """Return what the nodes of a fitted tree or graph say."""
    return _Classes(model) if hasattr(model, "classes_") else _Numbers(model)


class _Classes(Captions):
    """What nodes say about classes: the most probable one, and a bar of their fractions."""

    def __init__(self, model: Any) -> None:
        self.counts = model.nodes_.counts
        self.probabilities = model._fitted().probabilities
        super().__init__(model, self.counts.sum(axis=1))
        self.classes = [str(x) for x in model.classes_]
        n = len(self.classes)
        palette = _COLOURS if n <= len(_COLOURS) else _COLOURS + _PALER
        leaves = self.counts[self.nodes.leaves]
        predicted = np.bincount(leaves.argmax(axis=1), leaves.max(axis=1), minlength=n)
        order = np.lexsort((-self.counts[0], -predicted))  # then by what is common
        self.coloured = sorted(order[: len(palette)].tolist())
        self.colour = [_OTHER] * n
        for colour, k in zip(palette, self.coloured, strict=False):
            self.colour[k] = colour

    def leaf(self, node: int) -> tuple[str, str, str]:
        if self.weights[node] == 0:
            return "no records", "", _OTHER
        k = int(np.argmax(self.probabilities[node]))
        return self.classes[k], _percent(float(self.probabilities[node, k])), self.colour[k]

    def details(self, node: int) -> str:
        row, n = self.counts[node], float(self.weights[node])
        order = np.argsort(-row, kind="stable")[:12]
        lines = [
            f"{self.classes[k]}: {short_count(float(row[k]))} ({_percent(float(row[k]) / n)})"
            for k in order.tolist()
            if row[k] > 0
        ]
        return "; ".join(lines) or "no records"

    def bar(self, node: int, x: float, y: float, width: float) -> list[Box]:
        """Return the fractions of the classes, side by side."""
        n = float(self.weights[node])
        items: list[Box] = [Box(x, y, width, BAR, EMPTY, title=self.details(node))]
        if n == 0:
            return items
        row = self.counts[node] / n
        fractions = [(self.colour[k], float(row[k])) for k in self.coloured]
        fractions.append((_OTHER, max(0.0, 1.0 - sum(fraction for _, fraction in fractions))))
        for colour, fraction in fractions:
            if fraction * width >= 0.05:
                items.append(Box(x, y, fraction * width, BAR, colour, title=self.details(node)))
            x += fraction * width
        return items

    def legend(self) -> list[tuple[str, str]]:
        rest = len(self.classes) - len(self.coloured)
        known = [(self.colour[k], self.classes[k]) for k in self.coloured]
        return known + ([(_OTHER, f"{rest} other classes")] if rest else [])


class _Numbers(Captions):
    """What nodes say about a number: its mean, and a mark on one axis for all nodes."""

    def __init__(self, model: Any) -> None:
        w, d, d2 = (model.nodes_.counts[:, k] for k in range(3))
        super().__init__(model, w)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.mean = model._fitted().means
            self.deviation = np.sqrt(np.maximum(d2 / w - (d / w) ** 2, 0))
        some = w > 0
        low = np.min((self.mean - self.deviation)[some], initial=math.inf)
        high = np.max((self.mean + self.deviation)[some], initial=-math.inf)
        self.low, self.span = float(low), float(high - low) or 1.0

    def leaf(self, node: int) -> tuple[str, str, str]:
        if self.weights[node] == 0:
            return "no records", "", _OTHER
        return f"{self.mean[node]:,.4g}", f"± {self.deviation[node]:.3g}", _COLOURS[0]

    def details(self, node: int) -> str:
        if self.weights[node] == 0:
            return "no records"
        return f"mean {self.mean[node]:,.6g}, standard deviation {self.deviation[node]:,.6g}"

    def bar(self, node: int, x: float, y: float, width: float) -> list[Box]:
        """Return the mean, and a standard deviation to each side."""
        items: list[Box] = [Box(x, y, width, BAR, EMPTY, title=self.details(node))]
        if self.weights[node] == 0:
            return items
        mean, spread = float(self.mean[node]), float(self.deviation[node])
        at, reach = (mean - self.low) / self.span * width, spread / self.span * width
        items.append(Box(x + at - reach, y + 2, 2 * reach, BAR - 4, _PALE))
        items.append(Box(x + min(max(at - 1.5, 0), width - 3), y, 3, BAR, _COLOURS[0]))
        return items

    def legend(self) -> list[tuple[str, str]]:
        ends = f"from {self.low:,.4g} to {self.low + self.span:,.4g}"
        return [(_COLOURS[0], "mean"), (_PALE, f"± standard deviation, {ends}")]
