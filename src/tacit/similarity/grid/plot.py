"""A picture of the grid: objects by class, and the blocks that hold any."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.plot.drawing import INK, new_axes, shorten
from tacit.table.targets import read_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.grid.grid import Grid

__all__ = ["plot_grid"]

_COLOURS = ("#0b7a75", "#d1495b", "#edae49", "#30638e", "#7b5ea7", "#6b705c", "#c97b84", "#2e294e")
_MAX_BOXES = 400  # of three dimensions: more would hide the objects
_SPACE = 3


def plot_grid(coords: NDArray[np.float64], grid: Grid, y: Any, ax: Any, max_objects: int) -> Any:
    """Draw objects, and the blocks of the grid that hold any of them, in up to three dimensions."""
    n = len(coords)
    labels = np.full(n, "") if y is None else read_target(y, n).to_numpy()
    drawn = _sample(n, check_int(max_objects, "max_objects", 1))
    shown = min(_SPACE, coords.shape[1])
    ax = _axes(ax, shown)
    blocks = np.unique(grid.cells(coords)[:, :shown], axis=0)
    corner, width = grid.lower[:shown], grid.widths[:shown]
    if shown == _SPACE:
        _draw_boxes(ax, corner + blocks * width, width)
    else:
        _draw_squares(ax, corner + blocks * width, width)
    points = coords[:, :shown] if shown > 1 else np.column_stack([coords, np.zeros(n)])
    classes = np.unique(labels)
    for k, label in enumerate(classes):
        of_class = drawn[labels[drawn] == label]
        ax.scatter(
            *points[of_class].T,
            s=9,
            color=_COLOURS[k % len(_COLOURS)],
            alpha=0.7,
            linewidths=0,
            label=shorten(str(label)),
        )
    if y is not None:
        ax.legend(frameon=False, markerscale=2.5, loc="upper right")
    _name_axes(ax, shown)
    size = " x ".join(map(str, grid.resolution))
    ax.set_title(f"{n:,} objects on a grid of {size}", color=INK)
    return ax


def _sample(n: int, most: int) -> NDArray[np.int64]:
    """Return numbers of objects to draw, the same for the same objects."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _axes(ax: Any, shown: int) -> Any:
    if ax is not None:
        if shown == _SPACE and getattr(ax, "name", "") != "3d":
            raise InputError(
                'ax must be three-dimensional: plt.subplots(subplot_kw={"projection": "3d"})'
            )
        return ax
    if shown < _SPACE:
        return new_axes(None, 7.0, 6.0 if shown > 1 else 2.6)
    return new_axes(None, 7.5, 6.5, projection="3d")


def _name_axes(ax: Any, shown: int) -> None:
    ax.set_xlabel("first dimension")
    if shown == 1:
        ax.set_yticks([])
    else:
        ax.set_ylabel("second dimension")
    if shown == _SPACE:
        ax.set_zlabel("third dimension")


def _draw_squares(ax: Any, corners: NDArray[np.float64], width: NDArray[np.float64]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    if len(width) == 1:  # a line of blocks
        corners = np.column_stack([corners, np.full(len(corners), -0.5)])
        width = np.append(width, 1.0)
    patches = [Rectangle(tuple(corner), *width) for corner in corners]
    ax.add_collection(
        PatchCollection(patches, facecolor="#f0efe9", edgecolor="#b9b7ac", linewidth=0.4)
    )
    ax.margins(0.02)


def _draw_boxes(ax: Any, corners: NDArray[np.float64], width: NDArray[np.float64]) -> None:
    from mpl_toolkits.mplot3d.art3d import (  # type: ignore[import-untyped]
        Line3DCollection,
    )

    ends = np.array(list(product((0, 1), repeat=_SPACE)))
    edges = [(a, b) for a in ends for b in ends if np.sum(b - a) == 1 and np.all(b >= a)]
    if len(corners) > _MAX_BOXES:
        corners = corners[_sample(len(corners), _MAX_BOXES)]
    lines = [(corner + a * width, corner + b * width) for corner in corners for a, b in edges]
    ax.add_collection3d(Line3DCollection(lines, colors="#b9b7ac", linewidths=0.3, alpha=0.6))
