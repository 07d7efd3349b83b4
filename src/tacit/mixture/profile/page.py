"""Clusters as a page: one file to send to somebody, and the same cards for notebooks.

Colours are those of whoever looks: text and paper come from the browser, light or dark.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tacit.mixture.profile.svg import LESS, MORE, Scale, curve, fraction_bar, lift_bar, size_bar
from tacit.mixture.profile.traits import show_fraction, show_lift, show_size
from tacit.plot.page import PAGE_STYLE, document, facts_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.mixture.profile.traits import ClusterTraits, Trait

__all__ = ["fragment", "page"]

_STYLE = """
.tacit-clusters { font-variant-numeric: tabular-nums; }
.tacit-clusters h2 { font-size: 1.2em; margin: 1.6em 0 .4em; }
.tacit-clusters h3 { font-size: 1.05em; margin: 0 0 .5em; overflow-wrap: anywhere; }
.tacit-clusters h3 small { font-weight: normal; opacity: .75; margin-left: .5em; }
.tacit-clusters .note { opacity: .75; margin: .3em 0 1em; max-width: 60em; }
.tacit-clusters .cards { display: grid; gap: 1em;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 40em), 1fr)); }
.tacit-clusters article { border: 1px solid rgba(128, 128, 128, .35); border-radius: 8px;
  padding: .9em 1.1em; box-sizing: border-box; max-width: 56em; min-width: 0; overflow-x: auto;
  break-inside: avoid; }
.tacit-clusters table { border-collapse: collapse; width: 100%; margin: 0 0 .6em; }
.tacit-clusters th, .tacit-clusters td { text-align: left; padding: .12em .6em .12em 0;
  font-weight: normal; background: none; border: 0; vertical-align: middle; }
.tacit-clusters thead th { font-size: .85em; opacity: .75; white-space: nowrap; }
.tacit-clusters th.value { width: 100%; overflow-wrap: anywhere; min-width: 6em; }
.tacit-clusters td { white-space: nowrap; }
.tacit-clusters td.traits { white-space: normal; width: 100%; overflow-wrap: anywhere; }
.tacit-clusters td.number, .tacit-clusters th.number { text-align: right; }
.tacit-clusters tbody.less tr:first-child > * { padding-top: .6em; }
.tacit-clusters .faint { opacity: .75; }
.tacit-clusters a { color: inherit; }
.tacit-clusters svg { display: block; }
@media print { .tacit-clusters .cards { display: block; }
  .tacit-clusters article { margin-bottom: 1em; } }
@media (max-width: 40em) { .tacit-clusters .wide { display: none; }
  .tacit-clusters table { font-size: .87em; } .tacit-clusters article { padding: .8em .7em; }
  .tacit-clusters th, .tacit-clusters td { padding-right: .45em; } }
