"""The search for the best sets: all of them are measured, or known not to be worth it.

Sets grow one column at a time, best first. What a set can still become is bounded: a column x adds
to the gain of a set at most what there is to know about x once the set is known,

    I(Y; S ∪ x | Z)  ≤  I(Y; S | Z) + H(x | S, Z)  ≤  I(Y; S | Z) + min over s in S of H(x | s, Z),

no set gains more than H(Y | Z), and a set's charge is never below the least charge of its parts. A
set that cannot reach the worst of the best so far is left out, with all that it would become.
Columns that rarely differ from their default have little entropy and so are soon left out.

Where records have few stored values, the tables of all sets are counted at once instead: in time in
proportion to the combinations of stored values, which can be less than one pass for each set.
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.select.criteria import Baseline, Criterion
    from tacit.select.measure import Measured, Measurer
    from tacit.select.ranking import Ranking

__all__ = ["Search"]

_DECIMALS = 12  # scores that differ by less are equal, and the order of columns decides
_SLACK = 1e-9  # far above what sums of floats are off, and far below what matters
_CHUNK = 2**15  # sets extended together
_FIRST = 64  # sets scored before the first bound is set; then four times as many, and so on
_MOST_PAIRS = 2000  # columns of which all pairs are remembered


@dataclass(frozen=True)
class _Level:
    """Sets of equal size with what was measured of them; columns by their rank in the search."""

    sets: NDArray[np.int64]
    gain: NDArray[np.float64]
    n_rows: NDArray[np.int64]

    def take(self, chosen: Any) -> _Level:
        return _Level(self.sets[chosen], self.gain[chosen], self.n_rows[chosen])


class Search:
    """One search over all sets of n columns."""

    def __init__(
        self,
        measurer: Measurer,
        criterion: Criterion,
        candidates: Sequence[int],  # indices of the columns to choose from
        n_features: int,
        ranking: Ranking,  # receives the best sets
        *,
        # Told now and then of how many more sets nothing is left to be learnt.
        report: Callable[[int], None] = lambda n: None,
        # Leave out what the bounds allow to leave out. The result is the same.
        bounded: bool = True,
    ) -> None:
        self._measurer = measurer
        self._criterion = criterion
        self._columns = np.array(candidates, np.int64)
        self._n = n_features
        self._ranking = ranking
        self._report = report
        self._bounded = bounded and n_features > 1
        self.n_scored = 0

    @property
    def n_subsets(self) -> int:
        """How many sets there are."""
        return math.comb(len(self._columns), self._n)

    def run(self, base: Baseline) -> None:
        """Search."""
        self._base = base
        columns = np.sort(self._columns)
        everything = self._measurer.measure_all(columns.tolist(), self._n)
        if everything is not None:
            self._offer(np.array(list(combinations(columns.tolist(), self._n))), everything)
            self._report(self.n_subsets)
            return
        singles = np.arange(len(self._columns)).reshape(-1, 1)
        if self._n == 1:
            self._rank(singles)
            self._report(len(singles))
            return
        if self._bounded:
            self._descend(self._order(singles))
        else:
            level = _Level(singles, np.zeros(len(singles)), np.zeros(len(singles), np.int64))
            self._descend(level)

    # What is measured

    def _gains(self, rest: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(self._base.entropy - rest, 0.0)

    def _rank(self, sets: NDArray[np.int64]) -> None:
        """Score sets of the full size and offer them to the ranking."""
        columns = np.sort(self._columns[sets], axis=1)
        self._offer(columns, self._measurer.measure(columns))

    def _offer(self, columns: NDArray[np.int64], measured: Measured) -> None:
        gains = self._gains(measured.rest)
        charges = self._criterion.charge(self._base, measured.n_rows, measured.n_cells)
        self._ranking.add(columns, np.round(gains - charges, _DECIMALS) + 0.0, gains, measured)
        self.n_scored += len(columns)

    def _order(self, singles: NDArray[np.int64]) -> _Level:
        """Measure single columns, and let the search begin with those that gain most."""
        measured = self._measurer.measure(self._columns[singles])
        gain = self._gains(measured.rest)
        order = np.argsort(-gain, kind="stable")
        self._columns = self._columns[order]
        self._gain = gain[order]
        self._joint = measured.entropy[order]
        self._n_rows = measured.n_rows[order]
        self._entropies = np.maximum(self._joint - self._base.given_entropy, 0.0)
        self._tails = _largest_sums(self._entropies, self._n)
        d = len(self._columns)
        # What x can add where a is there: H(x | a, Z), or H(x | Z) as long as that is not known.
        self._added = np.tile(self._entropies, (d, 1)) if self._n > 2 and d <= _MOST_PAIRS else None
        self._pair_gain = None if self._added is None else np.full((d, d), np.inf)
        return _Level(singles, self._gain, self._n_rows)

    def _measure(self, sets: NDArray[np.int64]) -> _Level:
        measured = self._measurer.measure(np.sort(self._columns[sets], axis=1))
        gain = self._gains(measured.rest)
        if sets.shape[1] == 2 and self._added is not None and self._pair_gain is not None:
            a, b = sets.T
            self._added[a, b] = np.minimum(self._entropies[b], measured.entropy - self._joint[a])
            self._added[b, a] = np.minimum(self._entropies[a], measured.entropy - self._joint[b])
            self._pair_gain[a, b] = self._pair_gain[b, a] = gain
        return _Level(sets, gain, measured.n_rows)

    # How sets grow

    def _descend(self, level: _Level) -> None:
        """Score all sets of full size that begin with one of these."""
        size = level.sets.shape[1]
        last = size + 1 == self._n
        for chunk in self._chunks(level):
            sets, bounds = self._extend(chunk)
            if last:
                self._rank_by_bound(sets, bounds)
                self._report(len(sets))
            elif self._bounded:
                kept = bounds >= self._ranking.threshold - _SLACK
                self._leave_out(sets[~kept])
                if kept.any():
                    self._descend(self._measure(sets[kept]))
            else:
                zeros = np.zeros(len(sets))
                self._descend(_Level(sets, zeros, zeros.astype(np.int64)))

    def _chunks(self, level: _Level) -> Iterator[_Level]:
        """Cut a level into chunks with not too many sets to come, the most promising first."""
        size = level.sets.shape[1]
        if self._bounded:
            bounds = self._bound(
                level.gain + self._tails[level.sets[:, -1], self._n - size], level.n_rows
            )
            order = np.argsort(-bounds, kind="stable")
            level, bounds = level.take(order), bounds[order]
        # Those that have no room left to grow are not there any more: see _extend.
        ends = np.cumsum(self._room(level.sets))
        first = 0
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            stop = max(first + 1, int(np.searchsorted(ends, before + _CHUNK, side="right")))
            chunk = level.take(slice(first, stop))
            if self._bounded:
                kept = bounds[first:stop] >= self._ranking.threshold - _SLACK
                self._leave_out(chunk.sets[~kept])
                chunk = chunk.take(kept)
            if len(chunk.sets):
                yield chunk
            first = stop

    def _room(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many columns can come next: enough must be left for those after it."""
        after = self._n - sets.shape[1] - 1
        room: NDArray[np.int64] = np.maximum(len(self._columns) - after - 1 - sets[:, -1], 0)
        return room

    def _extend(self, level: _Level) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return all sets with one column more, and bounds on the scores of what they become."""
        room = self._room(level.sets)
        parent = np.repeat(np.arange(len(level.sets)), room)
        within = np.arange(len(parent)) - np.repeat(np.cumsum(room) - room, room)
        begin = level.sets[parent]
        new = begin[:, -1] + 1 + within
        sets = np.column_stack((begin, new))
        if not self._bounded:
            return sets, np.full(len(sets), np.inf)
        gain = self._grown(level.gain[parent], begin, new)
        gain += self._tails[new, self._n - sets.shape[1]]
        return sets, self._bound(gain, np.maximum(level.n_rows[parent], self._n_rows[new]))

    def _grown(
        self, gain: NDArray[np.float64], begin: NDArray[np.int64], new: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Bound the gain of sets of a known gain with a new column, from all sides."""
        bound: NDArray[np.float64] = np.minimum(
            gain + self._entropies[new], self._gain[new] + self._entropies[begin].sum(axis=1)
        )
        if self._added is None or self._pair_gain is None:
            return bound
        bound = np.minimum(bound, gain + self._added[begin.T, new].min(axis=0))
        if begin.shape[1] == 2:  # a triple is a pair and a column in three ways
            for one, other in (begin.T, begin.T[::-1]):
                step = np.minimum(self._added[one, other], self._added[new, other])
                bound = np.minimum(bound, self._pair_gain[one, new] + step)
        return bound

    def _bound(self, gain: NDArray[np.float64], n_rows: NDArray[np.int64]) -> NDArray[np.float64]:
        least = self._criterion.least_charge(self._base, n_rows)
        bound: NDArray[np.float64] = np.minimum(gain, self._base.entropy) - least
        return bound

    def _leave_out(self, sets: NDArray[np.int64]) -> None:
        """Report that nothing that begins with one of these is worth it."""
        missing = self._n - sets.shape[1]
        left = (len(self._columns) - 1 - sets[:, -1]).tolist()
        self._report(sum(math.comb(n, missing) for n in left))

    def _rank_by_bound(self, sets: NDArray[np.int64], bounds: NDArray[np.float64]) -> None:
        """Score sets from the highest bound down, until the rest cannot be among the best."""
        if not self._bounded:
            self._rank(sets)
            return
        kept = np.flatnonzero(bounds >= self._ranking.threshold - _SLACK)
        kept = kept[np.argsort(-bounds[kept], kind="stable")]
        first, size = 0, _FIRST
        while first < len(kept):
            if bounds[kept[first]] < self._ranking.threshold - _SLACK:
                return
            self._rank(sets[kept[first : first + size]])
            first, size = first + size, 4 * size


def _largest_sums(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return at [k, r] the sum of the r largest values behind index k."""
    sums = np.zeros((len(values), n))
    seen: list[float] = []
    for k in range(len(values) - 1, -1, -1):
        for r in range(1, n):
            sums[k, r] = math.fsum(seen[-r:])
        insort(seen, float(values[k]))
        del seen[: -(n - 1) or None]
    return sums
