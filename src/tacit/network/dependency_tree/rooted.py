"""Trees with a root: who is whose parent, and an order in which parents come first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Rooted", "choose_root", "root_tree"]


@dataclass(frozen=True)
class Rooted:
    """A spanning tree seen from one of its nodes."""

    parents: NDArray[np.int64]  # -1 for the root
    order: NDArray[np.int64]  # level by level, so that parents come before their children
    edge: NDArray[np.int64]  # which edge joins a node to its parent; -1 for the root

    @property
    def root(self) -> int:
        """The node without a parent."""
        return int(self.order[0])

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node, ascending."""
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                children[parent].append(node)
        return children

    def path_to(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [node]
        while (above := int(self.parents[path[-1]])) >= 0:
            path.append(above)
        return path[::-1]


def root_tree(n: int, edges: NDArray[np.int64], root: int) -> Rooted:
    """Look at a spanning tree from one of its nodes.

    Examples
    --------
    >>> root_tree(3, np.array([[0, 1], [1, 2]]), 1).parents.tolist()
    [1, -1, 1]
    """
    beside: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for index, (a, b) in enumerate(edges.tolist()):
        beside[a].append((b, index))
        beside[b].append((a, index))
    parents, edge = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    order, seen = [root], {root}
    for node in order:  # which grows as it is gone through
        for other, index in beside[node]:
            if other not in seen:
                seen.add(other)
                parents[other], edge[other] = node, index
                order.append(other)
    return Rooted(parents, np.array(order, np.int64), edge)


def choose_root(numeric: NDArray[np.bool_], edges: NDArray[np.int64]) -> int:
    """Return the node seen from which the fewest discrete columns hang below numeric ones.

    A discrete column below a number is the one thing that message passing cannot always take in
    closed form. Of equals the first discrete column is taken, or else the first.

    Examples
    --------
    >>> choose_root(np.array([True, False, True]), np.array([[0, 1], [1, 2]]))
    1
    """
    first = int(np.argmin(numeric))  # the first discrete column, or 0
    if numeric.all() or not numeric.any():
        return first
    tree = root_tree(len(numeric), edges, first)
    # To move the root across an edge turns this edge round and no other.
    change = np.zeros(len(numeric), np.int64)
    for node in tree.order[1:].tolist():
        above = tree.parents[node]
        change[node] = change[above] + int(numeric[node]) - int(numeric[above])
    change[numeric] = len(numeric)
    return int(np.argmin(change))
