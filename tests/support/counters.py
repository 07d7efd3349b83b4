"""All counters under one roof, and the questions tests put to them."""

import itertools

import numpy as np
from hypothesis import strategies as st

import tacit
from oracles import counts as oracles
from support.strategies import assert_identical, label
from tacit import ADTree
from tacit.counts import Bitmaps, Scan

ENGINES = {
    **{f"scan, {n} jobs": lambda t, n=n: Scan(t, n_jobs=n) for n in (1, 2, 3, 7)},
    "bitmaps": Bitmaps,
    **{f"tree, leaves of {n}": lambda t, n=n: ADTree(t, leaf_size=n) for n in (1, 2, 16, 1000)},
    **{f"tree, depth {n}": lambda t, n=n: ADTree(t, leaf_size=1, max_depth=n) for n in (0, 1, 2)},
    "full tree": lambda t: ADTree(t, leaf_size=2).build(),
    "planner": tacit.counter,
    "planner without memo": lambda t: tacit.counter(t, memo=0),
}


@st.composite
def questions(draw, d):
    """Some columns in any order, and conditions on these and on others, as codes."""
    places = range(len(d.arities))
    columns = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    held = draw(st.lists(st.sampled_from(places), max_size=2, unique=True))
    given = {c: draw(st.integers(0, d.arities[c] - 1)) for c in held}
    return columns, given


@st.composite
def conditions(draw, d):
    """Sets of codes of some columns, empty and full ones too, and a query that means them."""
    places = range(len(d.arities))
    held = draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True))
    codes, query = {}, {}
    for c in held:
        labels = [label(code) for code in range(d.arities[c])]
        chosen = draw(st.sets(st.integers(0, d.arities[c] - 1)))
        way = draw(st.sampled_from(["set", "list", "exclude", "between"]))
        if way == "between":
            first, last = sorted(draw(st.tuples(*[st.integers(0, d.arities[c] - 1)] * 2)))
            codes[c] = set(range(first, last + 1))
            query[d.names[c]] = tacit.between(labels[first], labels[last])
            continue
        codes[c] = set(range(d.arities[c])) - chosen if way == "exclude" else chosen
        collection = (set if way == "set" else list)(labels[code] for code in chosen)
        query[d.names[c]] = tacit.exclude(collection) if way == "exclude" else collection
    return codes, query


def expected(d, columns, given):
    chosen = oracles.matching_rows(d.rows, given)
    return oracles.joint_counts(d.rows, d.arities, columns, d.weights, chosen)


def labelled(d, given):
    return {d.names[c]: label(code) for c, code in given.items()}


def all_questions(arities, n_columns, rng, conditions=1):
    """Every set of so many columns, in a random order, with random conditions."""
    for columns in itertools.combinations(range(len(arities)), n_columns):
        held = rng.choice(len(arities), conditions, replace=False)
        given = {int(c): int(rng.integers(arities[c])) for c in held}
        yield [int(c) for c in rng.permutation(columns)], given


class Numbers:
    """A large table of integer labels 0, 1, …, each its own code, with a quick oracle."""

    def __init__(self, codes, arities, defaults=None, weights=None):
        self.codes, self.arities, self.weights = codes, list(arities), weights
        defaults = [0] * len(self.arities) if defaults is None else defaults
        self.defaults = [int(default) for default in defaults]

    def table(self):
        # One record more holds each label once, so that labels are codes; it is then dropped.
        names = [f"c{c}" for c in range(len(self.arities))]
        n_more = max(self.arities)
        more = np.arange(n_more)[:, None] % np.array(self.arities)
        frame = {
            name: np.concatenate([more[:, c], self.codes[:, c]]) for c, name in enumerate(names)
        }
        table = tacit.Table(frame, defaults=dict(zip(names, self.defaults, strict=True)))
        table = table.take(np.arange(n_more, n_more + len(self.codes)))
        return table if self.weights is None else table.with_weights(self.weights)

    def count(self, columns, given):
        rows = np.ones(len(self.codes), bool)
        for c, code in given.items():  # or a list of codes
            rows &= np.isin(self.codes[:, c], code)
        counts = np.zeros([self.arities[c] for c in columns], np.int64)
        np.add.at(counts, tuple(self.codes[rows, c] for c in columns), 1)
        return counts


def assert_counts(counter, columns, given, counts):
    """A counter's table holds these counts in all its layouts."""
    for layout in ("dense", "sparse", "auto"):
        assert_identical(counter.table(columns, given, layout=layout).to_array(), counts)
