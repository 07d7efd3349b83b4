"""Conditions that are sets and ranges of labels: the counts of the labels one by one, added up."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles import counts as oracles
from support.counters import ENGINES, assert_counts, conditions, expected, labelled, questions
from support.strategies import any_weights, assert_identical, data
from tacit import ADTree, Table, between, exclude
from tacit.counts import Scan
from tacit.scale.partitioned_table import of_tables


@pytest.mark.parametrize("name", ENGINES)
@given(draw=st.data())
@settings(max_examples=25)
def test_every_engine_counts_sets_like_the_oracle(name, draw):
    d = draw.draw(data(max_rows=40, with_chosen=False))
    counter = ENGINES[name](d.table())
    for _ in range(2):
        columns, _ = draw.draw(questions(d))
        codes, query = draw.draw(conditions(d))
        counts = expected(d, columns, codes)
        assert_counts(counter, columns, query, counts)
        rows = oracles.matching_rows(d.rows, codes)
        assert counter.count(query) == (len(rows) if d.weights is None else sum(d.weights[rows]))
        assert_identical(counter.tables([columns], query)[0].to_array(), counts)


@pytest.mark.parametrize("name", ENGINES)
@given(draw=st.data())
@settings(max_examples=10)
def test_a_set_is_the_union_of_its_labels(name, draw):
    d = draw.draw(data(max_rows=40, weights=None, with_chosen=False))
    counter = ENGINES[name](d.table())
    columns, _ = draw.draw(questions(d))
    codes, query = draw.draw(conditions(d))
    union = np.zeros([d.arities[c] for c in columns], np.int64)
    for one_by_one in itertools.product(*codes.values()):
        single = labelled(d, dict(zip(codes, one_by_one, strict=True)))
        union += counter.table(columns, single).to_array()
    assert_identical(counter.table(columns, query).to_array(), union)


@given(draw=st.data())
@settings(max_examples=40)
def test_weighted_sums_of_sets_are_the_same_to_the_bit(draw):
    d = draw.draw(data(max_rows=40, weights=any_weights, with_chosen=False))
    columns, _ = draw.draw(questions(d))
    _, query = draw.draw(conditions(d))
    table = d.table()
    first = Scan(table).table(columns, query).to_array()
    for make in ENGINES.values():
        assert_counts(make(table), columns, query, first)
    other = d.with_(defaults=[draw.draw(st.integers(0, arity - 1)) for arity in d.arities])
    assert_identical(Scan(other.table()).table(columns, query).to_array(), first)


@given(draw=st.data(), min_count=st.integers(2, 9), leaf_size=st.sampled_from([1, 3, 16]))
@settings(max_examples=150)
def test_bounds_hold_the_counts_of_sets(draw, min_count, leaf_size):
    d = draw.draw(data(max_rows=40, weights=None, with_chosen=False))
    tree = ADTree(d.table(), leaf_size=leaf_size, min_count=min_count)
    columns, _ = draw.draw(questions(d))
    codes, query = draw.draw(conditions(d))
    found = tree.table(columns, query)
    true, estimate = expected(d, columns, codes), found.to_array()
    lower, upper = (bound.to_array() for bound in found.bounds())
    assert (lower >= 0).all()
    assert (lower <= true).all()
    assert (true <= upper).all()
    assert (lower <= estimate).all()
    assert (estimate <= upper).all()
    least, most = tree.interval(query)
    rows = oracles.matching_rows(d.rows, codes)
    assert 0 <= least <= tree.count(query) <= most <= len(d.rows)
    assert least <= len(rows) <= most
    assert ADTree(d.table()).interval(query) == (len(rows), len(rows))


@given(d=data(max_rows=40), draw=st.data())
@settings(max_examples=60)
def test_tables_take_sets_wherever_they_take_a_query(d, draw):
    codes, query = draw.draw(conditions(d))
    table = d.table()
    rows = oracles.matching_rows(d.rows, codes)
    assert table.where(query).tolist() == rows
    chosen = oracles.matching_rows(d.rows, codes, d.chosen)
    few = d.with_(chosen=np.array(chosen, np.int64))
    for c in range(len(d.arities)):
        counts = table.one_way(given=query, records=d.chosen).array(c)
        assert_identical(counts, few.joint([c]))
    if d.arities[0] > 1:
        for c in range(1, len(d.arities)):
            pair = table.two_way(0, given=query, records=d.chosen)[c].to_array()
            assert_identical(pair, few.joint([0, c]))
            pair = table.pairs(given=query, records=d.chosen)[0, c].to_array()
            assert_identical(pair, few.joint([0, c]))
    counts = table.contingency([0], given=query, records=d.chosen).to_array()
    assert_identical(counts, few.joint([0]))


@given(draw=st.data())
@settings(max_examples=20)
def test_partitions_take_sets(draw):
    d = draw.draw(data(max_rows=30, with_chosen=False))
    cut = draw.draw(st.integers(1, len(d.rows)))
    table = d.table()
    ranges = [r for r in (np.arange(cut), np.arange(cut, len(d.rows))) if len(r)]
    parts = of_tables([table.take(r) for r in ranges])
    columns, _ = draw.draw(questions(d))
    codes, query = draw.draw(conditions(d))
    assert_identical(
        parts.contingency(columns, given=query).to_array(), expected(d, columns, codes)
    )
    assert parts.count(query) == table.count(query)
    for c in range(len(d.arities)):
        assert_identical(parts.one_way(given=query).array(c), table.one_way(given=query).array(c))


# Wide columns: sets of more codes than bitmaps are put together for


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("sparse", [False, True])
def test_sets_of_many_labels(name, sparse):
    rng = np.random.default_rng(8)
    n = 3000
    wide = rng.integers(0, 200, n) * ((rng.random(n) < 0.04) if sparse else 1)
    table = Table({"wide": [*range(200), *wide], "b": rng.integers(0, 3, n + 200)})
    counter = ENGINES[name](table)
    codes, b = table.codes("wide"), table.codes("b")
    for query, wanted in [
        (between(50, 170), (codes >= 50) & (codes <= 170)),
        (between(-3.5, 99.5), codes < 100),
        (exclude(between(20, 120)), (codes < 20) | (codes > 120)),
        (set(range(0, 200, 3)), codes % 3 == 0),
        (exclude(range(0, 200, 3)), codes % 3 > 0),
        ([0, between(190, None), 7], (codes == 0) | (codes == 7) | (codes >= 190)),
        (between(1000, 2000), codes < 0),
    ]:
        counts = np.bincount(b[wanted], minlength=3)
        assert_counts(counter, ["b"], {"wide": query}, counts)
        both = np.zeros((3, 200), np.int64)
        np.add.at(both, (b[wanted], codes[wanted]), 1)
        assert_counts(counter, ["b", "wide"], {"wide": query}, both)
        assert table.where({"wide": query}).tolist() == np.flatnonzero(wanted).tolist()


def test_labels_are_remembered_by_what_they_mean():
    counter = tacit.counter(Table({"a": [1, 2, 3, 3], "b": [0, 0, 1, 1]}))
    first = counter.table(["b"], {"a": [2, 3]})
    assert counter.table(["b"], {"a": between(1.5, None)}) is first
    assert counter.table(["b"], {"a": exclude(1)}) is first
    assert counter.table(["b"], {"a": exclude([])}) is counter.table(["b"])
    assert counter.plan(["b"], {"a": {2, 3}}).engine == "memo"


def test_a_set_of_all_labels_is_no_condition():
    d = Table({"a": [1, 2, 3, None], "b": [0, 0, 1, 1]})
    for make in ENGINES.values():
        counter = make(d)
        assert counter.count({"a": [1, 2, 3, None]}) == counter.count({"a": exclude([])}) == 4
        assert counter.count({"a": between()}) == 3
        assert counter.count({"a": []}) == counter.count({"a": exclude([1, 2, 3, None])}) == 0
        assert counter.table(["a"], {"a": ()}).total == 0


def test_no_number_is_beyond_infinity():
    inf = float("inf")
    for table in (
        tacit.Table({"x": [1.5, 2.5, None]}),
        tacit.Table({"x": [1, 2, 3]}),
        tacit.Table({"x": [1.5, 2.5, 3.5]}).cut({"x": [2.0]}),
    ):
        stored = table.count({"x": tacit.between()})
        assert table.count({"x": tacit.between(inf)}) == 0
        assert table.count({"x": tacit.between(None, -inf)}) == 0
        assert table.count({"x": tacit.between(-inf, inf)}) == stored


@pytest.mark.parametrize("end", [[1, 2], np.array([1, 2])])
def test_ends_are_single_values(end):
    with pytest.raises(tacit.InputError):
        tacit.Table({"x": [1, 2]}).count({"x": tacit.between(end)})
