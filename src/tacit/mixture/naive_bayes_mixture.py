"""The estimator of naive-Bayes mixtures."""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_fits, check_int, count_jobs
from tacit.mixture.cluster_model import ClusterModel
from tacit.mixture.em.choose_clusters import choose_clusters, show_progress
from tacit.mixture.em.iterations import (
    EMOptions,
    Parameters,
    Run,
    TableProblem,
    follow_best,
    in_double,
    run_em,
)
from tacit.mixture.em.partitioned import PartitionedProblem
from tacit.mixture.em.prior import check_choices, check_strength, make_prior
from tacit.mixture.em.scores import Scores, score_run
from tacit.mixture.em.starts import (
    check_enough,
    count_weighty,
    distinct_records,
    kinds_of_starts,
)
from tacit.mixture.partitions import SchemaAdapter, first_pass
from tacit.mixture.profile.profile import Profile
from tacit.mixture.sampling import draw_records
from tacit.mixture.state import mixture_of_state, state_of_mixture
from tacit.parameters import make_generator, store_parameters
from tacit.scale import as_partitioned
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs, weigh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit import store
    from tacit.counts import OneWay
    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Problem
    from tacit.mixture.em.prior import Prior
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["NaiveBayesMixture"]

_LOG = logging.getLogger("tacit")
_CRITERIA = ("cheeseman_stutz", "bic", "icl")


