"""Trees and graphs that can be checked on paper, grown by the kernel and by the slow oracle."""

import math

import numpy as np
import pytest
from scipy import stats

from oracles import tree as tree_oracle
from support.trees import grow_tree, parts_of, table_of, total_score
from tacit.tree.growth.coding import MISSING

LOG_KAPPA = math.log(0.1)


@pytest.fixture(params=["kernel", "oracle"])
def grow(request):
    return {"kernel": grow_tree, "oracle": tree_oracle.grow_tree}[request.param]


def splits_of(nodes):
    return list(zip(nodes.column.tolist(), nodes.low.tolist(), nodes.high.tolist(), strict=True))


def figure_1(**settings):
    """The table of the paper's figure 1: C is to be told from A and B."""
    rows = [(1, 1), (2, 2), (1, 0), (1, 2), (0, 0), (1, 0), (1, 0)]
    return table_of(rows, [0, 0, 2, 1, 0, 2, 0], **settings).with_(defaults=[1, 0])


def test_figure_1_by_gini(grow):
    # Value ids: A=0, A=2, B=1, B=2. Leaf scores are Σ c²/N: (4, 1, 2) has 21/7.
    nodes = figure_1(criterion="gini").nodes(grow)
    inner = [0, 2, 4]
    assert np.flatnonzero(~nodes.leaves).tolist() == inner
    # A other than 1; then B = 2; then B = 1 and B other than 0 are the same records.
    assert [splits_of(nodes)[i] for i in inner] == [(0, 0, 2), (1, 3, 4), (1, 2, 3)]
    gains = [2 + 9 / 5 - 21 / 7, 1 + 8 / 4 - 9 / 5, 1 + 5 / 3 - 8 / 4]
    np.testing.assert_allclose(nodes.gain[inner], gains, rtol=1e-12)
    counts = [[4, 1, 2], [2, 0, 0], [2, 1, 2], [0, 1, 0], [2, 0, 2], [1, 0, 0], [1, 0, 2]]
    np.testing.assert_array_equal(nodes.counts, counts)
    assert [nodes.children_of(i).tolist() for i in inner] == [[1, 2], [3, 4], [5, 6]]


def test_figure_1_by_complete_splits(grow):
    # Leaves by A: (1, 0, 0), (1, 0, 0), (2, 1, 2); by B: (1, 0, 0), (1, 1, 0), (2, 0, 2).
    case = figure_1(criterion="gini", binary=False, complete=True, max_depth=1)
    nodes = case.nodes(grow)
    assert splits_of(nodes)[0] == (1, 2, 4)
    assert nodes.complete.tolist() == [1, 0, 0, 0]
    assert nodes.gain[0] == pytest.approx(1 + 1 + 2 - 3)
    np.testing.assert_array_equal(nodes.counts[1:], [[1, 0, 0], [1, 1, 0], [2, 0, 2]])
    assert nodes.children_of(0).tolist() == [1, 2, 3]
    assert nodes.prior_fraction.tolist() == [1] * 4
    shared = case.ruled(prior="bdeu").nodes(grow)
    np.testing.assert_allclose(shared.prior_fraction, [1, 1 / 3, 1 / 3, 1 / 3])


