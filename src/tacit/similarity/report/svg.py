"""Drawings for pages about classifiers: plain SVG that takes on the colour of the text."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.page import COLOURS, Chart, logarithmic, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["grid_map", "score_curves"]

_MAX_CELLS = 60  # of a map, in each direction
_AXIS = 20  # pixels beside and below a map
_WORDS = 'font-size="12" text-anchor="middle" fill="currentColor"'


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
    chart = Chart((520, 240), 64, values, scores, logarithmic(values) or float)
    chosen = [] if best is None else [best]
    chart.elements += [
        f'<path d="M{chart.x(value):.1f} {chart.top}V{chart.base}" stroke="currentColor" '
        'stroke-opacity="0.35" stroke-dasharray="3 3"/>'
        for value in chosen
    ]
    for k, points in enumerate(curves.values()):
        chart.line(points, COLOURS[k % len(COLOURS)], ".4f")
    chart.label(values, best, parameter, score, ".4g")
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
    labelled = len(names) > len(COLOURS) and size >= 10  # colours are not enough to tell them apart
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
        if labelled and len(names[code]) <= 2:
            elements.append(
                f'<text x="{(i + 0.5) * size:.1f}" y="{height - (j + 0.5) * size + 3.5:.1f}" '
                'font-size="10" text-anchor="middle" fill="currentColor" pointer-events="none">'
                f"{escape(names[code])}</text>"
            )
    axes = (
        f'<text x="{_AXIS + width / 2:.1f}" y="{height + 16:.1f}" {_WORDS}>first dimension</text>'
        f'<text transform="translate(12 {height / 2:.1f}) rotate(-90)" {_WORDS}>'
        "second dimension</text>"
    )
    blocks = f'<g transform="translate({_AXIS} 0)">{"".join(elements)}</g>'
    return svg(width + _AXIS + 1, height + _AXIS, [axes, blocks], "blocks of the grid by class")
