"""ADTree: which counts it holds, how it grows, and what it does when memory runs out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.counters import Numbers, all_questions, assert_counts, expected, labelled, questions
from support.strategies import Data, assert_identical, data
from tacit import ADTree, InputError, Table
from tacit.counts import Scan

# Three columns of 2, 4 and 2 values; the tree takes them as a, c, b.
EXAMPLE = Data(
    rows=[(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 3, 1)],
    arities=[2, 4, 2],
    defaults=[0, 0, 0],
)


def test_a_small_tree_worked_by_hand():
    tree = ADTree(EXAMPLE.table(), leaf_size=1).build()
    # The root; a = 1; c = 1, and below it b = 3; b = 1 and b = 3. No b = 2, which does not occur.
    assert tree.n_nodes == 6
    assert tree.stats().varies == 6  # three below the root, two below a = 1, one below c = 1
    nodes = tree._tree.arrays()[0]
    assert sorted(nodes[:, 0].tolist()) == [1, 1, 1, 2, 2, 6]
    assert_identical(tree.table([0, 1, 2]).to_array(), expected(EXAMPLE, [0, 1, 2], {}))


def test_a_lazy_tree_grows_by_what_is_asked():
    tree = ADTree(EXAMPLE.table(), leaf_size=1)
    assert tree.n_nodes == 1
    sizes = []
    for columns in (["c0"], ["c0"], ["c1"], ["c2"], ["c1", "c2"], ["c2", "c1"], ["c0", "c1"]):
        tree.table(columns)
        sizes.append(tree.n_nodes)
    assert sizes == [2, 2, 4, 5, 6, 6, 6]
    assert tree.count({"c0": "v1", "c2": "v1"}) == 0
    assert tree.n_nodes == 6
    tree.clear()
    assert tree.n_nodes == 1
    assert tree.count({"c1": "v0"}) == 3


@given(
    d=data(max_rows=40, weights=None, with_chosen=False),
    leaf_size=st.sampled_from([1, 2, 5, 16]),
    max_depth=st.sampled_from([None, 0, 1, 2]),
)
@settings(max_examples=80)
def test_a_full_tree_has_the_nodes_of_the_definition(d, leaf_size, max_depth):
    tree = ADTree(d.table(), leaf_size=leaf_size, max_depth=max_depth).build()
    order = oracles.skewed_first(d.rows, d.arities)
    n_nodes = oracles.adtree_nodes(d.rows, d.arities, order, leaf_size, max_depth)
    assert tree.n_nodes == n_nodes
    stats = tree.stats()
    assert stats.nodes == n_nodes
    assert stats.nodes <= stats.most_for_records
    assert stats.most_for_records <= stats.most_nodes <= stats.most_dense
    assert tree.build().n_nodes == n_nodes


@given(draw=st.data())
@settings(max_examples=50)
def test_questions_do_not_change_a_full_tree(draw):
    d = draw.draw(data(max_rows=40, with_chosen=False))
    lazy, full = ADTree(d.table(), leaf_size=2), ADTree(d.table(), leaf_size=2).build()
    n_nodes = full.n_nodes
    for columns, held in draw.draw(st.lists(questions(d), min_size=1, max_size=5)):
        for tree in (lazy, full):
            assert_counts(tree, columns, labelled(d, held), expected(d, columns, held))
        assert full.n_nodes == n_nodes
        assert lazy.n_nodes <= n_nodes
    lazy.build()
    assert lazy.n_nodes == n_nodes


@pytest.mark.parametrize("n_columns", range(6, 11))
def test_all_combinations_make_one_node_for_each_set_of_columns(n_columns):
    rows = np.indices([2] * n_columns).reshape(n_columns, -1).T
    tree = ADTree(Table(rows), leaf_size=1).build()
    assert tree.n_nodes == 2**n_columns
    stats = tree.stats()
    assert stats.most_nodes == 2**n_columns
    assert stats.most_dense == 3**n_columns
    assert stats.most_for_records == 2**n_columns


def test_building_single_columns_only():
    tree = ADTree(EXAMPLE.table(), leaf_size=1).build(full=False)
    assert tree.n_nodes == 5
    assert ADTree(EXAMPLE.table(), leaf_size=1, min_count=2).build(full=False).n_nodes == 3


def test_what_a_tree_says_of_itself():
    tree = ADTree(EXAMPLE.table()).build()
    text = str(tree.stats())
    assert "6 × 3" in text
    assert "worst case, these records" in text
    assert "1 node, " in repr(tree)
    assert " nodes, " in repr(ADTree(EXAMPLE.table(), leaf_size=1).build())


# Memory


def mixed_numbers(n_records=2000, weights=None):
    """Columns of several arities and degrees of skew that have something to do with each other."""
    rng = np.random.default_rng(11)
    arities = np.array([2, 3, 4, 2, 5, 2, 3, 2, 2, 6])
    hidden = rng.integers(0, 6, (n_records, 1))
    noise = rng.integers(0, 12, (n_records, len(arities)))
    codes = np.where(noise < 6, hidden, np.where(noise < 9, 0, noise)) % arities
    own = None if weights is None else weights(rng, n_records)
    return Numbers(codes, arities, rng.integers(0, arities), own)


def ask_all(tree, numbers, n_columns, limit):
    for columns, held in all_questions(numbers.arities, n_columns, np.random.default_rng(2)):
        given_labels = {f"c{c}": code for c, code in held.items()}
        found = tree.table(columns, given_labels).to_array()
        assert_identical(found, numbers.count(columns, held))
        assert tree.nbytes <= limit


@pytest.mark.parametrize("leaf_size", [1, 16])
@pytest.mark.parametrize("limit", [50_000, 80_000, 150_000])
def test_the_memory_limit_is_kept(limit, leaf_size):
    numbers = mixed_numbers()
    tree = ADTree(numbers.table(), leaf_size=leaf_size, memory_limit=limit)
    for n_columns in (1, 2, 3, 2):
        ask_all(tree, numbers, n_columns, limit)
    assert tree.stats().evictions > 0
    assert tree.stats().bytes == tree.nbytes


@given(draw=st.data())
@settings(max_examples=40)
def test_the_memory_limit_is_kept_by_any_questions(draw):
    """Either an answer is right or it needs more than the limit; and both leave room."""
    d = draw.draw(data(max_rows=40, with_chosen=False))
    table = d.table()
    least = table.column_store.nbytes
    limit = least + draw.draw(st.integers(50, 3000))
    tree = ADTree(table, leaf_size=draw.draw(st.sampled_from([1, 4, 100])), memory_limit=limit)
    for columns, held in draw.draw(st.lists(questions(d), min_size=5, max_size=15)):
        try:
            found = tree.table(columns, labelled(d, held)).to_array()
        except InputError as error:
            assert "memory_limit" in str(error)  # noqa: PT017
        else:
            assert_identical(found, expected(d, columns, held))
        assert tree.nbytes <= limit


def test_weighted_trees_forget_and_remember():
    numbers = mixed_numbers(weights=lambda rng, n: rng.random(n))
    table = numbers.table()
    tree = ADTree(table, leaf_size=2, memory_limit=110_000)
    for columns, held in all_questions(numbers.arities, 3, np.random.default_rng(3)):
        given_labels = {f"c{c}": code for c, code in held.items()}
        assert_identical(
            tree.table(columns, given_labels).to_array(),
            Scan(table).table(columns, given_labels).to_array(),
        )
        assert tree.nbytes <= 110_000
    assert tree.stats().evictions > 0


@pytest.mark.parametrize("limit", [1, 300, 3000])
def test_a_limit_too_small_for_a_question_says_so(limit):
    tree = ADTree(mixed_numbers().table(), memory_limit=limit)
    for ask in (
        lambda: tree.table([0, 1]),
        lambda: tree.tables([[0, 1]]),
        lambda: tree.count({"c0": 1}),
        lambda: tree.build(full=False),
    ):
        with pytest.raises(InputError, match=r"^memory_limit: .*need"):
            ask()
        assert tree.nbytes <= max(limit, 20)


def test_a_limit_below_what_columns_take_already_is_refused():
    table = mixed_numbers().table()
    Scan(table).tables([[c] for c in range(10)])
    with pytest.raises(InputError, match=r"memory_limit: 1\.0 kB are too little, since the codes"):
        ADTree(table, memory_limit=1000)


def test_a_tree_that_cannot_be_built_still_answers():
    numbers = mixed_numbers()
    tree = ADTree(numbers.table(), leaf_size=1, memory_limit=100_000)
    with pytest.raises(InputError, match=r"memory_limit: 100\.0 kB.*raise leaf_size, set max_dep"):
        tree.build()
    assert tree.nbytes <= 100_000
    ask_all(tree, numbers, 2, 100_000)
    with pytest.raises(InputError, match="memory_limit"):
        tree.build()
    ask_all(tree, numbers, 2, 100_000)


# Approximate trees


@given(draw=st.data(), min_count=st.integers(2, 9), leaf_size=st.sampled_from([1, 3, 16]))
@settings(max_examples=120)
def test_bounds_hold_the_counts(draw, min_count, leaf_size):
    d = draw.draw(data(max_rows=40, weights=None, with_chosen=False))
    tree = ADTree(d.table(), leaf_size=leaf_size, min_count=min_count)
    if draw.draw(st.booleans()):
        tree.build()
    for columns, held in draw.draw(st.lists(questions(d), min_size=1, max_size=3)):
        found = tree.table(columns, labelled(d, held))
        true, estimate = expected(d, columns, held), found.to_array()
        lower, upper = (bound.to_array() for bound in found.bounds())
        assert (lower >= 0).all()
        assert (lower <= true).all()
        assert (true <= upper).all()
        assert (lower <= estimate).all()
        assert (estimate <= upper).all()
        if not tree._tree.arrays()[1][:, 5].any():  # nothing was dropped
            assert_identical(estimate, true)
            assert_identical(upper, lower)


def test_approximate_trees_are_smaller():
    table = mixed_numbers().table()
    sizes = [ADTree(table, leaf_size=1, min_count=n).build().n_nodes for n in (1, 5, 50)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_what_approximate_trees_refuse():
    rng = np.random.default_rng(4)
    table = Table(rng.integers(0, 8, (50, 20)))
    tree = ADTree(table, min_count=2)
    assert not tree.exact
    with pytest.raises(InputError, match="column_sets: an approximate tree answers one table"):
        tree.tables([[0]])
    with pytest.raises(InputError, match="layout: an approximate tree knows no cell to be empty"):
        tree.table([0], layout="sparse")
    with pytest.raises(InputError, match=r"layout: .* this one has 2,097,152 cells"):
        tree.table(range(7))
    with pytest.raises(InputError, match="min_count: counts of weighted records are all kept"):
        ADTree(table.with_weights(np.ones(50)), min_count=2)
    assert ADTree(table.with_weights(np.ones(50)), min_count=1).exact