class NaiveBayesMixture(DensityMixin, ClusterModel):  # type: ignore[misc]
    r"""Cluster discrete records: a mixture of clusters in each of which columns are independent.

    Fitted by EM. A pass over the records costs O(stored values × clusters): a record starts from
    what is known of one with nothing but defaults, and each stored value corrects that.

    Records may be in partitions (:func:`tacit.scan`): each pass of EM is then one over partitions,
    shared by all starts, and one more each is for counts and seeds. The same `random_state` gives
    the mixture that it gives in memory, but for ``init="random"``, where other clusters are drawn
    (the same ones for any partitioning). ``n_clusters="auto"`` needs a Table.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        The number of clusters, or to be chosen by `criterion`.
    n_init : int, default 5
        How many starts to try. All are followed until a pass gains little (10⁻⁴ of the
        objective); the best of them goes on. For ``n_clusters="auto"``, how many to compare with
        the mixture that was chosen, once the number of clusters is known.
    init : {"both", "seeds", "random"}
        How to start: from distinct records, as k-means++ draws them, from random clusters, or
        from one and the other in turns.
    prior : "auto" or float, default "auto"
        How many records the prior of each column is worth in each cluster. "auto" finds the
        number under which the records are most probable (by the approximation of Cheeseman and
        Stutz), and takes all mixing weights to be equally likely. A number is that of each
        cluster among clusters, too; 0 asks for maximum likelihood, and probabilities are then kept
        above 10⁻⁶⁰.
    prior_mean : {"marginals", "uniform"}
        How the prior's records are spread over the values of a column: as in all records, or
        evenly.
    missing : {"state", "ignore"}
        What the label ``None`` means: a value like others, or ignored (missing at random).
    unseen : {"error", "default"}
        What happens to labels that were not there in fit: an error, or they are taken for the
        default.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    max_iter : int, default 500
        Passes over the records, at most, for each start. ``n_clusters="auto"`` tries many mixtures,
        and each step from one to the next may take as many.
    tol : float, default 1e-6
        EM ends when a pass raises the objective (log-likelihood and log prior) by less than this
        fraction of it.
    accelerate : bool, default True
        Use momentum; the objective never falls.
    precision : {"double", "single"}
        Arithmetic of the passes. "single" is faster; scores and the last pass are always double.
    max_clusters : int, optional
        For ``n_clusters="auto"``: 60, or twice the square root of the number of records if that
        is more.
        The log (`tacit`, level warning) says when it is reached.
    criterion : {"cheeseman_stutz", "bic", "icl"}
        For ``n_clusters="auto"``: the approximate marginal likelihood, or an information criterion.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    warm_start : bool, default False
        Let `fit` go on from the last fit, with a prior as strong as it was.
    random_state : int, RandomState or None
    n_jobs, verbose : int, optional
        Threads, on which the result does not depend; 1 shows progress on stderr.

    Attributes
    ----------
    n_clusters_ : int
    weights_ : ndarray of shape (n_clusters,)
        P(cluster). Clusters are in order of size, the largest first; batches of a stream leave
        them in the order of the first.
    expected_ : ExpectedCounts
        Of the records that were fitted.
    labels_ : ndarray of shape (n_records,)
        The most probable cluster of each record that was fitted; not for partitions, of which
        :meth:`predict` says it. What only records of the weight 0 hold counts as the default.
    log_likelihood_ : float
        Of the records that were fitted, in nats.
    trace_ : ndarray
        The objective, in nats, after each pass of the best start; it never falls. With
        ``prior="auto"`` these are the passes under the strength that was found. In a stream, an
        entry for each batch follows, of all counts so far: it may.
    n_iter_ : int
        How many passes that were; for ``n_clusters="auto"`` those of the last steps.
    converged_ : bool
    selection_ : polars.DataFrame or None
        For ``n_clusters="auto"``: the numbers of clusters that were tried, with the log-likelihood
        and all criteria. Of "cheeseman_stutz" higher is better, of "bic" and "icl" lower.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.
    schema_ : Schema
        Columns, labels and defaults.
    n_parameters_ : int
        The number of free parameters.
    prior_strength_ : float
        How many records the prior of a column is worth: `prior`, or what was found.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> mix = tacit.NaiveBayesMixture(4, random_state=0).fit(visits)
    >>> mix
    NaiveBayesMixture(n_clusters=4, random_state=0)
    >>> mix.predict_proba(visits).shape
    (20000, 4)
    >>> float(mix.weights_.sum().round(6))
    1.0
    """

    _kind: ClassVar[str] = "naive_bayes_mixture"
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse", "categorical", "string")

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        n_init: int = 5,
        init: Literal["both", "seeds", "random"] = "both",
        prior: float | Literal["auto"] = "auto",
        prior_mean: Literal["marginals", "uniform"] = "marginals",
        missing: Literal["state", "ignore"] = "state",
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
        accelerate: bool = True,
        precision: Literal["double", "single"] = "double",
        max_clusters: int | None = None,
        criterion: Literal["cheeseman_stutz", "bic", "icl"] = "cheeseman_stutz",
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    # Fitting

    def _fit(self, X: Any, sample_weight: Any) -> None:
        self._check_settings()
        continues = self.warm_start and hasattr(self, "expected_")
        if continues and self.n_clusters not in ("auto", self.n_clusters_):
            raise InputError(
                f"n_clusters={self.n_clusters!r}, but warm_start goes on with "
                f"{self.n_clusters_} clusters"
            )
        everything, spec, dropped = self._make_problem(X, sample_weight, continues=continues)
        problem = everything.weighty()
        if continues and problem.prior.adaptive:
            known = problem.prior.with_strength(problem.schema, self.prior_strength_)
            problem = problem.with_prior(known.fixed())
        rng = make_generator(self.random_state)
        selection: list[Scores] | None = None
        if continues:
            run = run_em(problem, self.expected_, **self._options()._asdict())
        elif self.n_clusters == "auto":
            assert isinstance(problem, TableProblem)
            with show_progress(self.criterion, bool(self.verbose)) as report:
                run, selection = choose_clusters(
                    problem,
                    max_clusters=self.max_clusters,
                    criterion=self.criterion,
                    rng=rng,
                    options=self._options(),
                    n_init=int(self.n_init),
                    init=self.init,
                    report=report,
                )
        else:
            run = self._best_start(problem, rng)
        self._keep(problem.after(run), spec, in_double(problem, run))
        self.selection_ = None if selection is None else pl.DataFrame(selection)
        self.__dict__.pop("labels_", None)  # those of an earlier fit
        if isinstance(everything, TableProblem):
            if dropped is not None:  # what only such records hold is not known
                everything = replace(everything, records=self._read(dropped, "default"))
            self.labels_ = self._label(everything)

    def _make_problem(
        self, X: Any, sample_weight: Any, *, continues: bool, prior: Prior | None = None
    ) -> tuple[Problem, InputSpec, Any]:
        """Return records with a prior, what is remembered, and all data if fit dropped records."""
        records = as_partitioned(X)
        if records is not None:
            return *self._make_partitioned_problem(records, continues=continues, prior=prior), None
        if continues:
            table, spec, everything = weigh(self._read(X), sample_weight), self._input, None
        else:
            inputs = Inputs.fit(copy(self), X, None, sample_weight, kinds=self.kinds, drop=True)
            table, everything = inputs.table(self.discretise, n_jobs=self.n_jobs), inputs.all_data
            spec = inputs.remembered
        if table.weights is not None and table.weights.sum() == 0:
            raise InputError("sample_weight: all weights are zero")
        if not continues and self.n_clusters != "auto":
            k = check_int(self.n_clusters, "n_clusters", 1)
            n_weighty = count_weighty(table.weights, table.n_records)
            check_enough(k, n_weighty, len(distinct_records(table, k)))
        prior = prior or self._make_prior(table.one_way())
        jobs, single = count_jobs(self.n_jobs), self.precision == "single"
        return TableProblem(table, prior, jobs, single), spec, everything

    def _make_partitioned_problem(
        self, records: PartitionedTable, *, continues: bool, prior: Prior | None
    ) -> tuple[PartitionedProblem, InputSpec]:
        """Take the first pass over partitions: counts, weights and distinct records."""
        if self.n_clusters == "auto" and not continues:
            raise InputError(
                'n_clusters: "auto" reads records again and again and needs all of them at '
                "once; choose the number on some of them, those of X.take(…)"
            )
        if not continues:
            records = records._of_kinds(self.kinds)
            records = records.cut(self.discretise) if self.discretise is not None else records
        spec = self._input if continues else InputSpec.of_schema(records.schema)
        adapter = SchemaAdapter.between(records, spec.schema, self.unseen)
        k = 0 if continues else check_int(self.n_clusters, "n_clusters", 1)
        if k > records.n_records:  # refused before anything is read
            check_enough(k, records.n_records, k)
        summary, singles = first_pass(records, adapter, k, self.n_jobs, self.verbose)
        check_enough(k, summary.n_positive, len(summary.distinct))
        prior = prior or self._make_prior(singles)
        single = self.precision == "single"
        problem = PartitionedProblem(
            records, prior, adapter, self.n_jobs, single, summary, self.verbose
        )
        return problem, spec

    def _make_prior(self, singles: OneWay) -> Prior:
        return make_prior(singles, check_strength(self.prior), self.prior_mean, self.missing)

    def _check_settings(self) -> None:
        check_strength(self.prior)
        check_choices(self.prior_mean, self.missing)
        check_int(self.max_iter, "max_iter", 1)
        check_int(self.n_init, "n_init", 1)
        tol: Any = self.tol
        if not isinstance(tol, Real) or not 0 <= float(tol) < np.inf:
            raise InputError(f"tol must be a finite number of at least 0, got {self.tol!r}")
        if self.precision not in ("double", "single"):
            raise InputError(f'precision must be "double" or "single", got {self.precision!r}')
        if self.criterion not in _CRITERIA:
            raise InputError(
                f"criterion must be one of {', '.join(_CRITERIA)}, got {self.criterion!r}"
            )
        if self.max_clusters is not None:
            check_int(self.max_clusters, "max_clusters", 1)
        if self.n_clusters == "auto" and self.criterion == "cheeseman_stutz" and self.prior == 0:
            raise InputError('criterion "cheeseman_stutz" needs a prior above 0')
        if self.unseen not in ("error", "default"):
            raise InputError(f'unseen must be "error" or "default", got {self.unseen!r}')
        kinds_of_starts(self.init, 1)

    def _options(self) -> EMOptions:
        return EMOptions(int(self.max_iter), float(self.tol), bool(self.accelerate))

    def _best_start(self, problem: Problem, rng: np.random.Generator) -> Run:
        n_init = int(self.n_init)
        starts = problem.starts(int(self.n_clusters), n_init, self.init, rng)
        return follow_best(problem, starts, n_init, self._options(), verbose=bool(self.verbose))

    def _keep(self, problem: Problem, spec: InputSpec, run: Run, *, by_size: bool = True) -> None:
        order = np.arange(run.expected.n_clusters)
        if by_size:
            order = np.argsort(-run.expected.totals, kind="stable")
        self._input = spec
        self._prior = problem.prior.fixed()
        self._parameters = Parameters(
            run.parameters.weights[order],
            np.ascontiguousarray(run.parameters.stored[:, order]),
            np.ascontiguousarray(run.parameters.defaults[:, order]),
            run.parameters.log_prior,
        )
        self.expected_ = run.expected.ordered(order)
        for array in (*self._parameters[:3], self.expected_.totals, self.expected_.stored):
            array.flags.writeable = False  # they are shown, and belong together
        self.trace_ = np.array(run.trace)
        self.n_iter_ = len(run.trace)
        self.converged_ = run.converged
        self._n_batches = 1
        spec.note(self)
        dead = np.count_nonzero(self.expected_.totals < 0.5 * problem.average_weight)
        if dead:
            _LOG.warning(
                "%d of %d clusters died: less than half a record belongs to each; ask for fewer",
                dead,
                self.n_clusters_,
            )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NaiveBayesMixture:
        """Learn from one batch of a stream: stepwise EM.

        The expected counts of a batch are mixed with those of all batches before it, with a weight
        that falls as (batches + 2)^-0.7. The first batch gives the columns and labels, and a first
        model; `n_clusters` must be a number.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        """
        self._check_settings()
        first = not hasattr(self, "expected_")
        if as_partitioned(X) is not None:
            checked = copy(self)
            checked.discretise = self.discretise if first else None  # bins are known later on
            checked._check_partitions(sample_weight)
        if first:
            check_int(self.n_clusters, "n_clusters", 1)
            problem, spec, _ = self._make_problem(X, sample_weight, continues=False)
            problem = problem.weighty()
            run = self._best_start(problem, make_generator(self.random_state))
            self._keep(problem.after(run), spec, in_double(problem, run))
            self.selection_ = None
            return self
        problem, *_ = self._make_problem(X, sample_weight, continues=True, prior=self._prior)
        batch = problem.expect(self._parameters)
        rate = float(self._n_batches + 2) ** -0.7
        weight = self.expected_.weight + batch.weight
        mixed = self.expected_.scaled((1 - rate) * weight / self.expected_.weight) + batch.scaled(
            rate * weight / batch.weight
        )
        run = Run(problem.maximise(mixed), mixed)
        run = replace(run, trace=[*self.trace_.tolist(), run.objective])
        n_batches = self._n_batches + 1
        self._keep(problem, self._input, run, by_size=False)
        self._n_batches = n_batches
        self.__dict__.pop("labels_", None)  # those of an earlier fit
        return self

    # Records under the mixture

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are."""
        return self.expected_.n_clusters

    @property
    def weights_(self) -> NDArray[np.float64]:
        """P(cluster)."""
        return self._parameters.weights

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        return self._input.schema

    @property
    def log_likelihood_(self) -> float:
        """The log-likelihood of the records that were fitted."""
        return self.expected_.log_likelihood

    def _read(self, X: Any, unseen: Any = None) -> Table:
        check_is_fitted(self, "expected_")
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return inputs.table(unseen=unseen or self.unseen, n_jobs=self.n_jobs)

    def _table_problem(self, X: Any) -> TableProblem:
        return TableProblem(self._read(X), self._prior, count_jobs(self.n_jobs))

    def _problem(self, X: Any) -> Problem:
        """Return records, wherever they are, beside the prior of the fit."""
        records = as_partitioned(X)
        if records is None:
            return self._table_problem(X)
        check_is_fitted(self, "expected_")
        adapter = SchemaAdapter.between(records, self.schema_, self.unseen)
        return PartitionedProblem(records, self._prior, adapter, self.n_jobs, verbose=self.verbose)

    def _label(self, problem: TableProblem) -> NDArray[np.int64]:
        """Return the most probable clusters, a chunk of records at a time."""
        n = problem.records.n_records
        labels = np.empty(n, np.int64)
        step = max(2**20 // self.n_clusters_, 1)
        for first in range(0, n, step):
            chosen = np.arange(first, min(first + step, n))
            chunk = TableProblem(problem.records, self._prior, problem.n_jobs, chosen=chosen)
            labels[chosen] = chunk.posterior(self._parameters)[0].argmax(axis=1)
        return labels

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable cluster of each record."""
        return self._label(self._table_problem(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(cluster | record), records × clusters."""
        problem = self._table_problem(X)
        n_bytes = 8 * problem.records.n_records * self.n_clusters_
        check_fits(n_bytes, "P(cluster | record)", "give fewer records at a time")
        return problem.posterior(self._parameters)[0]

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log P(record) of each record, in nats."""
        return self._table_problem(X).posterior(self._parameters, responsibilities=False)[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of log P(record) in nats, by the records' weights if they have any."""
        counts = self.expected_counts(X)
        if counts.weight == 0:
            raise InputError("X: all weights are zero")
        return counts.log_likelihood / counts.weight

    def expected_counts(self, X: Any) -> ExpectedCounts:
        """Return the expected counts of records; those of partitions add up."""
        return self._problem(X).expect(self._parameters)

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        return self._prior.n_parameters(self.schema_, self.n_clusters_)

    @property
    def prior_strength_(self) -> float:
        """How many records the prior of a column is worth."""
        return self._prior.strength(self.schema_)

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of records; lower is better."""
        counts = self.expected_counts(X)
        penalty = self.n_parameters_ * np.log(max(counts.weight, 1.0))
        return float(penalty - 2 * counts.log_likelihood)

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion of records; lower is better."""
        log_likelihood = self.expected_counts(X).log_likelihood
        return 2.0 * self.n_parameters_ - 2 * log_likelihood

    def icl(self, X: Any) -> float:
        """Return the integrated completed likelihood of records, as BIC is; lower is better."""
        return self._scores(X).icl

    def cheeseman_stutz(self, X: Any) -> float:
        """Return the approximate log marginal likelihood of records, in nats; higher is better."""
        marginal = self._scores(X).cheeseman_stutz
        if marginal is None:
            raise InputError("prior: without one there is no marginal likelihood")
        return marginal

    def _scores(self, X: Any) -> Scores:
        problem = self._problem(X)
        return score_run(problem, Run(self._parameters, problem.expect(self._parameters)))

    # Clusters

    def probabilities(self, column: str | int) -> NDArray[np.float64]:
        """Return P(label | cluster) of one column, labels × clusters.

        Parameters
        ----------
        column : str or int
        """
        check_is_fitted(self, "expected_")
        schema = self.schema_
        c = schema.position(column)
        ids = schema.values_of(c)
        table = np.empty((int(schema.arities[c]), self.n_clusters_))
        table[schema.codes_of(c)] = self._parameters.stored[ids.start : ids.stop]
        table[schema.defaults[c]] = self._parameters.defaults[c]
        table[self._prior.cells[schema.cells[c] : schema.cells[c + 1]] < 0] = 0
        return table

    def profile(self, *, level: float = 0.95) -> Profile:
        """Return the sizes of the clusters, and the values that set each apart.

        Parameters
        ----------
        level : float, default 0.95
            Of the credible intervals.
        """
        check_is_fitted(self, "expected_")
        cells = self._prior.cells
        if self.n_clusters_ == 1:  # all there is, and what the prior was made of: count it once
            strength = min(self.prior_strength_, 1.0)
            cells = self._prior.with_strength(self.schema_, strength).cells
        return Profile(
            self.schema_,
            self.expected_.totals,
            self.expected_.stored,
            np.maximum(cells, 0),
            ignored=np.flatnonzero(cells < 0),
            level=level,
        )

    def to_text(self, top: int = 5) -> str:
        """Return the clusters as text; see :meth:`Profile.to_text`.

        Parameters
        ----------
        top : int, default 5
            How many values to list that a cluster has more often, and less often.
        """
        return self.profile().to_text(top)

    def sample(self, n: int = 1, *, random_state: Any = None) -> Table:
        """Draw records.

        Parameters
        ----------
        n : int, default 1
        random_state : int, RandomState, Generator or None
        """
        return self.sample_clusters(n, random_state=random_state)[0]

    def sample_clusters(
        self, n: int = 1, *, random_state: Any = None
    ) -> tuple[Table, NDArray[np.int64]]:
        """Draw records, and say which cluster each was drawn from.

        Parameters
        ----------
        n : int, default 1
        random_state : int, RandomState, Generator or None

        Returns
        -------
        X : Table
        clusters : ndarray of shape (n,)
        """
        check_is_fitted(self, "expected_")
        n_records, rng = check_int(n, "n", 1), make_generator(random_state)
        return draw_records(self.schema_, self._parameters, self._prior, n_records, rng)

    def to_state(self) -> store.State:
        """Return the arrays of a file; labels of the records that were fitted are not kept."""
        return state_of_mixture(self)

    @classmethod
    def from_state(cls, state: store.State) -> NaiveBayesMixture:
        """Make the mixture of a file's arrays."""
        return mixture_of_state(cls, state)
