"""Slow, obvious growth of decision trees and graphs on a dense table, never by calling tacit.

`grow_tree` and `grow_forest` take and return what the compiled ones do. Node 0 is the root. A
tree's nodes are numbered as they come: the inside child of a split gets the next number, then the
outside one; a complete split's children follow in the order of their ids, the default's last.
A graph's nodes are renumbered at the end, breadth first from the root, a node once all its parents
have their numbers, so that children have larger numbers than their parents there as well.

What the definitions leave open is settled here as follows.

- Every child of a complete split is a node, also one without records, and counts in the penalty
  and among the leaves.
- A column of two values has only its binary split, which is then its complete split too: it may be
  asked about whichever kind of split is allowed.
- A leaf whose best split finds no room below `max_leaves` is left as it is, others go on.
- Missing values, the last code of columns marked so, are tried on both sides of every threshold
  that has other values on both sides; above it comes first. A leaf without any sends them to the
  side of most records, above where these are equal.
- A code occurs in a node if records of a positive weight have it. A threshold lies right above the
  last code that occurs below it.
- A pure leaf is not split, whatever the criterion.
- In a graph, a merged leaf is a new node, as deep as the deeper of the two. Of steps that gain the
  same, the one with the earlier leaf comes first: its split, then its merges with later leaves.
- Arrays of a leaf hold column -1, left and right -1, and 0 for low, high, first and gain.
"""

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

MISSING = 4  # more in `ordered`: the last code of a column is that of missing values
TIE = 1e-9  # gains that differ by no more, relative to the best or to 1, are the same
BY_PROBABILITY = ("bayes_factor", "bic", "normal")  # a split has to gain something


def dense(indptr, values, offsets, defaults):
    """Return the codes of all records and columns."""
    n_records = len(indptr) - 1
    codes = np.tile(np.asarray(defaults, np.int64), (n_records, 1))
    records = np.repeat(np.arange(n_records), np.diff(indptr))
    columns = np.searchsorted(offsets, values, side="right") - 1
    ranks = values.astype(np.int64) - offsets[columns]
    codes[records, columns] = ranks + (ranks >= defaults[columns])
    return codes


def leaf_score(stats, share, settings):
    """Return what a leaf adds to the score; `stats` are fixed-point sums."""
    unit = settings["unit"]
    counts = [float(s) / unit for s in stats]
    criterion = settings["criterion"]
    if criterion == "squared_error":
        weight, first, _ = counts
        return first * first / weight if weight > 0 else 0.0
    if criterion == "normal":
        return normal_score(*counts, *settings["normal"])
    total = sum(counts)
    if total == 0:
        return 0.0
    if criterion == "bayes_factor":
        k = len(counts)
        a = settings["prior_weight"]
        if settings["prior"] == "bdeu":
            a = a * share / k
        terms = [math.lgamma(a + c) - math.lgamma(a) for c in counts]
        return math.lgamma(k * a) - math.lgamma(k * a + total) + math.fsum(terms)
    if criterion == "gini":
        return math.fsum(c * c for c in counts) / total
    return math.fsum(c * math.log(c / total) for c in counts if c > 0)  # entropy and bic


def normal_score(weight, first, second, mean0, kappa0, alpha0, beta0):
    """Return the log marginal likelihood of normal data under a normal-inverse-gamma prior."""
    if weight == 0:
        return 0.0
    mean = first / weight
    spread = max(second - first * first / weight, 0.0)
    kappa = kappa0 + weight
    alpha = alpha0 + weight / 2
    beta = beta0 + spread / 2 + kappa0 * weight * (mean - mean0) ** 2 / (2 * kappa)
    return (
        math.lgamma(alpha)
        - math.lgamma(alpha0)
        + alpha0 * math.log(beta0)
        - alpha * math.log(beta)
        + 0.5 * math.log(kappa0 / kappa)
        - weight / 2 * math.log(2 * math.pi)
    )


def leaf_penalty(n_classes, root_weight, settings):
    """Return what each leaf beyond the first adds to the score; `root_weight` is in units."""
    criterion = settings["criterion"]
    if criterion == "bayes_factor":
        return (n_classes - 1) * settings["log_kappa"]
    if criterion == "normal":
        return 2 * settings["log_kappa"]
    if criterion == "bic":
        root = root_weight / settings["unit"]
        return -(n_classes - 1) * 0.5 * math.log(max(root, 1.0))
    return 0.0


