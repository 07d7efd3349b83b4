"""The strongest arcs of a dependency network as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.drawing import INK, new_axes, room, shorten
from tacit.tree.network.layout import lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.tree.network.forest import Arcs

__all__ = ["plot_network"]

_TYPE = 9.0  # points
_PAD = 4.5  # around a name
_PAPER, _EDGE, _ARROW = "#f3f6fa", "#8294a8", "#2f6690"


def plot_network(names: Sequence[str], arcs: Arcs, top: int, ax: Axes | None) -> Axes:
    """Draw the strongest arcs: boxes with names, and arrows that are the wider the stronger."""
    shown = min(top, len(arcs.gain))
    ends = np.column_stack([arcs.predictor[:shown], arcs.target[:shown]])
    columns, local = np.unique(ends, return_inverse=True)
    local = local.reshape(-1, 2)
    texts = [shorten(names[c], 36) for c in columns.tolist()]
    sizes = _sizes(texts)
    centres = lay_out(len(columns), local, sizes) if shown else np.zeros((0, 2))
    extent = (centres + sizes / 2).max(axis=0) if shown else np.array([300.0, 100.0])
    ax = new_axes(ax, extent[0] / 72 + 0.5, extent[1] / 72 + 0.9)
    ax.set(xlim=(-8, extent[0] + 8), ylim=(-8, extent[1] + 8), aspect="equal")
    ax.set_axis_off()
    total = len(arcs.gain)
    many = f"the {shown} strongest of {total:,} arcs" if shown < total else f"all {shown} arcs"
    ax.set_title(f"What predicts what: {many if shown else 'no column depends on another'}")
    if not shown:
        return ax
    scale = min(1.0, *(have / want for have, want in zip(room(ax), extent + 16, strict=True)))
    _draw_arrows(ax, centres, sizes, local, arcs.gain[:shown], scale)
    for text, (x, y), (width, height) in zip(texts, centres, sizes, strict=True):
        _draw_box(ax, text, x, y, width, height, scale)
    return ax


def _sizes(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return width and height of the box of each name."""
    from matplotlib.textpath import TextPath

    widths = [TextPath((0, 0), text, size=_TYPE).get_extents().width for text in texts]
    sizes = np.empty((len(texts), 2))
    sizes[:, 0] = np.maximum(widths, 10) + 2 * _PAD
    sizes[:, 1] = _TYPE * 1.2 + 2 * _PAD
    return sizes


def _draw_box(
    ax: Axes, text: str, x: float, y: float, width: float, height: float, scale: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    round_box: Any = f"round,pad=0,rounding_size={height / 3:.2f}"
    box = FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, boxstyle=round_box,
        facecolor=_PAPER, edgecolor=_EDGE, linewidth=0.8 * scale, zorder=3,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(
        x, y, text, ha="center", va="center_baseline", fontsize=_TYPE * scale, color=INK, zorder=4
    )


def _draw_arrows(
    ax: Axes,
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    ends: NDArray[np.int64],
    gains: NDArray[np.float64],
    scale: float,
) -> None:
    """Draw arrows from box to box; two that go both ways bend away from each other."""
    from matplotlib.patches import FancyArrowPatch

    strength = np.sqrt(np.maximum(gains, 0) / max(float(gains.max()), 1e-300))
    both = {(int(a), int(b)) for a, b in ends}
    for (a, b), s in reversed(list(zip(ends.tolist(), strength.tolist(), strict=True))):
        bend = 0.18 if (b, a) in both else 0.06
        start, end = centres[a], centres[b]
        arrow = FancyArrowPatch(
            _border(start, end, sizes[a], bend), _border(end, start, sizes[b], -bend),
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>", mutation_scale=(7 + 7 * s) * scale, shrinkA=0, shrinkB=1.5 * scale,
            linewidth=(0.6 + 3.9 * s * s) * scale, color=_ARROW, alpha=0.35 + 0.55 * s, zorder=2,
            capstyle="butt", joinstyle="miter",
        )  # fmt: skip
        ax.add_patch(arrow)


def _border(
    centre: NDArray[np.float64],
    other: NDArray[np.float64],
    size: NDArray[np.float64],
    bend: float,
) -> tuple[float, float]:
    """Return where a bent arc leaves the box on its way to another centre."""
    # arc3 bends about a control point beside the middle: the arc sets out towards that point.
    middle = (centre + other) / 2
    dx, dy = other - centre
    control = middle + bend * np.array([dy, -dx])
    way = control - centre
    reach = np.abs(way) / (size / 2)
    out = centre + way / max(float(reach.max()), 1.0)
    return float(out[0]), float(out[1])
