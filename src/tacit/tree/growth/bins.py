"""The thresholds of a grown tree as bins of the model's columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.schema import Labels, Schema
from tacit.table.discretise import Edges, bin_labels, midpoints
from tacit.table.features import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.tree.growth.coding import Coding, Columns
    from tacit.tree.nodes import Nodes

__all__ = ["in_bins", "without_column"]


def without_column(nodes: Nodes, schema: Schema, column: int) -> Nodes:
    """Return nodes under the schema without a column, about which none of them asks."""
    behind = nodes.column > column
    shift = behind * np.int32(schema.offsets[column + 1] - schema.offsets[column])
    return replace(
        nodes, column=nodes.column - behind, low=nodes.low - shift, high=nodes.high - shift
    )


def in_bins(nodes: Nodes, coding: Coding, columns: Columns) -> tuple[Nodes, Features]:
    """Return nodes that ask about bins, and the features that put numbers into them.

    A column of numbers gets the bins between the thresholds that occur in the nodes, and a label of
    missing values behind them where there are some; one that is never asked about gets one bin.
    """
    offsets, defaults = coding.offsets, coding.defaults
    n = len(columns.names)
    is_number = np.array([own is None for own in columns.labels], np.bool_)
    cuts: dict[int, NDArray[np.float64]] = {}
    codes = np.full(nodes.n_nodes, -1, np.int64)  # the last bin below each node's threshold
    for column in np.unique(nodes.column[nodes.column >= 0]).tolist():
        if is_number[column]:
            own = np.flatnonzero(nodes.column == column)
            cuts[column], codes[own] = _thresholds(nodes, own, columns.numbers[column])
    labels, new_defaults = _labels(coding, columns, cuts)
    names = columns.names
    edges = {names[c]: Edges(tuple(own.tolist())) for c, own in cuts.items()}
    none = Edges(())
    every = {
        names[c]: columns.cuts.get(names[c]) or edges.get(names[c], none)
        for c in range(n)
        if is_number[c] or names[c] in columns.cuts
    }
    schema = Schema(names, labels, new_defaults)
    moved = _move(nodes, offsets, defaults, schema, is_number, codes)
    return moved, Features(schema, every, columns.kind)


def _thresholds(
    nodes: Nodes, own: NDArray[Any], numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cuts of one column, and for each of its nodes the last bin below its threshold."""
    known = numbers[~np.isnan(numbers)]
    left, right = nodes.left[own], nodes.right[own]
    at = right < len(known)  # else all numbers are below it, and missing values above
    wanted = midpoints(known[left[at]], known[right[at]])
    cuts = np.unique(wanted)
    found = np.full(len(own), len(cuts), np.int64)
    found[at] = np.searchsorted(cuts, wanted)
    return cuts, found


def _labels(
    coding: Coding, columns: Columns, cuts: dict[int, NDArray[np.float64]]
) -> tuple[list[Labels], NDArray[np.int64]]:
    """Return the model's labels and defaults: where numbers are cut, the bin of the default."""
    plain = {lost: Labels(["all", None] if lost else ["all"], "String") for lost in (False, True)}
    defaults = coding.defaults.copy()
    labels = []
    for column, known in enumerate(columns.labels):
        if known is not None:
            labels.append(known)
            continue
        lost, at = columns.lost[column], 0
        if column in cuts:
            own = cuts[column]
            at = int(np.searchsorted(own, columns.numbers[column][defaults[column]], "right"))
            items = (*bin_labels(own), None) if lost else bin_labels(own)
            labels.append(Labels(items, "String"))
        else:
            labels.append(plain[lost])
        last = coding.offsets[column + 1] - coding.offsets[column]
        is_lost = lost and defaults[column] == last
        defaults[column] = len(labels[-1]) - 1 if is_lost else at
    return labels, defaults


def _move(
    nodes: Nodes,
    offsets: NDArray[np.int64],
    defaults: NDArray[np.int64],
    schema: Schema,
    is_number: NDArray[np.bool_],
    codes: NDArray[np.int64],
) -> Nodes:
    """Rewrite ranges of ids; the sides of a threshold change places if the default does."""
    split = nodes.column >= 0
    column = np.where(split, nodes.column, 0)
    begin, end = schema.offsets[column], schema.offsets[column + 1]
    shift = begin - offsets[column]
    low, high = nodes.low + shift, nodes.high + shift
    at = split & is_number[column]
    was_lower = (nodes.low == offsets[column]) & (defaults[column] > 0)
    is_lower = schema.defaults[column] > codes
    low[at] = np.where(is_lower, begin, begin + codes)[at]
    high[at] = np.where(is_lower, begin + codes + 1, end)[at]
    children = nodes.children.copy()
    turned = nodes.first[at & (was_lower != is_lower)]
    children[turned], children[turned + 1] = nodes.children[turned + 1], nodes.children[turned]
    return replace(
        nodes,
        low=np.where(split, low, 0).astype(np.int32),
        high=np.where(split, high, 0).astype(np.int32),
        left=np.where(at, codes, nodes.left).astype(np.int32),
        right=np.where(at, codes + 1, nodes.right).astype(np.int32),
        children=children,
    )
