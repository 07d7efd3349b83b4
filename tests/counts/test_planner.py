"""The planner: what it chooses, what it remembers, and that neither shows in the counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.counters import Numbers, all_questions, expected, labelled, questions
from support.strategies import assert_identical, data
from tacit import Table
from tacit.counts import Scan


def binary_table(n_records=20_000, n_columns=6):
    rng = np.random.default_rng(31)
    return Table((rng.random((n_records, n_columns)) < 0.3).astype(np.int8))


def test_few_binary_columns_go_to_bitmaps():
    plan = tacit.counter(binary_table()).plan([0, 1])
    assert plan.engine == "bitmaps"
    assert plan.bitmaps < min(plan.scan, plan.tree)


def test_many_cells_go_to_a_scan():
    rng = np.random.default_rng(32)
    planner = tacit.counter(Table(rng.integers(0, 50, (20_000, 3))))
    assert planner.plan([0, 1, 2]).engine == "scan"
    planner.table([0, 1, 2])
    assert planner.plan([0, 1, 2], {"0": 3}).engine == "scan"


def test_questions_asked_again_and_again_move_to_the_tree():
    planner = tacit.counter(binary_table(), memo=0)
    first = planner.table([0, 1, 2]).to_array()
    engines = []
    for _ in range(300):
        engines.append(planner.plan([0, 1, 2]).engine)
        assert_identical(planner.table([0, 1, 2]).to_array(), first)
    assert engines[-1] == "tree"
    assert planner._tree.n_nodes > 1
    before = planner.plan([0, 1, 2]).tree
    assert before < planner.plan([3, 4, 5]).tree


def test_single_counts_move_to_the_tree_too():
    planner = tacit.counter(binary_table(), memo=0)
    counts = {planner.count({"0": 1, "1": 0, "2": 1}) for _ in range(300)}
    assert len(counts) == 1
    assert planner._tree.n_nodes > 1


def test_a_table_asked_for_again_is_remembered():
    planner = tacit.counter(binary_table())
    first = planner.table([0, 1])
    assert planner.plan([0, 1]).engine == "memo"
    assert planner.table(["0", "1"]) is first
    assert planner.table([0, 1], {}) is first
    for others in (([1, 0], None), ([0, 1], {"2": 1}), ([0], None)):
        assert planner.plan(*others).engine != "memo"
        assert planner.table(*others) is not first
    assert planner.table([0, 1], layout="sparse") is not first
    assert_identical(planner.table([0, 1], layout="sparse").to_array(), first.to_array())


def test_a_plan_changes_nothing():
    planner = tacit.counter(binary_table())
    planner.table([0, 1])
    state = planner.nbytes, len(planner._memory), planner._tree.n_nodes
    plans = [planner.plan([2, 3, 4], {"0": 1}) for _ in range(500)]
    assert len(set(plans)) == 1
    assert state == (planner.nbytes, len(planner._memory), planner._tree.n_nodes)


@pytest.mark.parametrize("memo", [500, 3000, 20_000])
def test_what_is_remembered_keeps_to_its_budget(memo):
    rng = np.random.default_rng(33)
    numbers = Numbers(rng.integers(0, 5, (500, 8)), [5] * 8)
    planner = tacit.counter(numbers.table(), memo=memo)
    for columns, held in all_questions(numbers.arities, 2, rng):
        given_labels = {f"c{c}": code for c, code in held.items()}
        for _ in range(2):
            found = planner.table(columns, given_labels)
            assert_identical(found.to_array(), numbers.count(columns, held))
        assert sum(table.nbytes for table in planner._memory.values()) <= memo
        assert planner._remembered <= memo
        assert len(planner._memory) <= memo // 400
    assert len(planner._memory) == 0 if memo < 600 else len(planner._memory) > 0


def test_the_least_recently_used_table_goes_first():
    planner = tacit.counter(binary_table(1000), memo=1000)  # room for two tables
    planner.table([0])
    planner.table([1])
    planner.table([0])
    planner.table([2])
    assert [planner.plan([c]).engine == "memo" for c in range(3)] == [True, False, True]


@given(draw=st.data(), memo=st.sampled_from([0, 600, 10**6]))
@settings(max_examples=40)
def test_counts_do_not_depend_on_what_was_asked_before(draw, memo):
    d = draw.draw(data(max_rows=40, with_chosen=False))
    planner = tacit.counter(d.table(), memo=memo)
    asked = draw.draw(st.lists(questions(d), min_size=1, max_size=5))
    for columns, held in asked * 3:
        counts = expected(d, columns, held)
        assert_identical(planner.table(columns, labelled(d, held)).to_array(), counts)
        tables = planner.tables([columns] * 3, labelled(d, held))
        assert_identical(tables[2].to_array(), counts)


@pytest.mark.parametrize("limit", [30_000, 100_000, 200_000, 500_000])
def test_a_planner_whose_tree_has_no_room_reads_records(limit):
    rng = np.random.default_rng(34)
    codes = rng.integers(0, 3, (20_000, 6))
    numbers = Numbers(codes, [3] * 6)
    table = numbers.table()
    planner = tacit.counter(table, memory_limit=limit, memo=0)
    for columns, held in all_questions(numbers.arities, 3, rng):
        labels = {f"c{c}": code for c, code in held.items()}
        count = planner.count({f"c{columns[0]}": 1, **labels})
        for _ in range(25):
            found = planner.table(columns, labels)
        assert_identical(found.to_array(), numbers.count(columns, held))
        assert count == numbers.count([0], {columns[0]: 1, **held}).sum()
    many = [[0, 1, 2], [3, 4, 5]] * 200
    tables = planner.tables(many)
    assert_identical(tables[399].to_array(), numbers.count([3, 4, 5], {}))
    assert planner._tree.nbytes - table.column_store.nbytes <= limit


def test_many_tables_move_to_the_tree_when_asked_for_again():
    table = binary_table()
    planner = tacit.counter(table)
    pairs = np.array([[a, b] for a in range(6) for b in range(6) if a != b])
    wanted = Scan(table).tables(pairs).counts
    nodes = []
    for _ in range(60):
        assert_identical(planner.tables(pairs).counts, wanted)
        nodes.append(planner._tree.n_nodes)
    assert nodes[-1] > 1
    assert nodes == sorted(nodes)


def test_growth_is_shared_between_sets_of_columns():
    rng = np.random.default_rng(35)
    table = Table((rng.random((50_000, 11)) < 0.1).astype(np.int8))
    planner = tacit.counter(table, memo=0)
    others = [[a, b, c] for a in range(8) for b in range(a) for c in range(b)]
    for _ in range(60):
        for columns in others:
            planner.table(columns)
    assert planner.plan([0, 1, 2]).engine == "tree"
    # Part of what the first needs has grown for others, and nothing of what the second needs.
    assert planner.plan([0, 1, 8]).tree < 0.8 * planner.plan([8, 9, 10]).tree


def test_a_batch_grows_the_tree_at_once_where_that_pays():
    table = binary_table()
    planner = tacit.counter(table)
    pairs = np.array([[0, 1], [1, 2], [2, 0]] * 2000)
    wanted = Scan(table).tables(pairs).counts
    assert_identical(planner.tables(pairs).counts, wanted)
    assert planner._tree.n_nodes > 1


def test_conditions_count_towards_growth():
    planner = tacit.counter(binary_table(), memo=0)
    for _ in range(400):
        planner.table([1, 2], {"0": 1})
    assert planner.plan([1, 2], {"0": 1}).engine == "tree"
    assert planner.plan([1, 2], {"0": [0, 1]}) == planner.plan([1, 2])
    for condition in (1, [1], tacit.exclude(0), tacit.between(1, None)):
        assert planner.plan([1, 2], {"0": condition}) == planner.plan([1, 2], {"0": 1})


def test_more_columns_than_a_tree_is_good_for():
    planner = tacit.counter(binary_table(1000, 12), memo=0)
    assert planner.plan(range(12)).tree == np.inf
    for _ in range(50):
        found = planner.table(range(12))
    assert found.total == 1000
    assert planner.plan(range(12)).engine in ("scan", "bitmaps")
