"""From sets of columns to their entropies: counting in batches, and one kernel for each batch."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.counts import counter as make_counter
from tacit.counts.records import as_records
from tacit.select.criteria import Baseline
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.counts import Counter

__all__ = ["Measured", "Measurer"]

# Tables of all sets at once: at most so many cells, labels of the target, and values.
_ALL_CELLS, _ALL_LABELS, _ALL_VALUES = 2**24, 256, 4096
# What it takes, in nanoseconds: a combination of values, a cell; a record that is read.
_COMBINED, _ALL_CELL, _READ = 2.0, 4.0, 0.6

_BATCH = 2**20  # cells counted at once, 8 MB; larger tables are counted one by one, and sparse


@dataclass(frozen=True)
class Measured:
    """What the kernel finds out about each of some sets S, together with the given columns Z."""

    entropy: NDArray[np.float64]  # H(SZ), in nats
    rest: NDArray[np.float64]  # H(Y | SZ), in nats: what is still open about the target
    # K(SZ) and K(YSZ): combinations that occur.
    n_rows: NDArray[np.int64]
    n_cells: NDArray[np.int64]


class Measurer:
    """Measures sets of columns against one target."""

    def __init__(
        self,
        # Who counts. For a Table that is decided here: all sets at once, or a planner.
        counter: Counter | Table,
        target: int,  # the index of the target
        given: Sequence[int] = (),  # the indices of the given columns
        n_jobs: int = 1,  # threads of the kernel
    ) -> None:
        self._table = counter if isinstance(counter, Table) else None
        self._asked = counter
        self._target = target
        self._given = list(given)
        self._n_jobs = n_jobs
        self._arities = counter.schema.arities.astype(np.float64)  # products do not overflow
        self._n_labels = int(counter.schema.arities[target])
        self._fixed_cells = float(self._arities[[*self._given, target]].prod())

    @cached_property
    def _counter(self) -> Counter:
        asked = self._asked
        return make_counter(asked, memo=0) if isinstance(asked, Table) else asked

    def baseline(self) -> Baseline:
        """Measure the target, alone and with the given columns."""
        if self._table is not None and not self._given:
            target = self._table.one_way().array(self._target)
            one = np.array([0, len(target)]), np.array([len(target)])
            known = _in_nats(_core.table_entropies(target, *one, 1))
        else:
            known = self.measure(np.zeros((1, 0), np.int64))
            target = self._counter.table([self._target]).to_array()
        return Baseline(
            total=float(target.sum()),
            entropy=float(known.rest[0]),
            given_entropy=float(known.entropy[0]),
            n_classes=int((target > 0).sum()),
            n_given=int(known.n_rows[0]),
            n_given_cells=int(known.n_cells[0]),
        )

    def measure(self, sets: NDArray[np.int64]) -> Measured:
        """Measure sets of columns, a row of indices for each."""
        cells = self._arities[sets].prod(axis=1) * self._fixed_cells
        out = Measured(
            np.empty(len(sets)),
            np.empty(len(sets)),
            np.empty(len(sets), np.int64),
            np.empty(len(sets), np.int64),
        )
        for batch in _batches(cells):
            measured = (
                self._one_sparse(sets[batch[0]])
                if cells[batch[0]] > _BATCH
                else self._many_dense(sets[batch])
            )
            for field in fields(out):
                getattr(out, field.name)[batch] = getattr(measured, field.name)
        return out

    def measure_all(self, columns: Sequence[int], size: int) -> Measured | None:
        """Measure all sets of so many ascending columns, in lexicographic order.

        ``None`` where that would cost more than counting them one by one.
        """
        table = self._table
        if table is None or not self._all_pay(table, columns, size):
            return None
        schema = table.schema
        counts = _core.all_tables(
            as_records(table),
            schema.offsets,
            schema.defaults,
            list(columns),
            self._target,
            size,
        )
        sets = np.array(list(combinations(columns, size)))
        cells = schema.arities[sets].prod(axis=1) * self._n_labels
        offsets = np.concatenate(([0], np.cumsum(cells)))
        arities = np.full(len(sets), self._n_labels, np.int64)
        return _in_nats(_core.table_entropies(counts, offsets, arities, self._n_jobs))

    def _all_pay(self, table: Table, columns: Sequence[int], size: int) -> bool:
        """Whether combinations of stored values are fewer than records to be read."""
        if self._given or table.weights is not None:
            return False
        arities = table.schema.arities
        cells = _products_of(arities[list(columns)].tolist(), size) * self._n_labels
        if cells > _ALL_CELLS or self._n_labels > _ALL_LABELS or arities.sum() > _ALL_VALUES:
            return False
        records = np.bincount(np.diff(table.indptr)).tolist()  # of each length
        combined = sum(math.comb(length, size) * n for length, n in enumerate(records))
        values = int((arities[list(columns)] - 1).sum())
        squares = math.comb(values, max(size - 2, 0)) * values**2 * self._n_labels
        one_by_one = math.comb(len(columns), size) * table.n_records
        price = combined * _COMBINED + squares + cells * _ALL_CELL
        return bool(price < one_by_one * _READ)

    def _many_dense(self, sets: NDArray[np.int64]) -> Measured:
        given = np.tile(self._given, (len(sets), 1)).astype(np.int64)
        target = np.full((len(sets), 1), self._target)
        counted = self._counter.tables(np.hstack([given, sets, target]))
        arities = np.full(len(sets), self._n_labels, np.int64)
        return _in_nats(
            _core.table_entropies(counted.counts, counted.offsets, arities, self._n_jobs)
        )

    def _one_sparse(self, columns: NDArray[np.int64]) -> Measured:
        table = self._counter.table(
            [*self._given, *columns.tolist(), self._target], layout="sparse"
        )
        cells, counts = table.occurring()
        return _in_nats(_core.cell_entropies(cells, counts, self._n_labels))


def _in_nats(measured: tuple[Any, ...]) -> Measured:
    """Return what kernels say in bits."""
    entropy, rest, n_rows, n_cells = measured
    return Measured(entropy * math.log(2), rest * math.log(2), n_rows, n_cells)


def _products_of(numbers: Sequence[int], size: int) -> int:
    """Return the sum of the products of all sets of so many numbers.

    >>> _products_of([2, 3, 5], 2)
    31
    """
    sums = [1] + [0] * size
    for number in numbers:
        for k in range(size, 0, -1):
            sums[k] += sums[k - 1] * number
    return sums[size]


def _batches(cells: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Cut tables of so many cells each into batches; tables too large for one are alone."""
    large = cells > _BATCH
    alone = [np.array([k]) for k in np.flatnonzero(large)]
    rest = np.flatnonzero(~large)
    batches = []
    ends = np.cumsum(cells[rest])
    first = 0
    while first < len(rest):
        before = ends[first] - cells[rest[first]]
        last = int(np.searchsorted(ends, before + _BATCH, side="right"))
        batches.append(rest[first:last])
        first = last
    return batches + alone
