"""The Bayes net: columns, arcs and probability tables, and what can be asked of them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.network.bif import files
from tacit.network.bif.bif_reader import Net, read_bif_text
from tacit.network.bif.bif_writer import bif_text
from tacit.network.bif.xmlbif import read_xmlbif_bytes, xmlbif_text
from tacit.network.inference.questions import NetQuestions
from tacit.network.nets.definition import check_labels, check_parents, check_tables, make_schema
from tacit.network.nets.saving import write_net
from tacit.network.nets.text import conditional_frame, net_dot, net_graph, net_line, net_text
from tacit.network.parameters.em import check_tol
from tacit.network.parameters.estimate import check_prior, make_tables
from tacit.network.parameters.table_counts import count_tables, fill_in_tables
from tacit.network.search.learning import Learning, learn_net, make_net

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["BayesNet"]

_MOST_DRAWN = 150  # columns of a net that notebooks show as a picture


class BayesNet(NetQuestions):
    """A Bayes net over discrete columns: arcs, and a probability table for each column.

    Make one of its parts here, of data with :meth:`learn`, or of a file with :meth:`read_bif` or
    :meth:`read_xmlbif`.

    Parameters
    ----------
    columns : mapping of str to sequence of labels
        The columns, in order.
    parents : mapping of str to sequence of str
        Those that have none can be left out.
    tables : mapping of str to array
        Probabilities, of shape (labels of the first parent, …, own labels). Rows whose sum misses
        one by at most 0.001 are made to sum to one.

    Attributes
    ----------
    schema : Schema
        Columns and labels.
    parents : tuple of tuple of int
        The places of each column's parents.
    tables : tuple of ndarray
        Of shape (combinations of the parents' labels, own labels); the label of the last parent
        changes fastest.
    report_ : Learning or None
        How the net was learnt, if it was.

    Examples
    --------
    >>> import tacit
    >>> net = tacit.BayesNet(
    ...     {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "wet"]},
    ...     {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
    ...     {
    ...         "rain": [0.8, 0.2],
    ...         "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
    ...         "grass": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    ...     },
    ... )
    >>> net
    Bayes net of 3 columns, 3 arcs, 7 parameters
    >>> net.query("rain", given={"grass": "wet"})
    rain  probability
    no         0.6423
    yes        0.3577
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, Any],
    ) -> None:
        names, labels = check_labels(columns)
        places = check_parents(names, parents)
        found = check_tables(names, labels, places, tables)
        self._fill(make_schema(names, labels, places, found), places, found, None)

    def _fill(
        self,
        schema: Schema,
        parents: tuple[tuple[int, ...], ...],
        tables: tuple[NDArray[np.float64], ...],
        report: Learning | None,
    ) -> None:
        self.schema = schema
        self.parents = parents
        self.tables = tables
        self.report_ = report
        for table in tables:
            table.flags.writeable = False

    @classmethod
    def _of(
        cls,
        schema: Schema,
        parents: tuple[tuple[int, ...], ...],
        tables: tuple[NDArray[np.float64], ...],
        report: Learning | None = None,
    ) -> BayesNet:
        net = cls.__new__(cls)
        net._fill(schema, parents, tables, report)
        return net

    @classmethod
    def _read(cls, net: Net) -> BayesNet:
        schema = make_schema(net.names, net.labels, net.parents, net.tables)
        return cls._of(schema, tuple(net.parents), tuple(net.tables))

    # Learning

    @classmethod
    def learn(
        cls,
        data: Any,
        *,
        score: Literal["bic", "aic", "bdeu", "bds", "k2", "penalised"] = "bic",
        restarts: int = 10,
        max_parents: int = 5,
        prior_weight: float = 1.0,
        start: Literal["empty", "branching"] = "empty",
        tabu: int = 10,
        walks: int = 5,
        swaps: bool = True,
        required: Sequence[tuple[str, str]] | None = (),
        forbidden: Sequence[tuple[str, str]] | None = (),
        max_seconds: float | None = None,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        missing: Literal["state", "available"] = "state",
        discretise: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> BayesNet:
        """Find a net that fits the data, by local search.

        Ctrl-C ends the search, and the best net so far is returned: `interrupted_` says so.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            Of records in partitions, families are counted in passes, many of them in each.
        score : {"bic", "aic", "bdeu", "bds", "k2", "penalised"}
            What a net is to have much of; "penalised" is the ADtree paper's, like BIC but with a
            price for every entry of the tables.
        restarts : int, default 10
            How often the search starts anew from a changed net, after it has come to an end.
        max_parents : int, default 5
        prior_weight : float, default 1.0
            How many records the prior is worth, for scores and for tables that have one.
        start : {"empty", "branching"}
            Where the search begins: without arcs, or from the best net in which no column has two
            parents.
        tabu : int, default 10
            How many steps a climb goes on beyond its top.
        walks : int, default 5
            How many walks among equivalent nets come to nothing before a top is taken for one.
        swaps : bool, default True
            Whether two neighbours may change places.
        required, forbidden : sequence of (from, to), optional
            Arcs that the net has to have, and arcs that it must not have.
        max_seconds : float, optional
            When to end the search at the latest.
        parameters : {"bdeu", "k2", "mle"}
            How tables are estimated: with a prior, or as shares of the records alone.
        missing : {"state", "available"}
            Missing values are a label of their own, or a record counts for all families of which
            it lacks nothing.
        discretise : spec or mapping, optional
            How to cut real-valued columns into bins, as for :class:`tacit.Table`.
        random_state : int, RandomState, Generator or None
        n_jobs : int, optional
            Threads; the net does not depend on it.
        verbose : int, default 0
            1 shows progress on stderr.
        """
        learnt = learn_net(
            data, score=score, restarts=restarts, max_parents=max_parents,
            prior_weight=prior_weight, start=start, tabu=tabu, walks=walks, swaps=swaps,
            required=required, forbidden=forbidden, max_seconds=max_seconds, parameters=parameters,
            missing=missing, discretise=discretise, random_state=random_state, n_jobs=n_jobs,
            verbose=verbose,
        )  # fmt: skip
        return cls._of(learnt.schema, learnt.parents, learnt.tables, learnt.report)

    @classmethod
    def from_arcs(
        cls,
        data: Any,
        arcs: Sequence[tuple[Any, Any]],
        *,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        prior_weight: float = 1.0,
        missing: Literal["state", "available"] = "state",
        discretise: Any = None,
        n_jobs: int | None = None,
    ) -> BayesNet:
        """Return the net with these arcs, and with tables estimated from data.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
        arcs : sequence of (from, to)
            Columns by name or place.
        parameters, prior_weight, missing, discretise, n_jobs
            As for :meth:`learn`.

        Examples
        --------
        >>> import tacit
        >>> data = {"rain": [0, 0, 1, 1], "grass": ["dry", "dry", "wet", "wet"]}
        >>> net = tacit.BayesNet.from_arcs(data, [("rain", "grass")], parameters="mle")
        >>> net.query("grass", given={"rain": 1})["wet"]
        1.0
        """
        made = make_net(
            data, arcs, parameters=parameters, prior_weight=prior_weight, missing=missing,
            discretise=discretise, n_jobs=n_jobs,
        )  # fmt: skip
        return cls._of(made.schema, made.parents, made.tables)

    @property
    def interrupted_(self) -> bool:
        """Whether Ctrl-C ended the search for the net."""
        return self.report_ is not None and self.report_.interrupted

    def fit_parameters(
        self,
        data: Any,
        parameters: Literal["bdeu", "k2", "mle"] = "bdeu",
        *,
        prior_weight: float = 1.0,
        missing: Literal["available", "em"] = "available",
        max_iter: int = 200,
        tol: float = 1e-7,
    ) -> BayesNet:
        """Return a net with the same arcs and new tables.

        Parameters
        ----------
        data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            Of records in partitions, "available" takes one pass, and "em" one for every round.
        parameters : {"bdeu", "k2", "mle"}
            "mle" takes shares of the records; a row of which there is no record is uniform. The
            others add `prior_weight` records, spread over all cells of a table ("bdeu"), or to
            each cell ("k2").
        prior_weight : float, default 1.0
        missing : {"available", "em"}
            A record with missing values counts for all families of which it lacks nothing, or what
            it lacks is filled in with what is probable, by expectation and maximisation. That
            begins with tables of the records that lack nothing of a family; where there are none,
            as of a column that is always missing, with the net's own. Of a hidden column whose
            own tables are uniform, nothing can be learnt.
        max_iter : int, default 200
        tol : float, default 1e-7
            For "em": how many rounds at most, and what a round has to gain at least, relative to
            the log-likelihood, for another one.

        Examples
        --------
        >>> import tacit
        >>> net = tacit.BayesNet({"coin": ["head", "tail"]}, {}, {"coin": [0.5, 0.5]})
        >>> data = {"coin": ["head", "head", "tail", "head"]}
        >>> net.fit_parameters(data, "mle").tables[0].tolist()
        [[0.75, 0.25]]
        """
        weight = check_prior(parameters, prior_weight)
        if missing not in ("available", "em"):
            raise InputError(f"missing must be 'available' or 'em', got {missing!r}")
        rounds, gain = check_int(max_iter, "max_iter", 1), check_tol(tol)
        if missing == "available":
            counts = count_tables(self.schema, self.parents, data)
            tables = make_tables(counts, parameters, weight)
        else:
            tables = fill_in_tables(
                self.schema, self.parents, data, self.tables, parameters, weight,
                max_iter=rounds, tol=gain,
            ).tables  # fmt: skip
        return self._of(self.schema, self.parents, tuple(tables), self.report_)

    # Its tables

    @property
    def n_parameters(self) -> int:
        """Number of free probabilities: each row has one less than labels."""
        return sum(table.shape[0] * (table.shape[1] - 1) for table in self.tables)

    def table(self, column: str | int) -> NDArray[np.float64]:
        """Return a column's table, of shape (labels of the first parent, …, own labels).

        Parameters
        ----------
        column : str or int
        """
        place = self.schema.position(column)
        arities = self.schema.arities
        return self.tables[place].reshape([*arities[list(self.parents[place])], arities[place]])

    def conditional(self, column: str | int) -> pl.DataFrame:
        """Return a column's table as a frame: its parents' labels, then a probability of each own.

        Parameters
        ----------
        column : str or int
        """
        return conditional_frame(self, self.schema.position(column))

    # Showing and keeping

    def to_text(self) -> str:
        """Return the sizes of the net, and what each column depends on."""
        return net_text(self)

    def to_dot(self) -> str:
        """Return the arcs in the language of Graphviz."""
        return net_dot(self)

    def to_networkx(self) -> Any:
        """Return a networkx.DiGraph whose nodes have labels, parents and a table."""
        return net_graph(self)

    def to_svg(self) -> str:
        """Return a picture of the arcs."""
        from tacit.network.nets.picture import net_scene
        from tacit.plot.scene import scene_svg

        return scene_svg(net_scene(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the arcs from left to right; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        from tacit.network.nets.picture import net_scene
        from tacit.plot.scene import draw_scene

        return draw_scene(net_scene(self), ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the net to a file that :func:`tacit.load` reads; atomic."""
        write_net(path, self)

    def save_bif(self, path: str | os.PathLike[str]) -> None:
        """Write the net as BIF, compressed if the name ends in .gz; atomic.

        Names and labels that other programs would not read are written as plain words, and what
        they were in comments, from which :meth:`read_bif` makes them again. Numbers are exact.
        """
        files.write_text(path, bif_text(self.schema, self.parents, self.tables))

    def save_xmlbif(self, path: str | os.PathLike[str]) -> None:
        """Write the net as XMLBIF, compressed if the name ends in .gz; atomic."""
        files.write_text(path, xmlbif_text(self.schema, self.parents, self.tables))

    @classmethod
    def read_bif(cls, path: str | os.PathLike[str]) -> BayesNet:
        """Read a net from a BIF file, compressed or not.

        What is wrong with a file is an error that names the line.

        Parameters
        ----------
        path : path-like
        """
        return cls._read(read_bif_text(path, files.read_text(path)))

    @classmethod
    def read_xmlbif(cls, path: str | os.PathLike[str]) -> BayesNet:
        """Read a net from an XMLBIF file, compressed or not.

        Parameters
        ----------
        path : path-like
        """
        return cls._read(read_xmlbif_bytes(path, files.read_bytes(path)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesNet):
            return NotImplemented
        return (
            self.names == other.names
            and self.schema.labels == other.schema.labels
            and self.parents == other.parents
            and all(map(np.array_equal, self.tables, other.tables))
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def __repr__(self) -> str:
        return net_line(self)

    def _repr_html_(self) -> str:
        if len(self.names) > _MOST_DRAWN:
            return f"<pre>{escape(self.to_text())}</pre>"
        return f"<pre>{escape(repr(self))}</pre>{self.to_svg()}"
