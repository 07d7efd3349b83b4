"""What a fitted net knows of itself, whether it is a branching or has columns of many parents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from tacit import store
from tacit.errors import InputError
from tacit.network.bayes_net.adjustment import adjustment_set
from tacit.network.bayes_net.equivalence import essential_graph, hamming_distance
from tacit.network.bayes_net.graph import are_separated, markov_blanket, moral_edges
from tacit.network.bayes_net.state import net_from_state, net_to_state
from tacit.network.bayes_net.text import arcs_frame, conditional_frame, net_dot, net_graph, net_text
from tacit.network.bif import files
from tacit.network.bif.bif_writer import bif_text
from tacit.network.bif.xmlbif import xmlbif_text
from tacit.network.density import DensityEstimator, probabilities
from tacit.network.inference.asked import Suppositions
from tacit.network.inference.evidence import check_columns
from tacit.network.inference.records import Records, read_records
from tacit.parameters import check_choice, plain_parameters
from tacit.table.input_spec import InputSpec
from tacit.table.inputs import Inputs

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.network.inference.distribution import Distribution
    from tacit.network.inference.net import Net
    from tacit.plot.scene import Scene
    from tacit.scale import PartitionedTable
    from tacit.schema import Column, Schema
    from tacit.table import Table

__all__ = ["NetEstimator"]


class NetEstimator(DensityEstimator):
    """Columns, arcs and tables: the base of :class:`tacit.BayesNet` and :class:`tacit.Branching`.

    Subclasses say how the arcs are found (`_learn`) and how the model is called (`_noun`).
    """

    _noun = "Bayes net"
    _net: Net
    _input: InputSpec
    discretise: Any
    kinds: Any
    unseen: Literal["error", "default"]
    absent: Literal["error", "default"] | None

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the arcs, and estimate the tables.

        Parameters
        ----------
        X : Table, PartitionedTable, frame, mapping of columns, array or sparse array
            Of a partitioned table, families are counted in passes, many of them in each.
        y : ignored
        sample_weight : array-like of shape (n_records,), optional
            How many records each one stands for.

        Returns
        -------
        estimator
            Itself.
        """
        check_choice(self.unseen, "unseen", ("error", "default"))
        self._learn(*self._take(X, sample_weight))
        return self

    def _fit_partitions(self, X: PartitionedTable, y: Any = None) -> Self:
        """Learn from counts of partitions."""
        check_choice(self.unseen, "unseen", ("error", "default"))
        X = X._of_kinds(self.kinds)
        self._learn(X if self.discretise is None else X.cut(self.discretise), "table")
        return self

    def _take(self, X: Any, sample_weight: Any = None) -> tuple[Table, Any]:
        """Return the records to learn from, and whether they were a table, a frame or an array."""
        inputs = Inputs.fit(self, X, None, sample_weight, kinds=self.kinds)
        table = inputs.table(self.discretise, n_jobs=self.n_jobs)
        if table.weights is not None and not table.weights.any():
            raise InputError("sample_weight: all weights are zero")
        return table, inputs.origin

    def _learn(self, table: Table | PartitionedTable, kind: Any) -> None:
        raise NotImplementedError

    def _keep(self, net: Net, kind: Any = "table") -> Self:
        """Note what was learnt."""
        self._net = net
        self._input = InputSpec.of_schema(net.schema, kind)
        self._input.note(self)
        return self

    def _fitted(self) -> Net:
        check_is_fitted(self)
        return self._net

    # Columns, arcs and tables

    @property
    def schema_(self) -> Schema:
        """Columns, labels and defaults."""
        return self._fitted().schema

    @property
    def column_names_(self) -> tuple[str, ...]:
        """The names of the columns; those of arrays are x0, x1 and so on."""
        return self._fitted().schema.names

    @property
    def parents_(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each column's parents."""
        return self._fitted().parents

    @property
    def tables_(self) -> tuple[NDArray[np.float64], ...]:
        """Probabilities of each column, of shape (combinations of the parents' labels, labels).

        The label of the last parent changes fastest.
        """
        return self._fitted().tables

    @property
    def arcs_(self) -> list[tuple[str, str]]:
        """All arcs (from, to), by the position of the child."""
        return self._named([(p, c) for c, above in enumerate(self.parents_) for p in above])

    @property
    def n_arcs_(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.parents_))

    @property
    def moral_edges_(self) -> list[tuple[str, str]]:
        """Pairs of columns that share a family."""
        return self._named(moral_edges(self.parents_))

    @property
    def n_parameters_(self) -> int:
        """Number of free probabilities: each row has one less than labels."""
        return sum(table.shape[0] * (table.shape[1] - 1) for table in self.tables_)

    def _named(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
        names = self.column_names_
        return [(names[a], names[b]) for a, b in pairs]

    def table(self, column: str | int) -> NDArray[np.float64]:
        """Return a column's table, of shape (labels of the first parent, …, labels of the column).

        Parameters
        ----------
        column : str or int
        """
        position = self.schema_.position(column)
        arities = self.schema_.arities
        shape = [*arities[list(self.parents_[position])], arities[position]]
        return self.tables_[position].reshape(shape)

    def conditional(self, column: str | int) -> pl.DataFrame:
        """Return a column's table as a frame: its parents' labels, then each label's probability.

        Parameters
        ----------
        column : str or int
        """
        return conditional_frame(self, self.schema_.position(column))

    # What the arcs alone say

    def essential_graph(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the arcs that all equivalent nets share, and the edges without a direction.

        Nets are equivalent if they hold the same independences; data cannot tell them apart.
        """
        arcs, edges = essential_graph(self.parents_)
        return self._named(arcs), self._named(edges)

    def markov_blanket(self, column: str | int) -> list[str]:
        """Return the columns given which this one is independent of all others.

        Parameters
        ----------
        column : str or int
        """
        position = self.schema_.position(column)
        return [self.column_names_[c] for c in markov_blanket(self.parents_, position)]

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Return whether the arcs alone make two columns independent, given others.

        Parameters
        ----------
        a, b : str, int, or a sequence of them
        given : str, int, or a sequence of them
        """
        one, other, known = (
            check_columns(self.schema_, columns, name)
            for columns, name in ((a, "a"), (b, "b"), (given, "given"))
        )
        for columns, rest, name in ((one, other, "b"), (known, [*one, *other], "given")):
            both = set(columns) & set(rest)
            if both:
                twice = self.column_names_[min(both)]
                raise InputError(f"{name}: column {twice!r} is on both sides")
        return are_separated(self.parents_, one, other, known)

    def structural_hamming_distance(self, other: NetEstimator, *, equivalence: bool = True) -> int:
        """Return the number of pairs of columns that two nets connect differently.

        Parameters
        ----------
        other : BayesNet or Branching
            With the same columns, in any order.
        equivalence : bool, default True
            Compare essential graphs, so that equivalent nets have the distance 0; otherwise arcs.
        """
        if not isinstance(other, NetEstimator):
            raise InputError(f"other must be a BayesNet, got {type(other).__name__}")
        names, theirs = self.column_names_, other.column_names_
        if set(theirs) != set(names):
            single = sorted(set(theirs) ^ set(names))
            raise InputError(f"other: only one of the nets has a column {single[0]!r}")
        position = self.schema_.position
        parents = [
            tuple(position(theirs[p]) for p in other.parents_[other.schema_.position(name)])
            for name in names
        ]
        return hamming_distance(self.parents_, parents, equivalence=equivalence)

    # Records and questions

    def _read(self, X: Any) -> Records:
        schema = self._fitted().schema
        inputs = Inputs.read(self, X, self._input, absent=self.absent)
        return read_records(schema, inputs.ranked(), unseen=self.unseen)

    def _score_records(self, records: Records) -> NDArray[np.float64]:
        return self._fitted().log_probabilities(records)

    def _column_probabilities(self, records: Records, position: int) -> NDArray[np.float64]:
        return probabilities(self._fitted().conditional(records, position))

    def _position(self, column: Any) -> int:
        return self.schema_.position(column)

    def _discrete(self, position: int) -> Column:
        return self.schema_.column(position)

    def _as_net(self) -> Net:
        return self._fitted()

    def query(
        self,
        columns: Any,
        given: Mapping[Any, Any] | None = None,
        *,
        do: Mapping[Any, Any] | None = None,
        likelihood: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> Distribution:
        """Return the joint distribution of some columns, given the values of others; exact.

        Parameters
        ----------
        columns : str, int, or a sequence of them
        given : mapping, optional
            ``{column: label, …}``
        do : mapping, optional
            ``{column: label, …}`` that columns are set to, from outside: what they depend on no
            longer matters. Only a net whose arcs are causes knows what follows from that.
        likelihood : mapping, optional
            ``{column: {label: number, …}, …}``: how probable what was seen of a column is, if it
            has that label; for every label. Evidence that is not certain, also called soft or
            virtual. Only the ratios of the numbers matter, but for `log_evidence`.
        """
        return self._fitted().query(columns, given, do, likelihood)

    def marginals(
        self,
        given: Mapping[Any, Any] | None = None,
        *,
        do: Mapping[Any, Any] | None = None,
        likelihood: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> dict[str, Distribution]:
        """Return the distribution of each column that is not given, all at once; exact.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}``
        do, likelihood : mapping, optional
            As for :meth:`query`.
        """
        return self._fitted().marginals(given, do, likelihood)

    def most_probable(
        self,
        given: Mapping[Any, Any] | None = None,
        *,
        columns: Any = None,
        do: Mapping[Any, Any] | None = None,
        likelihood: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> tuple[dict[str, Any], float]:
        """Return the most probable record, and the logarithm of its probability in nats; exact.

        Parameters
        ----------
        given : mapping, optional
            ``{column: label, …}`` that the record has to have. Its probability is that of the
            record with them, not divided by that of what is given.
        columns : str, int, or a sequence of them, optional
            The labels of these that are most probable together, whatever the others are: they are
            summed over. That is not what the most probable record has, and may need much larger
            tables; where they are too large, it is an error that says so.
        do, likelihood : mapping, optional
            As for :meth:`query`.
        """
        return self._fitted().most_probable(given, columns, do, likelihood)

    def value_of_information(
        self,
        target: str | int,
        given: Mapping[Any, Any] | None = None,
        *,
        columns: Any = None,
        do: Mapping[Any, Any] | None = None,
        likelihood: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> pl.DataFrame:
        """Return which columns to ask next to learn most of another: the best first; exact.

        Parameters
        ----------
        target : str or int
        given : mapping, optional
            ``{column: label, …}`` that is known already.
        columns : str, int, or a sequence of them, optional
            Those that can be asked; by default all that are not given.
        do, likelihood : mapping, optional
            As for :meth:`query`.

        Returns
        -------
        DataFrame
            `column`, `gain`: how much less the entropy of the target is expected to be once the
            column is known, in nats, and `entropy`: what is then left of it.
        """
        net = self._fitted()
        position = self.schema_.position(target, "target")
        supposed = Suppositions.of(self.schema_, given, do, likelihood)
        if columns is None:
            asked = [c for c in range(len(self.schema_)) if c not in {position, *supposed.fixed}]
        else:
            asked = check_columns(self.schema_, columns, "columns")
        if position in supposed.fixed:
            raise InputError(f"target: column {self.column_names_[position]!r} is known already")
        for c in asked:
            if c == position or c in supposed.fixed:
                how = "the target" if c == position else "known already"
                raise InputError(f"columns: column {self.column_names_[c]!r} is {how}")
        entropy, gains = net.value_of_information(position, asked, supposed)
        names = [self.column_names_[c] for c in asked]
        order = sorted(range(len(asked)), key=lambda k: (-gains[k], names[k]))
        return pl.DataFrame(
            {
                "column": pl.Series([names[k] for k in order], dtype=pl.String),
                "gain": gains[order],
                "entropy": entropy - gains[order],
            }
        )

    def adjustment_set(
        self, treatment: str | int, outcome: str | int, *, columns: Any = None
    ) -> list[str] | None:
        """Return the fewest columns to adjust for, by the back-door criterion; None if none do.

        If arcs are causes, what the treatment does to the outcome follows from records in which
        these columns are known: P(outcome | do(treatment)) is the mean of P(outcome | treatment,
        columns) over P(columns). They are no descendants of the treatment, and block all ways that
        begin with an arc into it. Of several smallest sets, it is the nearest to the outcome.

        Parameters
        ----------
        treatment, outcome : str or int
        columns : str, int, or a sequence of them, optional
            Those that can be adjusted for, as they are measured; all by default.
        """
        one = self.schema_.position(treatment, "treatment")
        other = self.schema_.position(outcome, "outcome")
        if one == other:
            raise InputError("outcome: it is the treatment")
        every = range(len(self.schema_))
        allowed = every if columns is None else check_columns(self.schema_, columns, "columns")
        found = adjustment_set(self.parents_, one, other, set(allowed))
        return None if found is None else [self.column_names_[c] for c in found]

    # Showing and keeping

    def to_text(self, top: int | None = None) -> str:
        """Return the sizes of the net, and what each column depends on.

        Parameters
        ----------
        top : int, optional
            How many columns to show; all by default.
        """
        return net_text(self, top)

    def to_frame(self) -> pl.DataFrame:
        """Return the arcs: from and to."""
        return arcs_frame(self)

    def to_dot(self) -> str:
        """Return the arcs in the language of Graphviz."""
        return net_dot(self)

    def to_networkx(self) -> Any:
        """Return a networkx.DiGraph whose nodes have labels, parents and a table."""
        return net_graph(self)

    def _scene(self) -> Scene:
        from tacit.network.bayes_net.picture import net_scene

        return net_scene(self)

    def save_bif(self, path: str | os.PathLike[str]) -> None:
        """Write the net as BIF, compressed if the name ends in .gz; atomic.

        Names and labels that other programs would not read are written as plain words, and what
        they were in comments, from which :meth:`BayesNet.read_bif` makes them again. Numbers are
        exact.
        """
        files.write_text(path, bif_text(self.schema_, self.parents_, self.tables_))

    def save_xmlbif(self, path: str | os.PathLike[str]) -> None:
        """Write the net as XMLBIF, compressed if the name ends in .gz; atomic."""
        files.write_text(path, xmlbif_text(self.schema_, self.parents_, self.tables_))

    def to_state(self) -> dict[str, NDArray[Any]]:
        """Return the named arrays that a file holds."""
        facts = {"parameters": plain_parameters(self), "kind": self._input.origin}
        return net_to_state(self._fitted()) | {"settings": store.json_array(facts)}

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make a net of a file's arrays, after checking that they go together."""
        facts: dict[str, Any] = {"parameters": {}, "kind": "table"}
        if "settings" in state:  # nets of the first version have none
            facts = store.read_json(state["settings"])
        kind = check_choice(facts["kind"], "kind", ("table", "frame", "array"))
        return cls(**facts["parameters"])._keep(net_from_state(state), kind)

    def __eq__(self, other: object) -> bool:
        """Return whether two fitted nets have the same columns, arcs and tables."""
        if not (
            isinstance(other, NetEstimator) and hasattr(self, "_net") and hasattr(other, "_net")
        ):
            return NotImplemented
        return (
            self.column_names_ == other.column_names_
            and self.schema_.labels == other.schema_.labels
            and self.parents_ == other.parents_
            and all(map(np.array_equal, self.tables_, other.tables_))
        )

    __hash__ = None  # type: ignore[assignment]
