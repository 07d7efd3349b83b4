"""The estimator of dependency trees: which columns hang together, as one tree."""

from __future__ import annotations

import sys
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_fits, check_int
from tacit.network.inference.partitioned import RecordScores
from tacit.network.structure.bits import binary_structure, is_bytes
from tacit.network.structure.learn import Settings, Structure, learn
from tacit.network.trees.answers import (
    column_chances,
    column_moments,
    marginal_chances,
    score_records,
)
from tacit.network.trees.input import Records, fit_columns, label_layout, read_records
from tacit.network.trees.layout import Layout, is_number
from tacit.network.trees.parameters import LazyDensity, TreeDensity
from tacit.network.trees.sampling import draw_records
from tacit.network.trees.saving import write_dependency_tree
from tacit.network.trees.text import edges_frame, tree_dot, tree_graph, tree_text
from tacit.parameters import make_generator
from tacit.scale import as_partitioned, over_parts

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.network.structure.columns import Columns
    from tacit.schema import Schema
    from tacit.table.features import Features

__all__ = ["DependencyTree", "check_smoothing"]

_PRODUCTS = 2e10  # of numbers, from which on "auto" does not read everything


class DependencyTree(DensityMixin, BaseEstimator):  # type: ignore[misc]
    r"""Learn the tree that joins the columns which tell most of each other.

    Of all trees over the columns it is the one under which the records are most probable (Chow and
    Liu): the maximum spanning tree of mutual information. The tree is a joint distribution: it
    says how probable records are, what their missing values may be, and draws new ones.

    Parameters
    ----------
    method : {"auto", "exact", "mist"}
        "exact" reads all records for all pairs of columns. "mist" reads as many records of each
        pair as it takes to decide about it, by Tarjan's red rule: an edge that is certainly the
        weakest of a cycle is not in the tree. "auto" is "exact", unless X is a file on disk or
        there are more than 2·10¹⁰ products of numbers to sum; "mist" takes no weights. What it does
        not read it cannot check for missing numbers either. Of files it reads blocks at random,
        which is a random sample only if the order of the records has nothing to do with them.
    delta : float, default 1e-3
        Probability that is put up with of not finding the tree of all records ("mist"), as far as
        intervals hold: a few records in a million with numbers many times those of all others,
        which make a correlation by themselves, are seldom in the sample that would show them.
    epsilon : float, default 0.0
        By how much intervals are trimmed at their upper ends, in nats: edges that would improve
        the tree by less may be passed over ("mist").
    initial_sample : int, default 5000
        Records that are read first ("mist").
    interval : {"clt", "hoeffding"}
        What intervals rest on: the central limit theorem, or Hoeffding's inequality ("mist").
    share : {"tree", "decision"}
        Whether `delta` is for the tree as a whole, or for each decision, as in the paper ("mist").
    tree_edges : {"interval", "exact"}
        Whether edges in the tree have intervals, too, or are read in full, as in the paper
        ("mist").
    numeric : {"auto", "all", "none"} or list of columns
        Which columns are numbers with normal distributions: by default those of real numbers in
        arrays and frames, or all that hold numbers, or none. The others are discrete.
    missing : {"state", "ignore"}
        Whether missing labels are a label of their own in `fit`, or left out pair by pair. Missing
        numbers can only be left out.
    smoothing : float, default 1.0
        Pseudo-records that are spread evenly over the cells of each pair of discrete columns; of a
        label and a number, over the labels, with the distribution of all numbers.
    discretise : spec or mapping, optional
        How to cut real-valued columns into bins, as for :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    random_state : int, RandomState, Generator or None
        For the order in which records are read ("mist").
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 says on stderr how many records were read for how many pairs, round by round.

    Attributes
    ----------
    edges_ : int64 array of shape (n_columns - 1, 2)
        Places of the columns that are joined, a < b.
    weights_ : float64 array of shape (n_columns - 1,)
        Mutual information of the joined columns in nats; infinite for numbers that determine each
        other.
    intervals_ : float64 array of shape (n_columns - 1, 2)
        What it is between if all records are read.
    edge_usage_ : float
        Share of (record, pair of columns) that was read.
    n_read_ : int
        Records read of the pair that needed most.
    structure_ : Structure
        All of this, and what was counted.
    schema_ : Schema or None
        The discrete columns and their labels; ``None`` if all are numbers.
    root_ : int
        The column that the others are conditioned on in turn.
    n_parameters_ : int
        Free parameters of the distribution.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for Tables and frames

    Notes
    -----
    Columns of numbers make a joint normal distribution. Trees with numbers and labels are an
    extension of the paper: below a label, a number has a normal distribution for each label; below
    a number, labels have probabilities by Bayes' rule from the same distributions. The root is
    chosen so that the fewest labels hang below numbers.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> tree = tacit.DependencyTree().fit(visits)
    >>> tree
    DependencyTree()
    >>> tree.to_frame().row(0)[:2]
    ('sports', 'scores')
    >>> f"{tree.marginals()['scores'][True]:.1%}"
    '8.4%'
    >>> f"{tree.marginals({'sports': True})['scores'][True]:.1%}"
    '43.7%'
    """

    def __init__(
        self,
        method: Literal["auto", "exact", "mist"] = "auto",
        *,
        delta: float = 1e-3,
        epsilon: float = 0.0,
        initial_sample: int = 5000,
        interval: Literal["clt", "hoeffding"] = "clt",
        share: Literal["tree", "decision"] = "tree",
        tree_edges: Literal["interval", "exact"] = "interval",
        numeric: Any = "auto",
        missing: Literal["state", "ignore"] = "state",
        smoothing: float = 1.0,
        discretise: Any = None,
        unseen: Literal["error", "default"] = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.delta = delta
        self.epsilon = epsilon
        self.initial_sample = initial_sample
        self.interval = interval
        self.share = share
        self.tree_edges = tree_edges
        self.numeric = numeric
        self.missing = missing
        self.smoothing = smoothing
        self.discretise = discretise
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DependencyTree:
        """Find the tree and its parameters.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
            A path is that of any file that :func:`tacit.read` reads. Of Parquet and Arrow files
            with nothing but numbers, only as much is read as the method needs. A table in
            partitions takes one pass for "exact"; for "mist" a pass or two, mostly, in which most
            pairs of columns are counted for a sample of the records only.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.

        Returns
        -------
        DependencyTree
            Itself.
        """
        smoothing = check_smoothing(self.smoothing)
        if self.unseen not in ("error", "default"):
            raise InputError(f"unseen must be 'error' or 'default', got {self.unseen!r}")
        check_int(self.initial_sample, "initial_sample", 2)
        self._settings("exact" if self.method == "auto" else self.method).check()
        fitted = self._fit_bits(X, sample_weight) or self._fit_columns(X, sample_weight)
        self._keep(*fitted, None, smoothing)
        return self

    def _fit_bits(self, X: Any, sample_weight: Any) -> tuple[Layout, Structure] | None:
        """Fit a matrix of 0 and 1 without making a table of it, where that is possible."""
        plain = sample_weight is None and self.discretise is None and self.method != "mist"
        if not plain or self.numeric not in ("auto", "none") or not is_bytes(X):
            return None
        found = binary_structure(X, self.n_jobs)
        return None if found is None else (label_layout(found[0]), found[1])

    def _fit_columns(self, X: Any, sample_weight: Any) -> tuple[Layout, Structure]:
        scratch = copy(self)  # what fails leaves the estimator as it was
        columns, layout = fit_columns(
            scratch, X, numeric=self.numeric, discretise=self.discretise, missing=self.missing,
            sample_weight=sample_weight, n_jobs=self.n_jobs,
        )  # fmt: skip
        structure = learn(columns, self._settings(self._choose_method(columns)))
        if self.verbose:
            for own in structure.rounds:
                told = f"{own['records']:,} records read for {own['alive']:,} pairs of columns"
                print(told, file=sys.stderr)
        return layout, structure

    def _settings(self, method: Any) -> Settings:
        return Settings(
            method=method, delta=self.delta, epsilon=self.epsilon, sample=self.initial_sample,
            interval=self.interval, share=self.share, tree_edges=self.tree_edges,
            missing=self.missing, random_state=self.random_state, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _choose_method(self, columns: Columns) -> str:
        if self.method != "auto":
            return self.method
        on_disk = columns.numbers is not None and not isinstance(columns.numbers, np.ndarray)
        many = columns.n_records * len(columns.continuous) ** 2 > _PRODUCTS
        plain = self.missing == "state" and columns.weights is None
        return "mist" if plain and (on_disk or many) else "exact"

    def _keep(
        self, layout: Layout, structure: Structure, model: TreeDensity | None, smoothing: float
    ) -> None:
        """Note what was learnt; parameters are made when somebody asks for them."""
        self._layout = layout
        self._density = LazyDensity(layout, structure, smoothing, model)
        self._smoothing = smoothing
        self.structure_ = structure
        self.edges_ = structure.edges
        self.weights_ = structure.weights
        self.intervals_ = np.column_stack([structure.lower, structure.upper])
        self.edge_usage_ = structure.edge_usage
        self.n_read_ = structure.n_read
        layout.note(self)

    def _fitted(self) -> TreeDensity:
        check_is_fitted(self, "edges_")
        return self._density.get()

    @property
    def schema_(self) -> Schema | None:
        """The discrete columns, their labels and defaults."""
        self._fitted()
        return self._layout.schema

    @property
    def _features(self) -> Features | None:
        """How discrete columns are read."""
        return self._layout.features

    @property
    def root_(self) -> int:
        """The column that the others are conditioned on in turn."""
        return self._fitted().tree.root

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the distribution."""
        return self._fitted().n_parameters

    @property
    def column_names_(self) -> tuple[str, ...]:
        """The names of the columns; those of arrays are x0, x1 and so on."""
        self._fitted()
        return self._layout.names

    # Records

    def _read(self, X: Any) -> Records:
        self._fitted()
        return read_records(self, X, self._layout, unseen=self.unseen, n_jobs=self.n_jobs)

    @over_parts
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of each record's probability, or density if it has numbers.

        What is missing is summed or integrated over. That is a missing label only if `fit` has not
        seen it as a label of its own.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
        """
        return score_records(self._fitted(), self._layout, self._read(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of :meth:`score_samples`, by the records' weights if they have any.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
        y : ignored
        """
        parts = as_partitioned(X)
        if parts is None:
            total, weight = self._sum_scores(X)
        else:
            total, weight = parts.reduce(RecordScores(self), n_jobs=self.n_jobs)
        if not weight:
            raise InputError("X: all weights are zero")
        return total / weight

    def _sum_scores(self, X: Any) -> tuple[float, float]:
        """Return Σ w·log p of records, and Σ w."""
        model, records = self._fitted(), self._read(X)
        scores, weights = score_records(model, self._layout, records), records.weights
        if weights is None:
            return float(scores.sum()), float(len(scores))
        held = weights > 0
        return float((weights[held] * scores[held]).sum()), float(weights.sum())

    @over_parts
    def predict_proba(self, X: Any, column: str | int | None = None) -> NDArray[np.float64]:
        """Return the probabilities of a column's labels given each record's other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
            With all columns; what it says about this one is not looked at.
        column : str or int, optional
            A discrete column. Without it, all discrete columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records, n_labels)
            In the order of ``schema_[column].labels``; of all columns, one after another.
        """
        model = self._fitted()
        places = np.flatnonzero(~model.numeric).tolist()
        if column is not None:
            places = [self._layout.position(column)]
            if model.numeric[places[0]]:
                name = self._layout.names[places[0]]
                raise InputError(f"column: {name!r} holds numbers, which predict gives")
        records = self._read(X)
        width = int(model.arities[places].sum())
        check_fits(16 * records.n_records * width, "all probabilities", "give fewer records")
        found = [column_chances(model, self._layout, records, place) for place in places]
        return np.hstack(found) if found else np.zeros((records.n_records, 0))

    @over_parts
    def predict(self, X: Any, column: str | int | None = None) -> NDArray[Any]:
        """Return the most probable label, or the mean of a number, given the other values.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
            With all columns; what it says about this one is not looked at.
        column : str or int, optional
            Without it, all columns are predicted, each from the others.

        Returns
        -------
        ndarray of shape (n_records,), or (n_records, n_columns) of all columns
        """
        model = self._fitted()
        if column is not None:
            place = self._layout.position(column)
            return self._predict(self._read(X), place)
        records = self._read(X)
        found = [self._predict(records, place) for place in range(model.n_columns)]
        if len({own.dtype.kind for own in found}) == 1:
            return np.column_stack(found)
        result = np.empty((records.n_records, model.n_columns), object)
        for place, own in enumerate(found):
            result[:, place] = own
        return result

    def _predict(self, records: Records, place: int) -> NDArray[Any]:
        model = self._fitted()
        if model.numeric[place]:
            return column_moments(model, self._layout, records, place)[0]
        labels = self._layout.discrete(place).labels
        codes = column_chances(model, self._layout, records, place).argmax(axis=1)
        known: NDArray[Any] = np.array(labels.items)
        if known.dtype.kind not in "biufU" or len(known) < len(labels) or known.ndim > 1:
            known = np.empty(len(labels), object)
            known[:] = labels.items
        found: NDArray[Any] = known[codes]
        return found

    def marginals(self, given: Mapping[Any, Any] | None = None) -> dict[str, dict[Any, float]]:
        """Return the distribution of every column, given values of some.

        Parameters
        ----------
        given : mapping of columns to labels or numbers, optional

        Returns
        -------
        dict
            Of discrete columns ``{label: probability}``, of numbers ``{"mean": …, "sd": …}``.

        Examples
        --------
        >>> import tacit
        >>> tree = tacit.DependencyTree().fit({"rain": [True, False] * 50, "wet": [1, 0] * 50})
        >>> {label: round(p, 3) for label, p in tree.marginals({"rain": True})["wet"].items()}
        {0: 0.005, 1: 0.995}
        """
        model = self._fitted()
        found = marginal_chances(model, self._layout.known(given))
        told: dict[str, dict[Any, float]] = {}
        for place, name in enumerate(self._layout.names):
            if model.numeric[place]:
                told[name] = {"mean": found[place][0], "sd": found[place][1]}
            else:
                labels = self._layout.discrete(place).labels
                told[name] = dict(zip(labels, found[place].tolist(), strict=True))
        return told

    def sample(self, n: int = 1, *, random_state: Any = None) -> Any:
        """Draw records.

        Parameters
        ----------
        n : int, default 1
            How many.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        Table, ndarray or polars.DataFrame
            A Table if all columns are discrete, an array if all are numbers, else a frame.
        """
        model = self._fitted()
        size = check_int(n, "n", 1)
        return draw_records(model, self._layout, size, make_generator(random_state))

    # Showing and keeping

    def to_frame(self) -> pl.DataFrame:
        """Return the edges, the heaviest first: from, to, weight, low and high.

        Weights are mutual information in nats; low and high are what it is between if all records
        are read.
        """
        self._fitted()
        return edges_frame(self)

    def to_text(self) -> str:
        """Return the tree as indented text: each column below the one it is joined to."""
        self._fitted()
        return tree_text(self)

    def to_dot(self) -> str:
        """Return the tree in Graphviz' language."""
        self._fitted()
        return tree_dot(self)

    def to_networkx(self) -> Any:
        """Return the tree as a graph of networkx, with weights on its edges."""
        self._fitted()
        return tree_graph(self)

    def to_svg(self) -> str:
        """Return the tree as a picture: the text of an SVG file."""
        from tacit.network.trees.picture import tree_scene
        from tacit.plot import scene_svg

        self._fitted()
        return scene_svg(tree_scene(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree with Matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        from tacit.network.trees.picture import tree_scene
        from tacit.plot import draw_scene

        self._fitted()
        return draw_scene(tree_scene(self), ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file that :func:`tacit.load` reads; atomic.

        Parameters
        ----------
        path : path-like
        """
        self._fitted()
        write_dependency_tree(path, self)


def check_smoothing(smoothing: Any) -> float:
    """Return the number of pseudo-records, or say that it must be one."""
    if not is_number(smoothing) or not 0 <= smoothing < np.inf:
        raise InputError(f"smoothing must be a number of at least 0, got {smoothing!r}")
    return float(smoothing)
