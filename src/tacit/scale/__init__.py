"""The same statistics over partitions: on this machine, or on a cluster."""

from tacit.scale.cost import Cost
from tacit.scale.dask_executor import Dask, on_dask
from tacit.scale.executor import Executor, using
from tacit.scale.local import Local
from tacit.scale.partitioned_table import PartitionedTable, as_partitioned, of_tables, partition
from tacit.scale.predicting import Predict, gather, predict_parts
from tacit.statistic import MergeTree, Partition, Statistic

__all__ = [
    "Cost",
    "Dask",
    "Executor",
    "Local",
    "MergeTree",
    "Partition",
    "PartitionedTable",
    "Predict",
    "Statistic",
    "as_partitioned",
    "gather",
    "of_tables",
    "on_dask",
    "partition",
    "predict_parts",
    "using",
]
