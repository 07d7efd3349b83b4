"""The strongest rules as a network: items are boxes, and arrows go from antecedent to consequent.

A rule with one item in its antecedent is an arrow. Others have a dot, to which lines go from the
antecedent's items, and from which an arrow goes to the consequent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.baskets.lift_scale import LiftScale
from tacit.plot.scene import Bow, Box, Polygon, Scene, Words, fit, text_width
from tacit.plot.theme import FAINT, FILL, INK, PAPER, STROKE
from tacit.tree.network.arrows import draw_arrows
from tacit.tree.network.layout import lay_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.association_rules import AssociationRules

__all__ = ["network_scene"]

_MOST, _LINES = 25, 80  # rules and lines that can be read
_SMALLEST, _LARGEST = 10.0, 17.0  # sizes of type, by support
_DOT = 13.0  # the diameter of a rule's dot
_WIDEST = 230.0  # of a name
_TITLE, _SMALL = 14.0, 11.0
_MARGIN, _TOP = 16.0, 46.0


class _Graph(NamedTuple):
    """Items and dots of rules as nodes, items first, and arcs between them."""

    items: list[int]  # cells
    dots: list[int]  # rules
    ends: NDArray[np.int64]
    owners: NDArray[np.int64]  # the rule of each arc
    last: NDArray[np.bool_]  # whether an arc leads to the consequent


def network_scene(rules: AssociationRules, top: int | None = None, by: str = "lift") -> Scene:
    """Draw the strongest rules: so many, or as many as can be read."""
    shown = rules.strongest(_MOST if top is None else top, by=by)
    if top is None:
        lines = np.cumsum([1 if size == 1 else size + 1 for size in np.diff(shown.indptr).tolist()])
        shown = shown.take(slice(max(int(np.searchsorted(lines, _LINES, "right")), 1)))
    title = _title(len(rules), len(shown), by)
    graph = _graph(shown)
    lift = shown.measure("lift")
    scale = LiftScale.of(lift)
    supports = _supports(rules, graph.items)
    most = max(supports.max(initial=0.0), 1e-300)
    types = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(supports / most)
    names = [shown.items.names[cell] for cell in graph.items]
    texts = [fit(name, _WIDEST, size) for name, size in zip(names, types.tolist(), strict=True)]
    sizes = np.array(
        [
            (max(text_width(text, size), 10.0) + 1.4 * size, 2.0 * size)
            for text, size in zip(texts, types.tolist(), strict=True)
        ]
        + [(_DOT, _DOT)] * len(graph.dots)
    ).reshape(-1, 2)
    wide = max(text_width(title, _TITLE, bold=True) + 2 * _MARGIN, 420.0)
    centres = np.zeros((0, 2))
    if len(shown):
        lengths = np.where(_direct(graph), 1.0, 0.72)
        centres = lay_out(len(sizes), graph.ends, sizes, lengths=lengths)
        centres[:, 1] = centres[:, 1].max() - centres[:, 1]
        wide = max(wide, float((centres + sizes / 2)[:, 0].max()) + 2 * _MARGIN)
    legend, below = scale.legend(_MARGIN, _TOP, wide) if len(shown) else ([], 30.0)
    if len(shown):
        low = (centres - sizes / 2).min(axis=0)
        over = float((centres + sizes / 2)[:, 0].max() - low[0])
        centres += (wide - over) / 2 - low[0], below + 44 - low[1]
    height = float((centres + sizes / 2)[:, 1].max(initial=60.0)) + _MARGIN
    scene = Scene(wide, height, title)
    scene.items.append(Words(_MARGIN, _MARGIN + 10, title, _TITLE, INK, bold=True))
    scene.items += legend
    if len(shown):
        note = "Larger type: in more records. Wider arrows: lift further from 1."
        scene.items.append(Words(_MARGIN, below + 18, note, _SMALL, FAINT))
    _draw_rules(scene, shown, graph, centres, sizes, scale)
    for k, (name, text) in enumerate(zip(names, texts, strict=True)):
        (x, y), (width, high), size = centres[k].tolist(), sizes[k].tolist(), float(types[k])
        told = f"{name}: in {supports[k]:.2%} of records, or more"
        left, above = x - width / 2, y - high / 2
        scene.items.append(Box(left, above, width, high, FILL, STROKE, radius=high / 3, title=told))
        scene.items.append(Words(x, y + 0.35 * size, text, round(size, 1), INK, "middle",
                                 title=told))  # fmt: skip
    return scene


def _title(total: int, shown: int, by: str) -> str:
    if shown == 0:
        return "No rules"
    if shown == total:
        return f"All {total} rules" if total > 1 else "One rule"
    of = "least p-value" if by == "p_value" else f"greatest {by}"
    return f"The {shown} rules of {of}, of {total:,}"


def _graph(rules: AssociationRules) -> _Graph:
    cells = sorted({*rules.antecedents.tolist(), *rules.consequents.tolist()})
    position = {cell: k for k, cell in enumerate(cells)}
    ends, owners, last, dots = [], [], [], []
    for k in range(len(rules)):
        some = rules.antecedents[rules.indptr[k] : rules.indptr[k + 1]].tolist()
        target = position[int(rules.consequents[k])]
        if len(some) == 1:
            ends.append((position[some[0]], target))
        else:
            dot = len(cells) + len(dots)
            dots.append(k)
            ends += [*((position[cell], dot) for cell in some), (dot, target)]
        arcs = 1 if len(some) == 1 else len(some) + 1
        owners += [k] * arcs
        last += [False] * (arcs - 1) + [True]
    return _Graph(
        cells, dots, np.array(ends, np.int64).reshape(-1, 2), np.array(owners, np.int64),
        np.array(last, np.bool_),
    )  # fmt: skip


def _direct(graph: _Graph) -> NDArray[np.bool_]:
    """Return which arcs go from item to item."""
    return np.asarray((graph.ends < len(graph.items)).all(axis=1))


def _supports(rules: AssociationRules, cells: list[int]) -> NDArray[np.float64]:
    """Return the fractions of records that hold items, as far as the rules tell.

    The counts of consequents and of single antecedents are known. Others are in as many records as
    an antecedent that holds them, or more.
    """
    counts = np.zeros(len(rules.items.names))
    np.maximum.at(counts, rules.consequents, rules.counts[:, 2])
    np.maximum.at(counts, rules.antecedents, np.repeat(rules.counts[:, 1], np.diff(rules.indptr)))
    return np.asarray(counts[cells] / float(rules.total))


def _draw_rules(
    scene: Scene,
    rules: AssociationRules,
    graph: _Graph,
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scale: LiftScale,
) -> None:
    """Draw arrows and dots, those of the strongest rules over the others."""
    lift, confidence = rules.measure("lift"), rules.measure("confidence")
    support = rules.measure("support")
    strengths = scale.strengths(lift)
    colours = [scale.colours[c] for c in scale.classes(lift).tolist()]
    signs = np.ones(len(graph.ends), np.int64)
    arrows = draw_arrows(centres, sizes, graph.ends, strengths[graph.owners], signs)
    told = []
    for k in range(len(rules)):
        antecedent, consequent = rules.sides(k)
        told.append(
            f"{', '.join(antecedent)} → {consequent}: support {support[k]:.2%}, "
            f"confidence {confidence[k]:.1%}, lift {lift[k]:.4g}"
        )
    for arc in reversed(range(len(arrows))):
        arrow, k = arrows[arc], int(graph.owners[arc])
        end = arrow.end if graph.last[arc] else arrow.head[0]
        width = arrow.width * (0.75 if graph.last[arc] else 0.5)
        scene.items.append(Bow(arrow.start, arrow.bend, end, width, colours[k], title=told[k]))
        if graph.last[arc]:
            scene.items.append(Polygon(arrow.head, colours[k], told[k]))
    for node, k in enumerate(graph.dots, len(graph.items)):
        x, y = centres[node].tolist()
        scene.items.append(
            Box(x - _DOT / 2, y - _DOT / 2, _DOT, _DOT, colours[k], PAPER, 1.5, _DOT / 2,
                title=told[k])
        )  # fmt: skip