# The prior of BDeu is shared in proportion to the joint space of all columns' codes. The ways that
# lead to a node are pairs of a fraction of that space and {column: codes that are possible}.
ROOT = [(1.0, {})]
LEAST_SHARE = 1e-150  # also of a node that no way leads to


def enter(ways, column, arity, part):
    """Return the ways on which the code of a column is one of `part`."""
    entered = []
    for fraction, known in ways:
        possible = known.get(column, set(range(arity)))
        if kept := possible & set(part):
            entered.append((fraction * len(kept) / len(possible), {**known, column: kept}))
    return entered


def share_of(ways, settings):
    """Return the fraction of the prior's weight that a node with these ways has."""
    if settings["prior"] != "bdeu":
        return 1.0
    return max(math.fsum(fraction for fraction, _ in ways), LEAST_SHARE)


@dataclass
class Split:
    """One way to split a leaf: each child's codes."""

    column: int
    low: int
    high: int
    parts: list[list[int]]
    complete: bool = False
    threshold: int = -1  # the last code of the lower side
    also: int = -1  # the id of missing values, where they go inside beside the range
    below: bool = False  # whether missing values are on the lower side of the threshold
    gain: float = 0.0
    price: float = 0.0
    left: int = -1
    right: int = -1


@dataclass
class Node:
    records: np.ndarray
    stats: np.ndarray
    ways: list
    depth: int
    split: Split | None = None
    children: list[int] = field(default_factory=list)
    best: Split | None = None


def missing_below(split, last, arity, offset, default):
    """Have all codes up to `last`, and missing values, on the lower side of a threshold."""
    missing, end = arity - 1, offset + arity - 1
    lower, upper = [*range(last + 1), missing], list(range(last + 1, missing))
    is_lower = default in upper
    split.parts = [lower, upper] if is_lower else [upper, lower]
    split.threshold, split.below, split.also = last, True, end - 1 if is_lower else -1
    value_id = lambda code: offset + code - (code > default)  # noqa: E731
    if is_lower:
        split.low, split.high = offset, value_id(last + 1)
    else:
        split.low, split.high = value_id(last + 1), value_id(missing - 1) + 1
    return split


def column_splits(column, arity, offset, default, ordered, settings):
    """List the splits of one column in the order in which they are compared."""
    ids = [(offset + rank, rank + (rank >= default)) for rank in range(arity - 1)]
    end = offset + arity - 1
    codes = list(range(arity))
    binary = settings["binary"] or (arity == 2 and settings["complete"])
    if binary and ordered:
        for v, code in ids:
            last = code if code < default else code - 1
            below, above = codes[: last + 1], codes[last + 1 :]
            inside, outside = (below, above) if code < default else (above, below)
            low, high = (offset, v + 1) if code < default else (v, end)
            yield Split(column, low, high, [inside, outside], threshold=last)
        for _, code in ids if ordered & MISSING else []:
            last = code if code < default else code - 1
            if last + 1 < arity - 1:
                yield missing_below(Split(column, 0, 0, []), last, arity, offset, default)
    elif binary:
        for v, code in ids:
            rest = [c for c in codes if c != code]
            yield Split(column, v, v + 1, [[code], rest])
        if arity > 2:
            rest = [c for c in codes if c != default]
            yield Split(column, offset, end, [rest, [default]])
    if settings["complete"] and arity > 2:
        parts = [[code] for _, code in ids] + [[default]]
        yield Split(column, offset, end, parts, complete=True)


