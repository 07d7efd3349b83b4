"""Losses of numbers beyond the squared one: medians, quantiles and counts."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles import rules as rule_oracle
from support.strategies import JOBS
from tacit import BoostedRulesRegressor, InputError
from tacit.parameters import make_generator
from tacit.rules.boosted.validation import hold_out

LOSSES = [{"loss": "absolute"}, {"loss": "quantile", "quantile": 0.9}, {"loss": "poisson"}]


def learner(n_rules=500, **settings):
    """A regressor that draws nothing: the same rules for any random state."""
    return BoostedRulesRegressor(n_rules, **{"sample": "none", "learning_rate": 0.3} | settings)


def make_records(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    rate = np.exp(X[:, 0] + (X[:, 1] > 0) * X[:, 2])
    return X, rng.poisson(rate).astype(float)


X, Y = make_records()


def mean_loss(settings, scores, y, weights=None):
    quantile = settings.get("quantile", 0.5)
    each = rule_oracle.loss_of(settings["loss"], scores[:, None], y[:, None], quantile=quantile)
    return np.average(each, weights=weights)


def decisions(model, X):
    predicted = model.predict(X)
    return np.log(predicted) if model.loss == "poisson" else predicted


def expected(estimator):
    if estimator.loss != "poisson":
        return {}
    return {"check_regressor_multioutput": "some of its numbers are below 0"}


@parametrize_with_checks(
    [
        learner(60, loss="absolute"),
        learner(60, loss="quantile", quantile=0.5),
        learner(60, loss="poisson"),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# What is predicted


@pytest.mark.parametrize("weights", [None, np.arange(5) + 1.0, np.linspace(0.1, 25.5, 5)])
def test_without_rules_the_median_quantile_or_mean_of_all_is_predicted(weights):
    y = np.array([3.3, 0.1, 7.7, 1e6 / 3, 0.2])
    column = np.arange(5.0)[:, None]

    def predicted(**settings):
        return learner(0, **settings).fit(column, y, weights).predict(column[:1])

    cumulated = np.cumsum(np.ones(5) if weights is None else weights[np.argsort(y)])
    for loss in ({"loss": "absolute"}, *({"loss": "quantile", "quantile": q} for q in (0.3, 0.9))):
        reached = cumulated >= loss.get("quantile", 0.5) * cumulated[-1]
        assert predicted(**loss) == np.sort(y)[reached.argmax()]  # to the last digit
    np.testing.assert_allclose(predicted(loss="poisson"), np.average(y, weights=weights))


def test_the_median_of_an_even_number_is_in_the_middle():
    model = learner(0, loss="absolute").fit([[1], [2], [3], [4]], [1, 2, 4, 30])
    assert model.predict([[1]]).tolist() == [3.0]


@pytest.mark.parametrize("settings", LOSSES)
def test_rules_lower_the_loss_step_by_step(settings):
    losses = [
        mean_loss(settings, decisions(learner(n, **settings).fit(X, Y), X), Y)
        for n in (0, 1, 2, 5, 20, 80)
    ]
    assert all(later < earlier for earlier, later in pairwise(losses))


@pytest.mark.parametrize("settings", LOSSES)
def test_each_loss_is_best_at_what_it_is_for(settings):
    """Better on new records than the squared loss is, where noise is skewed and has outliers."""
    rng = np.random.default_rng(1)
    X, y = make_records(2000, 1)
    if settings["loss"] != "poisson":
        y = X[:, 0] + (X[:, 1] > 0) * X[:, 2] + rng.standard_t(1.5, size=2000) ** 2
    new, known = slice(0, 1000), slice(1000, 2000)
    model = learner(100, learning_rate=0.1, **settings).fit(X[known], y[known])
    squared = learner(100, learning_rate=0.1).fit(X[known], y[known])
    squared_scores = squared.predict(X[new])
    if settings["loss"] == "poisson":
        squared_scores = np.log(np.maximum(squared_scores, 1e-2))
    own = mean_loss(settings, decisions(model, X[new]), y[new])
    assert own < mean_loss(settings, squared_scores, y[new])


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_so_many_numbers_are_below_a_quantile(quantile):
    X, y = make_records(2000, 2)
    y = y + np.random.default_rng(3).random(2000)
    model = learner(40, loss="quantile", quantile=quantile).fit(X[:1000], y[:1000])
    assert (y[:1000] <= model.predict(X[:1000])).mean() == pytest.approx(quantile, abs=0.02)
    assert (y[1000:] <= model.predict(X[1000:])).mean() == pytest.approx(quantile, abs=0.06)


def test_half_a_quantile_is_the_median():
    median = learner(50, loss="absolute", l2=0.0).fit(X, Y)
    half = learner(50, loss="quantile", quantile=0.5, l2=0.0).fit(X, Y)
    np.testing.assert_array_equal(half.predict(X), median.predict(X))


def test_counts_are_predicted_above_zero_whatever_is_zero():
    y = np.where(X[:, 0] > 0, Y, 0.0)
    for l2 in (0.0, 1.0):
        predicted = learner(300, loss="poisson", l2=l2).fit(X, y).predict(X)
        assert (predicted > 0).all()
        assert np.isfinite(predicted).all()
        assert predicted[X[:, 0] <= 0].max() < 0.05


def test_mostly_zeros_do_not_stop_medians():
    """Most records of most rules lie on the median, which says nothing of the rest."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (500, 6))
    y = np.where((X[:, 0] == 1) & (X[:, 1] == 1), 5.0, 0.0) + (rng.random(500) < 0.2)
    model = learner(200, loss="absolute").fit(X, y)
    np.testing.assert_allclose(model.predict([[0] * 6, [1] * 6]), [0.0, 5.0], atol=1e-6)


