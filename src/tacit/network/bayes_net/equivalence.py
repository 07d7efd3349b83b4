"""Nets that say the same: essential graphs, and how far one structure is from another.

Nets with the same edges and the same colliders (two parents of a child without an arc between them)
hold the same independences, and data cannot tell them apart. The essential graph of a net keeps
the arcs that all of its equals share (compelled) and leaves the others without a direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.network.bayes_net.graph import find_order

if TYPE_CHECKING:
    from tacit.network.bayes_net.graph import Parents

__all__ = ["essential_graph", "hamming_distance"]


def essential_graph(parents: Parents) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the compelled arcs (from, to) and the reversible edges (smaller, larger), sorted.

    Columns are taken in order. What compels an arc to a child shows at its last parent: an arc into
    that one from a column that the child does not depend on, or a parent that it is not tied to.

    Examples
    --------
    >>> essential_graph([(), (), (0, 1), (2,)])  # a collider compels what follows
    ([(0, 2), (1, 2), (2, 3)], [])
    >>> essential_graph([(), (0,), (1,)])  # a chain has no collider
    ([], [(0, 1), (1, 2)])
    """
    order = find_order(parents)
    rank = {column: k for k, column in enumerate(order)}
    sets = [frozenset(above) for above in parents]
    compelled: list[set[int]] = [set() for _ in parents]  # parents whose arcs are compelled
    for child in order:
        above = sets[child]
        if not above:
            continue
        last = max(above, key=rank.__getitem__)
        others = above - {last}
        if compelled[last] <= above and others <= sets[last]:
            compelled[child] = set(compelled[last])  # lest a cycle appears
        else:
            compelled[child] = set(above)
    arcs = sorted((p, c) for c, above in enumerate(compelled) for p in above)
    edges = sorted(
        (min(p, c), max(p, c)) for c, above in enumerate(sets) for p in above - compelled[c]
    )
    return arcs, edges


def hamming_distance(one: Parents, other: Parents, *, equivalence: bool = True) -> int:
    """Return the number of pairs of columns that two graphs connect differently.

    Their essential graphs are compared, or else the arcs as they are.

    Examples
    --------
    >>> hamming_distance([(), (0,)], [(1,), ()]), hamming_distance([(), (0,)], [(), ()])
    (0, 1)
    >>> hamming_distance([(), (0,)], [(1,), ()], equivalence=False)
    1
    """
    a, b = (_ends(graph, equivalence) for graph in (one, other))
    return sum(a.get(pair) != b.get(pair) for pair in a.keys() | b.keys())


def _ends(parents: Parents, equivalence: bool) -> dict[tuple[int, int], int]:
    """Return where the arrow of each connected pair points: -1 where it has none."""
    if not equivalence:
        return {(min(p, c), max(p, c)): c for c, above in enumerate(parents) for p in above}
    arcs, edges = essential_graph(parents)
    return {(min(p, c), max(p, c)): c for p, c in arcs} | dict.fromkeys(edges, -1)
