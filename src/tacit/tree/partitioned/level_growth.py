"""Trees that grow level by level, from counts that come in passes over partitions.

In memory, trees grow best first: a leaf is counted when it is made. Here all leaves that wait are
counted in one pass, those of one tree or of many. Which splits are made, and how nodes are
numbered, is then what growing best first gives with the splits that are known; it is final when
no split that it makes has children that are yet to be searched.

A pass looks ahead. Splits of sparse data are often chains: few records go inside, and most stay
outside to be split again, likely by what came next to the best split before. Records that hold one
of these candidates are counted as well, in disjoint cells by which of them they hold. What a chain
of such splits leaves then follows by subtraction, whatever their order is. Each split is still
searched for among all, with exact counts, so that a wrong guess costs some counting and changes
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core
from tacit.machine import count_jobs
from tacit.tree.growth.settings import even_scale
from tacit.tree.partitioned.growing_tree import Candidates, GrowingTree, Leaf, Split
from tacit.tree.partitioned.leaf_counting import LeafCounts
from tacit.tree.partitioned.leaf_histograms import ClassHistograms, subtract
from tacit.tree.partitioned.leaf_requests import (
    Siblings,
    SplitChain,
    flat_conditions,
    make_request,
    select_cells,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.tree.partitioned.growing_tree import Target
    from tacit.tree.partitioned.leaf_counting import DisjointCells, RecordWeights

__all__ = ["LevelGrowth"]

MOST_BYTES = 256_000_000  # of the counts of one pass, and of those that are kept for the next
FEW_CELLS, PER_VALUE = 2048, 4.0  # leaves have all counts if no more than that, or per stored value
MAX_LOOKAHEAD = 61  # candidates that are counted besides the split that is made


class CountedLeaf(NamedTuple):
    """A leaf whose counts are known."""

    tree: GrowingTree
    leaf: Leaf
    histograms: ClassHistograms


class LevelGrowth:
    """Grows trees for some targets."""

    def __init__(
        self,
        table: PartitionedTable,
        weights: RecordWeights,
        ordered: NDArray[np.uint8],  # which columns are asked about by thresholds
        settings: dict[str, Any],  # for the growth kernel; min_leaf in units
        n_jobs: int | None = None,
        verbose: int = 0,  # 1 shows how far each pass has come
    ) -> None:
        self.factor = 1.0  # of gains; see tacit.tree.growth.settings.even_settings
        self._table, self._schema = table, table.schema
        self._n_ids, self._n_stored = table.schema.n_values, table.n_stored
        self._weights, self._weighted = weights, weights.applies(table.weighted)
        self._ordered = ordered
        self._settings = self._given = settings
        self._n_jobs, self._verbose = n_jobs, verbose
        self._pass_bytes = self._kept_bytes = MOST_BYTES
        if table.statistic_bytes is not None:
            self._pass_bytes = min(MOST_BYTES, table.statistic_bytes)
        if table.memory is not None:
            self._kept_bytes = min(MOST_BYTES, table.memory // 8)
        self._keepers: list[Leaf] = []
        self._free_bytes = self._total = 0

    def grow(self, targets: Sequence[Target]) -> list[GrowingTree]:
        """Grow a tree for each target.

        Passes are no more than the deepest tree has levels, fewer where looking ahead helps; more
        where the counts of a level, or of all roots, are too large for one.
        """
        trees: list[GrowingTree] = []
        for batch in self._batches(targets):
            trees += self._grow_batch(batch)
        return trees

    def _n_values(self, leaf: Leaf) -> float:
        """Return about how many values the records of a leaf store; all of them for a root."""
        if leaf.parent is None:
            return float(self._n_stored)
        return int(leaf.totals[0]) / max(self._total, 1) * self._n_stored

    def _is_dense(self, target: Target, leaf: Leaf) -> bool:
        """Return whether to have all counts of a leaf: where most are not zero."""
        n_cells = target.arity * self._n_ids
        return (
            n_cells <= FEW_CELLS
            or leaf.parent is None
            or n_cells <= PER_VALUE * self._n_values(leaf)
        )

    def _bytes(self, target: Target, leaf: Leaf) -> int:
        """Return what counts of a leaf take, at most."""
        dense = 8 * target.arity * self._n_ids
        if self._is_dense(target, leaf):
            return dense
        return int(min(2 * dense, 2 * 16 * self._n_values(leaf) + 8 * target.arity))

    def _batches(self, targets: Sequence[Target]) -> Iterator[list[Target]]:
        """Yield targets whose roots' counts fit in one pass."""
        most = min(self._pass_bytes, self._kept_bytes)
        batch: list[Target] = []
        size = 0
        for target in targets:
            needed = 8 * target.arity * self._n_ids
            if batch and size + needed > most:
                yield batch
                batch, size = [], 0
            batch.append(target)
            size += needed
        yield batch

    def _grow_batch(self, targets: list[Target]) -> list[GrowingTree]:
        trees = [GrowingTree(target, self._settings["max_leaves"]) for target in targets]
        groups = [Siblings(tree, None, [tree.root], None) for tree in trees]
        growing, level = trees, 0
        while groups:
            self._keepers = [leaf for leaf in self._keepers if leaf.histograms is not None]
            kept = sum(leaf.histograms.nbytes for leaf in self._keepers if leaf.histograms)
            self._free_bytes = self._kept_bytes - kept
            for some in self._passes(groups):
                self._count_pass(some, level)
            level += 1
            plans = [
                (tree, [self._plan(tree, leaf) for leaf in tree.waiting()]) for tree in growing
            ]
            growing = [tree for tree, plan in plans if plan]
            groups = [siblings for _, plan in plans for siblings in plan]
        self._keepers = []
        return trees

    def _plan(self, tree: GrowingTree, leaf: Leaf) -> Siblings:
        """Choose which children of a leaf to count: all but the largest, if that is cheaper."""
        wanted = [child for child in leaf.children if not child.searched]
        largest = max(leaf.children, key=lambda child: int(child.totals[0]))
        others = [c for c in leaf.children if c is not largest and c.totals[0] > 0]
        if leaf.histograms is not None and not largest.searched and len(others) <= len(wanted):
            size = sum(self._bytes(tree.target, child) for child in others)
            if len(others) == 1 or size <= self._pass_bytes:
                return Siblings(tree, leaf, others, largest, size)
        leaf.histograms = None
        return Siblings(tree, leaf, wanted, None)

    def _with_candidates(self, siblings: Siblings, room: int) -> Siblings:
        """Choose what to count besides the inside of a split: as much as there is room for."""
        tree, leaf, counted, outside = siblings[:4]
        if leaf is None or leaf.candidates is None or outside is not leaf.children[-1]:
            return siblings
        if len(leaf.children) != 2 or not counted or len(counted[0].conditions) != 1:
            return siblings
        dense = 16 * tree.target.arity * self._n_ids
        first = int(2 * 16 * self._n_values(counted[0]))
        # Twice the mean, as above: records that hold a value may hold more of others than most do.
        each = 2 * 16 * self._n_stored / max(self._total, 1) * leaf.candidates.weight
        apart, in_order = np.cumsum(each), np.cumsum(np.minimum(each, dense))
        n = int(np.searchsorted(apart, room - first, "right"))
        n_in_order = int(np.searchsorted(in_order, room - min(first, dense), "right"))
        if n_in_order > 2 * n:
            size = min(first, dense) + int(in_order[n_in_order - 1])
            return siblings._replace(size=size, n_candidates=n_in_order, in_order=True)
        if n == 0:
            return siblings
        return siblings._replace(size=first + int(apart[n - 1]), n_candidates=n)

    def _passes(self, groups: list[Siblings]) -> Iterator[list[Siblings]]:
        """Yield groups whose counts fit in one pass; without subtraction a group may be divided."""
        batch: list[Siblings] = []
        size = 0
        room = self._pass_bytes // len(groups)
        for siblings in groups:
            if siblings.subtracted is None:
                target = siblings.tree.target
                divided = [
                    siblings._replace(counted=[child], size=self._bytes(target, child))
                    for child in siblings.counted
                ]
            else:
                divided = [self._with_candidates(siblings, room)]
            for group in divided:
                if batch and size + group.size > self._pass_bytes:
                    yield batch
                    batch, size = [], 0
                batch.append(group)
                size += group.size
        if batch:
            yield batch

    def _count_pass(self, groups: list[Siblings], level: int) -> None:
        """Count leaves in one pass, and find their best splits."""
        request = make_request(groups, self._is_dense)
        n_bytes = sum(siblings.size for siblings in groups)
        counts, cells, total, n_counting = self._table.reduce(
            LeafCounts(request.paths, self._weights, n_bytes),
            what=f"level {level}: partitions",
            n_jobs=self._n_jobs,
            verbose=self._verbose or None,
        )
        each = request.histograms(counts, cells, self._n_ids)
        if level == 0:
            roots = [(siblings.tree, next(each)) for siblings in groups]
            counted = self._begin(roots, total, n_counting)
        else:
            counted = self._assign_counts(groups, each)
        self._find_splits(counted)
        self._follow(request.chains(groups, cells), cells)

    def _follow(self, chains: list[SplitChain], cells: DisjointCells) -> None:
        """Split what is left of leaves for as long as candidates were counted."""
        while chains := [chain for chain in chains if chain.has_next()]:
            each = select_cells(cells, [chain.selection() for chain in chains], self._n_ids)
            self._find_splits(self._assign_counts([chain.advance() for chain in chains], each))

    def _begin(
        self, roots: list[tuple[GrowingTree, ClassHistograms]], total: int, n_counting: int
    ) -> list[CountedLeaf]:
        """Note what roots weigh: the records of a class are those that hold its value id."""
        self._total = total
        if self._weighted:
            self._settings, self.factor = even_scale(self._given, total, n_counting)
        counted = []
        for tree, histograms in roots:
            target = tree.target
            ids = slice(*self._schema.offsets[target.column : target.column + 2])
            tree.root.totals = target.by_class(np.concatenate([[total], histograms.counts[0, ids]]))
            counted.append(CountedLeaf(tree, tree.root, target.histograms_by_class(histograms)))
        self._mark_unsplittable([tree.root for tree, _ in roots])
        return counted

    def _assign_counts(
        self, groups: list[Siblings], each: Iterator[ClassHistograms]
    ) -> list[CountedLeaf]:
        """Give leaves their counts, and siblings by subtraction what is left of their parents'."""
        counted: list[CountedLeaf] = []
        subtracted: list[int] = []
        parents: list[ClassHistograms] = []
        children: list[ClassHistograms] = []
        for tree, parent, leaves, sibling, *_ in groups:
            rest = None
            if sibling is not None and parent is not None and parent.histograms is not None:
                rest, parent.histograms = parent.histograms, None
                self._free_bytes += rest.nbytes
            for leaf in leaves:
                histograms = tree.target.histograms_by_class(next(each))
                counted.append(CountedLeaf(tree, leaf, histograms))
                if rest is not None:
                    parents.append(rest)
                    children.append(histograms)
            if sibling is not None and rest is not None:
                subtracted.append(len(counted))
                counted.append(CountedLeaf(tree, sibling, rest))
        subtract(parents, children)
        for k in subtracted:
            tree, sibling, rest = counted[k]
            if rest.ids is None and not self._is_dense(tree.target, sibling):
                counted[k] = CountedLeaf(tree, sibling, rest.compact())
        return counted

    def _find_splits(self, counted: list[CountedLeaf]) -> None:
        """Find the best splits of counted leaves, and keep counts that their children can use."""
        counted = [one for one in counted if not one.leaf.searched]
        for _, leaf, _ in counted:
            leaf.searched = True
        counted = [one for one in counted if one.histograms.counts.size]  # else all are defaults
        if not counted:
            return
        is_bdeu = self._settings["prior"] == "bdeu"
        paths = [list(one.leaf.path()) if is_bdeu else [] for one in counted]
        *arrays, fraction_start, fractions, start, low, high, weight = _core.leaf_splits(
            self._schema.offsets,
            self._schema.defaults,
            self._ordered,
            np.array([len(one.histograms.counts) for one in counted], np.int64),
            [one.histograms.flat_ids for one in counted],
            [one.histograms.counts.reshape(-1) for one in counted],
            np.concatenate([one.leaf.totals for one in counted]),
            np.array([one.leaf.prior_fraction for one in counted]),
            *flat_conditions(paths),
            np.array([one.tree.root.totals[0] for one in counted], np.int64),
            np.array([one.tree.target.column for one in counted], np.int32),
            np.array([_lookahead(one.tree, one.leaf) for one in counted], np.int64),
            self._settings,
            count_jobs(self._n_jobs),
        )
        ends, fraction_ends = start.tolist(), fraction_start.tolist()
        splits = zip(*(array.tolist() for array in arrays), strict=True)
        children: list[Leaf] = []
        for k, ((tree, leaf, histograms), split) in enumerate(zip(counted, splits, strict=True)):
            if split[0] >= 0:
                of_children = fractions[fraction_ends[k] : fraction_ends[k + 1]]
                leaf.set_split(Split(*split), histograms, of_children)
                if ends[k] < ends[k + 1]:
                    at = slice(ends[k], ends[k + 1])
                    leaf.candidates = Candidates(low[at], high[at], weight[at])
                tree.newly_split.append(leaf)
                children += leaf.children
        self._mark_unsplittable(children)
        for _, leaf, histograms in counted:
            wanted = not all(child.searched for child in leaf.children)
            if wanted and histograms.nbytes <= self._free_bytes:
                self._free_bytes -= histograms.nbytes
                leaf.histograms = histograms.detached()
                self._keepers.append(leaf)

    def _mark_unsplittable(self, leaves: list[Leaf]) -> None:
        """Mark leaves that cannot be split at all as searched."""
        if not leaves:
            return
        worth = _core.worth_splitting(
            np.array([len(leaf.totals) for leaf in leaves], np.int64),
            np.concatenate([leaf.totals for leaf in leaves]),
            np.array([leaf.depth for leaf in leaves], np.int64),
            self._settings,
        )
        for leaf, splittable in zip(leaves, worth.tolist(), strict=True):
            leaf.searched = not splittable


def _lookahead(tree: GrowingTree, leaf: Leaf) -> int:
    """Return how many candidates for the next splits to ask for."""
    most = MAX_LOOKAHEAD if tree.max_leaves < 0 else min(MAX_LOOKAHEAD, tree.max_leaves)
    return min(leaf.lookahead, most)
