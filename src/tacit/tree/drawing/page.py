"""A tree or a graph as a page: one file, which needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.plot import Box, scene_svg
from tacit.plot.page import PAGE_STYLE, document, facts_list
from tacit.tree.drawing.captions import captions_of
from tacit.tree.drawing.scene import tree_scene

if TYPE_CHECKING:
    from tacit.tree.base import TreeEstimator

__all__ = ["tree_page"]

_STYLE = """
:root { --width: none; }
.picture { overflow: auto; max-height: 92vh; border: 1px solid rgba(128, 128, 128, .35);
  border-radius: 8px; }
.picture svg { display: block; }
@media print { .picture { max-height: none; overflow: visible; border: 0; } }
"""
# A large tree is shown from its root on, which is somewhere on the left.
_SCRIPT = (
    "for (const box of document.querySelectorAll('.picture'))"
    " box.scrollTop = box.scrollHeight * box.dataset.root - box.clientHeight / 2;"
)


def tree_page(model: TreeEstimator, title: str, max_depth: int | None) -> str:
    """Return a page with the picture of a tree, which can be scrolled if it is large."""
    nodes = model.nodes_
    facts = [
        ("records", captions_of(model).count(0)),
        ("leaves", f"{nodes.n_leaves:,}"),
        ("depth", f"{nodes.depth:,}"),
    ]
    scene = tree_scene(model, max_depth)
    root = min((x for x in scene.items if isinstance(x, Box) and x.title), key=lambda box: box.x)
    at = (root.y + root.height / 2) / scene.height
    body = (
        f'{facts_list(facts)}\n<div class="picture" data-root="{at:.4f}">{scene_svg(scene)}</div>'
        f"\n<script>{_SCRIPT}</script>\n"
    )
    return document(title, PAGE_STYLE + _STYLE, body)
