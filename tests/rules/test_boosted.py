"""Boosted rules as estimators: what they learn, say and refuse."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from support.rule_records import LABELS, TARGETS, X, fit_columns, make_records, read_columns
from support.scripts import run
from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError, Table, load
from tacit.parameters import make_generator
from tacit.rules.boosted.expected_f1 import best_f1_sets
from tacit.rules.boosted.growth import Growth
from tacit.rules.boosted.settings import choose_loss
from tacit.rules.boosted.validation import folds, hold_out
from tacit.table.targets import read_labels

LOSSES = ["logistic", "squared", "squared_hinge", "example_logistic", "softmax"]


# Learning


@pytest.mark.parametrize(
    ("kind", "loss"),
    [pair for pair in product(TARGETS, LOSSES) if pair != ("multilabel", "softmax")],
)
@pytest.mark.parametrize("heads", ["single", "partial", "complete"])
def test_every_loss_learns_every_target(kind, loss, heads):
    y = TARGETS[kind]
    model = BoostedRulesClassifier(100, heads=heads, loss=loss).fit(X, y)
    wrong = (model.predict(X) != y).mean()
    assert wrong < 0.1
    probabilities = model.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    if kind != "multilabel":
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.n_rules_ == len(model.rules_) <= 100


def test_the_training_loss_falls():
    losses = []
    for n in (0, 1, 10, 100):
        model = BoostedRulesClassifier(n, learning_rate=0.1).fit(X, LABELS[:, 0])
        losses.append(log_loss(LABELS[:, 0], model.predict_proba(X)))
    assert (np.diff(losses) < 0).all()


def test_rules_do_not_change_when_more_are_learnt():
    few = BoostedRulesClassifier(10).fit(X, LABELS).rules_
    many = BoostedRulesClassifier(30).fit(X, LABELS).rules_
    assert [str(rule) for rule in few] == [str(rule) for rule in many[:10]]


def test_rules_are_as_short_as_asked():
    for most in (1, 2):
        rules = BoostedRulesClassifier(30, max_conditions=most).fit(X, LABELS).rules_
        assert max(len(rule.conditions) for rule in rules) <= most
    free = BoostedRulesClassifier(30, max_conditions=None).fit(X, LABELS).rules_
    assert max(len(rule.conditions) for rule in free) > 2


def test_supports_are_large_enough_and_true():
    model = BoostedRulesClassifier(30, min_support=20).fit(X, LABELS)
    support = model.rules_.arrays.support
    assert support.min() >= 20
    np.testing.assert_array_equal(model.covers(X).sum(axis=0), support)


def test_scores_are_those_of_the_covering_rules():
    model = BoostedRulesClassifier(50, heads="complete").fit(X, LABELS)
    rules = model.rules_.arrays
    cover = model.covers(X).toarray().astype(float)
    heads = np.zeros((model.n_rules_, 3))
    owner = np.repeat(np.arange(model.n_rules_), np.diff(rules.rule_heads))
    heads[owner, rules.outputs] = rules.scores
    expected = rules.default_scores + cover @ heads
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_answer_does_not_depend_on_threads(n_jobs):
    one = BoostedRulesClassifier(30, heads="complete").fit(X, LABELS)
    many = BoostedRulesClassifier(30, heads="complete", n_jobs=n_jobs).fit(X, LABELS)
    assert one.rules_.to_frame().equals(many.rules_.to_frame())
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))


def with_zeros(x):
    """Return a sparse array with explicit zeros, each column's records in descending order."""
    records, columns = np.nonzero(np.ones_like(x))
    order = np.lexsort((-records, columns))
    kept = order[(x.ravel()[order] != 0) | (order % 3 == 0)]
    ends = np.concatenate(([0], np.cumsum(np.bincount(columns[kept], minlength=x.shape[1]))))
    return sparse.csc_array((x.ravel()[kept], records[kept], ends), shape=x.shape)


FORMS = {
    "explicit zeros": with_zeros,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "fortran": np.asfortranarray,
    "integers": lambda x: x.astype(np.int64),
    "float32": lambda x: x.astype(np.float32),
    "list": lambda x: x.tolist(),
}


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("kind", list(TARGETS))
def test_any_form_gives_the_same_rules(form, kind):
    dense = BoostedRulesClassifier(30).fit(X, TARGETS[kind])
    other = BoostedRulesClassifier(30).fit(FORMS[form](X), TARGETS[kind])
    assert other.rules_.to_frame().equals(dense.rules_.to_frame())
    np.testing.assert_array_equal(
        other.decision_function(FORMS[form](X)), dense.decision_function(X)
    )


