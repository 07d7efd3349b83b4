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

__all__ = ["features_without", "in_bins", "nodes_without"]


def nodes_without(column: int, nodes: Nodes, schema: Schema) -> Nodes:
    """Return nodes under the schema without a column, about which none of them asks."""
    behind = nodes.column > column
    shift = behind * np.int32(schema.offsets[column + 1] - schema.offsets[column])
    return replace(
        nodes, column=nodes.column - behind, low=nodes.low - shift, high=nodes.high - shift
    )


def features_without(column: int, features: Features) -> Features:
    """Return features without a column. The rest of an array is a frame: positions would shift."""
    schema = features.schema
    names, labels = list(schema.names), list(schema.labels)
    del names[column], labels[column]
    cuts = {name: edges for name, edges in features.cuts.items() if name != schema.names[column]}
    rest = Schema(names, labels, np.delete(schema.defaults, column))
    return Features(rest, cuts, "table" if features.kind == "table" else "frame")


def in_bins(nodes: Nodes, coding: Coding, columns: Columns) -> tuple[Nodes, Features]:
    """Return nodes that ask about bins, and the features that put numbers into them.

    A column of numbers gets the bins between the thresholds that occur in the nodes, and a label of
    missing values behind them where there are some; one that is never asked about gets one bin.
    """
    offsets, defaults = coding.offsets, coding.defaults
    n = len(columns.names)
    is_number = np.array([labels is None for labels in columns.labels], np.bool_)
    cuts: dict[int, NDArray[np.float64]] = {}
    codes = np.full(nodes.n_nodes, -1, np.int64)  # the last bin below each node's threshold
    for column in np.unique(nodes.column[nodes.column >= 0]).tolist():
        if is_number[column]:
            at = np.flatnonzero(nodes.column == column)
            cuts[column], codes[at] = _thresholds(nodes, at, columns.numbers[column])
    labels, new_defaults = _labels(coding, columns, cuts)
    names = columns.names
    edges = {names[c]: Edges(tuple(points.tolist())) for c, points in cuts.items()}
    all_edges = {
        names[c]: columns.cuts.get(names[c]) or edges.get(names[c], Edges(()))
        for c in range(n)
        if is_number[c] or names[c] in columns.cuts
    }
    schema = Schema(names, labels, new_defaults)
    binned = _renumber(nodes, offsets, defaults, schema, is_number, codes)
    return binned, Features(schema, all_edges, columns.kind)


def _thresholds(
    nodes: Nodes, asking: NDArray[Any], numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cuts of one column, and for each node asking about it the last bin below."""
    known = numbers[~np.isnan(numbers)]
    left, right = nodes.left[asking], nodes.right[asking]
    between = right < len(known)  # else all numbers are below it, and missing values above
    thresholds = midpoints(known[left[between]], known[right[between]])
    cuts = np.unique(thresholds)
    last_below = np.full(len(asking), len(cuts), np.int64)
    last_below[between] = np.searchsorted(cuts, thresholds)
    return cuts, last_below


def _labels(
    coding: Coding, columns: Columns, cuts: dict[int, NDArray[np.float64]]
) -> tuple[list[Labels], NDArray[np.int64]]:
    """Return the model's labels and defaults: where numbers are cut, the bin of the default."""
    one_bin = {some: Labels(["all", None] if some else ["all"], "String") for some in (False, True)}
    defaults = coding.defaults.copy()
    labels = []
    for column, known in enumerate(columns.labels):
        if known is not None:
            labels.append(known)
            continue
        missing, default_bin = columns.missing[column], 0
        if column in cuts:
            default = columns.numbers[column][defaults[column]]
            default_bin = int(np.searchsorted(cuts[column], default, "right"))
            items = bin_labels(cuts[column])
            labels.append(Labels((*items, None) if missing else items, "String"))
        else:
            labels.append(one_bin[missing])
        last = coding.offsets[column + 1] - coding.offsets[column]
        is_missing = missing and defaults[column] == last
        defaults[column] = len(labels[-1]) - 1 if is_missing else default_bin
    return labels, defaults


def _renumber(
    nodes: Nodes,
    offsets: NDArray[np.int64],
    defaults: NDArray[np.int64],
    schema: Schema,
    is_number: NDArray[np.bool_],
    codes: NDArray[np.int64],
) -> Nodes:
    """Rewrite ranges of ids; the sides of a threshold are swapped if the default changes side."""
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
    first = nodes.first[at & (was_lower != is_lower)]
    children[first], children[first + 1] = nodes.children[first + 1], nodes.children[first]
    return replace(
        nodes,
        low=np.where(split, low, 0).astype(np.int32),
        high=np.where(split, high, 0).astype(np.int32),
        left=np.where(at, codes, nodes.left).astype(np.int32),
        right=np.where(at, codes + 1, nodes.right).astype(np.int32),
        children=children,
    )
