"""The selector: the best n columns of all, by exhaustive search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.listing import Listed, Listing
from tacit.machine import check_int, count_jobs
from tacit.parameters import store_parameters
from tacit.progress import show_progress
from tacit.scale import PartitionedTable
from tacit.select.criteria import choose_criterion
from tacit.select.measure import Measurer
from tacit.select.problem import make_problem
from tacit.select.ranking import Ranking
from tacit.select.search import Search
from tacit.select.state import best_subset_of_state, state_of_best_subset
from tacit.table import Table
from tacit.table.containers import collect, is_frame
from tacit.table.inputs import Inputs
from tacit.table.new_data import known_columns
from tacit.table.targets import require_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit import store
    from tacit.counts import Counter
    from tacit.select.problem import Problem

__all__ = ["BestSubset", "Subset"]


class Subset(NamedTuple):
    """One of the best sets of columns.

    Attributes
    ----------
    columns : tuple of str
    score : float
        What the criterion is for them, in nats.
    gain : float
        The information that the columns have about the target, in nats.
    n_combinations : int
        Combinations of their labels that occur, with those of given columns.
    """

    columns: tuple[str, ...]
    score: float
    gain: float
    n_combinations: int


class BestSubset(Listed, SelectorMixin, Estimator):  # type: ignore[misc]
    r"""Choose the n columns that together say most about a target.

    All sets of n columns are compared, so that columns that say much together and little alone are
    chosen. Sets that provably cannot be among the best are not counted; the result is the same.

    Parameters
    ----------
    n_features : int, default 3
        How many columns to choose.
    criterion : {"information_gain", "corrected", "penalized"}
        What to maximise, in nats. For a set S, the target Y, N records (or the sum of their
        weights) and K combinations of labels that occur:

        - "information_gain": the mutual information I(Y; S) = H(Y) − H(Y | S). It never falls when
          a column is added, and favours columns with many labels;
        - "corrected": less what chance alone is expected to add, after Miller and Madow:
          I(Y; S) − (K(YS) − K(S) − K(Y) + 1) / (2 N);
        - "penalized": less half of ln(N) for each parameter, divided by the number of records, as
          BIC has it: I(Y; S) − (K(S) − 1) (K(Y) − 1) ln(N) / (2 N).

    given : sequence of str or int, optional
        Columns whose labels are known anyway. They are not chosen, and what counts is what a set
        says beyond them: I(Y; S | given), corrected or penalized likewise.
    n_best : int, default 20
        How many of the best sets to remember.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    counter : Counter or callable, optional
        Who counts: a counter of the very Table that is fitted, or something that makes a counter of
        a Table.
    n_jobs, verbose : int, optional
        Threads, on which the result does not depend; and 1 to show progress on stderr.

    Attributes
    ----------
    subset_ : tuple of str
        The chosen columns, in the order of the table. Where several sets score the same (to 12
        decimals), it is the one whose columns come first.
    score_ : float
        Its score, in nats.
    ranking_ : list of Subset
        The `n_best` best sets, the best first: columns, score, gain and n_combinations.
    n_subsets_ : int
        How many sets there are.
    n_scored_ : int
        How many of them had to be counted.
    target_ : str
        The name of the target.
    n_features_in_, feature_names_in_ : int, ndarray of str (for Tables and frames)

    Examples
    --------
    >>> import tacit
    >>> table = tacit.datasets.make_synth(2000)
    >>> best = tacit.BestSubset(4).fit(table, "square 6")
    >>> best.subset_
    ('triangle 0', 'triangle 1', 'triangle 2', 'triangle 3')
    >>> round(best.score_, 2)  # of at most ln 2
    0.68
    >>> best.transform(table)
    Table of 2,000 records × 4 columns, 1,6... stored values (m·n/l = ...)
    """

    _kind = "best_subset"
    _input_tags = ("categorical", "sparse", "string")
    _target_tags = ("required",)
    _per_record: ClassVar[tuple[str, ...]] = ()  # transform selects columns, wherever records are

    def __init__(
        self,
        n_features: int = 3,
        criterion: Literal["information_gain", "corrected", "penalized"] = "information_gain",
        *,
        given: Sequence[str | int] | None = None,
        n_best: int = 20,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        counter: Counter | Callable[[Table], Counter] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BestSubset:
        """Search, and return itself.

        Parameters
        ----------
        X : Table, frame, array or sparse array
        y : array-like of shape (n_records,) or str
            The target: integers, strings or booleans, or the name of a column of a Table or frame.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.
        """
        criterion = choose_criterion(self.criterion)
        n_best = check_int(self.n_best, "n_best", 1)
        jobs = count_jobs(self.n_jobs)
        require_target(self, y)
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds)
        problem = make_problem(inputs, self.discretise, self.n_jobs)
        given, candidates = self._roles(problem)
        n = check_int(self.n_features, "n_features", 1)
        if n > len(candidates):
            raise InputError(
                f"n_features={n}, but there are only {len(candidates)} columns to choose from"
            )
        measurer = Measurer(self._counter(problem, y), problem.target, given, jobs)
        base = measurer.baseline()
        if base.total == 0:
            raise InputError("sample_weight: all weights are zero")
        if base.n_classes < 2:
            raise InputError("y has one class only; there is nothing to tell apart")
        ranking = Ranking(n_best)
        total = math.comb(len(candidates), n)
        with show_progress("sets of columns", total, bool(self.verbose)) as report:
            search = Search(measurer, criterion, candidates, n, ranking, report=report)
            search.run(base)
        self._keep(problem, ranking, search)
        return self

    def to_frame(self, top: int = 20) -> pl.DataFrame:
        """Return the best sets as a Polars frame.

        The columns are columns (a list of names), score_nats, gain_nats and combinations (of labels
        that occur).

        Parameters
        ----------
        top : int, default 20
            How many; at most `n_best` are remembered.
        """
        best = self._best(top)
        return pl.DataFrame(
            {
                "columns": [list(subset.columns) for subset in best],
                "score_nats": [subset.score for subset in best],
                "gain_nats": [subset.gain for subset in best],
                "combinations": [subset.n_combinations for subset in best],
            }
        )

    def to_text(self, top: int = 20) -> str:
        """Return the best sets as text, one a line, with their scores in nats.

        Parameters
        ----------
        top : int, default 20
            As for :meth:`to_frame`.
        """
        lines = [f"  {', '.join(best.columns)}: {best.score:.4f}" for best in self._best(top)]
        return "\n".join([f"{self.target_} by {self.criterion}, in nats", *lines])

    def _best(self, top: int) -> list[Subset]:
        check_is_fitted(self)
        return self.ranking_[: check_int(top, "top", 1)]

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        rows, bars = [], []
        for best in self.ranking_[:top]:
            columns, score = ", ".join(best.columns), f"{best.score:.4f}"
            rows.append((columns, score, f"{best.gain:.4f}", f"{best.n_combinations:,}"))
            bars.append((columns, best.score, score))
        title = f"{self.criterion} about {self.target_}"
        head = ("columns", "score (nats)", "gain (nats)", "combinations")
        return Listing(title, head, rows, bars, f"{title} (nats)")

    def _html_of_fit(self) -> str:
        return self.to_html(20)

    def transform(self, X: Any) -> Any:
        """Return the chosen columns.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            The target may be among the columns of a Table or frame; it is passed over.
            Numbers of Tables are cut where those of `fit` were.

        Returns
        -------
        Table, PartitionedTable, ndarray, sparse array or frame
            A Table of a Table, or if a Table was fitted; else an array, or what ``set_output``
            asks for.
        """
        check_is_fitted(self)
        if isinstance(X, Table) and self._input.origin == "array":  # which knows no names
            X = known_columns(X, self._input, "BestSubset", fill=False)
        if isinstance(X, Table | PartitionedTable):
            return self._cut(X.select(list(self.subset_)))
        if self._input.origin == "table":
            table = Inputs.read(self, X, self._input, target_name=self.target_).ranked()
            return self._cut(table.select(list(self.subset_)))
        return self._frame_transform(X) if is_frame(X) else super().transform(X)

    def _cut(self, table: Any) -> Any:
        """Cut numbers where those of fit were cut."""
        edges = {}
        for column in self._input.schema.select([self._names.index(x) for x in self.subset_]):
            if column.edges is not None and table.schema[column.name].labels.is_numeric:
                edges[column.name] = column.edges
        return table.cut(edges) if edges else table

    def _frame_transform(self, X: Any) -> Any:
        """Return the chosen columns of a frame, also where values are missing."""
        frame = nw.from_native(collect(X, "X"), eager_only=True)
        if self.target_ in frame.columns and self.target_ not in self._names:
            frame = frame.drop(self.target_)
        if not frame.implementation.is_pandas():  # scikit-learn knows no others
            frame = nw.from_native(frame.to_polars(), eager_only=True)
        validate_data(self, frame.to_native(), reset=False, skip_check_array=True)
        chosen = frame[:, self.get_support(indices=True).tolist()]
        plain = _get_output_config("transform", estimator=self)["dense"] == "default"
        return chosen.to_numpy() if plain else chosen.to_native()

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds.

        A `counter` is not kept, nor is `discretise` if it is a rule: columns are cut where those of
        `fit` were.
        """
        return state_of_best_subset(self)

    @classmethod
    def from_state(cls, state: store.State) -> BestSubset:
        """Make the selector that :meth:`to_state` described.

        Parameters
        ----------
        state : mapping of str to ndarray
        """
        return best_subset_of_state(cls, state)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        chosen = set(self.subset_)
        return np.array([name in chosen for name in self._names])

    # Steps of fit

    def _roles(self, problem: Problem) -> tuple[list[int], list[int]]:
        """Return the indices of the given columns, and of those to choose from."""
        if isinstance(self.given, str):
            raise InputError(f"given must be a list of columns, got {self.given!r}")
        schema = problem.table.schema
        given = [schema.position(column, "given") for column in self.given or ()]
        if problem.target in given:
            raise InputError("given: the target cannot be given")
        if len(set(given)) < len(given):
            raise InputError("given: a column is there twice")
        return given, [k for k in problem.features if k not in given]

    def _counter(self, problem: Problem, y: Any) -> Counter | Table:
        counter: Any = self.counter
        if counter is None:
            return problem.table
        if not hasattr(counter, "tables") or isinstance(counter, type):
            if not callable(counter):
                raise InputError("counter must be a counter, or make one of a Table")
            counter = counter(problem.table)
        elif not isinstance(y, str):
            raise InputError("counter: it has to count the target too; give y as a column's name")
        elif not _counts(counter, problem.table):
            raise InputError("counter: it counts another table than X")
        if not getattr(counter, "exact", True):
            raise InputError("counter: it must be exact, and an approximate tree is not")
        ready: Counter = counter
        return ready

    def _keep(self, problem: Problem, ranking: Ranking, search: Search) -> None:
        names = problem.table.schema.names
        self.ranking_ = [
            Subset(tuple(names[k] for k in columns), score, gain, n_combinations)
            for score, columns, gain, n_combinations in ranking.best()
        ]
        self.subset_ = self.ranking_[0].columns
        self.score_ = self.ranking_[0].score
        self.n_subsets_ = search.n_subsets
        self.n_scored_ = search.n_scored
        self.target_ = names[problem.target]
        self._names = [names[k] for k in problem.features]
        self._input = problem.spec


def _counts(counter: Any, table: Table) -> bool:
    """Whether a counter is of a table, or of one with the same records."""
    if counter.n_records != table.n_records or counter.schema != table.schema:
        return False
    counted = getattr(counter, "records", table)
    return counted is table or all(
        np.array_equal(getattr(counted, name), getattr(table, name))
        for name in ("indptr", "values", "weights")
    )
