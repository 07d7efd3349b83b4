"""Rules that are learnt as long as there is time, and rules that are added to others."""

import time

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import tacit
from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError
from tacit.rules.boosted import growth

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4)).round(1)
X[rng.random((300, 4)) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0] * (X[:, 1] > 0)) + rng.normal(size=300)


def learner(n_rules=500, **settings):
    """A regressor that draws nothing: the same rules for any random state."""
    return BoostedRulesRegressor(n_rules, **{"sample": "none", "learning_rate": 0.3} | settings)


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
    model = learner(2**31 - 1, max_seconds=0.3).fit(wide, y)
    assert time.perf_counter() - start >= 0.3
    assert 1 <= model.n_rules_ < 2**31 - 1
    whole = learner(model.n_rules_).fit(wide, y)
    np.testing.assert_array_equal(model.predict(wide), whole.predict(wide))


@pytest.mark.parametrize("verbose", [0, 1])
def test_enough_time_changes_nothing(verbose):
    model = learner(30, max_seconds=1e6, verbose=verbose).fit(X, Y)
    assert model.to_text() == learner(30).fit(X, Y).to_text()


def test_steps_end_when_time_is_up(monkeypatch):
    """With progress shown, the kernel is asked for few rules at a time."""
    monkeypatch.setattr(growth, "perf_counter", Clock(1.0))
    model = learner(1000, max_seconds=5.5, verbose=1).fit(X, Y)
    assert model.n_rules_ == 50  # five steps of ten
    assert model.to_text() == learner(50).fit(X, Y).to_text()


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


# More rules


def assert_same_model(found, expected, records=X):
    for name, array in expected.rules_.arrays.to_dict().items():
        np.testing.assert_array_equal(getattr(found.rules_.arrays, name), array, err_msg=name)
    assert found.to_text(None) == expected.to_text(None)
    np.testing.assert_array_equal(found.predict(records), expected.predict(records))


NUMBERS = [
    {},
    {"loss": "absolute"},
    {"loss": "quantile", "quantile": 0.9, "learning_rate": 0.1},
    {"loss": "poisson"},
    {"algorithm": "histogram", "n_bins": 6, "l1": 0.5},
    {"monotonic_cst": [1, 0, 0, -1], "interaction_cst": "pairwise"},
    {"default_rule": False, "max_conditions": None, "l2": 0.0},
]


@pytest.mark.parametrize("weights", [None, np.arange(300) % 3 + 1, np.linspace(0.1, 9.0, 300)])
@pytest.mark.parametrize("options", NUMBERS)
def test_more_rules_of_numbers_are_those_of_one_fit(options, weights):
    y = np.abs(Y) if options.get("loss") == "poisson" else Y * 1e5 + 3
    model = learner(7, warm_start=True, **options).fit(X, y, weights)
    for n_rules in (7, 30, 150):
        model.set_params(n_rules=n_rules).fit(X, y, weights)
        expected = learner(n_rules, **options).fit(X, y, weights)
        assert_same_model(model, expected)


@pytest.mark.parametrize("heads", ["single", "partial", "complete"])
def test_more_rules_of_several_outputs(heads):
    both = np.column_stack([Y, np.full(300, 4.0), 1e-9 * X[::-1, 2]])
    both = np.nan_to_num(both)
    model = learner(10, heads=heads, warm_start=True).fit(X, both)
    model.set_params(n_rules=80).fit(X, both)
    assert_same_model(model, learner(80, heads=heads).fit(X, both))


