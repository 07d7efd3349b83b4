"""Tables with something to predict, and what makes one tree the same as another."""

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import strategies as st

from oracles import counts as oracles
from oracles import tree as tree_oracle
from support.strategies import assert_identical
from tacit import _core
from tacit.tree.growth.coding import MISSING
from tacit.tree.nodes import Nodes

CLASSIFYING = ("bayes_factor", "bic", "entropy", "gini")
REGRESSING = ("squared_error", "normal")
PLAIN = {
    "criterion": "bayes_factor",
    "unit": 1.0,
    "prior": "k2",
    "prior_weight": 1.0,
    "log_kappa": math.log(0.1),
    "leaf_prices": False,
    "split_prices": (),
    "min_leaf": 1,
    "max_depth": -1,
    "max_leaves": -1,
    "min_gain": 0.0,
    "binary": True,
    "complete": False,
    "merge": False,
    "normal": (0.0, 1.0, 1.0, 5.0),
}


@dataclass(frozen=True)
class Case:
    """A dense table of codes, a target, and how to grow."""

    codes: np.ndarray
    arities: list[int]
    defaults: list[int]
    target: np.ndarray  # classes, or the numbers of a regression
    n_classes: int  # 0 for a regression
    settings: dict
    ordered: list[int] | None = None
    weights: np.ndarray | None = None  # fixed-point
    excluded: tuple[int, ...] = ()

    @property
    def offsets(self):
        return np.concatenate(([0], np.cumsum(np.array(self.arities) - 1))).astype(np.int64)

    @property
    def n_values(self):
        return int(self.offsets[-1])

    def table(self, dtype=np.uint16):
        """Return (indptr, values, start, rows, offsets, defaults, ordered)."""
        defaults = np.array(self.defaults, np.int64)
        records, columns = np.nonzero(self.codes != defaults)
        codes = self.codes[records, columns]
        values = self.offsets[columns] + codes - (codes > defaults[columns])
        lengths = np.bincount(records, minlength=len(self.codes))
        held = np.bincount(values, minlength=self.n_values)
        ordered = self.ordered or [0] * len(self.arities)
        return (
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            values.astype(dtype),
            np.concatenate(([0], np.cumsum(held))).astype(np.int64),
            records[np.argsort(values, kind="stable")].astype(np.int32),
            self.offsets,
            defaults,
            np.array(ordered, np.uint8),
        )

    def arguments(self, dtype=np.uint16):
        """Return what the kernel and the oracle take."""
        classes = moments = None
        if self.n_classes:
            classes = self.target.astype(np.int32)
        else:
            weight = 1 if self.weights is None else self.weights
            number = self.target.astype(np.int64)
            moments = (weight * number, weight * number * number)
        excluded = list(self.excluded)
        rest = (excluded, classes, self.n_classes, moments, self.weights, self.settings)
        return (*self.table(dtype), *rest)

    def growth(self):
        return tree_oracle.growth(*self.arguments())

    def nodes(self, kernel, dtype=np.uint16):
        return Nodes(*kernel(*self.arguments(dtype)))

    def with_(self, **changes):
        return replace(self, **changes)

    def ruled(self, **changes):
        return replace(self, settings={**self.settings, **changes})


def table_of(rows, target, **settings):
    """Return a small case that is written out by hand: codes, their arities, defaults 0."""
    codes = np.array(rows, np.int64)
    arities = (codes.max(axis=0) + 1).tolist()
    target = np.array(target)
    n_classes = 0 if settings.get("criterion") in REGRESSING else int(target.max()) + 1
    return Case(codes, arities, [0] * len(arities), target, n_classes, {**PLAIN, **settings})


