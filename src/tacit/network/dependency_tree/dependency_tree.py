"""The estimator of dependency trees: which columns hang together, as one tree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit import store
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.network.density import DensityEstimator
from tacit.network.dependency_tree.answers import (
    column_moments,
    column_probabilities,
    marginals_given,
    score_records,
)
from tacit.network.dependency_tree.input import (
    Records,
    fit_columns,
    label_layout,
    partition_columns,
    read_records,
)
from tacit.network.dependency_tree.parameters import LazyDensity, TreeDensity
from tacit.network.dependency_tree.sampling import draw_records
from tacit.network.dependency_tree.state import read_structure, tree_to_state
from tacit.network.dependency_tree.text import edges_frame, tree_dot, tree_graph, tree_text
from tacit.network.inference.distribution import Distribution
from tacit.network.structure.bits import binary_structure, is_bytes
from tacit.network.structure.learn import Settings, Structure, learn
from tacit.parameters import (
    check_choice,
    check_number,
    earlier_parameters,
    make_generator,
    rename_parameters,
    store_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.layout import Layout
    from tacit.network.inference.net import Net
    from tacit.network.structure.columns import Columns
    from tacit.plot.scene import Scene
    from tacit.scale import PartitionedTable
    from tacit.schema import Column, Schema
    from tacit.table.input_spec import InputSpec

__all__ = ["DependencyTree"]

_EARLIER = {"method": "algorithm", "share": "guarantee"}  # parameters of version 0.1
_PRODUCTS = 2e10  # of numbers, from which on "auto" does not read everything


class DependencyTree(DensityEstimator):
    """Learn the tree that joins the columns which tell most of each other.

    Of all trees over the columns it is the one under which the records are most probable (Chow and
    Liu): the maximum spanning tree of mutual information. The tree is a joint distribution: it
    says how probable records are, what their missing values may be, and draws new ones.

    Parameters
    ----------
    algorithm : {"auto", "exact", "mist"}
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
    guarantee : {"tree", "decision"}
        Whether `delta` is for the tree, or for each decision, as in the paper ("mist").
    tree_edges : {"interval", "exact"}
        Whether edges in the tree have intervals, too, or are read in full, as in the paper
        ("mist").
    missing : {"state", "ignore"}
        Whether missing labels are a label of their own in `fit`, or left out pair by pair. Missing
        numbers can only be left out.
    smoothing : float, default 1.0
        Pseudo-records that are spread evenly over the cells of each pair of discrete columns; of a
        label and a number, over the labels, with the distribution of all numbers.
    discretise : spec or mapping, optional
        How numeric columns are cut into bins, as for :class:`tacit.Table`. Without it, real
        numbers, and what `kinds` call numeric, have normal distributions; whole numbers are cut as
        by "auto", and so are all numbers of sparse arrays and of tables in partitions.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    random_state : int, RandomState, Generator or None
        For the order in which records are read ("mist").
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 says on stderr how many records were read for how many pairs, round by round.

    Attributes
    ----------
    edges_ : int64 array of shape (n_columns - 1, 2)
        Positions of the columns that are joined, a < b.
    weights_ : float64 array of shape (n_columns - 1,)
        Mutual information of the joined columns in nats; infinite for numbers that determine each
        other.
    intervals_ : float64 array of shape (n_columns - 1, 2)
        What it is between if all records are read.
    edge_usage_ : float
        Fraction of (record, pair of columns) that was read.
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

    _opens_files = True
    _kind = "dependency_tree"

    def __init__(
        self,
        algorithm: Literal["auto", "exact", "mist"] = "auto",
        *,
        delta: float = 1e-3,
        epsilon: float = 0.0,
        initial_sample: int = 5000,
        interval: Literal["clt", "hoeffding"] = "clt",
        guarantee: Literal["tree", "decision"] = "tree",
        tree_edges: Literal["interval", "exact"] = "interval",
        missing: Literal["state", "ignore"] = "state",
        smoothing: float = 1.0,
        discretise: Any = None,
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the tree and its parameters.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
            A path is that of any file that :func:`tacit.read` reads. Of Parquet and Arrow files
            with nothing but numbers, only as much is read as the algorithm needs. A table in
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
        self._check()
        fitted = self._fit_bits(X, sample_weight)
        if fitted is None:
            columns, layout = fit_columns(
                self, X, kinds=self.kinds, discretise=self.discretise, missing=self.missing,
                sample_weight=sample_weight, n_jobs=self.n_jobs,
            )  # fmt: skip
            fitted = layout, self._find(columns)
        return self._keep(*fitted)

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> Self:
        """Learn from counts of partitions."""
        self._check()
        X = X._of_kinds(self.kinds).cut("auto" if self.discretise is None else self.discretise)
        columns, layout = partition_columns(X, self.missing)
        return self._keep(layout, self._find(columns))

    def _check(self) -> None:
        """Refuse wrong parameters."""
        check_number(self.smoothing, "smoothing", 0)
        check_choice(self.unseen, "unseen", ("error", "default"))
        self._settings("exact" if self.algorithm == "auto" else self.algorithm).check()

    def _fit_bits(self, X: Any, sample_weight: Any) -> tuple[Layout, Structure] | None:
        """Fit a matrix of 0 and 1 without making a table of it, where that is possible."""
        plain = sample_weight is None and self.discretise is None and self.algorithm != "mist"
        if not plain or self.kinds or not is_bytes(X):
            return None
        binary = binary_structure(X, self.n_jobs)
        return None if binary is None else (label_layout(binary[0]), binary[1])

    def _find(self, columns: Columns) -> Structure:
        """Find the tree, and say what was read."""
        structure = learn(columns, self._settings(self._choose_algorithm(columns)))
        if self.verbose:
            for done in structure.rounds:
                line = f"{done['records']:,} records read for {done['alive']:,} pairs of columns"
                print(line, file=sys.stderr)
        return structure

    def _settings(self, algorithm: Any) -> Settings:
        return Settings(
            algorithm=algorithm, delta=self.delta, epsilon=self.epsilon,
            initial_sample=self.initial_sample, interval=self.interval, guarantee=self.guarantee,
            tree_edges=self.tree_edges, missing=self.missing, random_state=self.random_state,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _choose_algorithm(self, columns: Columns) -> str:
        if self.algorithm != "auto":
            return str(self.algorithm)
        on_disk = columns.numbers is not None and not isinstance(columns.numbers, np.ndarray)
        many = columns.n_records * len(columns.continuous) ** 2 > _PRODUCTS
        plain = self.missing == "state" and columns.weights is None
        return "mist" if plain and (on_disk or many) else "exact"

    def _keep(self, layout: Layout, structure: Structure) -> Self:
        """Note what was learnt; parameters are made when somebody asks for them."""
        self._layout = layout
        self._smoothing = check_number(self.smoothing, "smoothing", 0)
        self._density = LazyDensity(layout, structure, self._smoothing)
        self.structure_ = structure
        self.edges_ = structure.edges
        self.weights_ = structure.weights
        self.intervals_ = np.column_stack([structure.lower, structure.upper])
        self.edge_usage_ = structure.edge_usage
        self.n_read_ = structure.n_read
        layout.note(self)
        return self

    def _fitted(self) -> TreeDensity:
        check_is_fitted(self, "edges_")
        return self._density.get()

    @property
    def schema_(self) -> Schema | None:
        """The discrete columns, their labels and defaults."""
        self._fitted()
        return self._layout.schema

    @property
    def _input(self) -> InputSpec:
        return self._layout.spec

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
        return read_records(
            self, X, self._layout, unseen=self.unseen, absent=self.absent, n_jobs=self.n_jobs
        )

    def _score_records(self, records: Records) -> NDArray[np.float64]:
        return score_records(self._fitted(), self._layout, records)

    def _column_probabilities(self, records: Records, position: int) -> NDArray[np.float64]:
        return column_probabilities(self._fitted(), self._layout, records, position)

    def _predict_column(self, records: Records, position: int) -> NDArray[Any]:
        if self._layout.numeric[position]:
            return column_moments(self._fitted(), self._layout, records, position)[0]
        return super()._predict_column(records, position)

    def _position(self, column: Any) -> int:
        return self._layout.position(column)

    def _discrete(self, position: int) -> Column | None:
        return None if self._layout.numeric[position] else self._layout.discrete(position)

    def _as_net(self) -> Net:
        self._fitted()
        if self._layout.numeric.any():
            name = self._layout.names[int(np.argmax(self._layout.numeric))]
            raise InputError(
                f"column {name!r} holds numbers, and this is answered by trees of discrete columns "
                "only; cut numbers with discretise"
            )
        return self._density.net()

    def marginals(self, given: Mapping[Any, Any] | None = None) -> dict[str, Any]:
        """Return the distribution of each column that is not given.

        Parameters
        ----------
        given : mapping of columns to labels or numbers, optional

        Returns
        -------
        dict
            Of discrete columns a :class:`~tacit.network.Distribution`, of numbers
            ``{"mean": …, "sd": …}``.

        Examples
        --------
        >>> import tacit
        >>> tree = tacit.DependencyTree().fit({"rain": [True, False] * 50, "wet": [1, 0] * 50})
        >>> tree.marginals({"rain": True})["wet"]
        wet  probability
        0         0.0050
        1         0.9950
        """
        model, layout = self._fitted(), self._layout
        known = layout.known(given)
        values, log_evidence = marginals_given(model, known)
        shown = {layout.names[c]: layout.value(c, value) for c, value in known.items()}
        answers: dict[str, Any] = {}
        for position, name in enumerate(layout.names):
            if position in known:
                continue
            if model.numeric[position]:
                answers[name] = dict(zip(("mean", "sd"), values[position], strict=True))
            else:
                column = layout.discrete(position)
                answers[name] = Distribution((column,), values[position], log_evidence, shown)
        return answers

    def sample(
        self, n: int = 1, *, given: Mapping[Any, Any] | None = None, random_state: Any = None
    ) -> Any:
        """Draw records, all of them independent of each other.

        Parameters
        ----------
        n : int, default 1
        given : mapping, optional
            ``{column: label, …}`` that all records are to have, if all columns are discrete.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        Table or polars.DataFrame
            A frame if there are columns of numbers.
        """
        if given:
            return super().sample(n, given=given, random_state=random_state)
        size = check_int(n, "n", 1)
        return draw_records(self._fitted(), self._layout, size, make_generator(random_state))

    # Showing and keeping

    def to_frame(self) -> pl.DataFrame:
        """Return the edges, the heaviest first: from, to, weight, low and high.

        Weights are mutual information in nats; low and high are what it is between if all records
        are read.
        """
        self._fitted()
        return edges_frame(self)

    def to_text(self, top: int | None = None) -> str:
        """Return the tree as indented text: each column below the one it is joined to.

        Parameters
        ----------
        top : int, optional
            How many columns to show; all by default.
        """
        self._fitted()
        return tree_text(self, top)

    def to_dot(self) -> str:
        """Return the tree in Graphviz' language."""
        self._fitted()
        return tree_dot(self)

    def to_networkx(self) -> Any:
        """Return the tree as a graph of networkx, with weights on its edges."""
        self._fitted()
        return tree_graph(self)

    def _scene(self) -> Scene:
        from tacit.network.dependency_tree.picture import tree_scene

        return tree_scene(self)

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds."""
        return tree_to_state(self)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a tree of a file's arrays, after checking that they go together."""
        facts = store.read_json(state["settings"])
        tree = cls(**rename_parameters(earlier_parameters(facts["parameters"]), _EARLIER))
        tree._check()
        tree._keep(*read_structure(state, facts))._fitted()
        return tree