@pytest.mark.parametrize(
    "options",
    [
        *({"loss": loss} for loss in ("auto", "logistic", "squared_hinge", "example_logistic")),
        {"heads": "complete"},
        {"class_weight": "balanced"},
        {"calibration": "isotonic", "random_state": 3},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_rules_of_classes_are_those_of_one_fit(options, n_classes):
    y = np.array(["a", "b", "c"])[np.digitize(Y, [0.3, 1.2][: n_classes - 1])]
    model = BoostedRulesClassifier(9, warm_start=True, **options).fit(X, y)
    model.set_params(n_rules=60).fit(X, y)
    expected = BoostedRulesClassifier(60, **options).fit(X, y)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_more_rules_of_labels():
    labels = np.column_stack([Y > 0, Y > 1, np.ones(300), X[:, 2] > 0]).astype(int)
    for prediction in ("hamming", "subset"):
        model = BoostedRulesClassifier(9, warm_start=True, prediction=prediction).fit(X, labels)
        model.set_params(n_rules=90).fit(X, labels)
        assert_same_model(model, BoostedRulesClassifier(90, prediction=prediction).fit(X, labels))


def test_files_go_on(tmp_path):
    frame = pl.DataFrame({"town": rng.choice(["Ulm", "Bonn", ""], 300), "age": X[:, 0]})
    model = learner(9, warm_start=True).fit(frame, Y)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit").set_params(n_rules=50)
    assert_same_model(again.fit(frame, Y), learner(50).fit(frame, Y), frame)


def test_a_target_that_is_a_column():
    table = tacit.Table(pl.DataFrame(X, list("abcd")).with_columns(y=np.where(Y > 0, "yes", "no")))
    model = BoostedRulesClassifier(9, warm_start=True).fit(table, "y")
    model.set_params(n_rules=40).fit(table, "y")
    assert_same_model(model, BoostedRulesClassifier(40).fit(table, "y"), table)


def test_other_settings_may_follow():
    model = learner(10, warm_start=True).fit(X, Y)
    model.set_params(n_rules=20, learning_rate=0.05, max_conditions=1).fit(X, Y)
    assert (np.diff(model.rules_.arrays.rule_conditions)[10:] == 1).all()
    first = learner(10).fit(X, Y)
    assert model.rules_.arrays.first(10).to_dict().keys() == first.rules_.arrays.to_dict().keys()
    np.testing.assert_array_equal(model.rules_.arrays.scores[:10], first.rules_.arrays.scores)


@pytest.mark.parametrize(
    "options",
    [
        {"sample": "bagging"},
        {"sample": "subsample", "prune": True},
        {"feature_fraction": 2},
        {"sample": "subsample", "feature_fraction": 2, "loss": "absolute"},
        {
            "sample": "subsample",
            "monotonic_cst": [1, -1, 0, 0],
            "loss": "quantile",
            "quantile": 0.8,
        },
    ],
)
def test_what_is_drawn_is_what_one_fit_draws(options):
    model = learner(20, warm_start=True, random_state=0, **options).fit(X, Y)
    model.set_params(n_rules=60).fit(X, Y)
    assert_same_model(model, learner(60, random_state=0, **options).fit(X, Y))
    other = learner(60, random_state=1, **options).fit(X, Y)
    assert model.to_text(None) != other.to_text(None)


def test_held_out_records_stay_held_out():
    options = {"early_stopping": True, "random_state": 0, "n_iter_no_change": 0}
    model = learner(5, warm_start=True, **options).fit(X, Y)
    lengths = [model.n_rules_]
    for n_rules in (10, 40):
        model.set_params(n_rules=n_rules).fit(X, Y)
        lengths.append(model.n_rules_)
        assert model.validation_losses_.shape == (model.n_rules_,)
        assert model.validation_losses_[-1] == model.validation_losses_.min()
    expected = learner(40, **options).fit(X, Y)
    assert lengths[0] > 1
    if lengths[0] == 5:  # nothing was cut off
        n = lengths[0]
        np.testing.assert_allclose(model.validation_losses_[:n], expected.validation_losses_[:n])
    assert model.validation_losses_[-1] <= expected.validation_losses_.max()


def test_without_warm_start_a_fit_begins_anew():
    model = learner(10).fit(X, Y)
    model.fit(X[:, :2], Y)
    assert model.n_features_in_ == 2
    assert clone(model.set_params(warm_start=True)).fit(X, Y).n_rules_ == 10


@pytest.mark.parametrize(
    ("params", "changes", "problem"),
    [
        ({"n_rules": 3}, {}, "n_rules=3, but warm_start goes on with 10 rules"),
        ({}, {"X": X[:, :3]}, "the columns of X must stay"),
        ({}, {"y": np.column_stack([Y, Y])}, "the kind of target must stay"),
        ({}, {"y": Y + 1}, "these are others: y or weights have changed"),
        ({}, {"X": np.nan_to_num(X) ** 2}, "these are others: rules cover more of X, or less"),
        ({}, {"sample_weight": np.arange(300.0)}, "these are others"),
        ({"loss": "absolute"}, {}, "the loss must stay"),
        ({"early_stopping": True, "random_state": 0}, {}, "was without early_stopping"),
        ({"early_stopping": True}, {}, "random_state must be a whole number for warm_start"),
        ({"monotonic_cst": [1, 1, 1, 1]}, {}, "do not keep monotonic_cst and interaction_cst"),
        ({"interaction_cst": "no_interactions"}, {}, "do not keep monotonic_cst"),
        ({"interaction_cst": [[0], [1], [2, 3]]}, {}, "do not keep monotonic_cst"),
        ({"warm_start": 1}, {}, "warm_start must be True or False"),
    ],
)
def test_what_does_not_go_on_is_refused(params, changes, problem):
    model = learner(10, warm_start=True).fit(X, Y)
    before = model.to_text()
    given = {"X": X, "y": Y} | changes
    with pytest.raises(InputError, match=problem):
        model.set_params(**{"n_rules": 20} | params).fit(**given)
    assert model.to_text() == before


def test_other_classes_do_not_go_on():
    model = BoostedRulesClassifier(10, warm_start=True).fit(X, Y > 0)
    with pytest.raises(InputError, match="the classes or outputs must stay as they were"):
        model.set_params(n_rules=20).fit(X, np.where(Y > 0, "yes", "no"))
