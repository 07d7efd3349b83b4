"""Rules that are added to others are those that would have been found at once."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import rules as rule_oracle
from oracles.rules import Setting
from support.rule_tables import (
    NUMBER_LOSSES,
    Codes,
    boost,
    booster_of,
    limited_problems,
    predominants,
    problem_of,
)
from support.strategies import assert_identical


def resumed(problem, arrays, predominant=None, **options):
    """A booster that goes on after rules that another has grown."""
    booster = booster_of(problem, predominant, **options)
    rules = rule_oracle.found_rules(arrays)
    covered = [np.flatnonzero(rule_oracle.covers(problem.codes, rule.conditions)) for rule in rules]
    start = np.cumsum([0, *map(len, covered)]).astype(np.int64)
    listed = np.concatenate([*covered, np.zeros(0, np.int64)]).astype(np.int32)
    booster.resume(start, listed, arrays["rule_heads"], arrays["outputs"], arrays["scores"])
    return booster


@given(limited_problems(weighted=True), st.data())
@settings(max_examples=150)
def test_going_on_with_rules_is_the_same_as_growing_at_once(problem, data):
    n = data.draw(st.integers(0, 8))
    at_once, scores = boost(problem, n_rules=8)
    first, _ = boost(problem, n_rules=n)
    booster = resumed(problem, first, data.draw(predominants(Codes(problem.codes, problem.kinds))))
    booster.grow(8 - n, 0, 1)
    found = booster.rules()
    assert_identical(booster.scores(), scores)
    for name in ("columns", "ops", "low", "high", "outputs", "scores", "support", "gain", "losses"):
        rest = at_once[name][len(first[name]) :]
        assert_identical(found[name], rest)
    before = [first["start_loss"], first["losses"]]
    np.testing.assert_allclose(found["start_loss"], np.concatenate(before)[-1], rtol=1e-12)


@given(limited_problems(weighted=True), st.data())
@settings(max_examples=150)
def test_going_on_draws_what_growing_at_once_draws(problem, data):
    """Of several outputs with heads and samples of their own, only if no draw came to nothing."""
    setting = problem.setting
    if setting.heads == "single" and setting.loss not in rule_oracle.JOINT:
        problem = replace(problem, targets=problem.targets[:, :1])
    options = {
        "sample": data.draw(st.sampled_from(["none", "bagging", "subsample"])),
        "sample_fraction": data.draw(st.sampled_from([0.5, 1.0])),
        "n_features": data.draw(st.integers(0, problem.codes.shape[1])),
        "seed": data.draw(st.integers(0, 5)),
    }
    n = data.draw(st.integers(0, 8))
    at_once, scores = boost(problem, n_rules=8, **options)
    first, _ = boost(problem, n_rules=n, **options)
    booster = resumed(problem, first, **options)
    booster.grow(8 - n, 0, 1)
    assert_identical(booster.scores(), scores)
    for name in ("columns", "ops", "low", "high", "outputs", "scores", "support"):
        assert_identical(booster.rules()[name], at_once[name][len(first[name]) :])


@pytest.mark.parametrize("sample", ["none", "bagging", "subsample"])
@pytest.mark.parametrize("loss", ["logistic", "absolute", "squared", "softmax"])
def test_going_on_with_samples_of_many_outputs(loss, sample):
    random = np.random.default_rng(11)
    codes = random.integers(0, 8, (400, 12))
    place = np.digitize(codes[:, 0] + codes[:, 1], [4, 9])
    y = np.eye(3, dtype=np.uint8)[place]
    if loss in NUMBER_LOSSES:
        y = codes[:, :3] * codes[:, 3:6] + random.normal(size=(400, 3))
    problem = problem_of(codes, y, setting=Setting(loss=loss))
    options = {"sample": sample, "sample_fraction": 0.5, "n_features": 4, "seed": 3}
    at_once, scores = boost(problem, n_rules=60, **options)
    first, _ = boost(problem, n_rules=23, **options)
    booster = resumed(problem, first, **options)
    booster.grow(37, 0, 1)
    assert_identical(booster.scores(), scores)
    assert_identical(booster.rules()["columns"], at_once["columns"][len(first["columns"]) :])


def test_rules_to_go_on_with_are_checked():
    problem = problem_of([0, 1, 2], np.array([0.0, 1.0, 2.0]))
    fine = {
        "start": np.array([0, 2], np.int64),
        "covered": np.array([0, 2], np.int32),
        "head_start": np.array([0, 1], np.int64),
        "outputs": np.array([0], np.int32),
        "scores": np.array([0.5]),
    }
    booster = booster_of(problem)
    for wrong, complaint in (
        ({"start": np.array([0, 3], np.int64)}, "start must ascend to the end"),
        ({"start": np.array([0, 3, 2], np.int64)}, "start must ascend to the end"),
        ({"start": np.array([1, 2], np.int64)}, "start must ascend to the end"),
        ({"head_start": np.array([0, 2], np.int64)}, "head_start must ascend to the end"),
        ({"head_start": np.array([0, 0, 1], np.int64)}, "do not fit each other"),
        ({"covered": np.array([0, 3], np.int32)}, "covered records must be in range"),
        ({"outputs": np.array([1], np.int32)}, "outputs must be in range"),
        ({"scores": np.array([0.5, 1.0])}, "do not fit each other"),
    ):
        with pytest.raises(ValueError, match=complaint):
            booster.resume(**fine | wrong)
    booster.resume(**fine)
    assert booster.scores()[:, 0].tolist() == [1.5, 1.0, 1.5]
    booster.grow(1, 0, 1)
    with pytest.raises(ValueError, match="have been grown already"):
        booster.resume(**fine)
