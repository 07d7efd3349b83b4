"""Figures. They take plain arrays and texts; matplotlib is loaded when one is drawn."""

from tacit.plot.heat_map import MOST_LABELS, bars, heat_map
from tacit.plot.lift_map import lift_map
from tacit.plot.scene import Box, Curve, Scene, Words, draw_scene, fit, scene_svg, text_width

__all__ = ["MOST_LABELS", "bars", "heat_map", "lift_map"]
__all__ += ["Box", "Curve", "Scene", "Words", "draw_scene", "fit", "scene_svg", "text_width"]
