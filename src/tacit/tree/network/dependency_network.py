"""The estimator of dependency networks: a decision tree for every column given all others."""

from __future__ import annotations

from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.counts.records import as_records
from tacit.errors import InputError
from tacit.estimator import Estimator, open_path
from tacit.machine import check_fits, check_int, count_jobs
from tacit.parameters import make_generator, store_parameters
from tacit.plot.html import picture_html, text_html
from tacit.progress import show_progress
from tacit.scale import as_partitioned
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs
from tacit.table.targets import class_labels
from tacit.tree.decision_tree import DecisionTreeClassifier
from tacit.tree.growth.bins import nodes_without
from tacit.tree.growth.coding import ordered_columns
from tacit.tree.growth.settings import (
    averages,
    fixed_leaf,
    fixed_weights,
    grow_settings,
    learnt_kappa,
)
from tacit.tree.model import TreeModel, paid_for_leaves
from tacit.tree.network.forest import Arcs, DerivedFromForest, Forest
from tacit.tree.network.growth import grow_network
from tacit.tree.network.recommend import is_one_basket, rank_items, read_basket
from tacit.tree.network.sampling import draw_by_gibbs
from tacit.tree.network.state import network_from_state, network_to_state
from tacit.tree.network.text import arcs_frame, network_dot, network_text
from tacit.tree.nodes import find_leaves
from tacit.tree.partitioned.growth import grow_partitioned_network, mean_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit import store
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["DependencyNetwork"]


