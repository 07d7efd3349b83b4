"""Some of the records, and how many values are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.statistic import Statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["StoredCount", "TakeRecords"]


@dataclass(frozen=True)
class TakeRecords:
    """The Table of those of some records, given by ascending numbers, that are in a partition."""

    chosen: NDArray[np.int64]

    def __call__(self, partition: Partition) -> Table | None:
        """Take them; None if there are none."""
        table: Table = partition.records
        first = partition.first
        low, high = np.searchsorted(self.chosen, (first, first + table.n_records))
        return table.take(self.chosen[low:high] - first) if low < high else None


class StoredCount(Statistic["int"]):
    """How many values are stored."""

    def partial(self, partition: Partition) -> int:
        """Count those of a partition."""
        return int(partition.records.n_stored)

    def merge(self, one: int, other: int) -> int:
        """Add up."""
        return one + other
