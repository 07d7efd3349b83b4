"""Rules that are learnt as long as there is time, and rules that are added to others."""

import time

import numpy as np
import pytest

from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError
from tacit.rules.boosted import growth

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4)).round(1)
X[rng.random((300, 4)) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0] * (X[:, 1] > 0)) + rng.normal(size=300)


class Clock:
    """A clock that stands still unless it is asked."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


# Time


def test_rules_until_time_is_up_are_the_first_of_all():
    random = np.random.default_rng(1)
    wide, y = random.normal(size=(4000, 60)), random.normal(size=4000)
    start = time.perf_counter()
    model = BoostedRulesRegressor(2**31 - 1, max_seconds=0.3).fit(wide, y)
    assert time.perf_counter() - start >= 0.3
    assert 1 <= model.n_rules_ < 2**31 - 1
    whole = BoostedRulesRegressor(model.n_rules_).fit(wide, y)
    np.testing.assert_array_equal(model.predict(wide), whole.predict(wide))


@pytest.mark.parametrize("verbose", [0, 1])
def test_enough_time_changes_nothing(verbose):
    model = BoostedRulesRegressor(30, max_seconds=1e6, verbose=verbose).fit(X, Y)
    assert model.to_text() == BoostedRulesRegressor(30).fit(X, Y).to_text()


def test_steps_end_when_time_is_up(monkeypatch):
    """With progress shown, the kernel is asked for few rules at a time."""
    monkeypatch.setattr(growth, "perf_counter", Clock(1.0))
    model = BoostedRulesRegressor(1000, max_seconds=5.5, verbose=1).fit(X, Y)
    assert model.n_rules_ == 50  # five steps of ten
    assert model.to_text() == BoostedRulesRegressor(50).fit(X, Y).to_text()


def test_scores_to_calibrate_by_are_of_as_many_rules(monkeypatch):
    monkeypatch.setattr(growth, "perf_counter", Clock(1.0))
    options = {"calibration": "isotonic", "random_state": 0}
    model = BoostedRulesClassifier(1000, max_seconds=3.5, verbose=1, **options).fit(X, Y > 0)
    assert model.n_rules_ == 30
    monkeypatch.undo()
    whole = BoostedRulesClassifier(30, **options).fit(X, Y > 0)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("seconds", [0, -1, "long", np.nan, np.inf])
@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesRegressor])
def test_no_time_is_refused(kind, seconds):
    with pytest.raises(InputError, match="max_seconds must be"):
        kind(max_seconds=seconds).fit(X, Y > 0)
