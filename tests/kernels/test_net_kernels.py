"""What lies beneath trees and nets: bits of a byte matrix, threads, interruptions, arguments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.scripts import run
from support.strategies import data
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
        "max_parents": 3, "required": none, "forbidden": none, "restarts": 0, "patience": 0,
        "tabu": 5, "walks": 2, "swaps": True, "orders": True, "seed": 1, "max_seconds": 0.0,
        "n_jobs": 1,
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
    from tacit.network.search.search import SearchSettings, find_structure

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3_000, 40)).cumsum(axis=1) // 4 % 3
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    found = find_structure(Table(codes), SearchSettings(n_restarts=10**9, random_state=0))
    assert np.isclose(found.score, found.family_scores.sum())
    print("interrupted" if found.interrupted else "finished", sum(map(len, found.parents)) > 20)
"""


def test_ctrl_c_returns_the_best_net_so_far():
    assert run(INTERRUPTED) == ["interrupted", "True"]


# Counts of families in parts


class Asked:
    """Families that are counted: child, parents, and from which other column up to which."""

    def __init__(self, table, families, missing=None):
        self.schema = table.schema
        self.families = families
        self.missing = np.full(len(table.schema), -1) if missing is None else np.array(missing)
        starts = np.cumsum([0, *(len(own[1]) for own in families)])
        parents = [p for own in families for p in own[1]]
        arrays = [own[0] for own in families], starts, parents
        arrays += [own[2] for own in families], [own[3] for own in families]
        self.arrays = [np.array(x, np.int64) for x in arrays]
        self.kernel = _core.NetRequests(self.schema.offsets, self.missing, *self.arrays)

    def others(self, k):
        child, parents, begin, end = self.families[k]
        return [c for c in range(begin, end) if c != child and c not in parents]

    def count(self, table, n_jobs=1):
        start, rows = table.postings
        return self.kernel.count(
            table.n_records, self.schema.offsets, self.schema.defaults, start, rows,
            table.weights, self.missing, n_jobs,
        )  # fmt: skip

    def slow(self, table):
        """Count record by record."""
        codes = np.stack([table.codes(c) for c in range(table.n_columns)], axis=1)
        weights = np.ones(len(codes)) if table.weights is None else table.weights
        sizes, keys, rows = [], [], []
        for k, (child, parents, *_) in enumerate(self.families):
            widths = [1, *(self.schema.arities[c] for c in self.others(k))]
            arity = self.schema.arities[child]
            found = {} if parents else {(): np.zeros(arity * sum(widths))}
            for record, weight in zip(codes, weights, strict=True):
                if any(record[p] == self.missing[p] for p in parents):
                    continue
                key = tuple(record[parents].tolist())
                row = found.setdefault(key, np.zeros(arity * sum(widths)))
                if record[child] == self.missing[child]:
                    continue
                row[record[child]] += weight
                at = arity
                for c in self.others(k):
                    if record[c] != self.missing[c]:
                        row[at + record[c] * arity + record[child]] += weight
                    at += arity * self.schema.arities[c]
            sizes.append(len(found))
            keys += [code for key in sorted(found) for code in key]
            rows += [found[key] for key in sorted(found)]
        return np.array(sizes), np.array(keys), np.concatenate(rows) if rows else np.zeros(0)


@st.composite
def asked(draw):
    own = draw(data(max_rows=40, max_columns=5, with_chosen=False))
    table = own.table()
    n = table.n_columns
    families = []
    for _ in range(draw(st.integers(1, 4))):
        child = draw(st.integers(0, n - 1))
        parents = sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)) - {child})
        begin, end = sorted(draw(st.tuples(st.integers(0, n), st.integers(0, n))))
        families.append((child, parents, begin, end))
    unknown = [draw(st.integers(-1, int(a) - 1)) for a in table.schema.arities]
    return table, Asked(table, families, unknown if draw(st.booleans()) else None)


@settings(max_examples=150)
@given(asked(), st.sampled_from([1, 3]))
def test_families_are_counted_as_by_hand(case, n_jobs):
    table, wanted = case
    for found, slow in zip(wanted.count(table, n_jobs), wanted.slow(table), strict=True):
        np.testing.assert_allclose(found, slow, rtol=1e-12)


