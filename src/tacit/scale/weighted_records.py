"""Which records have a weight: the others are as if they were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale.partitioned_table import PartitionedTable
    from tacit.statistic import Partition

__all__ = ["weighted_records"]


def weighted_records(records: Table | PartitionedTable) -> NDArray[np.int64]:
    """Return the numbers of the records that have a weight above 0.

    Tables have no others by the time that they are learnt from; partitions are passed over once,
    if they are weighted.
    """
    if isinstance(records, Table) or not records.weighted:
        return np.arange(records.n_records)
    return np.concatenate(list(records.map(_weighted)))


def _weighted(partition: Partition) -> NDArray[Any]:
    weights = partition.records.weights
    if weights is None:
        return partition.first + np.arange(partition.records.n_records)
    return partition.first + np.flatnonzero(weights > 0)
