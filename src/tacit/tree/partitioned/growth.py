"""Trees of partitioned tables: what is to be known before they grow, and how they grow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError
from tacit.scale import Predict
from tacit.statistic import Statistic
from tacit.table.class_weights import NO_CLASS_WEIGHTS, class_weights
from tacit.table.input_spec import note_names
from tacit.table.targets import class_labels, refuse_missing
from tacit.tree.growth.coding import ordered_columns
from tacit.tree.growth.settings import fixed_leaf, float_total, weight_unit
from tacit.tree.network.forest import Forest, join_forests
from tacit.tree.nodes import Nodes
from tacit.tree.partitioned.growing_tree import Target
from tacit.tree.partitioned.leaf_counting import FirstPass, RecordWeights
from tacit.tree.partitioned.level_growth import LevelGrowth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.statistic import Partition
    from tacit.table import Table
    from tacit.tree.partitioned.leaf_counting import TargetSummary

__all__ = ["PartitionedTree", "grow_partitioned_network", "grow_partitioned_tree", "mean_score"]


class PartitionedTree(NamedTuple):
    """A tree of a partitioned table."""

    nodes: Nodes  # in value ids of the table
    target: int  # the position of the target's column
    labels: NDArray[Any]  # the classes


def grow_partitioned_tree(
    model: Any, table: PartitionedTable, y: Any, settings: dict[str, Any]
) -> PartitionedTree:
    """Grow the tree of a classifier, and note the columns on the model; `y` is the target's."""
    if not isinstance(y, str):
        raise InputError(
            "y: X is a partitioned table, and its records come in partitions; give the name of the "
            "column that holds the classes"
        )
    column = table.schema.position(y, "y")
    names = table.schema.name_array
    if len(names) == 1:
        raise InputError(f"X: there is no column but the target {y!r}")
    note_names(model, np.delete(names, column))
    ordered = ordered_columns(table.schema)
    labels = table.schema.labels[column]
    classes = class_labels(labels.items[: labels.missing])
    target, weights = Target.of(table.schema, column), RecordWeights()
    if model.class_weight is not None or labels.missing is not None:
        summary = table.reduce(FirstPass(weights, column), n_jobs=model.n_jobs)
        if summary.first_missing >= 0:
            refuse_missing(summary.first_missing, y)
        _check_some_weight(summary)
        # The class of most records, as where records are told by classes in memory.
        base = int(np.argmax(summary.n_records[: len(classes)]))
        target = replace(target, n_classes=len(classes), base=base)
        if model.class_weight is not None:
            weights = _weights_by_class(model.class_weight, classes, column, summary)
    growth = _level_growth(table, weights, ordered, settings, model.n_jobs)
    [tree] = growth.grow([target])
    nodes = Nodes(*tree.arrays())
    counts, gain = nodes.counts / settings["unit"], nodes.gain * growth.factor
    return PartitionedTree(replace(nodes, gain=gain, counts=counts), column, classes)


def _weights_by_class(
    given: Any, classes: NDArray[Any], column: int, summary: TargetSummary
) -> RecordWeights:
    """Return what records weigh by their classes; codes behind those of classes weigh nothing."""
    n_records = summary.n_records
    totals = np.array([float_total(x) for x in summary.totals]) if summary.totals else n_records
    each = class_weights(given, classes, lambda: totals[: len(classes)])
    each = np.where(n_records[: len(classes)] > 0, each, 0.0)  # of classes without records
    return RecordWeights(column, np.append(each, np.zeros(len(n_records) - len(each))))


def _level_growth(
    table: PartitionedTable,
    weights: RecordWeights,
    ordered: NDArray[np.uint8],
    settings: dict[str, Any],
    n_jobs: int | None,
    verbose: int = 0,
) -> LevelGrowth:
    """Return what grows trees, after a pass that finds the unit of weights if there are any."""
    if weights.applies(table.weighted):
        summary = table.reduce(FirstPass(weights), n_jobs=n_jobs)
        if weights.by_class is not None and not 0 < summary.largest < np.inf:
            raise InputError(NO_CLASS_WEIGHTS)
        _check_some_weight(summary)
        settings["unit"] = weight_unit(float_total(summary.total), integral=summary.integral)
        weights = replace(weights, unit=settings["unit"])
    settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
    return LevelGrowth(table, weights, ordered, settings, n_jobs, verbose)


def _check_some_weight(summary: TargetSummary) -> None:
    if summary.largest == 0:
        raise InputError("weights: all weights are zero")


def grow_partitioned_network(
    table: PartitionedTable,
    ordered: NDArray[np.uint8],  # which columns are asked about by thresholds
    settings: dict[str, Any],  # for the growth kernel
    n_jobs: int | None,
    verbose: int,  # 1 shows how far each pass has come
) -> Forest:
    """Grow a tree for each column given all others."""
    schema = table.schema
    growth = _level_growth(table, RecordWeights(), ordered, settings, n_jobs, verbose)
    trees = growth.grow([Target.of(schema, column) for column in range(len(schema))])
    grown = []
    for tree in trees:
        *arrays, stats = tree.arrays()
        roots, stat_start = np.array([0, len(stats)]), np.array([0, stats.size])
        grown.append((roots, *arrays, stats.reshape(-1), stat_start))
    forest = join_forests(grown, settings["unit"])
    return replace(forest, gain=forest.gain * growth.factor) if growth.factor != 1.0 else forest


@dataclass(frozen=True)
class ScoreSum(Statistic["tuple[float, float]"]):
    """The weighted sum of what a model says of records, and the sum of their weights."""

    predict: Predict

    def partial(self, partition: Partition) -> tuple[float, float]:
        """Add up the scores of a partition."""
        scores, weights = self.predict(partition), partition.records.weights
        if weights is None:
            return float(scores.sum()), float(len(scores))
        counted = weights > 0
        return float((scores[counted] * weights[counted]).sum()), float(weights[counted].sum())

    def merge(self, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
        """Add up."""
        return one[0] + other[0], one[1] + other[1]


def mean_score(model: Any, table: Table | PartitionedTable) -> float:
    """Return the mean of `score_samples` by the records' weights, in one pass."""
    statistic = ScoreSum(Predict(model, "score_samples"))
    total, weight = table.reduce(statistic, n_jobs=model.n_jobs, verbose=model.verbose or None)
    if weight == 0:
        raise InputError("X: all weights are zero")
    return total / weight
