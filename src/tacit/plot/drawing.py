"""Helpers of figures: new axes, short texts, and cells to write into."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.page import logarithmic
from tacit.plot.theme import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = [
    "INK",
    "cell_width",
    "draw_cell_lines",
    "font_size",
    "new_axes",
    "number_formatter",
    "room",
    "scale_skewed",
    "shorten",
    "wrap_text",
    "write_cells",
]

_LONGEST = 24  # characters of a label


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line and no longer than this; dollars are no formula.

    >>> shorten("a label that goes on and on and on", 16)
    'a label that go…'
    """
    line = " ".join(text.split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return line.replace("$", r"\$")


def wrap_text(text: str, longest: int) -> str:
    """Return the text in lines of at most so many characters; dollars are no formula.

    >>> wrap_text("a label that goes on and on and on", 16).splitlines()
    ['a label that', 'goes on and on', 'and on']
    """
    return "\n".join(wrap(text, longest, break_on_hyphens=False) or [""]).replace("$", r"\$")


def new_axes(
    ax: Axes | None, width: float, height: float, most: float = 24.0, **options: Any
) -> Axes:
    """Return the axes, or those of a new figure of this size in inches, within limits."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install tacit[plot]") from error
    size = (min(max(width, 4.0), most), min(max(height, 2.6), most))
    return plt.subplots(figsize=size, subplot_kw=options, layout="constrained")[1]


def cell_width(characters: int) -> float:
    """Return how wide a cell must be for a text, in inches."""
    return min(max(0.34, 0.09 * characters + 0.12), 0.8)


def font_size(n: int) -> float:
    """Return the size of type for an axis with n labels."""
    return 9 if n <= 20 else 8 if n <= 40 else 6 if n <= 80 else 4


def number_formatter(percent: bool) -> Any:
    """Return the formatter of an axis of numbers, or of fractions in per cent."""
    from matplotlib import ticker

    return ticker.PercentFormatter(1) if percent else ticker.StrMethodFormatter("{x:,.10g}")


def scale_skewed(ax: Axes, values: Sequence[float]) -> None:
    """Make the axis of x logarithmic if its values ask for it; zero keeps a place."""
    if logarithmic(values) is None:
        return
    least = min(x for x in values if x > 0)
    if min(values) > 0:
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=least)


def room(ax: Axes) -> tuple[float, float]:
    """Return the width and the height of the axes in points, after layout."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    box = ax.get_position()
    return 72 * figure.get_figwidth() * box.width, 72 * figure.get_figheight() * box.height


def draw_cell_lines(ax: Axes, shape: tuple[int, ...]) -> None:
    """Draw white lines between the cells."""
    if max(shape) > 60:
        return
    ax.set_xticks(np.arange(-0.5, shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, shape[0]), minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)


def write_cells(ax: Axes, image: Any, values: NDArray[Any], texts: NDArray[Any]) -> float:
    """Write into the cells, in the ink that stands out, if there is room to read it.

    Returns the size of the type that there is room for.
    """
    width, height = room(ax)
    longest = max(len(text) for text in texts.flat)
    size: float = min(
        9.0, width / values.shape[1] / (0.62 * longest + 0.4), 0.75 * height / values.shape[0]
    )
    if size < 5:
        return size
    shades = image.cmap(image.norm(values))[..., :3] @ (0.299, 0.587, 0.114)
    for (row, column), text in np.ndenumerate(texts):
        ink = INK if shades[row, column] > 0.55 else "white"
        ax.text(column, row, text, ha="center", va="center", fontsize=size, color=ink)
    return size
