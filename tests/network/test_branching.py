"""Branchings of tables against all parent vectors and an independent Edmonds."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles import network as oracle
from support.estimator_checks import FROM_CUTS
from support.strategies import data
from tacit import BayesNet, Branching, Table

WEIGHTS = [1.0, 10.0]


@pytest.mark.parametrize("weight", WEIGHTS)
@given(records=data(max_rows=30, max_columns=5, with_chosen=False, weights=None))
@settings(max_examples=40)
def test_the_branching_is_the_best_of_all(weight, records):
    n = len(records.arities)
    families = oracle.Families(records.rows, records.arities, "bdeu", weight)
    gains = oracle.branching_gains(families, n)
    model = Branching(criterion="bdeu", prior_weight=weight).fit(records.table())
    parents = [int(p) for p in model.parent_]
    assert oracle.is_branching(parents)
    best = oracle.best_branching_weight(gains)
    assert oracle.branching_weight(gains, parents) == pytest.approx(best, rel=1e-9, abs=1e-7)
    assert all(gains[p, child] > -1e-9 for child, p in enumerate(parents) if p >= 0)


@pytest.mark.parametrize("score", oracle.SCORES)
@pytest.mark.parametrize("n", [2, 12, 25])
def test_larger_branchings_equal_the_slow_edmonds(score, n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 3, (300, n))
    for c in range(1, n):
        copied = rng.random(300) < rng.uniform(0, 0.7)
        codes[copied, c] = codes[copied, rng.integers(0, c)]
    families = oracle.Families(codes.tolist(), [3] * n, score, 2.0)
    gains = oracle.branching_gains(families, n)
    model = Branching(criterion=score, prior_weight=2.0).fit(codes)
    parents = [int(p) for p in model.parent_]
    assert oracle.is_branching(parents)
    expected = oracle.branching_weight(gains, oracle.edmonds(gains))
    assert oracle.branching_weight(gains, parents) == pytest.approx(expected, rel=1e-9)
    nets = [() if p < 0 else (p,) for p in parents]
    assert model.score_ == pytest.approx(families.net(nets), rel=1e-9)


def test_independent_columns_stay_apart():
    codes = np.random.default_rng(0).integers(0, 2, (2000, 6))
    assert list(Branching(criterion="bic").fit(codes).parent_) == [-1] * 6


def test_a_forest_of_two_trees_keeps_them_apart():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 2, (2, 3000))
    flips = rng.random((4, 3000)) < 0.1
    codes = np.column_stack(
        [left, left ^ flips[0], left ^ flips[1], right, right ^ flips[2], right ^ flips[3]]
    )
    parents = Branching(criterion="bdeu").fit(codes).parent_
    assert (np.asarray(parents) == -1).sum() == 2
    assert all((p < 3) == (child < 3) for child, p in enumerate(parents) if p >= 0)


def test_weights_are_repetitions():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (80, 6))
    codes[:40, 1:] = codes[:40, :-1]
    weights = rng.integers(0, 4, 80)
    one = Branching().fit(codes, sample_weight=weights.astype(float))
    two = Branching().fit(np.repeat(codes, weights, axis=0))
    assert one.score_ == pytest.approx(two.score_)


def test_the_net_of_a_branching_has_its_arcs():
    rng = np.random.default_rng(6)
    first = rng.integers(0, 2, 500)
    codes = np.column_stack([first, first ^ (rng.random(500) < 0.1), rng.integers(0, 2, 500)])
    model = Branching().fit(codes)
    expected = [() if p < 0 else (int(p),) for p in model.parent_]
    assert [tuple(parents) for parents in model.parents_] == expected


@parametrize_with_checks(
    [
        Branching(),
        BayesNet(n_restarts=1, max_parents=2, random_state=0),
    ],
    expected_failed_checks=lambda estimator: FROM_CUTS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_scores_of_weighted_tables_are_weighted():
    codes = np.array([[0, 1], [1, 0], [1, 1]])
    model = Branching().fit(codes)
    scores = model.score_samples(codes)
    table = Table(codes, columns=["x0", "x1"]).with_weights([1.0, 0.0, 5.0])
    assert model.score(table) == pytest.approx((scores[0] + 5 * scores[2]) / 6)


def test_a_star_of_many_columns():
    """Every arc of a star has a rival in the other direction: cycle after cycle is contracted."""
    rng = np.random.default_rng(7)
    centre = rng.integers(0, 2, 400)
    codes = np.column_stack([centre, *(centre ^ (rng.random((300, 400)) < 0.2))])
    parents = Branching().fit(codes).parent_.tolist()
    assert oracle.is_branching(parents)
    assert parents.count(-1) == 1
