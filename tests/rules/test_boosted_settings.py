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
        ({"heads": "many"}, "heads must be 'single', 'partial' or 'complete', got 'many'"),
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
        ({"prune": True}, "prune=True needs records that were not drawn"),
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
