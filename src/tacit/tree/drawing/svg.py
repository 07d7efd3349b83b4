"""A tree or graph as SVG."""

from __future__ import annotations

from typing import Any

from tacit.plot import scene_svg
from tacit.tree.drawing.scene import tree_scene

__all__ = ["tree_svg"]


def tree_svg(model: Any, max_depth: int | None = None) -> str:
    """Return the picture of a fitted tree or graph as SVG that stands on its own.

    Parameters
    ----------
    model
        A fitted tree or graph.
    max_depth : int, optional
        Levels below the root that are drawn; by default all.
    """
    return scene_svg(tree_scene(model, max_depth))
