"""Limits of columns: which way heads may point, and which conditions may stand together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import rules as rule_oracle
from oracles.rules import NOMINAL, ORDINAL, Setting
from support.rule_tables import (
    Codes,
    assert_same_rules,
    boost,
    limited_problems,
    predominants,
    problem_of,
)
from support.strategies import assert_identical


@given(limited_problems(weighted=True), st.data())
@settings(max_examples=300)
def test_every_choice_within_limits_is_one_of_the_best(problem, data):
    predominant = data.draw(predominants(Codes(problem.codes, problem.kinds)))
    arrays, scores = boost(problem, predominant)
    np.testing.assert_allclose(scores, rule_oracle.replay(problem, arrays), rtol=1e-9, atol=1e-12)
    found, own = boost(problem, n_jobs=3)
    assert_same_rules(found, arrays)
    assert_identical(own, scores)


@pytest.mark.parametrize("prune", [False, True])
@given(limited_problems(weighted=True), st.data())
@settings(max_examples=60)
def test_limits_hold_whatever_is_drawn(prune, problem, data):
    options = {
        "sample": data.draw(st.sampled_from(["bagging", "subsample"])),
        "sample_fraction": data.draw(st.sampled_from([0.5, 1.0])),
        "n_features": data.draw(st.integers(0, problem.codes.shape[1])),
        "prune": prune,
        "seed": data.draw(st.integers(0, 5)),
    }
    arrays, scores = boost(problem, n_rules=8, **options)
    replayed = rule_oracle.replay(problem, arrays, choices=False, again=False)
    np.testing.assert_allclose(scores, replayed, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared", "absolute", "poisson"])
@pytest.mark.parametrize("n_features", [0, 7])
def test_limits_of_many_columns(loss, n_features):
    """Whether columns are passed over, kept as histograms or always read: the same rules."""
    random = np.random.default_rng(9)
    m, n = 900, 30
    codes = np.where(random.random((m, n)) < 0.15, random.integers(-1, 6, (m, n)), 2)
    y = (codes[:, :1] > 2) + 1.0 * (codes[:, 1:2] > 3) * (codes[:, 2:3] < 2) + random.random((m, 1))
    y = y.astype(float) if loss != "logistic" else (y > 1).astype(np.uint8)
    setting = Setting(
        loss=loss,
        monotone=tuple(random.integers(-1, 2, n).tolist()),
        groups=(tuple(range(5)), tuple(range(3, 20)), tuple(range(20, 30))),
    )
    problem = problem_of(codes, y, setting=setting)
    options = {"n_rules": 100, "n_features": n_features, "seed": 3}
    expected, scores = boost(problem, [-1] * n, **options)
    assert len(expected["support"]) == 100
    for predominant in ([2] * n, [0] * n, [6] * n):
        found, own = boost(problem, predominant, **options)
        assert_same_rules(found, expected)
        assert_identical(own, scores)
    rule_oracle.replay(problem, expected, choices=False, again=n_features == 0)
    if n_features == 0:
        rule_oracle.replay(problem, boost(problem, [2] * n, n_rules=6)[0])


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"monotone": [1]}, "as many as columns"),
        ({"monotone": [1, 2]}, "-1, 0 or 1"),
        ({"monotone": [0, 1]}, "0 of nominal columns"),
        ({"group_start": [0, 1]}, "go together"),
        ({"group_start": [0, 3], "group_columns": [0, 1]}, "must ascend"),
        ({"group_start": [0, 2], "group_columns": [1, 0]}, "must be in range and ascend"),
        ({"group_start": [0, 1], "group_columns": [2]}, "must be in range and ascend"),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong, problem):
    codes, y = [[0, 0], [1, 1]], np.array([0.0, 1.0])
    types = {"group_start": np.int64}
    limits = {name: np.array(x, types.get(name, np.int32)) for name, x in wrong.items()}
    with pytest.raises(ValueError, match=problem):
        boost(problem_of(codes, y, [ORDINAL, NOMINAL]), **limits)
