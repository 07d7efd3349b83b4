"""Counts or fractions of one or two columns as bars or as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.plot.drawing import (
    INK,
    cell_width,
    draw_cell_lines,
    font_size,
    new_axes,
    number_formatter,
    room,
    shorten,
    wrap_text,
    write_cells,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["MOST_LABELS", "bars", "heat_map"]

MOST_LABELS = 200  # an axis with more is a blur


def heat_map(
    values: NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
    row_title: str,
    column_title: str,
    measure: str,
    *,
    percent: bool = False,
    texts: NDArray[Any] | None = None,
    cmap: str = "Blues",
    ax: Axes | None = None,
) -> Axes:
    """Draw a cell for each row and column, darker for larger values.

    `measure` is what the values are, written beside the colour bar; `percent`: they are fractions.
    `texts` are written into the cells, where they have room for it.
    """
    names, across = [shorten(text) for text in rows], [shorten(text) for text in columns]
    wordy = 0 if texts is None else max((len(text) for text in texts.flat), default=0)
    ax = new_axes(ax, 0.1 * max(map(len, names)) + 2.2 + cell_width(wordy) * len(across),
               1.6 + 0.34 * len(names))  # fmt: skip
    size = font_size(max(len(names), len(across)))
    ax.set_xticks(range(len(across)), across, fontsize=size)
    ax.set_yticks(range(len(names)), names, fontsize=size)
    ax.set_xlabel(shorten(column_title, 60))
    ax.set_ylabel(shorten(row_title, 60))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    image = ax.imshow(values, cmap=cmap, aspect="auto", vmin=0, vmax=float(values.max()) or 1.0)
    bar = ax.figure.colorbar(image, ax=ax, label=measure, fraction=0.05, pad=0.02)
    bar.ax.yaxis.set_major_formatter(number_formatter(percent))
    bar.outline.set_visible(False)
    draw_cell_lines(ax, values.shape)
    if max(map(len, across)) * 0.6 * size > room(ax)[0] / len(across):
        ax.set_xticks(range(len(across)), across, rotation=60, ha="right", rotation_mode="anchor")
    if texts is not None:
        write_cells(ax, image, values, texts)
    return ax


def bars(
    values: NDArray[Any],
    labels: Sequence[str],
    title: str,
    measure: str,
    *,
    percent: bool = False,
    texts: Sequence[str] | None = None,
    wrap: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a horizontal bar for each label, the first on top.

    `measure` is what the values are; `percent`: they are fractions. `texts` are written at the
    bars' ends. Labels are cut short, or shown in full in lines of `wrap` characters.
    """
    names = [shorten(text) if wrap is None else wrap_text(text, wrap) for text in labels]
    lines = [line for name in names for line in name.split("\n")]
    beyond = max([0, *(len(line) - 24 for line in lines)])
    ax = new_axes(ax, 6.4 + 0.075 * beyond, 1.2 + 0.12 * len(names) + 0.18 * len(lines))
    drawn = ax.barh(range(len(names)), values, color="#4c8fc4")
    if texts is not None:
        ax.bar_label(drawn, list(texts), padding=3, fontsize=font_size(len(names)), color=INK)
        ax.margins(x=0.12)
    ax.set_yticks(range(len(names)), names, fontsize=font_size(len(names)))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_ylabel(shorten(title, 60))
    ax.set_xlabel(measure)
    ax.xaxis.set_major_formatter(number_formatter(percent))
    ax.spines[["top", "right"]].set_visible(False)
    return ax
