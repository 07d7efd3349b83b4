"""Support and confidence of rules as dots, coloured by lift; the most notable ones are named."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.baskets.lift_scale import LiftScale
from tacit.plot.drawing import INK, new_axes, number_formatter, room
from tacit.plot.labels import Label, place_labels
from tacit.plot.scene import Bow, Box, Dots, Scene, Words, fit, text_width
from tacit.plot.theme import EDGE, FAINT, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.baskets.association_rules import AssociationRules

__all__ = ["Scatter", "notable_rules", "plot_scatter"]

_LABELS, _TRIED = 8, 60  # rules that are named, at most, and that are tried
_SIZE, _LINE = 11.0, 13.5  # of type, and from line to line
_WIDEST = 190.0  # of a label
_WIDTH, _HEIGHT = 620.0, 430.0
_LEFT, _RIGHT, _BELOW = 58.0, 16.0, 46.0
_DECADE = 10.0  # supports that span more have a logarithmic axis


def notable_rules(rules: AssociationRules) -> list[int]:
    """Return the rules of greatest lift, support and confidence in turns."""
    confidence, support = rules.measure("confidence"), rules.measure("support")
    lift = np.round(rules.measure("lift"), 9)  # the same both ways: then the more confident
    orders = [
        np.lexsort((-confidence, -lift))[:_TRIED],
        np.lexsort((-confidence, -support))[:_TRIED],
        np.lexsort((-support, -confidence))[:_TRIED],
    ]
    turns = (int(k) for each in zip(*orders, strict=True) for k in each)
    return list(dict.fromkeys(turns))


def plot_scatter(rules: AssociationRules, ax: Axes | None = None) -> Axes:
    """Draw the dots with Matplotlib."""
    ax = new_axes(ax, 8.4, 5.4)
    support, confidence = rules.measure("support"), rules.measure("confidence")
    lift = rules.measure("lift")
    ax.set_xlabel("support")
    ax.set_ylabel("confidence")
    ax.spines[["top", "right"]].set_visible(False)
    ax.yaxis.set_major_formatter(number_formatter(True))
    if _skewed(support):
        from matplotlib.ticker import LogLocator, NullFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(number_formatter(True))
    if len(rules) == 0:
        ax.set(xlim=(0, 1), ylim=(0, 1), title="no rules")
        return ax
    from matplotlib.colors import BoundaryNorm, ListedColormap

    scale = LiftScale.of(lift)
    order = np.argsort(lift, kind="stable")  # the strongest on top
    dots = ax.scatter(
        support[order], confidence[order], (2 * _radius(len(rules))) ** 2, lift[order],
        cmap=ListedColormap(list(scale.colours)),
        norm=BoundaryNorm(list(scale.edges), len(scale.colours), clip=True),
        alpha=_opacity(len(rules)), linewidths=0, rasterized=len(rules) > 5000,
    )  # fmt: skip
    ax.margins(0.06)
    bar = ax.figure.colorbar(dots, ax=ax, label="lift", fraction=0.05, pad=0.02)
    bar.set_ticks(list(scale.edges), labels=[f"{x:.3g}" for x in scale.edges])
    bar.outline.set_visible(False)
    bar.solids.set_alpha(1)
    if len(scale.colours) == 1:
        bar.set_ticks([sum(scale.edges) / 2], labels=[scale.texts()[0]])
    _name(ax, rules, np.column_stack([support, confidence]))
    return ax


def _name(ax: Axes, rules: AssociationRules, places: NDArray[np.float64]) -> None:
    """Name the most notable rules, where there is room for it."""
    width, height = room(ax)
    size = 8.0
    pixels = ax.transAxes.inverted().transform(ax.transData.transform(places))
    points = np.column_stack([pixels[:, 0] * width, (1 - pixels[:, 1]) * height])
    texts = {k: _lines(rules, k, size) for k in notable_rules(rules)}
    for label in _labels(points, texts, size, (4, 2, width - 2, height - 4)):
        x, y = points[label.point]
        near = label.nearest(x, y)
        ax.annotate(
            "", (x / width, 1 - y / height), (near[0] / width, 1 - near[1] / height),
            "axes fraction", "axes fraction",
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.8, "shrinkA": 0,
                        "shrinkB": 0},
        )  # fmt: skip
        ax.text(
            label.left / width, 1 - label.top / height,
            "\n".join(texts[label.point]).replace("$", r"\$"), transform=ax.transAxes,
            fontsize=size, color=INK, va="top", ha="left", linespacing=1.1,
            bbox={"facecolor": PAPER, "alpha": 0.85, "edgecolor": "none", "pad": 1.0},
        ).set_in_layout(False)  # fmt: skip


class Scatter:
    """The dots as a picture, and where each of them is on it.

    Attributes
    ----------
    scene : Scene
    x, y : ndarray
        The dot of each rule, in pixels.
    classes : ndarray
        Which of the dots' colours each rule has.
    """

    def __init__(self, rules: AssociationRules) -> None:
        support, confidence = rules.measure("support"), rules.measure("confidence")
        lift = rules.measure("lift")
        scale = LiftScale.of(lift)
        title = f"Support, confidence and lift of {len(rules):,} rules"
        self.scene = Scene(_WIDTH, _HEIGHT, title)
        legend, last = scale.legend(12, 20, _WIDTH - 12)
        self.scene.items += legend
        across = _Axis(support, _LEFT, _WIDTH - _RIGHT, log=_skewed(support))
        up = _Axis(confidence, _HEIGHT - _BELOW, last + 32)
        self._frame(across, up, last)
        self.x, self.y = across.place(support), up.place(confidence)
        self.classes = scale.classes(lift)
        radius, opacity = _radius(len(rules)), _opacity(len(rules))
        for k, colour in enumerate(scale.colours):
            some = np.column_stack([self.x, self.y])[self.classes == k]
            points = dict.fromkeys(map(tuple, some.round(1).tolist()))
            self.scene.items.append(Dots(tuple(points), radius, colour, opacity))
        points = np.column_stack([self.x, self.y])
        texts = {k: _lines(rules, k, _SIZE) for k in notable_rules(rules)}
        within = (_LEFT, last + 26, _WIDTH - 4, _HEIGHT - _BELOW)
        for label in _labels(points, texts, _SIZE, within):
            x, y = points[label.point].tolist()
            near = label.nearest(x, y)
            self.scene.items.append(Bow(near, near, (x, y), 1.0, FAINT))
            wide, high = label.right - label.left, label.bottom - label.top
            back = Box(label.left - 2, label.top - 1, wide + 4, high + 2, PAPER, radius=3)
            self.scene.items.append(back)
            for k, line in enumerate(texts[label.point]):
                base = label.top + 0.82 * _SIZE + k * _LINE
                self.scene.items.append(Words(label.left, base, line, _SIZE, INK))

    def _frame(self, across: _Axis, up: _Axis, last: float) -> None:
        """Draw both axes and their names."""
        items, base = self.scene.items, _HEIGHT - _BELOW
        for value in across.ticks:
            at = float(across.place(np.array(value)))
            items.append(Box(at - 0.5, last + 24, 1, base - last - 24, EDGE))
            items.append(Words(at, base + 16, f"{value:.6%}", _SIZE, FAINT, "middle"))
        for value in up.ticks:
            at = float(up.place(np.array(value)))
            items.append(Box(_LEFT - 8, at - 0.5, _WIDTH - _RIGHT - _LEFT + 8, 1, EDGE))
            items.append(Words(_LEFT - 12, at + 4, f"{value:.6%}", _SIZE, FAINT, "end"))
        named = "support (logarithmic axis)" if across.log else "support"
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        items.append(Words(middle, _HEIGHT - 10, named, _SIZE + 1, INK, "middle"))
        items.append(Words(12, last + 20, "confidence", _SIZE + 1, INK))
        for k, item in enumerate(items):
            if isinstance(item, Words) and item.text.endswith("%"):
                text = item.text[:-1].rstrip("0").rstrip(".") + "%"
                items[k] = Words(item.x, item.y, text, item.size, item.colour, item.anchor)


class _Axis:
    """Where values go, from pixel to pixel, and which of them are written."""

    def __init__(
        self, values: NDArray[np.float64], first: float, last: float, log: bool = False
    ) -> None:
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        if not log and high - low < 1e-9:
            low, high = max(low - 0.05, 0.0), min(low + 0.05, 1.0)
        self.log = log
        self.low, self.high = (math.log(low), math.log(high)) if log else (low, high)
        pad = 0.04 * (last - first)
        self.first, self.last = first + pad, last - pad
        self.ticks = _log_ticks(low, high) if log else _ticks(low, high)

    def place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the pixels of values."""
        at = np.log(values) if self.log else values
        return np.asarray(
            self.first + (at - self.low) / (self.high - self.low) * (self.last - self.first)
        )


