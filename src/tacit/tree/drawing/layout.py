"""Where the nodes of a tree or graph are drawn: levels side by side, nodes of a level in rows.

Leaves of a tree are evenly spaced and parents stand in the middle of their children. In a graph,
where edges may cross and pass levels, each edge has a lane in every gap between levels;
nodes and lanes are ordered so that few edges cross, and moved towards their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Layout", "arrange"]

_LANE, _PASS = 0.55, 0.4  # rows that an edge takes in a gap, and where it passes a level
_ROUNDS = 12
_STIFF = 8.0  # how much an edge in its lane, compared with a node, resists being moved

Edge: TypeAlias = tuple[int, int]  # the parent, and which of its children


@dataclass(frozen=True)
class Layout:
    """Positions, in levels and rows."""

    level: NDArray[np.int64]  # the column in which a node stands; 0 for the root
    row: NDArray[np.float64]  # its middle; nodes of a level are at least 1 apart, the first is at 0
    # For each edge, the rows through which it goes: that in the gap after the parent, and for an
    # edge to a further level that at which it passes the next level, that in the gap after it, …
    lanes: dict[Edge, list[float]]


def arrange(children: Sequence[Sequence[int]]) -> Layout:
    """Lay out nodes, given the children of each, which have larger numbers; node 0 is the root.

    >>> layout = arrange([[1, 2], [], [3, 4], [], []])
    >>> layout.level.tolist(), layout.row.tolist()
    ([0, 1, 1, 2, 2], [0.75, 0.0, 1.5, 1.0, 2.0])
    """
    level = np.zeros(len(children), np.int64)
    for node, below in enumerate(children):
        for child in below:
            level[child] = max(level[child], level[node] + 1)
    named = [child for below in children for child in below]
    if len(set(named)) == len(named):
        row = _tree_rows(children)
        lanes = {(u, k): [float(row[v])] for u, vs in enumerate(children) for k, v in enumerate(vs)}
        return Layout(level, row, lanes)
    return _graph_layout(children, level)


def _tree_rows(children: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return rows: leaves one after the other, parents halfway between first and last child."""
    row = np.zeros(len(children))
    n_leaves, stack = 0, [0]
    while stack:
        node = stack.pop()
        if not len(children[node]):
            row[node] = n_leaves
            n_leaves += 1
        stack.extend(reversed(children[node]))
    for node in range(len(children) - 1, -1, -1):
        if len(children[node]):
            row[node] = (row[children[node][0]] + row[children[node][-1]]) / 2
    return row


@dataclass
class _Layers:
    """A graph whose edges go from one layer to the next: even layers hold nodes, odd ones gaps.

    Items are the nodes, then the points through which edges go.
    """

    layers: list[list[int]]
    heights: list[float]
    above: list[list[int]]
    below: list[list[int]]


def _graph_layout(children: Sequence[Sequence[int]], level: NDArray[np.int64]) -> Layout:
    graph, ways = _layered(children, level)
    _order(graph)
    row = _rows(graph)
    row -= row[: len(children)].min()
    lanes = {edge: [float(row[item]) for item in way] for edge, way in ways.items()}
    return Layout(level, row[: len(children)], lanes)


def _layered(
    children: Sequence[Sequence[int]], level: NDArray[np.int64]
) -> tuple[_Layers, dict[Edge, list[int]]]:
    """Cut edges into segments from layer to layer; items in the order of a first walk."""
    n = len(children)
    graph = _Layers(
        [[] for _ in range(2 * int(level.max()) + 1)],
        [1.0] * n,
        [[] for _ in range(n)],
        [[] for _ in range(n)],
    )
    ways: dict[Edge, list[int]] = {}
    seen = [False] * n
    graph.layers[0].append(0)
    stack: list[tuple[int, int]] = [(0, k) for k in reversed(range(len(children[0])))]
    while stack:
        node, k = stack.pop()
        child, at = children[node][k], node
        for layer in range(2 * int(level[node]) + 1, 2 * int(level[child])):
            item = len(graph.heights)
            graph.heights.append(_LANE if layer % 2 else _PASS)
            graph.above.append([at])
            graph.below.append([])
            graph.below[at].append(item)
            graph.layers[layer].append(item)
            ways.setdefault((node, k), []).append(item)
            at = item
        graph.below[at].append(child)
        graph.above[child].append(at)
        if not seen[child]:
            seen[child] = True
            graph.layers[2 * int(level[child])].append(child)
            stack += [(child, j) for j in reversed(range(len(children[child])))]
    return graph, ways


def _order(graph: _Layers) -> None:
    """Sort each layer by the mean position of its neighbours, up and down; keep the best seen."""
    best, fewest = [list(layer) for layer in graph.layers], _crossings(graph)
    for turn in range(_ROUNDS):
        position = {item: k for layer in graph.layers for k, item in enumerate(layer)}
        down = turn % 2 == 0
        for layer in graph.layers if down else reversed(graph.layers):
            near = graph.above if down else graph.below
            keys = {
                item: float(np.mean([position[x] for x in near[item]]))
                if near[item]
                else float(position[item])
                for item in layer
            }
            layer.sort(key=keys.__getitem__)
            position.update((item, k) for k, item in enumerate(layer))
        if (crossings := _crossings(graph)) < fewest:
            best, fewest = [list(layer) for layer in graph.layers], crossings
    graph.layers = best


def _crossings(graph: _Layers) -> int:
    """Count pairs of segments of edges that cross."""
    total = 0
    for upper, lower in zip(graph.layers, graph.layers[1:], strict=False):
        position = {item: k for k, item in enumerate(lower)}
        pairs = [(k, position[x]) for k, item in enumerate(upper) for x in graph.below[item]]
        starts, ends = np.array(pairs).T
        later = starts[:, None] < starts
        total += int(np.count_nonzero(later & (ends[:, None] > ends)))
    return total


def _rows(graph: _Layers) -> NDArray[np.float64]:
    """Give items rows in their order: as near to their neighbours as the items' heights allow."""
    row = np.zeros(len(graph.heights))
    weight = np.array([1.0 if h == 1 else _STIFF for h in graph.heights])
    offsets = []
    for layer in graph.layers:
        heights = np.array([graph.heights[item] for item in layer])
        offsets.append(np.cumsum(heights) - heights / 2)
        row[layer] = offsets[-1] - offsets[-1].mean()
    for turn in range(2 * _ROUNDS):
        near = graph.below if turn % 2 else graph.above
        order = range(len(graph.layers))
        for k in reversed(order) if turn % 2 else order:
            layer = graph.layers[k]
            wanted = [row[near[item]].mean() if near[item] else row[item] for item in layer]
            fitted = isotonic_regression(np.array(wanted) - offsets[k], weights=weight[layer])
            row[layer] = fitted.x + offsets[k]
    return row
