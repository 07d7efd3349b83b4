"""Pages about models: one file to send to somebody, and line charts in them as plain SVG.

Colours are those of the reader: text and background come from the browser, light or dark.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["COLOURS", "PAGE_STYLE", "Chart", "document", "facts_list", "logarithmic", "svg"]

# They can be told apart on white and on black, and the first two by the colour-blind.
COLOURS = ("#2f7fc1", "#d97a2b", "#3a9a6b", "#c2477f", "#8a6fd1", "#9a8a2b", "#3b9797", "#b0574a")
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: var(--width, 86rem); margin: 0 auto; padding: 2rem 1.25rem 3rem;
  box-sizing: border-box; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2, p { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: .1rem 1.25rem;
  margin: 1.25rem 0; }
dt { opacity: .75; overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
figure, .scroll { margin: 0; overflow-x: auto; max-width: 100%; }
.chart { max-width: 100%; height: auto; }
@media (max-width: 40em) { main { padding: 1rem .9rem 2rem; } }
@page { margin: 14mm; }
@media print { main { padding: 0; max-width: none; } body { font-size: 11px; } }
"""


def document(title: str, style: str, body: str, kind: str = "") -> str:
    """Return a page with a headline; `kind` is the CSS class of all that it says."""
    main = f'<main class="{kind}">' if kind else "<main>"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{main}\n<h1>{escape(title)}</h1>\n{body}</main>\n</body>\n</html>\n"
    )


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Return names and texts as a list, or nothing if there are none."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return f"<dl>{rows}</dl>" if rows else ""


def svg(width: float, height: float, elements: Iterable[str], label: str) -> str:
    """Return a drawing; the label is for those who cannot see it."""
    return (
        f'<svg class="chart" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(label)}">{"".join(elements)}</svg>'
    )


def logarithmic(values: Iterable[float]) -> Callable[[float], float] | None:
    """Return where values go on a logarithmic axis, if they are so skewed that they need one.

    Zero has a place of its own, as far to the left of the least value as that has to its double.

    >>> position = logarithmic([0, 1, 10, 100])
    >>> position(0) < position(1) < position(100)
    True
    >>> logarithmic([1, 2, 3]) is None
    True
    """
    positive = [x for x in values if x > 0]
    if not positive or min(values) < 0 or max(positive) / min(positive) <= 20:
        return None
    least = min(positive)
    return lambda x: math.log2(x / least) if x > 0 else -1.0


class Chart:
    """A chart of scores by the value of a parameter: axes, and what is drawn between them."""

    def __init__(
        self,
        size: tuple[int, int],
        left: int,
        values: Sequence[float],
        scores: Sequence[float],
        position: Callable[[float], float] = float,
    ) -> None:
        self.width, self.height = size
        self.left, self.top, self.base = left, 32, self.height - 48
        self.position = position
        self.first, self.least, self.most = position(min(values)), min(scores), max(scores)
        self.extent = (position(max(values)) - self.first) or 1.0
        self.elements = [
            f'<path d="M{left - 8} {self.top - 6}V{self.base + 8}H{self.width - 6}" fill="none" '
            'stroke="currentColor" stroke-opacity="0.4"/>'
        ]

    def x(self, value: float) -> float:
        """Return where a value is."""
        return self.left + (self.width - self.left - 24) * (
            (self.position(value) - self.first) / self.extent
        )

    def y(self, score: float) -> float:
        """Return where a score is."""
        span = (self.most - self.least) or 1.0
        return self.base - (self.base - self.top) * (score - self.least) / span

    def line(
        self, points: Iterable[tuple[float, float]], colour: str, tooltip: str | None = None
    ) -> None:
        """Draw a line, and a point for each value and score, which it says in this format."""
        drawn = sorted(points)
        path = " ".join(f"{self.x(v):.1f},{self.y(s):.1f}" for v, s in drawn)
        self.elements.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        for v, s in drawn:
            dot = f'<circle cx="{self.x(v):.1f}" cy="{self.y(s):.1f}" r="2.5" fill="{colour}"'
            said = "/>" if tooltip is None else f"><title>{v:g}: {s:{tooltip}}</title></circle>"
            self.elements.append(dot + said)

    def label(
        self,
        values: Sequence[float],
        chosen: float | None,
        parameter: str,
        score: str,
        digits: str,
    ) -> None:
        """Name both axes; write the range of scores, and the values that there is room for.

        The one that was chosen is in bold.
        """
        ends = [values[0], values[-1]]
        taken: list[tuple[float, float]] = []
        for value in dict.fromkeys([*([] if chosen is None else [chosen]), *ends, *values]):
            text = f"{value:,g}"
            half = 3.8 * len(text) + 4
            low, high = self.x(value) - half, self.x(value) + half
            if all(high <= a or low >= b for a, b in taken):
                taken.append((low, high))
                self._write(self.x(value), self.base + 22, text, "middle", value == chosen)
        for number in dict.fromkeys((self.least, self.most)):
            self._write(self.left - 12, self.y(number) + 4, f"{number:{digits}}", "end")
        self._write(4, 14, score, "start")
        self._write((self.left + self.width) / 2, self.height - 6, parameter, "middle")

    def _write(self, x: float, y: float, text: str, anchor: str, bold: bool = False) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}" '
            f'fill="currentColor"{weight}>{escape(text)}</text>'
        )

    def to_svg(self, label: str) -> str:
        """Return the drawing."""
        return svg(self.width, self.height, self.elements, label)