@st.composite
def rules(draw, criteria=CLASSIFYING, unit=1.0):
    binary, complete = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
    return {
        "criterion": draw(st.sampled_from(criteria)),
        "unit": unit,
        "prior": draw(st.sampled_from(["k2", "bdeu"])),
        "prior_weight": draw(st.sampled_from([1.0, 0.3, 2.5])),
        "log_kappa": draw(st.sampled_from([math.log(0.1), math.log(0.7), 0.0])),
        "leaf_prices": False,
        "split_prices": (),
        "min_leaf": int(draw(st.sampled_from([1, 1, 0, 2, 3])) * unit),
        "max_depth": draw(st.sampled_from([-1] * 6 + [4, 2, 1, 0])),
        "max_leaves": draw(st.sampled_from([-1] * 6 + [8, 5, 3, 1])),
        "min_gain": draw(st.sampled_from([0.0, 0.0, 0.0, 0.4])),
        "binary": binary,
        "complete": complete,
        "merge": False,
        "normal": draw(st.sampled_from([(0.0, 1.0, 1.0, 5.0), (1.5, 0.2, 2.0, 0.7)])),
    }


@st.composite
def cases(draw, criteria=CLASSIFYING + REGRESSING, min_rows=1, max_rows=80):
    """Tables of mixed arities 1 … 6 with any defaults; the target follows some columns, mostly.

    The codes come from a drawn seed: most tables then have something to split.
    """
    arities = draw(st.lists(st.integers(2, 6) | st.integers(1, 3), min_size=2, max_size=8))
    unit = draw(st.sampled_from([1.0, 1.0, 4.0]))
    drawn = draw(rules(criteria, unit))
    if drawn["criterion"] in ("bayes_factor", "bic", "normal"):
        prices = st.sampled_from([0.0, 0.5, math.log(3), 2.0])
        drawn["split_prices"] = draw(
            st.just(())
            | prices.map(lambda price: (price,) * len(arities))
            | st.tuples(*[prices] * len(arities))
        )
        by_leaf = drawn["criterion"] != "normal" and not drawn["split_prices"]
        drawn["leaf_prices"] = by_leaf and draw(st.booleans())
    n_classes = (
        draw(st.sampled_from([2, 2, 3, 4, 6, 1])) if drawn["criterion"] in CLASSIFYING else 0
    )
    excluded = tuple(draw(st.sets(st.integers(0, len(arities) - 1), max_size=1)))
    return random_case(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(min_rows, max_rows)),
        arities,
        n_classes,
        density=draw(st.sampled_from([0.6, 0.2, 1.0])),
        weighted=unit != 1.0 or draw(st.booleans()),
        **drawn,
    ).with_(excluded=excluded)


def random_case(
    seed, n_records, arities, n_classes, density=0.2, weighted=False, ordered=True, **settings
):
    """Return a larger table: most values default, the target a noisy function of some columns."""
    draw = np.random.default_rng(seed)
    sizes = np.array(arities)
    defaults = draw.integers(0, sizes)
    shape = (n_records, len(sizes))
    steps = draw.integers(0, sizes, shape) * (draw.random(shape) < density)
    codes = (steps + defaults) % sizes
    followed = draw.choice(len(sizes), min(3, len(sizes)), replace=False)
    signal = (codes[:, followed] * draw.integers(1, 4, len(followed))).sum(axis=1)
    signal = signal + draw.integers(0, 9, n_records) * (draw.random(n_records) < 0.3)
    weights = draw.integers(0, 5, n_records) if weighted else None
    if weighted:
        weights[0] = 3
    # Of ordered columns some have missing values: their last codes.
    order = (draw.choice([0, 1, 1 + MISSING], len(sizes)) if ordered else 0 * sizes).tolist()
    target = signal % n_classes if n_classes else signal
    settings = {**PLAIN, **settings}
    return Case(
        codes, list(arities), defaults.tolist(), target, n_classes, settings, order, weights
    )


def parts_of(nodes, node, case):
    """Return the codes that go to each child of a node."""
    column, default = int(nodes.column[node]), case.defaults[nodes.column[node]]
    ids = oracles.value_ids(case.arities, case.defaults)
    inside = {code: v for (c, code), v in ids.items() if c == column}
    low, high = int(nodes.low[node]), int(nodes.high[node])
    if nodes.complete[node]:
        assert (low, high) == (case.offsets[column], case.offsets[column + 1])
        return [{code} for code, _ in sorted(inside.items(), key=lambda pair: pair[1])] + [
            {default}
        ]
    also = int(nodes.also[node])
    held = {code for code, v in inside.items() if low <= v < high or v == also}
    return [held, set(range(case.arities[column])) - held]


