"""A dependency network as a page to explore: one file, which needs nothing else."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.page import document
from tacit.tree.network.layout import lay_out
from tacit.tree.network.page_script import SCRIPT, STYLE
from tacit.tree.network.text import network_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["network_page"]

_FIRST = 40  # arcs that are shown at first
_LONGEST = 36  # characters of a name in its box
_HIGH = 24.0  # a box, in pixels
_DEPTH, _LINES = 5, 40  # how much of a tree is shown
_HELP = (
    "Choose a column to see what predicts it, what it predicts, and its tree. Move the slider to "
    "show more arcs or fewer. With the keyboard: Tab and arrow keys go from box to box, Enter "
    "chooses, Escape lets go, / searches, + and - zoom."
)


def network_page(network: DependencyNetwork, title: str, top: int) -> str:
    """Return the page, with at most `top` arcs."""
    total = len(network.arcs_.gain)
    shown = min(top, total)
    data = _data(network, shown)
    n_columns = len(data["names"])
    kept = "all arcs"
    if shown < total:
        kept = f"the {shown:,} strongest of them, between {n_columns:,} columns"
    facts = f"{network_facts(network)}. On this page: {kept}."
    if not shown:
        facts = f"{network_facts(network)}. No column depends on another: there is nothing to draw."
    body = (
        f'<p class="faint">{escape(facts)}</p>\n{_controls(shown)}\n'
        f'<script type="application/json" id="data">{_embed(data)}</script>\n'
        f"<script>{SCRIPT}</script>\n"
    )
    return document(title, STYLE, body, "tacit-network")


def _controls(shown: int) -> str:
    first = min(_FIRST, shown)
    return (
        "<noscript><p>This page needs JavaScript to draw the graph.</p></noscript>\n"
        '<div class="bar">'
        f'<label>Strength: the <span id="count">{first}</span> strongest arcs '
        f'<input type="range" id="strength" min="{min(1, shown)}" max="{shown}" value="{first}">'
        '</label><span class="faint">gain at least <span id="least"></span></span>'
        '<label>Search <input type="search" id="search" list="names" autocomplete="off">'
        '</label><datalist id="names"></datalist><span id="message" role="status"></span>'
        '<span><button type="button" id="closer" aria-label="Zoom in">+</button> '
        '<button type="button" id="wider" aria-label="Zoom out">−</button> '
        '<button type="button" id="fit">Fit</button></span>'
        '<span class="faint">arrows go from predictor to predicted: '
        '<span class="in">■ predicts the chosen</span>, '
        '<span class="out">■ predicted by it</span></span></div>\n'
        '<div class="stage"><div class="view"><svg id="graph" role="group" '
        'aria-label="Graph of the strongest arcs" preserveAspectRatio="xMidYMid meet"></svg></div>'
        '<aside id="panel" aria-live="polite"></aside></div>'
    )


def _data(network: DependencyNetwork, shown: int) -> dict[str, Any]:
    """Return what the script draws: names, boxes, arcs and trees of the columns concerned."""
    predictor, target, gain = (array[:shown] for array in network.arcs_)
    columns, ends = np.unique(np.column_stack([predictor, target]), return_inverse=True)
    ends = ends.reshape(-1, 2)
    names = [network.schema_.names[c] for c in columns.tolist()]
    widths = np.array([7.0 * min(len(name), _LONGEST) + 18 for name in names])
    centres = _centres(ends, widths)
    return {
        "names": names,
        "x": _rounded(centres[:, 0]),
        "y": _rounded(centres[:, 1]),
        "w": _rounded(widths),
        "h": _HIGH,
        "longest": _LONGEST,
        "from": ends[:, 0].tolist(),
        "to": ends[:, 1].tolist(),
        "gain": [float(f"{x:.4g}") for x in gain.tolist()],
        "leaves": network.n_leaves_[columns].tolist(),
        "trees": [_tree_text(network, c) for c in columns.tolist()],
        "help": _HELP,
    }


def _centres(ends: NDArray[np.int64], widths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lay out for the screen, where the second coordinate grows downwards."""
    if not len(ends):
        return np.zeros((0, 2))
    sizes = np.column_stack([widths, np.full(len(widths), _HIGH)])
    # Strong arcs are short: what is shown first stays together.
    lengths = np.linspace(0.75, 1.9, len(ends))
    centres = lay_out(len(widths), ends, sizes, lengths=lengths)
    centres[:, 1] = centres[:, 1].max() - centres[:, 1]
    return centres


def _tree_text(network: DependencyNetwork, column: int) -> str:
    """Return the upper levels of a column's tree as text."""
    lines = network.tree(column).to_text(max_depth=_DEPTH).splitlines()
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"… and {len(lines) - _LINES} lines more"]
    return "\n".join(lines)


def _rounded(numbers: NDArray[np.float64]) -> list[float]:
    return [round(x, 1) for x in numbers.tolist()]


def _embed(data: dict[str, Any]) -> str:
    """Return data as JSON that cannot end the script element it is in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
