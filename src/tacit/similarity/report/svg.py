"""Drawings for pages about classifiers: plain SVG that takes on the colour of the text."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["COLOURS", "grid_map", "score_curves"]

# They can be distinguished on white and on black, and the first two by the colour-blind.
COLOURS = ("#2f7fc1", "#d97a2b", "#3a9a6b", "#c2477f", "#8a6fd1", "#9a8a2b", "#4aa7a7", "#b0574a")
_MAX_CELLS = 60  # of a map, in each direction


def score_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    parameter: str,
    score: str,
    best: float | None,
) -> str:
    """Draw scores by the value of a parameter, a line for each name.

    The `best` value, which was chosen, gets a mark if it is a number.
    """
    width, height, left, bottom, top = 520, 230, 64, 44, 14
    values = sorted({x for points in curves.values() for x, _ in points})
    scores = [s for points in curves.values() for _, s in points]
    least, most = min(scores), max(scores)
    span = (most - least) or 1.0
    logarithmic = values[0] > 0 and values[-1] / values[0] > 50
    position = (lambda v: math.log(v)) if logarithmic else (lambda v: v)
    first, extent = position(values[0]), (position(values[-1]) - position(values[0])) or 1.0

    def x(value: float) -> float:
        return left + (width - left - 16) * (position(value) - first) / extent

    def y(value: float) -> float:
        return height - bottom - (height - bottom - top) * (value - least) / span

    elements = [
        f'<path d="M{left - 8} {top}V{height - bottom + 8}H{width - 6}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.4"/>'
    ]
    chosen = [] if best is None else [best]
    elements += [
        f'<path d="M{x(value):.1f} {top}V{height - bottom}" stroke="currentColor" '
        'stroke-opacity="0.35" stroke-dasharray="3 3"/>'
        for value in chosen
    ]
    for k, points in enumerate(curves.values()):
        line = " ".join(f"{x(v):.1f},{y(s):.1f}" for v, s in sorted(points))
        colour = COLOURS[k % len(COLOURS)]
        elements.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        elements += [
            f'<circle cx="{x(v):.1f}" cy="{y(s):.1f}" r="2.5" fill="{colour}">'
            f"<title>{v:g}: {s:.4f}</title></circle>"
            for v, s in points
        ]
    for value in dict.fromkeys([values[0], values[-1], *chosen]):
        bold = ' font-weight="bold"' if value == best else ""
        elements.append(_text(x(value), height - bottom + 22, f"{value:g}", "middle", bold))
    elements += [
        _text(left - 12, y(s) + 4, f"{s:.4g}", "end") for s in dict.fromkeys((least, most))
    ]
    elements.append(_text(width - 6, height - 2, parameter, "end"))
    return _svg(width, height, elements, f"{score} by {parameter}; chosen: {best}")


def grid_map(
    coords: NDArray[np.float64], codes: NDArray[np.int32], grid: Grid, names: Sequence[str]
) -> str:
    """Draw the first two dimensions of the grid: of each block its most common class."""
    cells = grid.cells(coords)[:, :2]
    if cells.shape[1] == 1:
        cells = np.column_stack((cells, np.zeros(len(cells), np.int32)))
    sides = np.ones(2, np.int64)
    sides[: len(grid.resolution[:2])] = grid.resolution[:2]
    merged = np.maximum(1, -(-sides // _MAX_CELLS))  # so many intervals are drawn as one
    cells, sides = cells // merged, -(-sides // merged)
    counts = np.zeros((int(sides[0]), int(sides[1]), len(names)), np.int64)
    np.add.at(counts, (cells[:, 0], cells[:, 1], codes), 1)
    total = counts.sum(axis=2)
    size = 420 / max(int(sides.max()), 6)
    width, height = size * sides[0], size * sides[1]
    elements = [
        f'<rect width="{width:.1f}" height="{height:.1f}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.25"/>'
    ]
    densest = math.log1p(int(total.max()))
    for i, j in np.argwhere(total):
        code = int(counts[i, j].argmax())
        purity = counts[i, j, code] / total[i, j]
        shade = 0.15 + 0.85 * math.log1p(int(total[i, j])) / densest * float(purity)
        tooltip = f"{total[i, j]:,} objects, {100 * purity:.0f}% {names[code]}"
        elements.append(
            f'<rect x="{i * size:.1f}" y="{height - (j + 1) * size:.1f}" width="{size:.1f}" '
            f'height="{size:.1f}" fill="{COLOURS[code % len(COLOURS)]}" '
            f'fill-opacity="{shade:.2f}"><title>{escape(tooltip)}</title></rect>'
        )
    return _svg(width, height, elements, "blocks of the grid by class")


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" '
        f'fill="currentColor"{more}>{escape(text)}</text>'
    )


def _svg(width: float, height: float, elements: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(label)}">{"".join(elements)}</svg>'
    )
