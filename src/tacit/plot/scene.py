"""Pictures made of boxes, curves and words, which SVG and matplotlib draw alike.

Lengths are pixels; y grows downwards. Whoever makes a scene decides where everything goes and
cuts texts to the room they have (:func:`fit`).
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from tacit.plot.drawing import new_axes, room
from tacit.plot.theme import PAPER, picture_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Bow",
    "Box",
    "Curve",
    "Dots",
    "Polygon",
    "Scene",
    "Words",
    "draw_scene",
    "fit",
    "scene_svg",
    "text_width",
]

_PER_INCH = 84.0  # pixels of a scene in an inch of a new figure
_MOST_INCHES = 48.0
_SELECTOR = "svg.tacit-picture"
_SMALLEST = 0.75  # as much smaller may a picture be shown to fit a page
_FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Box:
    """A rectangle; `title` is shown where the mouse rests on it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str | None = None
    stroke_width: float = 1.0
    radius: float = 0.0
    dashed: bool = False
    title: str = ""


@dataclass(frozen=True)
class Curve:
    """A line through points, along x at each of them."""

    points: tuple[tuple[float, float], ...]
    width: float
    colour: str
    title: str = ""


@dataclass(frozen=True)
class Bow:
    """A line that bends once, towards a point between its ends."""

    start: tuple[float, float]
    bend: tuple[float, float]
    end: tuple[float, float]
    width: float
    colour: str
    dashed: bool = False
    title: str = ""


@dataclass(frozen=True)
class Dots:
    """Many dots of one size and colour."""

    points: tuple[tuple[float, float], ...]
    radius: float
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Polygon:
    """A filled shape with straight sides, such as the head of an arrow."""

    points: tuple[tuple[float, float], ...]
    fill: str
    title: str = ""


@dataclass(frozen=True)
class Words:
    """A line of text; `y` is its base line."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    halo: bool = False
    title: str = ""


Item: TypeAlias = Bow | Box | Curve | Dots | Polygon | Words


@dataclass
class Scene:
    """A picture: its size, what it is called, and what is on it, the lowest first."""

    width: float
    height: float
    title: str = ""
    items: list[Item] = field(default_factory=list)


_NARROW, _WIDE = "fijlrtI.,:;'|!()[]{}/\\- ", "mwMW@%&≤≥…—"


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return about how wide a line of text is, rather more than less.

    >>> round(text_width("hours per week", 12))
    98
    """
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.37
        elif letter in _WIDE:
            ems += 0.92
        elif ord(letter) > 0x2E80:
            ems += 1.05
        else:
            ems += 0.69 if letter.isupper() else 0.64
    return ems * size * (1.1 if bold else 1.0)