def assert_same(grown, expected, numbered=True):
    """Two trees or graphs ask the same everywhere and count the same; gains are close."""
    met = {0: 0}
    stack = [(0, 0)]
    while stack:
        i, j = stack.pop()
        assert not numbered or i == j
        np.testing.assert_array_equal(grown.counts[i], expected.counts[j])
        assert math.isclose(grown.prior_fraction[i], expected.prior_fraction[j], rel_tol=1e-12)
        assert math.isclose(grown.gain[i], expected.gain[j], rel_tol=1e-9, abs_tol=1e-7)
        assert grown.column[i] == expected.column[j]
        assert grown.left[i] == expected.left[j]
        assert grown.right[i] == expected.right[j]
        if grown.column[i] < 0:
            continue
        assert grown.low[i] == expected.low[j]
        assert grown.high[i] == expected.high[j]
        assert grown.also[i] == expected.also[j]
        assert grown.complete[i] == expected.complete[j]
        for a, b in zip(
            grown.children_of(i).tolist(), expected.children_of(j).tolist(), strict=True
        ):
            if a not in met:
                stack.append((a, b))
            assert met.setdefault(a, b) == b
    assert grown.n_nodes == expected.n_nodes == len(met) == len(set(met.values()))


def total_score(nodes, case):
    """Return the score of a whole tree or graph from its leaves, or from gains if prices differ."""

    def score(i):
        return tree_oracle.leaf_score(nodes.counts[i], nodes.prior_fraction[i], case.settings)

    if case.settings["leaf_prices"]:
        return score(0) + math.fsum(nodes.gain[~nodes.leaves])
    scores = [score(i) for i in np.flatnonzero(nodes.leaves)]
    weight = nodes.counts[0].sum() if case.n_classes else nodes.counts[0][0]
    penalty = tree_oracle.leaf_penalty(case.n_classes, weight, case.settings)
    prices = case.settings["split_prices"]
    paid = math.fsum(prices[column] for column in nodes.column[~nodes.leaves]) if prices else 0.0
    return math.fsum(scores) + (len(scores) - 1) * penalty - paid


def records_of(nodes, case):
    """Return the records that come to each node, by asking them one question after another."""
    come = [np.zeros(len(case.codes), bool) for _ in range(nodes.n_nodes)]
    come[0][:] = True
    for node in range(nodes.n_nodes):
        if nodes.column[node] < 0:
            continue
        codes = case.codes[:, nodes.column[node]]
        for part, child in zip(
            parts_of(nodes, node, case), nodes.children_of(node).tolist(), strict=True
        ):
            assert child > node
            come[child] |= come[node] & np.isin(codes, list(part))
    return [np.flatnonzero(mask) for mask in come]


def assert_valid(nodes, case):
    """What must hold even where rounding chose: counts, prior, gains, and nothing better left out.

    Every split is as good as the best one that the oracle finds for the same records, the leaf with
    the largest gain is split first, and no leaf is left that should have been split.
    """
    growth = case.ruled(max_depth=0, merge=False).growth()
    growth.settings = case.settings
    grown, tops = [], []
    ways = ways_to(nodes, case)
    for node, records in enumerate(records_of(nodes, case)):
        stats = growth.row_stats[records].sum(axis=0)
        np.testing.assert_array_equal(nodes.counts[node], stats)
        grown.append(tree_oracle.Node(records, stats, ways[node], int(nodes.depths[node])))
        splits = growth.candidates(grown[-1])
        tops.append(max(splits, key=lambda split: split.gain) if splits else None)
    fractions = [tree_oracle.share_of(way, case.settings) for way in ways]
    np.testing.assert_allclose(nodes.prior_fraction, fractions, rtol=1e-12)
    for node in np.flatnonzero(~nodes.leaves).tolist():
        best = tops[node].gain
        assert nodes.gain[node] == pytest.approx(best, rel=1e-7, abs=1e-7)
        assert growth.surplus(grown[node], nodes.gain[node])[0] > -1e-7
    for node in np.flatnonzero(nodes.leaves).tolist():
        room = case.settings["max_leaves"] - nodes.n_leaves
        fits = tops[node] and (case.settings["max_leaves"] < 0 or len(tops[node].parts) - 1 <= room)
        if fits:
            assert growth.surplus(grown[node], tops[node].gain)[0] <= 1e-7
    if case.settings["merge"]:
        assert_nothing_to_merge(nodes, case)
    else:
        assert_best_first(nodes, tops)


