"""Spanning trees by Tarjan's red rule alone: figure 1 of the paper."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Edge: TypeAlias = tuple[int, int]

__all__ = ["red_rule_tree"]

_PATIENCE = 10  # how often a question is asked before it is given up


def red_rule_tree(n: int, compare: Callable[[Edge, Edge], int] | Any) -> NDArray[np.int64]:
    """Return a maximum spanning tree of a complete graph, found by striking edges out.

    The red rule: the lightest edge of a cycle is in no maximum spanning tree. A draft tree is kept;
    an edge that is not in it closes a cycle with it, whose lightest edge is struck out, until only
    a tree is left. Only comparisons of two edges are used, and they need not always be answered.

    This shows the algorithm and takes O(n³) time. :class:`DependencyTree` strikes out all edges
    that it can at once.

    Parameters
    ----------
    n : int
        Number of nodes.
    compare : callable or array of shape (n, n)
        ``compare(e, f)`` says whether edge e is heavier than f (1), lighter (-1), or that it
        cannot tell (0); edges are pairs (a, b) with a < b. Or a symmetric array of weights;
        equal ones are told apart by the smaller (a, b).

    Returns
    -------
    edges : int64 array of shape (n - 1, 2)
        Each with a < b, in lexicographic order.

    Raises
    ------
    InputError
        If all questions that are left have gone unanswered ten times in a row.

    Examples
    --------
    >>> import tacit
    >>> tacit.network.red_rule_tree(3, [[0, 5, 1], [5, 0, 3], [1, 3, 0]]).tolist()
    [[0, 1], [1, 2]]
    """
    n = check_int(n, "n", 1)
    ask = _Memory(compare) if callable(compare) else _by_weight(n, compare)
    tree = {(0, b) for b in range(1, n)}  # any spanning tree will do
    waiting = deque((a, b) for a in range(1, n) for b in range(a + 1, n))
    unanswered = 0
    while waiting:
        if unanswered > _PATIENCE * len(waiting):
            raise InputError(f"compare could not tell {len(waiting)} edges from those of the tree")
        edge = waiting.popleft()
        lightest, sure = _lightest(_path(tree, n, edge), ask)
        answer = ask(edge, lightest) if sure else 0
        if answer == 0:
            waiting.append(edge)
            unanswered += 1
            continue
        unanswered = 0
        if answer > 0:
            tree.remove(lightest)
            tree.add(edge)
    return np.array(sorted(tree), np.int64).reshape(-1, 2)


def _by_weight(n: int, weights: Any) -> Callable[[Edge, Edge], int]:
    table = np.asarray(weights, np.float64)
    if table.shape != (n, n) or np.isnan(table).any() or (table != table.T).any():
        raise InputError(f"compare must be callable, or a symmetric array of shape ({n}, {n})")

    def ask(e: Edge, f: Edge) -> int:
        heavier = table[e] > table[f] or (table[e] == table[f] and e < f)
        return 1 if heavier else -1

    return ask


class _Memory:
    """Asks nothing twice that was answered once."""

    def __init__(self, compare: Callable[[Edge, Edge], int]) -> None:
        self.compare = compare
        self.known: dict[tuple[Edge, Edge], int] = {}

    def __call__(self, e: Edge, f: Edge) -> int:
        if not self.known.get((e, f)):
            said = self.compare(e, f)
            if said not in (-1, 0, 1):
                raise InputError(f"compare must return 1, -1 or 0, got {said!r}")
            self.known[e, f], self.known[f, e] = int(said), -int(said)
        return self.known[e, f]


def _lightest(path: list[Edge], ask: Callable[[Edge, Edge], int]) -> tuple[Edge, bool]:
    """Return the lightest edge of a path, and whether it is sure to be so."""
    lightest, doubts = path[0], []
    for edge in path[1:]:
        answer = ask(edge, lightest)
        if answer < 0:
            lightest = edge
        elif answer == 0:
            doubts.append(edge)
    return lightest, all(ask(edge, lightest) > 0 for edge in doubts)


def _path(tree: set[Edge], n: int, edge: Edge) -> list[Edge]:
    """Return the edges of the tree between the two nodes of an edge."""
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in tree:
        near[a].append(b)
        near[b].append(a)
    start, goal = edge
    came_from = {start: start}
    queue = deque([start])
    while goal not in came_from:
        u = queue.popleft()
        for v in near[u]:
            if v not in came_from:
                came_from[v] = u
                queue.append(v)
    path = []
    while goal != start:
        path.append((min(goal, came_from[goal]), max(goal, came_from[goal])))
        goal = came_from[goal]
    return path
