"""Boosted rules, rule for rule: whatever is stored, whoever counts, the rules are the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from oracles import rules as rule_oracle
from oracles.rules import ABOVE, AT_MOST, EQUAL, NOMINAL, ORDINAL, UNEQUAL, Setting
from support.rule_tables import (
    LOSSES,
    NUMBER_LOSSES,
    SETTING,
    Codes,
    assert_same_rules,
    boost,
    boost_problems,
    coded_tables,
    predominants,
    problem_of,
)
from support.strategies import JOBS, assert_identical
from tacit import _core


def first_rule(problem, predominant=None, **options):
    arrays, _ = boost(problem, predominant, n_rules=1, default_rule=False, **options)
    (rule,) = rule_oracle.found_rules(arrays)
    return rule


# What the search finds


@pytest.mark.parametrize("predominant", [-1, 0, 1, 2, 3])
def test_smallest_value_beyond_the_predominant_one(predominant):
    """x = 0, 0, 0, 0, 1, 2 with y = x > 0: the threshold lies between 0 and 1, however stored."""
    problem = problem_of([0, 0, 0, 0, 1, 2], np.array([0.0, 0, 0, 0, 1, 1]))
    rule = first_rule(problem, [predominant])
    assert rule.conditions == [(0, 0, ABOVE, 1)]
    assert rule.head == {0: 1.0}
    assert rule.support == 2


@pytest.mark.parametrize("predominant", [-1, 0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("threshold", range(4))
@pytest.mark.parametrize("side", [AT_MOST, ABOVE])
def test_every_threshold_is_found(predominant, threshold, side):
    """Below, around and above the predominant value: phases I, III and II."""
    codes = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4])
    inside = codes <= threshold if side == AT_MOST else codes > threshold
    rule = first_rule(problem_of(codes, inside.astype(float)), [predominant])
    assert rule.conditions == [(0, threshold, side, threshold + 1)]
    assert rule.support == inside.sum()


@pytest.mark.parametrize("predominant", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("code", range(3))
@pytest.mark.parametrize("op", [EQUAL, UNEQUAL])
def test_every_label_is_found(predominant, code, op):
    codes = np.array([0, 0, 1, -1, 1, 2, 2, 2, -1])
    inside = codes == code if op == EQUAL else (codes != code) & (codes >= 0)
    rule = first_rule(problem_of(codes, inside.astype(float), [NOMINAL]), [predominant])
    assert rule.conditions == [(0, code, op, code)]
    assert rule.support == inside.sum()


def test_one_threshold_where_no_record_has_the_predominant_value():
    problem = problem_of([0, 0, 2, 2], np.array([0.0, 0, 1, 1]))
    assert first_rule(problem, [1]).conditions == [(0, 0, ABOVE, 2)]


def test_thresholds_of_what_is_still_covered():
    """A second condition lies between values of covered records, not between those of all."""
    codes = np.array([[0, 0], [1, 0], [2, 1], [0, 1], [3, 1], [3, 1], [1, 0], [2, 0]])
    y = np.array([0.0, 0, 0, 0, 5, 5, 0, 0])
    setting = replace(SETTING, max_conditions=2)
    for predominant in ([0, 0], [3, 1], [2, 0], [4, 2], [-1, -1]):
        problem = problem_of(codes, y, setting=setting)
        rule = first_rule(problem, predominant)
        assert rule.conditions == [(0, 2, ABOVE, 3)]  # and no second one, as nothing is gained
        rule_oracle.replay(problem, boost(problem, predominant, default_rule=False)[0])


def test_ties_go_to_the_first_column_then_the_lowest_code():
    codes = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    for predominant in ([0, 0, 0], [1, 1, 1], [2, 2, 2], [1, 0, 1]):
        rule = first_rule(problem_of(codes, y), predominant)
        assert rule.conditions == [(0, 0, AT_MOST, 1)]
        nominal = first_rule(problem_of(codes, y, [NOMINAL] * 3), predominant)
        assert nominal.conditions == [(0, 0, EQUAL, 0)]


@given(boost_problems(weighted=True), st.data())
@settings(max_examples=300)
def test_every_choice_is_one_of_the_best(problem, data):
    predominant = data.draw(predominants(Codes(problem.codes, problem.kinds)))
    arrays, scores = boost(problem, predominant)
    np.testing.assert_allclose(scores, rule_oracle.replay(problem, arrays), rtol=1e-9, atol=1e-12)


@given(boost_problems(weighted=True), st.data())
@settings(max_examples=300)
def test_rules_do_not_depend_on_what_is_stored(problem, data):
    table = Codes(problem.codes, problem.kinds)
    expected, scores = boost(problem)
    for _ in range(2):
        found, own = boost(problem, data.draw(predominants(table)))
        assert_same_rules(found, expected)
        assert_identical(own, scores)


@given(boost_problems(weighted=True), st.data())
@settings(max_examples=25)
def test_rules_do_not_depend_on_threads(problem, data):
    predominant = data.draw(predominants(Codes(problem.codes, problem.kinds)))
    drawn = {"sample": "bagging", "n_features": data.draw(st.integers(0, problem.codes.shape[1]))}
    options = data.draw(st.sampled_from([{}, drawn]))
    expected, scores = boost(problem, predominant, n_jobs=1, **options)
    for n_jobs in JOBS[1:]:
        found, own = boost(problem, predominant, n_jobs=n_jobs, **options)
        assert_same_rules(found, expected)
        assert_identical(own, scores)


@pytest.mark.parametrize("heads", ["single", "partial", "complete"])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_many_records_however_they_are_stored(heads, loss):
    """Enough stored values for all ways of filtering them, and for several threads."""
    random = np.random.default_rng(7)
    m = 6000
    codes = np.minimum(random.geometric(0.3, (m, 8)) - 2, 12).astype(np.int32)
    place = (codes[:, 0] > 2).astype(int) + ((codes[:, 6] == 1) & (codes[:, 1] <= 3))
    place = np.where(random.random(m) < 0.1, random.integers(0, 3, m), place)
    setting = Setting(loss=loss, heads=heads, head_size=2, max_conditions=5, min_support=4.0)
    kinds = [ORDINAL] * 6 + [NOMINAL] * 2
    problem = problem_of(codes, np.eye(3, dtype=np.uint8)[place], kinds, setting)
    expected, scores = boost(problem, n_rules=12)
    for predominant, n_jobs in (([-1] * 8, 1), ([0] * 8, 2), ([3] * 8, 3), ([13] * 8, 7)):
        found, own = boost(problem, predominant, n_rules=12, n_jobs=n_jobs)
        assert_same_rules(found, expected)
        assert_identical(own, scores)
    replayed = rule_oracle.replay(problem, expected, choices=False)
    np.testing.assert_allclose(scores, replayed, rtol=1e-9, atol=1e-12)
    rule_oracle.replay(problem, boost(problem, n_rules=2)[0])


@pytest.mark.parametrize(
    "loss", ["logistic", "squared", "squared_hinge", "absolute", "quantile", "poisson"]
)
@pytest.mark.parametrize("n_features", [0, 7])
@pytest.mark.parametrize("learning_rate", [0.1, 1.0])
def test_long_runs_on_sparse_columns(loss, n_features, learning_rate):
    """Whether columns are passed over by what is known of them, or always read: the same rules.

    Where missing values are predominant, nothing is known of a column before it is read.
    """
    random = np.random.default_rng(8)
    m, n, n_outputs = 800, 40, 4
    codes = np.where(random.random((m, n)) < 0.08, random.integers(-1, 6, (m, n)), 2)
    parts = codes[:, random.integers(0, n, (3, n_outputs))] > 2
    y = (parts.any(axis=1) ^ (random.random((m, n_outputs)) < 0.1)).astype(np.uint8)
    y = y + random.normal(size=y.shape).round(2) if loss == "squared" else y
    y = y + random.normal(size=y.shape).round(1) if loss in rule_oracle.KINKED else y  # with ties
    y = y + random.poisson(2.0, size=y.shape).astype(float) if loss == "poisson" else y
    kinds = [ORDINAL] * (n - 6) + [NOMINAL] * 6
    quantile = 0.8 if loss == "quantile" else 0.5
    setting = Setting(loss=loss, learning_rate=learning_rate, l1=0.1, quantile=quantile)
    problem = problem_of(codes, y, kinds, setting)
    units = random.integers(0, 4, m).astype(float) if n_features else np.ones(m)
    problem = replace(problem, units=units)
    options = {"n_rules": 150, "n_features": n_features, "seed": 3}
    expected, scores = boost(problem, [-1] * n, **options)
    assert len(expected["support"]) > 100
    for predominant in ([2] * n, [0] * n, [6] * n):
        found, own = boost(problem, predominant, **options)
        assert_same_rules(found, expected)
        assert_identical(own, scores)
    if n_features == 0:
        few, _ = boost(problem, [2] * n, n_rules=12)
        np.testing.assert_array_equal(few["columns"], expected["columns"][: len(few["columns"])])
        rule_oracle.replay(problem, few)


# Heads, losses and what records count


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_the_oracle_are_derivatives(loss):
    random = np.random.default_rng(0)
    y = np.eye(3)[random.integers(0, 3, 20)]
    f, step = random.normal(size=(20, 3)), 1e-5
    g, h = rule_oracle.gradients(loss, f, y)
    for output in range(3):
        move = np.zeros(3)
        move[output] = step
        up, here, down = (rule_oracle.loss_of(loss, f + move * side, y) for side in (1, 0, -1))
        np.testing.assert_allclose((up - down) / (2 * step), g[:, output], atol=1e-6)
        if loss in rule_oracle.KINKED:  # whose second derivatives are 1 by convention
            np.testing.assert_array_equal(h, 1.0)
            continue
        np.testing.assert_allclose((up - 2 * here + down) / step**2, h[:, output], atol=1e-4)


@pytest.mark.parametrize("quantile", [0.5, 0.1, 0.75])
@pytest.mark.parametrize("loss", rule_oracle.KINKED)
def test_gradients_of_the_oracle_on_the_kink_are_one_sided(loss, quantile):
    y, step = np.arange(4.0)[:, None], 1e-5
    here = rule_oracle.loss_of(loss, y, y, quantile=quantile)
    assert not here.any()
    for way in (rule_oracle.UP, rule_oracle.DOWN):
        moved = rule_oracle.loss_of(loss, y + way * step, y, quantile=quantile)
        g, _ = rule_oracle.gradients(loss, y, y, quantile=quantile, way=way)
        np.testing.assert_allclose((moved - here) / (way * step), g[:, 0])


@pytest.mark.parametrize("loss", ["absolute", "quantile", "poisson"])
@given(st.data())
@settings(max_examples=60)
def test_every_rule_lowers_the_loss(loss, data):
    """Heads are the best that covered records can be given, and the losses are convex."""
    problem = data.draw(boost_problems(weighted=True, losses=(loss,)))
    problem = replace(problem, setting=replace(problem.setting, l1=0.0))
    arrays, _ = boost(problem, n_rules=8)
    scores = np.tile(arrays["default_scores"], (len(problem.codes), 1))
    weights = problem.units * problem.weights

    def loss_now():
        quantile = problem.setting.quantile
        return (
            weights * rule_oracle.loss_of(loss, scores, problem.targets, quantile=quantile)
        ).sum()

    for rule in rule_oracle.found_rules(arrays):
        before, covered = loss_now(), rule_oracle.covers(problem.codes, rule.conditions)
        for output, score in rule.head.items():
            scores[covered, output] += score
        assert loss_now() <= before + 1e-9 * (1 + abs(before))


@pytest.mark.parametrize("loss", rule_oracle.KINKED)
@given(st.data())
@settings(max_examples=60)
def test_when_no_rule_is_left_no_condition_lowers_the_loss(loss, data):
    """Ties are many: numbers are 0, 1 or 2, and most are 0."""
    table = data.draw(coded_tables(max_columns=2))
    setting = Setting(loss=loss, learning_rate=1.0, max_conditions=1, quantile=0.5)
    if loss == "quantile":
        setting = replace(setting, quantile=data.draw(st.sampled_from([0.25, 0.75])))
    numbers = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0])
    y = np.array(data.draw(st.lists(numbers, min_size=table.n_records, max_size=table.n_records)))
    problem = problem_of(table.codes, y, table.kinds, setting)
    arrays, scores = boost(problem, n_rules=300)
    assert len(arrays["support"]) < 300

    def loss_of(scores):
        return rule_oracle.loss_of(loss, scores, y[:, None], quantile=setting.quantile).sum()

    reached = loss_of(scores)
    for candidate in problem.candidates(np.ones(len(y), bool)):
        for step in (-2, -1, -0.5, 0.5, 1, 2):
            moved = scores + step * candidate.covered[:, None]
            assert loss_of(moved) >= reached - 1e-9


@pytest.mark.parametrize("heads", ["single", "partial", "complete"])
def test_heads_have_as_many_outputs_as_asked_for(heads):
    random = np.random.default_rng(1)
    codes, y = random.integers(0, 3, (40, 3)), random.integers(0, 2, (40, 5)).astype(np.uint8)
    setting = Setting(heads=heads, head_size=2)
    arrays, _ = boost(problem_of(codes, y, setting=setting), n_rules=10)
    sizes = np.diff(arrays["rule_heads"])
    assert set(sizes.tolist()) == {{"single": 1, "partial": 2, "complete": 5}[heads]}


@pytest.mark.parametrize("loss", LOSSES)
def test_default_rule_is_nearly_the_best_for_all_records(loss):
    """No constant is better by more than half a record of each kind accounts for."""
    random = np.random.default_rng(6)
    y = np.eye(3, dtype=np.uint8)[random.choice(3, 400, p=[0.7, 0.2, 0.1])]
    y = y.astype(float) if loss in NUMBER_LOSSES else y
    y = y + random.random(y.shape) if loss in rule_oracle.KINKED else y  # or many are the best
    arrays, scores = boost(problem_of(np.zeros((400, 1)), y, setting=Setting(loss=loss)))
    assert len(arrays["support"]) == 0  # columns of one value give no rule
    default = arrays["default_scores"]
    np.testing.assert_array_equal(scores, np.tile(default, (400, 1)))
    reached = rule_oracle.loss_of(loss, scores, y).sum()
    for output in range(3):
        for move in (-0.1, 0.1):
            other = scores.copy()
            other[:, output] += move
            assert rule_oracle.loss_of(loss, other, y).sum() > reached


def test_default_rule_counts_half_a_record_on_either_side():
    arrays, _ = boost(
        problem_of(np.zeros((4, 1)), np.array([1, 0, 0, 0], np.uint8), setting=Setting())
    )
    np.testing.assert_allclose(arrays["default_scores"], np.log(1.5 / 3.5))
    weighted = replace(
        problem_of(np.zeros((2, 1)), np.array([1, 0], np.uint8), setting=Setting()),
        units=np.array([1.0, 3.0]),
    )
    np.testing.assert_allclose(boost(weighted)[0]["default_scores"], np.log(1.5 / 3.5))


def test_without_a_default_rule_scores_begin_at_zero():
    problem = problem_of(np.zeros((3, 1)), np.ones(3))
    arrays, scores = boost(problem, default_rule=False)
    assert arrays["default_scores"].tolist() == [0.0]
    assert scores.tolist() == [[0.0]] * 3


@st.composite
def problems_with_units(draw):
    problem = draw(boost_problems(losses=("logistic", *NUMBER_LOSSES)))
    n = len(problem.codes)
    units = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    if units.sum() == 0:
        units[0] = 1
    return problem, units


# Both sides are worth the same, to all digits; the third record does not count.
TIE = problem_of(
    [0, 0, 0, 1],
    [-0.25, 0.0, 0.25, -0.25],
    setting=replace(SETTING, learning_rate=0.1, l2=0.5, max_conditions=1),
)


@given(problems_with_units())
@example((TIE, np.array([1, 2, 0, 3])))
@settings(max_examples=100)
def test_units_are_records_that_many_times(given_problem):
    problem, units = given_problem
    copies = np.repeat(np.arange(len(units)), units)
    several = replace(
        problem,
        codes=problem.codes[copies],
        targets=problem.targets[copies],
        units=np.ones(len(copies)),
        weights=np.ones(len(copies)),
    )
    found, scores = boost(replace(problem, units=units.astype(float)))
    expected, own = boost(several)
    for name in ("rule_conditions", "columns", "ops", "low", "high", "rule_heads", "outputs"):
        assert_identical(found[name], expected[name])
    assert_identical(found["support"], expected["support"])
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores[copies], own, rtol=1e-9, atol=1e-12)


@given(boost_problems(weighted=True), st.data())
@settings(max_examples=200)
def test_rules_do_not_depend_on_the_order_of_records(problem, data):
    """Tenths are no binary fractions: sums of them differ in their last digits, if rounded."""
    if problem.setting.loss in NUMBER_LOSSES:
        problem = replace(problem, targets=problem.targets * 0.4)
    order = np.array(data.draw(st.permutations(range(len(problem.codes)))))
    parts = ("codes", "targets", "units", "weights")
    other = replace(problem, **{name: getattr(problem, name)[order] for name in parts})
    found, scores = boost(other)
    expected, own = boost(problem)
    for name in ("start_loss", "losses"):  # of held-out records, as plain sums
        np.testing.assert_allclose(found.pop(name), expected.pop(name), rtol=1e-12)
    assert_same_rules(found, expected)
    assert_identical(scores, own[order])


@given(boost_problems(losses=("logistic",)))
@settings(max_examples=50)
def test_weights_of_two_are_units_of_two_for_the_rules(problem):
    twice = 2 * np.ones(len(problem.codes))
    by_units, _ = boost(
        replace(problem, units=twice, setting=replace(problem.setting, min_support=2.0))
    )
    by_weights, _ = boost(
        replace(problem, weights=twice, setting=replace(problem.setting, min_support=1.0))
    )
    for name in ("columns", "ops", "low", "high", "outputs"):
        assert_identical(by_units[name], by_weights[name])
    np.testing.assert_allclose(by_units["scores"], by_weights["scores"], rtol=1e-12)


# Draws, pruning and stopping


@pytest.mark.parametrize("sample", ["bagging", "subsample"])
@pytest.mark.parametrize("prune", [False, True])
@given(boost_problems(weighted=True), st.data())
@settings(max_examples=40)
def test_heads_after_draws_are_those_of_all_covered_records(sample, prune, problem, data):
    options = {
        "sample": sample,
        "sample_fraction": data.draw(st.sampled_from([0.5, 0.66, 1.0])),
        "n_features": data.draw(st.integers(0, problem.codes.shape[1])),
        "prune": prune,
        "seed": data.draw(st.integers(0, 5)),
    }
    predominant = data.draw(predominants(Codes(problem.codes, problem.kinds)))
    arrays, scores = boost(problem, **options)
    replayed = rule_oracle.replay(problem, arrays, choices=False, again=False)
    np.testing.assert_allclose(scores, replayed, rtol=1e-9, atol=1e-12)
    found, own = boost(problem, predominant, **options)
    assert_same_rules(found, arrays)
    assert_identical(own, scores)


@given(boost_problems(weighted=True), st.data())
@settings(max_examples=60)
def test_samples_of_all_records_change_nothing(problem, data):
    """Each output has a sample of its own: of all records, the same rules follow."""
    assume(problem.setting.loss not in rule_oracle.KINKED)  # as it is not known to be all of them
    predominant = data.draw(predominants(Codes(problem.codes, problem.kinds)))
    expected, scores = boost(problem, predominant, n_rules=8)
    found, own = boost(problem, predominant, n_rules=8, sample="subsample")
    assert_same_rules(found, expected)
    assert_identical(own, scores)


def test_seeds_make_a_difference():
    random = np.random.default_rng(2)
    codes, y = random.integers(0, 5, (60, 6)), random.integers(0, 2, (60, 1)).astype(np.uint8)
    problem = problem_of(codes, y, setting=Setting())
    drawn = [
        boost(problem, sample="bagging", seed=seed)[0]["columns"].tolist() for seed in range(6)
    ]
    assert len({tuple(columns) for columns in drawn}) > 1
    same = [boost(problem, sample="bagging", seed=seed)[0]["columns"].tolist() for seed in range(6)]
    assert same == drawn


def test_an_unlucky_draw_of_columns_does_not_end_it():
    """A column of one value gives no rule; another may be drawn next."""
    codes = np.tile([[0, 1], [0, 0]], (10, 1))
    problem = problem_of(codes, (codes[:, 1:] == 1).astype(np.uint8), setting=Setting())
    for seed in range(3):
        arrays, _ = boost(problem, n_rules=25, n_features=1, seed=seed)
        assert len(arrays["support"]) == 25


def test_stops_when_held_out_records_get_worse():
    random = np.random.default_rng(3)
    codes = random.integers(0, 6, (200, 5))
    y = (codes[:, :1] > 2).astype(np.uint8)
    y[random.random(200) < 0.3] ^= 1
    units = (np.arange(200) % 4 > 0).astype(float)  # a quarter is held out
    problem = replace(problem_of(codes, y, setting=Setting()), units=units)
    arrays, _ = boost(problem, n_rules=400, patience=10)
    losses = arrays["losses"]
    assert 10 < len(losses) < 400
    assert len(losses) == len(arrays["support"])
    assert losses.argmin() == len(losses) - 11  # ten more without a better one
    scores = rule_oracle.replay(problem, arrays, choices=False)
    held = units == 0
    expected = rule_oracle.loss_of("logistic", scores[held], y[held]).sum()
    np.testing.assert_allclose(losses[-1], expected, rtol=1e-9)


def test_growing_on_is_the_same_as_growing_at_once():
    random = np.random.default_rng(4)
    codes, y = random.integers(0, 5, (50, 4)), random.integers(0, 2, (50, 2)).astype(np.uint8)
    problem = problem_of(codes, y, setting=Setting())
    at_once, _ = boost(problem, n_rules=7)
    columns = Codes(problem.codes, problem.kinds).columns()
    booster = _core.RuleBooster(
        columns, np.ascontiguousarray(y.T), "logistic", "single", 1, 0.3, 0.0, 1.0, 3, 1.0, True,
        None, None, "none", 1.0, None, 0, False, "exact", 0,
    )  # fmt: skip
    assert booster.grow(3, 0, 1) == 3
    assert booster.grow(4, 0, 1) == 4
    assert_same_rules(booster.rules(), at_once)


# Columns that make no sense


def _arrays(**changes):
    codes = np.array([[0, 1], [1, 0], [2, -1]], np.int32)
    arrays = rule_oracle.column_arrays(codes, [ORDINAL, NOMINAL], [0, 0])
    return arrays | changes


def test_columns_are_accepted_as_they_are():
    assert _core.RuleColumns(**_arrays()) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"kinds": np.array([0, 2], np.uint8)},
        {"kinds": np.array([0], np.uint8)},
        {"default_codes": np.array([1, 0], np.int32)},  # is stored, too
        {"default_codes": np.array([-2, 0], np.int32)},
        {"column_runs": np.array([0, 3, 4], np.int64)},  # codes of the first descend
        {"column_runs": np.array([0, 2, 3], np.int64)},
        {"column_runs": np.array([0, 5, 4], np.int64)},
        {"run_codes": np.array([1, 1, -1, 1], np.int32)},
        {"run_codes": np.array([1, 2, -2, 1], np.int32)},
        {"run_start": np.array([0, 1, 2, 3, 5], np.int64)},
        {"run_start": np.array([0, 2, 1, 3, 4], np.int64)},
        {"records": np.array([1, 2, 2, 3], np.int32)},
        {"records": np.array([1, -1, 2, 0], np.int32)},
        {"n_records": -1},
    ],
)
def test_columns_that_make_no_sense_are_refused(changes):
    with pytest.raises((ValueError, TypeError)):
        _core.RuleColumns(**_arrays(**changes))


def test_records_of_a_run_must_ascend():
    codes = np.array([[1], [1], [0]], np.int32)
    arrays = rule_oracle.column_arrays(codes, [ORDINAL], [0])
    for records in ([1, 0], [1, 1]):
        with pytest.raises(ValueError, match="ascend"):
            _core.RuleColumns(**arrays | {"records": np.array(records, np.int32)})


def test_a_record_has_one_value_in_a_column():
    codes = np.array([[1], [2], [0]], np.int32)
    arrays = rule_oracle.column_arrays(codes, [ORDINAL], [0])
    with pytest.raises(ValueError, match="record"):
        _core.RuleColumns(**arrays | {"records": np.array([1, 1], np.int32)})


@given(coded_tables(), st.data())
def test_predominant_columns_of_the_oracle_lose_nothing(table, data):
    predominant = data.draw(predominants(table))
    arrays = rule_oracle.column_arrays(table.codes, table.kinds, predominant)
    dense = np.tile(predominant, (table.n_records, 1))
    for column in range(len(predominant)):
        for run in range(*arrays["column_runs"][column : column + 2]):
            own = arrays["records"][slice(*arrays["run_start"][run : run + 2])]
            dense[own, column] = arrays["run_codes"][run]
    np.testing.assert_array_equal(dense, table.codes)
