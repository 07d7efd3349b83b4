"""What must hold of counts whatever the data: the design's invariants 2 to 5."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import any_weights, assert_identical, data, defaults_of, label, subsets
from tacit import Table

few = settings(max_examples=40)
PAIR_WAYS = [
    {"layout": "dense", "method": "outer"},
    {"layout": "dense", "method": "bitmap"},
    {"layout": "sparse"},
    {},
]


def ways(table):
    """Return the ways to count pairs that this table allows."""
    if table.weights is None:
        return PAIR_WAYS
    return [way for way in PAIR_WAYS if way.get("method") != "bitmap"]


def assert_counts(table, d):
    """One-way, two-way, pair and contingency counts are the oracle's."""
    n = len(d.arities)
    singles = table.one_way(records=d.chosen)
    assert singles.total == d.total()
    for c in range(n):
        np.testing.assert_array_equal(singles.array(c), d.joint([c]))
    expected = {(a, b): joint(d, a, b) for a, b in itertools.product(range(n), repeat=2)}
    for a in range(n):
        if d.arities[a] == 1:
            continue
        counts = table.two_way(a, records=d.chosen)
        for b in range(n):
            np.testing.assert_array_equal(counts[b].to_array(), expected[a, b])
    for way in ways(table):
        pairs = table.pairs(records=d.chosen, **way)
        for (a, b), counts in expected.items():
            np.testing.assert_array_equal(pairs[a, b].to_array(), counts)
    for (a, b), counts in expected.items():
        if a != b:
            found = table.contingency([a, b], records=d.chosen)
            np.testing.assert_array_equal(found.to_array(), counts)


def joint(d, a, b):
    return d.joint([a, b]) if a != b else np.diag(d.joint([a]))


@given(d=data(max_rows=12, max_columns=5))
@few
def test_counts_equal_the_oracle_for_any_defaults(d):
    assert_counts(d.table(), d)


@given(d=data(max_rows=12, max_columns=4), pick=st.data())
@few
def test_changing_defaults_changes_no_count(d, pick):
    other = d.with_(defaults=pick.draw(defaults_of(d.arities)))
    defaults = dict(zip(d.names, map(label, other.defaults), strict=True))
    table = d.table().with_defaults(defaults)
    assert table.schema.defaults.tolist() == other.defaults
    assert_identical(table.values, other.table().values)
    assert_counts(table, d)


@given(d=data(max_rows=12, max_columns=5), pick=st.data())
@few
def test_a_matrix_with_any_label_as_default_counts_the_same(d, pick):
    codes = np.array(d.rows)
    table = Table(codes, weights=d.weights)
    labels = [list(column.labels) for column in table.columns]
    defaults = {str(c): pick.draw(st.sampled_from(own)) for c, own in enumerate(labels)}
    table = Table(codes, weights=d.weights, defaults=defaults)
    counts = table.one_way(records=d.chosen)
    cube = table.contingency(range(len(d.arities)), records=d.chosen).to_array()
    for c, own in enumerate(labels):
        expected = d.joint([c])
        padded = [expected[x] if x < len(expected) else 0 for x in own]
        assert list(counts[c].values()) == padded
        axes = tuple(k for k in range(len(labels)) if k != c)
        np.testing.assert_array_equal(cube.sum(axis=axes), padded)


@given(d=data(max_rows=20), pick=st.data())
@few
def test_every_table_sums_to_the_weight_of_the_matching_records(d, pick):
    table = d.table()
    n = len(d.arities)
    columns = pick.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    asked = pick.draw(st.lists(st.integers(0, n - 1), max_size=2, unique=True))
    query = {c: pick.draw(st.integers(0, d.arities[c] - 1)) for c in asked}
    given_labels = {d.names[c]: label(code) for c, code in query.items()}
    matching = d.with_(chosen=oracles.matching_rows(d.rows, query, d.chosen))
    how = {"records": d.chosen, "given": given_labels}
    found = table.contingency(columns, **how)
    assert found.total == matching.total()
    np.testing.assert_array_equal(found.to_array(), matching.joint(columns))
    assert table.one_way(**how).total == matching.total()
    for c in range(n):
        assert table.one_way(**how).array(c).sum() == matching.total()
        for way in ways(table):
            assert table.pairs(**how, **way)[0, c].total == matching.total()
        if d.arities[0] > 1:
            assert table.two_way(0, **how)[c].total == matching.total()


