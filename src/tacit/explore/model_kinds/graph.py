"""Columns and arcs between them, laid out for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.scene import text_width
from tacit.tree.network.arrows import draw_arrows
from tacit.tree.network.layout import lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["draw_graph"]

_LONGEST = 28  # characters of a name in its box
_HIGH, _TYPE = 24.0, 12.0  # a box and its text, in pixels


def draw_graph(
    schema: Schema,
    arcs: Sequence[tuple[int, int]],
    strengths: Sequence[float],
    signs: Sequence[int],
) -> dict[str, Any]:
    """Return boxes of the columns that have arcs, and arrows between them.

    Parameters
    ----------
    schema : Schema
    arcs : sequence of (int, int)
        From and to, by position; what is shown first stands first, and is short.
    strengths : sequence of float
        From 0 to 1.
    signs : sequence of int
        1 for arrows with a plain head; see :mod:`tacit.tree.network.arrows`.
    """
    columns, ends = np.unique(np.array(arcs, np.int64).reshape(-1, 2).ravel(), return_inverse=True)
    ends = ends.reshape(-1, 2)
    names = [schema.names[c][:_LONGEST] for c in columns.tolist()]
    widths = np.array([text_width(name, _TYPE) + 18.0 for name in names])
    sizes = np.column_stack([widths, np.full(len(widths), _HIGH)]).reshape(-1, 2)
    centres = np.zeros((0, 2))
    if len(ends):
        centres = lay_out(len(widths), ends, sizes, lengths=np.linspace(0.75, 1.9, len(ends)))
        centres[:, 1] = centres[:, 1].max() - centres[:, 1]
    drawn = draw_arrows(centres, sizes, ends, np.asarray(strengths), np.asarray(signs))
    return {
        "boxes": [
            {"column": c, "x": round(x, 1), "y": round(y, 1), "w": round(w, 1), "h": _HIGH}
            for c, (x, y), w in zip(
                columns.tolist(), centres.tolist(), widths.tolist(), strict=True
            )
        ],
        "arrows": [
            {
                "from": a, "to": b, "width": round(arrow.width, 1),
                "line": _path([arrow.start, arrow.bend, arrow.end]),
                "head": " ".join(f"{x:.1f},{y:.1f}" for x, y in arrow.head),
            }
            for (a, b), arrow in zip(arcs, drawn, strict=True)
        ],
    }  # fmt: skip


def _path(points: Sequence[tuple[float, float]]) -> str:
    (x, y), (bx, by), (ex, ey) = points
    return f"M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f} {ex:.1f} {ey:.1f}"
