"""The estimator of branchings: Bayes nets in which no column has two parents."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.network.inference.partitioned import RecordScores
from tacit.network.nets.bayes_net import BayesNet
from tacit.network.parameters.estimate import make_tables
from tacit.network.parameters.table_counts import count_tables
from tacit.network.search.search import arc_gains, best_branching, network_score
from tacit.scale import as_partitioned, check_parts, over_parts
from tacit.table.features import Features, fit_features, note_features, read_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Branching"]


class Branching(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Learn the best Bayes net in which every column has at most one parent.

    What an arc gains is worked out for every two columns, in both directions, and the set of arcs
    without a cycle that gains most is found exactly, by the algorithm of Chu and Liu, and Edmonds.
    Arcs that gain nothing are left out, so unrelated columns stay apart, unlike in a
    :class:`DependencyTree`. :meth:`BayesNet.learn` can start from it.

    Parameters
    ----------
    criterion : {"bdeu", "bds", "k2", "bic", "aic", "penalised"}
        The score that the net is to have much of, as for :meth:`BayesNet.learn`.
    prior_weight : float, default 10.0
        Of "bdeu" and "bds" the equivalent sample size, of "k2" what is added to each count.
    discretise : spec or mapping, optional
        How to cut real-valued columns into bins, as for :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there to learn from.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    parents_ : int32 array of shape (n_columns,)
        The parent of each column, or -1.
    gains_ : float64 array of shape (n_columns,)
        What the arc to each column gains over no parent.
    score_ : float
        The score of the whole net.
    net_ : BayesNet
        With parameters under the same prior.
    schema_ : Schema

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 1] * 50, "b": [0, 1] * 50, "c": [0, 0, 1, 1] * 25})
    >>> model = tacit.Branching().fit(table)
    >>> model.parents_.tolist()
    [-1, 0, -1]
    >>> model.net_.arcs
    [('a', 'b')]
    """

    def __init__(
        self,
        criterion: Literal["bdeu", "bds", "k2", "bic", "aic", "penalised"] = "bdeu",
        *,
        prior_weight: float = 10.0,
        discretise: Any = None,
        unseen: Literal["error", "default"] = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.prior_weight = prior_weight
        self.discretise = discretise
        self.unseen = unseen
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Branching:
        """Find the arcs, and the net's parameters.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
            A table in partitions takes three passes.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.

        Returns
        -------
        Branching
            Itself.
        """
        if self.unseen not in ("error", "default"):
            raise InputError(f"unseen must be 'error' or 'default', got {self.unseen!r}")
        jobs = count_jobs(self.n_jobs)
        table, features = self._take(X, sample_weight)
        gains = arc_gains(table, self.criterion, self.prior_weight, jobs)
        found = best_branching(gains)
        parents = tuple((p,) if p >= 0 else () for p in found.tolist())
        prior = "k2" if self.criterion == "k2" else "bdeu"
        counts = count_tables(table.schema, parents, table)
        tables = make_tables(counts, prior, self.prior_weight)
        score = network_score(table, parents, self.criterion, self.prior_weight)
        self.net_ = BayesNet._of(table.schema, parents, tuple(tables))
        self.parents_ = found
        columns = np.arange(len(found))
        self.gains_ = np.where(found >= 0, gains[found, columns], 0.0)
        self.score_ = score
        self._features = features
        note_features(self, features)
        return self

    def _take(self, X: Any, sample_weight: Any) -> tuple[Table | PartitionedTable, Features]:
        """Return the records to fit, and what to remember of their columns."""
        parts = as_partitioned(X)
        if parts is not None:
            check_parts(sample_weight, self.discretise)
            return parts, Features(parts.schema, {}, "table")
        table, features = fit_features(
            copy(self), X, discretise=self.discretise, sample_weight=sample_weight,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        if table.weights is not None and not table.weights.any():
            raise InputError("sample_weight: all weights are zero")
        return table, features

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        check_is_fitted(self, "parents_")
        return self._features.schema

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "parents_")
        return read_features(self, X, self._features, unseen=self.unseen, n_jobs=self.n_jobs)

    @over_parts
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log-probability of each record, in nats.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        """
        return self.net_.score_samples(self._read(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-probability of records, in nats.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, array or sparse array
        y : ignored
        """
        parts = as_partitioned(X)
        if parts is None:
            return self.net_.score(self._read(X))
        check_is_fitted(self, "parents_")
        total, weight = parts.reduce(RecordScores(self), n_jobs=self.n_jobs)
        if weight == 0:
            raise InputError("X: all weights are zero")
        return total / weight

    def _sum_scores(self, X: Any) -> tuple[float, float]:
        """Return Σ w·log p of records, and Σ w."""
        return self.net_._sum_scores(self._read(X))
