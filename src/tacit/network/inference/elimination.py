"""The most probable labels of some columns, the others summed over: by elimination.

Columns that are summed over have to go before those that are maximised, which can take far larger
tables than either alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError
from tacit.machine import available_memory, human_bytes
from tacit.network.bayes_net.graph import ancestors_of, moral_edges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents

    # Columns, ascending, and the logarithms of a table with an axis for each of them
    Factor = tuple[tuple[int, ...], NDArray[np.float64]]

__all__ = ["most_probable_of"]

_MOST_CELLS = 1e10  # some minutes of work
_MOST_AXES = 32  # of an array, in any version of NumPy


def most_probable_of(
    wanted: Sequence[int],
    evidence: Mapping[int, int],
    arities: Sequence[int],
    parents: Parents,
    tables: Sequence[NDArray[np.float64]],
) -> tuple[list[int], float]:
    """Return the codes of some columns that are most probable together, given others.

    The logarithm of their probability, evidence included, comes second; -inf if that cannot be.
    """
    needed = ancestors_of(parents, {*wanted, *evidence})  # others sum to one
    known = {c: 0 for c in needed if arities[c] == 1} | dict(evidence)
    order = _order(wanted, known, arities, parents, needed)
    factors = [_factor(c, known, arities, parents, tables) for c in sorted(needed)]
    targets, choices = set(wanted), []
    for column in order:
        joined = [factor for factor in factors if column in factor[0]]
        factors = [factor for factor in factors if column not in factor[0]]
        scope, logs = _product(joined)
        axis = scope.index(column)
        rest = (*scope[:axis], *scope[axis + 1 :])
        if column in targets:
            choices.append((column, rest, logs.argmax(axis)))
            factors.append((rest, logs.max(axis)))
        else:
            factors.append((rest, _log_sum(logs, axis)))
    codes = dict(known)
    for column, rest, best in reversed(choices):
        codes[column] = int(best[tuple(codes[c] for c in rest)])
    return [codes[c] for c in wanted], float(sum(float(logs) for _, logs in factors))


def _order(
    wanted: Sequence[int],
    known: Mapping[int, int],
    arities: Sequence[int],
    parents: Parents,
    needed: set[int],
) -> list[int]:
    """Return the order of elimination: what is summed over first, each time the smallest table.

    Refuses what would take too much memory or time, before any of it is done.
    """
    near: dict[int, set[int]] = {c: set() for c in needed if c not in known}
    for a, b in moral_edges(parents, sorted(needed)):
        if a in near and b in near:
            near[a].add(b)
            near[b].add(a)
    room = available_memory()
    order, held, total = [], 0.0, 0.0
    for group in (near.keys() - set(wanted), near.keys() & set(wanted)):
        waiting = {c: _log_cells(c, near, arities) for c in group}
        while waiting:
            column = min(waiting, key=lambda c: (waiting[c], c))
            cells, width = math.exp(min(waiting[column], 700.0)), len(near[column]) + 1
            held += 16 * cells / arities[column]  # what is left of the table, and the choices
            total += cells
            n_bytes = 24 * cells + held
            if width > _MOST_AXES or total > _MOST_CELLS or (room is not None and n_bytes > room):
                raise InputError(
                    f"columns: their most probable labels need a table of {width} columns "
                    f"({cells:.2g} cells, {human_bytes(n_bytes)}), more than memory or "
                    f"{_MOST_CELLS:.0e} cells in all allow; ask about fewer columns, or all"
                )
            del waiting[column]
            around = near.pop(column)
            for c in around:
                near[c] |= around - {c}
                near[c].discard(column)
            for c in around & waiting.keys():
                waiting[c] = _log_cells(c, near, arities)
            order.append(column)
    return order


def _log_cells(column: int, near: Mapping[int, set[int]], arities: Sequence[int]) -> float:
    return math.log(arities[column]) + sum(math.log(arities[c]) for c in sorted(near[column]))


def _factor(
    column: int,
    known: Mapping[int, int],
    arities: Sequence[int],
    parents: Parents,
    tables: Sequence[NDArray[np.float64]],
) -> Factor:
    """Return a column's table without the axes of what is known."""
    family = [*parents[column], column]
    cut = tables[column].reshape([arities[c] for c in family])
    cut = cut[tuple(known.get(c, slice(None)) for c in family)]
    free = [c for c in family if c not in known]
    scope = tuple(sorted(free))
    with np.errstate(divide="ignore"):
        return scope, np.log(cut.transpose([free.index(c) for c in scope]))


def _product(factors: Sequence[Factor]) -> Factor:
    """Return the product of tables: the sum of their logarithms."""
    scope = tuple(sorted({c for columns, _ in factors for c in columns}))
    total: NDArray[np.float64] = np.zeros([1] * len(scope))
    for columns, logs in factors:
        sizes = iter(logs.shape)
        shape = [next(sizes) if c in columns else 1 for c in scope]
        total = total + logs.reshape(shape)
    return scope, total


def _log_sum(logs: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the logarithm of the sum of exponentials along an axis; that of nothing is -inf."""
    most = logs.max(axis, keepdims=True)
    most[np.isneginf(most)] = 0.0
    with np.errstate(divide="ignore"):
        summed: NDArray[np.float64] = np.log(np.exp(logs - most).sum(axis)) + most.squeeze(axis)
    return summed