@pytest.mark.parametrize("settings", LOSSES)
def test_rules_do_not_depend_on_threads_or_on_what_is_stored(settings):
    data = np.where(np.abs(X) < 0.5, 0.0, X)
    model = learner(60, **settings).fit(data, Y)
    for n_jobs in JOBS:
        for defaults in ("zero", "none"):
            other = learner(60, n_jobs=n_jobs, defaults=defaults, **settings)
            np.testing.assert_array_equal(other.fit(data, Y).predict(data), model.predict(data))


# Weights, units and outputs


@pytest.mark.parametrize("settings", LOSSES)
def test_a_weight_of_two_is_the_record_twice(settings):
    weights = np.arange(400) % 3 + 1
    weighted = learner(50, **settings).fit(X, Y, weights)
    copies = np.repeat(np.arange(400), weights)
    repeated = learner(50, **settings).fit(X[copies], Y[copies])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("settings", LOSSES)
def test_weights_of_any_size_are_what_they_are_to_each_other(settings):
    weights = np.random.default_rng(0).random(400) + 0.1
    model = learner(30, l2=0.0, **settings).fit(X, Y, weights)
    other = learner(30, l2=0.0, **settings).fit(X, Y, weights * 2.0**90)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-9)
    plain = learner(30, l2=0.0, **settings).fit(X, Y)
    assert not np.allclose(plain.predict(X), model.predict(X))


