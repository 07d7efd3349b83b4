"""The estimator of mixtures of dependency trees."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from tacit.density.answers import (
    column_probabilities,
    draw_records,
    joint_of,
    likely_record,
    marginals_of,
)
from tacit.density.clusters import column_counts
from tacit.density.learn import Fit, Options
from tacit.density.observed import Observed, observe
from tacit.density.search import Choices, Search
from tacit.density.show import edge_frame, mixture_scene, mixture_text
from tacit.density.source import Source
from tacit.density.state import mixture_of_state, state_of_mixture
from tacit.errors import InputError
from tacit.machine import check_fits, check_int, count_jobs
from tacit.mixture.profile.profile import Profile
from tacit.network.density import DensityEstimator
from tacit.network.inference.records import without_missing
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.scale import as_partitioned
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit import store
    from tacit.density.clusters import Tree, TreeClusters
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.network.inference.distribution import Distribution
    from tacit.plot.scene import Scene
    from tacit.scale import PartitionedTable
    from tacit.schema import Column, Schema
    from tacit.table import Table

__all__ = ["TreeMixture"]

_JOINT_LABELS, _MOST_JOINT_LABELS = (1, 4, 8, 12), 1024
_MOST_SPLITS = 30


class TreeMixture(DensityEstimator):
    """Learn a mixture of dependency trees: a joint distribution of discrete columns.

    Each cluster of records has a tree: every column depends on the cluster and on one other
    column. Clusters say which records are alike, trees what goes together within them. Fitted by
    EM, of which a pass costs O((stored values + joined pairs of them) × clusters): a step for
    trees is one for independent columns, on records that hold their joined pairs, too.

    Parameters
    ----------
    n_clusters : int or "auto", default "auto"
        How many clusters; "auto" doubles them while that helps records held out or, without a
        `validation`, the approximate marginal likelihood.
    trees : {"shared", "separate"}
        Whether all clusters have the same tree, with probabilities of their own, or each has the
        tree of the records that belong to it. With a shared tree, a pass takes about as long as
        for clusters of independent columns, and there can be hundreds of them.
    n_estimators : int, default 1
        How many mixtures to average, each with a tree and clusters of its own: the trees of all
        but the first are found from a part of the records. The average is again a mixture of
        trees, and better on new records than any of its members, but has as many times the
        clusters.
    validation : float, data or None, default 0.1
        Records that are held out: a fraction of those given (at most 100,000), or data of their
        own. EM ends when they become no more probable, and they choose the number of clusters and
        the smoothing. ``None`` holds none out: EM then ends by `tol`.
    smoothing : float or "auto", default "auto"
        How many records the prior of a cluster's column is worth for each label of the column
        above it. These are spread as they are in all records. "auto" tries several; what is
        best for an average need not be that for one mixture.
    prune : bool, default True
        Leave out edges that say less than what BIC asks for their parameters and for having
        chosen them: trees may be forests.
    max_joint_labels : int or "auto", default "auto"
        Columns that say much of each other are taken together as one column of a tree, a block,
        while their labels have no more than so many combinations: several columns that are one
        hidden column of labels, say. 1 leaves all columns alone; "auto" tries that and others.
    splits : int or "auto", default "auto"
        How often clusters are divided in two on the way to `n_clusters`: EM starts with fewer,
        and the prior of a half is as the cluster was that it came from, not as all records are.
        "auto" tries several; without a `validation`, or with trees of their own, it is 0.
    inverse_temperature : float or "auto", default "auto"
        The power of P(cluster, record) by which EM divides records among clusters, at most 1. Below
        1 they are divided more evenly than the model says, and learnt by heart later. "auto"
        tries several; without a `validation` it is 1, which is EM.
    max_clusters : int, default 1024
        For ``n_clusters="auto"``.
    max_iter : int, default 200
        Passes over the records, at most, for each mixture that is tried.
    tol : float, default 1e-6
        EM ends when a pass raises the objective by less than this fraction of it.
    n_iter_no_change : int, default 3
        EM ends when so many passes have not made records held out more probable, or one has made
        them less so by more than three standard errors.
    missing : {"state", "ignore"}
        Whether missing labels are a label of their own in `fit`, or not known, and summed over.
    unseen : {"error", "default"}
        What to do with labels that were not there in fit.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    random_state : int, RandomState, Generator or None
        For records held out, starts, and samples.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default 0
        1 says on stderr what was tried.

    Attributes
    ----------
    n_clusters_ : int
        Clusters of all members.
    weights_ : ndarray of shape (n_clusters,)
        P(cluster).
    smoothing_ : float
    blocks_ : list of tuples of str
        Columns that are taken together, those of all trees; of one column mostly.
    edges_ : int64 array of shape (n_edges, 2)
        Positions in `blocks_` of what is joined in any tree, a < b. Where no columns are taken
        together, these are positions of columns.
    edge_weights_ : float64 array of shape (n_edges,)
        What joined columns say of each other within clusters, in nats a record: mutual information
        given the cluster, by the weights of the clusters whose tree has the edge.
    trace_ : ndarray
        Log-likelihood and logarithm of the prior, in nats, after each pass of the first member;
        with trees of their own, since they were found, with splits, since the last. With an inverse
        temperature q below 1, sums over clusters are of P(cluster, record)^q, to the power 1/q.
    n_iter_ : int
    converged_ : bool
    selection_ : polars.DataFrame
        What was tried: numbers of clusters, smoothing, labels of blocks, splits, inverse
        temperatures, passes, and the mean log-likelihood of records held out, or the approximate
        log marginal likelihood a record, in nats.
    schema_ : Schema
        Columns, labels and defaults.
    n_parameters_ : int
        Free parameters.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    See Also
    --------
    DependencyTree : one tree, exact, for numbers, too.
    NaiveBayesMixture : clusters within which columns are independent; easier to read.

    Notes
    -----
    Trees and starts are found from 50,000 records at most, probabilities from all. Trees that are
    shared are those of most information given the cluster, for ten clusters of a first mixture;
    of tables so wide that their pairs are counted sparsely, given nothing.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> mix = tacit.TreeMixture(8, random_state=0).fit(visits)
    >>> tree = tacit.DependencyTree().fit(visits)
    >>> mix.score(visits) > tree.score(visits)
    True
    >>> f"{mix.marginals({'sports': True})['scores'][True]:.0%}"
    '44%'
    """

    _kind = "tree_mixture"

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        trees: Literal["shared", "separate"] = "shared",
        n_estimators: int = 1,
        validation: Any = 0.1,
        smoothing: float | Literal["auto"] = "auto",
        prune: bool = True,
        max_joint_labels: int | Literal["auto"] = "auto",
        splits: int | Literal["auto"] = "auto",
        inverse_temperature: float | Literal["auto"] = "auto",
        max_clusters: int = 1024,
        max_iter: int = 200,
        tol: float = 1e-6,
        n_iter_no_change: int = 3,
        missing: Literal["state", "ignore"] = "state",
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
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
        """Find clusters and trees.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array, sparse array or path
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.
        """
        self._check()
        inputs = Inputs.fit(self, X, None, sample_weight, kinds=self.kinds, drop=True)
        table = inputs.table(self.discretise, n_jobs=self.n_jobs)
        if table.weights is not None and not table.weights.all():
            table = table.take(np.flatnonzero(table.weights))
        if table.n_records < 2:
            raise InputError(f"X: {table.n_records} sample is too few, 2 records are needed")
        return self._learn(table, inputs.remembered)

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> Self:
        """Learn from expected counts of partitions."""
        self._check()
        X = X._of_kinds(self.kinds)
        X = X.cut(self.discretise) if self.discretise is not None else X
        return self._learn(X, InputSpec.of_schema(X.schema))

    def _check(self) -> None:
        """Refuse wrong parameters."""
        if self.n_clusters != "auto":
            check_int(self.n_clusters, "n_clusters", 1)
        if self.max_joint_labels != "auto":
            check_int(self.max_joint_labels, "max_joint_labels", 1, _MOST_JOINT_LABELS)
        if self.smoothing != "auto":
            check_number(self.smoothing, "smoothing", 0)
        if self.inverse_temperature != "auto":
            check_number(self.inverse_temperature, "inverse_temperature", 0, 1, above=True)
        if self.splits != "auto":
            check_int(self.splits, "splits", 0, _MOST_SPLITS)
        check_choice(self.trees, "trees", ("shared", "separate"))
        check_choice(self.missing, "missing", ("state", "ignore"))
        check_choice(self.unseen, "unseen", ("error", "default"))
        check_flag(self.prune, "prune")
        for name in ("n_estimators", "max_clusters", "max_iter", "n_iter_no_change"):
            check_int(getattr(self, name), name, 1)
        check_number(self.tol, "tol", 0)
        if isinstance(self.validation, float | int):
            check_number(self.validation, "validation", 0, 1, above=True, below=True)
        for name, plain in (("splits", 0), ("inverse_temperature", 1)):
            if self.validation is None and getattr(self, name) not in ("auto", plain):
                raise InputError(f"{name}: needs records to choose by, but validation is None")
        if self.trees == "separate" and self.splits not in ("auto", 0):
            raise InputError('splits: clusters with trees="separate" are not divided')
        if isinstance(self.validation, str):
            raise InputError("validation must be a fraction, data or None, not a text")

    def _learn(self, records: Table | PartitionedTable, spec: InputSpec) -> Self:
        rng = make_generator(self.random_state)
        schema = spec.schema
        if self.missing == "ignore":
            schema = without_missing(schema, records)
        source = Source(records, schema, self.n_jobs, self.verbose)
        held_out = self._hold_out(source, spec, rng)
        options = Options(
            int(self.max_iter), float(self.tol), int(self.n_iter_no_change),
            None if self.smoothing == "auto" else float(self.smoothing), bool(self.prune),
            self.missing, count_jobs(self.n_jobs), self._report,
        )  # fmt: skip
        sample = source.sample(rng)
        choices = self._choices(sample.filled.n_records)
        search = Search(source, sample, held_out, options, choices, rng)
        best = search.run()
        _, members = search.average(best, int(self.n_estimators))
        self._keep(members, spec, schema)
        self.selection_ = search.frame(best)
        return self

    def _hold_out(
        self, source: Source, spec: InputSpec, rng: np.random.Generator
    ) -> Observed | None:
        """Return the records that choose, if there are any."""
        if self.validation is None:
            return None
        if isinstance(self.validation, float | int):
            return source.hold_out(float(self.validation), rng)
        if as_partitioned(self.validation) is not None:
            raise InputError("validation must be in memory; give the Table of X.take(…)")
        inputs = Inputs.read(self, self.validation, spec, absent=self.absent)
        held_out = observe(inputs.ranked(), source.schema, self.unseen)
        if held_out.weights is not None and not held_out.weights.any():
            raise InputError("validation: the weights of all records are 0")
        return held_out

    def _choices(self, n_records: int) -> Choices:
        """Return what there is to choose from."""
        numbers = [2**k for k in range(32) if 2**k <= min(self.max_clusters, n_records)]
        if self.n_clusters != "auto":
            numbers = [int(self.n_clusters)]
            if numbers[0] > n_records:
                raise InputError(
                    f"n_clusters={numbers[0]}, but there are only n_samples={n_records} records "
                    "to learn from"
                )
        labels: tuple[int, ...] = _JOINT_LABELS
        if self.max_joint_labels != "auto":
            labels = (int(self.max_joint_labels),)
        return Choices(
            numbers,
            None if self.smoothing == "auto" else float(self.smoothing),
            labels,
            "auto" if self.splits == "auto" else int(self.splits),
            self.inverse_temperature,
            self.trees,
        )

    def _report(self, line: str) -> None:
        if self.verbose:
            print(line, file=sys.stderr)

    def _keep(self, members: list[Fit], spec: InputSpec, schema: Schema) -> None:
        """Note what was learnt, the largest clusters of each tree first."""
        groups, counts, trees = [], [], []
        for member in members:
            parts = zip(member.trees, member.groups, member.expected, strict=True)
            for tree, group, expected in parts:
                order = np.argsort(-group.weights, kind="stable")
                groups.append(group.ordered(order, 1 / len(members)))
                counts.append(expected.ordered(order).scaled(1 / len(members)))
                trees.append(tree._replace(prior=tree.prior._replace(of_clusters=None)))
        self._input, self._schema = spec, schema
        self._groups, self._trees, self._expected = groups, trees, counts
        first = members[0]
        self.smoothing_ = float(first.trees[0].prior.strength)
        self.trace_ = np.array(first.trace)
        self.n_iter_, self.converged_ = len(first.trace), first.converged
        spec.note(self)

    # What was learnt

    _groups: list[TreeClusters]
    _trees: list[Tree]
    _expected: list[ExpectedCounts]
    selection_: pl.DataFrame

    def _fitted(self) -> list[TreeClusters]:
        check_is_fitted(self, "_groups")
        return self._groups

    @property
    def schema_(self) -> Schema:
        """The columns, their labels and defaults."""
        self._fitted()
        return self._schema

    @property
    def column_names_(self) -> tuple[str, ...]:
        """The names of the columns; those of arrays are x0, x1 and so on."""
        return self.schema_.names

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are in all."""
        return sum(group.n_clusters for group in self._fitted())

    @property
    def weights_(self) -> NDArray[np.float64]:
        """P(cluster)."""
        return np.concatenate([group.weights for group in self._fitted()])

    @property
    def n_parameters_(self) -> int:
        """Free parameters."""
        tables = sum(g.n_clusters * g.layout.n_parameters for g in self._fitted())
        return self.n_clusters_ - 1 + tables

    @property
    def edges_(self) -> NDArray[np.int64]:
        """Positions in `blocks_` of what is joined in any tree."""
        return edge_frame(self).edges

    @property
    def blocks_(self) -> list[tuple[str, ...]]:
        """Columns that are taken together, those of all trees."""
        names = self.column_names_
        return [tuple(names[c] for c in block) for block in edge_frame(self).blocks]

    @property
    def edge_weights_(self) -> NDArray[np.float64]:
        """What joined columns say of each other within clusters, in nats a record."""
        return edge_frame(self).weights

    # Records

    def _read(self, X: Any) -> Observed:
        schema = self.schema_
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return observe(inputs.ranked(), schema, self.unseen)

    def _score_records(self, records: Observed) -> NDArray[np.float64]:
        return records.log_scores(self._fitted(), None, count_jobs(self.n_jobs))

    def _column_probabilities(self, records: Observed, position: int) -> NDArray[np.float64]:
        return column_probabilities(self._fitted(), records, position, count_jobs(self.n_jobs))

    def _position(self, column: Any) -> int:
        return self.schema_.position(column)

    def _discrete(self, position: int) -> Column:
        return self.schema_.column(position)

    def predict_clusters(self, X: Any) -> NDArray[np.float64]:
        """Return P(cluster | record), records × clusters.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array
        """
        records = self._read(X)
        n_bytes = 16 * records.n_records * self.n_clusters_
        check_fits(n_bytes, "P(cluster | record)", "give fewer records at a time")
        return records.posterior(self._fitted(), count_jobs(self.n_jobs))

    # Questions

    def query(self, columns: Any, given: Mapping[Any, Any] | None = None) -> Distribution:
        """Return the joint distribution of some columns, given the values of others; exact.

        Parameters
        ----------
        columns : str, int, or a sequence of them
        given : mapping, optional
            ``{column: label, …}``
        """
        return joint_of(self._fitted(), columns, given)

    def marginals(self, given: Mapping[Any, Any] | None = None) -> dict[str, Distribution]:
        """Return the distribution of each column that is not given, all at once; exact.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}``
        """
        return marginals_of(self._fitted(), given)

    def most_probable(self, given: Mapping[Any, Any] | None = None) -> tuple[dict[str, Any], float]:
        """Return a most probable record, and the logarithm of its probability in nats.

        The most probable records of each cluster are found exactly, and that which is most probable
        under the mixture is then changed, a column at a time, while that makes it more probable.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}`` that the record has to have. Its probability is that of the
            record with them, not divided by that of what is given.
        """
        return likely_record(self._fitted(), given)

    def sample(
        self, n: int = 1, *, given: Mapping[Any, Any] | None = None, random_state: Any = None
    ) -> Table:
        """Draw records, all of them independent of each other.

        Parameters
        ----------
        n : int, default 1
        given : mapping, optional
            ``{column: label, …}`` that all records are to have. None is drawn in vain.
        random_state : int, RandomState, Generator or None
        """
        size = check_int(n, "n", 1)
        return draw_records(self._fitted(), size, given, make_generator(random_state))

    # Showing and keeping

    def profile(self, *, level: float = 0.95) -> Profile:
        """Return the sizes of the clusters, and the values that set each apart.

        Parameters
        ----------
        level : float, default 0.95
            Of the credible intervals.
        """
        schema = self.schema_
        parts = zip(self._fitted(), self._expected, strict=True)
        values = [column_counts(group.layout, counts) for group, counts in parts]
        totals = np.concatenate([counts.totals for counts in self._expected])
        singles = np.concatenate(values, axis=1)
        fractions = self.smoothing_ * _fractions(schema, totals, singles)
        return Profile(schema, totals, np.ascontiguousarray(singles), fractions, level=level)

    def to_frame(self) -> pl.DataFrame:
        """Return the edges, the heaviest first: from, to, weight and clusters.

        Weights are mutual information given the cluster, in nats a record, by the weights of the
        clusters whose tree has the edge; "clusters" is how much these weigh.
        """
        _, edges, weights, held, names = edge_frame(self)
        order = np.argsort(-weights, kind="stable")
        return pl.DataFrame(
            {
                "from": pl.Series([names[a] for a in edges[order, 0].tolist()], dtype=pl.String),
                "to": pl.Series([names[b] for b in edges[order, 1].tolist()], dtype=pl.String),
                "weight": weights[order],
                "clusters": held[order],
            }
        )

    def to_text(self, top: int | None = None) -> str:
        """Return how many clusters and trees there are, and what their columns say of each other.

        Parameters
        ----------
        top : int, optional
            How many edges to show; all by default.
        """
        self._fitted()
        return mixture_text(self, top)

    def _scene(self) -> Scene:
        return mixture_scene(self)

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds."""
        return state_of_mixture(self)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a mixture of a file's arrays, after checking that they go together."""
        return mixture_of_state(cls, state)


def _fractions(
    schema: Schema, totals: NDArray[np.float64], singles: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the fraction of each label among all records, column after column."""
    from tacit.mixture.em.expected import ExpectedCounts

    whole = ExpectedCounts(totals.sum(keepdims=True), singles.sum(axis=1)[:, None], 0.0, 1.0)
    fractions: NDArray[np.float64] = whole.cells(schema)[:, 0] + 1e-9
    fractions /= np.repeat(np.add.reduceat(fractions, schema.cells[:-1]), schema.arities)
    return fractions
