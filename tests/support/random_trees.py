"""Random trees, graphs and forests over a table's columns, and slow walks down them."""

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Flat:
    """A tree or a graph as flat arrays; node numbers begin at `base`."""

    column: np.ndarray
    low: np.ndarray
    high: np.ndarray
    complete: np.ndarray
    first: np.ndarray
    children: np.ndarray
    also: np.ndarray  # a further id that goes inside, or -1

    @property
    def arrays(self):
        splits = self.column, self.low, self.high, self.complete
        return *splits, self.first, self.children, self.also

    def children_of(self, node):
        n = self.high[node] - self.low[node] + 1 if self.complete[node] else 2
        return self.children[self.first[node] : self.first[node] + n].tolist()


LEAF = [-1, 0, 0, 0, 0, -1]


def flat_tree(nodes, children):
    """Lay out nodes of column, low, high, complete, first and also."""
    column, low, high, complete, first, also = np.array(nodes, np.int32).T.copy()
    complete = complete.astype(np.uint8)
    return Flat(column, low, high, complete, first, np.array(children, np.int32), also)


def random_tree(random, arities, excluded=(), max_nodes=15, merge=False):
    """Grow a tree with random splits; in a graph, some children are nodes that others have, too."""
    offsets = [0, *itertools.accumulate(arity - 1 for arity in arities)]
    columns = [c for c, arity in enumerate(arities) if arity > 1 and c not in excluded]
    nodes = [LEAF]
    children = []
    node = 0
    while node < len(nodes):
        room = len(nodes) < max_nodes and columns
        if room and (node == 0 or random.random() < 0.7):
            column = random.choice(columns)
            low, high, also = offsets[column], offsets[column + 1], -1
            complete = random.random() < 0.3
            if not complete:
                low = random.randint(low, high - 1)
                end, high = high, random.choice([low + 1, high])
                if high < end and random.random() < 0.5:
                    also = random.randint(high, end - 1)
            nodes[node] = [column, low, high, int(complete), len(children), also]
            for _ in range(high - low + 1 if complete else 2):
                if merge and len(nodes) > node + 1 and random.random() < 0.3:
                    children.append(random.randint(node + 1, len(nodes) - 1))
                else:
                    children.append(len(nodes))
                    nodes.append(LEAF)
        node += 1
    return flat_tree(nodes, children)


def random_chain(random, arities, excluded=()):
    """Grow the chain that sparse data bring about: each outside child asks about the next id."""
    offsets = [0, *itertools.accumulate(arity - 1 for arity in arities)]
    ids = [
        (c, v)
        for c in range(len(arities))
        if c not in excluded
        for v in range(offsets[c], offsets[c + 1])
    ]
    random.shuffle(ids)
    nodes, children = [], []
    for column, v in ids:
        place = len(nodes)
        nodes += [[column, v, v + 1, 0, len(children), -1], LEAF]
        children += [place + 1, place + 2]
    nodes.append(LEAF)
    return flat_tree(nodes, children)


def walk(tree, ids, node=0):
    """Return the leaf of a record that holds these value ids."""
    while tree.column[node] >= 0:
        low, high, also = tree.low[node], tree.high[node], tree.also[node]
        inside = [v for v in ids if low <= v < high or v == also]
        below = tree.children_of(node)
        if tree.complete[node]:
            node = below[inside[0] - tree.low[node]] if inside else below[-1]
        else:
            node = below[0] if inside else below[1]
    return node


@dataclass(frozen=True)
class Forest:
    """One tree for each column, one after another, with a number for each leaf and code."""

    flat: Flat
    roots: np.ndarray
    table: np.ndarray
    start: np.ndarray
    arities: list[int]

    @property
    def arrays(self):
        return self.roots, *self.flat.arrays

    def leaf(self, target, ids):
        return walk(self.flat, ids, int(self.roots[target]))

    def row(self, target, node):
        """Return a node's numbers, one for each code of its target."""
        size = self.arities[target]
        begin = self.start[target] + (node - self.roots[target]) * size
        return self.table[begin : begin + size]


def random_forest(random, arities, zeros=False):
    """Make a tree for each column given the others, with probabilities in all nodes."""
    trees = []
    for target in range(len(arities)):
        make = random_chain if random.random() < 0.3 and sum(arities) > 4 else random_tree
        trees.append(make(random, arities, excluded=(target,)))
        if not len(trees[-1].column):
            trees[-1] = random_tree(random, arities, excluded=range(len(arities)))
    roots = np.array([0, *itertools.accumulate(len(t.column) for t in trees)], np.int64)
    places = [0, *itertools.accumulate(len(t.children) for t in trees)]
    flat = Flat(
        *(np.concatenate([getattr(t, name) for t in trees])
          for name in ("column", "low", "high", "complete")),
        np.concatenate([t.first + place for t, place in zip(trees, places, strict=False)]),
        np.concatenate([t.children + root for t, root in zip(trees, roots, strict=False)]),
        np.concatenate([t.also for t in trees]),
    )  # fmt: skip
    flat = Flat(*(a.astype(np.uint8 if a is flat.complete else np.int32) for a in flat.arrays))
    sizes = np.diff(roots) * arities
    numbers = []
    for target, tree in enumerate(trees):
        for _ in tree.column:
            row = [random.random() + 1e-3 for _ in range(arities[target])]
            if zeros and random.random() < 0.3:
                row = [float(k == 0) for k in range(arities[target])]
            numbers += [p / sum(row) for p in row]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Forest(flat, roots, np.array(numbers), start, list(arities))