@pytest.mark.parametrize("defaults", ["zero", "none", 1.0, -2.0, 17.5, np.nan])
@settings(max_examples=10)
@given(seed=st.integers(0, 99))
def test_any_default_value_gives_the_same_rules(defaults, seed):
    x, labels = make_records(80, 4, seed)
    x[::7, 1] = np.nan
    given_ = [defaults] * 4 if isinstance(defaults, float) else defaults
    known = BoostedRulesClassifier(20).fit(x, labels)
    other = BoostedRulesClassifier(20, defaults=given_).fit(x, labels)
    assert other.rules_.to_frame().equals(known.rules_.to_frame())
    np.testing.assert_array_equal(other.decision_function(x), known.decision_function(x))


@pytest.mark.parametrize("sort", ["binary", "multiclass", "multilabel"])
def test_whole_weights_are_repetitions(sort):
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(X))
    y = TARGETS[sort]
    weighted = BoostedRulesClassifier(30).fit(X, y, sample_weight=weights)
    repeated = BoostedRulesClassifier(30).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-9
    )
    np.testing.assert_array_equal(weighted.rules_.arrays.support, repeated.rules_.arrays.support)


def test_real_weights_matter():
    weights = np.where(LABELS[:, 0] == 1, 10.5, 0.5)
    plain = BoostedRulesClassifier(5).fit(X, LABELS[:, 0])
    heavy = BoostedRulesClassifier(5).fit(X, LABELS[:, 0], sample_weight=weights)
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05


def test_tables_and_frames_are_taken_by_name(tmp_path):
    frame = pl.DataFrame({"a": ["x", "y", "z", None] * 25, "b": [1.5, 2, 3, 4] * 25})
    y = ["p", "q", "q", "p"] * 25
    for data in (frame, frame.to_pandas(), frame.to_arrow(), frame.to_dict(as_series=False)):
        model = BoostedRulesClassifier(20).fit(data, y)
        assert model.predict(data).tolist() == y
        assert model.feature_names_in_.tolist() == ["a", "b"]
    whole = frame.with_columns(pl.Series("y", y))
    table = Table(whole.drop("b"))
    for data in (whole, table, whole.to_dict(as_series=False)):
        model = BoostedRulesClassifier(20).fit(data, "y")
        assert model.predict(data).tolist() == y
    named = BoostedRulesClassifier(20).fit(whole, "y")
    assert named.predict(frame).tolist() == y
    assert "a = " in named.to_text() or "b > " in named.to_text()


def test_numbers_are_predicted():
    numbers = 3.0 * (X[:, 0] > 1) - 2.0 * (X[:, 2] > 2) + 1000
    model = BoostedRulesRegressor(400, l2=0.0, sample="none").fit(X, numbers)
    np.testing.assert_allclose(model.predict(X), numbers, atol=1e-3)
    two = np.stack([numbers, -numbers], axis=1)
    both = BoostedRulesRegressor(300, heads="complete", random_state=0).fit(X, two)
    np.testing.assert_allclose(both.predict(X), two, atol=0.1)
    assert both.predict(X).shape == two.shape
    assert both.n_outputs_ == 2
    column = BoostedRulesRegressor(5).fit(X, numbers[:, None])
    assert column.predict(X).shape == (len(X), 1)


@pytest.mark.parametrize("power", [-400, -3, 5, 400])
def test_the_scale_of_numbers_makes_no_difference(power):
    numbers = X[:, 0] - X[:, 1] * 0.5
    plain = BoostedRulesRegressor(20, l1=1.5, random_state=0).fit(X, numbers)
    scaled = BoostedRulesRegressor(20, l1=1.5 * 2.0**power, random_state=0)
    scaled.fit(X, numbers * 2.0**power)
    np.testing.assert_array_equal(scaled.predict(X), plain.predict(X) * 2.0**power)
    assert [rule.condition for rule in scaled.rules_] == [rule.condition for rule in plain.rules_]
    np.testing.assert_array_equal(scaled.rules_.arrays.gain, plain.rules_.arrays.gain * 4.0**power)


