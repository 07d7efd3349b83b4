"""Pairs of discrete columns, read as far as decisions need."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from tacit import _core, counts
from tacit.counts.records import as_records
from tacit.machine import check_fits
from tacit.network.structure.intervals import (
    Confidence,
    bounded_tables,
    sampled_binary_tables,
    sampled_tables,
)
from tacit.network.structure.statistics import table_information

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.network.structure.random_order import RowDraw
    from tacit.schema import Schema
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

__all__ = [
    "DiscretePairs",
    "PairSource",
    "TableSource",
    "sampled_cells",
    "sampled_square",
    "value_pairs",
]

Sample = TypeVar("Sample")

_CELLS = 1 << 22  # cells of two-way tables that are held at a time


class PairSource(Protocol[Sample]):
    """Where counts of pairs come from; what a sample is, is up to the source."""

    schema: Schema
    n_records: int

    def draw(self, n_total: int) -> tuple[Sample, int]:
        """Draw up to n_total records; return the sample of the new ones, and how many."""

    def rest(self) -> tuple[Sample, int]:
        """Return all records that were not drawn."""

    def totals(self) -> Ints:
        """Return the counts of stored values of all records."""

    def square(self, sample: Sample) -> tuple[Ints, Ints]:
        """Return the counts of stored values in a sample, and those of all pairs of them."""

    def singles(self, sample: Sample) -> Ints:
        """Return the counts of stored values in a sample."""

    def cells(self, sample: Sample, pairs: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield pairs of stored values of pairs of columns, and their counts in a sample."""


