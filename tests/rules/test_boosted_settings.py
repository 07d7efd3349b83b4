"""Parameters of boosted rules: what is refused, and what the kernel is given."""

import numpy as np
import pytest

from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError
from tacit.rules.boosted.settings import (
    check_parameters,
    choose_loss,
    count_weights,
    kernel_settings,
)
from tacit.rules.boosted.validation import folds, hold_out
from tacit.table.targets import read_labels, read_outputs

LABELS = read_labels(np.array([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0]]), 2)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"n_rules": -1}, "n_rules must be a whole number of at least 0"),
        ({"n_rules": 2.5}, "n_rules must be a whole number"),
        ({"n_rules": 2**40}, "n_rules must be at most"),
        ({"heads": "many"}, "heads must be 'auto', 'single', 'partial' or 'complete', got 'many'"),
        ({"head_size": 2}, "head_size is for heads='partial' only"),
        ({"heads": "partial", "head_size": 0}, "head_size must be"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above 0 and at most 1"),
        ({"learning_rate": 1.5}, "learning_rate must be"),
        ({"learning_rate": "fast"}, "learning_rate must be"),
        ({"learning_rate": np.nan}, "learning_rate must be"),
        ({"max_conditions": 0}, "max_conditions must be"),
        ({"max_conditions": 256}, "max_conditions must be at most 255"),
        ({"min_support": 0}, "min_support must be"),
        ({"l1": -1}, "l1 must be"),
        ({"l2": -1}, "l2 must be"),
        ({"algorithm": "fast"}, "algorithm must be 'exact' or 'histogram'"),
        ({"n_bins": 1}, "n_bins must be"),
        ({"binning": "wide"}, "binning must be"),
        ({"sample": "all"}, "sample must be"),
        ({"sample_fraction": 0.0}, "sample_fraction must be"),
        ({"feature_fraction": 0}, "feature_fraction must be"),
        ({"feature_fraction": 1.5}, "feature_fraction must be"),
        ({"feature_fraction": True}, "feature_fraction must be"),
        ({"feature_fraction": "half"}, "feature_fraction must be"),
        ({"prune": 1}, "prune must be True or False"),
        ({"prune": True, "sample": "none"}, "prune=True needs records that were not drawn"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"n_iter_no_change": -1}, "n_iter_no_change must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesRegressor])
def test_wrong_parameters_are_named(kind, wrong, problem):
    with pytest.raises(InputError, match=problem):
        check_parameters(kind(**wrong))


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"loss": "hinge"}, "loss must be 'auto', 'logistic'"),
        ({"calibration": "platt"}, "calibration must be"),
        ({"prediction": "best"}, "prediction must be 'hamming', 'subset' or 'example_f1'"),
        ({"stratify": None}, "stratify must be True or False"),
    ],
)
def test_wrong_parameters_of_classifiers_are_named(wrong, problem):
    with pytest.raises(InputError, match=problem):
        check_parameters(BoostedRulesClassifier(**wrong))


def test_the_loss_follows_from_the_target():
    two, three = read_labels([0, 1], 2), read_labels([0, 1, 2], 3)
    assert choose_loss("auto", two) == "logistic"
    assert choose_loss("softmax", two) == "logistic"
    assert choose_loss("auto", three) == "softmax"
    assert choose_loss("logistic", three) == "logistic"
    assert choose_loss("auto", LABELS) == "logistic"
    assert choose_loss("squared_hinge", LABELS) == "squared_hinge"
    assert choose_loss("auto", read_outputs([1.0], 1)) == "squared"
    with pytest.raises(InputError, match="softmax"):
        choose_loss("softmax", LABELS)


def settings(n_columns=100, n_counted=50, **params):
    model = BoostedRulesClassifier(**params)
    return kernel_settings(model, LABELS, 5, "logistic", n_columns, n_counted)


@pytest.mark.parametrize(
    ("fraction", "n"),
    [(None, 0), ("sqrt", 10), ("log2", 7), (0.255, 26), (1.0, 0), (3, 3), (1000, 0), (1e-9, 1)],
)
def test_columns_that_are_tried(fraction, n):
    assert settings(feature_fraction=fraction)["n_features"] == n


def test_supports_are_numbers_or_shares():
    assert settings(min_support=3)["min_support"] == 3.0
    assert settings(min_support=0.5)["min_support"] == 25.0
    assert settings(min_support=1e-9)["min_support"] == 1.0


