"""What must not change a tree: the choice of defaults, the order of records, their repetition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import tree as tree_oracle
from support.strategies import JOBS, for_all_jobs
from support.trees import (
    CLASSIFYING,
    REGRESSING,
    assert_same,
    cases,
    grow_forest,
    grow_tree,
    random_case,
    records_of,
)
from tacit.tree.growth.coding import MISSING
from tacit.tree.nodes import Nodes

ALL = [*CLASSIFYING, *REGRESSING]
ARITIES = [2, 3, 6, 4, 2, 5]


def case_for(criterion, seed=1, n_records=400, **changes):
    """Weights are random and large, so that no two ways to part the records gain the same."""
    n_classes = 0 if criterion in REGRESSING else 3
    case = random_case(seed, n_records, ARITIES, n_classes, 0.6, criterion=criterion)
    weights = np.random.default_rng(seed).integers(1, 10**6, n_records)
    return case.with_(weights=weights).ruled(
        unit=2.0**18, log_kappa=-0.2, min_leaf=2**20, **changes
    )


def parting(case):
    """Return what each node holds and gains, whatever it is called and whichever side is inside."""
    nodes = case.nodes(grow_tree)
    return {
        tuple(records.tolist()): pytest.approx(gain, rel=1e-8, abs=1e-8)
        for records, gain in zip(records_of(nodes, case), nodes.gain.tolist(), strict=True)
    }


@pytest.mark.parametrize("criterion", ALL)
@pytest.mark.parametrize("kinds", [(True, False), (True, True)])
def test_any_choice_of_defaults_gives_the_same_tree(criterion, kinds):
    binary, complete = kinds
    case = case_for(criterion, binary=binary, complete=complete)
    case = case.with_(ordered=[0, 1 + MISSING, 1 + MISSING, 0, 0, 1 + MISSING])
    expected = parting(case)
    assert len(expected) > 3
    draw = np.random.default_rng(5)
    for _ in range(12):
        other = case.with_(defaults=draw.integers(0, ARITIES).tolist())
        assert parting(other) == expected


@pytest.mark.parametrize("complete", [False, True])
def test_any_choice_of_defaults_gives_the_same_shares(complete):
    # Above depth 3 every code occurs in every node: no two splits part the records alike.
    case = case_for("bayes_factor", 2, 3000, prior="bdeu", max_depth=3, complete=complete)
    case = case.with_(ordered=[0, 1, 1 + MISSING, 0, 0, 1 + MISSING])
    expected = parting(case)
    assert len(expected) > 3
    draw = np.random.default_rng(6)
    for _ in range(12):
        assert parting(case.with_(defaults=draw.integers(0, ARITIES).tolist())) == expected


@settings(max_examples=150, deadline=None)
@given(cases(CLASSIFYING, min_rows=20), st.booleans())
def test_fractions_are_those_of_the_joint_space(case, merge):
    """Whatever the splits are, a leaf's fraction is that of all combinations of codes."""
    merge = merge and case.settings["criterion"] in ("bayes_factor", "bic")
    case = case.ruled(prior="bdeu", merge=merge)
    if merge:
        case = case.ruled(leaf_prices=False)
    nodes = case.nodes(grow_tree)
    leaves = np.flatnonzero(nodes.leaves)
    assert nodes.prior_fraction[leaves].sum() == pytest.approx(1)
    asked = np.unique(nodes.column[~nodes.leaves])
    sizes = [arity if c in asked else 1 for c, arity in enumerate(case.arities)]
    if np.prod(sizes) > 20_000:
        return
    every = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1)
    come = records_of(nodes, case.with_(codes=every.reshape(-1, len(sizes))))
    expected = [len(come[leaf]) / np.prod(sizes) for leaf in leaves]
    np.testing.assert_allclose(nodes.prior_fraction[leaves], expected, rtol=1e-9, atol=1e-100)


def identical(case, other):
    assert_same(case.nodes(grow_tree), other.nodes(grow_tree))


