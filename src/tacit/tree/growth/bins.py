"""The thresholds of a grown tree as bins of the model's columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table.discretise import bins_of, midpoints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Labels, Schema
    from tacit.tree.nodes import Nodes

__all__ = ["in_bins", "nodes_without"]


def nodes_without(column: int, nodes: Nodes, schema: Schema) -> Nodes:
    """Return nodes under the schema without a column, about which none of them asks."""
    behind = nodes.column > column
    shift = behind * np.int32(schema.offsets[column + 1] - schema.offsets[column])
    return replace(
        nodes,
        column=nodes.column - behind,
        low=nodes.low - shift,
        high=nodes.high - shift,
        also=np.where(nodes.also >= 0, nodes.also - shift, -1).astype(np.int32),
    )


def in_bins(nodes: Nodes, schema: Schema, is_number: NDArray[np.bool_]) -> tuple[Nodes, Schema]:
    """Return nodes that ask about bins instead of numbers, and the schema of those.

    A column of numbers gets the bins between the thresholds that occur in the nodes, and a label of
    missing values behind them where there are some; one that is never asked about gets one bin.
    """
    cuts: dict[int, NDArray[np.float64]] = {}
    codes = np.full(nodes.n_nodes, -1, np.int64)  # the last bin below each node's threshold
    for column in np.unique(nodes.column[nodes.column >= 0]).tolist():
        if is_number[column]:
            at = np.flatnonzero(nodes.column == column)
            cuts[column], codes[at] = _thresholds(nodes, at, schema.labels[column].numbers)
    labels, defaults = _labels(schema, is_number, cuts)
    binned = schema.with_labels(labels, defaults)
    return _renumber(nodes, schema, binned, is_number, codes), binned


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
    schema: Schema, is_number: NDArray[np.bool_], cuts: dict[int, NDArray[np.float64]]
) -> tuple[list[Labels], NDArray[np.int64]]:
    """Return the model's labels and defaults: where numbers are cut, the bin of the default."""
    one_bin = [bins_of((), missing=some) for some in (False, True)]
    has_missing = schema.of_labels(lambda labels: labels.missing is not None, np.bool_)
    if is_number.all() and not has_missing.any():
        labels = [one_bin[False]] * len(schema)
    else:
        columns = zip(schema.labels, is_number.tolist(), has_missing.tolist(), strict=True)
        labels = [one_bin[missing] if number else old for old, number, missing in columns]
    is_missing = has_missing & (schema.defaults == schema.arities - 1)
    defaults = np.where(is_number, is_missing.astype(np.int64), schema.defaults)
    for column, edges in cuts.items():
        labels[column] = bins_of(edges, missing=bool(has_missing[column]))
        number = schema.labels[column].numbers[schema.defaults[column]]
        bin_below = np.searchsorted(edges, number, "right")
        defaults[column] = len(edges) + 1 if is_missing[column] else bin_below
    return labels, defaults


def _renumber(
    nodes: Nodes,
    old: Schema,
    schema: Schema,
    is_number: NDArray[np.bool_],
    codes: NDArray[np.int64],
) -> Nodes:
    """Rewrite ranges of ids; the sides of a threshold are swapped if the default changes side."""
    split = nodes.column >= 0
    column = np.where(split, nodes.column, 0)
    begin, end = schema.offsets[column], schema.offsets[column + 1]
    shift = begin - old.offsets[column]
    low, high = nodes.low + shift, nodes.high + shift
    also = np.where(nodes.also >= 0, nodes.also + shift, -1)
    at = split & is_number[column]
    was_lower, missing_below = _sides(nodes, old, column)
    default = schema.defaults[column]
    default_is_missing = default == _missing_codes(schema, column)
    is_lower = (default > codes) & ~(missing_below & default_is_missing)
    low[at] = np.where(is_lower, begin, begin + codes + (default > codes))[at]
    last = end - (missing_below & ~default_is_missing)
    high[at] = np.where(is_lower, begin + codes + 1, last)[at]
    also[at] = np.where(is_lower & missing_below, end - 1, -1)[at]
    children = nodes.children.copy()
    first = nodes.first[at & (was_lower != is_lower)]
    children[first], children[first + 1] = nodes.children[first + 1], nodes.children[first]
    return replace(
        nodes,
        low=np.where(split, low, 0).astype(np.int32),
        high=np.where(split, high, 0).astype(np.int32),
        left=np.where(at, codes, nodes.left).astype(np.int32),
        right=np.where(at, codes + 1, nodes.right).astype(np.int32),
        also=also.astype(np.int32),
        children=children,
    )


def _missing_codes(schema: Schema, columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return the code of missing values in some columns; -1 where there is none."""
    asked, position = np.unique(columns, return_inverse=True)
    codes = [schema.labels[column].missing for column in asked.tolist()]
    return np.array([-1 if code is None else code for code in codes], np.int64)[position]


def _sides(
    nodes: Nodes, schema: Schema, column: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where the lower side of a threshold is inside, and where missing values are below."""
    default = schema.defaults[column]
    is_lower = (nodes.low == schema.offsets[column]) & (default > 0)
    to_the_end = nodes.high == schema.offsets[column + 1]
    left_out = ~to_the_end | (default == _missing_codes(schema, column))
    return is_lower, np.where(is_lower, nodes.also >= 0, left_out)
