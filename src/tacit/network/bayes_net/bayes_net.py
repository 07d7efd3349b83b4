"""The estimator of Bayes nets: arcs found by local search, and a probability table a column."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone

from tacit import store
from tacit.errors import InputError, refuse_partitions
from tacit.estimator import open_path
from tacit.io.opening import read_whole
from tacit.machine import check_int
from tacit.network.bayes_net.definition import (
    check_labels,
    check_parents,
    check_tables,
    make_schema,
)
from tacit.network.bayes_net.net_estimator import NetEstimator
from tacit.network.bif import files
from tacit.network.bif.bif_reader import read_bif_text
from tacit.network.bif.xmlbif import read_xmlbif_bytes
from tacit.network.inference.net import Net
from tacit.network.parameters.estimate import check_prior, make_tables
from tacit.network.parameters.table_counts import count_tables, fill_in_tables
from tacit.network.search.learning import (
    Learning,
    arcs_to_parents,
    estimate_net,
    learn_net,
    search_settings,
)
from tacit.parameters import check_choice, check_number, rename_parameters, store_parameters
from tacit.scale import as_partitioned
from tacit.table.inputs import Inputs

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.network.bif.bif_reader import ParsedNet
    from tacit.network.bootstrap.arc_strengths import ArcStrengths
    from tacit.network.search.search import Criterion
    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["BayesNet"]

_EARLIER = {"score_name": "criterion", "restarts": "n_restarts"}  # facts of files of version 0.1


class BayesNet(NetEstimator):
    """A Bayes net over discrete columns: arcs, and a probability table for each column.

    Learn one from records with :meth:`fit`. Class methods return fitted nets: :meth:`from_tables`
    of its parts, :meth:`from_arcs` of known arcs and records, :meth:`read_bif` and
    :meth:`read_xmlbif` of files.

    Ctrl-C ends the search, and the best net so far is kept: `interrupted_` says so.

    Parameters
    ----------
    criterion : {"bic", "aic", "bdeu", "bds", "k2", "penalized"}
        The score that the search maximises, in nats; "penalized" is the ADtree paper's, like BIC
        but with a price for every entry of the tables.
    algorithm : {"auto", "climb", "exact"}
        "climb" goes from net to net by arcs. "auto" searches over orders of the columns, too, which
        finds better nets in more time. "exact" goes on until the net is proven to be the best of
        all, which is feasible for up to about 25 to 30 columns; otherwise `learning_` says how far
        from the best it can be.
    n_restarts : int or "auto"
        How often the search starts anew from a changed net, after it has come to an end; "auto"
        goes on as long as that brings a better net now and then: the fewer columns, the longer.
    max_parents : int, default 5
    prior_weight : float, default 1.0
        How many records the prior is worth, for criteria and for tables that have one.
    start : {"empty", "branching"}
        Where the search begins: without arcs, or from the best net in which no column has two
        parents.
    tabu : int, default 10
        How many steps a climb goes on beyond its top.
    n_walks : int, default 5
        How many walks among equivalent nets come to nothing before a top is taken for one.
    swaps : bool, default True
        Whether two neighbours may swap.
    required, forbidden : sequence of (from, to), optional
        Arcs that the net has to have, and arcs that it must not have.
    max_seconds : float, optional
        When to end the search at the latest.
    parameters : {"bdeu", "k2", "mle"}
        How tables are estimated: with a prior, or as fractions of the records alone.
    missing : {"state", "ignore"}
        Missing values are a label of their own, or a record counts for all families of which it
        lacks nothing.
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
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Threads; the net does not depend on it.
    verbose : int, default 0
        1 shows progress on stderr.

    Attributes
    ----------
    arcs_ : list of (str, str)
        All arcs (from, to).
    parents_ : tuple of tuple of int
        The positions of each column's parents.
    tables_ : tuple of ndarray
        Of shape (combinations of the parents' labels, labels); the label of the last parent
        changes fastest.
    learning_ : Learning or None
        How the net was learnt, if it was.
    interrupted_ : bool
        Whether Ctrl-C ended the search.
    n_arcs_, n_parameters_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str, unless X was an array

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> net = tacit.BayesNet(n_restarts=1, random_state=0).fit(visits)
    >>> net.n_arcs_ > 10
    True

    >>> rain = tacit.BayesNet.from_tables(
    ...     {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "wet"]},
    ...     {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
    ...     {
    ...         "rain": [0.8, 0.2],
    ...         "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
    ...         "grass": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    ...     },
    ... )
    >>> rain.query("rain", given={"grass": "wet"})
    rain  probability
    no         0.6423
    yes        0.3577
    """

    _kind = "bayes_net"
    learning_: Learning | None

    def __init__(
        self,
        criterion: Criterion = "bic",
        *,
        algorithm: Literal["auto", "climb", "exact"] = "auto",
        n_restarts: int | Literal["auto"] = "auto",
        max_parents: int = 5,
        prior_weight: float = 1.0,
        start: Literal["empty", "branching"] = "empty",
        tabu: int = 10,
        n_walks: int = 5,
        swaps: bool = True,
        required: Sequence[tuple[Any, Any]] | None = None,
        forbidden: Sequence[tuple[Any, Any]] | None = None,
        max_seconds: float | None = None,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        missing: Literal["state", "ignore"] = "state",
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _learn(self, table: Table | PartitionedTable, kind: Any) -> None:
        net, learning = learn_net(table, self)
        self._keep(net, kind, learning)

    def _keep(self, net: Net, kind: Any = "table", learning: Learning | None = None) -> Self:
        self.learning_ = learning
        return super()._keep(net, kind)

    @property
    def interrupted_(self) -> bool:
        """Whether Ctrl-C ended the search for the net."""
        self._fitted()
        return self.learning_ is not None and self.learning_.interrupted

    def arc_strengths(
        self, X: Any, *, n_bootstrap: int = 200, sample_weight: Any = None
    ) -> ArcStrengths:
        """Return how sure each arc is: how often nets of resampled records have it.

        As many records as there are, are drawn with replacement, `n_bootstrap` times, and a net is
        learnt from each sample with the settings of this estimator. It need not be fitted, and
        stays as it is. ``algorithm="climb"`` with ``n_restarts=0`` is by far the fastest search.
        `max_seconds` is for each net.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array
            Records in memory.
        n_bootstrap : int, default 200
            How many nets are learnt.
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for. Where these are whole numbers, so many are there
            to be drawn; otherwise a record is drawn with its weight, as one.

        Returns
        -------
        tacit.network.ArcStrengths
            It does not depend on `n_jobs`; nets are learnt on so many threads at a time.

        Examples
        --------
        >>> import tacit
        >>> records = {"rain": [0, 0, 1, 1] * 20, "grass": ["dry", "dry", "wet", "wet"] * 20}
        >>> tacit.BayesNet(random_state=0).arc_strengths(records, n_bootstrap=10)
        Arcs of 10 nets of 2 columns; significant from 100.0% on
          rain  → grass  100.0%  direction 100.0%, essential  50.0%
        """
        from tacit.network.bootstrap.arc_strengths import ArcStrengths
        from tacit.network.bootstrap.learn import count_arcs

        n = check_int(n_bootstrap, "n_bootstrap", 1)
        X = open_path(X)
        if (partitions := as_partitioned(X)) is not None:
            refuse_partitions(partitions, "arc_strengths")
        settings: BayesNet = clone(self)
        table, _ = settings._take(X, sample_weight)
        arcs, compelled = count_arcs(table, search_settings(table, settings), n)
        return ArcStrengths(table.schema, n, arcs, compelled, settings)

    def _of_arcs(self, X: Any, sample_weight: Any, arcs: Sequence[tuple[str, str]]) -> BayesNet:
        """Return the net of these arcs and settings, with tables estimated from records."""
        net: BayesNet = clone(self)
        table, kind = net._take(open_path(X), sample_weight)
        return net._keep(estimate_net(table, arcs_to_parents(table.schema, arcs), net), kind)

    # Nets that need no search

    @classmethod
    def from_tables(
        cls,
        columns: Mapping[str, Sequence[Any]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, Any],
    ) -> Self:
        """Return the net of these columns, arcs and probabilities.

        Parameters
        ----------
        columns : mapping of str to sequence of labels
            The columns, in order.
        parents : mapping of str to sequence of str
            Those that have none can be left out.
        tables : mapping of str to array
            Probabilities, of shape (labels of the first parent, …, labels of the column). Rows
            whose sum misses one by at most 0.001 are made to sum to one.
        """
        names, labels = check_labels(columns)
        positions = check_parents(names, parents)
        checked = check_tables(names, labels, positions, tables)
        schema = make_schema(names, labels, positions, checked)
        return cls()._keep(Net(schema, positions, checked))

    @classmethod
    def from_arcs(
        cls,
        X: Any,
        arcs: Sequence[tuple[Any, Any]],
        *,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        prior_weight: float = 1.0,
        missing: Literal["state", "ignore"] = "state",
        discretise: Any = "auto",
        kinds: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the net with these arcs, and with tables estimated from records.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        arcs : sequence of (from, to)
            Columns by name or position.
        parameters, prior_weight, missing, discretise, kinds, n_jobs
            As for the net itself.

        Examples
        --------
        >>> import tacit
        >>> records = {"rain": [0, 0, 1, 1], "grass": ["dry", "dry", "wet", "wet"]}
        >>> net = tacit.BayesNet.from_arcs(records, [("rain", "grass")], parameters="mle")
        >>> net.query("grass", given={"rain": 1})["wet"]
        1.0
        """
        net = cls(
            parameters=parameters, prior_weight=prior_weight, missing=missing,
            discretise=discretise, kinds=kinds, n_jobs=n_jobs,
        )  # fmt: skip
        partitions = as_partitioned(X)
        if partitions is not None:
            net._check_partitions()
        table: Any = partitions
        if table is None:
            table = net._take(X)[0]
        else:
            table = table._of_kinds(kinds)
            table = table if discretise is None else table.cut(discretise)
        return net._keep(estimate_net(table, arcs_to_parents(table.schema, arcs), net))

    def fit_parameters(
        self,
        X: Any,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        *,
        prior_weight: float = 1.0,
        missing: Literal["ignore", "em"] = "ignore",
        max_iter: int = 200,
        tol: float = 1e-7,
    ) -> Self:
        """Return a net with the same arcs and new tables.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            Of a partitioned table, "ignore" takes one pass, and "em" one for every round.
        parameters : {"bdeu", "k2", "mle"}
            "mle" takes fractions of the records; a row of which there is no record is uniform. The
            others add `prior_weight` records, spread over all cells of a table ("bdeu"), or to
            each cell ("k2").
        prior_weight : float, default 1.0
        missing : {"ignore", "em"}
            A record with missing values counts for all families of which it lacks nothing, or what
            it lacks is filled in with what is probable, by expectation and maximisation. That
            begins with tables of the records that lack nothing of a family; where there are none,
            as of a column that is always missing, with the tables of this net. Of a hidden column
            whose tables are uniform, nothing can be learnt.
        max_iter : int, default 200
        tol : float, default 1e-7
            For "em": how many rounds at most, and what a round has to gain at least, relative to
            the log-likelihood, for another one.

        Examples
        --------
        >>> import tacit
        >>> net = tacit.BayesNet.from_tables({"coin": ["head", "tail"]}, {}, {"coin": [0.5, 0.5]})
        >>> records = {"coin": ["head", "head", "tail", "head"]}
        >>> net.fit_parameters(records, "mle").tables_[0].tolist()
        [[0.75, 0.25]]
        """
        weight = check_prior(parameters, prior_weight)
        check_choice(missing, "missing", ("ignore", "em"))
        rounds, gain = check_int(max_iter, "max_iter", 1), check_number(tol, "tol", 0)
        before = self._fitted()
        partitions = as_partitioned(X)
        table: Any = partitions
        if table is None:
            table = Inputs.read(self, X, self._input, absent=self.absent).ranked()
        if missing == "ignore":
            counts = count_tables(before.schema, before.parents, table)
            tables = make_tables(counts, parameters, weight)
        else:
            tables = fill_in_tables(
                before.schema, before.parents, table, before.tables, parameters, weight,
                max_iter=rounds, tol=gain,
            ).tables  # fmt: skip
        other = copy(self)
        other._net = Net(before.schema, before.parents, tuple(tables))
        return other

    @classmethod
    def read_bif(cls, path: str | os.PathLike[str]) -> Self:
        """Read a net from a BIF file, compressed or not.

        What is wrong with a file is an error that names the line.

        Parameters
        ----------
        path : path-like
        """
        return cls._from_parsed(read_bif_text(path, files.read_text(path)))

    @classmethod
    def read_xmlbif(cls, path: str | os.PathLike[str]) -> Self:
        """Read a net from an XMLBIF file, compressed or not.

        Parameters
        ----------
        path : path-like
        """
        return cls._from_parsed(read_xmlbif_bytes(path, read_whole(path)))

    @classmethod
    def _from_parsed(cls, net: ParsedNet) -> Self:
        schema = make_schema(net.names, net.labels, net.parents, net.tables)
        return cls()._keep(Net(schema, tuple(net.parents), tuple(net.tables)))

    # Keeping

    def to_state(self) -> dict[str, NDArray[Any]]:
        """Return all of a net but the trace of how it was found."""
        arrays = super().to_state()
        if self.learning_ is not None:
            facts = asdict(self.learning_)
            arrays["family_scores"] = facts.pop("family_scores")
            del facts["trace"]
            arrays["report"] = store.json_array(facts)
        return arrays

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a net of a file's arrays, after checking that they go together."""
        net = super().from_state(state)
        if "report" in state:
            scores = state["family_scores"]
            if scores.dtype != np.float64 or scores.shape != (len(net.schema_),):
                raise InputError("it has not a score for each column")
            facts = rename_parameters(store.read_json(state["report"]), _EARLIER)
            net.learning_ = Learning.of_facts(facts, scores)
        return net
