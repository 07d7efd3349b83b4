"""Probability tables from records with missing values, by expectation and maximisation.

Each round fills in what is missing in all ways, each as probable as the tables say, and estimates
the tables anew. From round to round, the data never become less probable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.network.nets.estimate import count_families, make_tables, prior_cell
from tacit.network.nets.junction import JunctionTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.nets.graph import Parents
    from tacit.network.nets.records import Records

__all__ = ["Filled", "fill_in"]

Tables = list["NDArray[np.float64]"]


@dataclass(frozen=True)
class Filled:
    """Tables, and how they came about.

    Attributes
    ----------
    tables : list of ndarray
    trace : list of float
        The log-likelihood before each round and at the end, with the logarithm of the prior's
        density (up to a constant) if there is one.
    converged : bool
    """

    tables: Tables
    trace: list[float]
    converged: bool


def fill_in(
    records: Records,
    arities: NDArray[np.int64],
    parents: Parents,
    kind: str,
    weight: float,
    *,
    max_iter: int,
    tol: float,
) -> Filled:
    """Estimate tables from all records, incomplete ones included.

    Parameters
    ----------
    records : Records
    arities : ndarray of int64
    parents : sequence of sequence of int
    kind, weight
        The prior, as for :func:`make_tables`.
    max_iter : int
        The most rounds.
    tol : float
        What a round has to gain, relative to the log-likelihood, for another one.
    """
    # With a prior, no record is impossible at the start.
    start = count_families(records, arities, parents)
    tables = make_tables(start, "bdeu", 1.0 if kind == "mle" else weight)
    expected = _Expected(records, arities, parents)
    trace: list[float] = []
    converged = False
    for _ in range(max_iter):
        counts, score = expected.counts(tables)
        trace.append(score + _log_prior(tables, kind, weight))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * (1.0 + abs(trace[-1])):
            converged = True
            break
        tables = make_tables(counts, kind, weight)
    return Filled(tables, trace, converged)


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


class _Expected:
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
            for own, more in zip(counts, expected, strict=True):
                own += more
            held = self._weights > 0
            score += float(self._weights[held] @ logs[held])
        return counts, score
