"""MIST in rounds: records are read for all open pairs together, until a tree is left.

Every pair has an interval for its weight. The draft tree is the maximum spanning tree of the lower
ends. By the red rule a pair is out once its upper end is below all lower ends on its path in the
draft: it is the lightest of that cycle for certain. The sample is doubled for the pairs that are
left, but not for an edge on no cycle of open pairs, which is in the tree for certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from tacit import _core
from tacit.network.structure.intervals import Confidence
from tacit.network.structure.spanning import maximum_spanning_tree, settle
from tacit.network.structure.statistics import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.structure.statistics import EdgeStatistic, NodeStatistic

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

__all__ = ["PairReader", "find_tree"]


class PairReader(Protocol):
    """Reads records for pairs of columns, and says what it knows about them."""

    n_columns: int
    n_records: int

    def read(self, pairs: Ints, n_total: int) -> int:
        """Draw up to n_total records and read the new ones for the pairs; return how many."""

    def finish(self, pairs: Ints) -> int:
        """Read for the pairs whatever was not drawn; return how many records."""

    def weights(self, pairs: Ints) -> Floats:
        """Return the weights of pairs in the records read for them."""

    def intervals(self, pairs: Ints, confidence: Confidence) -> tuple[Floats, Floats]:
        """Return the ends of intervals of pairs for which all drawn records were read."""

    def node(self, c: int) -> NodeStatistic:
        """Return the statistic of a column."""

    def pair(self, a: int, b: int) -> EdgeStatistic:
        """Return the statistic of a pair."""


def find_tree(
    reader: PairReader,
    *,
    sample: int,
    delta: float,
    for_tree: bool,
    epsilon: float,
    exact_edges: bool,
) -> Structure:
    """Return the maximum spanning tree, right with probability 1 − delta.

    The first round reads `sample` records. With `for_tree`, delta is shared over all intervals of
    all rounds, instead of allowed for each. Epsilon is taken off upper ends. With `exact_edges`,
    edges of the draft tree are read in full, as the paper does. Statistics of columns and edges are
    not in the Structure yet.
    """
    n, n_records = reader.n_columns, reader.n_records
    n_pairs = n * (n - 1) // 2
    n_rounds = max(1, int(np.ceil(np.log2(n_records / sample))))
    confidence = Confidence(delta, n_pairs * n_rounds if for_tree else 1)
    state = _Open(reader, exact_edges, epsilon)
    rounds = []
    size = sample
    while True:
        if size < n_records:
            state.read(size, confidence)
        else:
            state.finish(state.busy)
        n_drawn = state.n_drawn if size < n_records else n_records
        rounds.append({"records": n_drawn, "alive": len(state.pairs)})
        state.strike_out()
        if len(state.pairs) == n - 1 or size >= n_records:
            break
        size = 2 * size
    pairs, keep = state.pairs, np.ones(len(state.pairs), np.bool_)
    if len(pairs) > n - 1:
        keep = _heaviest(n, pairs, settle(reader.weights(pairs)))
    edges, exact = pairs[keep], state.exact[keep]
    weights = reader.weights(edges)
    return Structure(
        edges,
        weights,
        np.where(exact, weights, np.minimum(state.low[keep], weights)),
        np.where(exact, weights, np.maximum(state.high[keep], weights)),
        state.n_reads / (n_records * n_pairs),
        state.n_deepest,
        rounds,
    )


class _Open:
    """The pairs that are not struck out, in lexicographic order, and their intervals."""

    def __init__(self, reader: PairReader, exact_edges: bool, epsilon: float) -> None:
        n = reader.n_columns
        self.reader, self.exact_edges, self.epsilon = reader, exact_edges, epsilon
        self.pairs = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int64)
        self.low = np.zeros(len(self.pairs))
        self.high = np.full(len(self.pairs), np.inf)
        self.exact = np.zeros(len(self.pairs), np.bool_)
        self.busy = np.ones(len(self.pairs), np.bool_)  # worth reading on
        self.n_drawn = 0
        self.n_reads = 0  # (record, pair) combinations
        self.n_deepest = 0

    def read(self, size: int, confidence: Confidence) -> None:
        """Read on for busy pairs, until about `size` records were drawn."""
        busy = self.busy
        if not busy.any():
            return
        n_new = self.reader.read(self.pairs[busy], size)
        self.n_drawn += n_new
        self.n_reads += n_new * int(busy.sum())
        self.n_deepest = max(self.n_deepest, self.n_drawn)
        low, high = self.reader.intervals(self.pairs[busy], confidence)
        # What held before holds still; where the two contradict each other, the later one counts.
        low_both = np.maximum(low, self.low[busy])
        high_both = np.minimum(high, self.high[busy])
        agree = low_both <= high_both
        self.low[busy] = np.where(agree, low_both, low)
        self.high[busy] = np.where(agree, high_both, high)

    def finish(self, which: Flags) -> None:
        """Read all records for some pairs."""
        if not which.any():
            return
        n_new = self.reader.finish(self.pairs[which])
        self.n_reads += n_new * int(which.sum())
        self.n_deepest = self.reader.n_records
        self.low[which] = self.high[which] = settle(self.reader.weights(self.pairs[which]))
        self.exact[which] = True

    def strike_out(self) -> None:
        """Strike out what the red rule allows, and say which pairs are worth reading on."""
        n = self.reader.n_columns
        while True:
            links, tree, minima = self._draft(n)
            unread = tree & ~self.exact
            if not self.exact_edges or not unread.any():
                break
            self.finish(unread)
        a, b = self.pairs[:, 0], self.pairs[:, 1]
        kept = tree | ~(self.high - self.epsilon < minima[a, b])
        rivals = np.ascontiguousarray(self.pairs[kept & ~tree])
        covered = _core.covered_links(links, rivals).astype(np.bool_)
        on_cycle = np.zeros((n, n), np.bool_)
        ends = np.sort(links[covered], axis=1)
        on_cycle[ends[:, 0], ends[:, 1]] = True
        self.busy = (~tree | on_cycle[a, b]) & ~self.exact
        for name in ("pairs", "low", "high", "exact", "busy"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[kept]))

    def _draft(self, n: int) -> tuple[Ints, Flags, Floats]:
        """Return the links of the draft tree, which pairs are in it, and its path minima."""
        a, b = self.pairs[:, 0], self.pairs[:, 1]
        ends = np.full((n, n), -1.0)
        ends[a, b] = ends[b, a] = self.low
        links = _core.rooted_tree(ends)
        minima = _core.path_minima(links, ends[links[:, 0], links[:, 1]])
        inside = np.zeros((n, n), np.bool_)
        inside[links.min(axis=1), links.max(axis=1)] = True
        return links, inside[a, b], minima


def _heaviest(n: int, pairs: Ints, weights: Floats) -> Flags:
    """Return which pairs are in the maximum spanning tree of those given."""
    a, b = pairs[:, 0], pairs[:, 1]
    table = np.full((n, n), -1.0)
    table[a, b] = table[b, a] = weights
    edges = maximum_spanning_tree(table)
    inside = np.zeros((n, n), np.bool_)
    inside[edges[:, 0], edges[:, 1]] = True
    return inside[a, b]