"""


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    clusters: Sequence[ClusterTraits],
    points: Sequence[tuple[int, float]] | None,
    criterion: str,
    count: str,
    level: float,
) -> str:
    """Return the page: facts, sizes, scores by the number of clusters, and what sets each apart.

    `count` says how many clusters of how many records there are; intervals have this `level`.
    """
    chosen = ""
    if points:
        drawing = curve(points, criterion, len(clusters))
        chosen = f"<h2>How many clusters: {escape(criterion)}</h2>{drawing}"
    body = (
        f"<p>{escape(count)}</p>\n{facts_list(facts)}\n"
        f"<h2>Sizes</h2>\n{_overview(clusters)}\n{chosen}\n"
        f"<h2>What sets each apart</h2>\n{_note(level)}\n{_cards(clusters, level)}\n"
    )
    return document(title, PAGE_STYLE + _STYLE, body, "tacit-clusters")


def fragment(clusters: Sequence[ClusterTraits], count: str, level: float) -> str:
    """Return what a notebook shows."""
    return (
        f'<style>{_STYLE}</style><div class="tacit-clusters"><p><b>{escape(count)}</b></p>'
        f"{_note(level)}{_cards(clusters, level)}</div>"
    )


def _overview(clusters: Sequence[ClusterTraits]) -> str:
    """Return a table of all clusters: name, size, a bar, and the most characteristic values."""
    largest = max(cluster.fraction for cluster in clusters)
    rows = []
    for index, cluster in enumerate(clusters):
        summary = ", ".join(escape(trait.text) for trait in cluster.over[:3])
        if not summary and cluster.under:
            summary = "less " + ", ".join(escape(trait.text) for trait in cluster.under[:3])
        rows.append(
            f'<tr><td><a href="#cluster-{index}">{escape(cluster.name)}</a></td>'
            f'<td class="number">{show_size(cluster.size)}</td>'
            f'<td class="number">{show_fraction(cluster.fraction)}</td>'
            f'<td class="wide">{size_bar(cluster.fraction, largest)}</td>'
            f'<td class="traits">{summary}</td></tr>'
        )
    return (
        '<table><thead><tr><th>cluster</th><th class="number">records</th>'
        '<th class="number">fraction</th><th class="wide"></th><th>most characteristic</th>'
        "</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _percent(level: float) -> str:
    """Write a probability.

    >>> _percent(0.95)
    '95%'
    """
    return f"{100 * level:.6g}%"


def _note(level: float) -> str:
    return (
        '<p class="note">Fractions of the cluster and of all records that have the value. The lift '
        "is their ratio, 1 being no difference, with the interval in which it is with a "
        f'probability of {_percent(level)}. <span class="wide">The first bar is the fraction, with '
        "a mark at that of all records; the second is the lift on a logarithmic scale from 1, and "
        "the thin line its interval.</span></p>"
        f'<p><span style="color:{MORE}">■</span> more often than overall, '
        f'<span style="color:{LESS}">■</span> less often.</p>'
    )


def _cards(clusters: Sequence[ClusterTraits], level: float) -> str:
    scale = Scale.of(clusters)
    cards = "\n".join(_card(index, c, scale, level) for index, c in enumerate(clusters))
    return f'<div class="cards">\n{cards}\n</div>'


def _card(index: int, cluster: ClusterTraits, scale: Scale, level: float) -> str:
    head = (
        f"<h3>{escape(cluster.name)}<small>{show_size(cluster.size)} records, "
        f"{show_fraction(cluster.fraction)}</small></h3>"
    )
    if not cluster.over and not cluster.under:
        body = '<p class="faint">Nothing sets it apart from all records.</p>'
    else:
        body = (
            '<table><thead><tr><th class="value">value</th><th class="number">fraction</th>'
            '<th class="number">overall</th><th class="wide">0 to 100%</th>'
            '<th class="wide">lift, log scale</th><th class="number">lift</th>'
            f"<th>{_percent(level)} interval</th></tr></thead>"
            f"{_rows('more', cluster.over, MORE, scale)}{_rows('less', cluster.under, LESS, scale)}"
            "</table>"
        )
    return f'<article id="cluster-{index}">{head}{body}</article>'


def _rows(kind: str, traits: Sequence[Trait], colour: str, scale: Scale) -> str:
    rows = "".join(
        f'<tr><th class="value" scope="row">{escape(trait.text)}</th>'
        f'<td class="number">{show_fraction(trait.probability)}</td>'
        f'<td class="number faint">{show_fraction(trait.overall)}</td>'
        f'<td class="wide">{fraction_bar(trait.probability, trait.overall, colour)}</td>'
        f'<td class="wide">{lift_bar(trait.lift, trait.lower, trait.upper, colour, scale)}</td>'
        f'<td class="number">{show_lift(trait.lift)}</td>'
        f'<td class="faint">{show_lift(trait.lower)} – {show_lift(trait.upper)}</td></tr>'
        for trait in traits
    )
    head = f'<tr><th class="faint" colspan="7"><small>{kind} often than overall</small></th></tr>'
    return f'<tbody class="{kind}">{head}{rows}</tbody>' if rows else ""
