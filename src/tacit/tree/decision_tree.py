"""Decision trees for classes and for numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from tacit.parameters import store_parameters
from tacit.table.inputs import Inputs
from tacit.table.targets import column_numbers, read_numbers, require_target
from tacit.tree.base import GrownTree, TreeClassifier, TreeEstimator
from tacit.tree.growth.settings import fixed_weights, grow_settings
from tacit.tree.growth.target import Moments
from tacit.tree.model import leaf_means, number_score
from tacit.tree.nodes import find_leaves
from tacit.tree.partitioned.growth import grow_partitioned_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]


class DecisionTreeClassifier(TreeClassifier):
    r"""A decision tree that tells classes apart.

    It is grown best first: of all leaves, the one whose split raises the score most is split next.
    Counts are made of stored values only, so that a level of the tree costs no more than the number
    of values that differ from their columns' defaults.

    Parameters
    ----------
    criterion : {"bayes_factor", "bic", "entropy", "gini"}
        What a split has to raise. For a leaf with class counts c_t, N of them in K classes:

        - "bayes_factor": the marginal likelihood of the classes under a Dirichlet prior, times
          the prior probability of the tree. Splits that do not raise it are not made;
        - "bic": Σ c_t log(c_t / N), less half the logarithm of the number of records for each
          parameter, plus the logarithm of the prior probability of the tree. Splits that do not
          raise it are not made;
        - "entropy": Σ c_t log(c_t / N), the log-likelihood; "gini": Σ c_t² / N. Leaves are split
          until they are pure, so that the tree should be limited.

    splits : {"binary", "complete", "both"}
        Splits into two, one label against the rest or a threshold of an ordered column; into a
        child for each label; or whichever is better. Numbers of frames and arrays are always split
        at thresholds. Missing values are on the side of a threshold where they fit best; where a
        leaf has none, later ones go to the side of most records.
    prior : {"k2", "bdeu"}
        The Dirichlet prior of a leaf: `prior_weight` for each class, or `prior_weight` for the
        whole tree, divided among classes and leaves: a leaf has the fraction of it that it has of
        all combinations of the columns' values. Leaf probabilities are smoothed by it.
    prior_weight : float, optional
        By default a half with "k2" and ``kappa="auto"`` (Jeffreys' prior), else 1. Zero means class
        frequencies as the probabilities of nodes, and is not for "bayes_factor".
    kappa : "auto" or float, default "auto"
        The prior probability of a tree, for "bayes_factor" and "bic". With "auto" every split
        pays for having been chosen: all columns that could pay in its leaf are equally probable,
        and so are all splits that a column has there, so that a split of one of n columns with s
        splits has the probability 1 / (n s), and 1 / 10 at most. A column could pay if it would
        where the rarest classes were on the smaller side of its split; of columns that hardly
        differ in a leaf none can. (Graphs and trees of numbers count all columns and splits of the
        table.) The probabilities of a tree's leaf are then averages over the nodes on the way to
        it, each by the probability that the way ends there.
        A number makes it proportional to kappa to the number of parameters, whatever there is to
        choose from; 0.1 is usual. For "bic" a number means that nothing is paid for the choice.
    max_depth : int, optional
        The most questions on the way to a leaf.
    min_samples_leaf : int, default 1
        The least (weighted) number of records in a leaf; with 1, any will do.
    max_leaf_nodes : int, optional
        The most leaves.
    min_gain : float, default 0.0
        What a split has to add to the score, at least: nats, but for "gini" a number of records.
    class_weight : dict or "balanced", optional
        Weights of classes, times those of the records; "balanced" gives all classes the same sum.
    discretise : spec or mapping, optional
        How numeric columns are cut into bins, as for :class:`tacit.Table`. Without it, every
        threshold between two numbers is tried.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with a label in prediction that was not there in fit: refuse it, or take it for
        the column's default.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    n_jobs : int, optional
        Threads for coding and prediction; results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The classes: sorted, or in the order of the labels if the target is a column of a Table.
    n_classes_ : int
    n_leaves_ : int
    depth_ : int
    score_ : float
        The value of the criterion: nats, but for "gini" a number of records.
    log_likelihood_ : float
        That of the training records in nats, by the class frequencies of the leaves.
    feature_importances_ : ndarray of shape (n_columns,)
        What each column's splits gain, as a fraction of all gains.
    nodes_ : Nodes
        The tree as flat arrays.
    schema_ : Schema
        The columns, numbers in bins between the thresholds of the tree.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    See Also
    --------
    DecisionGraphClassifier : Leaves that say the same may merge.

    Notes
    -----
    Weights are held as whole numbers of a unit, a power of two: whole weights exactly, others to
    about one part in 2⁵² of their sum. So the tree does not depend on the order of the records.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({
    ...     "sky": ["blue", "grey", "grey", "blue"] * 50,
    ...     "wind": [1, 2, 3, 4] * 50,
    ...     "rain": ["no", "no", "yes", "no"] * 50,
    ... })
    >>> tree = tacit.DecisionTreeClassifier().fit(table, "rain")
    >>> print(tree.to_text())
    rain: no 75 %, yes 25 % (200 records)
    sky = grey
      wind < 2.5: no 99 % (50 records)
      wind ≥ 2.5: yes 99 % (50 records)
    sky = blue: no > 99 % (100 records)
    >>> tree.predict({"sky": ["grey"], "wind": [3]}).tolist()
    ['yes']
    """

    _kind = "decision_tree_classifier"
    _criteria = ("bayes_factor", "bic", "entropy", "gini")

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> DecisionTreeClassifier:
        """Grow the tree of a partitioned table, level by level."""
        settings = grow_settings(self)
        X = X._of_kinds(self.kinds, y)
        X = X if self.discretise is None else X.cut(self.discretise, target=y)
        tree = grow_partitioned_tree(self, X, y, settings)
        inputs = Inputs("table", X, X.schema.names, target=tree.target, target_name=y)
        self._keep(GrownTree(tree.nodes, X.schema), inputs, settings)
        return self._keep_classes(tree.labels, tree.nodes)


class DecisionTreeRegressor(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """A decision tree that predicts numbers, each leaf the mean of its records.

    Parameters
    ----------
    criterion : {"squared_error", "bayes_factor"}
        What a split has to lower or to raise:

        - "squared_error": the sum of squared deviations from the leaves' means. Leaves are split
          until all their records have the same number, so that the tree should be limited;
        - "bayes_factor": the marginal likelihood of the numbers, normal in each leaf, with a
          normal-inverse-gamma prior, times the prior probability of the tree. Splits that do
          not raise it are not made. The prior is worth `prior_weight` records that have the mean
          and the variance of all.

    splits, max_depth, min_samples_leaf, max_leaf_nodes, discretise, kinds, unseen, absent, n_jobs
        As for :class:`DecisionTreeClassifier`.
    prior_weight : float, default 1.0
        For "bayes_factor".
    kappa : "auto" or float, default "auto"
        The prior probability of a tree, for "bayes_factor", as for
        :class:`DecisionTreeClassifier`; a leaf has two parameters.
    min_gain : float, default 0.0
        What a split has to add to the score, at least; for "squared_error" in squares of y.

    Attributes
    ----------
    n_leaves_, depth_, feature_importances_, nodes_, schema_, n_features_in_, feature_names_in_
        As for :class:`DecisionTreeClassifier`.
    score_ : float
        The value of the criterion: nats, or for "squared_error" minus the sum of squared errors.

    Notes
    -----
    Sums that decide on splits are in fixed point: deviations from the most common number, in units
    of a power of two that is as small as lets no sum reach 2⁶². So the tree does not depend on the
    order of the records. Means of leaves are made of the records themselves. A leaf whose sum of
    squares is less than 10⁻¹² of the whole is not split: beside an outlier of 10⁸, zeros and ones
    are all the same.

    Examples
    --------
    >>> import tacit
    >>> tree = tacit.DecisionTreeRegressor(max_leaf_nodes=2)
    >>> tree.fit({"age": [3, 4, 30, 41]}, [1.0, 2.0, 10.0, 12.0]).predict({"age": [5, 17, 80]})
    array([ 1.5, 11. , 11. ])
    """

    _kind = "decision_tree_regressor"
    _criteria = ("squared_error", "bayes_factor")

    def __init__(
        self,
        criterion: Literal["squared_error", "bayes_factor"] = "squared_error",
        *,
        splits: Literal["binary", "complete", "both"] = "binary",
        prior_weight: float = 1.0,
        kappa: float | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        min_gain: float = 0.0,
        discretise: Any = None,
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DecisionTreeRegressor:
        """Grow, and return itself.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array
            All records on one machine: a PartitionedTable is refused.
        y : array-like of shape (n_records,) or str
            Numbers, or the name of a column of X that holds them.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. Records of the weight zero say nothing.
        """
        settings = grow_settings(self)
        require_target(self, y)
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds, drop=True)
        if inputs.target is not None:
            numbers = column_numbers(inputs.data, inputs.target)
        else:
            numbers = read_numbers(inputs.y, inputs.n_given, inputs.kept)
        weights = np.ones(len(numbers)) if inputs.weights is None else inputs.weights
        units, unit = fixed_weights(weights, fine=True)
        moments = Moments.of(numbers, units)
        settings["unit"] = unit
        if self.criterion == "squared_error":
            settings["min_gain"] *= moments.scale**2
        else:
            settings["criterion"] = "normal"
            settings["normal"] = moments.prior(settings["prior_weight"], units)
        grown = self._grow(inputs, settings, None, 0, (moments.first, moments.second), units)
        counts, gain = grown.nodes.counts, grown.nodes.gain
        if self.criterion == "squared_error":
            gain = gain / moments.scale / moments.scale
        counts = counts / [1.0, moments.scale, moments.scale] / [1.0, 1.0, moments.scale]
        nodes = replace(grown.nodes, gain=gain, counts=counts)
        assert grown.coding is not None  # which only trees of partitions lack
        leaves = find_leaves(nodes, grown.coding, 1)
        means = leaf_means(leaves, numbers, inputs.weights, nodes)
        grown = grown._replace(nodes=nodes)
        self._keep(grown, inputs, settings)
        self._model.means = means
        self._model.normal = moments.plain_prior(settings["normal"])
        return self

    @property
    def score_(self) -> float:
        """The value of the criterion; larger is better."""
        return number_score(self._fitted())

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the leaf that each record ends in.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        """
        leaves = self.apply(X)
        return self._model.means[leaves]
