"""Drawings for pages about classifiers: plain SVG that takes on the colour of the text."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.page import COLOURS, Chart, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["grid_map", "score_curves"]

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
    values = sorted({x for points in curves.values() for x, _ in points})
    scores = [s for points in curves.values() for _, s in points]
    logarithmic = values[0] > 0 and values[-1] / values[0] > 50
    chart = Chart((520, 230), 64, values, scores, math.log if logarithmic else float)
    chosen = [] if best is None else [best]
    chart.elements += [
        f'<path d="M{chart.x(value):.1f} {chart.top}V{chart.base}" stroke="currentColor" '
        'stroke-opacity="0.35" stroke-dasharray="3 3"/>'
        for value in chosen
    ]
    for k, points in enumerate(curves.values()):
        chart.line(points, COLOURS[k % len(COLOURS)], ".4f")
    chart.label(dict.fromkeys([values[0], values[-1], *chosen]), best, parameter, ".4g")
    return chart.to_svg(f"{score} by {parameter}; chosen: {best}")


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
    return svg(width, height, elements, "blocks of the grid by class")