class Growth:
    """Grows one tree or graph.

    `doubtful` says that a choice of a split hung on a difference that rounding could turn, and
    `order_doubtful` that the order did, in which leaves were split or merged.
    """

    def __init__(
        self, codes, offsets, defaults, ordered, excluded, row_stats, settings, regression
    ):
        self.codes = codes
        self.offsets = offsets
        self.defaults = defaults
        self.ordered = ordered
        self.columns = [c for c in range(codes.shape[1]) if c not in set(excluded)]
        self.row_stats = row_stats
        self.settings = settings
        self.regression = regression
        self.doubtful = False
        self.order_doubtful = False
        everyone = np.arange(len(codes))
        self.nodes = [Node(everyone, row_stats.sum(axis=0), ROOT, 0)]
        self.penalty = leaf_penalty(row_stats.shape[1], self.weight(self.nodes[0].stats), settings)
        self.live = {0}  # numbers of the leaves
        self.nodes[0].best = self.best_split(self.nodes[0])
        self.grow()
        if settings["merge"]:
            if settings["criterion"] not in ("bayes_factor", "bic"):
                raise ValueError("merge: only bayes_factor and bic")
            self.refine()

    def weight(self, stats):
        return int(stats[0]) if self.regression else int(stats.sum())

    def score(self, node):
        return leaf_score(node.stats, share_of(node.ways, self.settings), self.settings)

    @property
    def total(self):
        """The score of the whole: its leaves', the penalty of all but one, and its splits'."""
        leaves = [self.score(self.nodes[i]) for i in sorted(self.live)]
        paid = math.fsum(self.price(node.split) for node in self.nodes if node.split is not None)
        return math.fsum(leaves) + (len(leaves) - 1) * self.penalty - paid

    def price(self, split):
        """Return what a split costs by the prior of the structure."""
        prices = self.settings["split_prices"]
        return prices[split.column] if len(prices) else split.price

    # Prices by leaf: of a column that could pay, among its splits there

    def could_gain(self, node, side):
        """Return what a split gains whose smaller side has this weight, the rarest classes first.

        Each side has a half of the prior's weight.
        """
        inside, room = np.zeros_like(node.stats), side
        for place in np.argsort(node.stats, kind="stable"):
            inside[place] = min(room, node.stats[place])
            room -= inside[place]
        half = share_of(node.ways, self.settings) / 2
        sides = [leaf_score(x, half, self.settings) for x in (inside, node.stats - inside)]
        return math.fsum(sides) - self.score(node) + self.penalty

    def best_weight(self, node):
        """Return the weight of the smaller side that could gain most, of those of whole classes."""
        half = self.weight(node.stats) // 2
        best, most = 0, self.could_gain(node, 0)
        for up_to in np.cumsum(np.sort(node.stats)).tolist():
            gain = self.could_gain(node, min(up_to, half))
            if gain > most + TIE:
                best, most = min(up_to, half), gain
            if up_to > half:
                break
        return best

    def column_sides(self, weights, ordered):
        """List the weights of one side of each binary split of a column, given those of codes."""
        if not (ordered and len(weights) > 2):
            return list(weights)
        sides = np.cumsum(weights)[:-1].tolist()
        if ordered & MISSING and weights[-1]:
            sides += [int(below + weights[-1]) for below in sides[:-1]]
        return sides

    def n_splits(self, weights, ordered):
        """Return how many splits a column has in a leaf, given the weights of its codes."""
        occur = np.count_nonzero(weights)
        if len(weights) == 2:
            return 1
        is_number, n = (ordered & ~MISSING) == 2, 0
        if self.settings["binary"] or is_number:
            if ordered:
                n = 2 * occur - 3 if ordered & MISSING and weights[-1] else occur - 1
            else:
                n = occur if occur > 2 else 1
        return max(n + (self.settings["complete"] and not is_number), 1)

    def leaf_prices(self, node, tables):
        """Return what a split of each column costs in a leaf, and whether rounding could turn it.

        `tables` has the statistics of each column's codes.
        """
        whole, peak = self.weight(node.stats), self.best_weight(node)
        least = max(self.settings["min_leaf"], 1)
        reach, splits = {}, {}
        for column, table in tables.items():
            weights = [self.weight(row) for row in table]
            ordered = int(self.ordered[column])
            splits[column] = self.n_splits(weights, ordered)
            sides = [min(w, whole - w) for w in self.column_sides(weights, ordered)]
            below = max((s for s in sides if least <= s <= peak), default=0)
            above = min((s for s in sides if s >= least and s > peak), default=0)
            gains = [self.could_gain(node, s) for s in (below, above) if s > 0]
            reach[column] = max(gains, default=-math.inf)

        def price(column, n):
            return math.log(max(n * splits[column], 10))

        def surplus(n):
            return [reach[column] - price(column, n) - TIE for column in tables]

        for n in range(1, len(tables) + 1):
            self.doubtful |= any(abs(x) < TIE for x in surplus(n))
            if sum(x > 0 for x in surplus(n)) <= n:
                break
        return {column: price(column, n) for column in tables}

    # Splits

    def is_pure(self, stats):
        if not self.regression:
            return np.count_nonzero(stats) <= 1
        return self.deviation(stats) <= 1e-12 * self.deviation(self.nodes[0].stats)

    def deviation(self, stats):
        weight, first, second = (float(s) / self.settings["unit"] for s in stats)
        return second - first * first / weight if weight > 0 else 0.0

    def evaluate(self, node, split, table):
        """Return whether a split is allowed, setting its gain."""
        stats = [table[part].sum(axis=0) for part in split.parts]
        weights = [self.weight(s) for s in stats]
        if split.complete:
            weights = [w for w in weights if w > 0]
        if len(weights) < 2 or min(weights) < max(self.settings["min_leaf"], 1):
            return False
        if split.threshold >= 0:  # it lies right above the last code that occurs below it
            occurs = [c for c in range(len(table)) if self.weight(table[c]) > 0]
            if not self.place_threshold(split, table, occurs):
                return False
        scores = [
            leaf_score(s, share_of(ways, self.settings), self.settings)
            for s, ways in zip(stats, self.ways(node, split), strict=True)
        ]
        n_more = len(split.parts) - 1
        split.gain = math.fsum(scores) - self.score(node) + n_more * self.penalty
        split.gain -= self.price(split)
        return True

    def place_threshold(self, split, table, occurs):
        """Put a threshold right above the last code below it; return whether it is one."""
        arity, missing = len(table), len(table) - 1
        known = [c for c in occurs if not (split.below and c == missing)]
        if min(known) > split.threshold:  # missing values alone against the others: known already
            return False
        split.left = max(c for c in known if c <= split.threshold)
        split.right = min(c for c in known if c > split.threshold)
        offset, default = int(self.offsets[split.column]), int(self.defaults[split.column])
        some_missing = missing in occurs
        if self.ordered[split.column] & MISSING and not some_missing:
            # Where nothing is missing, what will be goes to the larger side.
            if split.below:
                return False
            lower, all_of_it = table[: split.left + 1].sum(axis=0), table.sum(axis=0)
            split.below = 2 * self.weight(lower) > self.weight(all_of_it)
        if split.below:
            missing_below(split, split.left, arity, offset, default)
        else:
            below, above = range(split.left + 1), range(split.left + 1, arity)
            is_below = min(split.parts[0]) == 0
            split.parts = [list(below), list(above)] if is_below else [list(above), list(below)]
        return True

    def ways(self, node, split):
        """List the ways to each child."""
        arity = int(self.offsets[split.column + 1] - self.offsets[split.column]) + 1
        return [enter(node.ways, split.column, arity, part) for part in split.parts]

    def candidates(self, node):
        """List the splits that a leaf may have, in order, whatever they gain."""
        if 0 <= self.settings["max_depth"] <= node.depth:
            return []
        if self.is_pure(node.stats):
            return []
        allowed, tables = [], {}
        for column in self.columns:
            offset = int(self.offsets[column])
            arity = int(self.offsets[column + 1]) - offset + 1
            table = np.zeros((arity, len(node.stats)), np.int64)
            np.add.at(table, self.codes[node.records, column], self.row_stats[node.records])
            tables[column] = table
            default, ordered = int(self.defaults[column]), int(self.ordered[column])
            splits = column_splits(column, arity, offset, default, ordered, self.settings)
            allowed += [split for split in splits if self.evaluate(node, split, table)]
        if self.settings["leaf_prices"] and tables:
            prices = self.leaf_prices(node, tables)
            for split in allowed:
                split.price = prices[split.column]
                split.gain -= split.price
        return allowed

    def surplus(self, node, gain):
        """Return by how much a gain is more than it has to be, and what is too close to tell."""
        least = self.settings["min_gain"]
        if self.settings["criterion"] in BY_PROBABILITY:
            return gain - max(least, 0.0), 1e-9
        slack = 1e-9 * self.weight(node.stats) / self.settings["unit"]
        return gain - least + slack, slack / 2

    def best_split(self, node):
        """Return the first of the best splits of a leaf, or None where none is good enough."""
        allowed = self.candidates(node)
        if not allowed:
            return None
        top = max(split.gain for split in allowed)
        margin = TIE * max(1.0, abs(top))
        best = next(split for split in allowed if split.gain >= top - margin)
        if any(margin / 10 < top - split.gain < 100 * margin for split in allowed):
            self.doubtful = True
        surplus, close = self.surplus(node, best.gain)
        self.doubtful |= abs(surplus) < close
        greedy = self.settings["criterion"] not in BY_PROBABILITY
        return best if surplus > 0 or (greedy and surplus == 0) else None

    def split(self, number):
        node = self.nodes[number]
        split = node.best
        self.live.remove(number)
        node.split = split
        for part, ways in zip(split.parts, self.ways(node, split), strict=True):
            records = node.records[np.isin(self.codes[node.records, split.column], part)]
            stats = self.row_stats[records].sum(axis=0)
            child = Node(records, stats, ways, node.depth + 1)
            child.best = self.best_split(child)
            node.children.append(len(self.nodes))
            self.live.add(len(self.nodes))
            self.nodes.append(child)

    def open_leaves(self):
        """List the leaves that have a split and room for it."""
        limit = self.settings["max_leaves"]
        room = math.inf if limit < 0 else limit - len(self.live)
        return [
            i
            for i in sorted(self.live)
            if self.nodes[i].best is not None and len(self.nodes[i].best.parts) - 1 <= room
        ]

    def grow(self):
        """Split the leaf that gains most, until none may be split."""
        while leaves := self.open_leaves():
            self.split(leaves[self.first_best([self.nodes[i].best.gain for i in leaves])])

    def first_best(self, gains):
        """Return the place of the first gain that is as large as any."""
        best = max(gains)
        near = max(1.0, abs(best))
        if any(1e-10 * near < best - gain < 1e-7 * near for gain in gains):
            self.order_doubtful = True
        return next(place for place, gain in enumerate(gains) if gain >= best - TIE * near)

    # Merges

    def merged(self, i, j):
        a, b = self.nodes[i], self.nodes[j]
        records = np.concatenate((a.records, b.records))
        return Node(records, a.stats + b.stats, a.ways + b.ways, max(a.depth, b.depth))

    def merge(self, i, j):
        union = self.merged(i, j)
        union.best = self.best_split(union)
        new = len(self.nodes)
        self.nodes.append(union)
        self.live = self.live - {i, j} | {new}
        for node in self.nodes:
            node.children = [new if child in (i, j) else child for child in node.children]

    def refine(self):
        """Merge or split, whichever gains most, until nothing gains anything."""
        while True:
            steps = [(i, -1, self.nodes[i].best.gain) for i in self.open_leaves()]
            for i, j in combinations(sorted(self.live), 2):
                apart = self.score(self.nodes[i]) + self.score(self.nodes[j])
                steps.append((i, j, self.score(self.merged(i, j)) - apart - self.penalty))
            steps = sorted(step for step in steps if step[2] > 1e-9)
            if not steps:
                return
            i, j, _ = steps[self.first_best([gain for _, _, gain in steps])]
            if j < 0:
                self.split(i)
            else:
                self.merge(i, j)

    # Results

    def numbering(self):
        """Return the order of the nodes: as they came, or breadth first in a graph."""
        if not self.settings["merge"]:
            return list(range(len(self.nodes)))
        waiting = {}
        reached, stack = {0}, [0]
        while stack:
            for child in self.nodes[stack.pop()].children:
                waiting[child] = waiting.get(child, 0) + 1
                if child not in reached:
                    reached.add(child)
                    stack.append(child)
        order, queue = [], deque([0])
        while queue:
            order.append(queue.popleft())
            for child in self.nodes[order[-1]].children:
                waiting[child] -= 1
                if waiting[child] == 0:
                    queue.append(child)
        return order

    def arrays(self):
        """Return the flat arrays (column, low, …, stats)."""
        order = self.numbering()
        number = {node: place for place, node in enumerate(order)}
        nodes = [self.nodes[i] for i in order]
        leaf = Split(-1, 0, 0, [])
        splits = [node.split or leaf for node in nodes]
        children = [number[child] for node in nodes for child in node.children]
        widths = [len(node.children) for node in nodes]
        starts = np.concatenate(([0], np.cumsum(widths)))[:-1]
        first = np.where(np.array(widths) > 0, starts, 0)
        return (
            np.array([s.column for s in splits], np.int32),
            np.array([s.low for s in splits], np.int32),
            np.array([s.high for s in splits], np.int32),
            np.array([s.complete for s in splits], np.uint8),
            np.array([s.left for s in splits], np.int32),
            np.array([s.right for s in splits], np.int32),
            first.astype(np.int32),
            np.array(children, np.int32),
            np.array([s.gain for s in splits], np.float64),
            np.array([share_of(node.ways, self.settings) for node in nodes], np.float64),
            np.array([s.also for s in splits], np.int32),
            np.array([node.stats for node in nodes], np.int64),
        )


