"""Arcs between columns: order, cycles, separation, and what columns of the same family share.

A graph is given by the parents of each column, as positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = [
    "Parents",
    "ancestors_of",
    "are_separated",
    "children_of",
    "find_cycle",
    "find_order",
    "markov_blanket",
    "moral_edges",
]

Parents: TypeAlias = "Sequence[Sequence[int]]"


def children_of(parents: Parents) -> list[list[int]]:
    """Return the children of each column, ascending.

    >>> children_of([(), (0,), (0, 1)])
    [[1, 2], [2], []]
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)
    return children


def find_order(parents: Parents) -> list[int]:
    """Return the columns such that parents come before children; of several, the first first.

    Without an order, those that are in a cycle or behind one are not returned.

    >>> find_order([(2,), (), (1,)])
    [1, 2, 0]
    """
    waiting = [len(above) for above in parents]
    children = children_of(parents)
    order = [c for c, n in enumerate(waiting) if n == 0]
    for column in order:  # which grows as it goes
        for child in children[column]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def find_cycle(parents: Parents) -> list[int] | None:
    """Return the columns of a cycle, in the direction of its arcs, or ``None`` if there is none.

    >>> find_cycle([(2,), (0,), (1,), (2,)])
    [0, 1, 2]
    """
    left = set(range(len(parents))) - set(find_order(parents))
    if not left:
        return None
    # Each of them has a parent among them: going back, one comes again sooner or later.
    column, path = min(left), list[int]()
    while column not in path:
        path.append(column)
        column = next(p for p in parents[column] if p in left)
    cycle = path[path.index(column) :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def check_acyclic(parents: Parents, names: Sequence[str], argument: str = "parents") -> None:
    """Refuse arcs that go round in a circle, and say which."""
    cycle = find_cycle(parents)
    if cycle is not None:
        raise InputError(f"{argument}: arcs form a cycle, {cycle_text(cycle, names)}")


def cycle_text(cycle: Sequence[int], names: Sequence[str]) -> str:
    """Return a cycle as people write it; a long one is cut short."""
    shown = [names[c] for c in cycle]
    if len(shown) > 8:
        shown = [*shown[:7], "…"]
    return " → ".join([*shown, names[cycle[0]]])


def ancestors_of(parents: Parents, columns: Iterable[int]) -> set[int]:
    """Return the columns and all from which arcs lead to them."""
    seen = set(columns)
    todo = list(seen)
    while todo:
        for parent in parents[todo.pop()]:
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return seen


def moral_edges(parents: Parents, columns: Collection[int] | None = None) -> list[tuple[int, int]]:
    """Return the pairs that share a family: parent and child, or two parents of a child; sorted.

    >>> moral_edges([(), (), (0, 1)])
    [(0, 1), (0, 2), (1, 2)]
    """
    edges: set[tuple[int, int]] = set()
    for child in range(len(parents)) if columns is None else columns:
        family = sorted((*parents[child], child))
        edges.update((a, b) for k, a in enumerate(family) for b in family[k + 1 :])
    return sorted(edges)


def markov_blanket(parents: Parents, column: int) -> list[int]:
    """Return the parents, the children and the children's other parents of a column, ascending.

    Given these, the column is independent of all others.
    """
    blanket = set(parents[column])
    for child, above in enumerate(parents):
        if column in above:
            blanket.add(child)
            blanket.update(above)
    return sorted(blanket - {column})


def are_separated(
    parents: Parents, one: Collection[int], other: Collection[int], given: Collection[int]
) -> bool:
    """Return whether two sets of columns are d-separated by a third.

    They are, if in the moral graph of all their ancestors every way from one to the other leads
    through the third.
    """
    near: dict[int, list[int]] = {}
    for a, b in moral_edges(parents, ancestors_of(parents, {*one, *other, *given})):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    closed, aim = set(given), set(other)
    seen = set(one) - closed
    todo = list(seen)
    while todo:
        column = todo.pop()
        if column in aim:
            return False
        for next_one in near.get(column, ()):
            if next_one not in seen and next_one not in closed:
                seen.add(next_one)
                todo.append(next_one)
    return True
