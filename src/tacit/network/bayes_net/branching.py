"""The estimator of branchings: Bayes nets in which no column has two parents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.network.bayes_net.net_estimator import NetEstimator
from tacit.network.inference.net import Net
from tacit.network.parameters.estimate import make_tables
from tacit.network.parameters.table_counts import count_tables
from tacit.network.search.search import arc_gains, best_branching, network_score
from tacit.parameters import store_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit import store
    from tacit.network.search.search import Criterion
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["Branching"]


class Branching(NetEstimator):
    """Learn the best Bayes net in which every column has at most one parent.

    What an arc gains is worked out for every two columns, in both directions, and the set of arcs
    without a cycle that gains most is found exactly, by the algorithm of Chu and Liu, and Edmonds.
    Arcs that gain nothing are left out, so unrelated columns stay apart, unlike in a
    :class:`DependencyTree`. A :class:`BayesNet` can start from it. Partitioned tables take three
    passes.

    Parameters
    ----------
    criterion : {"bdeu", "bds", "k2", "bic", "aic", "penalized"}
        The score that the net maximises, in nats, as for :class:`BayesNet`.
    prior_weight : float, default 10.0
        Of "bdeu" and "bds" the equivalent sample size, of "k2" what is added to each count.
    discretise : spec or mapping, default "auto"
        How numeric columns are cut into bins, as for :class:`tacit.Table`. ``None`` makes every
        distinct number a label.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like, as for
        :class:`tacit.Table`.
    unseen : {"error", "default"}
        What to do with labels that were not there to learn from.
    absent : {"error", "default"}, optional
        What to do with a column that is not there in prediction: refuse it, or take its default.
        It is refused unless X was baskets or a log, where what is not named is not there.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    parent_ : int32 array of shape (n_columns,)
        The parent of each column, or -1.
    gains_ : float64 array of shape (n_columns,)
        What the arc to each column gains over no parent, in nats.
    score_ : float
        The score of the net, in nats.
    schema_, arcs_, parents_, tables_, n_arcs_, n_parameters_
        As of a :class:`BayesNet`, with parameters under the same prior.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"a": [0, 1] * 50, "b": [0, 1] * 50, "c": [0, 0, 1, 1] * 25})
    >>> model = tacit.Branching().fit(table)
    >>> model.arcs_
    [('a', 'b')]
    >>> model.predict({"a": [1], "b": [0], "c": [0]}, column="b")
    array([1])
    """

    _kind = "branching"
    _noun = "Branching"

    def __init__(
        self,
        criterion: Criterion = "bdeu",
        *,
        prior_weight: float = 10.0,
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _learn(self, table: Table | PartitionedTable, kind: Any) -> None:
        gains = arc_gains(table, self.criterion, self.prior_weight, count_jobs(self.n_jobs))
        best = best_branching(gains)
        parents = tuple((p,) if p >= 0 else () for p in best.tolist())
        prior = "k2" if self.criterion == "k2" else "bdeu"
        counts = count_tables(table.schema, parents, table)
        tables = make_tables(counts, prior, self.prior_weight)
        self.score_ = network_score(table, parents, self.criterion, self.prior_weight)
        self.gains_ = np.where(best >= 0, gains[best, np.arange(len(best))], 0.0)
        self._keep(Net(table.schema, parents, tuple(tables)), kind)

    @property
    def parent_(self) -> NDArray[np.int32]:
        """The parent of each column, or -1."""
        return np.array([above[0] if above else -1 for above in self.parents_], np.int32)

    def to_frame(self) -> pl.DataFrame:
        """Return the arcs: from, to, and what each one gains in nats."""
        held = self.gains_[self.parent_ >= 0]
        return super().to_frame().with_columns(gain=held)

    def to_state(self) -> dict[str, NDArray[Any]]:
        """Return the named arrays that a file holds."""
        return super().to_state() | {"gains": self.gains_, "score": np.array([self.score_])}

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a branching of a file's arrays, after checking that they go together."""
        model = super().from_state(state)
        if any(len(above) > 1 for above in model.parents_):
            raise InputError("it has a column with two parents")
        for name, shape in (("gains", (len(model.schema_),)), ("score", (1,))):
            if state[name].dtype != np.float64 or state[name].shape != shape:
                raise InputError(f"{name!r} has the shape and the type of something else")
        model.gains_, model.score_ = state["gains"], float(state["score"][0])
        return model