def test_the_default_of_numbers_is_their_mean():
    numbers, weights = np.array([1.0, 2.0, 6.0]), np.array([1, 1, 2])
    model = BoostedRulesRegressor(0).fit(np.zeros((3, 1)), numbers, sample_weight=weights)
    assert model.predict([[0.0]]).tolist() == [pytest.approx(15 / 4)]
    bare = BoostedRulesRegressor(0, default_rule=False).fit(np.zeros((3, 1)), numbers)
    assert bare.predict([[0.0]]).tolist() == [0.0]


# Sampling, stopping, histograms


@pytest.mark.parametrize(
    "params",
    [
        {"sample": "bagging"},
        {"sample": "subsample", "sample_fraction": 0.5},
        {"sample": "subsample", "stratify": False},
        {"sample": "bagging", "prune": True},
        {"feature_fraction": "sqrt"},
        {"feature_fraction": 0.5, "heads": "complete"},
        {"early_stopping": True, "sample": "bagging"},
    ],
)
@pytest.mark.parametrize("kind", list(TARGETS))
def test_samples_are_repeatable_and_learn(params, kind):
    y = TARGETS[kind]
    first, again = (BoostedRulesClassifier(150, **params, random_state=3).fit(X, y) for _ in "ab")
    assert first.rules_.to_frame().equals(again.rules_.to_frame())
    assert (first.predict(X) != y).mean() < 0.12
    other = BoostedRulesClassifier(150, **params, random_state=4).fit(X, y)
    assert not other.rules_.to_frame().equals(first.rules_.to_frame())


def test_early_stopping_keeps_the_best():
    noisy = LABELS[:, 0] ^ (np.random.default_rng(0).random(len(X)) < 0.2)
    model = BoostedRulesClassifier(
        400, early_stopping=True, validation_fraction=0.3, n_iter_no_change=20, random_state=0
    ).fit(X, noisy)
    losses = model.validation_losses_
    assert 0 < model.n_rules_ == len(losses) < 400
    assert losses[-1] == losses.min()
    held = hold_out(0.3, len(X), read_labels(noisy, len(X)).strata(), make_generator(0))
    assert losses[-1] == pytest.approx(
        log_loss(noisy[held], model.predict_proba(X[held])), rel=0.02
    )
    assert BoostedRulesClassifier(5).fit(X, noisy).validation_losses_.shape == (0,)


def test_patience_of_zero_learns_all_rules_first():
    noisy = LABELS[:, 0] ^ (np.random.default_rng(0).random(len(X)) < 0.2)
    params = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0}
    patient = BoostedRulesClassifier(200, n_iter_no_change=0, **params).fit(X, noisy)
    hasty = BoostedRulesClassifier(200, n_iter_no_change=1, **params).fit(X, noisy)
    assert patient.validation_losses_.min() <= hasty.validation_losses_.min()


@pytest.mark.parametrize("binning", ["frequency", "width"])
def test_histograms_learn_as_well(binning):
    model = BoostedRulesClassifier(100, algorithm="histogram", binning=binning, n_bins=16)
    assert (model.fit(X, LABELS).predict(X) != LABELS).mean() < 0.05


# Probabilities and sets


def test_calibrated_probabilities_are_better_than_those_of_too_many_rules():
    x, labels = make_records(600, seed=5)
    noisy = labels[:, 0] ^ (np.random.default_rng(0).random(600) < 0.2)
    losses = []
    for calibration in (None, "isotonic"):
        model = BoostedRulesClassifier(300, calibration=calibration, random_state=0)
        model.fit(x[:300], noisy[:300])
        losses.append(log_loss(noisy[300:], model.predict_proba(x[300:])))
    assert losses[1] < losses[0]


