"""Dependency networks in words and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.plot.theme import LOWERS, RAISES, VARIES
from tacit.tree.drawing.dot import dot_escape
from tacit.tree.network.influence import MARKS, WORDS, event_text

if TYPE_CHECKING:
    from tacit.tree.network.dependency_network import DependencyNetwork

__all__ = ["arc_text", "arcs_frame", "gain_unit", "network_dot", "network_facts", "network_text"]

# Of arrows that raise a probability, lower it, or do both.
_STYLES = {
    1: f'color="{RAISES}"',
    -1: f'color="{LOWERS}", style=dashed, arrowhead=tee',
    0: f'color="{VARIES}", arrowhead=diamond',
}


def arcs_frame(network: DependencyNetwork, top: int | None = None) -> pl.DataFrame:
    """Return the strongest arcs: predictor, target, gain, influence, change and rank."""
    names = network.schema_.names
    predictor, target, gain = (array[:top] for array in network.arcs_)
    sign, before, after = (array[:top] for array in network._derived.influences)
    return pl.DataFrame(
        {
            "predictor": pl.Series([names[c] for c in predictor.tolist()], dtype=pl.String),
            "target": pl.Series([names[c] for c in target.tolist()], dtype=pl.String),
            "gain": gain,
            "influence": pl.Series([WORDS[x] for x in sign.tolist()], dtype=pl.String),
            "change": after - before,
            "rank": np.arange(1, len(gain) + 1),
        }
    )


def gain_unit(network: DependencyNetwork) -> str:
    """Return what gains are measured in."""
    return "records" if network._learnt_by["criterion"] == "gini" else "nats"


def arc_text(network: DependencyNetwork, k: int) -> str:
    """Return an arc in words: what it does to which probability, and its gain."""
    schema, arcs, found = network.schema_, network.arcs_, network._derived.influences
    predictor, target = int(arcs.predictor[k]), int(arcs.target[k])
    event = event_text(schema, target)
    given = event_text(schema, predictor)
    return (
        f"{schema.names[predictor]} → {schema.names[target]}: {given} "
        f"{WORDS[int(found.sign[k])]} P({event}), on average from {found.before[k]:.1%} to "
        f"{found.after[k]:.1%}; gain {arcs.gain[k]:,.4g} {gain_unit(network)}"
    )


def network_facts(network: DependencyNetwork) -> str:
    """Return the sizes of a network in one line."""
    leaves = network.n_leaves_
    n_arcs = len(network.arcs_.gain)
    alone = int(np.count_nonzero(leaves == 1))
    text = (
        f"{len(leaves):,} columns, {n_arcs:,} arc{'' if n_arcs == 1 else 's'}, "
        f"{int(leaves.sum()):,} leaves"
    )
    if alone:
        text += f"; {alone:,} column{'' if alone == 1 else 's'} depend{'s' if alone == 1 else ''}"
        text += " on no other"
    return text


def network_text(network: DependencyNetwork, top: int) -> str:
    """Return the sizes of a network and its strongest arcs."""
    lines = [f"Dependency network of {network_facts(network)}"]
    names = network.schema_.names
    predictor, target, gain = (array[:top].tolist() for array in network.arcs_)
    signs = network._derived.influences.sign[:top].tolist()
    if gain:
        lines.append(
            "Strongest arcs, by what they add to the score of a column's tree "
            f"({gain_unit(network)}; + raises, − lowers, ± varies):"
        )
        gains = [f"{x:,.1f}" for x in gain]
        width = max(map(len, gains))
        lines += [
            f"  {text:>{width}}  {MARKS[s]} {names[p]} → {names[t]}"
            for p, t, s, text in zip(predictor, target, signs, gains, strict=True)
        ]
    return "\n".join(lines)


def network_dot(network: DependencyNetwork, top: int) -> str:
    """Return the strongest arcs in Graphviz' language, the wider the stronger."""
    names = [f'"{dot_escape(name)}"' for name in network.schema_.names]
    predictor, target, gain = (array[:top].tolist() for array in network.arcs_)
    signs = network._derived.influences.sign[:top].tolist()
    lines = [
        f"  {names[p]} -> {names[t]} [penwidth={0.6 + 3.9 * x / max(gain[0], 1e-300):.2f}, "
        f"{_STYLES[s]}];"
        for p, t, x, s in zip(predictor, target, gain, signs, strict=True)
    ]
    return "\n".join(["digraph network {", *lines, "}", ""])
