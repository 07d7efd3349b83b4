"""Expected counts: all that a mixture needs to know of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.records import derive
from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["ExpectedCounts"]


@dataclass(frozen=True)
class ExpectedCounts:
    """How many records belong to each cluster, and how many of them have each value.

    They are additive: those of disjoint sets of records add up.

    Attributes
    ----------
    totals : float64 array of shape (n_clusters,)
        Sums over records of weight × P(cluster | record).
    stored : float64 array of shape (n_values, n_clusters)
        The same over those that store a value, by value id.
    log_likelihood : float
        Sum of weight × log P(record).
    weight : float
        The number of records, or the sum of their weights.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> mix = tacit.NaiveBayesMixture(3, random_state=0).fit(visits)
    >>> halves = [mix.expected_counts(visits.take(r)) for r in (range(0, 500), range(500, 1000))]
    >>> both = halves[0] + halves[1]
    >>> round(both.totals.sum(), 6) == both.weight == 1000
    True
    """

    totals: NDArray[np.float64]
    stored: NDArray[np.float64]
    log_likelihood: float
    weight: float

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.totals)

    def __add__(self, other: object) -> ExpectedCounts:
        if not isinstance(other, ExpectedCounts):
            return NotImplemented
        if self.stored.shape != other.stored.shape:
            raise InputError(
                f"expected counts of {self.stored.shape[0]} values in {self.stored.shape[1]} "
                f"clusters cannot be added to those of {other.stored.shape[0]} in "
                f"{other.stored.shape[1]}"
            )
        return ExpectedCounts(
            self.totals + other.totals,
            self.stored + other.stored,
            self.log_likelihood + other.log_likelihood,
            self.weight + other.weight,
        )

    def add_to(self, other: ExpectedCounts) -> ExpectedCounts:
        """Return the sum, in the arrays of this one where they can be written: it is used up."""
        if not (self.totals.flags.writeable and self.stored.flags.writeable):
            return self + other
        return ExpectedCounts(
            np.add(self.totals, other.totals, out=self.totals),
            np.add(self.stored, other.stored, out=self.stored),
            self.log_likelihood + other.log_likelihood,
            self.weight + other.weight,
        )

    def scaled(self, factor: float) -> ExpectedCounts:
        """Return the counts of as many times the records."""
        return ExpectedCounts(
            factor * self.totals,
            factor * self.stored,
            factor * self.log_likelihood,
            factor * self.weight,
        )

    def ordered(self, clusters: NDArray[np.int64]) -> ExpectedCounts:
        """Return the counts with the clusters in another order, or of some of them."""
        stored = np.ascontiguousarray(self.stored[:, clusters])
        return ExpectedCounts(self.totals[clusters], stored, self.log_likelihood, self.weight)

    def cells(self, schema: Schema) -> NDArray[np.float64]:
        """Return the counts of all values, defaults too, column after column in code order."""
        counts = np.empty((int(schema.cells[-1]), self.n_clusters))
        counts[schema.value_cells] = self.stored
        by_column = np.zeros((len(schema), self.n_clusters))
        np.add.at(by_column, schema.value_columns, self.stored)
        counts[schema.default_cells] = derive(self.totals, by_column)
        return counts