@given(d=data(), pick=st.data())
@few
def test_where_and_count_find_the_matching_records(d, pick):
    table = d.table()
    asked = pick.draw(st.lists(st.integers(0, len(d.arities) - 1), max_size=3, unique=True))
    query = {c: pick.draw(st.integers(0, d.arities[c] - 1)) for c in asked}
    by_name = {d.names[c]: label(code) for c, code in query.items()}
    expected = oracles.matching_rows(d.rows, query)
    assert table.where(by_name).tolist() == expected
    assert table.count(by_name) == d.with_(chosen=expected).total()


@given(d=data(with_chosen=False), pick=st.data())
@few
def test_counts_of_two_parts_add_up_to_those_of_the_whole(d, pick):
    table = d.table()
    left = pick.draw(subsets(len(d.rows)))
    right = np.setdiff1d(np.arange(len(d.rows)), left)
    parts = [{"records": part} for part in (left, right)]
    whole = table.one_way().counts
    np.testing.assert_array_equal(sum(table.one_way(**part).counts for part in parts), whole)
    for way in ways(table):
        added = sum(table.pairs(**part, **way).stored for part in parts)
        difference = added - table.pairs(**way).stored
        assert abs(difference).sum() == 0
    if d.arities[0] > 1:
        added = sum(table.two_way(0, **part).counts for part in parts)
        np.testing.assert_array_equal(added, table.two_way(0).counts)


@given(d=data(with_chosen=False), pick=st.data())
@few
def test_a_table_put_together_again_counts_the_same(d, pick):
    table = d.table()
    cut = pick.draw(st.integers(0, len(d.rows)))
    masks = [np.arange(len(d.rows)) < cut, np.arange(len(d.rows)) >= cut]
    whole = Table.concat([table.take(mask) for mask in masks if mask.any()])
    np.testing.assert_array_equal(whole.to_numpy(), table.to_numpy())
    assert_counts(whole, d)


@given(d=data(weights=st.integers(0, 3).map(float), with_chosen=False, max_rows=12))
@few
def test_a_weight_of_k_equals_the_record_k_times(d):
    weights = np.full(len(d.rows), 2.0) if d.weights is None else d.weights
    if not weights.any():
        weights = weights + 1
    repeated = [row for row, w in zip(d.rows, weights, strict=True) for _ in range(int(w))]
    once = d.with_(weights=weights).table()
    often = d.with_(rows=repeated, weights=None).table()
    np.testing.assert_array_equal(once.one_way().counts, often.one_way().counts)
    for way in ways(once):
        weighted, counted = once.pairs(**way), often.pairs(**way)
        for a, b in itertools.combinations_with_replacement(range(len(d.arities)), 2):
            found, expected = weighted[a, b].to_array(), counted[a, b].to_array()
            np.testing.assert_array_equal(found, expected)
    for a, arity in enumerate(d.arities):
        if arity > 1:
            np.testing.assert_array_equal(once.two_way(a).counts, often.two_way(a).counts)


@given(d=data(weights=any_weights, max_rows=12))
@few
def test_rounded_weights_never_make_a_count_negative(d):
    table = d.table()
    total = d.total()
    for c in range(len(d.arities)):
        counts = table.one_way(records=d.chosen).array(c)
        assert (counts >= 0).all()
        np.testing.assert_allclose(counts, d.joint([c]), rtol=1e-9, atol=1e-9 * (1 + total))
    pairs = table.pairs(records=d.chosen, layout="dense")
    for a, b in itertools.product(range(len(d.arities)), repeat=2):
        counts = pairs[a, b].to_array()
        assert (counts >= 0).all()
        np.testing.assert_allclose(counts, joint(d, a, b), rtol=1e-9, atol=1e-9 * (1 + total))


@pytest.mark.parametrize("jobs", [1, 2, 3, 7, 64, 2**31, -1, -2, -99, None, np.int64(2)])
def test_no_count_depends_on_the_number_of_threads(jobs):
    rng = np.random.default_rng(3)
    table = Table(rng.integers(0, 4, (500, 9)), weights=rng.random(500))
    some = np.arange(0, 500, 3)
    for how in ({}, {"records": some}, {"given": {"0": 1}}):
        one, more = (
            (t.one_way(**how, n_jobs=n), t.two_way("2", **how, n_jobs=n), t.pairs(**how, n_jobs=n))
            for t, n in ((table, 1), (table.with_weights(table.weights), jobs))
        )
        assert_identical(more[0].counts, one[0].counts)
        assert_identical(more[1].counts, one[1].counts)
        assert_identical(more[2].stored, one[2].stored)
