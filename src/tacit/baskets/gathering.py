"""Records of partitions, brought to one place without what no frequent itemset can hold."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.baskets.items import Items
from tacit.baskets.mining import Baskets, check_number_of_values, holders, whole_weights
from tacit.errors import InputError
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.mining import Question
    from tacit.scale import PartitionedTable
    from tacit.statistic import Partition

__all__ = ["gather_baskets"]

_LARGEST = 2**62


class _Kept(NamedTuple):
    """What is left of a partition."""

    lengths: NDArray[Any]
    values: NDArray[Any]
    weights: NDArray[np.float64] | None
    alone: NDArray[np.int64]  # by value id: records that hold nothing else
    n_records: int  # before any were left out


@dataclass(frozen=True)
class _Frequent:
    """The records of a partition, less the items that are too rare to be in any frequent set."""

    defaults: bool
    numbers: NDArray[Any]  # of each item, among those that are kept; another one if it is not
    n_kept: int
    hold: NDArray[np.int64]  # numbers: of items that every set holds

    def __call__(self, partition: Partition) -> _Kept:
        table = partition.records
        weights, n_records = table.weights, table.n_records
        indptr, values = Items(table.schema, self.defaults).records(table)
        numbers = self.numbers[values]
        keep = numbers < self.n_kept
        before = np.zeros(len(keep) + 1, np.int64)
        np.cumsum(keep, out=before[1:])
        indptr, values = before[indptr], numbers[keep]
        lengths = np.diff(indptr)
        alone = np.zeros(0, np.int64)
        if weights is not None:
            chosen = weights > 0
            weights = weights[chosen]
        elif len(self.hold):
            chosen = np.zeros(n_records, np.bool_)
            chosen[holders(indptr, values, self.hold)] = True
        else:  # what stands alone needs no more than to be counted
            chosen = lengths > 1
            alone = np.bincount(values[indptr[:-1][lengths == 1]], minlength=self.n_kept)
        values = values[np.repeat(chosen, lengths)]
        lengths = lengths[chosen]
        longest = int(lengths.max(initial=0))
        return _Kept(lengths.astype(np.min_scalar_type(longest)), values, weights, alone, n_records)


class _Values:
    """Arrays one after the other: in memory, or in a file without a name from some size on."""

    def __init__(self, dtype: Any, n_bytes: int | None) -> None:
        self._dtype = dtype
        self._limit = n_bytes
        self._arrays: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self.n_bytes = 0

    def append(self, values: NDArray[Any]) -> None:
        self.n_bytes += values.nbytes
        self._arrays.append(values)
        if self._limit is not None and self.n_bytes > self._limit:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115
            for one in self._arrays:
                self._file.write(one.data)
            self._arrays.clear()

    @property
    def in_memory(self) -> int:
        return 0 if self._file is not None else self.n_bytes

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def joined(self) -> NDArray[Any]:
        if self._file is not None:
            self._file.flush()
            return np.memmap(self._file, self._dtype, "r")
        whole = np.empty(self.n_bytes // np.dtype(self._dtype).itemsize, self._dtype)
        at = 0
        self._arrays.reverse()
        while self._arrays:  # each is freed when it has been copied
            one = self._arrays.pop()
            whole[at : at + len(one)] = one
            at += len(one)
        return whole


def gather_baskets(X: PartitionedTable, items: Items, question: Question) -> Baskets:
    """Return what is left of partitions without items that are too rare, to be searched here.

    Two passes: one counts every value, one brings the records with two or more frequent items, at
    two bytes a value where these are fewer than 65,536, by way of a temporary file if that is more
    than half of the limit of memory. X has the schema of `items`.
    """
    counted = X.one_way()
    counts = counted.counts[items.cells].astype(np.float64)
    least = question.min_support
    limit = least if isinstance(least, int) else least * float(counted.total)
    kept = counts >= limit * (1 - 1e-9)  # the search has the last word
    kept[np.searchsorted(items.cells, question.hold)] = True
    kept[np.searchsorted(items.cells, question.exclude)] = False
    n_kept = int(kept.sum())
    dtype = np.uint16 if n_kept < 2**16 else np.uint32
    numbers = np.where(kept, np.cumsum(kept) - 1, n_kept).astype(dtype)
    cells = items.cells[kept].astype(np.uint32)
    hold = np.searchsorted(cells, question.hold)
    lengths, weights = [], []
    alone = np.zeros(n_kept, np.int64)
    n_records = 0
    with closing(_Values(dtype, None if X.memory is None else X.memory // 2)) as store:
        for one in X.map(_Frequent(items.defaults, numbers, n_kept, hold)):
            store.append(one.values)
            check_number_of_values(store.n_bytes // np.dtype(dtype).itemsize)
            lengths.append(one.lengths)
            if one.weights is not None:
                weights.append(one.weights)
            if len(one.alone):
                alone += one.alone
            n_records += one.n_records
        values = store.joined()  # what is in a file stays mapped
    if X.weighted and not any(map(len, weights)):
        raise InputError("weights: all of them are 0")
    n_listed = sum(map(len, lengths))
    rest = _LARGEST if X.memory is None else X.memory - store.in_memory
    rest -= (10 + 16 * X.weighted) * n_listed
    if rest <= 0:
        raise InputError(
            f"min_support: where the records with frequent values begin takes more than the limit "
            f"of {human_bytes(X.memory or 0)}; raise one of them"
        )
    indptr = np.zeros(n_listed + 1, np.int64)
    np.cumsum(np.concatenate(lengths), out=indptr[1:])
    if X.weighted:
        whole, scale = whole_weights(np.concatenate(weights))
        assert whole is not None
        total = int(whole.sum())
        return Baskets(items, cells, indptr, values, whole, scale, total, search_bytes=rest)
    if len(hold):
        return Baskets(items, cells, indptr, values, None, 1, n_records, search_bytes=rest)
    n_beside = n_records - n_listed
    return Baskets(items, cells, indptr, values, None, 1, n_records, alone, n_beside, rest)