def _ticks(low: float, high: float) -> list[float]:
    """Return about six round numbers.

    >>> _ticks(0.31, 0.82)
    [0.4, 0.5, 0.6, 0.7, 0.8]
    """
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(x * power for x in (1, 2, 5, 10) if x * power >= rough * 0.99)
    count = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [float(f"{k * step:.9g}") for k in count]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten; only these powers over many decades.

    >>> _log_ticks(0.003, 0.06)
    [0.005, 0.01, 0.02, 0.05]
    """
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    times = (1, 2, 5) if high / low < 1e4 else (1,)
    ticks = [float(f"{t}e{e}") for e in exponents for t in times]
    return [x for x in ticks if low * 0.999 <= x <= high * 1.001]


def _skewed(support: NDArray[np.float64]) -> bool:
    return len(support) > 0 and bool(support.max() > _DECADE * support.min() > 0)


def _radius(n: int) -> float:
    """Return the size of dots: smaller, the more there are."""
    return float(np.clip(7.0 - 1.25 * math.log10(max(n, 1)), 1.8, 6.0))


def _opacity(n: int) -> float:
    return 1.0 if n <= 50 else 0.8 if n <= 2000 else 0.6


def _lines(rules: AssociationRules, k: int, size: float) -> tuple[str, ...]:
    """Return a rule in a line, or in two where it is long."""
    antecedent, consequent = rules.sides(k)
    left, widest = ", ".join(antecedent), _WIDEST * size / _SIZE
    one = f"{left} → {consequent}"
    if text_width(one, size) <= widest:
        return (fit(one, widest, size),)
    return fit(left, widest, size), fit(f"→ {consequent}", widest, size)


def _labels(
    points: NDArray[np.float64],
    texts: dict[int, tuple[str, ...]],
    size: float,
    bounds: tuple[float, float, float, float],
) -> list[Label]:
    wanted = [
        (k, max(text_width(line, size) for line in lines), len(lines) * size * _LINE / _SIZE)
        for k, lines in texts.items()
    ]
    return place_labels(points, wanted, bounds, _LABELS)
