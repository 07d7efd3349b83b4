"""A tree that grows while its leaves are counted elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tacit.tree.partitioned.leaf_histograms import ClassHistograms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["Candidates", "Condition", "GrowingTree", "Leaf", "Split", "Target"]

# A range of value ids of one column, and whether records hold one of them (1) or none (0).
Condition: TypeAlias = tuple[int, int, int]

FIRST_LOOKAHEAD = 6  # how many candidates for the next splits are counted at first


@dataclass(frozen=True)
class Target:
    """The column that a tree predicts."""

    column: int
    arity: int
    default: int  # the code that is not stored
    n_classes: int  # classes are the first codes; one behind them means that the target is missing
    base: int  # the class whose counts follow from those of the others

    @classmethod
    def of(cls, schema: Schema, column: int) -> Target:
        """Return a column all of whose labels are classes, the default being the base."""
        arity, default = len(schema.labels[column]), int(schema.defaults[column])
        return cls(column, arity, default, arity, default)

    def by_class(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts as trees have them: of all, then of the classes but the base.

        Given are rows of all, then of the codes but the default.
        """
        if self.base == self.default and self.n_classes == self.arity:
            return counts
        by_code = np.insert(counts[1:], self.default, counts[0] - counts[1:].sum(axis=0), axis=0)
        classes = np.delete(by_code[: self.n_classes], self.base, axis=0)
        return np.concatenate([counts[:1], classes])

    def histograms_by_class(self, by_code: ClassHistograms) -> ClassHistograms:
        """Return the histograms of a leaf as trees have them."""
        counts = self.by_class(by_code.counts)
        return by_code if counts is by_code.counts else ClassHistograms(by_code.ids, counts)

    def all_classes(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of all classes in order, from those of leaves: a row for each."""
        rest = totals[:, 0] - totals[:, 1:].sum(axis=1)
        return np.insert(totals[:, 1:], self.base, rest, axis=1)


class Split(NamedTuple):
    """What the kernel finds for a leaf; see :class:`tacit.tree.nodes.Nodes`."""

    column: int
    low: int
    high: int
    complete: int
    left: int
    right: int
    also: int
    gain: float
    rank: int


class Candidates(NamedTuple):
    """Binary splits that may come after one another, the most likely first."""

    # The ranges of ids inside.
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    weight: NDArray[np.int64]  # how many records are inside, as the sum of all class histograms


@dataclass(eq=False, slots=True)
class Leaf:
    """A node of a growing tree, and the leaf that it is before it is split."""

    parent: Leaf | None
    # What its records have to hold, and its parent's need not: see Condition.
    conditions: tuple[Condition, ...]
    depth: int
    prior_fraction: float  # of the prior's weight, under BDeu
    totals: NDArray[np.int64]  # the weights of all records, then of the classes but the base
    searched: bool = False  # whether its best split is known, or that there is none
    split: Split | None = None  # the best one, if it is worth making
    children: list[Leaf] = field(default_factory=list)  # what the split would make of it
    histograms: ClassHistograms | None = None  # its counts, kept for its children's
    # How many candidates for the next splits to count once it is split.
    lookahead: int = FIRST_LOOKAHEAD
    candidates: Candidates | None = None  # splits that may come after this leaf's, if it has one

    def path(self) -> Iterator[Condition]:
        """Yield the conditions on the way to it."""
        leaf = self
        while leaf.parent is not None:
            yield from leaf.conditions
            leaf = leaf.parent

    def set_split(
        self, split: Split, histograms: ClassHistograms, fractions: NDArray[np.float64]
    ) -> None:
        """Note the best split and what it makes; without fractions all children have 1."""
        self.split = split
        low, high, also = split.low, split.high, split.also
        conditions: list[tuple[Condition, ...]]
        if split.complete:
            conditions = [((v, v + 1, 1),) for v in range(low, high)]
            totals = histograms.each(low, high)
        elif also < 0:
            conditions, totals = [((low, high, 1),)], [histograms.sum(low, high)]
        else:  # any id of the column but those between: also is the last
            between = ((high, also, 0),) if high < also else ()
            conditions = [((low, also + 1, 1), *between)]
            totals = [histograms.sum(low, high) + histograms.sum(also, also + 1)]
        outside = ((low, high, 0),) if also < 0 else ((low, high, 0), (also, also + 1, 0))
        conditions.append(outside)
        totals.append(self.totals - np.sum(totals, axis=0))
        each = fractions.tolist() or [1.0] * len(conditions)
        for of_child, total, fraction in zip(conditions, totals, each, strict=True):
            self.children.append(Leaf(self, of_child, self.depth + 1, fraction, total))


class GrowingTree:
    """A tree of which some splits are known; -1 leaves are any number of them."""

    def __init__(self, target: Target, max_leaves: int) -> None:
        self.target = target
        self.root = Leaf(None, (), 0, 1.0, np.zeros(target.n_classes, np.int64))
        self.newly_split: list[Leaf] = []  # those whose splits are known since the last pass
        self.max_leaves = max_leaves

    def waiting(self) -> list[Leaf]:
        """Return leaves that are to be split, but whose children are yet to be searched."""
        if self.max_leaves < 0:
            split = self.newly_split
        else:
            _, split, n_leaves = self.grow()
            if n_leaves >= self.max_leaves:
                split = split[:-1]  # there is no room for what the last one's children become
        self.newly_split = []
        return [leaf for leaf in split if not all(child.searched for child in leaf.children)]

    def grow(self) -> tuple[list[Leaf], list[Leaf], int]:
        """Grow best first with the splits that are known.

        Returns the nodes in the order in which they are made, those that are split, and the number
        of leaves.
        """
        nodes, split, n_leaves = [self.root], [], 1
        queue: list[tuple[int, int]] = []  # larger ranks first, then earlier nodes
        if self.root.split is not None:
            queue.append((-self.root.split.rank, 0))
        most = 2**62 if self.max_leaves < 0 else self.max_leaves
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
        nodes, inner_nodes, _ = self.grow()
        inner = set(map(id, inner_nodes))
        number = {id(leaf): k for k, leaf in enumerate(nodes)}
        none = Split(-1, 0, 0, 0, -1, -1, -1, 0.0, 0)
        splits = [(leaf.split if id(leaf) in inner else None) or none for leaf in nodes]
        first: list[int] = []
        children: list[int] = []
        for leaf in nodes:
            first.append(len(children) if id(leaf) in inner else 0)
            if id(leaf) in inner:
                children += [number[id(child)] for child in leaf.children]
        return (
            np.array([split.column for split in splits], np.int32),
            np.array([split.low for split in splits], np.int32),
            np.array([split.high for split in splits], np.int32),
            np.array([split.complete for split in splits], np.uint8),
            np.array([split.left for split in splits], np.int32),
            np.array([split.right for split in splits], np.int32),
            np.array(first, np.int32),
            np.array(children, np.int32),
            np.array([split.gain for split in splits], np.float64),
            np.array([leaf.prior_fraction for leaf in nodes], np.float64),
            np.array([split.also for split in splits], np.int32),
            self.target.all_classes(np.array([leaf.totals for leaf in nodes], np.int64)),
        )
