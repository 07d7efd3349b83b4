"""A net as a picture: boxes in layers, arrows from parents to children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.bayes_net.layout import lay_out_layers
from tacit.network.bayes_net.text import net_line
from tacit.plot.scene import Box, Curve, Polygon, Scene, Words, fit, text_width
from tacit.plot.theme import FILL, INK, STROKE, WARM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.network.bayes_net.graph import Parents
    from tacit.network.bayes_net.net_estimator import NetEstimator
    from tacit.schema import Schema

__all__ = ["arcs_scene", "net_scene"]

_SIZE = 12.0  # of type
_HEIGHT, _GAP = 26.0, 12.0  # of boxes, and between them
_WIDEST = 170.0  # of a box
_MARGIN, _BETWEEN = 16.0, 64.0  # around everything, and between layers
_HEAD = 7.0  # the length of an arrow's head
_LINE = 1.1  # the width of an arc, unless it has one of its own


def net_scene(net: NetEstimator) -> Scene:
    """Return the picture of a net; columns without parents have a colour of their own."""
    return arcs_scene(net.schema_, net.parents_, net_line(net))


def arcs_scene(
    schema: Schema,
    parents: Parents,
    heading: str,
    shown: Mapping[tuple[int, int], tuple[float, str]] | None = None,
) -> Scene:
    """Return the picture of arcs between columns.

    Of each arc, by its ends, `shown` is how wide it is drawn, and what is said of it.
    """
    names = schema.names
    placed = lay_out_layers(parents, _HEIGHT, _GAP)
    layers = np.array(placed.layer)
    widths = np.array([min(text_width(name, _SIZE) + 18.0, _WIDEST) for name in names])
    wide = np.array([widths[layers == k].max(initial=0.0) for k in range(layers.max() + 1)])
    busy = np.bincount([layers[c] for c, above in enumerate(parents) for _ in above] or [0])
    # Where many arcs cross a gap it is wider, so that they are not too steep.
    room = [_BETWEEN + min(float(busy[k]) * 2.0, 90.0) if k < len(busy) else _BETWEEN
            for k in range(1, len(wide))]  # fmt: skip
    left = _MARGIN + np.concatenate(([0.0], np.cumsum(wide[:-1] + room)))
    y = placed.y + _MARGIN
    right = left[layers] + widths
    lowest = max(
        [float(y.max()) + _HEIGHT / 2, *(b + _MARGIN for x in placed.bends.values() for b in x)]
    )
    scene = Scene(float(right.max()) + _MARGIN, lowest + _MARGIN, heading)
    for (parent, child), bends in placed.bends.items():
        points = [(float(right[parent]), float(y[parent]))]
        if (right[parent] < left[layers[parent]] + wide[layers[parent]] and not bends) or bends:
            points.append((float(left[layers[parent]] + wide[layers[parent]]), float(y[parent])))
        for k, bend in enumerate(bends, int(layers[parent]) + 1):
            points += [(float(left[k]), bend + _MARGIN), (float(left[k] + wide[k]), bend + _MARGIN)]
        tip = float(left[layers[child]]), float(y[child])
        width, said = (shown or {}).get((parent, child), (_LINE, ""))
        title = f"{names[parent]} → {names[child]}{said}"
        length = _HEAD + 2 * max(width - _LINE, 0.0)
        scene.items.append(Curve((*points, (tip[0] - length + 1, tip[1])), width, STROKE, title))
        head = (tip, (tip[0] - length, tip[1] - length / 2), (tip[0] - length, tip[1] + length / 2))
        scene.items.append(Polygon(head, STROKE))
    for k, column in enumerate(schema):
        x, middle = float(left[layers[k]]), float(y[k])
        fill = FILL if parents[k] else WARM
        title = f"{column.name}: {', '.join(map(str, column.labels[:12]))}"
        top, wide_box = middle - _HEIGHT / 2, float(widths[k])
        scene.items.append(
            Box(x, top, wide_box, _HEIGHT, fill, STROKE, 1.0, radius=5.0, title=title)
        )
        text = fit(column.name, wide_box - 12, _SIZE)
        centre = x + wide_box / 2
        scene.items.append(
            Words(centre, middle + _SIZE * 0.36, text, _SIZE, INK, "middle", title=title)
        )
    return scene
