"""Long lists as pages: a table that can be sorted and searched, one file that needs nothing else."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.plot.page import PAGE_STYLE, document, facts_list
from tacit.plot.sorted_table_script import SCRIPT, STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ItemColumn", "NumberColumn", "SortedTable", "embed_json"]

_DIGITS = 6  # significant ones of numbers on a page


@dataclass(frozen=True)
class ItemColumn:
    """Lists of items: where each begins, and their positions among all names."""

    name: str
    indptr: NDArray[np.int64]
    items: NDArray[Any]

    def to_json(self, position: NDArray[np.int64]) -> dict[str, Any]:
        """Return the column, with `position` as where the name of each item is."""
        flat, starts = position[self.items].tolist(), self.indptr.tolist()
        values = [flat[a:b] for a, b in zip(starts[:-1], starts[1:], strict=True)]
        return {"name": self.name, "kind": "items", "values": values}


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, and perhaps the intervals that they are in."""

    name: str
    values: NDArray[Any]
    kind: Literal["number", "percent", "count"] = "number"
    digits: int = 2  # of per cent
    interval: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    least_first: bool = False  # how it is sorted at first

    def to_json(self) -> dict[str, Any]:
        """Return the column."""
        column: dict[str, Any] = {
            "name": self.name, "kind": self.kind, "digits": self.digits,
            "values": _rounded(self.values), "least": self.least_first,
        }  # fmt: skip
        if self.interval is not None:
            column["low"], column["high"] = map(_rounded, self.interval)
        return column


@dataclass(frozen=True)
class SortedTable:
    """A table of lists of items and of numbers.

    `names` are those of all items, `what` is what the rows are, and `sorted_by` the column by which
    they are sorted, the greatest first. `dots` are pixels (x and y) of each row on one of the
    pictures, and the number of the path that draws it.
    """

    columns: Sequence[ItemColumn | NumberColumn]
    names: Sequence[str]
    what: str
    sorted_by: str
    hint: str
    level: float | None = None
    dots: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]] | None = None

    def page(
        self, title: str, facts: Sequence[tuple[str, str]], pictures: Sequence[str] = ()
    ) -> str:
        """Return the page: facts, pictures (of SVG) and the table."""
        above = "".join(self._figure(k, svg) for k, svg in enumerate(pictures))
        shown = f'<div class="pictures">{above}</div>\n' if above else ""
        data = embed_json(self._data())
        body = (
            f"{facts_list(facts)}\n{shown}"
            "<noscript><p>The table needs JavaScript.</p></noscript>\n"
            f'<div class="bar"><label>Search <input type="search" id="search" '
            f'aria-describedby="how" autocomplete="off"></label>'
            f'<span class="faint" id="how">{escape(self.hint)}</span></div>\n'
            '<div class="bar"><span id="status" role="status"></span><span>'
            '<button type="button" id="before">← Previous</button> '
            '<button type="button" id="after">Next →</button></span></div>\n'
            f'<div class="scroll"><table><thead><tr>{self._heads()}</tr></thead>'
            '<tbody id="rows"></tbody></table></div>\n'
            f'<script type="application/json" id="data">{data}</script>\n'
            f"<script>{SCRIPT}</script>\n"
        )
        return document(title, PAGE_STYLE + STYLE, body)

    def _figure(self, k: int, svg: str) -> str:
        told = ""
        if k == 0 and self.dots is not None:
            told = (
                '<p class="hint" id="hint">Point at a dot to read it, click it to find it in the '
                "table.</p>"
            )
        return f'<figure><div class="scroll">{svg}</div>{told}</figure>'

    def _heads(self) -> str:
        cells = []
        for column in self.columns:
            kind = ' class="number"' if isinstance(column, NumberColumn) else ""
            cells.append(
                f'<th scope="col"{kind}><button type="button">{escape(column.name)}</button></th>'
            )
        return "".join(cells)

    def _data(self) -> dict[str, Any]:
        used = [x.items for x in self.columns if isinstance(x, ItemColumn)]
        kept = np.unique(np.concatenate(used)) if used else np.zeros(0, np.int64)
        position = np.zeros(len(self.names), np.int64)
        position[kept] = np.arange(len(kept))
        heads = [column.name for column in self.columns]
        first = self.columns[heads.index(self.sorted_by)]
        data: dict[str, Any] = {
            "names": [self.names[k] for k in kept.tolist()],
            "what": self.what,
            "n": len(first.values) if isinstance(first, NumberColumn) else len(first.indptr) - 1,
            "columns": [
                x.to_json(position) if isinstance(x, ItemColumn) else x.to_json()
                for x in self.columns
            ],
            "sorted": heads.index(self.sorted_by),
            "descending": True,
        }
        if self.level is not None:
            data["level"] = f"{100 * self.level:.6g}%"
        if self.dots is not None:
            x, y, path = self.dots
            data["dots"] = {
                "x": x.round(1).tolist(), "y": y.round(1).tolist(), "class": path.tolist(),
            }  # fmt: skip
        return data


def _rounded(values: NDArray[Any]) -> list[float | int | str | None]:
    """Return numbers as JSON has them; it has neither infinity nor nan.

    >>> _rounded(np.array([1 / 3, np.inf, np.nan, 1200.0]))
    [0.333333, 'inf', None, 1200]
    """
    rounded: list[float | int | str | None] = []
    for value in values.tolist():
        if math.isfinite(value):
            short = float(f"{value:.{_DIGITS}g}") if abs(value) < 10**_DIGITS else value
            rounded.append(int(short) if short == int(short) else short)
        else:
            rounded.append(None if math.isnan(value) else "inf")
    return rounded


def embed_json(data: Any) -> str:
    """Return data as JSON that cannot end the script element it is in.

    >>> embed_json(["</script>"])
    '["\\\\u003c/script\\\\u003e"]'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
