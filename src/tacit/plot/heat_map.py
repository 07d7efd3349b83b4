"""Counts or shares of one or two columns as bars or as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["MOST_LABELS", "bars", "heat_map", "shorten"]

MOST_LABELS = 200  # an axis with more is a blur
_LONGEST = 24  # characters of a label
_INK = "#1a1a1a"


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

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
    rows, columns : sequence of str
        Labels.
    row_title, column_title : str
        Names of the axes.
    measure : str
        What the values are; written beside the colour bar.
    percent : bool
        The values are shares.
    texts : ndarray of str, optional
        What to write into the cells, where they have room for it.
    cmap : str
    ax : Axes, optional
        Where to draw; by default a new figure.
    """
    names, across = [shorten(text) for text in rows], [shorten(text) for text in columns]
    wordy = 0 if texts is None else max((len(text) for text in texts.flat), default=0)
    ax = _axes(ax, 0.1 * max(map(len, names)) + 2.2 + _cell_width(wordy) * len(across),
               1.6 + 0.34 * len(names))  # fmt: skip
    size = _font_size(max(len(names), len(across)))
    ax.set_xticks(range(len(across)), across, fontsize=size)
    ax.set_yticks(range(len(names)), names, fontsize=size)
    ax.set_xlabel(shorten(column_title, 60))
    ax.set_ylabel(shorten(row_title, 60))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    image = ax.imshow(values, cmap=cmap, aspect="auto", vmin=0, vmax=float(values.max()) or 1.0)
    bar = ax.figure.colorbar(image, ax=ax, label=measure, fraction=0.05, pad=0.02)
    bar.ax.yaxis.set_major_formatter(_formatter(percent))
    bar.outline.set_visible(False)
    _grid(ax, values.shape)
    if max(map(len, across)) * 0.6 * size > _room(ax)[0] / len(across):
        ax.set_xticks(range(len(across)), across, rotation=60, ha="right", rotation_mode="anchor")
    if texts is not None:
        _write(ax, image, values, texts)
    return ax


def bars(
    values: NDArray[Any],
    labels: Sequence[str],
    title: str,
    measure: str,
    *,
    percent: bool = False,
    texts: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a horizontal bar for each label, the first on top.

    Parameters
    ----------
    values : ndarray of shape (labels,)
    labels : sequence of str
    title : str
        Name of the axis.
    measure : str
        What the values are.
    percent : bool
        The values are shares.
    texts : sequence of str, optional
        What to write at the bars' ends.
    ax : Axes, optional
        Where to draw; by default a new figure.
    """
    names = [shorten(text) for text in labels]
    ax = _axes(ax, 6.4, 1.2 + 0.3 * len(names))
    drawn = ax.barh(range(len(names)), values, color="#4c8fc4")
    if texts is not None:
        ax.bar_label(drawn, list(texts), padding=3, fontsize=_font_size(len(names)), color=_INK)
        ax.margins(x=0.12)
    ax.set_yticks(range(len(names)), names, fontsize=_font_size(len(names)))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_ylabel(shorten(title, 60))
    ax.set_xlabel(measure)
    ax.xaxis.set_major_formatter(_formatter(percent))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line and no longer than this; dollars are no formula.

    >>> shorten("a label that goes on and on and on", 16)
    'a label that go…'
    """
    line = " ".join(text.split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return line.replace("$", r"\$")


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install tacit[plot]") from error
    size = (min(max(width, 4.0), 24.0), min(max(height, 2.6), 24.0))
    return plt.subplots(figsize=size, layout="constrained")[1]


def _cell_width(characters: int) -> float:
    return min(max(0.34, 0.09 * characters + 0.12), 0.8)


def _font_size(n: int) -> float:
    return 9 if n <= 20 else 8 if n <= 40 else 6 if n <= 80 else 4


def _formatter(percent: bool) -> Any:
    from matplotlib import ticker

    return ticker.PercentFormatter(1) if percent else ticker.StrMethodFormatter("{x:,.10g}")


def _room(ax: Axes) -> tuple[float, float]:
    """Return the width and the height of the axes in points, all else being in its place."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    box = ax.get_position()
    return 72 * figure.get_figwidth() * box.width, 72 * figure.get_figheight() * box.height


def _grid(ax: Axes, shape: tuple[int, ...]) -> None:
    """Draw white lines between the cells."""
    if max(shape) > 60:
        return
    ax.set_xticks(np.arange(-0.5, shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, shape[0]), minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)


def _write(ax: Axes, image: Any, values: NDArray[Any], texts: NDArray[Any]) -> None:
    """Write into the cells, in the ink that stands out, if there is room to read it."""
    width, height = _room(ax)
    longest = max(len(text) for text in texts.flat)
    size = min(
        9.0, width / values.shape[1] / (0.62 * longest + 0.4), 0.75 * height / values.shape[0]
    )
    if size < 5:
        return
    shades = image.cmap(image.norm(values))[..., :3] @ (0.299, 0.587, 0.114)
    for (row, column), text in np.ndenumerate(texts):
        ink = _INK if shades[row, column] > 0.55 else "white"
        ax.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)
