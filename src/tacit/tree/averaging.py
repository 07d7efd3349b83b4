"""Leaf probabilities that allow for splits that may not be there: averages along the way."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["average_on_the_way"]


def average_on_the_way(
    probabilities: NDArray[np.float64],
    begin: NDArray[np.int64],
    above: NDArray[np.int64],
    gain: NDArray[np.float64],
) -> NDArray[np.float64]:
    r"""Return P(code) in every node, averaged over where the way to it might have ended.

    A tree is one of many: those in which some of its nodes are leaves instead. If a node's split
    gains g nats and the splits below it are worth D more, then they are worth
    :math:`D = \log(1 + \exp(g + \sum D_{children}))` together, and the node is a leaf with the
    probability :math:`e^{-D}` (as in context-tree weighting). Given that the way comes to a node,
    the average over all those trees is what the node says, with this probability, and what its
    child says otherwise.

    Parameters
    ----------
    probabilities : ndarray
        Of the codes in each node, node after node.
    begin : ndarray
        Where those of each node begin.
    above : ndarray
        The parent of each node, which has a smaller number; -1 for a root.
    gain : ndarray
        What the split of each node adds to the logarithm of the trees' posterior probability; 0
        for leaves.

    Returns
    -------
    ndarray
        Laid out as the probabilities.

    Examples
    --------
    A split that gains nothing is there in every second tree.

    >>> rows = np.array([0.5, 0.5, 0.9, 0.1, 0.1, 0.9])
    >>> begin, above = np.array([0, 2, 4]), np.array([-1, 0, 0])
    >>> average_on_the_way(rows, begin, above, np.zeros(3)).round(2).tolist()
    [0.5, 0.5, 0.7, 0.3, 0.3, 0.7]
    """
    depth = np.zeros(len(above), np.int64)
    for node, parent in enumerate(above.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(depth[order[-1]] + 2))
    levels = [order[begin:end] for begin, end in pairwise(bounds.tolist())]
    split = np.bincount(above[above >= 0], minlength=len(above)) > 0

    below, worth = np.zeros(len(above)), np.zeros(len(above))
    for nodes in reversed(levels):
        worth[nodes] = np.where(split[nodes], np.logaddexp(0.0, gain[nodes] + below[nodes]), 0.0)
        if above[nodes[0]] >= 0:
            np.add.at(below, above[nodes], worth[nodes])
    ends = np.exp(-worth)  # P(the way ends here | it comes here), 1 for a leaf

    sizes = np.diff(np.append(begin, len(probabilities)))
    comes = np.ones(len(above))  # P(the way comes here)
    ended = np.zeros(len(probabilities))  # what nodes on the way say, by P(it ends there)
    averages = np.empty(len(probabilities))
    for nodes in levels:
        at = _places(begin, sizes, nodes)
        if above[nodes[0]] >= 0:
            parents = above[nodes]
            comes[nodes] = comes[parents] * -np.expm1(-worth[parents])
            ended[at] = ended[_places(begin, sizes, parents)]
        here = np.repeat(comes[nodes], sizes[nodes]) * probabilities[at]
        averages[at] = ended[at] + here
        ended[at] += np.repeat(ends[nodes], sizes[nodes]) * here
    return averages


def _places(
    begin: NDArray[np.int64], sizes: NDArray[np.int64], nodes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the probabilities of some nodes are, node after node."""
    n = sizes[nodes]
    return np.asarray(np.arange(n.sum()) + np.repeat(begin[nodes] - (np.cumsum(n) - n), n))
