"""Which way a predictor moves its target: whether it raises or lowers a probability.

The question is the same for all columns, whatever their labels: how probable is it that the target
is not its default, where the predictor is not its default and where it is? In tables of baskets
that is whether an item makes another one more likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.tree.network.forest import Arcs, Forest

__all__ = ["MARKS", "WORDS", "Influences", "event_text", "find_influences"]

WORDS = {1: "raises", -1: "lowers", 0: "varies"}
MARKS = {1: "+", -1: "−", 0: "±"}
_CLEAR = 0.5  # so much of all changes, up and down, has to be left when they are added up


class Influences(NamedTuple):
    """What predictors do to their targets, for each arc.

    Attributes
    ----------
    sign : ndarray of int64
        1 where the predictor raises the probability that the target is not its default, -1 where it
        lowers it, 0 where that differs between the splits of the target's tree.
    before, after : ndarray of float64
        That probability where the predictor is its default, and where it is not: the mean over the
        splits on the predictor, by their records.
    """

    sign: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


def event_text(schema: Schema, column: int) -> str:
    """Return in words that a column is not its default."""
    default, labels = int(schema.defaults[column]), schema.labels[column]
    if len(labels) == 2:
        other = labels[1 - default]
        return f"{schema.names[column]} {'is missing' if other is None else f'= {other}'}"
    return f"{schema.names[column]} ≠ {'missing' if labels[default] is None else labels[default]}"


def find_influences(
    forest: Forest,
    arcs: Arcs,
    arities: NDArray[np.int64],
    defaults: NDArray[np.int64],
    probabilities: NDArray[np.float64],  # of all codes in all nodes, laid out as the forest's stats
) -> Influences:
    """Return what each predictor does to its target, in the order of the arcs."""
    tree = forest.tree_of_node
    sizes = arities[tree]
    begin = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    weight = np.add.reduceat(forest.stats, begin) / forest.unit
    other = 1.0 - probabilities[begin + defaults[tree]]  # P(the target is not its default)
    nodes = np.flatnonzero(_default_is_open(forest))
    before, after = _both_sides(forest, weight, other)
    before, after, weight = before[nodes], after[nodes], weight[nodes]
    key = tree[nodes] * forest.n_trees + forest.column[nodes]
    wanted = arcs.target * forest.n_trees + arcs.predictor
    order = np.argsort(wanted)
    position = order[np.searchsorted(wanted, key, sorter=order)]
    n = len(wanted)
    total = np.maximum(np.bincount(position, weight, minlength=n), 1e-300)
    change = weight * (after - before)
    moved = np.bincount(position, change, minlength=n)
    clear = np.abs(moved) > _CLEAR * np.bincount(position, np.abs(change), minlength=n)
    return Influences(
        np.where(clear, np.sign(moved), 0).astype(np.int64),
        np.bincount(position, weight * before, minlength=n) / total,
        np.bincount(position, weight * after, minlength=n) / total,
    )


def _both_sides(
    forest: Forest, weight: NDArray[np.float64], other: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(the target is not its default) in two parts of each node.

    They are the last child, where records have the default of the column that is asked about, and
    all other children together.
    """
    parent, child = forest.edges
    last = _last_children(forest)
    outside = child == last[parent]
    before = np.zeros(len(other))
    before[parent[outside]] = other[child[outside]]
    parent, child = parent[~outside], child[~outside]
    weights = np.maximum(weight[child], 1e-9)  # so that children without records have a mean, too
    sums = np.bincount(parent, weights * other[child], minlength=len(other))
    totals = np.bincount(parent, weights, minlength=len(other))
    return before, sums / np.maximum(totals, 1e-300)


def _last_children(forest: Forest) -> NDArray[np.int64]:
    """Return the last child of each node; -1 for leaves."""
    inner = forest.n_children > 0
    last = np.full(len(forest.column), -1, np.int64)
    last[inner] = forest.children[(forest.first + forest.n_children - 1)[inner]]
    return last


def _default_is_open(forest: Forest) -> NDArray[np.bool_]:
    """Return which splits can be reached by records with the default of the column asked about.

    Below the other values of a column, a split on it compares those with each other.
    """
    parent, child = forest.edges
    above = np.full(len(forest.column), -1, np.int64)
    above[child] = parent
    last = _last_children(forest)
    is_open = forest.column >= 0
    nodes = np.flatnonzero(is_open)
    below, at = nodes, above[nodes]
    while len(nodes):
        inside = (at >= 0) & (forest.column[at] == forest.column[nodes]) & (last[at] != below)
        is_open[nodes[inside]] = False
        going = (at >= 0) & ~inside
        nodes, below, at = nodes[going], at[going], above[at[going]]
    return is_open