class DependencyNetwork(Estimator):
    r"""Learn what predicts what: a decision tree for every column given all other columns.

    The trees say which columns each one depends on, and how strongly. Together they predict any
    value of a record from the rest of it, recommend what goes with a basket, and, by Gibbs
    sampling, draw records.

    Parameters
    ----------
    criterion : {"bayes_factor", "bic", "entropy", "gini"}
        What a split is to gain; see :class:`DecisionTreeClassifier`.
    splits : {"binary", "complete", "both"}
        Whether a split tells one value from the rest, or all values apart.
    prior : {"k2", "bdeu"}
        Which Dirichlet prior the probabilities in the leaves have.
    prior_weight : float, optional
        How many records it is worth: for each value of the target in each leaf, or with "bdeu" in
        all of a tree. By default a half with "k2" and ``kappa="auto"``, else 1.
    kappa : "auto" or float, default "auto"
        The prior probability of trees: every split pays for having been chosen among all, or every
        parameter makes a tree less probable by this factor; see :class:`DecisionTreeClassifier`.
    max_depth : int, optional
    min_samples_leaf : int, default 1
    max_leaf_nodes : int, optional
        Bounds on each tree.
    min_gain : float, default 0.0
        What a split has to gain at least: nats, but for "gini" a number of records.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    n_jobs, verbose : int, optional
        Threads, on which the result does not depend; and 1 to show progress on stderr.

    Attributes
    ----------
    schema_ : Schema
        Columns, labels and defaults.
    forest_ : Forest
        All trees as flat arrays.
    n_leaves_ : ndarray of int64
        Number of leaves of each column's tree.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    Notes
    -----
    A column of one value has a tree of one leaf. The trees are learnt one by one, so that the
    conditional distributions need not be those of any joint distribution; Gibbs sampling with
    columns in a fixed order defines one all the same.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.Table.from_baskets(
    ...     [["home", "news"], ["home", "news", "sports"], ["home"], ["shop"], []] * 20
    ... )
    >>> web = tacit.DependencyNetwork().fit(visits)
    >>> web
    DependencyNetwork()
    >>> web.strongest(top=1).select("predictor", "target").row(0)
    ('home', 'news')
    >>> web.recommend(["home"], n=1)["item"].to_list()
    ['news']
    """

    _kind = "dependency_network"
    _criteria: ClassVar[tuple[str, ...]] = ("bayes_factor", "bic", "entropy", "gini")
    _merge: ClassVar[bool] = False
    _input_tags = ("categorical", "sparse", "string")

    def __init__(
        self,
        criterion: Literal["bayes_factor", "bic", "entropy", "gini"] = "bayes_factor",
        *,
        splits: Literal["binary", "complete", "both"] = "binary",
        prior: Literal["k2", "bdeu"] = "k2",
        prior_weight: float | None = None,
        kappa: float | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        min_gain: float = 0.0,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DependencyNetwork:
        """Grow the trees, and return itself.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            A partitioned table gives the same trees as a Table of its records, in a pass for each
            level of the deepest tree.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.
        """
        settings = grow_settings(self)
        jobs = count_jobs(self.n_jobs)
        inputs = Inputs.fit(copy(self), X, None, sample_weight, kinds=self.kinds)
        table = inputs.table(self.discretise, n_jobs=self.n_jobs)
        _check_columns(table.shape)
        weights = None
        if table.weights is not None:
            if not table.weights.any():
                raise InputError("sample_weight: all weights are zero")
            weights, settings["unit"] = fixed_weights(table.weights)
        settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
        ordered = ordered_columns(table.schema)
        forest = grow_network(table, weights, ordered, settings, jobs, verbose=self.verbose)
        return self._keep(inputs.remembered, forest, averaged=averages(settings))

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> DependencyNetwork:
        """Grow the trees of a partitioned table, all of them level by level."""
        settings = grow_settings(self)
        _check_columns(X.shape)
        X = X._of_kinds(self.kinds)
        X = X if self.discretise is None else X.cut(self.discretise)
        ordered = ordered_columns(X.schema)
        forest = grow_partitioned_network(X, ordered, settings, self.n_jobs, self.verbose)
        return self._keep(InputSpec.of_schema(X.schema), forest, averaged=averages(settings))

    def _keep(self, spec: InputSpec, forest: Forest, *, averaged: bool) -> DependencyNetwork:
        """Note what was learnt, and what follows from it."""
        self._input = spec
        self.forest_ = forest
        schema = spec.schema
        # Parameters may be set anew without anything being learnt.
        given = self.prior_weight
        self._learnt_by: dict[str, Any] = {
            "criterion": self.criterion,
            "prior": self.prior,
            "prior_weight": given if given is None else float(given),
            "kappa": learnt_kappa(self.kappa),
            "splits": self.splits,
        }
        weight = grow_settings(self)["prior_weight"]
        self._derived = DerivedFromForest(
            forest, schema.arities, schema.defaults, self.prior, weight, averaged
        )
        self.n_leaves_ = forest.n_leaves
        spec.note(self)
        return self

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        return self._input.schema

    # What predicts what

    @property
    def arcs_(self) -> Arcs:
        """Predictors and targets by their positions, and gains; the strongest first."""
        check_is_fitted(self, "forest_")
        return self._derived.arcs

    def strongest(self, top: int = 20) -> pl.DataFrame:
        """Return the strongest arcs, from predictor to target.

        Parameters
        ----------
        top : int, default 20
            How many.

        Returns
        -------
        polars.DataFrame
            predictor, target, gain, influence, change and rank. The gain is what all splits on the
            predictor add to the score of the target's tree: nats, but for "gini" a number of
            records. Of equal gains, earlier columns come first. The influence is "raises" if it is
            more probable that the target is not its default where the predictor is not its default,
            "lowers" if it is less probable, and "varies" if splits differ in that. The change is
            the difference of the two probabilities, on average over the splits on the predictor by
            their records.
        """
        check_is_fitted(self, "forest_")
        return arcs_frame(self, check_int(top, "top", 1))

    def to_frame(self) -> pl.DataFrame:
        """Return all arcs; see :meth:`strongest`."""
        check_is_fitted(self, "forest_")
        return arcs_frame(self)

    def tree(self, column: str | int) -> DecisionTreeClassifier:
        """Return the tree of one column, to be shown or asked alone.

        Parameters
        ----------
        column : str or int

        Returns
        -------
        DecisionTreeClassifier
            Fitted; it takes records without the column.
        """
        check_is_fitted(self, "forest_")
        schema, position = self.schema_, self.schema_.position(column)
        shared = DecisionTreeClassifier().get_params().keys() & self.get_params().keys()
        settings = {name: getattr(self, name) for name in shared - {"discretise", "kinds"}}
        tree = DecisionTreeClassifier(**{**settings, **self._learnt_by})
        spec = self._input.without(position)
        nodes = nodes_without(position, self.forest_.tree(position), schema)
        name = schema.names[position]
        learnt = {key: self._learnt_by[key] for key in self._learnt_by.keys() - {"splits"}}
        tree._model = TreeModel(
            nodes,
            spec.schema,
            None,
            spec,
            target_name=name,
            averaged=self._derived.averaged,
            **{**learnt, "prior_weight": self._derived.prior_weight},
        )
        if grow_settings(tree)["leaf_prices"]:
            tree._model.log_structure = paid_for_leaves(tree._model)
        tree.classes_ = class_labels(schema.labels[position].items)
        tree.n_classes_ = len(tree.classes_)
        spec.note(tree)
        if self._input.origin == "array":
            del tree.feature_names_in_
        return tree

    def to_text(self, top: int = 10) -> str:
        """Return a summary with the strongest arcs.

        Parameters
        ----------
        top : int, default 10
            How many arcs to list.
        """
        check_is_fitted(self, "forest_")
        return network_text(self, check_int(top, "top", 0))

    # Predicting

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "forest_")
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return inputs.table(unseen=self.unseen, n_jobs=self.n_jobs)

    def predict_proba(self, X: Any, column: str | int | None = None) -> NDArray[np.float64]:
        """Return the probabilities of a column's labels given each record's other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            With all columns; what it says about this one is ignored.
        column : str or int, optional
            Without it, all columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records, n_labels)
            In the order of ``schema_[column].labels``; of all columns, one after another.
        """
        check_is_fitted(self, "forest_")
        target = None if column is None else self.schema_.position(column)
        table = self._read(X)
        if target is None:
            return self._predict_all(table)
        nodes = self.forest_.tree(target)
        leaves = find_leaves(nodes, table, count_jobs(self.n_jobs))
        begin, end = self.forest_.stat_start[target : target + 2]
        in_nodes = self._derived.probabilities[begin:end].reshape(nodes.n_nodes, -1)
        return np.asarray(in_nodes[leaves])

    def _predict_all(self, table: Table) -> NDArray[np.float64]:
        """Return P(label | rest of the record) of all columns; defaults have what others leave."""
        schema = self.schema_
        n_cells = int(schema.cells[-1])
        check_fits(16 * table.n_records * n_cells, "all probabilities", "give fewer records")
        probabilities = np.zeros((table.n_records, n_cells))
        probabilities[:, schema.value_cells] = self._predict_items(table)
        stored = np.add.reduceat(probabilities, schema.cells[:-1], axis=1)
        probabilities[:, schema.default_cells] = np.maximum(1.0 - stored, 0.0)
        return probabilities

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the conditional log-likelihood of each record, in nats.

        It is the sum over the columns of log P(value | all other values of the record).

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        """
        table = self._read(X)
        with np.errstate(divide="ignore"):
            logs = np.log(self._derived.probabilities)
        forest = self.forest_.to_kernel(self.schema_, logs)
        return _core.forest_scores(as_records(table), forest, count_jobs(self.n_jobs))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean conditional log-likelihood in nats, by weights if records have any.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        y : ignored
        """
        check_is_fitted(self, "forest_")
        partitions = as_partitioned(X)
        return mean_score(self, self._read(X) if partitions is None else partitions)

    def recommend(self, basket: Any, n: int = 10) -> pl.DataFrame:
        """Rank what is not in a basket by how probable it is, given what is.

        An item is a value that is not its column's default: in tables of baskets a column, else a
        column and a label. Items of columns that the basket has something of, and missing values,
        are not recommended. A basket is taken to be complete: what is not in it is absent.

        Parameters
        ----------
        basket : sequence of items, mapping, Table, frame, array or sparse array
            One basket: columns by name or position, items as they are written in the result, or
            pairs of a column and a label; or a mapping ``{column: label}``. Many baskets: a list of
            lists of items, of which those that were not there in `fit` are passed over with a
            warning, or data with all columns.
        n : int, default 10
            How many items to return, at most.

        Returns
        -------
        polars.DataFrame
            item and probability, the most probable first; of many baskets also record and rank.
        """
        check_is_fitted(self, "forest_")
        most = check_int(n, "n", 1)
        if as_partitioned(basket) is not None:
            raise InputError(
                "basket: those of a partitioned table come in partitions; take the recommendations "
                "of each, from X.map(tacit.scale.Predict(model, 'recommend'))"
            )
        if isinstance(basket, PathLike):
            basket = open_path(basket)
        one = is_one_basket(basket)
        table = read_basket(self.schema_, basket) if one else self._read(basket)
        ranked = rank_items(table, self._predict_items, most)
        return ranked.select("item", "probability") if one else ranked

    def _predict_items(self, table: Table) -> NDArray[np.float64]:
        check_fits(
            8 * table.n_records * self.schema_.n_values, "P(item | basket)", "give fewer baskets"
        )
        forest = self.forest_.to_kernel(self.schema_, self._derived.probabilities)
        return _core.forest_probabilities(as_records(table), forest, count_jobs(self.n_jobs))

    def sample(self, n: int = 1, *, burn_in: int = 50, random_state: Any = None) -> Table:
        """Draw records by Gibbs sampling.

        Each record is the end of another chain, which starts from columns drawn independently. In
        a sweep, each column in order is drawn anew given all others.

        Parameters
        ----------
        n : int, default 1
            How many records.
        burn_in : int, default 50
            How many sweeps each takes.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        Table
            With the schema of the network.
        """
        check_is_fitted(self, "forest_")
        size = check_int(n, "n", 1)
        sweeps = check_int(burn_in, "burn_in", 1)
        rng = make_generator(random_state)
        with show_progress("records", size, bool(self.verbose)) as report:
            return draw_by_gibbs(
                self.schema_, self.forest_, self._derived.probabilities, size, sweeps, rng,
                count_jobs(self.n_jobs), report,
            )  # fmt: skip

    # Showing and keeping

    def plot(self, ax: Axes | None = None, *, top: int = 30) -> Axes:
        """Draw the strongest arcs, as arrows from predictor to target; needs matplotlib.

        Arrows that raise the probability of other values than the default end in a triangle, those
        that lower it are dashed and end in a bar, and those whose splits differ end in a diamond.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        top : int, default 30
            How many arcs.
        """
        from tacit.plot.scene import draw_scene
        from tacit.tree.network.plot import network_scene

        check_is_fitted(self, "forest_")
        return draw_scene(network_scene(self, check_int(top, "top", 1)), ax)

    def to_svg(self, *, top: int = 30) -> str:
        """Return the picture that :meth:`plot` draws, as the text of an SVG file.

        Parameters
        ----------
        top : int, default 30
            How many arcs.
        """
        from tacit.plot.scene import scene_svg
        from tacit.tree.network.plot import network_scene

        check_is_fitted(self, "forest_")
        return scene_svg(network_scene(self, check_int(top, "top", 1)))

    def _html_of_fit(self) -> str:
        return text_html(self.to_text(0)) + picture_html(self.to_svg())

    def to_dot(self, *, top: int = 30) -> str:
        """Return the strongest arcs in Graphviz' language.

        Parameters
        ----------
        top : int, default 30
            How many arcs.
        """
        check_is_fitted(self, "forest_")
        return network_dot(self, check_int(top, "top", 1))

    def to_html(self, title: str = "Dependency network", *, top: int = 400) -> str:
        """Return a page with a graph to explore: one file, which needs nothing else.

        Parameters
        ----------
        title : str
        top : int, default 400
            How many arcs the page holds at most.
        """
        from tacit.tree.network.page import network_page

        check_is_fitted(self, "forest_")
        return network_page(self, title, check_int(top, "top", 1))

    def to_state(self) -> store.State:
        """Return the arrays of a file."""
        return network_to_state(self)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a network of the arrays of a file, after checking that they go together."""
        return network_from_state(cls, state)


def _check_columns(shape: tuple[int, int]) -> None:
    if shape[1] < 2:
        raise InputError(
            f"X has {shape[1]} feature(s) (shape={shape}) while a minimum of 2 is required: a "
            "column is predicted from the others"
        )
