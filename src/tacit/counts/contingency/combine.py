"""Contingency tables of different records as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts.contingency.cells import (
    MAX_COUNT,
    Cells,
    Groups,
    capped,
    check_cells,
    codes_of,
    number_of,
)
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.schema import Column
from tacit.schema.types import merge_labels

if TYPE_CHECKING:
    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import Counts

__all__ = ["combine"]


def combine(one: ContingencyTable, two: Any) -> ContingencyTable:
    """Return the counts of the records of both, matched by label."""
    if not isinstance(two, type(one)):
        raise InputError(f"other must be a ContingencyTable, got {type(two).__name__}")
    if sorted(one.names) != sorted(two.names):
        raise InputError(
            f"other has the columns {', '.join(two.names)}, not {', '.join(one.names)}"
        )
    if two.names != one.names:
        two = two.marginal(one.names)
    columns = tuple(_union(a, b) for a, b in zip(one.columns, two.columns, strict=True))
    shape = [column.arity for column in columns]
    n_cells = check_cells(shape, "other")
    if one.layout == two.layout == "dense":
        check_fits(8 * n_cells, f"a table of {n_cells:,} cells", "combine to_sparse() of both")
        return _dense(columns, one, two)
    return _sparse(columns, one.to_sparse(), two.to_sparse())


def _union(one: Column, two: Column) -> Column:
    labels = merge_labels([one.labels, two.labels], one.name, "other")
    if labels is one.labels:
        return one
    return Column(one.name, labels, labels.code(one.default_label))


def _codes(columns: tuple[Column, ...], table: ContingencyTable) -> list[Cells]:
    """Return for each column where the table's codes are among those of both."""
    return [
        np.array([new.labels.code(label) for label in old.labels], np.int64)
        for new, old in zip(columns, table.columns, strict=True)
    ]


def _renumber(columns: tuple[Column, ...], table: ContingencyTable) -> Cells:
    """Return the numbers that the table's cells have among the labels of both."""
    cells, _ = table._listed()
    if all(new.labels == old.labels for new, old in zip(columns, table.columns, strict=True)):
        return cells
    new = [codes[codes_of(cells, table.shape, k)] for k, codes in enumerate(_codes(columns, table))]
    numbers: Cells = number_of(new, [column.arity for column in columns])
    return numbers


def _dense(
    columns: tuple[Column, ...], one: ContingencyTable, two: ContingencyTable
) -> ContingencyTable:
    shape = tuple(column.arity for column in columns)
    blocks = [np.ix_(*_codes(columns, table)) for table in (one, two)]

    def add(a: Counts, b: Counts) -> Counts:
        sums = np.zeros(shape, np.result_type(a, b))
        sums[blocks[0]] = a
        sums[blocks[1]] += b
        return sums

    lower = upper = None
    if not (one.exact and two.exact):
        lower, upper = add(one._lowest, two._lowest), capped(add, one._highest, two._highest)
    return type(one)(columns, add(one._counts, two._counts), lower=lower, upper=upper)


def _sparse(
    columns: tuple[Column, ...], one: ContingencyTable, two: ContingencyTable
) -> ContingencyTable:
    numbers = [_renumber(columns, table) for table in (one, two)]
    groups = Groups(np.concatenate(numbers))

    def add(a: Counts, b: Counts) -> Counts:
        return groups.add_up(np.concatenate([a, b]))

    lower = upper = None
    rest = min(one.rest_upper + two.rest_upper, MAX_COUNT)
    if not (one.exact and two.exact):
        lower = add(one._lowest, two._lowest)
        # A cell that only one of the two lists may have as much as any cell in the other.
        alone = np.where(groups.spread(groups.sizes) == 1, 1, 0)
        rest_one, rest_two = one.rest_upper * alone, two.rest_upper * alone
        n = len(numbers[0])
        upper = capped(add, one._highest + rest_two[:n], two._highest + rest_one[n:])
    return type(one).from_cells(
        columns,
        groups.numbers,
        add(one._counts, two._counts),
        lower=lower,
        upper=upper,
        rest_upper=rest,
    )
