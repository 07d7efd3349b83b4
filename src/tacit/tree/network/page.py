"""A dependency network as a page to explore: one file, which needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.page import document
from tacit.plot.scene import text_width
from tacit.plot.sorted_table import embed_json
from tacit.tree.network.arrows import Arrow, draw_arrow, draw_arrows
from tacit.tree.network.influence import MARKS, WORDS, event_text
from tacit.tree.network.layout import lay_out
from tacit.tree.network.page_script import SCRIPT, STYLE
from tacit.tree.network.text import gain_unit, network_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["network_page"]

_FIRST = 40  # arcs that are shown at first
_LONGEST = 36  # characters of a name in its box
_HIGH, _TYPE = 24.0, 12.0  # a box and its text, in pixels
_MEANING = {
    1: "raises the probability that the predicted column is not its default",
    -1: "lowers it",
    0: "varies from split to split",
}
_DEPTH, _LINES = 5, 40  # how much of a tree is shown
_HELP = (
    "Choose a column to see what predicts it, what it predicts, and its tree. Move the slider to "
    "show more arcs or fewer. Arrows go from predictor to predicted; the wider, the stronger. With "
    "the keyboard: Tab and arrow keys go from box to box, Enter chooses, Escape lets go, / "
    "searches, + and - zoom."
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
        f'<script type="application/json" id="data">{embed_json(data)}</script>\n'
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
        f"</div>\n{_legend()}\n"
        '<div class="stage"><div class="view"><svg id="graph" role="group" '
        'aria-label="Graph of the strongest arcs" preserveAspectRatio="xMidYMid meet"></svg></div>'
        '<aside id="panel" aria-live="polite"></aside></div>'
    )


def _legend() -> str:
    """Return what the three kinds of arrows mean."""
    entries = []
    for sign, word in WORDS.items():
        arrow = draw_arrow(np.array([[1.0, 8.0], [16.0, 8.0], [31.0, 8.0]]), 1.8, 10.0, sign)
        line, tip = _paths(arrow)
        entries.append(
            '<span class="key"><svg class="sample" viewBox="0 0 32 16" width="32" height="16" '
            f'aria-hidden="true"><path class="arc {word}" d="{line}" stroke-width="1.8"/>'
            f'<path class="tip {word}" d="{tip}"/></svg> {MARKS[sign]} {_MEANING[sign]}</span>'
        )
    return f'<p class="legend faint">{" ".join(entries)}</p>'


def _paths(arrow: Arrow) -> tuple[str, str]:
    """Return line and head of an arrow as SVG writes them."""
    (x, y), (bx, by), (nx, ny) = arrow.start, arrow.bend, arrow.end
    corners = "L".join(f"{cx:.1f} {cy:.1f}" for cx, cy in arrow.head)
    return f"M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f} {nx:.1f} {ny:.1f}", f"M{corners}Z"


def _data(network: DependencyNetwork, shown: int) -> dict[str, Any]:
    """Return what the script draws: names, boxes, arcs and trees of the columns concerned."""
    predictor, target, gain = (array[:shown] for array in network.arcs_)
    columns, ends = np.unique(np.column_stack([predictor, target]), return_inverse=True)
    ends = ends.reshape(-1, 2)
    names = [network.schema_.names[c] for c in columns.tolist()]
    widths = np.array([text_width(name[:_LONGEST], _TYPE) + 18 for name in names])
    centres = _centres(ends, widths)
    strengths = np.maximum(gain, 0) / max(float(gain.max(initial=0)), 1e-300)
    found = network._derived.influences
    sign, before, after = found.sign[:shown], found.before[:shown], found.after[:shown]
    sizes = np.column_stack([widths, np.full(len(widths), _HIGH)]).reshape(-1, 2)
    arrows = draw_arrows(centres, sizes, ends, strengths, sign)
    paths = [_paths(arrow) for arrow in arrows]
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
        "unit": gain_unit(network),
        "influence": [WORDS[x] for x in sign.tolist()],
        "mark": [MARKS[x] for x in sign.tolist()],
        "before": [f"{x:.1%}" for x in before.tolist()],
        "after": [f"{x:.1%}" for x in after.tolist()],
        "event": [event_text(network.schema_, c) for c in columns.tolist()],
        "line": [line for line, _ in paths],
        "tip": [tip for _, tip in paths],
        "width": _rounded(np.array([arrow.width for arrow in arrows])),
        "fade": [round(0.55 + 0.45 * x**0.5, 2) for x in strengths.tolist()],
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
