"""Counts of weights are exact until they are shown: no default, order or partition matters."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.partitions import cut
from support.strategies import assert_identical
from tacit import Table
from tacit.counts.exact import Exact

# From one end of the doubles to the other, whole numbers and tenths among them.
WEIGHTS = st.one_of(
    st.floats(0, 1e300), st.sampled_from([0.0, 0.1, 0.3, 1.0, 1e-9, 1e9, 5e-324, 1e-300, 2.0**60])
)


def tables(weights):
    rng = np.random.default_rng(len(weights))
    return Table(rng.integers(0, 3, (len(weights), 3)), weights=weights)


def all_counts(table):
    """Return all counts of a table, as they are shown."""
    every = [table.one_way().counts]
    every += [table.two_way(c).counts for c in range(3) if table.schema.arities[c] > 1]
    for layout in ("dense", "sparse"):
        pairs = table.pairs(layout=layout)
        every += [pairs[a, b].to_array() for a, b in itertools.product(range(3), repeat=2)]
    return every


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=WEIGHTS))
@settings(max_examples=300)
def test_sums_are_rounded_once(weights):
    assert float(Exact.sum_of(weights).rounded()) == math.fsum(weights)
    half = len(weights) // 2
    parts = [Exact.sum_of(some) for some in (weights[:half], weights[half:]) if len(some)]
    assert float(sum(parts[1:], parts[0]).rounded()) == math.fsum(weights)


@given(hnp.arrays(np.float64, (4, 7), elements=WEIGHTS))
@settings(max_examples=100)
def test_many_sums_at_once(weights):
    sums = [Exact.sum_of(row) for row in weights]
    positions = sorted({p for x in sums for p in x.digits})
    stacked = Exact({p: np.array([x.at(p) for x in sums]) for p in positions})
    assert_identical(stacked.rounded(), np.array([math.fsum(row) for row in weights]))


@given(hnp.arrays(np.float64, st.integers(2, 20), elements=WEIGHTS), st.data())
@settings(max_examples=100)
def test_no_count_depends_on_defaults_or_order(weights, data):
    table = tables(weights)
    expected = all_counts(table)
    labels = table.schema.labels
    defaults = {str(c): data.draw(st.sampled_from(list(labels[c]))) for c in range(3)}
    order = np.array(data.draw(st.permutations(range(len(weights)))))
    codes = np.column_stack([table.codes(c) for c in range(3)])
    labelled = np.column_stack([np.array(table.schema.labels[c])[codes[:, c]] for c in range(3)])
    shuffled = Table(labelled[order], weights=weights[order])
    others = [table.with_defaults(defaults), shuffled]
    for other in others:
        for found, wanted in zip(all_counts(other), expected, strict=True):
            assert_identical(found, wanted)


@given(hnp.arrays(np.float64, st.integers(2, 20), elements=WEIGHTS), st.data())
@settings(max_examples=50)
def test_partitions_give_the_same_numbers(weights, data):
    table = tables(weights)
    ends = data.draw(st.lists(st.integers(0, len(weights)), max_size=4))
    for found, expected in zip(all_counts(cut(table, ends)), all_counts(table), strict=True):
        assert_identical(found, expected)


def test_a_weight_beside_one_that_is_much_larger():
    table = Table({"a": ["x", "x", "y"], "b": ["u", "v", "u"]}, weights=[1e9, 1e-9, 1e9])
    for a, b in itertools.product("xy", "uv"):
        other = table.with_defaults({"a": a, "b": b})
        expected = other.contingency(["a", "b"]).to_array()
        assert expected.tolist() == [[1e9, 1e-9], [1e9, 0.0]]
        assert other.one_way()["b"] == {"u": 2e9, "v": 1e-9}
        assert_identical(other.two_way("a")["b"].to_array(), expected)
        for layout in ("dense", "sparse"):
            assert_identical(other.pairs(layout=layout)["a", "b"].to_array(), expected)


def test_whole_weights_beyond_what_was_taken_for_rounding():
    """A count of 1 beside one of 10¹³ is no error of rounding."""
    table = Table({"a": [0, 0, 1]}, weights=[1e13, 1.0, 1.0]).with_defaults({"a": 1})
    assert table.one_way()["a"] == {0: 1e13 + 1, 1: 1.0}


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_threads_and_sums_of_the_engine(jobs):
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.1, 10, 3000) * 10.0 ** rng.integers(-6, 6, 3000)
    table = Table(rng.integers(0, 4, (3000, 5)), weights=weights)
    pairs, two = table.pairs(n_jobs=jobs), table.two_way(1, n_jobs=jobs)
    for b in (0, 2, 3, 4):
        expected = table.contingency([1, b]).to_array()
        assert_identical(pairs[1, b].to_array(), expected)
        assert_identical(two[b].to_array(), expected)
