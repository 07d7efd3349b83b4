"""Counts by distinct records are those of a scan, with cached tables and without."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.counters import conditions, questions
from support.strategies import assert_identical, data
from tacit import InputError, Table
from tacit.counts import Distinct, Scan
from tacit.counts.distinct import CodeWords, CountedWords


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_it_counts_as_a_scan_does(draw):
    d = draw.draw(data(with_chosen=False))
    table = d.table().with_weights(None)
    distinct, scan = Distinct(table), Scan(table)
    assert distinct.n_records == table.n_records
    assert distinct.n_distinct == len(np.unique(table.to_numpy(), axis=0))
    if draw.draw(st.booleans()):
        distinct.cache()
    columns, _ = draw.draw(questions(d))
    _, query = draw.draw(conditions(d))
    assert distinct.count(query) == scan.count(query)
    for given_ in (None, query):
        for layout in ("dense", "sparse"):
            own = distinct.table(columns, given_, layout=layout)
            own.check()
            assert_identical(own.to_array(), scan.table(columns, given_, layout=layout).to_array())
    groups = [([columns, columns[:1]], query), ([[0]], None), ([], query)]
    for found, wanted in zip(distinct.linked(groups), scan.linked(groups), strict=True):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_identical(one.to_array(), other.to_array())
    own, other = distinct.cube(columns, query), scan.cube(columns, query)
    assert own.equals(other)


def some_records(n=20_000):
    rng = np.random.default_rng(3)
    return Table(np.stack([rng.integers(0, k, n) for k in (3, 5, 2, 7, 4)], axis=1))


def test_cached_tables_answer_every_question_they_can():
    table = some_records()
    distinct, plain, scan = Distinct(table), Distinct(table), Scan(table)
    n = distinct.cache(n_columns=3)
    assert n > 15
    assert distinct.nbytes > plain.nbytes
    assert distinct.cache(n_columns=3) == n  # all there
    query = {"0": [0, 2], "3": tacit.between(1, 5)}
    for columns in ([0], [3, 0], [1], [1, 0], [3, 1], [2, 1], [4, 3, 1]):
        for given_ in (None, query, {"0": []}, {"1": [4]}):
            wanted = scan.table(columns, given_).to_array()
            assert_identical(distinct.table(columns, given_).to_array(), wanted)
            assert_identical(plain.table(columns, given_).to_array(), wanted)


def test_a_cache_keeps_to_its_limit():
    distinct = Distinct(some_records())
    before = distinct.nbytes
    assert distinct.cache(memory_limit=200) == 5  # of one column each
    assert distinct.nbytes - before <= 200


def test_many_columns_take_several_words():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 50, (400, 30)) * (rng.random((400, 30)) < 0.05)
    table = Table(np.repeat(codes, rng.integers(1, 4, 400), axis=0))
    assert len(CodeWords(table.schema.arities.tolist())) > 1
    distinct = Distinct(table)
    assert distinct.n_distinct == len(np.unique(codes, axis=0))
    for c in (0, 7, 29):
        columns = [c, (c + 11) % 30]
        assert_identical(distinct.table(columns).to_array(), Scan(table).table(columns).to_array())


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_parts_merge_to_the_whole(draw):
    arities = draw.draw(st.lists(st.sampled_from([1, 2, 3, 2**20]), min_size=1, max_size=6))
    words = CodeWords(arities)
    rng = np.random.default_rng(draw.draw(st.integers(0, 99)))
    n, cut = 60, draw.draw(st.integers(1, 59))
    codes = [np.minimum(rng.geometric(0.5, n) - 1, arity - 1) for arity in arities]
    parts = [
        words.count(words.of(len(c[0]), c))
        for c in ([x[:cut] for x in codes], [x[cut:] for x in codes])
    ]
    merged, whole = words.merge(*parts), words.count(words.of(n, codes))
    assert_identical(merged.times, whole.times)
    for one, other in zip(merged.words, whole.words, strict=True):
        assert_identical(one, other)
    rows = np.repeat(np.stack(words.codes(whole), axis=1).astype(np.int64), whole.times, axis=0)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, np.stack(codes, axis=1)))


def test_records_that_occur_more_often_than_32_bits_say():
    table = Table({"a": [0, 1], "b": [1, 0]})
    words = CodeWords([2, 2])
    counted = CountedWords([np.array([1, 2], np.uint64)], np.array([2**33 + 5, 3]))
    distinct = Distinct.of_counts(table.schema, words, counted)
    assert distinct.n_records == 2**33 + 8
    assert distinct.count({"a": 0}) == 2**33 + 5
    assert distinct.table(["b", "a"]).to_array().tolist() == [[0, 3], [2**33 + 5, 0]]


def test_copies_and_refusals():
    table = some_records(500)
    distinct = pickle.loads(pickle.dumps(Distinct(table)))
    assert distinct.count({"0": 1}) == table.count({"0": 1})
    assert distinct.schema == table.schema
    assert not distinct.weighted
    with pytest.raises(InputError, match="table: distinct records of a table with weights"):
        Distinct(table.with_weights(np.ones(500)))
    with pytest.raises(InputError, match="n_columns must be"):
        distinct.cache(n_columns=0)
    with pytest.raises(InputError, match=r"can be numbered|too large|would take"):
        Distinct(Table(np.eye(90, dtype=int))).table(list(range(90)), layout="dense")


@pytest.mark.parametrize("groups", [None, 5, "ab", [[["a"]]], [("a",)]])
def test_groups_that_are_no_pairs_are_refused(groups):
    table = Table({"a": [0, 1, 1], "b": [0, 0, 1]})
    for made in (Distinct(table), Scan(table)):
        with pytest.raises(InputError, match="groups"):
            made.linked(groups)


def test_what_is_no_table_or_no_limit_is_refused():
    with pytest.raises(InputError, match="table must be a Table, got dict"):
        Distinct({"a": [0, 1]})
    for limit in ("x", None, -5):
        with pytest.raises(InputError, match="memory_limit must be a whole number"):
            Distinct(Table({"a": [0, 1]})).cache(memory_limit=limit)
