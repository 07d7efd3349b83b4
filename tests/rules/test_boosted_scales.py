"""Units and weights make no difference; and rules that held-out records refuse."""

import numpy as np
import pytest

import tacit
from tacit import BoostedRulesClassifier, BoostedRulesRegressor
from tacit.parameters import make_generator
from tacit.rules.boosted.validation import hold_out


def make_records(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] * (X[:, 1] > 0), X[:, 2] ** 2


X, Z, OTHER = make_records()


def log_loss(decisions, y):
    return np.logaddexp(0, np.where(y == 1, -decisions, decisions))


def test_no_rule_is_kept_if_none_lowers_the_held_out_loss(tmp_path):
    kept = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        model = BoostedRulesClassifier(
            50, early_stopping=True, n_iter_no_change=3, random_state=seed, learning_rate=1.0
        ).fit(noise, y)
        held = hold_out(0.1, 60, y.astype(np.int32), make_generator(seed))
        start = log_loss(model.rules_.arrays.default_scores[0], y[held]).mean()
        loss = log_loss(model.decision_function(noise[held]), y[held]).mean()
        assert loss <= start + 1e-12
        assert model.validation_losses_.shape == (model.n_rules_,)
        kept.append(model.n_rules_)
        if model.n_rules_ == 0:
            check_without_rules(model, noise, y, tmp_path)
    assert 0 in kept
    assert max(kept) > 0


def check_without_rules(model, data, y, tmp_path):
    """A model of the default rule alone is a model like any other."""
    assert "0 rules" in model.to_text()
    assert model.rules_.to_frame().shape == (0, 6)
    assert model.rules_.merged().to_text() == model.rules_.to_text()
    assert model.feature_importances_.tolist() == [0.0] * 3
    assert model.covers(data).shape == (len(data), 0)
    told = model.explain(data[0])
    assert told.rules == ()
    assert told.decision == told.default
    assert told.to_frame().height == 1
    assert "always" in told.to_text()
    assert told.to_svg().startswith("<svg")
    assert "always" in model.rules_._repr_html_()
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.n_rules_ == 0
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))


def test_held_out_records_weigh_what_they_weigh():
    y = Z > 0
    losses = [
        BoostedRulesClassifier(30, early_stopping=True, random_state=0)
        .fit(X, y, np.where(y, weight, 1.0))
        .validation_losses_[0]
        for weight in (1.0, 16.0, 16.0001)
    ]
    assert losses[1] == pytest.approx(losses[2], rel=1e-4)
    assert losses[0] != pytest.approx(losses[1], rel=1e-2)


@pytest.mark.parametrize("weights", [np.arange(300) % 5 + 1.0, np.linspace(0.5, 40.0, 300)])
def test_the_last_held_out_loss_is_the_weighted_mean(weights):
    y = (Z + OTHER > 1).astype(np.int32)
    model = BoostedRulesClassifier(30, early_stopping=True, random_state=3).fit(X, y, weights)
    held = hold_out(0.1, 300, y, make_generator(3))
    losses = log_loss(model.decision_function(X[held]), y[held])
    expected = np.average(losses, weights=weights[held])
    assert model.validation_losses_[-1] == pytest.approx(expected)


@pytest.mark.parametrize("heads", ["single", "partial", "complete"])
def test_the_unit_of_an_output_makes_no_difference(heads):
    Y = np.column_stack([Z, OTHER])
    units = np.array([1.0, 2.0**-20])
    model = BoostedRulesRegressor(60, heads=heads, random_state=0).fit(X, Y)
    other = BoostedRulesRegressor(60, heads=heads, random_state=0).fit(X, Y * units)
    np.testing.assert_array_equal(other.predict(X), model.predict(X) * units)
    np.testing.assert_array_equal(other.feature_importances_, model.feature_importances_)


def test_outputs_in_small_units_do_not_starve():
    Y = np.column_stack([Z, 1e-3 * OTHER])
    predicted = BoostedRulesRegressor(200, random_state=0).fit(X, Y).predict(X)
    r2 = 1 - ((predicted - Y) ** 2).sum(axis=0) / ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    assert (r2 > 0.95).all()


def test_a_penalty_of_sizes_is_in_the_unit_of_the_numbers():
    Y = np.column_stack([Z, 1e-3 * OTHER])
    model = BoostedRulesRegressor(50, l1=1.0).fit(X, Y)
    assert model.n_rules_ == 50
    assert set(model.rules_.arrays.outputs.tolist()) == {0}  # no sum of the other is above 1


@pytest.mark.parametrize("unit", [1e-300, 1e-310])
def test_tiny_numbers(unit):
    settings = {"early_stopping": True, "random_state": 0}
    usual = BoostedRulesRegressor(40, **settings).fit(X, Z)
    model = BoostedRulesRegressor(40, **settings).fit(X, Z * unit)
    assert model.n_rules_ == usual.n_rules_ > 1
    np.testing.assert_allclose(model.feature_importances_, usual.feature_importances_, rtol=1e-2)
    np.testing.assert_allclose(model.predict(X) / unit, usual.predict(X), atol=1e-6)
    assert BoostedRulesRegressor(5, l1=1.0).fit(X, Z * unit).n_rules_ == 0


@pytest.mark.parametrize("weight", [2.0**-1000, 2.0**-150, 2.0**150])
@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesRegressor])
def test_any_weights_will_do(kind, weight):
    y = Z > 0 if kind is BoostedRulesClassifier else Z
    weights = np.linspace(0.5, 20.0, 300)
    usual, model = (
        kind(20, l2=0.0, default_rule=False, random_state=0).fit(X, y, weights * unit)
        for unit in (1.0, weight)
    )
    assert model.rules_.to_frame()["conditions"].equals(usual.rules_.to_frame()["conditions"])
    np.testing.assert_allclose(model.rules_.arrays.scores, usual.rules_.arrays.scores)
