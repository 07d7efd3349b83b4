"""Lifts of values in clusters as a heat map, below the sizes of the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.drawing import INK, draw_cell_lines, font_size, new_axes, shorten, write_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["lift_map"]

_LOWEST, _HIGHEST = -3, 5  # lifts below 2⁻³ and beyond 2⁵ have the colours of just that
# Less, no difference, more. In sparse data most values are rare in most clusters, so that less is
# pale: it is not to draw the eye from what clusters have.
_COLOURS = ["#f2cda6", "#f7e5d1", "#f9f9f7", "#7ab0db", "#1c5b96"]
_ROW = 0.27  # inches


def lift_map(
    lifts: NDArray[np.float64],
    fractions: NDArray[np.float64],
    overall: NDArray[np.float64],
    values: Sequence[str],
    clusters: Sequence[str],
    sizes: NDArray[np.float64],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a cell for each value and cluster: its colour is the lift, its text the fraction.

    `overall` fractions, of all records that have the values, are written on the left; the `sizes`
    of clusters, as fractions of all records, are bars on top.
    """
    names = [shorten(text, 40) for text in values]
    heads = [shorten(text, 20) for text in clusters]
    width = 0.46 * (len(heads) + 1) + 0.075 * max(map(len, names), default=0) + 1.5
    ax = new_axes(ax, width, _ROW * len(names) + 2.0)
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    logs = np.clip(np.log2(np.maximum(lifts, 2.0**_LOWEST)), _LOWEST, _HIGHEST)
    highest = max(2.0, float(logs.max(initial=0)))
    cmap = LinearSegmentedColormap.from_list("lift", _COLOURS)
    image = ax.imshow(logs, cmap=cmap, aspect="auto", norm=TwoSlopeNorm(0, _LOWEST, highest))
    _label(ax, names, heads)
    _colour_bar(ax, image, highest)
    _sizes(ax, sizes, len(names))
    draw_cell_lines(ax, logs.shape)
    ax.set_xlim(-1.5, len(heads) - 0.5)
    if len(names):
        texts = np.array([[_percent(x) for x in row] for row in fractions.tolist()], object)
        size = write_cells(ax, image, logs, texts)
        for row, fraction in enumerate(overall.tolist()):
            ax.text(-1, row, _percent(fraction), ha="center", va="center", fontsize=size, color=INK)
    return ax


def _percent(fraction: float) -> str:
    return f"{fraction:.0%}" if fraction >= 0.0995 or fraction < 0.0005 else f"{fraction:.1%}"


def _label(ax: Axes, names: list[str], heads: list[str]) -> None:
    rotated = max(map(len, heads)) > 4
    ax.set_xticks(range(-1, len(heads)), ["all", *heads], fontsize=font_size(len(heads)))
    if rotated:
        for text in ax.get_xticklabels():
            text.set(rotation=60, ha="right", rotation_mode="anchor")
    else:
        ax.set_xlabel("cluster")
    ax.set_yticks(range(len(names)), names, fontsize=font_size(len(names) // 2))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _colour_bar(ax: Axes, image: Any, highest: float) -> None:
    bar = ax.figure.colorbar(
        image, ax=ax, label="lift", fraction=0.04, pad=0.02, aspect=22, shrink=0.7
    )
    powers = range(_LOWEST, int(highest) + 1)
    bar.set_ticks(list(powers), labels=[f"{2**p}" if p >= 0 else f"1/{2**-p}" for p in powers])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)


def _sizes(ax: Axes, sizes: NDArray[np.float64], n_rows: int) -> None:
    """Draw the sizes as bars above the heat map, each above its column."""
    height = min(0.5, 2.4 / max(n_rows, 1))
    top = ax.inset_axes((0, 1.01, 1, height), sharex=ax)
    bars = top.bar(range(len(sizes)), sizes, color="#8a8f98", width=0.8)
    size = font_size(len(sizes)) - (0 if len(sizes) <= 12 else 2)
    top.bar_label(bars, [_percent(x) for x in sizes.tolist()], fontsize=size, color=INK, padding=1)
    top.set_ylim(0, 1.3 * float(sizes.max(initial=0)) or 1)
    top.tick_params(which="both", left=False, labelleft=False, bottom=False, labelbottom=False)
    top.spines[:].set_visible(False)
    top.set_ylabel("size", rotation=0, ha="right", va="center", color=INK)
