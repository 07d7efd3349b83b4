"""Pairs of columns of which some are numeric and some discrete."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.network.structure.class_pairs import ClassPairs
from tacit.network.structure.discrete_pairs import DiscretePairs, TableSource
from tacit.network.structure.numeric_pairs import NumericPairs
from tacit.network.structure.random_order import ArrayNumbers, RowDraw
from tacit.network.structure.statistics import PairMoments
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.columns import Columns
    from tacit.network.structure.intervals import Confidence
    from tacit.network.structure.statistics import EdgeStatistic, NodeStatistic

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Reader: TypeAlias = "NumericPairs | DiscretePairs[Ints] | ClassPairs"
    Part: TypeAlias = tuple[Reader, NDArray[np.bool_], Ints]

__all__ = ["MixedPairs"]


class MixedPairs:
    """Pairs of all kinds, each with the reader of its kind, on the same records.

    Numbers are in memory, and so is the table.
    """

    def __init__(self, columns: Columns, rows: RowDraw, n_jobs: int) -> None:
        assert isinstance(columns.table, Table)
        assert isinstance(columns.numbers, np.ndarray)
        self.n_columns, self.n_records = columns.n_columns, columns.n_records
        self._columns, self._draw = columns, rows
        numbers = ArrayNumbers(columns.numbers, rows, n_jobs)
        names = columns.number_names
        self._numeric = NumericPairs(numbers, names, False, n_jobs)
        self._discrete = DiscretePairs(TableSource(columns.table, rows, n_jobs), False)
        self._classes = ClassPairs(columns.table, numbers, len(names))

    def read(self, pairs: Ints, n_total: int) -> int:
        """Draw records up to `n_total` and read the new ones for some pairs; return how many."""
        rows = self._draw.more(n_total - self._draw.n_drawn)
        for reader, _, positions in self._parts(pairs):
            if isinstance(reader, DiscretePairs):
                reader.read_sample(positions, rows, len(rows))
            else:
                reader.read_rows(positions, rows)
        return len(rows)

    def finish(self, pairs: Ints) -> int:
        """Read all records that were not drawn for some pairs, and return how many."""
        rows = self._draw.rest()
        for reader, _, positions in self._parts(pairs):
            if isinstance(reader, ClassPairs):
                reader.read_rows(positions, rows)
            else:
                reader.finish(positions)
        return len(rows)

    def weights(self, pairs: Ints) -> Floats:
        """Return the information of some pairs in the records read for them."""
        weights = np.zeros(len(pairs))
        for reader, which, positions in self._parts(pairs):
            weights[which] = reader.weights(positions)
        return weights

    def intervals(self, pairs: Ints, confidence: Confidence) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of some pairs."""
        low, high = np.zeros(len(pairs)), np.zeros(len(pairs))
        for reader, which, positions in self._parts(pairs):
            low[which], high[which] = reader.intervals(positions, confidence)
        return low, high

    def _parts(self, pairs: Ints) -> list[Part]:
        """Share pairs out by kind: reader, which they are, and pairs as the reader knows them."""
        numeric = self._columns.numeric[pairs]
        indices = self._columns.index[pairs]
        alike = np.sort(indices, axis=1)
        mixed = np.where(numeric[:, :1], indices[:, ::-1], indices)  # the discrete one first
        n_numeric = numeric.sum(axis=1)
        parts: list[Part] = []
        for reader, kind, positions in (
            (self._numeric, 2, alike),
            (self._discrete, 0, alike),
            (self._classes, 1, mixed),
        ):
            which = n_numeric == kind
            if which.any():
                parts.append((reader, which, np.ascontiguousarray(positions[which])))
        return parts

    def node(self, c: int) -> NodeStatistic:
        """Return the statistic of a column over the most records it was read on."""
        index = int(self._columns.index[c])
        if not self._columns.numeric[c]:
            return self._discrete.node(index)
        if self._numeric.size(index) >= self._classes.size(index):
            return self._numeric.node(index)
        return self._classes.node(index)

    def pair(self, a: int, b: int) -> EdgeStatistic:
        """Return the statistic of two columns over the records read for them."""
        [(reader, _, positions)] = self._parts(np.array([[a, b]]))
        statistic: EdgeStatistic = reader.pair(*positions[0].tolist())
        if isinstance(reader, ClassPairs) or positions[0, 0] == self._columns.index[a]:
            return statistic
        return _turned(statistic)


def _turned(statistic: EdgeStatistic) -> EdgeStatistic:
    """Return the statistic of two columns of one kind with the second one first."""
    if isinstance(statistic, PairMoments):
        f = statistic
        return PairMoments(f.n, f.mean_b, f.mean_a, f.var_b, f.var_a, f.cov)
    assert isinstance(statistic, np.ndarray)
    return np.ascontiguousarray(statistic.T)