def fit(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return the text on one line, cut short with an ellipsis where it is wider than this.

    >>> fit("a label that goes on and on and on", 100, 12)
    'a label that g…'
    """
    line = " ".join(text.split())
    if text_width(line, size, bold) <= width + 0.01:  # widths are made of just such sums
        return line
    while line and text_width(line + "…", size, bold) > width:
        line = line[:-1]
    return line.rstrip() + "…"


def scene_svg(scene: Scene) -> str:
    """Return the scene as a complete SVG document.

    >>> svg = scene_svg(Scene(20, 10, "a < b", [Box(0, 0, 20, 10, "red")]))
    >>> '<title>a &lt; b</title>' in svg and 'fill="red"' in svg
    True
    """
    size = f"{scene.width:.0f}", f"{scene.height:.0f}"
    drawn = "\n".join(map(_svg_item, scene.items))
    style = picture_style([PAPER, *(x for item in scene.items for x in _colours(item))], _SELECTOR)
    # As wide as the page at most, and scaled down only as far as texts can be read.
    least = min(scene.width, max(scene.width * _SMALLEST, 300.0))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tacit-picture" '
        f'viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" role="img" '
        f'font-family="{_FONTS}" style="max-width:100%;min-width:{least:.0f}px;height:auto">\n'
        f"<title>{_escape(scene.title)}</title>\n<style>\n{style}</style>\n"
        f'<rect width="100%" height="100%" fill="{PAPER}"/>\n{drawn}\n</svg>\n'
    )


def _colours(item: Item) -> tuple[str, ...]:
    """Return the colours of an item that may be others where it is dark."""
    if isinstance(item, Box):
        return item.fill, item.stroke or ""
    return (item.fill if isinstance(item, Polygon) else item.colour,)


def _escape(text: str) -> str:
    """Escape what means something in XML, and drop what it cannot hold."""
    kept = (x if x >= " " and x not in "\ufffe\uffff" else " " for x in text)
    return html.escape("".join(x for x in kept if not "\ud800" <= x <= "\udfff"))


def _svg_item(item: Item) -> str:
    if isinstance(item, Dots):  # lines of no length with round ends: one element, however many
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in item.points)
        return (
            f'<path class="dots" d="{path}" fill="none" stroke="{item.colour}" '
            f'stroke-width="{2 * item.radius:.1f}" stroke-linecap="round" '
            f'stroke-opacity="{item.opacity:g}"/>'
        )
    note = f"<title>{_escape(item.title)}</title>" if item.title else ""
    if isinstance(item, Box):
        stroke = f' stroke="{item.stroke}" stroke-width="{item.stroke_width:g}"'
        dashes = ' stroke-dasharray="4 3"' if item.dashed else ""
        return (
            f'<rect x="{item.x:.1f}" y="{item.y:.1f}" width="{item.width:.1f}" '
            f'height="{item.height:.1f}" rx="{item.radius:g}" fill="{item.fill}"'
            f"{stroke + dashes if item.stroke else ''}>{note}</rect>"
        )
    if isinstance(item, Curve):
        (x, y), *rest = item.points
        path = f"M{x:.1f} {y:.1f}"
        for nx, ny in rest:
            middle = (x + nx) / 2
            path += (
                f"H{nx:.1f}"
                if ny == y
                else f"C{middle:.1f} {y:.1f} {middle:.1f} {ny:.1f} {nx:.1f} {ny:.1f}"
            )
            x, y = nx, ny
        return (
            f'<path d="{path}" fill="none" stroke="{item.colour}" '
            f'stroke-width="{item.width:.2f}">{note}</path>'
        )
    if isinstance(item, Bow):
        (x, y), (bx, by), (nx, ny) = item.start, item.bend, item.end
        dashes = ' stroke-dasharray="6 4"' if item.dashed else ""
        return (
            f'<path d="M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f} {nx:.1f} {ny:.1f}" fill="none" '
            f'stroke="{item.colour}" stroke-width="{item.width:.2f}"{dashes}>{note}</path>'
        )
    if isinstance(item, Polygon):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in item.points)
        return f'<polygon points="{corners}" fill="{item.fill}">{note}</polygon>'
    weight = ' font-weight="bold"' if item.bold else ""
    where = f'x="{item.x:.1f}" y="{item.y:.1f}" font-size="{item.size:g}"{weight}'
    where += "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    text = _escape(item.text)
    # Not all programs know paint-order, so that the halo is another text.
    halo = f'<text {where} fill="{PAPER}" stroke="{PAPER}" stroke-width="3">{text}</text>'
    words = f'<text {where} fill="{item.colour}">{note}{text}</text>'
    return halo + words if item.halo else words


def draw_scene(scene: Scene, ax: Axes | None = None) -> Axes:
    """Draw the scene with matplotlib: as large as fits the axes, or as a new figure of its size."""
    inches = scene.width / _PER_INCH, scene.height / _PER_INCH
    shrink = min(1.0, _MOST_INCHES / max(inches))
    ax = new_axes(ax, inches[0] * shrink, inches[1] * shrink, most=_MOST_INCHES)
    ax.set_axis_off()
    ax.set_xlim(0, scene.width)
    ax.set_ylim(scene.height, 0)
    width, height = room(ax)
    ax.set_aspect("equal")
    points = min(width / scene.width, height / scene.height)  # in a pixel
    for item in scene.items:
        _draw_item(ax, item, points)
    return ax


def _draw_item(ax: Axes, item: Item, points: float) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.patches import Polygon as PolygonPatch
    from matplotlib.path import Path
    from matplotlib.patheffects import withStroke

    if isinstance(item, Box):
        style = f"round,pad=0,rounding_size={item.radius:g}" if item.radius else "square,pad=0"
        box = FancyBboxPatch(
            (item.x, item.y),
            item.width,
            item.height,
            boxstyle=style,
            facecolor=item.fill,
            edgecolor=item.stroke or "none",
            linewidth=item.stroke_width * points if item.stroke else 0,
            linestyle=(0, (4, 3)) if item.dashed else "-",
        )
        ax.add_patch(box)
    elif isinstance(item, Curve):
        path, codes = [item.points[0]], [Path.MOVETO]
        for (x, y), (nx, ny) in zip(item.points, item.points[1:], strict=False):
            middle = (x + nx) / 2
            path += [(middle, y), (middle, ny), (nx, ny)]
            codes += [Path.CURVE4] * 3
        ax.add_patch(
            PathPatch(
                Path(path, codes),
                facecolor="none",
                edgecolor=item.colour,
                linewidth=item.width * points,
                capstyle="butt",
            )
        )
    elif isinstance(item, Bow):
        ax.add_patch(
            PathPatch(
                Path([item.start, item.bend, item.end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]),
                facecolor="none",
                edgecolor=item.colour,
                linewidth=item.width * points,
                linestyle=(0, (4, 2.5)) if item.dashed else "-",
                capstyle="butt",
            )
        )
    elif isinstance(item, Dots):
        x, y = zip(*item.points, strict=True) if item.points else ((), ())
        area = (2 * item.radius * points) ** 2
        ax.scatter(x, y, area, color=item.colour, alpha=item.opacity, linewidths=0)
    elif isinstance(item, Polygon):
        ax.add_patch(PolygonPatch(item.points, closed=True, facecolor=item.fill, linewidth=0))
    else:
        ha = {"start": "left", "middle": "center", "end": "right"}[item.anchor]
        effects = [withStroke(linewidth=3 * points, foreground="white")] if item.halo else None
        ax.text(
            item.x,
            item.y,
            item.text.replace("$", r"\$"),
            fontsize=item.size * points,
            color=item.colour,
            ha=ha,
            va="baseline",
            fontweight="bold" if item.bold else "normal",
            path_effects=effects,
        )
