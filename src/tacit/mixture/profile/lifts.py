"""How much more often a value occurs in a cluster than overall, and how sure that is.

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
    """Shares of all values in each cluster, beside their shares overall.

    Parameters
    ----------
    schema : Schema
    totals : ndarray of shape (K,)
        The size of each cluster: the sum of weights, or of expected ones.
    stored : ndarray of shape (n_values, K)
        The same for each stored value. Those of the defaults follow.
    alphas : ndarray of shape (cells,)
        Pseudo-counts: Dirichlet prior of each value, the same in all clusters.
    ignored : ndarray of int
        Cells that say nothing, such as missing values: their records are not there for a column.
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
    def shares(self) -> NDArray[np.float64]:
        """The share of each value among all records; 0 where there are none."""
        wholes: NDArray[np.float64] = self.column_totals.sum(axis=1)[self.columns]
        parts: NDArray[np.float64] = self.counts.sum(axis=1)
        return np.divide(parts, wholes, out=np.zeros(len(parts)), where=wholes > 0)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """P(value | cluster), (cells, K); as overall where nothing is known of a cluster."""
        whole = self.trials[self.columns]
        unknown = np.broadcast_to(self.shares[:, None], whole.shape).copy()
        return np.divide(self.successes, whole, out=unknown, where=whole > 0)

    @cached_property
    def lifts(self) -> NDArray[np.float64]:
        """P(value | cluster) / share, (cells, K); NaN where no record has the value."""
        return _ratio(self.probabilities, self.shares[:, None])

    @cached_property
    def telling(self) -> NDArray[np.bool_]:
        """Cells that can tell clusters apart, but one of two that say the same.

        Of two labels one is enough. That is the one which is not the default or, where both are
        stored because it is missing values that are the default, the rarer one.
        """
        fine = ~self.ignored & (self.shares > 0) & (self.shares < 1)
        labels = np.add.reduceat(~self.ignored, self.schema.cells[:-1], dtype=np.int64)
        hidden = self.schema.default_cells.copy()
        for column in np.flatnonzero((labels == 2) & self.ignored[hidden]).tolist():
            own = np.arange(self.schema.cells[column], self.schema.cells[column + 1])
            own = own[~self.ignored[own]]
            hidden[column] = own[np.argmax(self.shares[own])]
        fine[hidden[labels == 2]] = False
        return fine

    def evidence(self, cluster: int) -> NDArray[np.float64]:
        """What whether a value holds says about the cluster, in bits a record; below 0 if rarer.

        The divergence of the cluster's share of the value from the overall one. 0 for cells that
        are not :attr:`telling`, and for defaults unless they say more than all their column's other
        labels.
        """
        signed = np.where(self.telling, divergence(self.probabilities[:, cluster], self.shares), 0)
        defaults = self.schema.default_cells
        others = np.abs(signed)
        others[defaults] = 0
        strongest = np.maximum.reduceat(others, self.schema.cells[:-1])
        signed[defaults[np.abs(signed[defaults]) <= strongest]] = 0
        return signed

    def interval(self, cells: NDArray[np.int64], cluster: int, level: float) -> Interval:
        """Return the ends of the credible interval of some lifts."""
        low, high = self._quantiles(cells, cluster, level)
        return Interval(_ratio(low, self.shares[cells]), _ratio(high, self.shares[cells]))

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

    def strongest(self, cluster: int, sign: int, n: int, level: float) -> NDArray[np.int64]:
        """Return the n cells that a cluster has most clearly more (+1) or less often (-1).

        They are ranked by the evidence that is left at that end of the credible interval which is
        nearer to no difference, so that what few records say does not come first. Values whose
        interval includes no difference are left out.
        """
        signed = sign * self.evidence(cluster)
        order = np.argsort(-signed, kind="stable")
        order = order[: np.count_nonzero(signed > 0)]
        size = 4 * n
        while True:  # caution only takes away: those further down are not all needed
            tried = order[:size]
            cautious = self._cautious(tried, cluster, sign, level)
            best = np.argsort(-cautious, kind="stable")[:n]
            best = best[cautious[best] > 0]
            rest = signed[order[size]] if size < len(order) else 0.0
            if size >= len(order) or (len(best) == n and cautious[best[-1]] >= rest):
                return tried[best]
            size *= 2

    def _cautious(
        self, cells: NDArray[np.int64], cluster: int, sign: int, level: float
    ) -> NDArray[np.float64]:
        """Return the evidence at the nearer end of the interval; 0 if that is beyond 1."""
        mean, share = self.probabilities[cells, cluster], self.shares[cells]
        low, high = self._quantiles(cells, cluster, level)
        # A very skewed posterior has its mean outside of the interval.
        near = np.minimum(low, mean) if sign > 0 else np.maximum(high, mean)
        return np.maximum(sign * divergence(near, share), 0.0)


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
    counts[schema.default_cells] = np.maximum(rest, 0.0)  # rounding may leave less than nothing
    return counts


def divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Kullback and Leibler's divergence of two coins in bits, negative where p < q."""
    bits: NDArray[np.float64] = (rel_entr(p, q) + rel_entr(1 - p, 1 - q)) / np.log(2)
    return np.copysign(bits, p - q)


def _ratio(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = np.broadcast_to(q, p.shape)
    out: NDArray[np.float64] = np.full(p.shape, np.nan)
    return np.divide(p, whole, out=out, where=whole > 0)