def ways_to(nodes, case):
    """Return all ways to each node, as the oracle has them."""
    ways = [[] for _ in range(nodes.n_nodes)]
    ways[0] = tree_oracle.ROOT
    for node in np.flatnonzero(~nodes.leaves).tolist():
        column = int(nodes.column[node])
        children = nodes.children_of(node).tolist()
        for part, child in zip(parts_of(nodes, node, case), children, strict=True):
            ways[child] += tree_oracle.enter(ways[node], column, case.arities[column], part)
    return ways


def assert_best_first(nodes, tops):
    """No leaf was split while another one that was split later had a larger gain."""
    inner = np.flatnonzero(~nodes.leaves).tolist()
    inner.sort(key=lambda node: nodes.children_of(node).min())
    for place, node in enumerate(inner):
        there = nodes.children_of(node).min()
        waiting = [tops[other].gain for other in inner[place + 1 :] if other < there]
        assert nodes.gain[node] >= max(waiting, default=-math.inf) - 1e-7


def assert_nothing_to_merge(nodes, case):
    leaves = np.flatnonzero(nodes.leaves).tolist()
    weight = nodes.counts[0].sum()
    penalty = tree_oracle.leaf_penalty(case.n_classes, weight, case.settings)
    fraction = nodes.prior_fraction
    score = {i: tree_oracle.leaf_score(nodes.counts[i], fraction[i], case.settings) for i in leaves}
    for i, j in combinations(leaves, 2):
        counts = nodes.counts[i] + nodes.counts[j]
        merged = tree_oracle.leaf_score(counts, fraction[i] + fraction[j], case.settings)
        assert merged - score[i] - score[j] - penalty <= 1e-7


def assert_as_expected(kernel, case, dtype=np.uint16):
    """The kernel grows what the oracle does. Return whether that could be told node by node."""
    nodes = case.nodes(kernel, dtype)
    growth = case.growth()
    limited = case.settings["max_leaves"] >= 0 or case.settings["merge"]
    if growth.doubtful or (growth.order_doubtful and limited):
        assert_valid(nodes, case)
        return False
    assert_same(nodes, Nodes(*growth.arrays()), numbered=not growth.order_doubtful)
    assert math.isclose(total_score(nodes, case), growth.total, rel_tol=1e-12, abs_tol=1e-7)
    return True


def assert_same_forest(network, expected):
    """Check that two dependency networks have the same trees, to the bit."""
    for name, array in expected.forest_.arrays.items():
        assert_identical(network.forest_.arrays[name], array)


def grow_tree(
    indptr, values, start, rows, offsets, defaults, ordered, excluded, classes, n_classes, moments,
    weights, settings,
):  # fmt: skip
    """Call the kernel with what the oracle takes."""
    table = _core.TreeTable(indptr, values, start, rows, offsets, defaults, ordered, weights)
    return _core.grow_tree(table, excluded, classes, n_classes, moments, settings)


def grow_forest(
    indptr, values, start, rows, offsets, defaults, ordered, targets, pairs, weights, settings,
    n_jobs,
):  # fmt: skip
    """Call the kernel with what the oracle takes."""
    table = _core.TreeTable(indptr, values, start, rows, offsets, defaults, ordered, weights)
    return _core.grow_forest(table, targets, pairs, settings, n_jobs)