def test_exclusive_or(grow):
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    case = table_of(rows, [0, 1, 1, 0], criterion="entropy")
    nodes = case.nodes(grow)
    # The first split gains nothing and is made all the same; then each side gains 2 log 2.
    assert nodes.column.tolist() == [0, 1, 1, -1, -1, -1, -1]
    np.testing.assert_allclose(nodes.gain, [0, *[2 * math.log(2)] * 2, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_array_equal(nodes.counts[3:], [[1, 0], [0, 1], [0, 1], [1, 0]])
    assert case.ruled(min_gain=0.01).nodes(grow).n_nodes == 1
    assert case.ruled(criterion="bayes_factor").nodes(grow).n_nodes == 1


def test_bayes_factor_of_k2(grow):
    # A leaf (a, b) under a uniform prior: a! b! / (a + b + 1)!
    case = table_of([(0,)] * 4 + [(1,)] * 4, [0] * 4 + [1] * 4)
    nodes = case.nodes(grow)
    assert nodes.gain[0] == pytest.approx(math.log(630 / 25) + LOG_KAPPA)
    np.testing.assert_array_equal(nodes.counts, [[4, 4], [0, 4], [4, 0]])
    assert case.ruled(log_kappa=math.log(25 / 631)).nodes(grow).n_nodes == 1
    assert case.ruled(log_kappa=math.log(25 / 629)).nodes(grow).n_nodes == 3
    assert case.ruled(min_gain=math.log(2.53)).nodes(grow).n_nodes == 1


def test_bayes_factor_of_bdeu(grow):
    case = table_of([(0,)] * 4 + [(1,)] * 4, [0] * 4 + [1] * 4, prior="bdeu", prior_weight=2.0)
    nodes = case.nodes(grow)
    pure = 0.5 * 1.5 * 2.5 * 3.5 / math.factorial(4)
    assert nodes.gain[0] == pytest.approx(math.log(630 * pure * pure) + LOG_KAPPA)
    np.testing.assert_allclose(nodes.prior_fraction, [1, 0.5, 0.5])


def test_shares_of_nominal_splits(grow):
    rows = [(0,)] * 5 + [(1,)] * 5 + [(2,)] * 5
    one = table_of(rows, [0] * 5 + [1] * 5 + [0] * 5, prior="bdeu")
    np.testing.assert_allclose(one.nodes(grow).prior_fraction[:3], [1, 1 / 3, 2 / 3])
    rest = one.with_(defaults=[1]).nodes(grow)  # now the default against the others
    assert splits_of(rest)[0] == (0, 0, 2)
    np.testing.assert_allclose(rest.prior_fraction[:3], [1, 2 / 3, 1 / 3])


@pytest.mark.parametrize("default", [0, 1, 2])
@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("complete", [False, True])
def test_bdeu_is_a_function_of_the_leaves(grow, default, ordered, complete):
    # 95:5, 50:50 and 5:95, each with a third of the prior's weight, whichever splits part them.
    rows = [(code,) for code in range(3) for _ in range(100)]
    target = [int(i >= n) for n in (95, 50, 5) for i in range(100)]
    case = table_of(rows, target, prior="bdeu", prior_weight=10.0, log_kappa=0.0)
    case = case.with_(defaults=[default], ordered=[ordered])
    case = case.ruled(binary=not complete, complete=complete)
    nodes = case.nodes(grow)
    assert nodes.n_leaves == 3
    np.testing.assert_allclose(nodes.prior_fraction[nodes.leaves], [1 / 3] * 3)
    assert total_score(nodes, case) == pytest.approx(-118.06, abs=0.005)


def test_codes_that_are_no_longer_possible(grow):
    # First x = 0 against the rest, by far the best; then a child for each of four codes of x, the
    # first of which nobody can come to.
    rows = [(0, 0)] * 60 + [(1, 0)] * 8 + [(2, 0)] * 8 + [(3, 0)] * 8
    target = [0] * 60 + [1] * 8 + [2] * 8 + [3] * 8
    case = table_of(rows, target, prior="bdeu", complete=True, log_kappa=-2.5)
    nodes = case.with_(defaults=[3, 0]).nodes(grow)
    assert nodes.complete[~nodes.leaves].tolist() == [1]
    graph = case.ruled(merge=True, log_kappa=-0.1).with_(defaults=[3, 0]).nodes(grow)
    for found in (nodes, graph):
        assert found.prior_fraction[found.leaves].sum() == pytest.approx(1)
        assert (found.prior_fraction > 0).all()


def test_bic(grow):
    case = table_of([(0,)] * 4 + [(1,)] * 4, [0] * 4 + [1] * 4, criterion="bic")
    nodes = case.nodes(grow)
    assert nodes.gain[0] == pytest.approx(8 * math.log(2) - 0.5 * math.log(8))
    assert nodes.n_nodes == 3


def test_empty_children_of_a_complete_split(grow):
    # Nobody has code 2, so its child is an empty leaf, which costs a parameter as any other does.
    case = table_of([(0,)] * 8 + [(1,)] * 8, [0] * 8 + [1] * 8, binary=False, complete=True)
    nodes = case.with_(arities=[3]).nodes(grow)
    np.testing.assert_array_equal(nodes.counts, [[8, 8], [0, 8], [0, 0], [8, 0]])
    root = 2 * math.log(math.factorial(8)) - math.log(math.factorial(17))
    assert nodes.gain[0] == pytest.approx(2 * math.log(1 / 9) - root + 2 * LOG_KAPPA)


def test_two_values_are_split_whatever_the_kind(grow):
    case = table_of([(0,)] * 4 + [(1,)] * 4, [0] * 4 + [1] * 4)
    nodes = case.ruled(binary=False, complete=True).nodes(grow)
    np.testing.assert_array_equal(nodes.counts, [[4, 4], [0, 4], [4, 0]])
    assert nodes.children_of(0).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("default", "low", "high", "inside"),
    [(0, 1, 4, 2), (1, 1, 4, 2), (2, 0, 2, 3), (3, 0, 2, 3), (4, 0, 2, 3)],
)
def test_thresholds_beside_any_default(grow, default, low, high, inside):
    # Codes 2 and 3 do not occur: three thresholds part the records alike, and the first one counts.
    # It lies between 1 and 2, whose upper side is stored where the default is below it.
    case = table_of([(0,), (0,), (1,), (4,), (4,)], [-1, -1, -1, 1, 2], criterion="squared_error")
    case = case.with_(defaults=[default], ordered=[1]).ruled(max_depth=1)
    nodes = case.nodes(grow)
    assert splits_of(nodes)[0] == (0, low, high)
    assert (nodes.left[0], nodes.right[0]) == (1, 4)
    assert nodes.gain[0] == pytest.approx(9 / 3 + 9 / 2 - 0)
    assert nodes.counts[1, 0] == inside
    np.testing.assert_array_equal(np.sort(nodes.counts[1:], axis=0), [[2, -3, 3], [3, 3, 5]])


@pytest.mark.parametrize(
    ("default", "low", "high", "also"),
    [(0, 1, 3, -1), (1, 1, 3, -1), (2, 0, 2, 3), (3, 0, 2, 3), (4, 2, 4, -1)],
)
def test_missing_values_below_a_threshold(grow, default, low, high, also):
    # Code 4 is that of missing values, which are like 0 and 1. Inside is what has not the default.
    rows, target = [(0,), (0,), (1,), (2,), (3,), (4,), (4,)], [1, 1, 1, 8, 8, 1, 1]
    case = table_of(rows, target, criterion="squared_error", max_depth=1)
    case = case.with_(defaults=[default], ordered=[1 + MISSING])
    nodes = case.nodes(grow)
    assert splits_of(nodes)[0] == (0, low, high)
    assert nodes.also[0] == also
    assert (nodes.left[0], nodes.right[0]) == (1, 2)
    assert sorted(nodes.counts[1:, 0]) == [2, 5]
    plain = case.with_(ordered=[1]).nodes(grow)  # a fifth label that is like no other
    assert plain.gain[0] < nodes.gain[0]
    assert plain.also.tolist() == [-1] * 3


@pytest.mark.parametrize("default", range(4))
@pytest.mark.parametrize(("n_low", "n_high", "below"), [(3, 2, True), (2, 3, False), (3, 3, False)])
def test_missing_values_of_later_records_go_with_most(grow, default, n_low, n_high, below):
    rows = [(0,)] * n_low + [(2,)] * n_high
    case = table_of(rows, [0] * n_low + [5] * n_high, criterion="squared_error")
    case = case.with_(arities=[4], defaults=[default], ordered=[1 + MISSING])
    nodes = case.nodes(grow)
    lower = next(part for part in parts_of(nodes, 0, case) if 0 in part)
    assert lower == ({0, 3} if below else {0})


def test_a_pure_regression_leaf_is_not_split(grow):
    case = table_of([(0, 0), (0, 1), (1, 0), (1, 1)], [5, 5, 7, 7], criterion="squared_error")
    nodes = case.nodes(grow)
    assert nodes.column.tolist() == [0, -1, -1]
    assert nodes.gain[0] == pytest.approx(14**2 / 2 + 10**2 / 2 - 24**2 / 4)


def predictive(numbers, mean, kappa, alpha, beta):
    """The probability of numbers one after another, each given those before it: Student's t."""
    total = 0.0
    for x in numbers:
        spread = math.sqrt(beta * (kappa + 1) / (alpha * kappa))
        total += stats.t.logpdf(x, 2 * alpha, mean, spread)
        beta += kappa * (x - mean) ** 2 / (2 * (kappa + 1))
        mean = (kappa * mean + x) / (kappa + 1)
        kappa, alpha = kappa + 1, alpha + 0.5
    return total


def test_normal_leaves_one_number_after_another(grow):
    prior = (0.5, 0.7, 1.3, 2.1)
    low, high = [-6, -5, -7, -6], [5, 6, 7]
    rows = [(0,)] * len(low) + [(1,)] * len(high)
    nodes = table_of(rows, low + high, criterion="normal", normal=prior).nodes(grow)
    gain = predictive(low, *prior) + predictive(high, *prior) - predictive(low + high, *prior)
    assert nodes.gain[0] == pytest.approx(gain + 2 * LOG_KAPPA)
    np.testing.assert_array_equal(nodes.counts[1], [3, 18, 25 + 36 + 49])


def test_weights_are_in_units(grow):
    case = table_of([(0,)] * 4 + [(1,)] * 4, [0] * 4 + [1] * 4)
    doubled = case.with_(weights=np.full(8, 6)).ruled(unit=6.0, min_leaf=24)
    assert doubled.nodes(grow).gain[0] == pytest.approx(case.nodes(grow).gain[0])
    assert doubled.nodes(grow).counts.tolist() == [[24, 24], [0, 24], [24, 0]]
    assert doubled.ruled(min_leaf=25).nodes(grow).n_nodes == 1


def test_limits(grow):
    rows = [(a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 2
    case = table_of(rows, [4 * a + 2 * b + c for a, b, c in rows], criterion="entropy")
    assert case.nodes(grow).n_leaves == 8
    for limit in range(1, 9):
        assert case.ruled(max_leaves=limit).nodes(grow).n_leaves == limit
    for limit in range(4):
        assert case.ruled(max_depth=limit).nodes(grow).depth == limit
    assert case.ruled(min_leaf=4).nodes(grow).n_leaves == 4
    assert case.with_(excluded=(0, 2)).nodes(grow).column.tolist() == [1, -1, -1]
    # Ties go to the first column, and leaves of the same gain are split in order.
    assert case.ruled(max_leaves=3).nodes(grow).column.tolist() == [0, 1, -1, -1, -1]


def test_a_complete_split_needs_room_for_all_children(grow):
    rows = [(a, b) for a in range(4) for b in range(2)] * 5
    case = table_of(rows, [a for a, _ in rows], criterion="entropy", binary=False, complete=True)
    assert case.ruled(max_leaves=4).nodes(grow).n_leaves == 4
    assert case.ruled(max_leaves=3).nodes(grow).n_leaves == 1


def test_equal_leaves_of_a_graph_merge(grow):
    # The class is 1 where both columns are: the two leaves of class 0 are one.
    rows = [(0, 0)] * 4 + [(0, 1)] * 4 + [(1, 0)] * 4 + [(1, 1)] * 8
    case = table_of(rows, [0] * 12 + [1] * 8, prior="k2")
    tree = case.nodes(grow)
    np.testing.assert_array_equal(tree.counts, [[12, 8], [4, 8], [8, 0], [0, 8], [4, 0]])
    graph = case.ruled(merge=True).nodes(grow)
    # Breadth first: root, its inside child, then what both lead to; 13 is 12 + 1.
    np.testing.assert_array_equal(graph.counts, [[12, 8], [4, 8], [0, 8], [12, 0]])
    assert graph.children_of(0).tolist() == [1, 3]
    assert graph.children_of(1).tolist() == [2, 3]
    assert graph.prior_fraction.tolist() == [1] * 4
    shared = case.ruled(merge=True, prior="bdeu").nodes(grow)
    np.testing.assert_array_equal(shared.counts, graph.counts)
    np.testing.assert_allclose(shared.prior_fraction, [1, 0.5, 0.25, 0.75])


def test_unlike_leaves_stay_apart(grow):
    case = table_of([(0,)] * 6 + [(1,)] * 6, [0] * 6 + [1] * 6, criterion="bic", merge=True)
    assert case.nodes(grow).n_nodes == 3


def test_a_target_of_one_class_is_a_leaf(grow):
    case = table_of([(0, 1), (1, 0), (1, 1), (0, 0)] * 9, [0] * 36)
    for criterion in ("bayes_factor", "bic", "entropy", "gini"):
        for log_kappa in (0.0, -1.0):
            assert case.ruled(criterion=criterion, log_kappa=log_kappa).nodes(grow).n_nodes == 1


def test_numbers_have_thresholds_and_no_child_for_each():
    rows = [(0,), (1,), (2,), (3,)] * 3
    case = table_of(rows, [0, 1, 0, 1] * 3, criterion="entropy", binary=False, complete=True)
    labels = case.with_(ordered=[1]).nodes(grow_tree)
    numbers = case.with_(ordered=[2]).nodes(grow_tree)
    assert labels.complete.tolist() == [1, 0, 0, 0, 0]
    assert not numbers.complete.any()
    assert numbers.n_leaves == 4  # by three thresholds, one after another
    assert (numbers.left[~numbers.leaves] >= 0).all()
