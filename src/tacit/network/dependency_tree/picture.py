"""A dependency tree as a picture: from its middle to the right, edges as wide as they weigh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.dependency_tree.text import middle_of, nats, strengths
from tacit.plot import Box, Curve, Scene, Words, fit, text_width
from tacit.plot.theme import FAINT, FILL, INK, SHADE, STROKE, WARM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.network.dependency_tree.dependency_tree import DependencyTree

__all__ = ["forest_scene", "tree_scene"]

_TYPE, _SMALL, _TITLE = 12.0, 10.0, 14.0
_HEIGHT, _ROW = 22.0, 30.0
_WIDEST = 190.0  # pixels of a name
_GAP, _FLAT = 96.0, 42.0  # between a box and the next one, and the part with a number on it
_PAD, _MARGIN = 9.0, 16.0


def tree_scene(tree: DependencyTree) -> Scene:
    """Lay a tree out; names, weights and colours are those of the model."""
    names = tree.column_names_
    rooted = middle_of(len(names), tree.edges_)
    edge = rooted.edge
    return forest_scene(
        names,
        rooted.parents.tolist(),
        [0.0 if e < 0 else float(tree.weights_[e]) for e in edge.tolist()],
        f"Dependency tree of {len(names):,} column{'' if len(names) == 1 else 's'}",
        _note(tree),
        fills=[WARM if numeric else FILL for numeric in tree._layout.numeric.tolist()],
        titles=["" if e < 0 else _edge_title(tree, e) for e in edge.tolist()],
    )


def forest_scene(
    names: Sequence[str],
    parents: Sequence[int],
    weights: Sequence[float],
    title: str,
    note: str,
    *,
    fills: Sequence[str],
    titles: Sequence[str],
) -> Scene:
    """Lay trees out, one below the other: each column to the right of its parent, -1 for roots.

    Weights, fills and titles are those of columns: of the edge to the parent, of the box, and of
    what is shown where the mouse rests on the edge.
    """
    children: list[list[int]] = [[] for _ in names]
    for column in sorted(range(len(names)), key=lambda c: (-weights[c], c)):
        if parents[column] >= 0:
            children[parents[column]].append(column)
    roots = [column for column, parent in enumerate(parents) if parent < 0]
    depth, height, order = [0] * len(names), [0.0] * len(names), list(roots)
    for column in order:  # which grows as it is gone through
        for child in children[column]:
            depth[child] = depth[column] + 1
            order.append(child)
    rows = 0
    for root in roots:
        rows = _place_rows(children, root, height, rows)
    texts = [fit(name, _WIDEST, _TYPE) for name in names]
    widths = [max(text_width(text, _TYPE), 10.0) + 2 * _PAD for text in texts]
    lefts = _place_levels(depth, widths)
    total = max(left + width for left, width in zip((lefts[d] for d in depth), widths, strict=True))
    top = _MARGIN + 50
    scene = Scene(
        max(total, text_width(title, _TITLE, bold=True), text_width(note, _SMALL)) + 2 * _MARGIN,
        top + max(rows, 1) * _ROW + _MARGIN,
        title,
    )
    scene.items.append(Words(_MARGIN, _MARGIN + 14, title, _TITLE, INK, bold=True))
    scene.items.append(Words(_MARGIN, _MARGIN + 33, note, _SMALL, FAINT))
    below = order[len(roots) :]
    strength = dict(zip(below, strengths(np.array([weights[c] for c in below])), strict=True))
    middles = [top + row * _ROW + _ROW / 2 for row in height]
    for column in below:
        parent = parents[column]
        begin = _MARGIN + lefts[depth[parent]] + widths[parent], middles[parent]
        right = _MARGIN + lefts[depth[column]]
        turns = (right - _GAP, middles[parent]), (right - _FLAT, middles[column])
        points = (begin, *turns[begin[0] > turns[0][0] - 1 :], (right, middles[column]))
        shown = f"{names[parent]} – {names[column]}: {titles[column]}"
        scene.items.append(Curve(points, 0.8 + 5.2 * strength[column], SHADE, shown))
    for column in below:
        x, y = _MARGIN + lefts[depth[column]] - 6, middles[column] - 5
        words = Words(x, y, nats(weights[column]), _SMALL, FAINT, anchor="end", halo=True)
        scene.items.append(words)
    for column, text in enumerate(texts):
        x, y = _MARGIN + lefts[depth[column]], middles[column]
        scene.items.append(
            Box(x, y - _HEIGHT / 2, widths[column], _HEIGHT, fills[column], STROKE, 1.0, 6.0,
                title=names[column])
        )  # fmt: skip
        scene.items.append(Words(x + _PAD, y + 4, text, _TYPE, INK, title=names[column]))
    return scene


def _place_rows(children: list[list[int]], root: int, height: list[float], rows: int) -> int:
    """Give each leaf a row and each parent the middle of its children; return how many rows."""
    waiting = [(root, False)]
    while waiting:
        column, ready = waiting.pop()
        below = children[column]
        if not below:
            height[column] = rows
            rows += 1
        elif ready:
            height[column] = (height[below[0]] + height[below[-1]]) / 2
        else:
            waiting.append((column, True))
            waiting += [(child, False) for child in reversed(below)]
    return rows


def _place_levels(depth: list[int], widths: list[float]) -> list[float]:
    """Return where the boxes of each level begin."""
    widest = [0.0] * (max(depth) + 1)
    for level, width in zip(depth, widths, strict=True):
        widest[level] = max(widest[level], width)
    lefts = [0.0]
    for width in widest[:-1]:
        lefts.append(lefts[-1] + width + _GAP)
    return lefts


def _note(tree: DependencyTree) -> str:
    numeric = tree._layout.numeric
    note = "mutual information of neighbours in nats"
    if numeric.any() and not numeric.all():
        note += "; columns of numbers are yellow"
    if tree.edge_usage_ < 1:
        note += f"; {tree.edge_usage_:.1%} of all pairs of values read"
    return note


def _edge_title(tree: DependencyTree, edge: int) -> str:
    low, high = tree.intervals_[edge].tolist()
    weight = nats(float(tree.weights_[edge]))
    return f"{weight} nats" + ("" if low == high else f", between {nats(low)} and {nats(high)}")
