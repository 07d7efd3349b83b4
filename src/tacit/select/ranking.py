"""The best sets seen so far."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.select.measure import Measured

__all__ = ["Ranked", "Ranking"]


class Ranked(NamedTuple):
    """A set of columns that is among the best."""

    score: float
    columns: tuple[int, ...]  # their indices, ascending
    gain: float  # the information it has about the target, in nats
    n_combinations: int  # combinations of its labels (and those of the given columns) that occur


class Ranking:
    """Keeps the n best sets: by score, and where scores are equal by the indices of the columns.

    Which sets it holds does not depend on the order in which they come.
    """

    def __init__(self, n_best: int) -> None:
        self._n_best = n_best
        # The worst comes first: the lowest score, and of these the last in the order of columns.
        self._heap: list[tuple[float, tuple[int, ...], Ranked]] = []

    @property
    def threshold(self) -> float:
        """The score that a set must reach to be of interest."""
        return self._heap[0][0] if len(self._heap) == self._n_best else -math.inf

    def add(
        self,
        sets: NDArray[np.int64],
        scores: NDArray[np.float64],
        gains: NDArray[np.float64],
        measured: Measured,
    ) -> None:
        """Offer sets, each a row of ascending indices."""
        least = self.threshold
        if len(scores) > self._n_best:  # the best of these are enough
            least = max(least, float(np.partition(scores, -self._n_best)[-self._n_best]))
        for k in np.flatnonzero(scores >= least).tolist():
            columns = tuple(sets[k].tolist())
            ranked = Ranked(float(scores[k]), columns, float(gains[k]), int(measured.n_rows[k]))
            entry = (ranked.score, tuple(-column for column in columns), ranked)
            if len(self._heap) < self._n_best:
                heapq.heappush(self._heap, entry)
            elif entry > self._heap[0]:
                heapq.heapreplace(self._heap, entry)

    def best(self) -> list[Ranked]:
        """Return the sets, the best first."""
        return [ranked for _, _, ranked in sorted(self._heap, reverse=True)]
