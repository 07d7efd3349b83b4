"""From a table to a net: what the search is told, and what is reported of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.bayes_net.graph import check_acyclic
from tacit.network.inference.net import Net
from tacit.network.inference.records import without_missing
from tacit.network.parameters.estimate import check_prior, make_tables, table_shapes
from tacit.network.parameters.table_counts import count_tables
from tacit.network.search.search import SearchSettings, find_structure
from tacit.parameters import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.bayes_net.bayes_net import BayesNet
    from tacit.network.bayes_net.graph import Parents
    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = [
    "Learning",
    "arcs_to_parents",
    "check_arcs",
    "estimate_net",
    "learn_net",
    "search_settings",
]


_TYPES: dict[str, tuple[type, ...]] = {  # of what is no number
    "criterion": (str,),
    "upper_bound": (int, float, type(None)),
    **dict.fromkeys(("interrupted", "out_of_time", "proven"), (bool,)),
}


@dataclass(frozen=True)
class Learning:
    """How a net came about.

    Attributes
    ----------
    criterion : str
    score : float
        Of the net by the criterion, in nats; larger is better.
    family_scores : ndarray of float64
        What each column with its parents has of it.
    n_records : int
    n_arcs : int
    n_evaluated : int
        How many families were scored.
    n_moves : int
        How many arcs were added, removed or turned round on the way.
    n_restarts : int
        How often the search started anew.
    seconds : float
    interrupted : bool
        Whether Ctrl-C ended the search; the net is the best one until then.
    out_of_time : bool
        Whether `max_seconds` did.
    n_passes : int
        How often the search went over records in partitions; 0 in memory.
    upper_bound : float or None
        No net has a higher score; of `algorithm="exact"` only, and then not always.
    proven : bool
        Whether no net has a higher score than this one.
    trace : list of (restart, families scored, score, seconds)
        Each time a restart ended with a better net.
    """

    criterion: str
    score: float
    family_scores: NDArray[np.float64]
    n_records: int
    n_arcs: int
    n_evaluated: int
    n_moves: int
    n_restarts: int
    seconds: float
    interrupted: bool
    out_of_time: bool
    trace: list[tuple[int, int, float, float]]
    n_passes: int = 0
    upper_bound: float | None = None
    proven: bool = False

    @classmethod
    def of_facts(cls, facts: dict[str, Any], family_scores: NDArray[np.float64]) -> Learning:
        """Return what a file says of a search, after checking that each fact is of its type."""
        for name, value in facts.items():
            kinds = _TYPES.get(name, (int, float))
            if type(value) not in kinds:
                raise InputError(f"the {name} of its report is {value!r}")
        return cls(**facts, family_scores=family_scores, trace=[])

    @property
    def gap(self) -> float | None:
        """How far the score can be from the best of all nets, in nats; None if nothing is known."""
        return None if self.upper_bound is None else self.upper_bound - self.score

    def __str__(self) -> str:
        early = "interrupted" if self.interrupted else "out of time" if self.out_of_time else ""
        ended = f"; {early}: the best net until then" if early else ""
        if self.proven:
            ended += "; no net has a higher score"
        elif self.gap is not None:
            ended += f"; at most {self.gap:,.1f} below the best net"
        passes = f" and {self.n_passes:,} passes" if self.n_passes else ""
        return (
            f"{self.criterion} {self.score:,.1f}, {self.n_arcs:,} arcs from "
            f"{self.n_records:,} records: {self.n_evaluated:,} families scored in "
            f"{self.seconds:.2f} s{passes}{ended}"
        )


def learn_net(table: Table | PartitionedTable, net: BayesNet) -> tuple[Net, Learning]:
    """Find a structure with the settings of an estimator, and estimate its tables."""
    begin = perf_counter()
    check_prior(net.parameters, net.prior_weight)
    settings = search_settings(table, net)
    result = find_structure(table, settings)
    learnt = estimate_net(table, result.parents, net)
    learning = Learning(
        criterion=settings.criterion,
        score=float(result.score),
        family_scores=np.asarray(result.family_scores, np.float64),
        n_records=table.n_records,
        n_arcs=sum(map(len, result.parents)),
        n_evaluated=int(result.n_evaluated),
        n_moves=int(result.n_moves),
        n_restarts=result.n_restarts,
        seconds=perf_counter() - begin,
        interrupted=bool(result.interrupted),
        out_of_time=bool(result.out_of_time),
        trace=list(result.trace),
        n_passes=result.n_passes,
        upper_bound=result.upper_bound,
        proven=bool(result.proven),
    )
    return learnt, learning


def search_settings(table: Table | PartitionedTable, net: BayesNet) -> SearchSettings:
    """Return what an estimator says of the search, arcs by the positions of a table's columns."""
    same = ("criterion", "algorithm", "n_restarts", "max_parents", "prior_weight", "start", "tabu",
            "n_walks", "swaps", "missing", "max_seconds", "random_state", "n_jobs",
            "verbose")  # fmt: skip
    return SearchSettings(
        required=check_arcs(table.schema, net.required, "required"),
        forbidden=check_arcs(table.schema, net.forbidden, "forbidden"),
        **{name: getattr(net, name) for name in same},
    )


def estimate_net(table: Table | PartitionedTable, parents: Parents, net: BayesNet) -> Net:
    """Estimate tables for known arcs, with the settings of an estimator."""
    weight = check_prior(net.parameters, net.prior_weight)
    check_choice(net.missing, "missing", ("state", "ignore"))
    schema = table.schema if net.missing == "state" else without_missing(table.schema)
    sizes = (rows * arity for rows, arity in table_shapes(schema.arities, parents))
    check_fits(16 * sum(sizes), "the tables", "allow fewer parents")
    counts = count_tables(schema, parents, table)
    tables = tuple(make_tables(counts, net.parameters, weight))
    return Net(schema, tuple(map(tuple, parents)), tables)


def arcs_to_parents(schema: Schema, arcs: Any) -> list[list[int]]:
    """Return the parents of each column, after checking that arcs make no cycle."""
    parents: list[list[int]] = [[] for _ in schema]
    for parent, child in check_arcs(schema, arcs, "arcs"):
        parents[child].append(parent)
    check_acyclic(parents, schema.names, "arcs")
    return parents


def check_arcs(schema: Schema, arcs: Any, argument: str) -> tuple[tuple[int, int], ...]:
    """Return arcs as pairs of positions; ``None`` is no arcs."""
    if arcs is None:
        return ()
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise InputError(f"{argument} must be a list of pairs (from, to), got {arcs!r}")
    pairs = []
    for arc in arcs:
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
            raise InputError(f"{argument}: an arc is a pair (from, to), got {arc!r}")
        parent, child = (schema.position(end, argument) for end in arc)
        if parent == child:
            raise InputError(f"{argument}: {schema.names[child]!r} cannot be its own parent")
        pairs.append((parent, child))
    return tuple(dict.fromkeys(pairs))
