"""A tree or graph as a scene: what its boxes and edges say, and how wide they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot import Box, Curve, Scene, Words, fit, text_width
from tacit.plot.theme import EDGE, FAINT, INK, LINE, PAPER
from tacit.tree.drawing.captions import Captions, captions_of, short_count
from tacit.tree.drawing.conditions import Conditions
from tacit.tree.drawing.edge_counts import edge_counts
from tacit.tree.drawing.layout import Layout, arrange

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["tree_scene"]

_MARGIN, _HEIGHT, _ROW = 18.0, 37.0, 45.0
_TITLE, _NOTE = 12.0, 10.0  # sizes of type
_PAD, _LEAST_BAR = 8.0, 56.0
_TITLE_ROOM, _LABEL_ROOM = 190.0, 170.0  # the widest that texts get
_BEND, _JOIN = 34.0, 34.0  # where edges leave a node and where they meet again
_WIDEST = 12.0  # an edge with all records


def tree_scene(model: Any, max_depth: int | None = None) -> Scene:
    """Return the picture of a fitted tree or graph, to `max_depth` levels below the root."""
    shown = _Shown.of(model, max_depth)
    return _Composer(model, shown, captions_of(model)).scene()


@dataclass(frozen=True)
class _Shown:
    """The nodes that are drawn, numbered anew, and their children in the order of the picture.

    `branches` says which of its children they are of a node, `hidden` how many leaves are not drawn
    below it.
    """

    nodes: list[int]
    children: list[list[int]]
    branches: list[list[int]]
    hidden: dict[int, int]

    @classmethod
    def of(cls, model: Any, max_depth: int | None) -> _Shown:
        nodes = model.nodes_
        limit = math.inf if max_depth is None else max(int(max_depth), 0)
        kept, hidden = {0}, {}
        for node in range(nodes.n_nodes):
            if node in kept and nodes.column[node] >= 0:
                if nodes.depths[node] < limit:
                    kept.update(nodes.children_of(node).tolist())
                else:
                    hidden[node] = _leaves_below(nodes, node)
        order = sorted(kept)
        number = {node: k for k, node in enumerate(order)}
        conditions = Conditions(nodes, model.schema_)
        branches = [
            [] if node in hidden or nodes.column[node] < 0 else conditions.order(node)
            for node in order
        ]
        below = [nodes.children_of(node).tolist() for node in order]
        children = [[number[b[k]] for k in ks] for b, ks in zip(below, branches, strict=True)]
        return cls(order, children, branches, hidden)


def _leaves_below(nodes: Any, node: int) -> int:
    seen, stack, leaves = {node}, [node], 0
    while stack:
        below = nodes.children_of(stack.pop()).tolist()
        leaves += not below
        fresh = [x for x in dict.fromkeys(below) if x not in seen]
        seen.update(fresh)
        stack += fresh
    return leaves


@dataclass(frozen=True)
class _Stroke:
    """How wide an edge is, and how far from the middle it leaves and meets nodes."""

    width: float
    leaving: float
    meeting: float


class _Composer:
    """Composes boxes, bars, edges and words."""

    def __init__(self, model: Any, shown: _Shown, captions: Captions) -> None:
        self.shown, self.captions = shown, captions
        self.nodes, self.schema = model.nodes_, model.schema_
        self.layout: Layout = arrange(shown.children)
        self.graph = len({x for below in shown.children for x in below}) < sum(
            map(len, shown.children)
        )
        self.total = float(captions.weights[0]) or 1.0
        self.texts = [self._box_texts(node) for node in shown.nodes]
        self.labels: dict[int, list[str]] = {}
        conditions = Conditions(self.nodes, self.schema)
        for node, ks in zip(shown.nodes, shown.branches, strict=True):
            if ks:
                texts = conditions.short_branches(node)
                self.labels[node] = [texts[k] for k in ks]
        self._measure()

    def _box_texts(self, node: int) -> tuple[str, str, str]:
        """Return title, note and border of a box."""
        if node in self.shown.hidden:
            return f"… {self.shown.hidden[node]:,} leaves", "", LINE
        return self.captions.box(node)

    def _measure(self) -> None:
        """Find the width of each level and of each gap, and where they begin."""
        levels = self.layout.level
        depth = int(levels.max())
        width, gap, count = np.zeros(depth + 1), np.zeros(depth + 1), np.zeros(depth + 1)
        for k, (title, note, _) in enumerate(self.texts):
            room = min(text_width(title, _TITLE, bold=True), _TITLE_ROOM)
            need = room + (text_width(note, _NOTE) + 8 if note else 0) + 2 * _PAD
            size = text_width(self.captions.count(self.shown.nodes[k]), _NOTE) + 6
            count[levels[k]] = max(count[levels[k]], size)
            width[levels[k]] = max(width[levels[k]], need, size + _LEAST_BAR + 2 * _PAD)
        for k, node in enumerate(self.shown.nodes):
            for text in self.labels.get(node, ()):
                need = min(text_width(_short(text), _NOTE), _LABEL_ROOM) + _BEND + 12
                gap[levels[k]] = max(gap[levels[k]], need + (_JOIN if self.graph else 0))
        begin = np.concatenate(([0.0], np.cumsum(width + gap)[:-1])) + _MARGIN
        self.width, self.gap, self.count, self.begin = width, gap, count, begin

    def scene(self) -> Scene:
        """Return the picture."""
        right = float(self.begin[-1] + self.width[-1] + _MARGIN)
        legend, right, top = self._legend(right)
        self.top = top
        rows = [float(x) for x in self.layout.row]
        rows += [x for lanes in self.layout.lanes.values() for x in lanes]
        self.top -= _ROW * min(0.0, min(rows))
        bottom = self.top + _HEIGHT + _ROW * max(rows) + _MARGIN
        n_leaves = self.nodes.n_leaves
        kind = "graph" if self.graph else "tree"
        scene = Scene(right, bottom, f"A {kind} of {n_leaves:,} leaves")
        scene.items += legend
        edges = self._edges()
        scene.items += [curve for curve, _ in edges]
        for k in range(len(self.shown.nodes)):
            scene.items += self._box(k)
        scene.items += [words for _, words in edges]
        return scene

    def _y(self, row: float) -> float:
        return self.top + _HEIGHT / 2 + _ROW * row

    def _legend(self, right: float) -> tuple[list[Any], float, float]:
        """Return the legend, in lines as wide as the picture; its width, and where nodes begin."""
        entries = [(colour, fit(name, 420, _TITLE)) for colour, name in self.captions.legend()]
        widest = max(text_width(name, _TITLE) + 38 for _, name in entries)
        right = max(right, widest + 2 * _MARGIN, 420.0)
        items: list[Any] = []
        x, y = _MARGIN, _MARGIN
        if self.captions.target is not None:
            target = fit(self.captions.target, 300, _TITLE, bold=True)
            items.append(Words(x, y + 10, target, _TITLE, INK, bold=True))
            x += text_width(target, _TITLE, bold=True) + 14
        for colour, name in entries:
            wide = text_width(name, _TITLE) + 18
            if x > _MARGIN and x + wide > right - _MARGIN:
                x, y = _MARGIN, y + 20
            items.append(Box(x, y, 11, 11, colour, radius=2))
            items.append(Words(x + 17, y + 10, name, _TITLE, INK))
            x += wide + 20
        return items, right, y + 32

    def _box(self, k: int) -> list[Any]:
        node, level = self.shown.nodes[k], int(self.layout.level[k])
        x, y = float(self.begin[level]), self._y(float(self.layout.row[k])) - _HEIGHT / 2
        width = float(self.width[level])
        title, note, border = self.texts[k]
        leaf, cut = self.nodes.column[node] < 0, node in self.shown.hidden
        room = width - 2 * _PAD - (text_width(note, _NOTE) + 8 if note else 0)
        n = self.captions.count(node)
        details = f"{title}: {n} records; {self.captions.details(node)}"
        frame = Box(x, y, width, _HEIGHT, PAPER, border, 1.6 if leaf else 1.0, 5, cut, details)
        right = x + width - _PAD
        return [
            frame,
            Words(x + _PAD, y + 16, fit(title, room, _TITLE, bold=True), _TITLE,
                  FAINT if cut else INK, bold=not cut, title=details),
            Words(right, y + 16, note, _NOTE, INK, "end"),
            Words(right, y + 30.5, n, _NOTE, FAINT, "end"),
            *self.captions.bar(node, x + _PAD, y + 23, width - 2 * _PAD - float(self.count[level])),
        ]  # fmt: skip

    def _edges(self) -> list[tuple[Curve, Words]]:
        """Return edges and their labels. They leave and meet beside, not upon, each other."""
        counts, certain = edge_counts(self.nodes, self.captions.weights)
        in_model = {(u, k): self._edge_of_model(u, k) for u, k in self.layout.lanes}
        widths = {e: max(1.0, _WIDEST * counts[m] / self.total) for e, m in in_model.items()}
        leaving = _stacked(widths, lambda e: e[0], lambda e: self.layout.lanes[e][0])
        meeting = _stacked(widths, self._child, lambda e: self.layout.lanes[e][-1])
        return [
            self._edge(
                edge,
                _Stroke(widths[edge], leaving[edge], meeting[edge]),
                counts[in_model[edge]] if in_model[edge] in certain else None,
            )
            for edge in sorted(widths, key=lambda e: (-widths[e], e))
        ]

    def _edge_of_model(self, parent: int, k: int) -> tuple[int, int]:
        return self.shown.nodes[parent], self.shown.branches[parent][k]

    def _child(self, edge: tuple[int, int]) -> int:
        return self.shown.children[edge[0]][edge[1]]

    def _edge(
        self, edge: tuple[int, int], stroke: _Stroke, records: float | None
    ) -> tuple[Curve, Words]:
        """Return an edge and its label, which stands on it where it first runs level."""
        parent, k = edge
        points = self._way(edge, stroke)
        x, y = points[1]
        node = self.shown.nodes[parent]
        text = self.labels[node][k]
        column = self.schema.names[int(self.nodes.column[node])]
        title = f"{column} {text}"
        title += "" if records is None else f": {short_count(records)} records"
        label = fit(_short(text), _LABEL_ROOM, _NOTE)
        top = y - stroke.width / 2 - 3
        words = Words(x + 3, top, label, _NOTE, INK, halo=self.graph, title=title)
        return Curve(tuple(points), stroke.width, EDGE, title), words

    def _way(self, edge: tuple[int, int], stroke: _Stroke) -> list[tuple[float, float]]:
        """Return the points that an edge goes through, level at each of them."""
        parent, child = edge[0], self._child(edge)
        first, last = int(self.layout.level[parent]), int(self.layout.level[child])
        begin, end = self.begin, self.begin + self.width
        points = [(float(end[first]), self._y(float(self.layout.row[parent])) + stroke.leaving)]
        goal = self._y(float(self.layout.row[child])) + stroke.meeting
        lanes = [self._y(row) for row in self.layout.lanes[edge]]
        for level in range(first, last):
            left, lane = float(end[level]), lanes[2 * (level - first)]
            if self.graph:
                points += [(left + _BEND, lane), (float(begin[level + 1]) - _JOIN, lane)]
            else:
                points.append((left + _BEND, goal))
            if level + 1 < last:
                passing = lanes[2 * (level - first) + 1]
                points += [(float(x[level + 1]), passing) for x in (begin, end)]
        return [*points, (float(begin[last]), goal)]


def _short(text: str) -> str:
    """Return a condition with numbers of many digits rounded; its title has them in full.

    >>> _short("< -3.1443074355631424")
    '< -3.14431'
    """
    return re.sub(r"-?\d+\.\d{6,}", lambda number: f"{float(number[0]):.6g}", text)


def _stacked(
    widths: dict[tuple[int, int], float],
    node: Callable[[tuple[int, int]], int],
    order: Callable[[tuple[int, int]], float],
) -> dict[tuple[int, int], float]:
    """Return how far each edge is from the middle of its side of a node's box."""
    sides: dict[int, list[tuple[int, int]]] = {}
    for edge in widths:
        sides.setdefault(node(edge), []).append(edge)
    shift = {}
    for edges in sides.values():
        total = sum(widths[e] for e in edges)
        shrink = min(1.0, (_HEIGHT - 10) / total)
        at = -total * shrink / 2
        for edge in sorted(edges, key=lambda e: (order(e), e)):
            shift[edge] = at + widths[edge] * shrink / 2
            at += widths[edge] * shrink
    return shift
