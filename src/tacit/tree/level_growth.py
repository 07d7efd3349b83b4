"""Trees that grow level by level, from counts that come in passes over partitions.

In memory, trees grow best first: a leaf is counted when it is made. Here all leaves that wait are
counted in one pass, those of one tree or of many. Which splits are made, and how nodes are
numbered, is then what growing best first gives with the splits that are known; it is final when
no split that it makes has children that are yet to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tacit import _core
from tacit.machine import count_jobs
from tacit.tree.leaf_counting import LeafCounts, Paths
from tacit.tree.leaf_planes import Planes
from tacit.tree.settings import even_scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.schema import Schema
    from tacit.tree.leaf_counting import Weighing

__all__ = ["GrowingTree", "LevelGrowth", "Target"]

MOST_BYTES = 256_000_000  # of the counts of one pass, and of those that are kept for the next
FEW_CELLS, PER_VALUE = 2048, 4.0  # leaves have all counts if no more than that, or per stored value


@dataclass(frozen=True)
class Target:
    """The column that a tree predicts.

    Attributes
    ----------
    column : int
    arity : int
    default : int
        The code that is not stored.
    n_classes : int
        Classes are the first codes; one behind them means that the target is missing.
    base : int
        The class whose counts follow from those of the others.
    """

    column: int
    arity: int
    default: int
    n_classes: int
    base: int

    @classmethod
    def of(cls, schema: Schema, column: int) -> Target:
        """Return a column all of whose labels are classes, the default being the base."""
        arity, default = len(schema.labels[column]), int(schema.defaults[column])
        return cls(column, arity, default, arity, default)

    def planes(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts as trees have them: of all, then of the classes but the base.

        Parameters
        ----------
        counts : ndarray of shape (arity, …)
            Of all, then of the codes but the default.
        """
        if self.base == self.default and self.n_classes == self.arity:
            return counts
        by_code = np.insert(counts[1:], self.default, counts[0] - counts[1:].sum(axis=0), axis=0)
        classes = np.delete(by_code[: self.n_classes], self.base, axis=0)
        return np.concatenate([counts[:1], classes])

    def based(self, planes: Planes) -> Planes:
        """Return the counts of a leaf as trees have them."""
        return Planes(planes.ids, self.planes(planes.counts))

    def classes(self, wholes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of all classes in order, from those of leaves: a row for each."""
        rest = wholes[:, 0] - wholes[:, 1:].sum(axis=1)
        return np.insert(wholes[:, 1:], self.base, rest, axis=1)


class Split(NamedTuple):
    """What the kernel finds for a leaf; see :class:`tacit.tree.nodes.Nodes`."""

    column: int
    low: int
    high: int
    complete: int
    left: int
    right: int
    gain: float
    rank: int
    inside_share: float
    outside_share: float


@dataclass(eq=False)
class Leaf:
    """A node of a growing tree, and the leaf that it is before it is split.

    Attributes
    ----------
    parent : Leaf or None
    condition : tuple of int
        The range of ids, and whether its records hold one of them.
    depth : int
    share : float
        Of the prior's weight.
    whole : ndarray of int64
        The weights of its classes, as planes.
    looked : bool
        Whether its best split is known, or that there is none.
    split : Split, optional
        The best one, if it is worth making.
    children : list of Leaf
        What the split would make of it.
    planes : Planes, optional
        Its counts, kept for its children's.
    """

    parent: Leaf | None
    condition: tuple[int, int, int]
    depth: int
    share: float
    whole: NDArray[np.int64]
    looked: bool = False
    split: Split | None = None
    children: list[Leaf] = field(default_factory=list)
    planes: Planes | None = None

    def path(self) -> Iterator[tuple[int, int, int]]:
        """Yield the conditions on the way to it."""
        leaf = self
        while leaf.parent is not None:
            yield leaf.condition
            leaf = leaf.parent

    def set_split(self, split: Split, planes: Planes) -> None:
        """Note the best split and what it makes."""
        self.split = split
        low, high = split.low, split.high
        if split.complete:
            conditions = [(v, v + 1, 1) for v in range(low, high)]
            parts = planes.each(low, high)
        else:
            conditions, parts = [(low, high, 1)], [planes.among(low, high).counts.sum(axis=1)]
        conditions.append((low, high, 0))
        parts.append(self.whole - np.sum(parts, axis=0))
        for place, (condition, whole) in enumerate(zip(conditions, parts, strict=True)):
            share = split.outside_share if place else split.inside_share
            child = Leaf(self, condition, self.depth + 1, share, whole)
            self.children.append(child)


class GrowingTree:
    """A tree of which some splits are known.

    Parameters
    ----------
    target : Target
    most : int
        The most leaves it may have; -1 for any number.
    """

    def __init__(self, target: Target, most: int) -> None:
        self.target = target
        self.root = Leaf(None, (0, 0, 0), 0, 1.0, np.zeros(target.n_classes, np.int64))
        self.fresh: list[Leaf] = []  # those that were found a split for last
        self._most = most

    def waiting(self) -> list[Leaf]:
        """Return leaves that are to be split, but whose children are yet to be looked at."""
        if self._most < 0:
            split = self.fresh
        else:
            _, split, n_leaves = self.grow()
            if n_leaves >= self._most:
                split = split[:-1]  # there is no room for what the last one's children become
        self.fresh = []
        return [leaf for leaf in split if not all(child.looked for child in leaf.children)]

    def grow(self) -> tuple[list[Leaf], list[Leaf], int]:
        """Grow best first with the splits that are known.

        Returns
        -------
        nodes : list of Leaf
            In the order in which they are made.
        split : list of Leaf
            Those that are split.
        n_leaves : int
        """
        nodes, split, n_leaves = [self.root], [], 1
        queue: list[tuple[int, int]] = []  # larger ranks first, then earlier nodes
        if self.root.split is not None:
            queue.append((-self.root.split.rank, 0))
        most = 2**62 if self._most < 0 else self._most
        while queue and n_leaves < most:
            leaf = nodes[heappop(queue)[1]]
            if n_leaves - 1 + len(leaf.children) > most:
                continue
            split.append(leaf)
            n_leaves += len(leaf.children) - 1
            for child in leaf.children:
                if child.split is not None:
                    heappush(queue, (-child.split.rank, len(nodes)))
                nodes.append(child)
        return nodes, split, n_leaves

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays of :class:`tacit.tree.nodes.Nodes`, as the growth kernel does."""
        nodes, split, _ = self.grow()
        inner = set(map(id, split))
        number = {id(leaf): place for place, leaf in enumerate(nodes)}
        none = Split(-1, 0, 0, 0, -1, -1, 0.0, 0, 0.0, 0.0)
        splits = [(leaf.split if id(leaf) in inner else None) or none for leaf in nodes]
        first: list[int] = []
        children: list[int] = []
        for leaf in nodes:
            first.append(len(children) if id(leaf) in inner else 0)
            if id(leaf) in inner:
                children += [number[id(child)] for child in leaf.children]
        return (
            np.array([own.column for own in splits], np.int32),
            np.array([own.low for own in splits], np.int32),
            np.array([own.high for own in splits], np.int32),
            np.array([own.complete for own in splits], np.uint8),
            np.array([own.left for own in splits], np.int32),
            np.array([own.right for own in splits], np.int32),
            np.array(first, np.int32),
            np.array(children, np.int32),
            np.array([own.gain for own in splits], np.float64),
            np.array([leaf.share for leaf in nodes], np.float64),
            self.target.classes(np.array([leaf.whole for leaf in nodes], np.int64)),
        )


class Family(NamedTuple):
    """Children of one leaf that are to be counted, and one that has what they leave of it."""

    tree: GrowingTree
    parent: Leaf | None
    counted: list[Leaf]
    heir: Leaf | None


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
        By which gains have to be multiplied; see :func:`tacit.tree.settings.even_settings`.
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
        self._weighing, self._weighted = weighing, weighing.applies(parts.weighted)
        self._ordered = ordered
        self._settings = self._given = settings
        self._n_jobs, self._verbose = n_jobs, verbose
        self._pass_bytes = self._kept_bytes = MOST_BYTES
        if parts.memory is not None:  # results of partitions wait for their siblings
            waiting = parts.n_partitions.bit_length() + 2
            self._pass_bytes = min(MOST_BYTES, parts.memory // (4 * waiting))
            self._kept_bytes = min(MOST_BYTES, parts.memory // 8)
        self._keepers: list[Leaf] = []
        self._room = self._total = 0

    def grow(self, targets: Sequence[Target]) -> list[GrowingTree]:
        """Grow a tree for each target.

        Passes are as many as the deepest tree has levels; more where the counts of a level, or of
        all roots, are too large for one.
        """
        trees: list[GrowingTree] = []
        for some in self._batches(targets):
            trees += self._grow_some(some)
        return trees

    def _n_values(self, leaf: Leaf) -> float:
        """Return about how many values the records of a leaf store; all of them for a root."""
        share = 1.0 if leaf.parent is None else int(leaf.whole[0]) / max(self._total, 1)
        return share * self._parts.n_stored

    def _is_dense(self, target: Target, leaf: Leaf) -> bool:
        """Return whether to have all counts of a leaf: where most are not zero."""
        n_cells = target.arity * self._schema.n_values
        return leaf.parent is None or n_cells <= max(FEW_CELLS, PER_VALUE * self._n_values(leaf))

    def _bytes(self, target: Target, leaves: list[Leaf]) -> int:
        """Return what counts of leaves take, at most."""
        dense = 8 * target.arity * self._schema.n_values
        each = (2 * 16 * self._n_values(leaf) + 8 * target.arity for leaf in leaves)
        return sum(
            dense if self._is_dense(target, leaf) else int(min(dense, own))
            for leaf, own in zip(leaves, each, strict=True)
        )

    def _batches(self, targets: Sequence[Target]) -> Iterator[list[Target]]:
        """Yield targets whose roots' counts fit in one pass."""
        most = min(self._pass_bytes, self._kept_bytes)
        batch: list[Target] = []
        size = 0
        for target in targets:
            own = 8 * target.arity * self._schema.n_values
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
        few = len(others) == 1 or self._bytes(tree.target, others) <= self._pass_bytes
        if leaf.planes is not None and not heir.looked and len(others) <= len(wanted) and few:
            return Family(tree, leaf, others, heir)
        leaf.planes = None
        return Family(tree, leaf, wanted, None)

    def _passes(self, families: list[Family]) -> Iterator[list[Family]]:
        """Yield families whose counts fit in one pass; children that share nothing may part."""
        batch: list[Family] = []
        size = 0
        for family in families:
            pieces = [family]
            if family.heir is None:
                pieces = [family._replace(counted=[child]) for child in family.counted]
            for piece in pieces:
                own = self._bytes(piece.tree.target, piece.counted)
                if batch and size + own > self._pass_bytes:
                    yield batch
                    batch, size = [], 0
                batch.append(piece)
                size += own
        if batch:
            yield batch

    def _look_at(self, families: list[Family], level: int) -> None:
        """Count leaves in one pass, and find their best splits."""
        leaves = [(family.tree.target, leaf) for family in families for leaf in family.counted]
        dense = [self._is_dense(target, leaf) for target, leaf in leaves]
        n_bytes = sum(self._bytes(target, [leaf]) for target, leaf in leaves)
        counts, stored, total, n_counting = self._parts.reduce(
            LeafCounts(_paths(leaves, dense), self._weighing, n_bytes),
            what=f"level {level}: partitions",
            n_jobs=self._n_jobs,
            verbose=self._verbose or None,
        )
        each = _planes(leaves, dense, counts, stored, self._schema.n_values)
        if level == 0:
            roots = [(tree, next(each)) for tree, *_ in families]
            found = self._begin(roots, total, n_counting)
        else:
            found = self._share_out(families, each)
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
        for tree, parent, counted, heir in families:
            rest = None
            if heir is not None and parent is not None and parent.planes is not None:
                rest, parent.planes = parent.planes, None
                self._room += rest.nbytes
            for leaf in counted:
                own = tree.target.based(next(each))
                found.append((tree, leaf, own))
                if rest is not None:
                    rest = rest.less(own)
            if heir is not None and rest is not None:
                if rest.ids is not None or not self._is_dense(tree.target, heir):
                    rest = rest.compact()
                found.append((tree, heir, rest))
        return found

    def _find_splits(self, found: list[Counted]) -> None:
        """Find the best splits of counted leaves, and keep counts that their children can use."""
        for _, leaf, _ in found:
            leaf.looked = True
        found = [own for own in found if own[2].counts.size]  # else records hold nothing at all
        if not found:
            return
        arrays = _core.leaf_splits(
            self._schema.offsets,
            self._schema.defaults,
            self._ordered,
            np.array([len(planes.counts) for _, _, planes in found], np.int64),
            np.cumsum([0, *(len(planes.flat_ids) for _, _, planes in found)]),
            np.concatenate([planes.flat_ids for _, _, planes in found]),
            np.concatenate([planes.counts.reshape(-1) for _, _, planes in found]),
            np.concatenate([leaf.whole for _, leaf, _ in found]),
            np.array([leaf.share for _, leaf, _ in found]),
            np.array([tree.root.whole[0] for tree, _, _ in found], np.int64),
            np.array([tree.target.column for tree, _, _ in found], np.int32),
            self._settings,
            count_jobs(self._n_jobs),
        )
        splits = zip(*(own.tolist() for own in arrays), strict=True)
        children: list[Leaf] = []
        for (tree, leaf, planes), split in zip(found, splits, strict=True):
            if split[0] >= 0:
                leaf.set_split(Split(*split), planes)
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


def _paths(leaves: list[tuple[Target, Leaf]], dense: list[bool]) -> Paths:
    """Return the conditions of leaves as arrays."""
    paths = [list(leaf.path()) for _, leaf in leaves]
    flat = np.array([condition for path in paths for condition in path], np.int32).reshape(-1, 3)
    return Paths(
        np.cumsum([0, *map(len, paths)]).astype(np.int64),
        np.ascontiguousarray(flat[:, 0]),
        np.ascontiguousarray(flat[:, 1]),
        flat[:, 2].astype(np.uint8),
        np.array([target.column for target, _ in leaves], np.int32),
        np.array(dense, np.uint8),
    )


def _planes(
    leaves: list[tuple[Target, Leaf]],
    dense: list[bool],
    counts: NDArray[np.int64],
    stored: Any,
    n_values: int,
) -> Iterator[Planes]:
    """Yield the counts of each leaf: of all records, then of the codes but the default."""
    at = row = 0
    for (target, _), whole in zip(leaves, dense, strict=True):
        if whole:
            end = at + target.arity * n_values
            yield Planes(None, counts[at:end].reshape(target.arity, n_values))
            at = end
        else:
            yield Planes.of_rows(stored, row, target.arity)
            row += target.arity
