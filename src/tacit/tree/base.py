"""What trees and graphs have in common, whatever they predict."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.errors import InputError
from tacit.estimator import Estimator, LogProbabilities
from tacit.machine import count_jobs
from tacit.parameters import store_parameters
from tacit.plot.html import picture_html
from tacit.table.class_weights import weigh_classes
from tacit.table.inputs import Inputs
from tacit.table.targets import (
    class_labels,
    column_classes,
    has_classes,
    read_classes,
    refuse_real_classes,
    require_target,
)
from tacit.tree.growth.bins import in_bins
from tacit.tree.growth.coding import number_columns, table_coding
from tacit.tree.growth.settings import (
    averages,
    even_settings,
    exact_total,
    fixed_leaf,
    fixed_weights,
    float_total,
    grow_settings,
    learnt_kappa,
    log_structure,
    price_splits,
)
from tacit.tree.model import TreeModel, class_score, paid_for_leaves
from tacit.tree.nodes import Nodes, find_leaves
from tacit.tree.state import tree_from_state, tree_to_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit import store
    from tacit.schema import Schema
    from tacit.table.input_spec import InputSpec
    from tacit.tree.drawing.text import LeafRule
    from tacit.tree.growth.coding import Coding

__all__ = ["GrownTree", "TreeClassifier", "TreeEstimator"]

_MOST_ENDS = 80  # of a figure's tree


class GrownTree(NamedTuple):
    """A tree as the kernel numbers the values of a Table."""

    nodes: Nodes
    schema: Schema
    coding: Coding | None = None  # which only trees of partitions lack


class TreeEstimator(Estimator):
    """A tree or a graph; subclasses say what it predicts."""

    _criteria: ClassVar[tuple[str, ...]]
    _merge: ClassVar[bool] = False
    _input_tags = ("categorical", "sparse", "string")
    _model: TreeModel

    # Steps of fit

    def _grow(
        self,
        inputs: Inputs,
        settings: dict[str, Any],
        classes: NDArray[np.int32] | None,
        n_classes: int,
        moments: Any,
        weights: NDArray[np.int64] | None,
    ) -> GrownTree:
        """Grow a tree of records: of classes, of moments, or else of the codes of a target."""
        records = inputs.ranked(self.discretise, classes=classes, n_jobs=self.n_jobs)
        coding = table_coding(records, numbers=inputs.origin != "table")
        settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
        n_targets = 0 if inputs.target is None else 1
        price_splits(settings, records.schema.arities, coding.ordered, n_targets)
        table = _core.TreeTable(*coding, weights)
        unit = settings["unit"]
        settings, factor = even_settings(settings, weights)
        if classes is None and moments is None:
            # The target's classes are the codes of its column: postings list them already.
            target = np.array([inputs.target], np.int64)
            _, *arrays, stats, _ = _core.grow_forest(table, target, None, settings, 1)
            stats = stats.reshape(-1, n_classes)
        else:
            excluded = () if inputs.target is None else (inputs.target,)
            *arrays, stats = _core.grow_tree(table, excluded, classes, n_classes, moments, settings)
        arrays.append(stats / unit)
        if factor != 1.0:
            arrays[8] = arrays[8] * factor  # gains
        return GrownTree(Nodes(*arrays), records.schema, coding)

    def _keep(
        self,
        grown: GrownTree,
        inputs: Inputs,
        settings: dict[str, Any],
    ) -> None:
        """Keep a tree, in terms of the model's columns: numbers in bins between its thresholds."""
        nodes, schema = grown.nodes, grown.schema
        # Of a Table, numbers that a node has a child for each of stay as they are, and so does 0/1.
        is_number = number_columns(schema, 1 if inputs.origin != "table" else 3)
        is_number[nodes.column[nodes.complete == 1]] = False
        if inputs.target is not None:
            is_number[inputs.target] = False
        if is_number.any():
            nodes, schema = in_bins(nodes, schema, is_number)
        self._model = TreeModel(
            nodes,
            schema,
            inputs.target,
            origin=inputs.origin,
            target_name=inputs.target_name,
            criterion=self.criterion,
            prior=settings["prior"],
            prior_weight=settings["prior_weight"],
            kappa=learnt_kappa(self.kappa),
            log_structure=log_structure(grown.nodes.column, settings["split_prices"]),
            averaged=averages(settings),
        )
        if settings["leaf_prices"]:
            self._model.log_structure = paid_for_leaves(self._model)

    # What it holds

    def _fitted(self) -> TreeModel:
        check_is_fitted(self, "_model")
        return self._model

    @property
    def _input(self) -> InputSpec:
        return self._fitted().input

    @property
    def nodes_(self) -> Nodes:
        """The nodes, as flat arrays."""
        return self._fitted().nodes

    @property
    def schema_(self) -> Schema:
        """The columns that the model knows, numbers in bins between its thresholds."""
        return self._fitted().input.schema

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        return self._fitted().nodes.n_leaves

    @property
    def depth_(self) -> int:
        """The longest way from the root to a leaf."""
        return self._fitted().depth

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """What each column's splits gain, as a fraction of all gains."""
        return self._fitted().importances

    # What it says of records

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the number of the leaf that each record ends in.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        model = self._fitted()
        inputs = Inputs.read(
            self, X, model.input, target_name=model.target_name, absent=self.absent
        )
        table = inputs.table(unseen=self.unseen, n_jobs=self.n_jobs)
        return find_leaves(model.nodes, table, count_jobs(self.n_jobs))

    # What it looks like

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the tree as indented text.

        Parameters
        ----------
        max_depth : int, optional
            How many questions deep to go.
        """
        from tacit.tree.drawing.text import tree_text

        return tree_text(self, max_depth)

    def rules(self) -> list[LeafRule]:
        """Return a rule for each leaf: the conditions on the way to it, and what it predicts."""
        from tacit.tree.drawing.text import leaf_rules

        return leaf_rules(self)

    def to_frame(self) -> pl.DataFrame:
        """Return the rules as a Polars frame, one row a leaf."""
        from tacit.tree.drawing.text import rules_frame

        return rules_frame(self)

    def to_dot(self) -> str:
        """Return the tree in Graphviz' language."""
        from tacit.tree.drawing.dot import tree_dot

        return tree_dot(self)

    def to_svg(self, max_depth: int | None = None) -> str:
        """Return the tree as a picture: the text of an SVG file that needs nothing else.

        Parameters
        ----------
        max_depth : int, optional
            How many questions deep to go.
        """
        from tacit.plot import scene_svg
        from tacit.tree.drawing.scene import tree_scene

        return scene_svg(tree_scene(self, max_depth))

    def to_html(self, title: str = "Decision tree", *, max_depth: int | None = None) -> str:
        """Return a page with the picture of the tree: one file, which needs nothing else.

        Parameters
        ----------
        title : str
        max_depth : int, optional
            How many questions deep to go.
        """
        from tacit.tree.drawing.page import tree_page

        return tree_page(self, title, max_depth)

    def plot(self, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
        """Draw the tree with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure that is large enough to read it.
        max_depth : int, optional
            How many questions deep to go; by default all the way, or as far as there are no
            more than 80 ends to be seen.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from tacit.plot import draw_scene
        from tacit.tree.drawing.scene import tree_scene

        if max_depth is None:
            max_depth = self.nodes_.readable_depth(_MOST_ENDS)
        return draw_scene(tree_scene(self, max_depth), ax)

    def _html_of_fit(self) -> str:
        return picture_html(self.to_svg(self.nodes_.readable_depth(_MOST_ENDS)))

    def to_state(self) -> store.State:
        """Return the arrays of a file, without parameters that JSON cannot hold."""
        return tree_to_state(self)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a tree of the arrays of a file, after checking that they go together."""
        return tree_from_state(cls, state)


class TreeClassifier(ClassifierMixin, LogProbabilities, TreeEstimator):  # type: ignore[misc]
    """A tree or a graph whose leaves hold the probabilities of classes."""

    classes_: NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        criterion: str = "bayes_factor",
        *,
        splits: Literal["binary", "complete", "both"] = "binary",
        prior: Literal["k2", "bdeu"] = "k2",
        prior_weight: float | None = None,
        kappa: float | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        min_gain: float = 0.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        discretise: Any = None,
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow, and return itself.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            For decision trees a partitioned table gives the same tree as a Table of its records,
            in a pass for each level of the tree; decision graphs refuse it.
        y : array-like of shape (n_records,) or str
            The classes, or the name of a column of X that holds them; of a partitioned table the
            name.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. Records of the weight zero say nothing.
        """
        settings = grow_settings(self)
        require_target(self, y)
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds, drop=True)
        codes: NDArray[np.int32] | None = None
        if inputs.target is not None:
            refuse_real_classes(inputs.data, inputs.target)
        if inputs.target is None:
            labels, codes = read_classes(inputs.y, inputs.n_given, inputs.kept)
        elif self.class_weight is None and has_classes(inputs.data, inputs.target):
            labels = class_labels(inputs.data.schema.labels[inputs.target].items)
        else:
            labels, codes = column_classes(inputs.data, inputs.target)
        weights = self._weights(inputs, labels, codes)
        units = None
        if weights is not None:
            units, settings["unit"] = fixed_weights(weights)
        grown = self._grow(inputs, settings, codes, len(labels), None, units)
        self._keep(grown, inputs, settings)
        return self._keep_classes(labels, grown.nodes)

    def _keep_classes(self, labels: NDArray[Any], nodes: Nodes) -> Self:
        if np.count_nonzero(nodes.counts[0]) < 2:
            raise InputError("y has one class only; there is nothing to tell apart")
        self.classes_ = labels
        self.n_classes_ = len(labels)
        return self

    def _weights(self, inputs: Inputs, labels: NDArray[Any], codes: Any) -> Any:
        """Return each record's weight times that of its class; None where all are one."""
        if self.class_weight is None:
            return inputs.weights
        totals = partial(_weights_of_classes, inputs.weights, codes, labels)
        return weigh_classes(self.class_weight, labels, codes, inputs.weights, totals)

    @property
    def log_likelihood_(self) -> float:
        """That of the training records in nats, by the class frequencies of the leaves."""
        return self._fitted().log_likelihood

    @property
    def score_(self) -> float:
        """The value of the criterion, parameters paid for; larger is better.

        In nats, but for "gini", which is a number of records.
        """
        return class_score(self._fitted())

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class (by column) for each record (by row).

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        leaves = self.apply(X)
        return self._model.probabilities[leaves]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each record.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        leaves = self.apply(X)
        best: NDArray[Any] = self.classes_[self._model.probabilities.argmax(axis=1)][leaves]
        return best


def _weights_of_classes(
    weights: Any, codes: NDArray[np.int32], labels: NDArray[Any]
) -> NDArray[Any]:
    """Return what the records of each class weigh; the sums do not depend on their order."""
    if weights is None:
        return np.bincount(codes, minlength=len(labels))
    each = (exact_total(weights[codes == k]) for k in range(len(labels)))
    return np.array([float_total(total) for total in each])
