"""The strongest arcs of a dependency network as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.scene import Bow, Box, Polygon, Scene, Words, fit, text_width
from tacit.plot.theme import FAINT, FILL, INK, LOWERS, RAISES, STROKE, VARIES
from tacit.tree.network.arrows import Arrow, draw_arrow, draw_arrows
from tacit.tree.network.influence import MARKS, WORDS
from tacit.tree.network.layout import lay_out
from tacit.tree.network.text import arc_text

if TYPE_CHECKING:
    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["network_scene"]

_TYPE, _SMALL, _TITLE = 12.0, 11.0, 14.0  # sizes of type
_PAD, _HEIGHT, _MARGIN = 9.0, 24.0, 16.0
_WIDEST = 250.0  # of a name
_TOP = 62.0  # title and legend
_COLOURS = {1: RAISES, -1: LOWERS, 0: VARIES}


def network_scene(network: DependencyNetwork, top: int) -> Scene:
    """Draw the strongest arcs: boxes with names, and arrows that are the wider the stronger."""
    arcs, total = network.arcs_, len(network.arcs_.gain)
    shown = min(top, total)
    many = f"the {shown} strongest of {total:,} arcs" if shown < total else f"all {shown} arcs"
    title = f"What predicts what: {many if shown else 'no column depends on another'}"
    ends = np.column_stack([arcs.predictor[:shown], arcs.target[:shown]])
    columns, local = np.unique(ends, return_inverse=True)
    local = local.reshape(-1, 2)
    names = [network.schema_.names[c] for c in columns.tolist()]
    texts = [fit(name, _WIDEST, _TYPE) for name in names]
    widths = [max(text_width(text, _TYPE), 10.0) + 2 * _PAD for text in texts]
    sizes = np.column_stack([widths, np.full(len(widths), _HEIGHT)]).reshape(-1, 2)
    centres = lay_out(len(columns), local, sizes) if shown else np.zeros((0, 2))
    if shown:
        low, high = centres - sizes / 2, (centres + sizes / 2).max(axis=0)
        centres = np.column_stack([centres[:, 0] - low[:, 0].min(), high[1] - centres[:, 1]])
        centres += _MARGIN, _TOP + _MARGIN
    extent = (centres + sizes / 2).max(axis=0, initial=0) + _MARGIN
    legend = _legend() if shown else []
    right = max([text_width(title, _TITLE, bold=True) + _MARGIN, *_ends(legend), extent[0] - 8])
    scene = Scene(float(right) + 8, max(float(extent[1]), 90.0), title)
    scene.items.append(Words(_MARGIN, _MARGIN + 12, title, _TITLE, INK, bold=True))
    scene.items += legend
    if shown:
        strengths = np.maximum(arcs.gain[:shown], 0) / max(float(arcs.gain[0]), 1e-300)
        signs = network._derived.influences.sign[:shown]
        drawn = draw_arrows(centres, sizes, local, strengths, signs)
        for k in reversed(range(shown)):  # the strongest last, over the others
            scene.items += _arrow(drawn[k], int(signs[k]), arc_text(network, k))
    for name, text, (x, y), width in zip(names, texts, centres.tolist(), widths, strict=True):
        left, above = x - width / 2, y - _HEIGHT / 2
        scene.items.append(
            Box(left, above, width, _HEIGHT, FILL, STROKE, radius=_HEIGHT / 3, title=name)
        )
        scene.items.append(Words(x, y + 0.35 * _TYPE, text, _TYPE, INK, "middle", title=name))
    return scene


def _arrow(arrow: Arrow, sign: int, title: str) -> list[Bow | Polygon]:
    colour = _COLOURS[sign]
    line = Bow(arrow.start, arrow.bend, arrow.end, arrow.width, colour, sign < 0, title)
    return [line, Polygon(arrow.head, colour, title)]


def _legend() -> list[Bow | Polygon | Words]:
    """Return what the three kinds of arrows mean, in a line below the title."""
    items: list[Bow | Polygon | Words] = []
    x, y = _MARGIN, _MARGIN + 34.0
    for sign, word in WORDS.items():
        curve = np.array([[x, y], [x + 15, y], [x + 30, y]])
        items += _arrow(draw_arrow(curve, 1.6, 9.0, sign), sign, "")
        text = f"{MARKS[sign]} {word}"
        text += " the probability that the target is not its default" if sign > 0 else ""
        items.append(Words(x + 36, y + 4, text, _SMALL, FAINT))
        x += 36 + text_width(text, _SMALL) + 18
    return items


def _ends(items: list[Bow | Polygon | Words]) -> list[float]:
    return [x.x + text_width(x.text, x.size) for x in items if isinstance(x, Words)]
