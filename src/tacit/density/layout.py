"""A dependency tree as index arrays: where its tables lie, and how records are counted for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.blocks import Blocks
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["LEAST_PROBABILITY", "TreeLayout", "TreeRecords", "orient"]

# No probability is below this, and no factor is of more children than that: products of such
# factors stay in the range of the kernel that multiplies them.
LEAST_PROBABILITY = 1e-9
_CHILDREN = 5


class TreeRecords(NamedTuple):
    """Records with the ids of their stored values and of joined pairs of these."""

    indptr: NDArray[np.int64]
    values: NDArray[np.uint16 | np.uint32]
    weights: NDArray[np.float64] | None
    within: NDArray[np.float64] | None = None  # log P(record | labels of its blocks)

    @property
    def weight(self) -> float:
        """The number of records, or the sum of their weights."""
        return float(len(self.indptr) - 1 if self.weights is None else self.weights.sum())

    def held(self, record: int) -> NDArray[Any]:
        """Return the ids of a record."""
        return self.values[self.indptr[record] : self.indptr[record + 1]]


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """The tables of a forest over columns, which are blocks of the columns of records.

    A column has a table of P(label | label of its parent); that of a root has one row. All cells,
    column after column, row after row, make one array. Ids are those of stored values, then
    further ids of the values of columns with many children, then pairs of stored values that an
    edge joins.
    """

    blocks: Blocks
    parents: NDArray[np.int64]  # the parent of each block, or -1

    def __getstate__(self) -> dict[str, Any]:
        return {"blocks": self.blocks, "parents": self.parents}  # the rest follows

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def schema(self) -> Schema:
        """The blocks as columns."""
        return self.blocks.schema

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All columns, parents first."""
        depth = np.full(len(self.parents), -1, np.int64)
        depth[self.parents < 0] = 0
        waiting = np.flatnonzero(depth < 0)
        while len(waiting):
            above = depth[self.parents[waiting]]
            known = above >= 0
            if not known.any():
                raise InputError("parents: columns are joined in a circle")
            depth[waiting[known]] = above[known] + 1
            waiting = waiting[~known]
        return np.argsort(depth, kind="stable")

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each column."""
        below: list[list[int]] = [[] for _ in self.parents]
        for column in np.flatnonzero(self.parents >= 0).tolist():
            below[int(self.parents[column])].append(column)
        return below

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Joined columns, a < b, in the order of the columns that are below."""
        below = np.flatnonzero(self.parents >= 0)
        return np.sort(np.column_stack([self.parents[below], below]), axis=1)

    # Cells

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each column's table has."""
        arities = self.schema.arities
        return np.where(self.parents < 0, 1, arities[self.parents])

    @cached_property
    def first_cell(self) -> NDArray[np.int64]:
        """The first cell of each column's table, and one past the last of all."""
        return np.concatenate(([0], np.cumsum(self.rows * self.schema.arities)))

    @cached_property
    def cell_column(self) -> NDArray[np.int64]:
        """The column that each cell is about."""
        return np.repeat(np.arange(len(self.parents)), np.diff(self.first_cell))

    @cached_property
    def cell_codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of each cell: of the parent (0 for roots), and of the column."""
        within = np.arange(self.first_cell[-1]) - self.first_cell[self.cell_column]
        above, code = np.divmod(within, self.schema.arities[self.cell_column])
        return above, code

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """The first cell of each row, table after table."""
        return np.flatnonzero(self.cell_codes[1] == 0)

    @cached_property
    def cell_row(self) -> NDArray[np.int64]:
        """The row of each cell, among those of all tables."""
        return np.cumsum(self.cell_codes[1] == 0) - 1

    def row_sums(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each cell the sum of its row."""
        sums: NDArray[np.float64] = np.add.reduceat(cells, self.row_starts, axis=0)[self.cell_row]
        return sums

    def table(self, cells: NDArray[np.float64], column: int) -> NDArray[np.float64]:
        """Return a column's table out of all cells: rows, labels, and what else there is."""
        part = cells[self.first_cell[column] : self.first_cell[column + 1]]
        return part.reshape(int(self.rows[column]), -1, *cells.shape[1:])

    @property
    def n_parameters(self) -> int:
        """Free parameters of one cluster."""
        return int((self.rows * (self.schema.arities - 1)).sum())

    # Ids

    @cached_property
    def extras(self) -> NDArray[np.int64]:
        """How many further ids the values of each column have."""
        n_children = np.array([len(below) for below in self.children], np.int64)
        return np.maximum((n_children + _CHILDREN - 1) // _CHILDREN - 1, 0)

    @cached_property
    def _widths(self) -> NDArray[np.int64]:
        return np.diff(self.schema.offsets)

    @cached_property
    def first_extra(self) -> NDArray[np.int64]:
        """The first further id of each column."""
        sizes = self.extras * self._widths
        first: NDArray[np.int64] = self.schema.n_values + np.cumsum(sizes) - sizes
        return first

    @cached_property
    def _n_pairs(self) -> NDArray[np.int64]:
        above = np.where(self.parents < 0, 0, self._widths[self.parents])
        n_pairs: NDArray[np.int64] = above * self._widths
        return n_pairs

    @cached_property
    def first_pair(self) -> NDArray[np.int64]:
        """The first id of each column's pairs with its parent."""
        first = self.schema.n_values + int((self.extras * self._widths).sum())
        return first + np.cumsum(self._n_pairs) - self._n_pairs

    @cached_property
    def n_ids(self) -> int:
        """How many ids there are."""
        return int(self.first_pair[-1] + self._n_pairs[-1])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The first id of each column, further ids and pairs being columns of their own."""
        blocks = np.concatenate([np.repeat(self._widths, self.extras), self._n_pairs])
        return np.concatenate(
            [self.schema.offsets, self.schema.n_values + np.cumsum(blocks[blocks > 0])]
        )

    def records(self, table: Table, n_jobs: int = 1) -> TreeRecords:
        """Return records with the ids of this layout."""
        table, within = self.blocks.table(table)
        given = _core.Records(table.indptr, table.values, self.schema.n_values)
        arguments = (
            given, self.schema.offsets, self.parents, self.extras, self.first_extra,
            self.first_pair,
        )  # fmt: skip
        lengths = _core.tree_lengths(*arguments, n_jobs)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        values = np.empty(int(indptr[-1]), value_type(self.n_ids))
        _core.tree_values(*arguments, indptr, values, n_jobs)
        return TreeRecords(indptr, values, table.weights, within)

    # Between ids and cells

    @cached_property
    def design(self) -> sparse.csr_array:
        """Which cells each id brings in (1) and takes out (-1) of the product that a record is.

        The first row is the record of nothing but defaults. With x the ids of records, one column
        of ones before them, ``x @ design`` says which cells a record is in. So ``design.T`` turns
        counts of ids into counts of cells, and ``design`` logarithms of cells into those of what
        ids multiply by.
        """
        entries = [*self._entries_of_values(), *self._entries_of_children(), *self._of_pairs()]
        rows, columns, signs = (np.concatenate(part) for part in zip(*entries, strict=True))
        shape = (1 + self.n_ids, int(self.first_cell[-1]))
        return sparse.csr_array(sparse.coo_array((signs, (rows, columns)), shape))

    @cached_property
    def counting(self) -> sparse.csr_array:
        """The design, transposed."""
        return sparse.csr_array(self.design.T)

    @cached_property
    def _default_above(self) -> NDArray[np.int64]:
        return np.where(self.parents < 0, 0, self.schema.defaults[self.parents])

    def _cell(self, columns: NDArray[np.int64], above: object, code: object) -> NDArray[np.int64]:
        cells: NDArray[np.int64] = (
            self.first_cell[columns] + above * self.schema.arities[columns] + code  # type: ignore[operator]
        )
        return cells

    @cached_property
    def default_cells(self) -> NDArray[np.int64]:
        """The cell of each column's default below the default of its parent."""
        columns = np.arange(len(self.parents))
        return self._cell(columns, self._default_above, self.schema.defaults)

    def _entries_of_values(self) -> list[tuple[NDArray[np.int64], ...]]:
        """Return P(default | default), and by what a value below a default differs from it."""
        ids = np.arange(self.schema.n_values)
        columns, codes = self.schema.value_columns, self.schema.value_codes
        stored = self._cell(columns, self._default_above[columns], codes)
        n = len(self.parents)
        return [
            _entries(np.zeros(n, np.int64), self.default_cells, 1),
            _entries(1 + ids, stored, 1),
            _entries(1 + ids, self.default_cells[columns], -1),
        ]

    def _entries_of_children(self) -> list[tuple[NDArray[np.int64], ...]]:
        """Return how a value changes the probability of its children's defaults."""
        entries = []
        for column, below in enumerate(self.children):
            if not below or self._widths[column] == 0:
                continue
            steps = np.arange(self._widths[column])
            codes = self.schema.value_codes[self.schema.offsets[column] + steps]
            for position, child in enumerate(below):
                block = position // _CHILDREN
                first = self.schema.offsets[column]
                if block:
                    first = self.first_extra[column] + (block - 1) * self._widths[column]
                child_column = np.full(len(codes), child)
                cells = self._cell(child_column, codes, self.schema.defaults[child])
                entries.append(_entries(1 + first + steps, cells, 1))
                entries.append(_entries(1 + first + steps, self.default_cells[child_column], -1))
        return entries

    @cached_property
    def pair_cells(self) -> NDArray[np.int64]:
        """The cells of pairs of stored values, in the order of their ids."""
        column = self.cell_column
        above, code = self.cell_codes
        stored = (self.parents[column] >= 0) & (code != self.schema.defaults[column])
        return np.flatnonzero(stored & (above != self._default_above[column]))

    def _of_pairs(self) -> list[tuple[NDArray[np.int64], ...]]:
        """Return what a pair of stored values has of its own."""
        cells = self.pair_cells
        column = self.cell_column[cells]
        above, code = (codes[cells] for codes in self.cell_codes)
        ids = 1 + self.n_ids - len(cells) + np.arange(len(cells))
        default, default_above = self.schema.defaults[column], self._default_above[column]
        return [
            _entries(ids, cells, 1),
            _entries(ids, self.default_cells[column], 1),
            _entries(ids, self._cell(column, above, default), -1),
            _entries(ids, self._cell(column, default_above, code), -1),
        ]


def _entries(
    rows: NDArray[np.int64], columns: NDArray[np.int64], sign: int
) -> tuple[NDArray[np.int64], ...]:
    return rows, columns, np.full(len(rows), float(sign))


def orient(n_columns: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parent of each column in a forest, -1 for roots; a root is a tree's middle.

    The middle is that of a longest path: no column is further from the root than it must be.

    >>> orient(5, np.array([[0, 1], [1, 2], [3, 4]])).tolist()
    [1, -1, 1, 4, -1]
    """
    neighbours: list[list[int]] = [[] for _ in range(n_columns)]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    parents = np.full(n_columns, -2, np.int64)
    for start in range(n_columns):
        if parents[start] != -2:
            continue
        end = _walk(neighbours, start)[0][-1]
        found, above = _walk(neighbours, end)
        path = [found[-1]]  # the longest there is
        while above[path[-1]] >= 0:
            path.append(above[path[-1]])
        for column, parent in _walk(neighbours, path[len(path) // 2])[1].items():
            parents[column] = parent
    return parents


def _walk(neighbours: list[list[int]], start: int) -> tuple[list[int], dict[int, int]]:
    """Return the columns of a tree, the nearest first, and what each was reached from."""
    above, found = {start: -1}, [start]
    for column in found:
        for other in neighbours[column]:
            if other not in above:
                above[other] = column
                found.append(other)
    return found, above
