"""A net as a picture: boxes in layers, arrows from parents to children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.bayes_net.layout import lay_out_layers
from tacit.network.bayes_net.text import net_line
from tacit.plot.scene import Box, Curve, Polygon, Scene, Words, fit, text_width
from tacit.plot.theme import FILL, INK, STROKE, WARM

if TYPE_CHECKING:
    from tacit.network.bayes_net.net_estimator import NetEstimator

__all__ = ["net_scene"]

_SIZE = 12.0  # of type
_HEIGHT, _GAP = 26.0, 12.0  # of boxes, and between them
_WIDEST = 170.0  # of a box
_MARGIN, _BETWEEN = 16.0, 64.0  # around everything, and between layers
_HEAD = 7.0  # the length of an arrow's head


def net_scene(net: NetEstimator) -> Scene:
    """Return the picture of a net; columns without parents have a colour of their own."""
    placed = lay_out_layers(net.parents_, _HEIGHT, _GAP)
    layers = np.array(placed.layer)
    widths = np.array([min(text_width(name, _SIZE) + 18.0, _WIDEST) for name in net.column_names_])
    wide = np.array([widths[layers == k].max(initial=0.0) for k in range(layers.max() + 1)])
    busy = np.bincount([layers[c] for c, above in enumerate(net.parents_) for _ in above] or [0])
    # Where many arcs cross a gap it is wider, so that they are not too steep.
    room = [_BETWEEN + min(float(busy[k]) * 2.0, 90.0) if k < len(busy) else _BETWEEN
            for k in range(1, len(wide))]  # fmt: skip
    left = _MARGIN + np.concatenate(([0.0], np.cumsum(wide[:-1] + room)))
    y = placed.y + _MARGIN
    right = left[layers] + widths
    lowest = max(
        [float(y.max()) + _HEIGHT / 2, *(b + _MARGIN for x in placed.bends.values() for b in x)]
    )
    scene = Scene(float(right.max()) + _MARGIN, lowest + _MARGIN, net_line(net))
    for (parent, child), bends in placed.bends.items():
        points = [(float(right[parent]), float(y[parent]))]
        if (right[parent] < left[layers[parent]] + wide[layers[parent]] and not bends) or bends:
            points.append((float(left[layers[parent]] + wide[layers[parent]]), float(y[parent])))
        for k, bend in enumerate(bends, int(layers[parent]) + 1):
            points += [(float(left[k]), bend + _MARGIN), (float(left[k] + wide[k]), bend + _MARGIN)]
        tip = float(left[layers[child]]), float(y[child])
        title = f"{net.column_names_[parent]} → {net.column_names_[child]}"
        scene.items.append(Curve((*points, (tip[0] - _HEAD + 1, tip[1])), 1.1, STROKE, title))
        head = (tip, (tip[0] - _HEAD, tip[1] - _HEAD / 2), (tip[0] - _HEAD, tip[1] + _HEAD / 2))
        scene.items.append(Polygon(head, STROKE))
    for k, column in enumerate(net.schema_):
        x, middle = float(left[layers[k]]), float(y[k])
        fill = FILL if net.parents_[k] else WARM
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
