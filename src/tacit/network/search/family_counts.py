"""Counts of families over partitions: what the search for a net asks of records, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

    Ints: TypeAlias = NDArray[np.int64]
    # Σ weights of records; of each family the number of parent states, their codes, and counts.
    Counted: TypeAlias = tuple[float, Ints, NDArray[np.uint16], NDArray[np.float64]]

__all__ = ["FamilyCounts", "Fetcher", "unknown_codes"]

_ROOM = 32 << 20  # bytes of codes and bitmaps that a partition is cut into
_PASS = 64 << 20  # bytes of counts that a pass asks for


@dataclass(frozen=True)
class FamilyCounts(Statistic["Counted"]):
    """Counts of columns with their parents, and with every other column as one more parent.

    Only parent states that occur have counts; partitions may see different ones. They are merged
    in the order of their codes, so that scores of the sums are those of all records, bit for bit.
    """

    offsets: Ints  # of the schema: the first value id of each column
    missing: Ints  # of each column the code that says "not known", or -1
    children: Ints  # one for each family
    starts: Ints  # the parents of family k are parents[starts[k]:starts[k + 1]]; they ascend
    parents: Ints
    # The other columns of each family that are counted with it: from, and up to
    begins: Ints
    ends: Ints
    n_bytes: int = 0  # what a partial takes in memory, at most

    @cached_property
    def _requests(self) -> _core.NetRequests:
        return _core.NetRequests(
            self.offsets, self.missing, self.children, self.starts, self.parents, self.begins,
            self.ends,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_requests"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def partial(self, partition: Partition) -> Counted:
        """Count the records of a partition."""
        counted: Counted | None = None
        for table in _row_ranges(partition.records):
            schema, (start, rows) = table.schema, table.postings
            counts = self._requests.count(
                table.n_records, schema.offsets, schema.defaults, start, rows, table.weights,
                self.missing, partition.n_jobs,
            )  # fmt: skip
            total = table.n_records if table.weights is None else table.weights.sum()
            new = (float(total), *counts)
            counted = new if counted is None else self.merge(counted, new)
        assert counted is not None  # a partition has records
        return counted

    def merge(self, one: Counted, other: Counted) -> Counted:
        """Add up."""
        return (one[0] + other[0], *self._requests.merge(*one[1:], *other[1:]))


def _row_ranges(table: Table) -> Iterator[Table]:
    """Yield a table's records, so many at a time as codes and bitmaps have room for."""
    each = 2 * table.n_columns + table.schema.n_values // 8 + 1
    size = max(1024, _ROOM // each)
    if table.n_records <= size:
        yield table
        return
    for first in range(0, table.n_records, size):
        yield table.take(np.arange(first, min(first + size, table.n_records)))


class Fetcher:
    """Fetches counts of families from partitions, and counts the passes.

    Missing codes are as in :class:`FamilyCounts`.
    """

    def __init__(self, table: PartitionedTable, missing: Ints, n_jobs: int) -> None:
        self.n_passes = 0
        self._table, self._missing, self._n_jobs = table, missing, n_jobs

    @property
    def most_bytes(self) -> int:
        """How many bytes of counts a pass may ask for: with merging, a quarter of the memory."""
        most = self._table.statistic_bytes
        return _PASS if most is None else max(1, min(_PASS, most))

    def __call__(self, *requests: Any) -> Counted:
        """Count families in one pass; of arrays of requests, and the bytes that counts may take."""
        self.n_passes += 1
        statistic = FamilyCounts(self._table.schema.offsets, self._missing, *requests)
        counts = self._table.reduce(statistic, n_jobs=self._n_jobs)
        if counts[0] <= 0:
            raise InputError("weights: those of all records are zero")
        return counts


def unknown_codes(schema: Schema, missing: str) -> Ints:
    """Return of each column the code that says "not known", or -1; all -1 for "state"."""
    codes = [-1 if labels.missing is None else labels.missing for labels in schema.labels]
    return np.array(codes if missing == "ignore" else [-1] * len(codes), np.int64)
