"""Pairs of numeric columns, read as far as decisions need."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit import _core
from tacit.errors import InputError, InputWarning
from tacit.machine import check_fits
from tacit.network.structure.columns import check_finite
from tacit.network.structure.intervals import Confidence, bounded_correlations, sampled_correlations
from tacit.network.structure.statistics import (
    Moments,
    PairMoments,
    correlation_information,
    correlations,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.random_order import Numbers

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

__all__ = ["NumericPairs"]

# Means of slices of neighbouring records vary so many times as much as those of independent ones:
# by chance, the first sample's seldom do so twice
_ALIKE = 4.0
_DENSE = 0.1  # above this fraction of the pairs, all products of the columns are faster


class NumericPairs:
    """Sums over sampled records for pairs of numeric columns.

    Pairs are numbered by two columns a < b. Each has been read up to some level; all pairs of one
    level have been read on the same records. Names are for error messages. Intervals that are
    `bounded` are made by Hoeffding's inequality, which needs the range of each column and so a pass
    over all records.
    """

    def __init__(self, numbers: Numbers, names: list[str], bounded: bool, n_jobs: int) -> None:
        n = len(names)
        check_fits(40 * n * n, f"all pairs of {n:,} columns", "select fewer columns")
        self.n_columns, self.n_records = n, numbers.n_records
        self._numbers, self._names, self._n_jobs = numbers, names, n_jobs
        self._shift = self._scale = np.zeros(0)
        self._products = np.zeros((n, n))
        self._mixed = np.zeros((3, n, n), np.float32)  # Σ x²y², Σ x³y, Σ xy³
        # Column sums of x … x⁴ at each level, and how many records it has; the last is all records.
        self._sums: list[Floats] = [np.zeros((4, n))]
        self._sizes: list[int] = [0]
        self._all = np.full((4, n), np.nan)
        self._level = np.zeros((n, n), np.int16)
        self._column_level = np.zeros(n, np.int16)
        self._ranges = self._find_ranges() if bounded else None

    # Reading

    def read(self, pairs: Ints, n_total: int) -> int:
        """Draw records until about `n_total` are drawn, and read the new ones for some pairs.

        All pairs (n_pairs, 2) must have been read before, or none. The number of new records is
        returned.
        """
        rows = self._numbers.more(n_total)
        self.read_rows(pairs, rows)
        return len(rows)

    def read_rows(self, pairs: Ints, rows: Ints) -> None:
        """Read drawn records for some pairs: all pairs the first time, fewer of them later."""
        columns, block_pairs = _columns_of(pairs)
        sums = self._sums[-1].copy()
        sums[:, columns] += self._add(rows, pairs, columns, block_pairs)
        self._sums.append(sums)
        self._sizes.append(self._sizes[-1] + len(rows))
        self._set_level(pairs, columns, len(self._sizes) - 1)

    def finish(self, pairs: Ints) -> int:
        """Read all records that were not drawn for some pairs, and return how many."""
        rows = self._numbers.rest()
        columns, block_pairs = _columns_of(pairs)
        rest = self._add(rows, pairs, columns, block_pairs)
        self._all[:, columns] = self._sums[-1][:, columns] + rest
        self._set_level(pairs, columns, -1)
        return len(rows)

    def _set_level(self, pairs: Ints, columns: Ints, level: int) -> None:
        self._level[pairs[:, 0], pairs[:, 1]] = level
        known = self._column_level[columns] == -1  # all records are known already
        self._column_level[columns[~known]] = level

    def _add(self, rows: Ints, pairs: Ints, columns: Ints, block_pairs: Ints) -> Floats:
        """Add products of some rows; return the column sums. `block_pairs` are rows of blocks."""
        sums = np.zeros((4, len(columns)))
        c = len(columns)
        dense = len(pairs) > _DENSE * c * (c - 1) / 2
        few = np.zeros((0 if dense else len(pairs), 4))
        a, b = pairs[:, 0], pairs[:, 1]
        for numbers, block in self._numbers.blocks(rows, columns):
            z = self._standardise(block, numbers, columns)
            if len(self._sizes) == 1:
                self._check_slices(z)
            sums += _power_sums(z)
            if not dense:
                _core.pair_products(z, block_pairs, few, self._n_jobs)
                continue
            single = z.astype(np.float32)
            square = single * single
            third = (square * single) @ single.T
            parts = z @ z.T, square @ square.T, third, third.T
            targets = self._products, *self._mixed
            if len(pairs) == self.n_columns * (self.n_columns - 1) // 2:  # all of them: no picking
                for target, part in zip(targets, parts, strict=True):
                    target += part
                continue
            i, j = block_pairs[:, 0], block_pairs[:, 1]
            for target, part in zip(targets, parts, strict=True):
                target[a, b] += part[i, j]
        if not dense:
            self._products[a, b] += few[:, 0]
            self._mixed[:, a, b] += few[:, 1:].T.astype(np.float32)
        return sums

    def _standardise(self, block: Floats, rows: Ints, columns: Ints) -> Floats:
        """Take off the first block's mean and divide by its standard deviation, in place."""
        with np.errstate(invalid="ignore", over="ignore"):
            bad = not np.isfinite(block.sum())
        if bad:
            names = [self._names[c] for c in columns.tolist()]
            _refuse(block, rows, names)
        if not len(self._shift):  # the first block has all columns
            self._shift, self._scale = _centre(block)
        block -= self._shift[columns, None]
        block /= self._scale[columns, None]
        return block

    def _check_slices(self, z: Floats) -> None:
        """Warn if records that are drawn together are alike, and so say less than they seem to."""
        size = self._numbers.slice_size
        n_slices = z.shape[1] // size
        if size == 1 or n_slices < 32:
            return
        slices = z[:, : n_slices * size].reshape(len(z), n_slices, size)
        ratio = size * slices.mean(axis=2).var(axis=1) / np.maximum(slices.var(axis=(1, 2)), 1e-30)
        worst = int(ratio.argmax())
        if ratio[worst] > _ALIKE:
            warnings.warn(
                InputWarning(
                    f"X: neighbouring records are alike in column {self._names[worst]!r}, as if "
                    "the file was sorted by it; 'mist' reads slices of neighbours, and its "
                    "intervals are too narrow then: shuffle the records, or use algorithm='exact'"
                ),
                stacklevel=2,
            )

    def _find_ranges(self) -> Floats:
        """Return least and greatest value of each column, standardised by all records."""
        n, columns = self.n_columns, np.arange(self.n_columns)
        low, high = np.full(n, np.inf), np.full(n, -np.inf)
        sums, shift = np.zeros((2, n)), np.zeros(0)
        for part, block in self._numbers.blocks(self._numbers.rest(), columns):
            with np.errstate(invalid="ignore", over="ignore"):
                if not np.isfinite(block.sum()):
                    _refuse(block, part, self._names)
            low, high = np.minimum(low, block.min(axis=1)), np.maximum(high, block.max(axis=1))
            shift = shift if len(shift) else _centre(block)[0]
            block -= shift[:, None]
            sums += np.stack([block.sum(axis=1), np.einsum("ij,ij->i", block, block)])
        offset = sums[0] / self.n_records
        spread = np.sqrt(np.maximum(sums[1] / self.n_records - offset**2, 0.0))
        self._shift = shift + offset
        self._scale = np.where((high > low) & (spread > 0), spread, 1.0)
        self._shift = np.where(high > low, self._shift, low)
        return np.stack([low - self._shift, high - self._shift]) / self._scale

    # What was read

    def weights(self, pairs: Ints) -> Floats:
        """Return the mutual information of some pairs in the records read for them."""
        return correlation_information(self._correlations(pairs))

    def intervals(self, pairs: Ints, confidence: Confidence) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of some pairs of the present level."""
        n = self._sizes[-1]
        a, b = pairs[:, 0], pairs[:, 1]
        if self._ranges is not None:
            low, high = self._ranges
            corners = np.stack([x[a] * y[b] for x in (low, high) for y in (low, high)])
            mean = self._products[a, b] / n
            ranges = corners.max(axis=0) - corners.min(axis=0)
            return bounded_correlations(n, self.n_records, mean, ranges, confidence)
        _, variances, fourth = self._column_moments()
        va, vb = variances[a], variances[b]
        known = (va > 0) & (vb > 0)
        va, vb = np.where(known, va, 1.0), np.where(known, vb, 1.0)
        m22, m31, m13 = self._mixed[:, a, b].astype(np.float64) / n
        root = np.sqrt(va * vb)
        mixed = m22 / (va * vb), m31 / (va * root), m13 / (vb * root)
        fourths = np.where(known, fourth[a] / va**2, 0.0), np.where(known, fourth[b] / vb**2, 0.0)
        rho = self._correlations(pairs)
        return sampled_correlations(n, self.n_records, rho, mixed, fourths, confidence)

    def _column_moments(self) -> tuple[Floats, Floats, Floats]:
        """Return mean, variance and fourth moment of each column at the present level."""
        m1, m2, m3, m4 = self._sums[-1] / self._sizes[-1]
        central = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
        return m1, np.maximum(m2 - m1**2, 0.0), np.maximum(central, 0.0)

    def _moments(self, pairs: Ints) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Return n, means, variances and covariance of pairs, in standardised numbers."""
        a, b = pairs[:, 0], pairs[:, 1]
        level = self._level[a, b].astype(np.int64)
        sizes = np.array([*self._sizes, self.n_records], np.float64)  # level -1 is the last
        sums = np.stack([part[:2] for part in (*self._sums, self._all)])
        n = sizes[level]
        mean_a, mean_b = sums[level, 0, a] / n, sums[level, 0, b] / n
        var_a = np.maximum(sums[level, 1, a] / n - mean_a**2, 0.0)
        var_b = np.maximum(sums[level, 1, b] / n - mean_b**2, 0.0)
        return n, mean_a, mean_b, var_a, var_b, self._products[a, b] / n - mean_a * mean_b

    def _correlations(self, pairs: Ints) -> Floats:
        _, _, _, var_a, var_b, covariance = self._moments(pairs)
        return correlations(covariance, var_a, var_b)

    def size(self, c: int) -> int:
        """Return the most records that were read for any pair of a column."""
        level = int(self._column_level[c])
        return self.n_records if level == -1 else self._sizes[level]

    def node(self, c: int) -> Moments:
        """Return the moments of a column over the most records it was read on."""
        n, level = self.size(c), int(self._column_level[c])
        sums = self._all if level == -1 else self._sums[level]
        mean, square = sums[:2, c] / n
        scale = self._scale[c]
        variance = max(square - mean**2, 0.0) * scale**2
        return Moments(float(n), float(self._shift[c] + scale * mean), float(variance))

    def pair(self, a: int, b: int) -> PairMoments:
        """Return the moments of two columns over the records read for them."""
        n, mean_a, mean_b, var_a, var_b, cov = (
            float(part[0]) for part in self._moments(np.array([[a, b]]))
        )
        sa, sb = float(self._scale[a]), float(self._scale[b])
        return PairMoments(
            n,
            float(self._shift[a]) + sa * mean_a,
            float(self._shift[b]) + sb * mean_b,
            var_a * sa**2,
            var_b * sb**2,
            cov * sa * sb,
        )


