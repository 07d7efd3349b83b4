"""What the arcs of a net alone say: who is near whom, and what is independent of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.network.inference.asking import check_columns
from tacit.network.nets.equivalence import essential_graph, hamming_distance
from tacit.network.nets.graph import are_separated, markov_blanket, moral_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["NetStructure"]


class NetStructure:
    """Columns and arcs: a base of :class:`tacit.BayesNet`.

    Attributes
    ----------
    schema : Schema
    parents : tuple of tuple of int
        The places of each column's parents.
    """

    schema: Schema
    parents: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """All arcs (from, to), by the place of the child."""
        names = self.schema.names
        return [(names[p], names[c]) for c, own in enumerate(self.parents) for p in own]

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.parents))

    @property
    def moral_edges(self) -> list[tuple[str, str]]:
        """Pairs of columns that share a family."""
        return self._named(moral_edges(self.parents))

    def _named(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
        names = self.schema.names
        return [(names[a], names[b]) for a, b in pairs]

    def essential_graph(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the arcs that all equivalent nets share, and the edges without a direction.

        Nets are equivalent if they hold the same independences; data cannot tell them apart.
        """
        arcs, edges = essential_graph(self.parents)
        return self._named(arcs), self._named(edges)

    def markov_blanket(self, column: str | int) -> list[str]:
        """Return the columns given which this one is independent of all others.

        Parameters
        ----------
        column : str or int
        """
        place = self.schema.position(column)
        return [self.schema.names[c] for c in markov_blanket(self.parents, place)]

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Return whether the arcs alone make two columns independent, given others.

        Parameters
        ----------
        a, b : str, int, or a sequence of them
        given : str, int, or a sequence of them
        """
        one, other, known = (
            check_columns(self.schema, own, name)
            for own, name in ((a, "a"), (b, "b"), (given, "given"))
        )
        for own, name in ((set(one), "b"), (set(known), "given")):
            rest = set(other) if name == "b" else {*one, *other}
            if own & rest:
                twice = self.schema.names[min(own & rest)]
                raise InputError(f"{name}: column {twice!r} is on both sides")
        return are_separated(self.parents, one, other, known)

    def structural_hamming_distance(self, other: NetStructure, *, equivalence: bool = True) -> int:
        """Return the number of pairs of columns that two nets connect differently.

        Parameters
        ----------
        other : BayesNet
            With the same columns, in any order.
        equivalence : bool, default True
            Compare essential graphs, so that equivalent nets have the distance 0; otherwise arcs.
        """
        if not isinstance(other, NetStructure):
            raise InputError(f"other must be a BayesNet, got {type(other).__name__}")
        if set(other.names) != set(self.names):
            lost = sorted(set(other.names) ^ set(self.names))
            raise InputError(f"other: only one of the nets has a column {lost[0]!r}")
        own = [
            tuple(self.schema.position(other.names[p]) for p in other.parents[place])
            for place in (other.schema.position(name) for name in self.names)
        ]
        return hamming_distance(self.parents, own, equivalence=equivalence)
