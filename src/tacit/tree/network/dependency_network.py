"""The estimator of dependency networks: a decision tree for every column given all others."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.counts.records import as_records
from tacit.errors import InputError
from tacit.machine import check_fits, check_int, count_jobs
from tacit.parameters import make_generator
from tacit.progress import show_progress
from tacit.scale import as_partitioned, check_parts, over_parts
from tacit.table.features import Features, fit_features, note_features, read_features
from tacit.tree.growth.coding import ordered_columns
from tacit.tree.growth.settings import fixed_leaf, fixed_weights, grow_settings
from tacit.tree.network.column_tree import tree_of_column
from tacit.tree.network.forest import Arcs, Derived, Forest
from tacit.tree.network.growth import grow_network
from tacit.tree.network.recommend import is_one_basket, rank_items, read_basket
from tacit.tree.network.sampling import draw_by_gibbs
from tacit.tree.network.saving import write_network
from tacit.tree.network.text import arcs_frame, network_text
from tacit.tree.nodes import find_leaves
from tacit.tree.partitioned.growth import grow_parts_network, mean_score

if TYPE_CHECKING:
    import os

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table import Table
    from tacit.tree.decision_tree import DecisionTreeClassifier

__all__ = ["DependencyNetwork"]

CRITERIA = ("bayes_factor", "bic", "entropy", "gini")


class DependencyNetwork(BaseEstimator):  # type: ignore[misc]
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
    prior_weight : float, default 1.0
        How many records it is worth: for each value of the target in each leaf, or with "bdeu" in
        all of a tree.
    kappa : float, default 0.1
        The structure prior: every further parameter makes a tree less probable by this factor.
    max_depth : int, optional
    min_samples_leaf : int, default 1
    max_leaf_nodes : int, optional
        Bounds on each tree.
    min_gain : float, default 0.0
        What a split has to gain at least.
    ordered : "auto" or sequence of str or int
        Columns that are split at thresholds; by default those of numbers, dates or bins with three
        labels or more.
    discretise : spec or mapping, optional
        How to cut real-valued columns of a frame or an array into bins, as for
        :class:`tacit.Table`. Without it, real numbers are refused.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 shows progress on stderr.

    Attributes
    ----------
    schema_ : Schema
        Columns, labels and defaults.
    forest_ : Forest
        All trees as flat arrays.
    n_leaves_ : ndarray of int64
        Number of leaves of each column's tree.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for Tables and frames

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
    >>> web.strongest(1).select("predictor", "target").row(0)
    ('home', 'news')
    >>> web.recommend(["home"], n=1)["item"].to_list()
    ['news']
    """

    def __init__(
        self,
        criterion: Literal["bayes_factor", "bic", "entropy", "gini"] = "bayes_factor",
        *,
        splits: Literal["binary", "complete", "both"] = "binary",
        prior: Literal["k2", "bdeu"] = "k2",
        prior_weight: float = 1.0,
        kappa: float = 0.1,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        min_gain: float = 0.0,
        ordered: Any = "auto",
        discretise: Any = None,
        unseen: Literal["error", "default"] = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.splits = splits
        self.prior = prior
        self.prior_weight = prior_weight
        self.kappa = kappa
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_gain = min_gain
        self.ordered = ordered
        self.discretise = discretise
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DependencyNetwork:
        """Grow the trees.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            A partitioned table gives the same trees as a Table of its records, in a pass for each
            level of the deepest tree.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.

        Returns
        -------
        DependencyNetwork
            Itself.
        """
        settings = grow_settings(self, CRITERIA, merge=False)
        parts = as_partitioned(X)
        if parts is not None:
            check_parts(sample_weight, self.discretise)
            features = Features(parts.schema, {}, "table")
            _check_columns(parts.shape)
            ordered = ordered_columns(parts.schema, self.ordered)
            forest = grow_parts_network(parts, ordered, settings, self.n_jobs, self.verbose)
            self._keep(features, forest)
            return self
        jobs = count_jobs(self.n_jobs)
        table, features = fit_features(
            copy(self), X, discretise=self.discretise, sample_weight=sample_weight,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        _check_columns(table.shape)
        weights = None
        if table.weights is not None:
            if not table.weights.any():
                raise InputError("sample_weight: all weights are zero")
            weights, settings["unit"] = fixed_weights(table.weights)
        settings["min_leaf"] = fixed_leaf(settings["min_leaf"], settings["unit"])
        ordered = ordered_columns(features.schema, self.ordered)
        forest = grow_network(table, weights, ordered, settings, jobs, shown=bool(self.verbose))
        self._keep(features, forest)
        return self

    def _keep(self, features: Features, forest: Forest) -> None:
        """Note what was learnt, and what follows from it."""
        self._features = features
        self.forest_ = forest
        arities = features.schema.arities
        # Parameters may be set anew without anything being learnt.
        self._learnt_by: dict[str, Any] = {
            "criterion": self.criterion,
            "prior": self.prior,
            "prior_weight": float(self.prior_weight),
            "kappa": float(self.kappa),
        }
        weight = self._learnt_by["prior_weight"]
        self._derived = Derived(forest, arities, self.prior, weight)
        self.n_leaves_ = forest.n_leaves
        note_features(self, features)

    @property
    def _chances(self) -> NDArray[np.float64]:
        return self._derived.chances

    @property
    def _arcs(self) -> Arcs:
        return self._derived.arcs

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        return self._features.schema

    # What predicts what

    @property
    def arcs_(self) -> Arcs:
        """Predictors and targets by their places, and gains; the strongest first."""
        return self._arcs

    def strongest(self, n: int = 20) -> pl.DataFrame:
        """Return the strongest arcs, from predictor to target.

        Parameters
        ----------
        n : int, default 20

        Returns
        -------
        polars.DataFrame
            predictor, target, gain and rank. The gain is what all splits on the predictor add to
            the score of the target's tree. Of equal gains, earlier columns come first.
        """
        check_is_fitted(self, "forest_")
        return arcs_frame(self.schema_.names, self._arcs, check_int(n, "n", 1))

    def to_frame(self) -> pl.DataFrame:
        """Return all arcs; see :meth:`strongest`."""
        check_is_fitted(self, "forest_")
        return arcs_frame(self.schema_.names, self._arcs)

    def tree(self, column: str | int) -> DecisionTreeClassifier:
        """Return the tree of one column, to be shown or asked on its own.

        Parameters
        ----------
        column : str or int

        Returns
        -------
        DecisionTreeClassifier
            Fitted; it takes records without the column.
        """
        check_is_fitted(self, "forest_")
        return tree_of_column(self, self.schema_.position(column))

    def to_text(self, n: int = 10) -> str:
        """Return a summary with the strongest arcs.

        Parameters
        ----------
        n : int, default 10
            How many arcs to list.
        """
        check_is_fitted(self, "forest_")
        return network_text(self, check_int(n, "n", 0))

    # Predicting

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "forest_")
        return read_features(self, X, self._features, unseen=self.unseen, n_jobs=self.n_jobs)

    @over_parts
    def predict_proba(self, X: Any, column: str | int | None = None) -> NDArray[np.float64]:
        """Return the probabilities of a column's labels given each record's other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            With all columns; what it says about this one is not looked at.
        column : str or int, optional
            Without it, all columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records, n_labels)
            In the order of ``schema_[column].labels``; of all columns, one after another.
        """
        check_is_fitted(self, "forest_")
        place = None if column is None else self.schema_.position(column)
        table = self._read(X)
        if place is None:
            return self._predict_all(table)
        nodes = self.forest_.tree(place)
        leaves = find_leaves(nodes, table, count_jobs(self.n_jobs))
        begin, end = self.forest_.stat_start[place : place + 2]
        return np.asarray(self._chances[begin:end].reshape(nodes.n_nodes, -1)[leaves])

    def _predict_all(self, table: Table) -> NDArray[np.float64]:
        """Return P(label | rest of the record) of all columns; defaults have what others leave."""
        schema = self.schema_
        n_cells = int(schema.cells[-1])
        check_fits(16 * table.n_records * n_cells, "all probabilities", "give fewer records")
        chances = np.zeros((table.n_records, n_cells))
        chances[:, schema.value_cells] = self._predict_items(table)
        stored = np.add.reduceat(chances, schema.cells[:-1], axis=1)
        chances[:, schema.default_cells] = np.maximum(1.0 - stored, 0.0)
        return chances

    @over_parts
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the conditional log-likelihood of each record.

        It is the sum over the columns of log P(own value | all other values).

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        """
        table = self._read(X)
        with np.errstate(divide="ignore"):
            numbers = np.log(self._chances)
        forest = self.forest_.to_kernel(self.schema_, numbers)
        return _core.forest_scores(as_records(table), forest, count_jobs(self.n_jobs))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean conditional log-likelihood, by the records' weights if they have any.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        y : ignored
        """
        check_is_fitted(self, "forest_")
        parts = as_partitioned(X)
        if parts is not None:
            return mean_score(self, parts)
        table = self._read(X)
        scores = self.score_samples(table)
        if table.weights is None:
            return float(scores.mean())
        if not table.weights.any():
            raise InputError("X: all weights are zero")
        counted = table.weights > 0
        return float(np.average(scores[counted], weights=table.weights[counted]))

    def recommend(self, basket: Any, n: int = 10) -> pl.DataFrame:
        """Rank what is not in a basket by how probable it is, given what is.

        An item is a value that is not its column's default: in tables of baskets a column, else a
        column and a label. Items of columns that the basket has something of, and missing values,
        are not recommended. A basket is taken to be complete: what is not in it is absent.

        Parameters
        ----------
        basket : sequence of items, mapping, Table, frame, array or sparse array
            One basket: columns by name or place, items as they are written in the result, or pairs
            of a column and a label; or a mapping ``{column: label}``. Many baskets: data with all
            columns.
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
                "basket: those of a partitioned table come in parts; take the recommendations of "
                "each, from X.map(tacit.scale.Predict(model, 'recommend'))"
            )
        one = is_one_basket(basket)
        table = read_basket(self.schema_, basket) if one else self._read(basket)
        ranked = rank_items(table, self._predict_items, most)
        return ranked.select("item", "probability") if one else ranked

    def _predict_items(self, table: Table) -> NDArray[np.float64]:
        check_fits(
            8 * table.n_records * self.schema_.n_values, "P(item | basket)", "give fewer baskets"
        )
        forest = self.forest_.to_kernel(self.schema_, self._chances)
        return _core.forest_probabilities(as_records(table), forest, count_jobs(self.n_jobs))

    def sample(self, n: int = 1, *, burn_in: int = 50, random_state: Any = None) -> Table:
        """Draw records by Gibbs sampling.

        Each record is the end of a chain of its own, which starts from columns drawn by
        themselves. In a sweep, each column in order is drawn anew given all others.

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
                self.schema_, self.forest_, self._chances, size, sweeps, rng,
                count_jobs(self.n_jobs), report,
            )  # fmt: skip

    # Showing and keeping

    def plot(self, n: int = 30, ax: Axes | None = None) -> Axes:
        """Draw the strongest arcs, as arrows from predictor to target; needs matplotlib.

        Parameters
        ----------
        n : int, default 30
            How many arcs.
        ax : matplotlib Axes, optional
        """
        from tacit.tree.network.plot import plot_network

        check_is_fitted(self, "forest_")
        return plot_network(self.schema_.names, self._arcs, check_int(n, "n", 1), ax)

    def to_html(self, title: str = "Dependency network", *, n: int = 400) -> str:
        """Return a page with a graph to explore: one file, which needs nothing else.

        Parameters
        ----------
        title : str
        n : int, default 400
            How many arcs the page holds at most.
        """
        from tacit.tree.network.page import network_page

        check_is_fitted(self, "forest_")
        return network_page(self, title, check_int(n, "n", 1))

    def save_html(
        self, path: str | os.PathLike[str], title: str = "Dependency network", *, n: int = 400
    ) -> None:
        """Write :meth:`to_html` to a file.

        Parameters
        ----------
        path : path-like
        title, n
            As for :meth:`to_html`.
        """
        from tacit.tree.network.page import write_page

        write_page(path, self.to_html(title, n=n))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file that :func:`tacit.load` reads; atomic."""
        check_is_fitted(self, "forest_")
        write_network(path, self)


def _check_columns(shape: tuple[int, int]) -> None:
    if shape[1] < 2:
        raise InputError(
            f"X has {shape[1]} feature(s) (shape={shape}) while a minimum of 2 is required: a "
            "column is predicted from the others"
        )
