"""Exact weights of all pairs of columns, whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse

from tacit.machine import check_fits
from tacit.network.structure import chow_liu
from tacit.network.structure.columns import blocks_of
from tacit.network.structure.exact_numbers import (
    NumberMoments,
    block_size,
    complete_moments,
    number_shift,
    pairwise_moments,
)
from tacit.network.structure.statistics import ClassMoments, class_information, class_moments
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.chow_liu import Missing
    from tacit.network.structure.columns import Columns
    from tacit.network.structure.statistics import EdgeStatistic, NodeStatistic
    from tacit.schema import Schema

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["ExactPairs", "pair_table", "unknown_cells"]


class ExactPairs:
    """The weight of every pair of columns, and what parameters are made from.

    Missing labels are a state like any other; or "ignore" takes for each pair the records that have
    both values, and allows for missing numbers.
    """

    def __init__(self, columns: Columns, missing: Missing, n_jobs: int) -> None:
        n = columns.n_columns
        check_fits(6 * 8 * n * n, f"all pairs of {n:,} columns", "select fewer columns")
        self.columns = columns
        self.missing = missing
        self.weights = np.zeros((n, n))
        self.numbers: NumberMoments | None = None
        self.classes: _ClassSums | None = None
        numeric, discrete = columns.continuous, columns.discrete
        if len(numeric):
            ignore = missing == "ignore"
            self.numbers = pairwise_moments(columns) if ignore else complete_moments(columns)
            indices = columns.index[numeric]
            informations = self.numbers.information()[np.ix_(indices, indices)]
            self.weights[np.ix_(numeric, numeric)] = informations
        if isinstance(columns.table, Table) and len(discrete):
            indices = columns.index[discrete]
            informations = chow_liu.informations(columns.table, missing, n_jobs)
            self.weights[np.ix_(discrete, discrete)] = informations[np.ix_(indices, indices)]
        if len(numeric) and len(discrete):
            self.classes = _ClassSums(columns, missing)
            for d in discrete.tolist():
                row = self.classes.informations(int(columns.index[d]))[columns.index[numeric]]
                self.weights[d, numeric] = self.weights[numeric, d] = row
        np.fill_diagonal(self.weights, 0.0)

    def node(self, c: int) -> NodeStatistic:
        """Return the statistic of one column."""
        index = int(self.columns.index[c])
        if self.columns.numeric[c]:
            assert self.numbers is not None
            return self.numbers.node(index)
        assert isinstance(self.columns.table, Table)
        return node_counts(self.columns.table, index, self.missing)

    def pair(self, a: int, b: int) -> EdgeStatistic:
        """Return the statistic of two columns."""
        numeric, index = self.columns.numeric, self.columns.index
        if numeric[a] and numeric[b]:
            assert self.numbers is not None
            return self.numbers.pair(int(index[a]), int(index[b]))
        if numeric[a] or numeric[b]:
            d, x = (b, a) if numeric[a] else (a, b)
            assert self.classes is not None
            return self.classes.pair(int(index[d]), int(index[x]))
        assert isinstance(self.columns.table, Table)
        return pair_table(self.columns.table, int(index[a]), int(index[b]), self.missing)


def unknown_cells(schema: Schema) -> NDArray[np.int64]:
    """Return the cells of missing values, numbered as in one-way counts."""
    pairs = [
        int(schema.cells[c]) + k
        for c, labels in enumerate(schema.labels)
        for k, label in enumerate(labels)
        if label is None
    ]
    return np.array(pairs, np.int64)


def node_counts(table: Table, column: int, missing: Missing) -> Floats:
    """Return the counts of a column by code; none of missing values where they are ignored."""
    counts = table.one_way().array(column).astype(np.float64)
    if missing == "ignore":
        first, last = table.schema.cells[column : column + 2].tolist()
        cells = unknown_cells(table.schema)
        counts[cells[(cells >= first) & (cells < last)] - first] = 0.0
    return counts


def pair_table(table: Table, a: int, b: int, missing: Missing) -> Floats:
    """Return the two-way counts of two columns; none of missing values where they are ignored."""
    counts = np.array(table.contingency([a, b]).to_array(), np.float64)
    if missing == "ignore":
        labels = table.schema.labels
        counts[[label is None for label in labels[a]], :] = 0.0
        counts[:, [label is None for label in labels[b]]] = 0.0
    return counts


class _ClassSums:
    """Counts and sums of every number for every label of every discrete column."""

    def __init__(self, columns: Columns, missing: Missing) -> None:
        table = columns.table
        assert isinstance(table, Table)
        self.schema = table.schema
        self.shift = number_shift(columns)
        width = len(self.shift)
        n_cells, n_values = int(self.schema.cells[-1]), self.schema.n_values
        check_fits(
            8 * 3 * 2 * n_cells * width,
            f"moments of {width:,} numbers for {n_cells:,} labels",
            "select fewer columns",
        )
        by_value = np.zeros((3, n_values, width))
        totals = np.zeros((3, width))
        for first, block in blocks_of(columns, block_size(width)):
            x = np.subtract(block, self.shift, dtype=np.float64)
            known = ~np.isnan(x)
            x[~known] = 0.0
            w = None if columns.weights is None else columns.weights[first : first + len(x)]
            indptr = table.indptr[first : first + len(x) + 1]
            values = table.values[indptr[0] : indptr[-1]]
            ones = np.ones(len(values)) if w is None else np.repeat(w, np.diff(indptr))
            hold = sparse.csr_array(
                (ones, values.astype(np.int64), indptr - indptr[0]), shape=(len(x), n_values)
            )
            across = hold.T.tocsr()
            for k, part in enumerate((known.astype(np.float64), x, x * x)):
                by_value[k] += across @ part
                totals[k] += part.sum(axis=0) if w is None else w @ part
        self.sums = np.zeros((3, n_cells, width))
        self.sums[:, self.schema.value_cells] = by_value
        for c, cell in enumerate(self.schema.default_cells.tolist()):
            ids = self.schema.values_of(c)
            rest = totals - by_value[:, ids.start : ids.stop].sum(axis=1)
            self.sums[:, cell] = np.where(rest[0] > 1e-9 * np.maximum(totals[0], 1e-300), rest, 0.0)
        if missing == "ignore":
            self.sums[:, unknown_cells(self.schema)] = 0.0

    def _of(self, column: int) -> Floats:
        first, last = self.schema.cells[column : column + 2].tolist()
        part: Floats = self.sums[:, first:last]
        return part

    def informations(self, column: int) -> Floats:
        """Return the information of a discrete column and every numeric one."""
        counts, sums, squares = (np.ascontiguousarray(part.T) for part in self._of(column))
        return class_information(counts, sums, squares)

    def pair(self, column: int, number: int) -> ClassMoments:
        """Return the moments of a numeric column for each code of a discrete one."""
        counts, sums, squares = (np.ascontiguousarray(part[:, number]) for part in self._of(column))
        means, variances = class_moments(counts, sums, squares)
        means = np.where(counts > 0, means + self.shift[number], 0.0)
        return ClassMoments(counts, means, variances)
