"""Where the boxes of a net go: layers from left to right, arcs around the boxes between.

A column stands one layer behind the last of its parents. Arcs that pass over layers get a bend in
each of them, and those of one parent share it. Within layers, what is connected comes near each
other. Everything is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.network.bayes_net.graph import children_of, find_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents

__all__ = ["LayeredLayout", "lay_out_layers"]

_SWEEPS = 24
_BEND = 10.0  # the height that a passing arc takes


@dataclass(frozen=True)
class LayeredLayout:
    """Where everything is."""

    layer: list[int]  # of each column
    y: NDArray[np.float64]  # the middle of each column's box, from 0 on
    # (parent, child): the height at which an arc passes each layer between
    bends: dict[tuple[int, int], list[float]]


def lay_out_layers(parents: Parents, height: float, gap: float) -> LayeredLayout:
    """Return positions of boxes of equal height with gaps between them."""
    n = len(parents)
    layer = _layers(parents)
    near_left: list[list[int]] = [[] for _ in range(n)]  # of boxes, then of bends
    level, size = list(layer), [height] * n
    passing: dict[tuple[int, int], int] = {}  # arcs of a parent share their bend in a layer
    chains: dict[tuple[int, int], list[int]] = {}
    for child, above in enumerate(parents):
        for parent in above:
            last, chain = parent, []
            for between in range(layer[parent] + 1, layer[child]):
                if (parent, between) not in passing:
                    passing[parent, between] = len(level)
                    near_left.append([last])
                    level.append(between)
                    size.append(_BEND)
                last = passing[parent, between]
                chain.append(last)
            near_left[child].append(last)
            chains[parent, child] = chain
    near_right = children_of(near_left)
    rows = _order(level, near_left, near_right)
    y = _heights(rows, near_left, near_right, np.array(size), gap)
    bends = {arc: [float(y[k]) for k in chain] for arc, chain in chains.items()}
    return LayeredLayout(layer, y[:n], bends)


def _layers(parents: Parents) -> list[int]:
    """Return layers: one behind the last parent; what has none stands just before its children."""
    layer = [0] * len(parents)
    order = find_order(parents)
    for column in order:
        layer[column] = max((layer[p] + 1 for p in parents[column]), default=0)
    children = children_of(parents)
    for column in reversed(order):
        if not parents[column] and children[column]:
            layer[column] = min(layer[child] for child in children[column]) - 1
    return layer


def _order(
    level: Sequence[int], left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return the nodes of each layer such that few arcs cross: the best of several sweeps."""
    rows: list[list[int]] = [[] for _ in range(max(level) + 1)]
    for node, number in enumerate(level):
        rows[number].append(node)
    order = np.zeros(len(level))
    for row in rows:
        order[row] = np.arange(len(row)) - len(row) / 2
    best, fewest = [list(row) for row in rows], _crossings(rows, right)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        near = left if forwards else right
        for row in rows if forwards else reversed(rows):
            aim = [float(np.mean(order[near[k]])) if near[k] else float(order[k]) for k in row]
            row[:] = [row[k] for k in np.argsort(aim, kind="stable")]
            order[row] = np.arange(len(row)) - len(row) / 2
        crossings = _crossings(rows, right)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _crossings(rows: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> int:
    """Count how often arcs between neighbouring layers cross."""
    order = {node: k for row in rows for k, node in enumerate(row)}
    total = 0
    for row in rows:
        ends = [np.sort([order[x] for x in right[node]]) for node in row]
        flat = np.concatenate(ends).astype(np.int64) if ends else np.zeros(0, np.int64)
        if len(flat) < 2:
            continue
        above = np.zeros(int(flat.max()) + 2, np.int64)  # arcs so far that end at each position
        for below in ends:
            for end in below.tolist():
                total += int(above[end + 1 :].sum())
            for end in below.tolist():
                above[end] += 1
    return total


def _heights(
    rows: Sequence[Sequence[int]],
    left: Sequence[Sequence[int]],
    right: Sequence[Sequence[int]],
    size: NDArray[np.float64],
    gap: float,
) -> NDArray[np.float64]:
    """Return heights that keep the order and the gaps and are near those of neighbours."""
    y = np.zeros(len(size))
    for row in rows:
        y[row] = _apart(np.zeros(len(row)), size[row], gap)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        for row in rows if forwards else reversed(rows):
            both = [
                [*left[k], *right[k]] if sweep > 3 else (left if forwards else right)[k]
                for k in row
            ]
            aim = np.array(
                [y[near].mean() if near else y[k] for k, near in zip(row, both, strict=True)]
            )
            y[row] = _apart(aim, size[row], gap)
    lowest: float = (y - size / 2).min()
    return y - lowest


def _apart(aim: NDArray[np.float64], size: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Return the heights nearest to those aimed at that keep order and gaps (least squares)."""
    if not len(aim):
        return aim
    steps = (size[1:] + size[:-1]) / 2 + gap
    offset = np.concatenate(([0.0], np.cumsum(steps)))
    # With the steps taken out, heights must not decrease: neighbours that do are pooled.
    blocks: list[tuple[float, int]] = []
    for value in (aim - offset).tolist():
        mean, n = value, 1
        while blocks and blocks[-1][0] > mean:
            before, m = blocks.pop()
            mean, n = (before * m + mean * n) / (m + n), m + n
        blocks.append((mean, n))
    return np.repeat([mean for mean, _ in blocks], [n for _, n in blocks]) + offset
