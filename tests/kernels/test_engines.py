"""Counting engines where size matters: wide codes, sparse columns, blocks, threads, Ctrl-C."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support.counters import ENGINES, Numbers, all_questions, assert_counts
from support.scripts import run
from support.strategies import assert_identical
from tacit import ADTree, counter
from tacit.counts import Bitmaps, Scan

NOT_BITMAPS = [name for name in ENGINES if name != "bitmaps"]  # which would need 70,000 of them


def wide_numbers():
    """Columns of 1, 2, 300 and 70,000 values, whose codes have 8, 16 and 32 bits."""
    rng = np.random.default_rng(41)
    n = 9000
    codes = np.stack(
        [
            np.zeros(n, np.int64),
            rng.integers(0, 2, n),
            rng.integers(0, 300, n),
            rng.integers(0, 70_000, n),
            rng.choice(70_000, n) * (rng.random(n) < 0.01),
        ],
        axis=1,
    )
    codes[-1] = [0, 1, 299, 69_999, 69_998]
    return Numbers(codes, [1, 2, 300, 70_000, 70_000], [0, 1, 150, 3, 0])


def sparse_numbers(n=9000):
    """Columns almost all default (of which only lists are kept), and others."""
    rng = np.random.default_rng(42)
    arities = np.array([2, 3, 5, 2, 4, 3])
    share = np.array([0.001, 0.01, 0.03, 0.3, 0.9, 0.00005])
    defaults = np.array([1, 0, 4, 0, 2, 1])
    steps = (rng.random((n, 6)) < share) * rng.integers(1, 5, (n, 6))
    return Numbers((defaults + steps) % arities, arities, defaults)


def check_table(numbers, columns, held, engine):
    labels = {f"c{c}": code for c, code in held.items()}
    assert_counts(engine, columns, labels, numbers.count(columns, held))
    assert engine.count(labels) == numbers.count([0], held).sum()


def test_codes_are_labels_here():
    for numbers in (wide_numbers(), sparse_numbers()):
        table = numbers.table()
        for c, default in enumerate(numbers.defaults):
            assert_identical(table.codes(c), numbers.codes[:, c])
            assert table.schema.defaults[c] == default


@pytest.mark.parametrize("name", NOT_BITMAPS)
def test_codes_of_all_widths(name):
    numbers = wide_numbers()
    engine = ENGINES[name](numbers.table())
    for columns, held in [
        ([3], {}), ([4], {}), ([2, 1, 0], {}), ([1, 2], {4: 0}), ([0], {3: 69_999}),
        ([1, 3], {2: 299}), ([4, 1], {1: 1}), ([2], {4: 69_998, 3: 69_999}), ([3, 0], {3: 5}),
    ]:  # fmt: skip
        check_table(numbers, columns, held, engine)


@pytest.mark.parametrize("name", NOT_BITMAPS)
def test_cells_beyond_any_dense_table(name):
    numbers = wide_numbers()
    engine = ENGINES[name](numbers.table())
    for columns in ([3, 4, 2], [4, 3, 1, 2]):  # up to 2.9 · 10^12 cells
        found = engine.table(columns, layout="auto").to_frame()
        rows, counts = np.unique(numbers.codes[:, columns], axis=0, return_counts=True)
        assert found["count"].to_list() == counts.tolist()
        assert found.drop("count").to_numpy().tolist() == rows.tolist()


def test_bitmaps_of_many_values():
    numbers = wide_numbers()
    engine = Bitmaps(numbers.table())
    for columns, held in [([2, 1, 0], {}), ([1, 2], {0: 0}), ([0], {2: 299}), ([2], {2: 150})]:
        check_table(numbers, columns, held, engine)
    assert engine.count({"c3": 69_999, "c4": 69_998}) == 1


@pytest.mark.parametrize("name", ENGINES)
def test_sparse_columns_are_counted_by_their_lists(name):
    numbers = sparse_numbers()
    engine = ENGINES[name](numbers.table())
    rng = np.random.default_rng(43)
    for n_columns in (1, 2, 3):
        for columns, held in all_questions(numbers.arities, n_columns, rng, conditions=2):
            check_table(numbers, columns, held, engine)
            check_table(numbers, columns, {}, engine)


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
def test_scans_of_many_records_are_shared_out(jobs):
    rng = np.random.default_rng(44)
    n = 3 * 2**18 + 5
    codes = np.stack([rng.integers(0, 7, n), rng.integers(0, 300, n), rng.random(n) < 0.01], axis=1)
    numbers = Numbers(codes.astype(np.int64), [7, 300, 2])
    scan = Scan(numbers.table(), n_jobs=jobs)
    for columns in ([0], [2, 0], [1, 0, 2], [2]):
        assert_identical(scan.table(columns).to_array(), numbers.count(columns, {}))


def test_weighted_scans_do_not_depend_on_threads_or_order():
    rng = np.random.default_rng(45)
    n = 2 * 2**18 + 77
    codes, weights = rng.integers(0, 5, (n, 2)), rng.random(n) * 10.0 ** rng.integers(-9, 9, n)
    order = rng.permutation(n)
    table = Numbers(codes, [5, 5], weights=weights).table()
    shuffled = Numbers(codes[order], [5, 5], weights=weights[order]).table()
    first = Scan(table).table([0, 1]).to_array()
    for jobs in (2, 3, 7):
        assert_identical(Scan(table, n_jobs=jobs).table([0, 1]).to_array(), first)
        assert_identical(Scan(shuffled, n_jobs=jobs).table([0, 1]).to_array(), first)
    for make in (Bitmaps, ADTree, counter):
        assert_identical(make(shuffled).table([0, 1]).to_array(), first)


# Sets of codes


def random_sets(arities, rng, n=2):
    """Lists of codes of some columns: single ones, ranges, scattered ones and all but a few."""
    held = {}
    for c in rng.choice(len(arities), n, replace=False):
        arity = arities[c]
        first, last = np.sort(rng.integers(0, arity, 2))
        few = rng.integers(0, arity, 3)
        ways = [[first], np.arange(first, last + 1), few, np.setdiff1d(np.arange(arity), few)]
        held[int(c)] = np.unique(ways[rng.integers(4)]).tolist()
    return held


@pytest.mark.parametrize("name", ENGINES)
def test_sets_of_codes_of_sparse_columns(name):
    numbers = sparse_numbers()
    engine = ENGINES[name](numbers.table())
    rng = np.random.default_rng(51)
    for columns, _ in all_questions(numbers.arities, 2, rng):
        check_table(numbers, columns, random_sets(numbers.arities, rng), engine)


@pytest.mark.parametrize("name", NOT_BITMAPS)
def test_sets_of_codes_of_all_widths(name):
    numbers = wide_numbers()
    engine = ENGINES[name](numbers.table())
    rng = np.random.default_rng(52)
    for columns in ([3], [2, 1, 0], [1, 2], [0], [1, 3]):
        for n in (1, 2, 3):
            check_table(numbers, columns, random_sets(numbers.arities, rng, n), engine)


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
def test_scans_of_many_records_with_sets_do_not_depend_on_threads(jobs):
    rng = np.random.default_rng(53)
    n = 2 * 2**18 + 5
    codes = np.stack([rng.integers(0, 7, n), rng.integers(0, 300, n), rng.random(n) < 0.01], axis=1)
    numbers = Numbers(codes.astype(np.int64), [7, 300, 2], weights=rng.random(n))
    scan, first = Scan(numbers.table(), n_jobs=jobs), Scan(numbers.table())
    whole = Scan(numbers.table().with_weights(None), n_jobs=jobs)
    for columns, held in [([0], {1: range(50, 250)}), ([2, 0], {0: [1, 2, 6], 1: range(9)})]:
        labels = {f"c{c}": list(kept) for c, kept in held.items()}
        assert_identical(
            scan.table(columns, labels).to_array(), first.table(columns, labels).to_array()
        )
        assert_identical(whole.table(columns, labels).to_array(), numbers.count(columns, held))


# Threads


@pytest.mark.parametrize("settings", [{}, {"memory_limit": 150_000}, {"leaf_size": 1000}])
def test_threads_can_ask_a_growing_tree(settings):
    numbers = sparse_numbers(5000)
    tree = ADTree(numbers.table(), **settings)
    rng = np.random.default_rng(46)
    asked = [q for n in (1, 2, 3, 4) for q in all_questions(numbers.arities, n, rng)]
    asked += [(columns, random_sets(numbers.arities, rng)) for columns, _ in asked]

    def ask(seed):
        for k in np.random.default_rng(seed).permutation(len(asked)):
            columns, held = asked[k]
            labels = {f"c{c}": code for c, code in held.items()}
            layout = "sparse" if k % 3 else "dense"
            found = tree.table(columns, labels, layout=layout).to_array()
            assert_identical(found, numbers.count(columns, held))
        return tree.n_nodes > 0 and "nodes" in repr(tree)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(8)))
    if "memory_limit" in settings:
        assert tree.nbytes <= settings["memory_limit"]


@pytest.mark.parametrize("make", [Scan, Bitmaps, counter, lambda t: counter(t, memo=2000)])
def test_threads_can_share_any_counter(make):
    numbers = sparse_numbers(3000)
    engine = make(numbers.table())
    rng = np.random.default_rng(47)
    asked = list(all_questions(numbers.arities, 2, rng))
    asked += [(columns, random_sets(numbers.arities, rng)) for columns, _ in asked]

    def ask(seed):
        for k in np.random.default_rng(seed).permutation(len(asked)):
            columns, held = asked[k]
            labels = {f"c{c}": code for c, code in held.items()}
            found = engine.table(columns, labels).to_array()
            assert_identical(found, numbers.count(columns, held))
            assert engine.tables([columns] * 2)[1].total == 3000
        return True

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(8)))


# Ctrl-C

INTERRUPT = """
    import os, signal, threading
    import numpy as np
    import tacit

    rng = np.random.default_rng(1)
    table = tacit.Table(rng.integers(0, 4, (40_000, 40)))
    many = np.array([[a, b, c] for a in range(40) for b in range(a) for c in range(b)] * 20)
    full = tacit.ADTree(table, leaf_size=1)
    others = (tacit.counts.Scan(table), tacit.counts.Bitmaps(table))
    for counter in (full, tacit.ADTree(table), *others):
        counter.table([0])
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            full.build() if counter is full else counter.tables(many)
        except KeyboardInterrupt:
            print("interrupted")
        for columns in ([0, 1], [5, 2, 3]):
            found = counter.table(columns, {"4": 1}).to_array()
            assert (found == table.contingency(columns, given={"4": 1}).to_array()).all()
        found = counter.tables(many[:2]).counts
        assert (found == tacit.counts.Scan(table).tables(many[:2]).counts).all()
"""


def test_ctrl_c_leaves_counters_that_answer():
    assert run(INTERRUPT) == ["interrupted"] * 4
