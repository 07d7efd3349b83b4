"""A tree or graph as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.plot import draw_scene
from tacit.tree.drawing.scene import readable_depth, tree_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_tree"]

_MOST_ENDS = 80


def plot_tree(model: Any, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
    """Draw a fitted tree or graph: the picture that :func:`tree_svg` returns.

    Parameters
    ----------
    model
        A fitted tree or graph.
    ax : Axes, optional
        Where to draw; by default a new figure that is large enough to read it.
    max_depth : int, optional
        Levels below the root that are drawn; by default all, but of a tree of more than 80 leaves
        only so many that there are no more ends.
    """
    if max_depth is None:
        max_depth = readable_depth(model.nodes_, _MOST_ENDS)
    return draw_scene(tree_scene(model, max_depth), ax)
