"""Dependency networks in words and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.tree.drawing.dot import dot_escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.tree.network.dependency_network import DependencyNetwork
    from tacit.tree.network.forest import Arcs

__all__ = ["arcs_frame", "network_dot", "network_facts", "network_text"]


def arcs_frame(names: Sequence[str], arcs: Arcs, top: int | None = None) -> pl.DataFrame:
    """Return the strongest arcs: predictor, target, gain and rank."""
    predictor, target, gain = (array[:top] for array in arcs)
    return pl.DataFrame(
        {
            "predictor": pl.Series([names[c] for c in predictor.tolist()], dtype=pl.String),
            "target": pl.Series([names[c] for c in target.tolist()], dtype=pl.String),
            "gain": gain,
            "rank": np.arange(1, len(gain) + 1),
        }
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
    if gain:
        lines.append("Strongest arcs, by what they add to the score of a column's tree:")
        gains = [f"{x:,.1f}" for x in gain]
        width = max(map(len, gains))
        lines += [
            f"  {text:>{width}}  {names[p]} → {names[t]}"
            for p, t, text in zip(predictor, target, gains, strict=True)
        ]
    return "\n".join(lines)


def network_dot(network: DependencyNetwork, top: int) -> str:
    """Return the strongest arcs in Graphviz' language, the wider the stronger."""
    names = [f'"{dot_escape(name)}"' for name in network.schema_.names]
    predictor, target, gain = (array[:top].tolist() for array in network.arcs_)
    lines = [
        f"  {names[p]} -> {names[t]} [penwidth={0.6 + 3.9 * x / max(gain[0], 1e-300):.2f}];"
        for p, t, x in zip(predictor, target, gain, strict=True)
    ]
    return "\n".join(["digraph network {", *lines, "}", ""])
