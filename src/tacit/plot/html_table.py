"""Rows of text as a table of HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["html_table"]


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a title and a table below it.

    >>> html_table("1 rule", ["if", "then"], [["n < 3", "yes"]])
    '<div>1 rule</div><table><tr><th>if</th>...<tr><td>n &lt; 3</td><td>yes</td></tr></table>'
    """
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<div>{html.escape(title)}</div><table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
