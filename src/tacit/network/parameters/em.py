"""Probability tables from records with missing values, by expectation and maximisation.

Each round fills in what is missing in all ways, each as probable as the tables say, and estimates
the tables anew. From round to round, the data never become less probable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.network.inference.junction import JunctionTree
from tacit.network.parameters.estimate import count_families, make_tables, prior_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents
    from tacit.network.inference.records import Records

__all__ = ["Expected", "Filled", "fill_in"]

_UNIFORM = 1e-3  # fraction of a uniform table in one with zeros, at the start

Tables = list["NDArray[np.float64]"]


@dataclass(frozen=True)
class Filled:
    """Tables, and how they came about."""

    tables: Tables
    # The log-likelihood before each round and at the end, with the logarithm of the prior's density
    # (up to a constant) if there is one
    trace: list[float]
    converged: bool


def fill_in(
    counts: Tables,
    expect: Callable[[Tables], tuple[Tables, float]],
    before: Sequence[NDArray[np.float64]],
    kind: str,
    weight: float,
    *,
    max_iter: int,
    tol: float,
) -> Filled:
    """Estimate tables from all records, incomplete ones included.

    Counts are those of each family over the records that lack nothing of it; `expect` returns
    expected counts under given tables, and the log-likelihood, as :meth:`Expected.counts` does.
    Another round follows one that gains more than `tol`, relative to the log-likelihood.

    Families of which no record knows all begin with their tables `before`: from uniform tables,
    nothing could ever be learnt about a column that is hidden.
    """
    tables = _start(counts, before, kind, weight)
    trace: list[float] = []
    converged = False
    for _ in range(max_iter):
        counts, score = expect(tables)
        trace.append(score + _log_prior(tables, kind, weight))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * (1.0 + abs(trace[-1])):
            converged = True
            break
        tables = make_tables(counts, kind, weight)
    return Filled(tables, trace, converged)


def _start(
    counts: Tables, before: Sequence[NDArray[np.float64]], kind: str, weight: float
) -> Tables:
    """Return the tables of the first round, under which no record is impossible."""
    tables = make_tables(counts, "bdeu", 1.0 if kind == "mle" else weight)
    for child, table in enumerate(before):
        if not counts[child].any():
            # What is 0 would stay so, whatever the records say.
            fraction = 0.0 if table.all() else _UNIFORM
            tables[child] = (1 - fraction) * table + fraction / table.shape[1]
    return tables


def _log_prior(tables: Tables, kind: str, weight: float) -> float:
    """Return what the prior adds: as many records in each cell as it is worth."""
    if kind == "mle":
        return 0.0
    shapes = ((table.shape[0], table.shape[1]) for table in tables)
    return float(
        sum(
            prior_cell(kind, weight, shape) * np.log(table).sum()
            for table, shape in zip(tables, shapes, strict=True)
        )
    )


class Expected:
    """Expected counts of families under given tables; complete records are counted once."""

    def __init__(self, records: Records, arities: NDArray[np.int64], parents: Parents) -> None:
        self._arities = arities
        self._parents = parents
        lacking = records.incomplete()
        self._rows, where = np.unique(records.matrix(lacking), axis=0, return_inverse=True)
        weights = np.bincount(where.ravel(), records.weigh(lacking), len(self._rows))
        self._weights = weights.astype(np.float64)
        complete = np.delete(np.arange(records.n_records), lacking)
        self._known = count_families(records.take(complete), arities, parents)

    def counts(self, tables: Tables) -> tuple[Tables, float]:
        """Return counts, and the log-likelihood of all records."""
        counts = [known.copy() for known in self._known]
        score = 0.0
        for known, table in zip(counts, tables, strict=True):
            held = known > 0
            score += float(known[held] @ np.log(table[held]))
        if len(self._rows):
            tree = JunctionTree(self._arities, self._parents, tables)
            expected, logs = tree.expected_counts(self._rows, self._weights)
            for count, more in zip(counts, expected, strict=True):
                count += more
            held = self._weights > 0
            score += float(self._weights[held] @ logs[held])
        return counts, score