def _columns_of(pairs: Ints) -> tuple[Ints, Ints]:
    """Return the columns that occur in pairs, and the pairs in terms of those."""
    columns, block_pairs = np.unique(pairs, return_inverse=True)
    return columns, np.ascontiguousarray(block_pairs.reshape(pairs.shape), np.int64)


def _power_sums(z: Floats) -> Floats:
    """Return Σ x, Σ x², Σ x³ and Σ x⁴ of each row."""
    square = z * z
    ones = np.ones(z.shape[1])
    return np.stack(
        [
            z @ ones,
            square @ ones,
            np.einsum("ij,ij->i", square, z),
            np.einsum("ij,ij->i", square, square),
        ]
    )


def _centre(block: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each row; a constant one has its value and 1."""
    first = block[:, 0].copy()
    constant = (block == first[:, None]).all(axis=1)
    mean = first + (block - first[:, None]).mean(axis=1)
    spread = block.std(axis=1)
    shift = np.where(constant, first, mean)
    scale = np.where(constant | ~(spread > 0), 1.0, spread)
    return shift, scale


def _refuse(block: Floats, rows: Ints, names: list[str]) -> None:
    for k, row in enumerate(rows.tolist()):
        check_finite(block[:, k][None], row, names)
    raise InputError("X: the numbers are too large to add up")
