"""Boosted rules in files."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import tacit
from support.files import assert_same_arrays, assert_same_model
from tacit import BoostedRulesClassifier, BoostedRulesRegressor, FileError, store


def make_records(n=120):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 4)) < 0.5, rng.normal(size=(n, 4)).round(2), 0.0)
    labels = np.stack([X[:, 0] > 0.2, X[:, 1] < 0], axis=1).astype(int)
    return X, labels


X, LABELS = make_records()
FRAME = pl.DataFrame(
    {"a": X[:, 0], "b": np.where(X[:, 1] < 0, "low", "high"), "c": [True, False, None] * 40}
)
CASES = {
    "binary": (BoostedRulesClassifier(20), X, LABELS[:, 0]),
    "words": (BoostedRulesClassifier(20), X, np.array(["x", "y"])[LABELS[:, 0]]),
    "multiclass": (BoostedRulesClassifier(20), sparse.csr_array(X), LABELS.sum(axis=1)),
    "multilabel": (BoostedRulesClassifier(20, heads="complete"), X, LABELS),
    "sets": (BoostedRulesClassifier(20, prediction="subset"), X, LABELS),
    "frame": (BoostedRulesClassifier(20, calibration="isotonic"), FRAME, LABELS),
    "held out": (
        BoostedRulesClassifier(40, early_stopping=True, calibration="isotonic", random_state=0),
        X,
        LABELS,
    ),
    "squared": (BoostedRulesClassifier(20, loss="squared", algorithm="histogram"), X, LABELS),
    "number": (BoostedRulesRegressor(20), FRAME, X[:, 0]),
    "numbers": (BoostedRulesRegressor(20, heads="complete"), X, X[:, :2]),
    "constant": (BoostedRulesRegressor(20), X, np.ones(len(X))),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_loaded_model_says_the_same(case, tmp_path):
    model, data, y = CASES[case]
    path = tmp_path / "model.tacit"
    model.fit(data, y).save(path)
    again = tacit.load(path)
    assert_same_model(again, model, data)
    assert again.rules_.to_frame().equals(model.rules_.to_frame())
    assert again.explain(data[:1]).to_text() == model.explain(data[:1]).to_text()
    again.save(tmp_path / "again.tacit")
    assert_same_arrays(path, tmp_path / "again.tacit")


def test_a_loaded_model_passes_over_its_target(tmp_path):
    whole = FRAME.with_columns(pl.Series("y", LABELS[:, 0]))
    model = BoostedRulesClassifier(10).fit(whole, "y")
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(whole), model.predict(FRAME))


def test_what_is_default_is_not_saved(tmp_path):
    model = BoostedRulesClassifier(10, defaults=[np.nan] * 4).fit(X, LABELS)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.defaults == "auto"
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        BoostedRulesClassifier().save(tmp_path / "model.tacit")


def damaged(tmp_path, case, name, change):
    """Write a model with one array changed, and return where."""
    model, data, y = CASES[case]
    path = tmp_path / "model.tacit"
    model.fit(data, y).save(path)
    kind, arrays = store.read_arrays(path)
    arrays = {key: np.array(value) for key, value in arrays.items()}
    arrays[name] = change(arrays[name])
    store.write_arrays(path, kind, {k: v for k, v in arrays.items() if v is not None})
    return path


@pytest.mark.parametrize(
    ("case", "name", "change", "problem"),
    [
        ("binary", "scores", lambda a: a * np.nan, "'scores' has a number that is not finite"),
        ("binary", "columns", lambda a: a + 99, "'columns' has a number that is not in"),
        ("binary", "rule_conditions", lambda a: a[1:], "'rule_conditions' does not ascend"),
        ("binary", "default_scores", lambda a: np.zeros(2), "another length"),
        ("binary", "support", lambda a: None, "it has no 'support'"),
        ("binary", "settings", lambda a: a[:-3], "is damaged"),
        ("binary", "features", lambda a: a[:-3], "is damaged"),
        ("held out", "curve_starts", lambda a: a[1:], "'curve_starts' does not ascend"),
        ("held out", "validation_losses", lambda a: a[:1], "'validation_losses' are not one"),
        ("sets", "label_sets", lambda a: a + 2, "'label_sets' are no sets of its labels"),
    ],
)
def test_damaged_files_are_refused(case, name, change, problem, tmp_path):
    path = damaged(tmp_path, case, name, change)
    with pytest.raises(FileError, match=problem):
        tacit.load(path)


@pytest.mark.parametrize(
    ("case", "facts", "problem"),
    [
        ("binary", {"kind": "multiclass"}, "it has 2 classes, and is multiclass"),
        ("multiclass", {"kind": "binary"}, "it has 3 classes, and is binary"),
        ("binary", {"kind": "other"}, "kind must be"),
        ("binary", {"loss": "auto"}, "loss must be"),
        ("binary", {"target": 3}, "its target"),
        ("binary", {"class_type": "O"}, "its classes are of the type"),
        ("binary", {"parameters": {"learning_rate": -1}}, "learning_rate must be"),
        ("binary", {"parameters": {"magic": 1}}, "unexpected keyword"),
        ("number", {"names": [3]}, "its outputs have no names"),
        ("numbers", {"kind": "number"}, "it has 2 outputs"),
    ],
)
def test_files_that_contradict_themselves_are_refused(case, facts, problem, tmp_path):
    def change(array):
        told = json.loads(array.tobytes()) | facts
        return np.frombuffer(json.dumps(told).encode(), np.uint8)

    path = damaged(tmp_path, case, "settings", change)
    with pytest.raises(FileError, match=problem):
        tacit.load(path)
