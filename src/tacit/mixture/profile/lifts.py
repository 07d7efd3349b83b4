"""How much more often a value occurs in a cluster than overall, with credible intervals.

Arrays are laid out by the schema's cells: a row for every label of every column, defaults included.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, rel_entr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["Interval", "Lifts"]


class Interval(NamedTuple):
    """The ends of a credible interval, for each of several values."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class Lifts:
    """Probabilities of all values in each cluster, beside their fractions of all records.

    `totals` are sizes of clusters: sums of weights, or of expected ones; `stored` the same for each
    stored value, from which those of the defaults follow. `alphas` are the pseudo-counts of each
    value, the same in all clusters. `ignored` cells are left out, such as missing values: their
    records do not count for a column.
    """

    def __init__(
        self,
        schema: Schema,
        totals: NDArray[np.float64],
        stored: NDArray[np.float64],
        alphas: NDArray[np.float64],
        ignored: NDArray[np.int64],
    ) -> None:
        self.schema = schema
        self.columns = np.repeat(np.arange(len(schema)), schema.arities)
        self.ignored = np.zeros(len(self.columns), bool)
        self.ignored[ignored] = True
        counts = cell_counts(schema, totals, stored)
        counts[self.ignored] = 0.0
        prior = np.where(self.ignored, 0.0, alphas)
        self.counts = counts
        self.successes = counts + prior[:, None]
        self.column_totals = self._by_column(counts)
        self.trials = self.column_totals + self._by_column(prior)[:, None]

    def _by_column(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(cells, self.schema.cells[:-1], axis=0)
        return sums

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """The fraction of all records that have each value; 0 where there are none."""
        totals: NDArray[np.float64] = self.column_totals.sum(axis=1)[self.columns]
        counts: NDArray[np.float64] = self.counts.sum(axis=1)
        return np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """P(value | cluster), (cells, K); as overall where nothing is known of a cluster."""
        trials = self.trials[self.columns]
        unknown = np.broadcast_to(self.overall[:, None], trials.shape).copy()
        return np.divide(self.successes, trials, out=unknown, where=trials > 0)

    @cached_property
    def lifts(self) -> NDArray[np.float64]:
        """P(value | cluster) / P(value), (cells, K); NaN where no record has the value."""
        return _ratio(self.probabilities, self.overall[:, None])

    @cached_property
    def informative(self) -> NDArray[np.bool_]:
        """Cells that can set clusters apart, without those that repeat another one.

        Of two labels one is enough. That is the one which is not the default or, where both are
        stored because it is missing values that are the default, the rarer one.
        """
        informative = ~self.ignored & (self.overall > 0) & (self.overall < 1)
        labels = np.add.reduceat(~self.ignored, self.schema.cells[:-1], dtype=np.int64)
        hidden = self.schema.default_cells.copy()
        for column in np.flatnonzero((labels == 2) & self.ignored[hidden]).tolist():
            cells = np.arange(self.schema.cells[column], self.schema.cells[column + 1])
            cells = cells[~self.ignored[cells]]
            hidden[column] = cells[np.argmax(self.overall[cells])]
        informative[hidden[labels == 2]] = False
        return informative

    def evidence(self, cluster: int) -> NDArray[np.float64]:
        """Return how much each value sets a cluster apart, in nats a record; below 0 if rarer.

        The divergence of P(value | cluster) from P(value). 0 for cells that are not
        :attr:`informative`, and for defaults unless theirs is above that of all other labels of
        their column.
        """
        signed = np.where(
            self.informative, divergence(self.probabilities[:, cluster], self.overall), 0
        )
        defaults = self.schema.default_cells
        others = np.abs(signed)
        others[defaults] = 0
        strongest = np.maximum.reduceat(others, self.schema.cells[:-1])
        signed[defaults[np.abs(signed[defaults]) <= strongest]] = 0
        return signed

    def interval(self, cells: NDArray[np.int64], cluster: int, level: float) -> Interval:
        """Return the ends of the credible interval of some lifts."""
        low, high = self._quantiles(cells, cluster, level)
        return Interval(_ratio(low, self.overall[cells]), _ratio(high, self.overall[cells]))

    def _quantiles(
        self, cells: NDArray[np.int64], cluster: int, level: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what P(value | cluster) is between: its posterior is a Beta distribution."""
        a = self.successes[cells, cluster]
        b = np.maximum(self.trials[self.columns[cells], cluster] - a, 0.0)
        tail = (1 - level) / 2
        proper = (a > 0) & (b > 0)
        low, high = ((a > 0) & (b == 0)).astype(float), ((a > 0) | (b == 0)).astype(float)
        low[proper] = betaincinv(a[proper], b[proper], tail)
        high[proper] = betaincinv(a[proper], b[proper], 1 - tail)
        return low, high

    def strongest(self, cluster: int, sign: int, top: int, level: float) -> NDArray[np.int64]:
        """Return the cells that a cluster has most clearly more (+1) or less often (-1).

        They are ranked by the evidence that is left at that end of the credible interval which is
        nearer to no difference, so that differences of few records do not come first. Values whose
        interval includes no difference are left out.
        """
        signed = sign * self.evidence(cluster)
        order = np.argsort(-signed, kind="stable")
        order = order[: np.count_nonzero(signed > 0)]
        size = 4 * top
        while True:  # caution only takes away: those further down are not all needed
            tried = order[:size]
            cautious = self._cautious(tried, cluster, sign, level)
            best = np.argsort(-cautious, kind="stable")[:top]
            best = best[cautious[best] > 0]
            rest = signed[order[size]] if size < len(order) else 0.0
            if size >= len(order) or (len(best) == top and cautious[best[-1]] >= rest):
                return tried[best]
            size *= 2

    def _cautious(
        self, cells: NDArray[np.int64], cluster: int, sign: int, level: float
    ) -> NDArray[np.float64]:
        """Return the evidence at the nearer end of the interval; 0 if that is beyond 1."""
        mean, overall = self.probabilities[cells, cluster], self.overall[cells]
        low, high = self._quantiles(cells, cluster, level)
        # A very skewed posterior has its mean outside of the interval.
        near = np.minimum(low, mean) if sign > 0 else np.maximum(high, mean)
        return np.maximum(sign * divergence(near, overall), 0.0)


def cell_counts(
    schema: Schema, totals: NDArray[np.float64], stored: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (cells, K) counts: those of defaults are the totals less the column's stored ones."""
    counts = np.empty((int(schema.cells[-1]), len(totals)))
    counts[schema.value_cells] = stored
    rest = np.repeat(totals[None, :], len(schema), axis=0)
    several = schema.arities > 1
    if several.any():
        rest[several] -= np.add.reduceat(stored, schema.offsets[:-1][several], axis=0)
    counts[schema.default_cells] = np.maximum(rest, 0.0)  # rounding may leave less than 0
    return counts


def divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Kullback-Leibler divergence of Bernoulli variables in nats, < 0 where p < q."""
    nats: NDArray[np.float64] = rel_entr(p, q) + rel_entr(1 - p, 1 - q)
    return np.copysign(nats, p - q)


def _ratio(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    divisor = np.broadcast_to(q, p.shape)
    out: NDArray[np.float64] = np.full(p.shape, np.nan)
    return np.divide(p, divisor, out=out, where=divisor > 0)
