"""Every counter gives the counts that reading row by row gives, however it is asked."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles import counts as oracles
from support.counters import ENGINES, assert_counts, expected, labelled, questions
from support.strategies import any_weights, assert_identical, data, exact_weights
from tacit import ADTree, Table
from tacit.counts import Bitmaps, Scan


@st.composite
def counters(draw, name):
    """Records, and an engine that counts them."""
    d = draw(data(max_rows=40, with_chosen=False))
    return d, ENGINES[name](d.table())


@pytest.mark.parametrize("name", ENGINES)
@given(draw=st.data())
@settings(max_examples=25)
def test_every_engine_counts_like_the_oracle(name, draw):
    d, counter = draw.draw(counters(name))
    for columns, held in draw.draw(st.lists(questions(d), min_size=1, max_size=4)):
        names = [d.names[c] for c in columns]
        assert_counts(counter, names, labelled(d, held), expected(d, columns, held))
        assert_counts(counter, columns, labelled(d, held), expected(d, columns, held))


@pytest.mark.parametrize("name", ENGINES)
@given(draw=st.data())
@settings(max_examples=20)
def test_every_engine_counts_one_query_like_the_oracle(name, draw):
    d, counter = draw.draw(counters(name))
    for _ in range(3):
        _, held = draw.draw(questions(d))
        rows = oracles.matching_rows(d.rows, held)
        count = len(rows) if d.weights is None else sum(d.weights[rows])
        counted = counter.count(labelled(d, held))
        assert counted == count
        assert isinstance(counted, int if d.weights is None else float)
    assert counter.count({}) == d.total()


@pytest.mark.parametrize("name", ENGINES)
@given(draw=st.data())
@settings(max_examples=15)
def test_many_tables_at_once_are_those_asked_for_one_by_one(name, draw):
    d, counter = draw.draw(counters(name))
    asked = draw.draw(st.lists(questions(d), max_size=5))
    held = asked[0][1] if asked else {}
    sets = [columns for columns, _ in asked]
    tables = counter.tables(sets, labelled(d, held))
    assert len(tables) == len(sets)
    assert tables.offsets.tolist()[0] == 0
    assert tables.offsets[-1] == len(tables.counts)
    for k, columns in enumerate(sets):
        counts = expected(d, columns, held)
        assert_identical(tables[k].to_array(), counts)
        assert [column.name for column in tables[k].columns] == [d.names[c] for c in columns]
        cells = tables.counts[tables.offsets[k] : tables.offsets[k + 1]]
        assert_identical(cells, counts.reshape(-1))
    by_name = counter.tables([[d.names[c] for c in columns] for columns in sets])
    whole = [expected(d, columns, {}).reshape(-1) for columns in sets]
    assert by_name.counts.tolist() == [count for table in whole for count in table]


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, np.uint64])
@pytest.mark.parametrize("name", ENGINES)
def test_sets_of_columns_can_be_an_array(name, dtype):
    rng = np.random.default_rng(5)
    counter = ENGINES[name](Table(rng.integers(0, 4, (100, 5))))
    sets = np.array([[0, 1], [4, 2], [3, 0], [2, 4]], dtype)
    from_array = counter.tables(sets)
    assert_identical(from_array.counts, counter.tables(sets.tolist()).counts)
    assert_identical(from_array.counts, counter.tables(sets[:, ::-1][:, ::-1]).counts)
    assert_identical(from_array[1].to_array(), from_array[3].to_array().T.copy())
    assert len(counter.tables(np.zeros((0, 2), dtype))) == 0
    assert len(counter.tables(np.zeros((0, 2), dtype)).counts) == 0


@pytest.mark.parametrize("name", ENGINES)
def test_columns_can_be_anything_that_lists_them(name):
    rng = np.random.default_rng(6)
    counter = ENGINES[name](Table(rng.integers(0, 4, (100, 5))))
    wanted = counter.table([3, 1]).to_array()
    for columns in ((3, 1), iter([3, 1]), (c for c in ("3", "1")), np.array([3, 1]), {3: 0, 1: 0}):
        assert_identical(counter.table(columns).to_array(), wanted)
    for sets in (iter([[3, 1]]), ((c for c in (3, 1)) for _ in range(1))):
        assert_identical(counter.tables(sets)[0].to_array(), wanted)


def test_tables_are_a_sequence():
    tables = Scan(Table({"a": [1, 2, 2], "b": [0, 0, 1]})).tables([["a"], ["b"], ["a", "b"]])
    assert [table.total for table in tables] == [3, 3, 3]
    assert_identical(tables[-1].to_array(), tables[2].to_array())
    assert [len(table.columns) for table in tables[1:]] == [1, 2]
    assert "3 tables of 8 cells" in repr(tables)
    with pytest.raises(IndexError):
        tables[3]


# Weights


@given(draw=st.data())
@settings(max_examples=40)
def test_weighted_sums_are_the_same_to_the_bit(draw):
    """Whatever the engine, the order of the records and the number of threads."""
    d = draw.draw(data(max_rows=40, weights=any_weights, with_chosen=False))
    weights = draw.draw(st.lists(any_weights, min_size=len(d.rows), max_size=len(d.rows)))
    d = d.with_(weights=np.array(weights, np.float64))
    order = draw.draw(st.permutations(range(len(d.rows))))
    shuffled = d.with_(rows=[d.rows[r] for r in order], weights=d.weights[order])
    table, mixed = d.table(), shuffled.table()
    columns, held = draw.draw(questions(d))
    first = Scan(table).table(columns, labelled(d, held)).to_array()
    for make in ENGINES.values():
        for of in (table, mixed):
            assert_counts(make(of), columns, labelled(d, held), first)
    for cell, sum_ in np.ndenumerate(first):
        own = [
            d.weights[r]
            for r in oracles.matching_rows(d.rows, held)
            if tuple(d.rows[r][c] for c in columns) == cell
        ]
        assert sum_ == pytest.approx(math.fsum(own), rel=1e-15, abs=1e-30)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300, 2.0**-20])
def test_weighted_sums_are_rounded_once(scale):
    rng = np.random.default_rng(3)
    codes, weights = rng.integers(0, 3, (5000, 4)), rng.random(5000) * scale
    table = Table(codes, weights=weights)
    own = np.array([[table.schema[c].code(v) for v in codes[:, c]] for c in range(4)]).T
    for make in ENGINES.values():
        found = make(table).table([3, 1]).to_array()
        for cell, sum_ in np.ndenumerate(found):
            assert sum_ == math.fsum(weights[(own[:, [3, 1]] == cell).all(axis=1)])


@given(draw=st.data())
@settings(max_examples=30)
def test_weights_of_any_size_count_the_same_everywhere(draw):
    d = draw.draw(data(max_rows=30, weights=None, with_chosen=False))
    powers = st.integers(-300, 300).map(lambda n: 10.0**n) | st.just(0.0)
    n = len(d.rows)
    d = d.with_(weights=np.array(draw.draw(st.lists(powers, min_size=n, max_size=n))))
    columns, held = draw.draw(questions(d))
    table = d.table()
    first = Scan(table).table(columns, labelled(d, held)).to_array()
    exact = expected(d, columns, held)
    np.testing.assert_allclose(first, exact, rtol=1e-15, atol=d.weights.max() * 2.0**-90)
    for make in ENGINES.values():
        assert_counts(make(table), columns, labelled(d, held), first)


@pytest.mark.parametrize("name", ENGINES)
def test_weights_of_zero_add_up_to_zero(name):
    rng = np.random.default_rng(8)
    counter = ENGINES[name](Table(rng.integers(0, 3, (60, 3)), weights=np.zeros(60)))
    assert_counts(counter, [0, 2], None, np.zeros((3, 3)))
    assert counter.count({}) == 0.0


@pytest.mark.parametrize("name", ENGINES)
@given(d=data(max_rows=15, with_chosen=False))
@settings(max_examples=10)
def test_a_weight_of_two_is_the_record_twice(name, d):
    twice = d.with_(rows=d.rows * 2, weights=None).table()
    weighted = d.with_(weights=np.full(len(d.rows), 2.0)).table()
    columns = list(range(len(d.arities)))[::-1][:3]
    counts = ENGINES[name](twice).table(columns).to_array()
    assert_identical(ENGINES[name](weighted).table(columns).to_array(), counts.astype(np.float64))


# Copies


@pytest.mark.parametrize("name", ENGINES)
@given(d=data(max_rows=20, weights=exact_weights, with_chosen=False))
@settings(max_examples=5)
def test_counters_can_be_pickled_and_copied(name, d):
    table = d.table()
    counter = ENGINES[name](table)
    columns = list(range(min(3, len(d.arities))))
    counts = counter.table(columns).to_array()
    for other in (pickle.loads(pickle.dumps(counter)), copy.deepcopy(counter)):
        assert type(other) is type(counter)
        assert other.schema == counter.schema
        assert_identical(other.table(columns).to_array(), counts)
    again = pickle.loads(pickle.dumps(table))
    assert_identical(again.contingency(columns).to_array(), counts)


def test_settings_survive_pickling():
    table = Table({"a": [1, 2, 2], "b": [0, 0, 1]})
    tree = ADTree(table, leaf_size=3, max_depth=2, memory_limit=10**6, min_count=4)
    other = pickle.loads(pickle.dumps(tree))
    for setting in ("leaf_size", "max_depth", "memory_limit", "min_count"):
        assert getattr(other, setting) == getattr(tree, setting)
    assert pickle.loads(pickle.dumps(Scan(table, n_jobs=3))).n_jobs == 3
    planner = pickle.loads(pickle.dumps(tacit.counter(table, memory_limit=10**6, memo=1000)))
    assert (planner.memory_limit, planner.memo) == (10**6, 1000)
    assert pickle.loads(pickle.dumps(Bitmaps(table))).count({"a": 2}) == 2


def test_counters_say_what_they_are_of():
    table = Table({"a": [1, 2, 2], "b": [0, 0, 1]})
    for make in ENGINES.values():
        assert "3 records × 2 columns" in repr(make(table))
        assert make(table).n_records == 3
        assert make(table).nbytes >= 0