@settings(max_examples=100, deadline=None)
@given(cases(min_rows=10), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(case, random):
    order = list(range(len(case.codes)))
    random.shuffle(order)
    weights = None if case.weights is None else case.weights[order]
    identical(case, case.with_(codes=case.codes[order], target=case.target[order], weights=weights))


@settings(max_examples=100, deadline=None)
@given(cases(min_rows=10))
def test_a_weight_of_two_is_the_record_twice(case):
    times = np.random.default_rng(len(case.codes)).integers(0, 4, len(case.codes))
    times[0] = 2
    many = np.repeat(np.arange(len(case.codes)), times)
    plain = case.ruled(unit=1.0)
    identical(
        plain.with_(weights=times),
        plain.with_(codes=case.codes[many], target=case.target[many], weights=None),
    )


@settings(max_examples=60, deadline=None)
@given(cases(CLASSIFYING, min_rows=10))
def test_columns_that_are_excluded_might_not_be_there(case):
    left = [c for c in range(len(case.arities)) if c not in case.excluded]
    without = case.with_(
        codes=case.codes[:, left],
        arities=[case.arities[c] for c in left],
        defaults=[case.defaults[c] for c in left],
        ordered=[case.ordered[c] for c in left],
        excluded=(),
    )
    prices = case.settings["split_prices"]
    without = without.ruled(split_prices=tuple(prices[c] for c in left if prices))
    some, none = case.nodes(grow_tree), without.nodes(grow_tree)
    np.testing.assert_array_equal(some.counts, none.counts)
    np.testing.assert_allclose(some.gain, none.gain, rtol=1e-9, atol=1e-9)
    inner = ~some.leaves
    np.testing.assert_array_equal(some.column[inner], np.array(left)[none.column[inner]])


@settings(max_examples=80, deadline=None)
@given(cases(CLASSIFYING, min_rows=10), st.booleans())
def test_counts_are_conserved(case, merge):
    merge = merge and case.settings["criterion"] in ("bayes_factor", "bic")
    if merge:
        case = case.ruled(leaf_prices=False, merge=True)
    nodes = case.nodes(grow_tree)
    np.testing.assert_array_equal(nodes.counts[nodes.leaves].sum(axis=0), nodes.counts[0])
    own = 1 if case.weights is None else case.weights
    whole = np.bincount(case.target, np.broadcast_to(own, len(case.target)), case.n_classes)
    np.testing.assert_array_equal(nodes.counts[0], whole)
    if not merge:
        for node in np.flatnonzero(~nodes.leaves).tolist():
            below = nodes.counts[nodes.children_of(node)]
            np.testing.assert_array_equal(below.sum(axis=0), nodes.counts[node])


# Forests: a tree for each column, given the others.


def forest(case, n_jobs=1, pairs=None, targets=None, dtype=np.uint16, kernel=grow_forest):
    targets = range(len(case.arities)) if targets is None else targets
    targets = np.array(list(targets), np.int64)
    return kernel(*case.table(dtype), targets, pairs, case.weights, case.settings, n_jobs)


def pair_counts(case):
    """Count the records that hold both of two value ids, for all pairs."""
    indptr, values = case.table(np.uint32)[:2]
    held = np.zeros((len(case.codes), case.n_values), np.int64)
    held[np.repeat(np.arange(len(case.codes)), np.diff(indptr)), values] = 1
    return (held.T @ held).ravel()


def trees_of(case, arrays, targets=None):
    roots, *parts, stats, stat_start = arrays
    targets = range(len(case.arities)) if targets is None else targets
    assert len(roots) == len(stat_start) == len(targets) + 1
    for t, target in enumerate(targets):
        begin, end = roots[t], roots[t + 1]
        own = [part[begin:end] for part in parts]
        own[6] = parts[6][begin:end]
        own[7] = parts[7] - begin  # `first` leads to places that all trees share
        counts = stats[stat_start[t] : stat_start[t + 1]].reshape(-1, case.arities[target])
        yield target, Nodes(*own, counts)


@settings(max_examples=60, deadline=None)
@given(cases(CLASSIFYING, min_rows=10), st.booleans())
def test_a_forest_is_its_trees(case, with_pairs):
    pairs = pair_counts(case) if with_pairs and case.weights is None else None
    for target, tree in trees_of(case, forest(case, pairs=pairs)):
        single = case.with_(
            target=case.codes[:, target], n_classes=case.arities[target], excluded=(target,)
        )
        assert_same(tree, single.nodes(grow_tree))


@settings(max_examples=40, deadline=None)
@given(cases(CLASSIFYING, min_rows=10))
def test_forests_are_the_oracles(case):
    found = forest(case)
    expected = forest(case, kernel=tree_oracle.grow_forest)
    for (_, a), (_, b) in zip(trees_of(case, found), trees_of(case, expected), strict=True):
        assert_same(a, b)


SPARSE = [2] * 120 + [4] * 20 + [7] * 6


@pytest.mark.parametrize("criterion", ["bayes_factor", "entropy"])
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_pair_counts_and_threads_change_nothing(criterion, dtype):
    case = random_case(31, 2500, SPARSE, 2, 0.06, criterion=criterion, max_leaves=12)
    plain = for_all_jobs(lambda n_jobs: forest(case, n_jobs, dtype=dtype), JOBS[:4])
    pairs = pair_counts(case)
    paired = for_all_jobs(lambda n_jobs: forest(case, n_jobs, pairs, dtype=dtype), JOBS[:4])
    for (_, a), (_, b) in zip(trees_of(case, plain), trees_of(case, paired), strict=True):
        assert_same(b, a)
    trees = dict(trees_of(case, paired))
    for target in (0, 130, 145):
        single = case.with_(
            target=case.codes[:, target], n_classes=case.arities[target], excluded=(target,)
        )
        assert_same(trees[target], Nodes(*single.growth().arrays()))


@pytest.mark.parametrize("criterion", ["bayes_factor", "bic"])
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pair_counts_where_most_values_are_stored(criterion, merge, seed):
    # Most records go inside, so that it is the outside which is counted and taken away.
    case = random_case(seed, 300, [2, 2, 3, 2, 4, 2], 2, 1.0, criterion=criterion, log_kappa=-0.1)
    draw = np.random.default_rng(seed)
    common = (np.array(case.defaults) + 1) % np.array(case.arities)
    codes = np.where(draw.random(case.codes.shape) < 0.7, common, case.codes)
    told = (codes[:, 1] == common[1]) ^ (codes[:, 3] == common[3])
    codes[:, 0] = np.where(draw.random(300) < 0.9, told, codes[:, 0])
    case = case.with_(codes=codes).ruled(max_leaves=20, merge=merge)
    plain, paired = forest(case), forest(case, pairs=pair_counts(case))
    trees = zip(trees_of(case, plain), trees_of(case, paired), strict=True)
    for (_, expected), (_, found) in trees:
        assert_same(found, expected)
    assert len(plain[1]) > 6  # some trees have more than a root


def test_targets_may_be_some_in_any_order():
    case = random_case(37, 300, [2, 3, 4, 2, 5], 2, 0.5, log_kappa=-0.2)
    every = dict(trees_of(case, forest(case)))
    for targets in ([3, 1], [4], [2, 2], []):
        arrays = forest(case, targets=targets)
        for target, tree in trees_of(case, arrays, targets):
            assert_same(tree, every[target])


def test_weighted_forests_may_have_pair_counts_beside_them():
    case = random_case(41, 500, [2] * 40, 2, 0.1, weighted=True, log_kappa=-0.1)
    plain, paired = forest(case), forest(case, pairs=pair_counts(case))
    for a, b in zip(plain, paired, strict=True):
        np.testing.assert_array_equal(a, b)