@pytest.mark.parametrize("kind", list(TARGETS))
@pytest.mark.parametrize("loss", ["auto", "squared"])
def test_cross_validated_scores_are_those_of_models_without_the_records(kind, loss):
    y, weights = TARGETS[kind], np.random.default_rng(0).integers(1, 4, len(X))
    model = BoostedRulesClassifier(20, loss=loss)
    targets = read_labels(y, len(X))
    if kind == "multilabel":
        targets.values[1] = 1  # a label that all records have
    fitted = clone(model)
    features, coded = fit_columns(X, fitted)
    loss = choose_loss(loss, targets)
    growth = Growth(model, coded, targets, weights * 1.0, loss, np.random.default_rng(3))
    decisions = growth.cross_decisions(read_columns(features, X, fitted), model.n_rules)
    part = folds(5, len(X), targets.strata(), np.random.default_rng(3))
    for fold in range(5):
        learnt = clone(model).fit(
            X,
            targets.values.T if kind == "multilabel" else y,
            sample_weight=weights * (part != fold),
        )
        expected = learnt.decision_function(X[part == fold]).reshape(-1, decisions.shape[1])
        np.testing.assert_allclose(decisions[part == fold], expected, atol=1e-9)


def test_calibrated_probabilities_follow_scores():
    model = BoostedRulesClassifier(30, loss="squared_hinge", calibration="isotonic")
    probability = model.fit(X, LABELS[:, 0]).predict_proba(X)[:, 1]
    order = np.argsort(model.decision_function(X))
    assert (np.diff(probability[order]) >= 0).all()
    assert (model.predict(X) == (probability > 0.5)).all()


@pytest.mark.parametrize("kind", list(TARGETS))
def test_calibration_by_held_out_records(kind):
    y = TARGETS[kind]
    model = BoostedRulesClassifier(
        50, calibration="isotonic", early_stopping=True, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    assert (model.predict(X) != y).mean() < 0.1
    if kind != "multilabel":
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_predicted_sets_occurred():
    labels = np.eye(3, dtype=int)[(X[:, 0] > 1).astype(int) + (X[:, 1] > 0)]
    model = BoostedRulesClassifier(5, prediction="subset").fit(X, labels)
    predicted = model.predict(X)
    assert predicted.dtype.kind == "i"
    assert (predicted.sum(axis=1) == 1).all()
    free = BoostedRulesClassifier(5).fit(X, labels).predict(X)
    assert (predicted == labels).all(axis=1).mean() >= (free == labels).all(axis=1).mean()


@pytest.mark.parametrize("empty", [True, False])
def test_labels_with_the_highest_expected_f1(empty):
    """All sets of four labels, against what the search chooses."""
    every = np.array([[b >> k & 1 for k in range(4)] for b in range(16)])
    random = np.random.default_rng(5)
    for _ in range(30):
        known = every[random.permutation(np.arange(0 if empty else 1, 16))[:7]].astype(np.uint8)
        probabilities = random.uniform(0.02, 0.98, (5, 4)) ** random.choice([1, 3])
        joint = np.prod(np.where(known, probabilities[:, None], 1 - probabilities[:, None]), axis=2)
        joint /= joint.sum(axis=1, keepdims=True)
        sizes = every.sum(axis=1)[:, None] + known.sum(axis=1)
        f1 = np.where(sizes == 0, 1.0, 2 * (every @ known.T) / np.maximum(sizes, 1))
        expected = joint @ f1.T
        chosen = best_f1_sets(probabilities, known) @ (1 << np.arange(4))
        np.testing.assert_allclose(expected[np.arange(5), chosen], expected.max(axis=1))


def test_predicting_for_f1_is_kept_in_files(tmp_path):
    labels = np.eye(3, dtype=int)[(X[:, 0] > 1).astype(int) + (X[:, 1] > 0)]
    labels[::3, 2] = 1
    models = {
        name: BoostedRulesClassifier(5, prediction=name, random_state=0).fit(X, labels)
        for name in ("hamming", "subset", "example_f1")
    }
    predicted = {name: model.predict(X) for name, model in models.items()}
    probabilities, sets = models["hamming"].predict_proba(X), np.unique(labels, axis=0)
    np.testing.assert_array_equal(predicted["example_f1"], best_f1_sets(probabilities, sets))
    assert (predicted["example_f1"] != predicted["subset"]).any()
    for name, model in models.items():
        model.save(tmp_path / "rules.tacit")
        again = load(tmp_path / "rules.tacit")
        np.testing.assert_array_equal(again.predict(X), predicted[name])


# Bad or odd input


def test_constant_labels_are_decided_by_default():
    labels = np.column_stack((np.ones(len(X), int), LABELS, np.zeros(len(X), int)))
    for loss in ("logistic", "squared", "example_logistic"):
        model = BoostedRulesClassifier(20, heads="complete", loss=loss).fit(X, labels)
        assert set(model.rules_.arrays.outputs.tolist()) <= {1, 2, 3}
        predicted = model.predict(X)
        assert (predicted[:, 0] == 1).all()
        assert (predicted[:, 4] == 0).all()
    probabilities = BoostedRulesClassifier(20).fit(X, labels).predict_proba(X)
    assert probabilities[0, 0] == pytest.approx((len(X) + 0.5) / (len(X) + 1), abs=1e-3)


def test_only_constant_labels():
    model = BoostedRulesClassifier(5).fit(X, np.ones((len(X), 2), int))
    assert model.n_rules_ == 0
    assert model.predict(X).all()
    assert "0 rules" in model.to_text()
    flat = BoostedRulesRegressor(5).fit(X, np.full(len(X), 7.0))
    assert flat.predict(X[:2]).tolist() == [7.0, 7.0]


def test_columns_of_one_value_have_no_rules():
    model = BoostedRulesClassifier(5).fit(np.zeros((4, 2)), [0, 1, 1, 1])
    assert model.n_rules_ == 0
    assert model.predict([[5.0, 5.0]]).tolist() == [1]


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (-np.ones(300), "sample_weight: weights must be finite and not negative; record 0"),
        (np.zeros(300), "sample_weight: all weights are zero"),
        (np.ones(299), "sample_weight: weights must have shape"),
        (np.full(300, np.nan), "sample_weight"),
        (np.full(300, 1e200), r"sample_weight: 1e\+200 is too large"),
    ],
)
def test_bad_weights(weights, problem):
    with pytest.raises(InputError, match=problem):
        BoostedRulesClassifier(5).fit(X, LABELS, sample_weight=weights)


