"""Dirichlet priors of mixtures, as pseudo-counts."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import OneWay
    from tacit.schema import Schema

__all__ = ["Prior", "check_choices", "check_strength", "make_prior"]


@dataclass(frozen=True)
class Prior:
    """A Dirichlet distribution for each column, the same in all clusters, and one for clusters."""

    clusters: float  # the pseudo-count of each cluster
    # (total arity,): that of each value, column after column in code order; -1 for values that are
    # ignored, because they are missing at random
    cells: NDArray[np.float64]
    # stored and defaults: the same, of stored values by value id and of each column's default
    stored: NDArray[np.float64]
    defaults: NDArray[np.float64]

    @classmethod
    def of(cls, schema: Schema, clusters: float, cells: NDArray[np.float64]) -> Prior:
        """Make the prior of one pseudo-count for each value."""
        return cls(clusters, cells, cells[schema.value_cells], cells[schema.default_cells])

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which values are not ignored."""
        return self.cells >= 0

    def column_sums(self, schema: Schema) -> NDArray[np.float64]:
        """Return the sum of the pseudo-counts of each column."""
        sums: NDArray[np.float64] = np.add.reduceat(np.maximum(self.cells, 0), schema.cells[:-1])
        return sums

    def n_parameters(self, schema: Schema, n_clusters: int) -> int:
        """Return the number of free parameters of a mixture of so many clusters."""
        values = np.add.reduceat(self.counted.astype(np.int64), schema.cells[:-1])
        return n_clusters - 1 + n_clusters * int(np.maximum(values - 1, 0).sum())


def check_strength(prior: Any) -> float:
    """Check the strength of a prior, in records."""
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 <= float(prior) < np.inf:
        raise InputError(f"prior must be a finite number of at least 0, got {prior!r}")
    return float(prior)


def check_choices(mean: Any, missing: Any) -> None:
    """Check `prior_mean` and `missing`."""
    for name, value, options in (
        ("prior_mean", mean, ("marginals", "uniform")),
        ("missing", missing, ("state", "ignore")),
    ):
        if value not in options:
            raise InputError(f"{name} must be {options[0]!r} or {options[1]!r}, got {value!r}")


def make_prior(
    singles: OneWay,
    strength: float,
    mean: Literal["marginals", "uniform"],
    missing: Literal["state", "ignore"],
) -> Prior:
    """Spread a number of records, `strength`, over the values of each column and over clusters.

    They are spread as the values of all records are, or evenly. A missing value is a value like
    others, or is ignored.
    """
    schema = singles.schema
    check_choices(mean, missing)
    counted = np.ones(int(schema.cells[-1]), np.bool_)
    if missing == "ignore":
        for c, labels in enumerate(schema.labels):
            if labels.missing is not None:
                counted[schema.cells[c] + labels.missing] = False
    begin = schema.cells[:-1]
    arities = np.maximum(np.add.reduceat(counted.astype(np.float64), begin), 1)
    spread = counted / np.repeat(arities, schema.arities)
    if mean == "marginals":
        # A value that no record has is not impossible: one record is spread evenly.
        counts = np.where(counted, singles.counts, 0) + spread
        sums = np.add.reduceat(counts, begin)
        sums[sums == 0] = 1  # nothing but missing values, which are ignored
        spread = counts / np.repeat(sums, schema.arities)
    return Prior.of(schema, strength, np.where(counted, strength * spread, -1.0))
