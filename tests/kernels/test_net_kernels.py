"""What lies beneath trees and nets: bits of a byte matrix, threads, interruptions, arguments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scripts import run
from tacit import Table, _core


def bits(n_records, n, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n_records, n)) < rng.random(n)).astype(np.uint8)


shapes = st.tuples(st.integers(0, 200), st.integers(0, 140))


@given(hnp.arrays(np.uint8, shapes, elements=st.integers(0, 1)))
@settings(max_examples=60)
def test_pairs_of_bytes_are_products_of_columns(x):
    square = _core.pair_counts_bytes(x, 1)
    wide = x.astype(np.int64)
    assert square.tolist() == (wide.T @ wide).tolist()


@pytest.mark.parametrize("shape", [(16_384, 3), (16_385, 64), (40_000, 65), (33_000, 129)])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_pairs_of_bytes_do_not_depend_on_slabs_or_threads(shape, n_jobs):
    x = bits(*shape)
    wide = x.astype(np.float64)
    assert np.array_equal(_core.pair_counts_bytes(x, n_jobs), wide.T @ wide)


@given(st.integers(0, 299), st.integers(0, 69), st.integers(2, 255))
@settings(max_examples=30)
def test_a_byte_that_is_neither_is_noticed_wherever_it_is(row, column, byte):
    x = bits(300, 70)
    x[row, column] = byte
    assert _core.pair_counts_bytes(x, 1) is None


def random_table(n_records=600, n=30, arity=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, arity, (n_records, n)) * (rng.random((n_records, n)) < 0.2)
    codes[:, 1::2] = np.where(rng.random((n_records, n // 2)) < 0.6, codes[:, ::2], codes[:, 1::2])
    return Table(codes)


@pytest.mark.parametrize("n_jobs", [2, 3, 7])
def test_trees_do_not_depend_on_threads(n_jobs):
    table = random_table()
    offsets, total = table.schema.offsets, float(table.n_records)
    dense = table.pairs(layout="dense").stored
    one, many = (
        _core.pair_information(dense, offsets, total, None, None, jobs) for jobs in (1, n_jobs)
    )
    assert one.tobytes() == many.tobytes()
    sparse = table.pairs(layout="sparse").stored
    arrays = sparse.indptr.astype(np.int64), sparse.indices, sparse.data
    trees = [_core.sparse_spanning_tree(*arrays, offsets, total, jobs) for jobs in (1, n_jobs)]
    assert trees[0][0].tolist() == trees[1][0].tolist()
    assert trees[0][1].tobytes() == trees[1][1].tobytes()


def families(table, score="bic", weight=1.0, weights=None, missing=None):
    schema, (start, rows) = table.schema, table.postings
    missing = np.full(len(schema), -1) if missing is None else missing
    return _core.NetFamilies(
        table.n_records,
        schema.offsets,
        schema.defaults,
        start,
        rows,
        weights,
        missing,
        score,
        weight,
    )


@pytest.mark.parametrize("score", ["bic", "bdeu", "bds", "k2"])
@pytest.mark.parametrize("n_records", [1, 63, 64, 5_000])
def test_records_of_weight_one_score_like_records(score, n_records):
    """Weights go through lists of records alone, counts through bitmaps as well."""
    table = random_table(n_records, 6)
    plain, weighted = families(table, score), families(table, score, weights=np.ones(n_records))
    for own in ([], [1], [1, 2], [1, 2, 3, 4, 5]):
        assert plain.score(0, own) == pytest.approx(weighted.score(0, own), rel=1e-12, abs=1e-9)
    assert plain.gains(1) == pytest.approx(weighted.gains(2), rel=1e-9, abs=1e-8)


def search(scores, n, start=None, tell=None, **changes):
    none = np.zeros(n * n, np.uint8)
    settings = {
        "max_parents": 3, "required": none, "forbidden": none, "restarts": 0, "tabu": 5,
        "walks": 2, "swaps": True, "seed": 1, "max_seconds": 0.0, "n_jobs": 1,
    }  # fmt: skip
    return scores.search(start or [[]] * n, tell=tell, **(settings | changes))


def test_the_search_tells_of_every_restart():
    heard = []
    search(families(random_table()), 30, restarts=3, tell=lambda *now: heard.append(now))
    assert [restart for restart, *_ in heard] == [0, 1, 2, 3]
    assert all(a[2] <= b[2] for a, b in pairwise(heard))


def test_an_error_of_the_listener_comes_through():
    with pytest.raises(ZeroDivisionError):
        search(families(random_table()), 30, tell=lambda *now: 1 / 0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda f: f.score(30, []), "child must be a column"),
        (lambda f: f.score(0, [0]), "other columns"),
        (lambda f: f.score(0, [2, 1]), "ascend"),
        (lambda f: f.score(0, [-1]), "other columns"),
        (lambda f: search(f, 30, [[]] * 29), "start"),
        (lambda f: search(f, 30, [[1], [0], *[[]] * 28]), "cycle"),
        (lambda f: search(f, 30, required=np.zeros(3, np.uint8)), "squares"),
    ],
)
def test_arguments_that_would_read_elsewhere_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call(families(random_table()))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"score": "best"}, "score"),
        ({"weight": 0.0}, "prior_weight"),
        ({"weights": np.ones(3)}, "weights"),
        ({"missing": np.full(30, 9)}, "missing"),
        ({"missing": np.full(2, -1)}, "missing"),
    ],
)
def test_families_of_something_else_are_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        families(random_table(), **changes)


ONES = np.ones((2, 2), np.int64)


@pytest.mark.parametrize(
    ("kernel", "arguments", "says"),
    [
        ("pair_information", (np.ones((2, 3), int), np.arange(3), 1.0, None, None, 1), "square"),
        ("pair_information", (ONES, np.arange(2), 1.0, None, None, 1), "offsets"),
        ("pair_information", (ONES, np.arange(3), 0.0, None, None, 1), "total"),
        ("max_branching", (np.ones((2, 3)),), "square"),
        (
            "sparse_spanning_tree",
            (np.array([0, 2]), np.zeros(1, np.int32), np.ones(1), np.arange(2), 1.0, 1),
            "same matrix",
        ),
    ],
)
def test_matrices_that_do_not_fit_are_refused(kernel, arguments, says):
    with pytest.raises(ValueError, match=says):
        getattr(_core, kernel)(*arguments)


INTERRUPTED = """
    import os, signal, threading
    import numpy as np
    from tacit import Table
    from tacit.network.nets.search import SearchSettings, find_structure

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3_000, 40)).cumsum(axis=1) // 4 % 3
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    found = find_structure(Table(codes), SearchSettings(restarts=10**9, random_state=0))
    assert np.isclose(found.score, found.family_scores.sum())
    print("interrupted" if found.interrupted else "finished", sum(map(len, found.parents)) > 20)
"""


def test_ctrl_c_returns_the_best_net_so_far():
    assert run(INTERRUPTED) == ["interrupted", "True"]
