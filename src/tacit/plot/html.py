"""Results in notebooks: tables, texts and pictures in one style, in the colours of the page.

Everything that is shown is escaped, unless it is :class:`Markup`. Texts have the colour of the
text around them, so that what is shown follows a light or dark theme.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = [
    "STYLE",
    "Markup",
    "Result",
    "frame_html",
    "histogram",
    "html_frame",
    "pairs_html",
    "picture_html",
    "table_html",
    "text_html",
]

STYLE = """
.tacit-result { color: inherit; font-variant-numeric: tabular-nums; max-width: 100%; }
.tacit-result .scroll { overflow-x: auto; max-width: 100%; }
.tacit-result .title { font-weight: 600; margin: .2em 0 .4em; overflow-wrap: anywhere; }
.tacit-result .note { opacity: .75; margin: .3em 0; overflow-wrap: anywhere; }
.tacit-result table.tacit { border-collapse: collapse; margin: 0 0 .5em; border: 0;
  color: inherit; font-size: .95em; }
.tacit-result table.tacit tr { background: none; border: 0; }
.tacit-result table.tacit th, .tacit-result table.tacit td { padding: .2em .8em .2em 0;
  text-align: left; vertical-align: middle; background: none; border: 0; max-width: 28em;
  font-weight: normal; white-space: normal; overflow-wrap: break-word; color: inherit; }
.tacit-result table.tacit thead th { opacity: .75; vertical-align: bottom;
  border-bottom: 1px solid rgba(128, 128, 128, .45); }
.tacit-result table.tacit tbody td { border-bottom: 1px solid rgba(128, 128, 128, .18); }
.tacit-result table.tacit .number { text-align: right; white-space: nowrap; }
.tacit-result > pre { margin: .2em 0 .5em; overflow-x: auto; background: none; color: inherit;
  line-height: 1.35; }
.tacit-result > details { margin: .5em 0; }
.tacit-result > details > summary { cursor: pointer; opacity: .75; }
"""
_NUMBER = re.compile(r"[<>≤≥≈±+\-−]?\s?[\d,.]+(e[+-]?\d+)?\s?(%|[kMG]?i?B|s)?|-?inf|nan")


class Result:
    """What notebooks show as HTML: its text, unless a subclass says it in another way."""

    def _html(self) -> str:
        """Return what is to be shown, without the style sheet."""
        return text_html(str(self))

    def _repr_html_(self) -> str:
        return html_frame(self._html())


class Markup(str):
    """HTML that is to be shown as it is; whoever makes it has escaped what is in it."""

    __slots__ = ()


def html_frame(*parts: str) -> str:
    """Return parts of HTML as one result, with the style sheet."""
    return f'<div class="tacit-result"><style>{STYLE}</style>{"".join(parts)}</div>'


def text_html(text: str) -> str:
    """Return a text of several lines as it is."""
    return f"<pre>{escape(text)}</pre>"


def picture_html(svg: str) -> str:
    """Return a picture that is as wide as its place, or can be scrolled where it is wider."""
    return f'<div class="scroll">{svg}</div>'


def table_html(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", note: str = ""
) -> str:
    """Return a table, below a title and above a note; columns of numbers are aligned right.

    >>> "<td>n &lt; 3</td>" in table_html(["rule"], [["n < 3"]])
    True
    """
    numbers = [
        bool(rows) and all(not row[k] or _NUMBER.fullmatch(row[k]) for row in rows)
        for k in range(len(head))
    ]
    above = f'<div class="title">{escape(title)}</div>' if title else ""
    below = f'<div class="note">{escape(note)}</div>' if note else ""
    names = f"<thead>{_line('th', head, numbers)}</thead>" if any(head) else ""
    body = "".join(_line("td", row, numbers) for row in rows)
    table = f'<table class="tacit">{names}<tbody>{body}</tbody></table>'
    return f'{above}<div class="scroll">{table}</div>{below}'


def pairs_html(rows: Iterable[tuple[str, str]], *, title: str = "") -> str:
    """Return names and what there is to say of them, as a table of two columns."""
    return table_html(["", ""], list(rows), title=title)


def frame_html(frame: pl.DataFrame, *, title: str = "", top: int = 20, note: str = "") -> str:
    """Return the first rows of a frame as a table, and how many more there are."""
    rows = [[_text(value) for value in row] for row in frame.head(top).iter_rows()]
    if frame.height > top:
        note = f"… and {frame.height - top:,} more{'; ' + note if note else ''}"
    return table_html(frame.columns, rows, title=title, note=note)


def histogram(fractions: Sequence[float], label: str, width: int = 84, height: int = 22) -> Markup:
    """Return small bars side by side, in the colour of the text; the label is said of them."""
    step = width / max(len(fractions), 1)
    most = max([*fractions, 1e-300])
    bars = "".join(
        f'<rect x="{k * step:.1f}" y="{height * (1 - x / most):.1f}" '
        f'width="{max(step - 1, 0.5):.1f}" height="{height * x / most:.1f}"/>'
        for k, x in enumerate(fractions)
        if x > 0
    )
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'fill="currentColor" fill-opacity="0.55" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>{bars}</svg>"
    )


def _line(tag: str, cells: Sequence[str], numbers: Sequence[bool]) -> str:
    """Return a line of a table.

    >>> _line("td", ["n < 3", "7"], [False, True])
    '<tr><td>n &lt; 3</td><td class="number">7</td></tr>'
    """
    right = ' class="number"'
    shown = (
        f"<{tag}{right if number else ''}>"
        f"{cell if isinstance(cell, Markup) else escape(cell)}</{tag}>"
        for cell, number in zip(cells, numbers, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _text(value: object) -> str:
    """Write a value of a frame.

    >>> _text(1234), _text(0.123456789), _text(None)
    ('1,234', '0.123457', '(missing)')
    """
    if value is None:
        return "(missing)"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
