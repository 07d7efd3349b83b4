"""Dirichlet priors of mixtures, as pseudo-counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import OneWay
    from tacit.schema import Schema

__all__ = ["FIRST_STRENGTH", "Prior", "check_choices", "check_strength", "make_prior"]

# Where the search for a strength begins, in records. From here the evidence moves it to wherever it
# belongs; a stronger prior would make clusters alike before that, where they differ much.
FIRST_STRENGTH = 1.0


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
    adaptive: bool = False  # whether the evidence is to say how strong it is

    @classmethod
    def of(
        cls, schema: Schema, clusters: float, cells: NDArray[np.float64], *, adaptive: bool = False
    ) -> Prior:
        """Make the prior of one pseudo-count for each value."""
        stored, defaults = cells[schema.value_cells], cells[schema.default_cells]
        return cls(clusters, cells, stored, defaults, adaptive)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which values are not ignored."""
        return self.cells >= 0

    def column_sums(self, schema: Schema) -> NDArray[np.float64]:
        """Return the sum of the pseudo-counts of each column."""
        sums: NDArray[np.float64] = np.add.reduceat(np.maximum(self.cells, 0), schema.cells[:-1])
        return sums

    def strength(self, schema: Schema) -> float:
        """Return how many records the prior of a column is worth."""
        return float(self.column_sums(schema).max())

    def with_strength(self, schema: Schema, strength: float) -> Prior:
        """Return the prior with the same means, worth so many records; that of clusters stays."""
        factor = strength / max(self.strength(schema), 1e-300)
        cells = np.where(self.counted, self.cells * factor, -1.0)
        return Prior.of(schema, self.clusters, cells, adaptive=self.adaptive)

    def fixed(self) -> Prior:
        """Return the prior as strong as it is."""
        return replace(self, adaptive=False) if self.adaptive else self

    def n_parameters(self, schema: Schema, n_clusters: int) -> int:
        """Return the number of free parameters of a mixture of so many clusters."""
        values = np.add.reduceat(self.counted.astype(np.int64), schema.cells[:-1])
        return n_clusters - 1 + n_clusters * int(np.maximum(values - 1, 0).sum())


def check_strength(prior: Any) -> float | None:
    """Check the strength of a prior, in records; return None for "auto"."""
    if isinstance(prior, str) and prior == "auto":
        return None
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 <= float(prior) < np.inf:
        raise InputError(f'prior must be "auto" or a finite number of at least 0, got {prior!r}')
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
    strength: float | None,
    mean: Literal["marginals", "uniform"],
    missing: Literal["state", "ignore"],
) -> Prior:
    """Spread a number of records, `strength`, over the values of each column and over clusters.

    They are spread as the values of all records are, or evenly. A missing value is a value like
    others, or is ignored. A strength of None is still to be found: then each cluster has one
    pseudo-count (all mixing weights are equally likely), however strong the prior of columns
    becomes.
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
    adaptive = strength is None
    clusters, records = (1.0, FIRST_STRENGTH) if strength is None else (strength, strength)
    cells = np.where(counted, records * spread, -1.0)
    return Prior.of(schema, clusters, cells, adaptive=adaptive)