@settings(max_examples=100)
@given(asked(), st.data())
def test_counts_of_parts_are_merged_to_those_of_all(case, draw):
    table, wanted = case
    if table.n_records < 2:
        return
    cut = draw.draw(st.integers(1, table.n_records - 1))
    one, other = (
        wanted.count(table.take(np.arange(*ends))) for ends in ((0, cut), (cut, table.n_records))
    )
    for merged in (wanted.kernel.merge(*one, *other), wanted.kernel.merge(*other, *one)):
        for found, whole in zip(merged, wanted.count(table), strict=True):
            np.testing.assert_allclose(found, whole, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_large_families_do_not_depend_on_threads(n_jobs):
    """Enough records for groups that are bitmaps, and others that are lists."""
    table = random_table(5000, 12)
    families_ = [(0, [], 0, 12), (3, [1, 2], 0, 12), (5, [4, 6, 7], 3, 9), (5, [4], 0, 0)]
    wanted = Asked(table, families_)
    for found, slow in zip(wanted.count(table, n_jobs), wanted.slow(table), strict=True):
        assert np.array_equal(found, slow)


@settings(max_examples=60)
@given(asked(), st.sampled_from(["bic", "bdeu", "bds", "k2"]))
def test_fetched_counts_score_as_records_do(case, score):
    table, wanted = case

    def fetch(*asked_for):
        *arrays, n_bytes = asked_for
        kernel = _core.NetRequests(table.schema.offsets, wanted.missing, *arrays)
        start, rows = table.postings
        counts = kernel.count(
            table.n_records, table.schema.offsets, table.schema.defaults, start, rows,
            table.weights, wanted.missing, 1,
        )  # fmt: skip
        assert n_bytes >= counts[1].nbytes + counts[2].nbytes or len(arrays[0]) > table.n_columns
        total = table.n_records if table.weights is None else table.weights.sum()
        return float(total), *counts

    held = families(table, score, weights=table.weights, missing=wanted.missing)
    fetched = _core.NetFamilies.fetched(
        fetch, table.n_records, table.schema.offsets, wanted.missing, score, 1.0, 2000, 1
    )
    for child, parents, *_ in wanted.families:
        assert fetched.score(child, parents) == held.score(child, parents)
    assert np.array_equal(fetched.gains(1), held.gains(1))
    child, first, *_ = wanted.families[0]
    parents = [first if c == child else [] for c in range(table.n_columns)]
    assert np.array_equal(fetched.scores(parents), held.scores(parents))


GOOD = ([0], [0, 1], [1], [0], [3])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({0: [3]}, "child must be a column"),
        ({2: [0]}, "other columns"),
        ({2: [-1]}, "numbers of columns"),
        ({1: [0, 2], 2: [2, 1]}, "ascend"),
        ({1: [0, 2]}, "starts"),
        ({1: [1, 1]}, "starts"),
        ({3: [2], 4: [1]}, "begins and ends"),
        ({4: [4]}, "begins and ends"),
        ({4: [1, 2]}, "same requests"),
    ],
)
def test_requests_that_make_no_sense_are_refused(changes, says):
    schema = random_table(20, 3 + 1).select([0, 1, 2]).schema
    arrays = [np.array(changes.get(k, own), np.int64) for k, own in enumerate(GOOD)]
    with pytest.raises(ValueError, match=says):
        _core.NetRequests(schema.offsets, np.full(3, -1), *arrays)


def test_counts_of_something_else_are_refused():
    table = random_table(50, 4)
    wanted = Asked(table, [(0, [1], 0, 4)])
    n_states, states, rows = wanted.count(table)
    with pytest.raises(ValueError, match="of the requests"):
        wanted.kernel.merge(n_states[:0], states, rows, n_states, states, rows)
    with pytest.raises(ValueError, match="rows are too few"):
        wanted.kernel.merge(n_states + 1, states, rows, n_states, states, rows)
    with pytest.raises(ValueError, match="those of the requests"):
        wanted.kernel.merge(n_states, states, rows[:-1].repeat(2), n_states, states, rows)
    with pytest.raises(ValueError, match="at least -1"):
        wanted.kernel.merge(n_states * 0 - 2, states, rows, n_states, states, rows)
    narrow = Asked(table.select([0, 1, 2]), [(0, [1], 0, 3)])
    narrow.schema, narrow.missing = wanted.schema, wanted.missing
    with pytest.raises(ValueError, match="requests' columns"):
        narrow.count(table)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((1.0,), "total, states"),
        ((1.0, np.zeros(1, int), np.zeros(0, np.uint16), np.zeros(0)), "of the requests"),
        ((1.0, np.ones(4, int), np.zeros(0, np.uint16), np.zeros(3)), "rows"),
    ],
)
def test_answers_that_do_not_fit_are_refused(answer, says):
    schema = random_table(20, 4).schema
    fetched = _core.NetFamilies.fetched(
        lambda *asked_for: answer, 20, schema.offsets, np.full(4, -1), "bic", 1.0, 1 << 20, 1
    )
    with pytest.raises(ValueError, match=says):
        fetched.gains(1)


def test_what_goes_wrong_in_a_fetch_comes_through():
    schema = random_table(20, 4).schema
    fetched = _core.NetFamilies.fetched(
        lambda *asked_for: 1 / 0, 20, schema.offsets, np.full(4, -1), "bic", 1.0, 1 << 20, 1
    )
    with pytest.raises(ZeroDivisionError):
        fetched.gains(1)
    with pytest.raises(ZeroDivisionError):
        fetched.score(0, [1])
    with pytest.raises(ZeroDivisionError):
        search(fetched, 4)
