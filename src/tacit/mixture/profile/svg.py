"""Small drawings for the page about clusters: plain SVG that takes on the colour of the text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tacit.plot.page import COLOURS, Chart, logarithmic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.mixture.profile.traits import ClusterTraits

__all__ = ["LESS", "MORE", "Scale", "curve", "lift_bar", "fraction_bar", "size_bar"]

MORE, LESS = COLOURS[:2]
_LOWEST, _HIGHEST = -4.0, 7.0  # lifts below 2⁻⁴ and beyond 2⁷ are drawn as if they were just that
_HEIGHT = 12


class Scale(NamedTuple):
    """The logarithmic axis that all lifts on a page share, from 2**low to 2**high."""

    low: float
    high: float

    @classmethod
    def of(cls, clusters: Sequence[ClusterTraits]) -> Scale:
        """Return the axis that has room for all lifts."""
        logs = [_log(t.lift) for c in clusters for t in (*c.over, *c.under)]
        # Never less than from a half to twice, so that a small lift does not look large.
        return cls(min([-1.0, *logs]) - 0.25, max([1.0, *logs]) + 0.25)

    def position(self, lift: float, width: float) -> float:
        """Return the position of a lift on an axis of this width."""
        log = min(max(_log(lift), self.low), self.high)
        return width * (log - self.low) / (self.high - self.low)


def _log(lift: float) -> float:
    return math.log2(min(max(lift, 2**_LOWEST), 2**_HIGHEST))


def fraction_bar(probability: float, overall: float, colour: str, width: int = 70) -> str:
    """Draw a fraction of a cluster, with a mark at the fraction of all records."""
    mark = min(max(width * overall, 0.75), width - 0.75)
    return _svg(
        width,
        _rect(0, width, "currentColor", opacity=0.1),
        _rect(0, width * probability, colour),
        _line(mark, mark, 2, colour="currentColor"),
    )


def size_bar(fraction: float, largest: float, width: int = 160) -> str:
    """Draw the size of a cluster beside that of the largest."""
    full = width * fraction / largest if largest > 0 else 0.0
    return _svg(width, _rect(0, full, "currentColor", opacity=0.55))


def lift_bar(
    lift: float, lower: float, upper: float, colour: str, scale: Scale, width: int = 96
) -> str:
    """Draw a lift as a bar that begins at 1, and its interval as a thin line."""
    one, end = scale.position(1, width), scale.position(lift, width)
    low, high = scale.position(lower, width), scale.position(upper, width)
    middle = _HEIGHT / 2
    ends = "".join(f"M{x:.1f} {middle - 3}v6" for x in (low, high))
    return _svg(
        width,
        _line(one, one, 1, colour="currentColor", opacity=0.6),
        _rect(min(one, end), abs(end - one), colour, opacity=0.8),
        f'<path d="M{low:.1f} {middle}H{high:.1f}{ends}" fill="none" stroke="currentColor"/>',
    )


def curve(points: Sequence[tuple[int, float]], criterion: str, chosen: int) -> str:
    """Draw scores by the number of clusters, with a ring around the one that was chosen."""
    drawn = [(k, score) for k, score in points if math.isfinite(score)]
    numbers = sorted({k for k, _ in points})
    chart = Chart(
        (460, 220), 84, numbers, [score for _, score in drawn], logarithmic(numbers) or float
    )
    chart.line(drawn, MORE)
    chart.elements += [
        f'<circle cx="{chart.x(k):.1f}" cy="{chart.y(score):.1f}" r="6" fill="none" '
        f'stroke="{LESS}" stroke-width="2"/>'
        for k, score in drawn
        if k == chosen
    ]
    among = chosen if chosen in numbers else None
    chart.label(numbers, among, "number of clusters", criterion, ",.6g")
    return chart.to_svg(f"{criterion} by number of clusters; chosen: {chosen}")


def _svg(width: int, *parts: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {_HEIGHT}" width="{width}" height="{_HEIGHT}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def _rect(x: float, width: float, colour: str, opacity: float = 1.0) -> str:
    return (
        f'<rect x="{x:.1f}" y="1.5" width="{max(width, 0):.1f}" height="{_HEIGHT - 3}" '
        f'fill="{colour}" fill-opacity="{opacity:g}"/>'
    )


def _line(x1: float, x2: float, width: float, colour: str, opacity: float = 1.0) -> str:
    return (
        f'<path d="M{x1:.1f} 0L{x2:.1f} {_HEIGHT}" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-opacity="{opacity:g}"/>'
    )
