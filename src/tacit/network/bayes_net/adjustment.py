"""Which columns to adjust for, to see from records what a treatment does to an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.network.bayes_net.graph import ancestors_of, children_of, moral_edges

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents

__all__ = ["adjustment_set"]


def adjustment_set(
    parents: Parents, treatment: int, outcome: int, allowed: Collection[int]
) -> list[int] | None:
    """Return the fewest columns that meet the back-door criterion, or None if none do; ascending.

    They are no descendants of the treatment, and separate it from the outcome once the arcs that
    leave it are gone. Such sets need no column but ancestors of the two; so they are the cuts of
    the moral graph of these. Of several smallest ones, it is the nearest to the outcome.

    Examples
    --------
    >>> adjustment_set([(), (0,), (0, 1)], 1, 2, {0, 1, 2})  # 0 is a common cause
    [0]
    """
    cut_off = [[p for p in above if p != treatment] for above in parents]
    near = sorted(ancestors_of(cut_off, {treatment, outcome}))
    behind = _descendants(parents, treatment)
    place = {column: k for k, column in enumerate(near)}
    free = [c in allowed and c not in behind and c != outcome for c in near]
    edges = [(place[a], place[b]) for a, b in moral_edges(cut_off, near)]
    cut = _smallest_cut(len(near), edges, place[outcome], place[treatment], free)
    return None if cut is None else [near[k] for k in cut]


def _descendants(parents: Parents, column: int) -> set[int]:
    children = children_of(parents)
    found, todo = {column}, [column]
    while todo:
        for child in children[todo.pop()]:
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def _smallest_cut(
    n: int, edges: list[tuple[int, int]], source: int, sink: int, free: list[bool]
) -> list[int] | None:
    """Return the fewest vertices, of those that are free, without which no way leads to the sink.

    By the theorem of max-flow and min-cut: each vertex is an arc from 2k to 2k + 1, which lets one
    unit through if the vertex is free, and any number otherwise.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    most = n + 1  # more than any cut of free vertices
    tails = [2 * k for k in range(n)] + [2 * a + 1 for e in edges for a in e]
    heads = [2 * k + 1 for k in range(n)] + [2 * b for a, c in edges for b in (c, a)]
    room = [1 if x else most for x in free] + [most] * (2 * len(edges))
    graph = csr_array((np.array(room, np.int32), (tails, heads)), shape=(2 * n, 2 * n))
    result = maximum_flow(graph, 2 * source + 1, 2 * sink)
    if result.flow_value > n:
        return None
    left = csr_array(graph - result.flow)
    left.eliminate_zeros()
    order: NDArray[np.int32] = breadth_first_order(
        left, 2 * source + 1, directed=True, return_predecessors=False
    )
    reached = set(order.tolist())
    return [k for k in range(n) if 2 * k in reached and 2 * k + 1 not in reached]
