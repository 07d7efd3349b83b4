"""Pairs of a discrete and a numeric column, read as far as decisions need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from tacit.machine import check_fits
from tacit.network.structure.intervals import Confidence, sampled_classes
from tacit.network.structure.statistics import (
    ClassMoments,
    Moments,
    class_information,
    class_moments,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.random_order import Numbers
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

__all__ = ["ClassPairs"]

_POWERS = 5  # Σ 1, Σ x, …, Σ x⁴


class ClassPairs:
    """Sums of powers of each number for each label, over sampled records.

    The table has the discrete columns, without weights; the numbers are of the same records.
    """

    def __init__(self, table: Table, numbers: Numbers, n_numbers: int) -> None:
        schema = table.schema
        n_cells = int(schema.cells[-1])
        check_fits(
            16 * _POWERS * n_cells * n_numbers,
            f"moments of {n_numbers:,} numbers for {n_cells:,} labels",
            "select fewer columns",
        )
        self.n_records = table.n_records
        self._table, self._numbers, self._schema = table, numbers, schema
        self._sums = np.zeros((_POWERS, n_cells, n_numbers))
        self._read = np.zeros((len(schema), n_numbers), np.int64)  # records of each pair
        self._fractions = table.one_way().counts.astype(np.float64) / table.n_records
        self._shift = self._scale = np.zeros(0)

    def read_rows(self, pairs: Ints, rows: Ints) -> None:
        """Read records for pairs of a discrete and a numeric column: all pairs the first time."""
        schema = self._schema
        used = np.zeros((len(schema), self._sums.shape[2]), np.bool_)
        used[pairs[:, 0], pairs[:, 1]] = True
        columns = np.flatnonzero(used.any(axis=0))
        labels = np.flatnonzero(used.any(axis=1))
        values = np.flatnonzero(np.isin(schema.value_columns, labels))
        new = np.zeros((_POWERS, int(schema.cells[-1]), len(columns)))
        for part, block in self._numbers.blocks(rows, columns):
            self._add(part, self._standardise(block, columns), values, new)
        for c in labels.tolist():
            first, last = schema.cells[c : c + 2].tolist()
            added = used[c, columns]
            self._sums[:, first:last, columns[added]] += new[:, first:last, added]
            self._read[c, columns[added]] += len(rows)

    def _add(self, rows: Ints, z: Floats, values: Ints, new: Floats) -> None:
        """Add the powers of a block of numbers to the sums of the labels."""
        schema = self._schema
        hold = _indicators(self._table, rows).tocsc()[:, values].T.tocsr()
        columns = np.unique(schema.value_columns[values])
        power: Floats = np.ones_like(z)
        for k in range(_POWERS):
            by_value = hold @ np.ascontiguousarray(power.T)
            new[k, schema.value_cells[values]] += by_value
            totals = power.sum(axis=1)
            starts = np.searchsorted(schema.value_columns[values], columns)
            stored = np.add.reduceat(by_value, starts, axis=0) if len(starts) else by_value
            new[k, schema.default_cells] += totals
            new[k, schema.default_cells[columns]] -= stored
            power = power * z

    def _standardise(self, block: Floats, columns: Ints) -> Floats:
        if not len(self._shift):  # the first block has all columns
            spread = block.std(axis=1)
            same = (block == block[:, :1]).all(axis=1) | ~(spread > 0)
            self._shift = np.where(same, block[:, 0], block.mean(axis=1))
            self._scale = np.where(same, 1.0, spread)
        block -= self._shift[columns, None]
        block /= self._scale[columns, None]
        return block

    # What was read

    def weights(self, pairs: Ints) -> Floats:
        """Return the information of some pairs in the records read for them."""
        weights = np.zeros(len(pairs))
        for c in np.unique(pairs[:, 0]).tolist():
            chosen = pairs[:, 0] == c
            counts, sums, squares = self._of(c, pairs[chosen, 1])[:3]
            weights[chosen] = class_information(counts, sums, squares)
        return weights

    def intervals(self, pairs: Ints, confidence: Confidence) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of some pairs."""
        low, high = np.zeros(len(pairs)), np.zeros(len(pairs))
        for c in np.unique(pairs[:, 0]).tolist():
            chosen = pairs[:, 0] == c
            first, last = self._schema.cells[c : c + 2].tolist()
            low[chosen], high[chosen] = sampled_classes(
                self.n_records,
                self._of(c, pairs[chosen, 1]),
                self._fractions[first:last],
                confidence,
            )
        return low, high

    def _of(self, column: int, numbers: Ints) -> Floats:
        """Return sums of powers of numbers for each code of a column: power, number, code."""
        first, last = self._schema.cells[column : column + 2].tolist()
        part: Floats = self._sums[:, first:last][:, :, numbers].transpose(0, 2, 1)
        return np.ascontiguousarray(part)

    def size(self, number: int) -> int:
        """Return the most records that were read for any pair of a number."""
        return int(self._read[:, number].max())

    def node(self, number: int) -> Moments:
        """Return the moments of a number."""
        column = int(np.argmax(self._read[:, number]))
        n, total, square = self._of(column, np.array([number]))[:3].sum(axis=(1, 2))
        mean, scale = total / n, float(self._scale[number])
        variance = max(square / n - mean**2, 0.0) * scale**2
        return Moments(float(n), float(self._shift[number]) + scale * mean, float(variance))

    def pair(self, column: int, number: int) -> ClassMoments:
        """Return the moments of a number for each code of a column."""
        counts, sums, squares = self._of(column, np.array([number]))[:3, 0]
        means, variances = class_moments(counts, sums, squares)
        shift, scale = float(self._shift[number]), float(self._scale[number])
        means = np.where(counts > 0, shift + scale * means, 0.0)
        return ClassMoments(counts, means, variances * scale**2)


def _indicators(table: Table, rows: Ints) -> Any:
    """Return which of some records holds which stored value, as a sparse array of ones."""
    starts, ends = table.indptr[rows], table.indptr[rows + 1]
    sizes = ends - starts
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
    values = table.values[np.repeat(starts, sizes) + within].astype(np.int64)
    shape = (len(rows), table.schema.n_values)
    return sparse.csr_array((np.ones(len(values)), values, indptr), shape=shape)
