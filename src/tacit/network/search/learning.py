"""From a table to a net: what the search is told, and what is reported of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.network.nets.graph import check_acyclic
from tacit.network.parameters.estimate import check_prior, make_tables, table_shapes
from tacit.network.parameters.table_counts import count_tables
from tacit.network.search.search import SearchSettings, find_structure
from tacit.scale import as_partitioned
from tacit.schema import Labels, Schema
from tacit.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.nets.graph import Parents
    from tacit.network.search.search import Found
    from tacit.scale import PartitionedTable

__all__ = ["Learning", "Learnt", "check_arcs", "learn_net", "make_net"]


@dataclass(frozen=True)
class Learning:
    """How a net came about.

    Attributes
    ----------
    score_name : str
    score : float
        Of the net, by that name; larger is better.
    family_scores : ndarray of float64
        What each column with its parents has of it.
    n_records : int
    n_arcs : int
    n_evaluated : int
        How many families were scored.
    n_moves : int
        How many arcs were added, removed or turned round on the way.
    restarts : int
        How many were asked for.
    seconds : float
    interrupted : bool
        Whether Ctrl-C ended the search; the net is the best one until then.
    out_of_time : bool
        Whether `max_seconds` did.
    n_passes : int
        How often the search went over records in partitions; 0 in memory.
    trace : list of (restart, families scored, score, seconds)
        Each time a restart ended with a better net.
    """

    score_name: str
    score: float
    family_scores: NDArray[np.float64]
    n_records: int
    n_arcs: int
    n_evaluated: int
    n_moves: int
    restarts: int
    seconds: float
    interrupted: bool
    out_of_time: bool
    trace: list[tuple[int, int, float, float]]
    n_passes: int = 0

    def __str__(self) -> str:
        early = "interrupted" if self.interrupted else "out of time" if self.out_of_time else ""
        ended = f"; {early}: the best net until then" if early else ""
        passes = f" and {self.n_passes:,} passes" if self.n_passes else ""
        return (
            f"{self.score_name} {self.score:,.1f}, {self.n_arcs:,} arcs from "
            f"{self.n_records:,} records: {self.n_evaluated:,} families scored in "
            f"{self.seconds:.2f} s{passes}{ended}"
        )


@dataclass(frozen=True)
class Learnt:
    """A net's parts, and the report if there was a search."""

    schema: Schema
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]
    report: Learning | None = None


def learn_net(
    data: Any,
    *,
    prior_weight: float,
    required: Any,
    forbidden: Any,
    parameters: str,
    missing: Literal["state", "available"],
    discretise: Any,
    n_jobs: int | None,
    **others: Any,
) -> Learnt:
    """Find a structure, and estimate its tables; see :meth:`BayesNet.learn`."""
    begin = perf_counter()
    weight = check_prior(parameters, prior_weight)
    table = _make_table(data, discretise, n_jobs)
    if isinstance(table, Table) and table.weights is not None and not table.weights.any():
        raise InputError("data: all weights are zero")
    settings = SearchSettings(
        prior_weight=weight,
        required=check_arcs(table.schema, required, "required"),
        forbidden=check_arcs(table.schema, forbidden, "forbidden"),
        missing=missing,
        n_jobs=n_jobs,
        **others,
    )
    found = find_structure(table, settings)
    net = _estimate(table, found.parents, parameters, weight, missing)
    return replace(net, report=_report(table, settings, found, perf_counter() - begin))


def make_net(
    data: Any,
    arcs: Any,
    *,
    parameters: str,
    prior_weight: float,
    missing: Literal["state", "available"],
    discretise: Any,
    n_jobs: int | None,
) -> Learnt:
    """Estimate tables for arcs that are known; see :meth:`BayesNet.from_arcs`."""
    weight = check_prior(parameters, prior_weight)
    if missing not in ("state", "available"):
        raise InputError(f"missing must be 'state' or 'available', got {missing!r}")
    table = _make_table(data, discretise, n_jobs)
    parents: list[list[int]] = [[] for _ in table.schema]
    for parent, child in check_arcs(table.schema, arcs, "arcs"):
        parents[child].append(parent)
    check_acyclic(parents, table.schema.names, "arcs")
    return _estimate(table, parents, parameters, weight, missing)


def _estimate(
    table: Table | PartitionedTable, parents: Parents, parameters: str, weight: float, missing: str
) -> Learnt:
    schema = table.schema if missing == "state" else _without_missing(table.schema)
    sizes = (rows * arity for rows, arity in table_shapes(schema.arities, parents))
    check_fits(16 * sum(sizes), "the tables", "allow fewer parents")
    counts = count_tables(schema, parents, table)
    tables = tuple(make_tables(counts, parameters, weight))
    return Learnt(schema, tuple(map(tuple, parents)), tables)


def _make_table(data: Any, discretise: Any, n_jobs: int | None) -> Table | PartitionedTable:
    parts = as_partitioned(data)
    if parts is not None:
        if discretise is not None:
            raise InputError(
                "discretise: data is in partitions, and its columns are discrete already; give "
                "discretise= to tacit.scan"
            )
        return parts
    if not isinstance(data, Table):
        return Table(data, discretise=discretise, n_jobs=n_jobs)
    if discretise is not None:
        raise InputError("discretise: data is a Table, and its columns are discrete already")
    return data


def _report(
    table: Table | PartitionedTable, settings: SearchSettings, found: Found, seconds: float
) -> Learning:
    return Learning(
        score_name=settings.score,
        score=float(found.score),
        family_scores=np.asarray(found.family_scores, np.float64),
        n_records=table.n_records,
        n_arcs=sum(map(len, found.parents)),
        n_evaluated=int(found.n_evaluated),
        n_moves=int(found.n_moves),
        restarts=settings.restarts,
        seconds=seconds,
        interrupted=bool(found.interrupted),
        out_of_time=bool(found.out_of_time),
        trace=list(found.trace),
        n_passes=found.n_passes,
    )


def check_arcs(schema: Schema, arcs: Any, argument: str) -> tuple[tuple[int, int], ...]:
    """Return arcs as pairs of places; ``None`` is no arcs."""
    if arcs is None:
        return ()
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise InputError(f"{argument} must be a list of pairs (from, to), got {arcs!r}")
    found = []
    for arc in arcs:
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
            raise InputError(f"{argument}: an arc is a pair (from, to), got {arc!r}")
        parent, child = (schema.position(end, argument) for end in arc)
        if parent == child:
            raise InputError(f"{argument}: {schema.names[child]!r} cannot be its own parent")
        found.append((parent, child))
    return tuple(dict.fromkeys(found))


def _without_missing(schema: Schema) -> Schema:
    """Return the schema without labels of missing values."""
    if all(labels.missing is None for labels in schema.labels):
        return schema
    labels, defaults = [], []
    for column in schema:
        kept, default = column.labels, column.default
        if kept.missing is not None:
            if len(kept) == 1:
                raise InputError(f"data: column {column.name!r} has missing values only")
            default = 0 if default == kept.missing else default
            kept = Labels(kept[:-1], kept.dtype)
        labels.append(kept)
        defaults.append(default)
    return Schema(schema.names, labels, defaults)
