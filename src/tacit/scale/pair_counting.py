"""Counts of all pairs as a statistic of partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core, counts
from tacit.counts.exact import combine
from tacit.counts.pairs import plan
from tacit.counts.records import as_records
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.counts.pairs import Layout
    from tacit.schema import Schema
    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["PairCounts", "PairTotal"]

_MOST = 2**32 - 1  # records that cells of 32 bits can count


@dataclass(frozen=True)
class PairTotal:
    """Counts of pairs, of which those in a triangle and those in a matrix add up."""

    total: Any = 0  # the (weighted) number of records
    triangle: NDArray[np.uint32] | None = None  # of the pairs i <= j of value ids, row after row
    matrix: Any = None  # of all pairs; exact sums of weights

    def __add__(self, other: PairTotal) -> PairTotal:
        """Add up, in the arrays of the first where that can be."""
        matrix: Any = self.matrix
        if hasattr(matrix, "toarray") and isinstance(other.matrix, np.ndarray):
            matrix = matrix.toarray()  # the sum of a sparse and a dense matrix is dense
        return PairTotal(
            other.total if self.matrix is None and not self.total else self.total + other.total,
            _sum(self.triangle, other.triangle),
            _sum(matrix, other.matrix),
        )

    def pairs(self, schema: Schema, n_jobs: int) -> counts.Pairs:
        """Return the counts as they are shown."""
        stored = self.matrix
        if self.triangle is not None:
            square = _core.triangle_to_square(self.triangle, schema.n_values, n_jobs)
            stored = square if stored is None else _sum(square, stored)
        singles = combine(lambda counts: counts.diagonal().astype(counts.dtype), stored)
        return counts.Pairs(schema, stored, counts.OneWay(schema, singles, self.total))


def _sum(one: Any, other: Any) -> Any:
    """Return the sum, which may be in the array of the first, but never in that of the other."""
    if other is None:
        return one
    if one is None:
        return other.copy() if hasattr(other, "copy") else other
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.flags.writeable:
        one += other
        return one
    total = one + other
    return np.asarray(total) if isinstance(one, np.ndarray) else total


@dataclass(frozen=True)
class PairCounts(Statistic["PairTotal"]):
    """Counts of all pairs of stored values."""

    n_values: int  # value ids of the table
    n_records: int  # of all partitions
    weighted: bool
    given: Mapping[str, Any] | None = None  # count the records that match only
    layout: Layout = "auto"

    @property
    def exact(self) -> bool:
        """Records can be added in any order: sums of weights are not rounded on the way."""
        return True

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory, as far as that is known: the sparse form takes less."""
        return 8 * self.n_values**2 if self.layout == "dense" else 0

    def partial(self, partition: Partition) -> PairTotal:
        """Count the pairs of a partition."""
        return self.accumulate(PairTotal(), partition)

    def merge(self, one: PairTotal, other: PairTotal) -> PairTotal:
        """Add up."""
        return one + other

    def accumulate(self, total: PairTotal, partition: Partition) -> PairTotal:
        """Add the pairs of a partition to those of others; uses these up."""
        table: Table = partition.records
        chosen = None if self.given is None else table.where(self.given)
        layout, method = plan(table, chosen, self.layout, "auto")
        if self.weighted or (layout, method) != ("dense", "outer") or self.n_records > _MOST:
            pairs = table.pairs(records=chosen, layout=layout, n_jobs=partition.n_jobs)
            return total + PairTotal(pairs.singles.sums[1], None, pairs.sums)
        triangle, n = total.triangle, self.n_values
        if triangle is None:
            triangle = np.zeros(n * (n + 1) // 2, np.uint32)
        _core.pair_triangle(as_records(table, chosen), triangle, partition.n_jobs)
        n_records = table.n_records if chosen is None else len(chosen)
        return replace(total, total=total.total + n_records, triangle=triangle)