def test_sizes_of_heads_and_samples():
    assert settings(heads="partial")["head_size"] == 4  # 3.5 labels a record
    assert settings(heads="partial", head_size=3)["head_size"] == 3
    assert settings(heads="partial", head_size=9)["head_size"] == 5
    assert settings(sample="subsample")["sample_fraction"] == pytest.approx(2 / 3)
    assert settings(sample="bagging")["sample_fraction"] == 1.0
    assert settings(sample="bagging", sample_fraction=0.5)["sample_fraction"] == 0.5


def test_as_many_are_held_out_of_each_stratum():
    strata = np.repeat([0, 1, 2], [50, 30, 20]).astype(np.int32)
    held = hold_out(0.1, 100, strata, np.random.default_rng(3))
    assert np.bincount(strata[held]).tolist() == [5, 3, 2]
    assert (held == hold_out(0.1, 100, strata, np.random.default_rng(3))).all()
    assert hold_out(0.001, 10, None, np.random.default_rng(0)).sum() == 1
    with pytest.raises(InputError, match="validation_fraction"):
        hold_out(0.1, 1, None, np.random.default_rng(0))


def test_parts_are_alike():
    strata = np.repeat([0, 1, 2], [50, 30, 20]).astype(np.int32)
    part = folds(5, 100, strata, np.random.default_rng(0))
    assert (np.histogram2d(strata, part, (3, 5))[0] == [[10], [6], [4]]).all()
    assert sorted(folds(5, 3, None, np.random.default_rng(0)).tolist()) == [0, 1, 2]


def test_small_whole_weights_are_counts():
    units, real = count_weights(np.array([1.0, 2.0]), None, 2)
    assert (units.tolist(), real) == ([1.0, 2.0], None)
    assert units.dtype == np.float32
    units, real = count_weights(np.array([0.5, 2.0]), np.array([True, False]), 2)
    assert (units.tolist(), real.tolist()) == ([0.0, 1.0], [0.5, 2.0])
    assert count_weights(np.array([17.0, 2.0]), None, 2)[0] is None
    assert count_weights(None, None, 2) == (None, None)


def drawn_classes(n_classes, random_state=0):
    random = np.random.default_rng(random_state)
    X = random.normal(size=(400, 5))
    return X, np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes - 1))


@pytest.mark.parametrize(
    ("n_classes", "loss", "size"),
    [(2, "auto", 1), (4, "auto", 4), (4, "softmax", 4), (4, "logistic", 1), (4, "squared", 1)],
)
def test_heads_are_of_all_classes_with_the_softmax_loss_alone(n_classes, loss, size):
    X, y = drawn_classes(n_classes)
    model = BoostedRulesClassifier(20, loss=loss).fit(X, y)
    assert {len(rule.head) for rule in model.rules_} == {size}
    same = BoostedRulesClassifier(20, loss=loss, heads="single" if size == 1 else "complete")
    assert same.fit(X, y).to_text(None) == model.to_text(None)


def test_labels_and_numbers_have_single_heads_unless_asked_otherwise():
    X, _ = drawn_classes(2)
    for kind, Y in (
        (BoostedRulesClassifier, (X[:, :3] > 0).astype(int)),
        (BoostedRulesRegressor, X[:, :3]),
    ):
        assert {len(rule.head) for rule in kind(20, random_state=0).fit(X, Y).rules_} == {1}
        whole = kind(20, heads="complete", random_state=0).fit(X, Y)
        assert max(len(rule.head) for rule in whole.rules_) == 3


def test_complete_heads_tell_many_classes_apart_with_fewer_rules():
    X, y = drawn_classes(8)
    other, labels = drawn_classes(8, 1)
    score = {
        heads: BoostedRulesClassifier(100, heads=heads).fit(X, y).score(other, labels)
        for heads in ("auto", "single")
    }
    assert score["auto"] > score["single"] + 0.03


def test_rules_for_numbers_follow_the_random_state_unless_nothing_is_drawn():
    X, _ = drawn_classes(2)
    y = X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=400)

    def texts(**settings):
        seeds = (0, 0, 1)
        return [
            BoostedRulesRegressor(50, random_state=s, **settings).fit(X, y).to_text(None)
            for s in seeds
        ]

    drawn, whole = texts(), texts(sample="none")
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(whole)) == 1


def test_the_defaults_for_noisy_numbers_beat_larger_steps_on_all_records():
    """What the defaults were chosen for: few records, and much that nothing explains."""
    random = np.random.default_rng(5)
    X = random.normal(size=(1300, 8))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + random.normal(0, 1.5, 1300)
    before = {"n_rules": 500, "learning_rate": 0.3, "l2": 1.0, "sample": "none"}
    now, then = (
        BoostedRulesRegressor(random_state=0, **settings).fit(X[:300], y[:300])
        for settings in ({}, before)
    )
    assert now.score(X[300:], y[300:]) > then.score(X[300:], y[300:]) + 0.05