def test_infinite_numbers_are_refused():
    wrong = X.copy()
    wrong[3, 2] = np.inf
    with pytest.raises(InputError, match="inf at row 3, column 2"):
        BoostedRulesClassifier(5).fit(wrong, LABELS)


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        (None, "requires y to be passed"),
        (np.ones(300), "one class only"),
        (LABELS[:-1], "must have 300 rows"),
        ("target", "an array has no column 'target'"),
    ],
)
def test_bad_targets(y, problem):
    with pytest.raises(InputError, match=problem):
        BoostedRulesClassifier(5).fit(X, y)


def test_a_weight_of_zero_takes_a_class_away():
    y = np.array(["a", "b", "c"] * 100)
    weights = (y != "c").astype(float)
    model = BoostedRulesClassifier(5).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["a", "b"]


def test_other_columns_are_refused():
    model = BoostedRulesClassifier(5).fit(X, LABELS)
    with pytest.raises(ValueError, match="6 features"):
        model.predict(X[:, :4])
    named = BoostedRulesClassifier(5).fit(pd.DataFrame(X, columns=list("abcdef")), LABELS)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(pd.DataFrame(X, columns=list("abcdxy")))


def test_ctrl_c_ends_a_long_fit_and_leaves_the_model():
    printed = run("""
        import os, signal, threading, time
        import numpy as np
        from tacit import BoostedRulesRegressor

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20_000, 100)), rng.normal(size=20_000)
        model = BoostedRulesRegressor(1).fit(X[:99, :2], y[:99])
        before = vars(model).copy()
        model.n_rules = 1_000_000
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            print("interrupted", vars(model) == before | {"n_rules": 1_000_000})
    """)
    assert printed == ["interrupted", "True"]


def test_what_is_not_fitted_says_so():
    for ask in ("predict", "explain", "covers", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(BoostedRulesClassifier(), ask)(X)
    with pytest.raises(NotFittedError):
        BoostedRulesRegressor().to_text()


def test_a_failure_leaves_the_model_as_it_was():
    model = BoostedRulesClassifier(5).fit(X, LABELS[:, 0])
    before = model.predict_proba(X)
    with pytest.raises(InputError):
        model.fit(X[:, :3], np.ones(300))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 6


def test_an_interruption_leaves_the_model_as_it_was(monkeypatch):
    from tacit.rules.boosted import growth

    model = BoostedRulesClassifier(5).fit(X, LABELS[:, 0])
    before = vars(model).copy()

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "show_progress", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :3], LABELS)
    assert vars(model) == before
