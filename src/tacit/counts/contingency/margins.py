"""Marginals, slices and probabilities of a contingency table; and whether two are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts.contingency.cells import (
    MAX_COUNT,
    Cells,
    Groups,
    capped,
    codes_of,
    group_totals,
    number_of,
    renumber,
    resolve,
    resolve_each,
)
from tacit.errors import InputError
from tacit.schema import Column, Labels

if TYPE_CHECKING:
    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import Counts

__all__ = ["condition", "equal", "marginal", "probabilities", "slice_labels"]

_PROBABILITIES = "probabilities"


def marginal(table: ContingencyTable, columns: Any) -> ContingencyTable:
    """Add up the counts over all columns but these."""
    positions = resolve_each(table.columns, columns, "columns")
    made = _sum_dense(table, positions) if table._cells is None else _sum_sparse(table, positions)
    made._note = table._note if table._note == _PROBABILITIES else None
    return made


def _sum_dense(table: ContingencyTable, positions: list[int]) -> ContingencyTable:
    dropped = tuple(k for k in range(len(table.columns)) if k not in positions)
    order = [sorted(positions).index(position) for position in positions]

    def add(array: Counts) -> Counts:
        sums: Counts = array.sum(axis=dropped).transpose(order)
        return sums

    made = table._map(tuple(table.columns[position] for position in positions), add)
    if table._upper is not None:
        made._upper = capped(add, table._upper)
    return made


def _sum_sparse(table: ContingencyTable, positions: list[int]) -> ContingencyTable:
    assert table._cells is not None
    groups = Groups(renumber(table._cells, table.shape, positions))
    kept = tuple(table.columns[position] for position in positions)
    made = table._map(kept, groups.add_up, groups.numbers)
    rest = table.rest_upper
    n_each = table.n_cells // made.n_cells  # cells that are added up to one
    made._rest_upper = min(rest * n_each, MAX_COUNT)
    if table._upper is not None or rest:
        unlisted = n_each - groups.sizes

        def add(upper: Counts) -> Counts:
            more: Counts = unlisted.astype(upper.dtype) * upper.dtype.type(rest)
            return groups.add_up(upper) + more

        made._upper = capped(add, table._highest)
    return made


def condition(table: ContingencyTable, query: Any) -> ContingencyTable:
    """Keep the cells with these labels, and drop their columns."""
    fixed = {
        position: table.columns[position].code(label)
        for position, label in _resolve_keys(table, query, "query", "labels").items()
    }
    positions = range(len(table.columns))
    left = [position for position in positions if position not in fixed]
    if not left:
        raise InputError("query: it leaves no column; table[labels] gives a single count")
    kept = tuple(table.columns[position] for position in left)
    if table._cells is None:
        index = tuple(fixed.get(position, slice(None)) for position in positions)
        return table._map(kept, lambda array: array[index])
    match = np.ones(len(table._cells), np.bool_)
    for position, code in fixed.items():
        match &= codes_of(table._cells, table.shape, position) == code
    cells = renumber(table._cells[match], table.shape, left)
    return table._map(kept, lambda array: array[match], cells)


def slice_labels(table: ContingencyTable, labels: Any) -> ContingencyTable:
    """Keep some labels of some columns."""
    kept = {
        position: _codes_to_keep(table.columns[position], items)
        for position, items in _resolve_keys(table, labels, "labels", "lists of labels").items()
    }
    columns = tuple(
        _keep(column, kept[position]) if position in kept else column
        for position, column in enumerate(table.columns)
    )
    if table._cells is None:
        block = np.ix_(*(kept.get(k, np.arange(n)) for k, n in enumerate(table.shape)))
        return table._map(columns, lambda array: array[block])
    match = np.ones(len(table._cells), np.bool_)
    new = []
    for position, arity in enumerate(table.shape):
        codes = codes_of(table._cells, table.shape, position)
        if position in kept:
            codes_now = np.full(arity, -1)
            codes_now[kept[position]] = np.arange(len(kept[position]))
            codes = codes_now[codes]
            match &= codes >= 0
        new.append(codes)
    cells: Cells = number_of(new, [column.arity for column in columns])[match]
    return table._map(columns, lambda array: array[match], cells)


def _resolve_keys(table: ContingencyTable, items: Any, argument: str, what: str) -> dict[int, Any]:
    """Return a mapping by column as one by position."""
    if not isinstance(items, Mapping):
        raise InputError(f"{argument} must map columns to {what}, got {type(items).__name__}")
    positions: dict[int, Any] = {}
    for column, item in items.items():
        position = resolve(table.columns, column, argument)
        if position in positions:
            raise InputError(f"{argument}: column {table.names[position]!r} is there twice")
        positions[position] = item
    return positions


def _codes_to_keep(column: Column, labels: Any) -> Cells:
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise InputError(f"labels: column {column.name!r} needs a list of labels, got {labels!r}")
    codes = [column.code(label) for label in labels]
    if not codes:
        raise InputError(f"labels: column {column.name!r} must keep one label or more")
    if len(set(codes)) < len(codes):
        twice = next(code for k, code in enumerate(codes) if code in codes[:k])
        raise InputError(f"labels: {column.labels[twice]!r} of {column.name!r} is there twice")
    return np.array(sorted(codes), np.int64)


def _keep(column: Column, codes: Cells) -> Column:
    """Return the column with fewer labels; counts have no use for its default."""
    kept = codes.tolist()
    labels = Labels([column.labels[code] for code in kept], column.labels.dtype)
    return Column(column.name, labels, kept.index(column.default) if column.default in kept else 0)


def probabilities(table: ContingencyTable, given: Any) -> ContingencyTable:
    """Divide each count by the total, or by that of its combination of the given columns."""
    positions = [] if given is None else resolve_each(table.columns, given, "given")
    counts = table._counts
    if table._cells is None:
        others = tuple(k for k in range(len(table.columns)) if k not in positions)
        totals = counts.sum(axis=others, keepdims=True)
    elif positions:
        totals, _ = group_totals(renumber(table._cells, table.shape, positions), counts)
    else:
        totals = counts.sum(keepdims=True)
    probabilities = counts / np.where(totals == 0, 1, totals)
    made = table._with(table.columns, probabilities, table._cells)
    within = ", ".join(table.names[position] for position in positions)
    made._note = f"{_PROBABILITIES} given {within}" if positions else _PROBABILITIES
    return made


def equal(one: ContingencyTable, two: ContingencyTable) -> bool:
    """Return whether columns, labels, counts and bounds are the same, in whichever form."""
    if one.names != two.names or any(
        a.labels != b.labels for a, b in zip(one.columns, two.columns, strict=True)
    ):
        return False
    if one.layout != two.layout and (one.rest_upper or two.rest_upper):
        one, two = one.to_dense(), two.to_dense()
    if one.exact != two.exact or one.rest_upper != two.rest_upper:
        return False
    lists = [_what_matters(table) for table in (one, two)]
    return all(np.array_equal(a, b) for a, b in zip(*lists, strict=True))


def _what_matters(table: ContingencyTable) -> list[Counts]:
    """Return the cells that a sparse table cannot leave out, and their arrays."""
    cells, arrays = table._listed()
    rest = [0, 0, table.rest_upper][: len(arrays)]
    matters = np.any([array != r for array, r in zip(arrays, rest, strict=True)], axis=0)
    return [cells[matters], *(array[matters] for array in arrays)]
