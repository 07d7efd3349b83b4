"""Trees of partitioned tables: what is to be known before they grow, and how they grow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError
from tacit.scale import Predict
from tacit.statistic import Statistic
from tacit.tree.growth.coding import ordered_columns
from tacit.tree.growth.sample import note_target
from tacit.tree.growth.settings import fixed_leaf, float_total, weight_unit
from tacit.tree.growth.target import NO_CLASS_WEIGHTS, class_array, class_weights, refuse_lost
from tacit.tree.network.forest import Forest, join_forests
from tacit.tree.nodes import Nodes
from tacit.tree.partitioned.growing_tree import Target
from tacit.tree.partitioned.leaf_counting import LookAt, Weighing
from tacit.tree.partitioned.level_growth import LevelGrowth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.tree.partitioned.leaf_counting import Look

__all__ = ["PartsTree", "grow_parts_network", "grow_parts_tree", "mean_score"]


class PartsTree(NamedTuple):
    """A tree of a partitioned table.

    Attributes
    ----------
    nodes : Nodes
        In value ids of the table.
    target : int
        The place of the target's column.
    labels : ndarray
        The classes.
    """

    nodes: Nodes
    target: int
    labels: NDArray[Any]


def grow_parts_tree(
    model: Any, parts: PartitionedTable, y: Any, settings: dict[str, Any]
) -> PartsTree:
    """Grow the tree of a classifier, and note the columns on the model.

    Parameters
    ----------
    model : TreeClassifier
    parts : PartitionedTable
    y : str
        The target's column.
    settings : dict
        For the growth kernel.
    """
    if not isinstance(y, str):
        raise InputError(
            "y: X is a partitioned table, and its records come in parts; give the name of the "
            "column that holds the classes"
        )
    place = note_target(model, parts.schema, y)
    ordered = ordered_columns(parts.schema, model.ordered)
    labels = parts.schema.labels[place]
    classes = class_array(labels.items[: labels.missing])
    target, weighing = Target.of(parts.schema, place), Weighing()
    if model.class_weight is not None or labels.missing is not None:
        look = parts.reduce(LookAt(weighing, place), n_jobs=model.n_jobs)
        if look.lost >= 0:
            refuse_lost(look.lost, y)
        _check_some(look)
        # The class of most records, as where records are told by classes in memory.
        base = int(np.argmax(look.sizes[: len(classes)]))
        target = replace(target, n_classes=len(classes), base=base)
        if model.class_weight is not None:
            weighing = _weigh_classes(model.class_weight, classes, place, look)
    unit = _find_unit(parts, weighing, model.n_jobs)
    if unit is not None:
        weighing = replace(weighing, unit=unit)
        settings["unit"] = unit
    settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
    growth = LevelGrowth(parts, weighing, ordered, settings, model.n_jobs)
    [tree] = growth.grow([target])
    nodes = Nodes(*tree.arrays())
    counts, gain = nodes.counts / settings["unit"], nodes.gain * growth.factor
    return PartsTree(replace(nodes, gain=gain, counts=counts), place, classes)


def _weigh_classes(given: Any, classes: NDArray[Any], place: int, look: Look) -> Weighing:
    """Return what records weigh by their classes; codes behind those of classes weigh nothing."""
    held = look.sizes
    if look.held:
        held = np.array([float_total(own) for own in look.held])
    each = class_weights(given, classes, lambda: held[: len(classes)])
    each = np.where(look.sizes[: len(classes)] > 0, each, 0.0)  # of classes without records
    return Weighing(place, np.append(each, np.zeros(len(look.sizes) - len(each))))


def _find_unit(parts: PartitionedTable, weighing: Weighing, n_jobs: int | None) -> float | None:
    """Return the unit of weights, in one pass if there are any."""
    if not weighing.applies(parts.weighted):
        return None
    look = parts.reduce(LookAt(weighing), n_jobs=n_jobs)
    if weighing.by_class is not None and not 0 < look.largest < np.inf:
        raise InputError(NO_CLASS_WEIGHTS)
    _check_some(look)
    return weight_unit(float_total(look.total), whole=look.whole)


def _check_some(look: Look) -> None:
    if look.largest == 0:
        raise InputError("weights: all weights are zero")


def grow_parts_network(
    parts: PartitionedTable,
    ordered: NDArray[np.uint8],
    settings: dict[str, Any],
    n_jobs: int | None,
    verbose: int,
) -> Forest:
    """Grow a tree for each column given all others.

    Parameters
    ----------
    parts : PartitionedTable
    ordered : ndarray of uint8
        Which columns are asked about by thresholds.
    settings : dict
        For the growth kernel.
    n_jobs : int, optional
    verbose : int
        1 shows how far each pass has come.
    """
    schema, weighing = parts.schema, Weighing()
    unit = _find_unit(parts, weighing, n_jobs)
    if unit is not None:
        weighing = replace(weighing, unit=unit)
        settings["unit"] = unit
    settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
    growth = LevelGrowth(parts, weighing, ordered, settings, n_jobs, verbose)
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

    def partial(self, part: Partition) -> tuple[float, float]:
        """Add up the scores of a part."""
        scores, weights = self.predict(part), part.records.weights
        if weights is None:
            return float(scores.sum()), float(len(scores))
        counted = weights > 0
        return float(scores[counted] @ weights[counted]), float(weights.sum())

    def merge(self, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
        """Add up."""
        return one[0] + other[0], one[1] + other[1]


def mean_score(model: Any, parts: PartitionedTable) -> float:
    """Return the mean of `score_samples` by the records' weights, in one pass."""
    statistic = ScoreSum(Predict(model, "score_samples"))
    total, weight = parts.reduce(statistic, n_jobs=model.n_jobs, verbose=model.verbose or None)
    if weight == 0:
        raise InputError("X: all weights are zero")
    return total / weight