class TableSource:
    """Counts of the records of a Table; a sample is a list of their numbers.

    The table has no weights.
    """

    def __init__(self, table: Table, rows: RowDraw, n_jobs: int) -> None:
        self.schema, self.n_records = table.schema, table.n_records
        self._table, self._draw, self._n_jobs = table, rows, n_jobs

    def draw(self, n_total: int) -> tuple[Ints, int]:
        """Draw up to n_total records; return the new ones, and how many."""
        rows = self._draw.more(n_total - self._draw.n_drawn)
        return rows, len(rows)

    def rest(self) -> tuple[Ints, int]:
        """Return all records that were not drawn, and how many."""
        rows = self._draw.rest()
        return rows, len(rows)

    def totals(self) -> Ints:
        """Return the counts of stored values of all records."""
        return self._table.one_way(n_jobs=self._n_jobs).stored.astype(np.int64)

    def square(self, sample: Ints) -> tuple[Ints, Ints]:
        """Return the counts of stored values in a sample, and those of all pairs of them."""
        return sampled_square(self._table, sample, self._n_jobs)

    def singles(self, sample: Ints) -> Ints:
        """Return the counts of stored values in a sample."""
        return counts.one_way(self._table, sample, self._n_jobs).stored.astype(np.int64)

    def cells(self, sample: Ints, pairs: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield pairs of stored values of pairs of columns, and their counts in a sample."""
        return sampled_cells(self._table, sample, pairs, self._n_jobs)


def sampled_square(table: Table, rows: Ints, n_jobs: int) -> tuple[Ints, Ints]:
    """Return the counts of stored values in some records, and those of all pairs of them."""
    singles = counts.one_way(table, rows, n_jobs)
    pairs = counts.pairs(table, rows, singles, n_jobs, "dense")
    return singles.stored.astype(np.int64), np.array(pairs.stored, np.int64)


def sampled_cells(
    table: Table, rows: Ints, pairs: Ints, n_jobs: int
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield pairs of stored values of pairs of columns, and their counts in some records."""
    schema = table.schema
    used = np.isin(schema.value_columns, np.unique(pairs))
    slots = np.full(schema.n_values, -1, np.int32)
    n_slots = int(used.sum())
    slots[used] = np.arange(n_slots)
    for v, w in value_pairs(schema, pairs):
        both = np.ascontiguousarray(np.stack([slots[v], slots[w]], axis=1), np.int64)
        yield (
            v,
            w,
            _core.pair_cells(as_records(table, rows), slots, n_slots, both, n_jobs),
        )


def value_pairs(schema: Schema, pairs: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of stored values of pairs of columns, some at a time."""
    n_a, n_b = (schema.arities[pairs[:, k]] - 1 for k in (0, 1))
    sizes = n_a * n_b
    ends = np.cumsum(sizes)
    parts = np.searchsorted(ends, np.arange(_CELLS, int(sizes.sum()) + _CELLS, _CELLS))
    start = 0
    for stop in np.minimum(parts + 1, len(pairs)).tolist():
        part = pairs[start:stop]
        if len(part):
            size, width = sizes[start:stop], n_b[start:stop]
            number = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
            wide = np.repeat(width, size)
            first_a, first_b = (np.repeat(schema.offsets[part[:, k]], size) for k in (0, 1))
            yield first_a + number // wide, first_b + number % wide
        start = max(stop, start)


class DiscretePairs(Generic[Sample]):
    """Counts over sampled records for pairs of discrete columns.

    One-way counts are those of all records from the start: they cost no more than reading the
    stored values once. As for numbers, all pairs of one level have been read on the same records.
    Records have no weights. Intervals that are `bounded` are made by Hoeffding's inequality.
    """

    def __init__(self, source: PairSource[Sample], bounded: bool) -> None:
        schema = source.schema
        check_fits(
            24 * schema.n_values**2 + 8 * len(schema) ** 2,
            f"all pairs of {schema.n_values:,} stored values",
            "select fewer columns, or use algorithm='exact'",
        )
        self.n_columns, self.n_records = len(schema), source.n_records
        self._source, self._bounded = source, bounded
        self._schema = schema
        self._cells = np.zeros((0, 0), np.int64)  # of pairs of stored values, above the diagonal
        self._singles: list[Ints] = [np.zeros(schema.n_values, np.int64)]
        self._sizes: list[int] = [0]
        self._level = np.zeros((self.n_columns, self.n_columns), np.int16)

    @cached_property
    def _totals(self) -> Ints:
        """Counts of stored values of all records."""
        return self._source.totals()

    # Reading

    def read(self, pairs: Ints, n_total: int) -> int:
        """Draw records up to `n_total` and read the new ones for some pairs; return how many."""
        sample, n_new = self._source.draw(n_total)
        self.read_sample(pairs, sample, n_new)
        return n_new

    def read_sample(self, pairs: Ints, sample: Sample, n_new: int) -> None:
        """Read drawn records for some pairs: all pairs the first time, fewer of them later."""
        if self._cells.size:
            self._add(pairs, sample)
            singles = self._source.singles(sample)
        else:
            singles, self._cells = self._source.square(sample)
        self._singles.append(self._singles[-1] + singles)
        self._sizes.append(self._sizes[-1] + n_new)
        self._level[pairs[:, 0], pairs[:, 1]] = len(self._sizes) - 1

    def finish(self, pairs: Ints) -> int:
        """Read all records that were not drawn for some pairs, and return how many."""
        sample, n_left = self._source.rest()
        self._add(pairs, sample)
        self._level[pairs[:, 0], pairs[:, 1]] = -1
        return n_left

    def _add(self, pairs: Ints, sample: Sample) -> None:
        for v, w, new in self._source.cells(sample, pairs):
            self._cells[v, w] += new

    # What was read

    def weights(self, pairs: Ints) -> Floats:
        """Return the mutual information of some pairs in the records read for them."""
        weights = np.zeros(len(pairs))
        for which in self._groups(pairs):
            weights[which] = table_information(self._tables(pairs[which]))
        return weights

    def intervals(self, pairs: Ints, confidence: Confidence) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of some pairs of the present level."""
        n, arities = self._sizes[-1], self._schema.arities
        low, high = np.zeros(len(pairs)), np.zeros(len(pairs))
        for which in self._groups(pairs):
            part = pairs[which]
            a, b = part[0]
            tables = self._tables(part)
            margins = self._margins(part[:, 0], -1), self._margins(part[:, 1], -1)
            if self._bounded:
                ends = bounded_tables(n, self.n_records, tables, *margins, confidence)
            elif arities[a] == 2 and arities[b] == 2:
                ends = sampled_binary_tables(n, self.n_records, tables, *margins, confidence)
            else:
                ends = sampled_tables(n, self.n_records, tables, confidence)
            low[which], high[which] = ends
        return low, high

    def _groups(self, pairs: Ints) -> Iterator[Ints]:
        """Yield indices of pairs whose tables have the same shape, not too many at a time."""
        arities = self._schema.arities
        shapes = arities[pairs]
        group = shapes[:, 0] * (int(arities.max()) + 1) + shapes[:, 1]
        order = np.argsort(group, kind="stable")
        for indices in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            if not len(indices):
                continue
            size = max(1, _CELLS // int(np.prod(shapes[indices[0]])))
            for start in range(0, len(indices), size):
                yield indices[start : start + size]

    def _margins(self, columns: Ints, level: int) -> Floats:
        """Return counts of columns of equal arity: stored values, then the default."""
        stored = self._totals if level == -1 else self._singles[level]
        n = self.n_records if level == -1 else self._sizes[level]
        width = int(self._schema.arities[columns[0]]) - 1
        counts = stored[self._schema.offsets[columns][:, None] + np.arange(width)]
        return np.concatenate([counts, n - counts.sum(axis=1, keepdims=True)], axis=1).astype(float)

    def _tables(self, pairs: Ints) -> Floats:
        """Return two-way counts of pairs of equal shape; the default is last on each axis."""
        schema = self._schema
        a, b = pairs[:, 0], pairs[:, 1]
        r, s = int(schema.arities[a[0]]), int(schema.arities[b[0]])
        rows = (schema.offsets[a][:, None] + np.arange(r - 1))[:, :, None]
        columns = (schema.offsets[b][:, None] + np.arange(s - 1))[:, None, :]
        tables = np.zeros((len(pairs), r, s))
        tables[:, : r - 1, : s - 1] = self._cells[rows, columns]
        level = self._level[a, b]
        for sample in np.unique(level).tolist():
            which = level == sample
            part = tables[which]
            part[:, : r - 1, s - 1] = self._margins(a[which], sample)[:, : r - 1] - part[
                :, : r - 1
            ].sum(axis=2)
            part[:, r - 1] = self._margins(b[which], sample) - part[:, : r - 1].sum(axis=1)
            tables[which] = part
        return tables

    def node(self, c: int) -> Floats:
        """Return the counts of a column by code, of all records."""
        return self._in_code_order(self._margins(np.array([c]), -1)[0], c, 0)

    def pair(self, a: int, b: int) -> Floats:
        """Return the two-way counts of two columns over the records read for them."""
        table = self._tables(np.array([[a, b]]))[0]
        return self._in_code_order(self._in_code_order(table, a, 0), b, 1)

    def _in_code_order(self, numbers: Floats, column: int, axis: int) -> Floats:
        """Put the default, which is last, to its position among the codes."""
        arity, default = int(self._schema.arities[column]), int(self._schema.defaults[column])
        codes = np.arange(arity)
        order = np.where(codes == default, arity - 1, codes - (codes > default))
        return np.take(numbers, order, axis=axis)
