"""Bootstrap samples of records: how often each distinct record is drawn, as weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.distinct import CodeWords
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.table import Table, recode

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Resampler"]


@dataclass(frozen=True)
class Resampler:
    """Records of which samples are drawn with replacement, as many as there are.

    Where weights are whole numbers, a record of the weight 2 is two records: what is drawn are
    weights of the distinct records. Otherwise a record is drawn with its weight, as one.
    """

    table: Table  # without weights
    probabilities: NDArray[np.float64]  # of each record, to be the next one drawn
    n_draws: int
    weights: NDArray[np.float64] | None  # that a record has each time it is drawn; or 1

    @classmethod
    def of(cls, table: Table) -> Resampler:
        """Prepare the records of a table."""
        weights = table.weights
        if weights is not None and not weights.all():
            held = np.flatnonzero(weights)
            table, weights = table.take(held), weights[held]
        bare = table.with_weights(None)
        if weights is not None and (weights != np.floor(weights)).any():
            m = len(weights)
            return cls(bare, np.full(m, 1 / m), m, weights)
        first, times = _distinct(bare, weights)
        total = float(times.sum())
        if total > 2**53:
            raise InputError("sample_weight: weights that are whole numbers sum to more than 2^53")
        distinct = Table._of(recode.take_records(bare, first))  # in this order, unlike Table.take
        return cls(distinct, times / total, int(total), None)

    def draw(self, rng: np.random.Generator) -> Table:
        """Return a sample: records with weights."""
        times = rng.multinomial(self.n_draws, self.probabilities).astype(np.float64)
        return self.table.with_weights(times if self.weights is None else times * self.weights)


def _distinct(
    table: Table, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the first of each group of equal records, and how many there are of it.

    Groups are in the order of their codes, so that a sample does not depend on that of the records.
    """
    codes, n = CodeWords(table.schema.arities.tolist()), table.n_records
    check_fits(8 * n * (len(codes) + 4), "the distinct records", "give fewer records")
    words = codes.of(n, (table.codes(c) for c in range(table.n_columns)))
    order = np.lexsort(words[::-1])
    changes = np.zeros(n, np.bool_)
    changes[:1] = True
    for word in words:
        ordered = word[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    begins = np.flatnonzero(changes)
    counts = np.ones(n) if weights is None else weights[order]
    return order[begins], np.add.reduceat(counts, begins)
