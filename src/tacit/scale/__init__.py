"""The same statistics over partitions: on this machine, or on a cluster."""

from tacit.scale.cost import Cost
from tacit.scale.executor import Executor, using
from tacit.scale.local import Local
from tacit.scale.partitioned_table import PartitionedTable, as_partitioned, of_tables, partition
from tacit.scale.scan import scan
from tacit.scale.statistic import MergeTree, Part, Statistic
from tacit.scale.taking import Predict

__all__ = [
    "Cost",
    "Executor",
    "Local",
    "MergeTree",
    "Part",
    "PartitionedTable",
    "Predict",
    "Statistic",
    "as_partitioned",
    "of_tables",
    "partition",
    "scan",
    "using",
]