@pytest.mark.parametrize("settings", LOSSES[:2])
@pytest.mark.parametrize("unit", [2.0**-300, 2.0**20, 2.0**300])
def test_units_make_no_difference_to_medians(settings, unit):
    options = {"early_stopping": True, "random_state": 0}
    model = learner(60, **settings, **options).fit(X, Y)
    other = learner(60, **settings, **options).fit(X, Y * unit)
    np.testing.assert_array_equal(other.predict(X), model.predict(X) * unit)
    np.testing.assert_allclose(other.validation_losses_, model.validation_losses_ * unit)
    np.testing.assert_array_equal(other.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("settings", LOSSES)
def test_several_outputs_are_learnt_beside_each_other(settings):
    both = np.column_stack([Y, Y[::-1] + 1.0, np.full(400, 3.0)])
    model = learner(400, **settings).fit(X, both)
    assert set(model.rules_.arrays.outputs.tolist()) == {0, 1}
    np.testing.assert_allclose(model.predict(X)[:, 2], 3.0)
    for output in (0, 1):
        start = mean_loss(settings, np.full(400, np.log(both[:, output].mean())), both[:, output])
        if settings["loss"] != "poisson":
            middle = np.quantile(both[:, output], settings.get("quantile", 0.5))
            start = mean_loss(settings, np.full(400, middle), both[:, output])
        predicted = model.predict(X)[:, output]
        scores = np.log(predicted) if settings["loss"] == "poisson" else predicted
        assert mean_loss(settings, scores, both[:, output]) < start


@pytest.mark.parametrize("heads", ["partial", "complete"])
def test_heads_of_counts_may_have_several_outputs(heads):
    both = np.column_stack([Y, Y + 1.0])
    model = learner(50, loss="poisson", heads=heads).fit(X, both)
    assert np.diff(model.rules_.arrays.rule_heads).max() == 2
    assert (model.predict(X) > 0).all()


@pytest.mark.parametrize("weights", [None, np.arange(400) % 5 + 1.0, np.linspace(0.5, 40.0, 400)])
@pytest.mark.parametrize("settings", LOSSES)
def test_the_last_held_out_loss_is_the_weighted_mean(settings, weights):
    model = learner(200, early_stopping=True, random_state=3, **settings)
    model.fit(X, Y, weights)
    held = hold_out(0.1, 400, None, make_generator(3))
    expected = mean_loss(
        settings, decisions(model, X[held]), Y[held], None if weights is None else weights[held]
    )
    assert model.validation_losses_[-1] == pytest.approx(expected, rel=1e-6)
    assert model.validation_losses_[-1] == model.validation_losses_.min()


@pytest.mark.parametrize("sample", ["bagging", "subsample"])
@pytest.mark.parametrize("settings", LOSSES)
def test_samples_and_pruning(settings, sample):
    options = {"sample": sample, "prune": True, "random_state": 1, "feature_fraction": 2}
    model = learner(80, **settings, **options).fit(X, Y)
    assert model.n_rules_ == 80
    start = learner(0, **settings).fit(X, Y)
    reached = [mean_loss(settings, decisions(each, X), Y) for each in (model, start)]
    assert reached[0] < reached[1]


# What it says, files, and what is refused


@pytest.mark.parametrize("settings", LOSSES)
def test_files(settings, tmp_path):
    model = learner(20, **settings).fit(pl.DataFrame(X, list("abcd")), Y)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    records = pl.DataFrame(X, list("abcd"))
    np.testing.assert_array_equal(again.predict(records), model.predict(records))
    assert again.get_params() == model.get_params()


def test_an_explanation_of_counts_adds_up_to_their_logarithm():
    model = learner(20, loss="poisson").fit(X, Y)
    told = model.explain(X[0])
    assert told.prediction == pytest.approx(np.exp(told.decision["y"]))
    assert told.prediction == model.predict(X[:1])[0]
    assert model.to_text().startswith("numbers: y; scores are their logarithms")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"loss": "logistic"}, "loss must be 'squared', 'absolute', 'quantile' or 'poisson'"),
        ({"loss": "quantile"}, "quantile must be given with loss='quantile'"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile must be"),
        ({"loss": "quantile", "quantile": "half"}, "quantile must be"),
        ({"quantile": 0.5}, "quantile is for loss='quantile' only; loss is 'squared'"),
        ({"loss": "absolute", "heads": "complete"}, "heads must be 'single' with loss='absolute'"),
    ],
)
def test_wrong_parameters_are_named(wrong, problem):
    with pytest.raises(InputError, match=problem):
        BoostedRulesRegressor(**wrong).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        ([1.0, -0.5, 2.0], "loss='poisson' is for numbers from 0 to 1e.30, got -0.5"),
        ([1.0, 1e40, 2.0], "is for numbers from 0 to"),
        ([0.0, 0.0, 0.0], "y: all numbers are 0"),
        ([[0.0, 1.0], [0.0, 2.0], [0.0, 1.0]], "y: all numbers of output 'y0' are 0"),
    ],
)
def test_numbers_that_are_no_counts_are_refused(y, problem):
    with pytest.raises(InputError, match=problem):
        learner(loss="poisson").fit([[1], [2], [3]], y)


def test_held_out_records_may_have_all_there_is():
    """None of what is learnt of is above zero: half a record of one is taken to be there."""
    y = np.zeros(40)
    held = hold_out(0.1, 40, None, make_generator(0))
    y[held] = 1.0
    model = learner(5, loss="poisson", early_stopping=True, random_state=0)
    assert model.fit(np.arange(40)[:, None], y).predict([[3]]) == pytest.approx(0.5 / 36)
