"""Trees that grow level by level, from counts that come in passes over partitions.

In memory, trees grow best first: a leaf is counted when it is made. Here all leaves that wait are
counted in one pass, those of one tree or of many. Which splits are made, and how nodes are
numbered, is then what growing best first gives with the splits that are known; it is final when
no split that it makes has children that are yet to be looked at.

A pass looks ahead. Splits of sparse data are often chains: few records go inside, and most stay
outside to be split again, likely by what came next to the best split before. Records that hold one
of the next values are counted as well, by which of these they hold. What a chain of such splits
leaves then follows by subtraction, whatever their order is. Each split is still searched for among
all, with exact counts, so that a wrong guess costs some counting and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit import _core
from tacit.machine import count_jobs
from tacit.tree.growth.settings import even_scale
from tacit.tree.partitioned.growing_tree import Ahead, GrowingTree, Leaf, Split
from tacit.tree.partitioned.leaf_counting import LeafCounts
from tacit.tree.partitioned.leaf_histograms import Planes, subtract
from tacit.tree.partitioned.leaf_requests import Chain, Family, lay_out, take

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.tree.partitioned.growing_tree import Target
    from tacit.tree.partitioned.leaf_counting import Atoms, Weighing

__all__ = ["LevelGrowth"]

MOST_BYTES = 256_000_000  # of the counts of one pass, and of those that are kept for the next
FEW_CELLS, PER_VALUE = 2048, 4.0  # leaves have all counts if no more than that, or per stored value
MOST_AHEAD = 61  # splits that are looked ahead at, besides the one that is made

Counted: TypeAlias = "tuple[GrowingTree, Leaf, Planes]"


class LevelGrowth:
    """Grows trees for some targets.

    Parameters
    ----------
    parts : PartitionedTable
    weighing : Weighing
    ordered : ndarray of uint8
        Which columns are asked about by thresholds.
    settings : dict
        For the growth kernel; min_leaf in units.
    n_jobs : int, optional
    verbose : int
        1 shows how far each pass has come.

    Attributes
    ----------
    factor : float
        By which gains have to be multiplied; see :func:`tacit.tree.growth.settings.even_settings`.
    """

    def __init__(
        self,
        parts: PartitionedTable,
        weighing: Weighing,
        ordered: NDArray[np.uint8],
        settings: dict[str, Any],
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.factor = 1.0
        self._parts, self._schema = parts, parts.schema
        self._n_ids, self._n_stored = parts.schema.n_values, parts.n_stored
        self._weighing, self._weighted = weighing, weighing.applies(parts.weighted)
        self._ordered = ordered
        self._settings = self._given = settings
        self._n_jobs, self._verbose = n_jobs, verbose
        self._pass_bytes = self._kept_bytes = MOST_BYTES
        if parts.statistic_bytes is not None:
            self._pass_bytes = min(MOST_BYTES, parts.statistic_bytes)
        if parts.memory is not None:
            self._kept_bytes = min(MOST_BYTES, parts.memory // 8)
        self._keepers: list[Leaf] = []
        self._room = self._total = 0

    def grow(self, targets: Sequence[Target]) -> list[GrowingTree]:
        """Grow a tree for each target.

        Passes are no more than the deepest tree has levels, fewer where looking ahead helps; more
        where the counts of a level, or of all roots, are too large for one.
        """
        trees: list[GrowingTree] = []
        for some in self._batches(targets):
            trees += self._grow_some(some)
        return trees

    def _n_values(self, leaf: Leaf) -> float:
        """Return about how many values the records of a leaf store; all of them for a root."""
        if leaf.parent is None:
            return float(self._n_stored)
        return int(leaf.whole[0]) / max(self._total, 1) * self._n_stored

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
            own = 8 * target.arity * self._n_ids
            if batch and size + own > most:
                yield batch
                batch, size = [], 0
            batch.append(target)
            size += own
        yield batch

    def _grow_some(self, targets: list[Target]) -> list[GrowingTree]:
        trees = [GrowingTree(target, self._settings["max_leaves"]) for target in targets]
        families = [Family(tree, None, [tree.root], None) for tree in trees]
        growing, level = trees, 0
        while families:
            self._keepers = [leaf for leaf in self._keepers if leaf.planes is not None]
            kept = sum(leaf.planes.nbytes for leaf in self._keepers if leaf.planes is not None)
            self._room = self._kept_bytes - kept
            for some in self._passes(families):
                self._look_at(some, level)
            level += 1
            plans = [
                (tree, [self._plan(tree, leaf) for leaf in tree.waiting()]) for tree in growing
            ]
            growing = [tree for tree, own in plans if own]
            families = [family for _, own in plans for family in own]
        self._keepers = []
        return trees

    def _plan(self, tree: GrowingTree, leaf: Leaf) -> Family:
        """Choose which children of a leaf to count: all but the largest, if that is cheaper."""
        wanted = [child for child in leaf.children if not child.looked]
        heir = max(leaf.children, key=lambda child: int(child.whole[0]))
        others = [c for c in leaf.children if c is not heir and c.whole[0] > 0]
        if leaf.planes is not None and not heir.looked and len(others) <= len(wanted):
            size = sum(self._bytes(tree.target, child) for child in others)
            if len(others) == 1 or size <= self._pass_bytes:
                return Family(tree, leaf, others, heir, size)
        leaf.planes = None
        return Family(tree, leaf, wanted, None)

    def _look_ahead(self, family: Family, room: int) -> Family:
        """Choose what to count besides the inside of a split: as much as there is room for."""
        tree, leaf, counted, heir = family[:4]
        if leaf is None or leaf.ahead is None or heir is None or heir is not leaf.children[-1]:
            return family
        if len(leaf.children) != 2 or not counted:
            return family
        cells = 16 * tree.target.arity * self._n_ids
        first = int(2 * 16 * self._n_values(counted[0]))
        # Twice the mean, as above: records that hold a value may hold more of others than most do.
        each = 2 * 16 * self._n_stored / max(self._total, 1) * leaf.ahead.weight
        apart, in_order = np.cumsum(each), np.cumsum(np.minimum(each, cells))
        n = int(np.searchsorted(apart, room - first, "right"))
        n_in_order = int(np.searchsorted(in_order, room - min(first, cells), "right"))
        if n_in_order > 2 * n:
            size = min(first, cells) + int(in_order[n_in_order - 1])
            return family._replace(size=size, n_ahead=n_in_order, in_order=True)
        if n == 0:
            return family
        return family._replace(size=first + int(apart[n - 1]), n_ahead=n)

    def _passes(self, families: list[Family]) -> Iterator[list[Family]]:
        """Yield families whose counts fit in one pass; children that share nothing may part."""
        batch: list[Family] = []
        size = 0
        room = self._pass_bytes // len(families)
        for family in families:
            if family.heir is None:
                pieces = [
                    family._replace(counted=[child], size=self._bytes(family.tree.target, child))
                    for child in family.counted
                ]
            else:
                pieces = [self._look_ahead(family, room)]
            for piece in pieces:
                if batch and size + piece.size > self._pass_bytes:
                    yield batch
                    batch, size = [], 0
                batch.append(piece)
                size += piece.size
        if batch:
            yield batch

    def _look_at(self, families: list[Family], level: int) -> None:
        """Count leaves in one pass, and find their best splits."""
        asked = lay_out(families, self._is_dense)
        n_bytes = sum(family.size for family in families)
        counts, atoms, total, n_counting = self._parts.reduce(
            LeafCounts(asked.paths, self._weighing, n_bytes),
            what=f"level {level}: partitions",
            n_jobs=self._n_jobs,
            verbose=self._verbose or None,
        )
        each = asked.planes(counts, atoms, self._n_ids)
        if level == 0:
            roots = [(family.tree, next(each)) for family in families]
            found = self._begin(roots, total, n_counting)
        else:
            found = self._share_out(families, each)
        self._find_splits([own for own in found if not own[1].looked])
        self._follow(asked.chains(families, atoms), atoms)

    def _follow(self, chains: list[Chain], atoms: Atoms) -> None:
        """Split what is left of leaves for as long as it was looked ahead at."""
        while chains := [chain for chain in chains if chain.goes_on()]:
            each = take(atoms, [chain.choice() for chain in chains], self._n_ids)
            found = self._share_out([chain.advance() for chain in chains], each)
            self._find_splits([own for own in found if not own[1].looked])

    def _begin(
        self, roots: list[tuple[GrowingTree, Planes]], total: int, n_counting: int
    ) -> list[Counted]:
        """Note what roots weigh: the records of a class are those that hold its own id."""
        self._total = total
        if self._weighted:
            self._settings, self.factor = even_scale(self._given, total, n_counting)
        found = []
        for tree, planes in roots:
            own = slice(*self._schema.offsets[tree.target.column : tree.target.column + 2])
            whole = np.concatenate([[total], planes.counts[0, own]])
            tree.root.whole = tree.target.planes(whole)
            found.append((tree, tree.root, tree.target.based(planes)))
        self._see_which_are_worth([tree.root for tree, _ in roots])
        return found

    def _share_out(self, families: list[Family], each: Iterator[Planes]) -> list[Counted]:
        """Give leaves their counts, and heirs what is left of their parents'."""
        found: list[Counted] = []
        heirs: list[int] = []
        wholes: list[Planes] = []
        parts: list[Planes] = []
        for tree, parent, counted, heir, *_ in families:
            rest = None
            if heir is not None and parent is not None and parent.planes is not None:
                rest, parent.planes = parent.planes, None
                self._room += rest.nbytes
            for leaf in counted:
                own = tree.target.based(next(each))
                found.append((tree, leaf, own))
                if rest is not None:
                    wholes.append(rest)
                    parts.append(own)
            if heir is not None and rest is not None:
                heirs.append(len(found))
                found.append((tree, heir, rest))
        subtract(wholes, parts)
        for place in heirs:
            tree, heir, rest = found[place]
            if rest.ids is None and not self._is_dense(tree.target, heir):
                found[place] = tree, heir, rest.compact()
        return found

    def _find_splits(self, found: list[Counted]) -> None:
        """Find the best splits of counted leaves, and keep counts that their children can use."""
        for _, leaf, _ in found:
            leaf.looked = True
        found = [own for own in found if own[2].counts.size]  # else records hold nothing at all
        if not found:
            return
        *arrays, start, low, high, weight = _core.leaf_splits(
            self._schema.offsets,
            self._schema.defaults,
            self._ordered,
            np.array([len(planes.counts) for _, _, planes in found], np.int64),
            [planes.flat_ids for _, _, planes in found],
            [planes.counts.reshape(-1) for _, _, planes in found],
            np.concatenate([leaf.whole for _, leaf, _ in found]),
            np.array([leaf.share for _, leaf, _ in found]),
            np.array([tree.root.whole[0] for tree, _, _ in found], np.int64),
            np.array([tree.target.column for tree, _, _ in found], np.int32),
            np.array([_reach(tree, leaf) for tree, leaf, _ in found], np.int64),
            self._settings,
            count_jobs(self._n_jobs),
        )
        ends = start.tolist()
        splits = zip(*(own.tolist() for own in arrays), strict=True)
        children: list[Leaf] = []
        for k, ((tree, leaf, planes), split) in enumerate(zip(found, splits, strict=True)):
            if split[0] >= 0:
                leaf.set_split(Split(*split), planes)
                if ends[k] < ends[k + 1]:
                    own = slice(ends[k], ends[k + 1])
                    leaf.ahead = Ahead(low[own], high[own], weight[own])
                tree.fresh.append(leaf)
                children += leaf.children
        self._see_which_are_worth(children)
        for _, leaf, planes in found:
            wanted = not all(child.looked for child in leaf.children)
            if wanted and planes.nbytes <= self._room:
                self._room -= planes.nbytes
                leaf.planes = planes.own()
                self._keepers.append(leaf)

    def _see_which_are_worth(self, leaves: list[Leaf]) -> None:
        """Note leaves that cannot be split at all."""
        if not leaves:
            return
        worth = _core.worth_splitting(
            np.array([len(leaf.whole) for leaf in leaves], np.int64),
            np.concatenate([leaf.whole for leaf in leaves]),
            np.array([leaf.depth for leaf in leaves], np.int64),
            self._settings,
        )
        for leaf, own in zip(leaves, worth.tolist(), strict=True):
            leaf.looked = not own


def _reach(tree: GrowingTree, leaf: Leaf) -> int:
    """Return how many splits to look ahead from a leaf."""
    most = MOST_AHEAD if tree.most < 0 else min(MOST_AHEAD, tree.most)
    return min(leaf.reach, most)
