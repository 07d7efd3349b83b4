"""Weights of classes are weights of their records."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import BoostedRulesClassifier, InputError

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3)).round(1)
TWO = np.where(X[:, 0] + rng.normal(size=300) > 1.2, "yes", "no")
THREE = np.where(X[:, 1] > 1, "b", np.where(TWO == "yes", "a", "c"))
WEIGHTS = rng.random(300) + 0.5


def decisions(y, weights=None, **settings):
    return BoostedRulesClassifier(30, **settings).fit(X, y, weights).decision_function(X)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("y", [TWO, THREE])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"early_stopping": True, "random_state": 0},
        {"calibration": "isotonic", "random_state": 0},
    ],
)
def test_they_multiply_those_of_records(weights, y, settings):
    each = dict(zip(np.unique(y).tolist(), (0.5, 3.25, 1.75), strict=False))
    own = np.array([each[label] for label in y])
    expected = decisions(y, own if weights is None else own * weights, **settings)
    found = decisions(y, weights, class_weight=each, **settings)
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found, decisions(y, weights, **settings))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("y", [TWO, THREE])
def test_balanced_classes_have_the_same_sum(weights, y):
    labels, codes = np.unique(y, return_inverse=True)
    sums = np.bincount(codes, weights)
    own = (sums.sum() / (len(labels) * sums))[codes]
    expected = decisions(y, own if weights is None else own * weights)
    found = decisions(y, weights, class_weight="balanced")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    start = BoostedRulesClassifier(0, class_weight="balanced").fit(X, y, weights)
    np.testing.assert_allclose(start.predict_proba(X[:1]), 1 / len(labels), atol=1e-3)


def test_a_weight_of_two_is_the_record_twice():
    times = rng.integers(1, 4, 300)
    copies = np.repeat(np.arange(300), times)
    found = BoostedRulesClassifier(30, class_weight="balanced").fit(X, TWO, times)
    expected = BoostedRulesClassifier(30, class_weight="balanced").fit(X[copies], TWO[copies])
    decisions = expected.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), decisions, atol=1e-12)


def test_a_class_that_is_not_named_weighs_one():
    half = decisions(TWO, class_weight={"yes": 2.5})
    np.testing.assert_array_equal(half, decisions(TWO, class_weight={"yes": 2.5, "no": 1.0}))


def test_a_target_out_of_a_table_and_files(tmp_path):
    frame = pl.DataFrame(X, ["a", "b", "c"])
    model = BoostedRulesClassifier(30, class_weight={"yes": 2.5})
    model.fit(tacit.Table(frame.with_columns(y=pl.Series(TWO.tolist()))), "y")
    expected = BoostedRulesClassifier(30, class_weight={"yes": 2.5})
    expected.fit(tacit.Table(frame), TWO)
    assert model.to_text() == expected.to_text()
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.class_weight == {"yes": 2.5}
    assert again.to_text() == model.to_text()


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("even", "class_weight must be 'balanced', a dict or None, got 'even'"),
        ([1.0, 2.0], "class_weight must be"),
        ({"yes": -1.0}, "class_weight: weights must be finite and not negative"),
        ({"yes": np.nan}, "class_weight: weights must be finite"),
        ({"yes": 0.0, "no": 0.0}, "class_weight: all weights are zero"),
        ({"maybe": 2.0}, "class_weight: "),
        ({"yes": 1e200}, "class_weight: 1e.200 is too large"),
    ],
)
def test_wrong_weights_are_named(wrong, problem):
    with pytest.raises(InputError, match=problem):
        BoostedRulesClassifier(class_weight=wrong).fit(X, TWO)


def test_labels_have_no_weights_of_classes():
    labels = np.column_stack([TWO == "yes", THREE == "a"]).astype(int)
    with pytest.raises(InputError, match="class_weight is for one class a record"):
        BoostedRulesClassifier(class_weight="balanced").fit(X, labels)