def row_statistics(n_records, classes, n_classes, moments, weights):
    """Return what each record adds to its node's statistics."""
    each = np.ones(n_records, np.int64) if weights is None else np.asarray(weights, np.int64)
    if classes is None:
        return np.column_stack((each, *moments)).astype(np.int64)
    rows = np.zeros((n_records, n_classes), np.int64)
    rows[np.arange(n_records), classes] = each
    return rows


def growth(
    indptr,
    values,
    start,
    rows,
    offsets,
    defaults,
    ordered,
    excluded,
    classes,
    n_classes,
    moments,
    weights,
    settings,
):
    """Grow a tree or graph and return it with what is known about it.

    The postings (start, rows) say nothing that the records do not.
    """
    codes = dense(indptr, values, offsets, defaults)
    row_stats = row_statistics(len(codes), classes, n_classes, moments, weights)
    return Growth(codes, offsets, defaults, ordered, excluded, row_stats, settings, classes is None)


def grow_tree(*arguments, **named):
    """Grow a tree, or with settings["merge"] a graph; the arguments are those of `growth`.

    A graph's nodes are renumbered breadth first, each once all its parents have their numbers.
    """
    return growth(*arguments, **named).arrays()


def grow_forest(
    indptr,
    values,
    start,
    rows,
    offsets,
    defaults,
    ordered,
    targets,
    pairs,
    weights,
    settings,
    n_jobs,
):
    """Grow a tree for each target column, given all other columns; `pairs` add nothing."""
    codes = dense(indptr, values, offsets, defaults)
    table = (indptr, values, start, rows, offsets, defaults, ordered)
    trees = []
    for target in np.asarray(targets).tolist():
        classes = codes[:, target].astype(np.int32)
        arity = int(offsets[target + 1] - offsets[target]) + 1
        trees.append(grow_tree(*table, [target], classes, arity, None, weights, settings))
    return joined(trees)


def joined(trees):
    """Lay trees one after another, with common numbers of nodes and of places of children."""
    roots = np.concatenate(([0], np.cumsum([len(tree[0]) for tree in trees]))).astype(np.int64)
    places = np.concatenate(([0], np.cumsum([len(tree[7]) for tree in trees])))
    sizes = np.concatenate(([0], np.cumsum([tree[11].size for tree in trees]))).astype(np.int64)
    types = [np.int32] * 3 + [np.uint8] + [np.int32] * 4 + [np.float64] * 2 + [np.int32]
    parts = [[np.zeros(0, kind)] for kind in types]
    for t, tree in enumerate(trees):
        for place, part in enumerate(tree[:11]):
            shift = {6: places[t] * (tree[0] >= 0), 7: roots[t]}.get(place, 0)
            parts[place].append((part + shift).astype(part.dtype))
    stats = np.concatenate([np.zeros(0, np.int64), *(tree[11].ravel() for tree in trees)])
    return (roots, *(np.concatenate(part) for part in parts), stats, sizes)
