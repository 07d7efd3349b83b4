"""What boosted rules look like: explanations, texts, pictures, progress."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from support.rule_records import CLASSES, LABELS, X
from tacit import BoostedRulesClassifier, BoostedRulesRegressor, InputError


def test_explanations_add_up_to_the_decision():
    model = BoostedRulesClassifier(40).fit(X, CLASSES)
    cover = model.covers(X)
    for record in (0, 7, 11):
        explanation = model.explain(X[record])
        assert explanation.prediction == model.predict(X[record : record + 1])[0]
        decision = model.decision_function(X[record : record + 1])[0]
        assert list(explanation.decision.values()) == decision.tolist()
        assert [rule.number for rule in explanation.rules] == cover[[record]].indices.tolist()
        for output, score in explanation.decision.items():
            added = sum(score for _, score in explanation.contributions(output))
            assert explanation.default[output] + added == pytest.approx(score)
        assert explanation.to_frame()["score"].sum() == pytest.approx(decision.sum())
        assert explanation.prediction in explanation.to_text()


def test_one_record_in_any_form():
    model = BoostedRulesClassifier(20).fit(X, LABELS)
    expected = model.explain(X[0]).decision
    rows = sparse.csr_array(X), sparse.csr_matrix(X)
    for record in (X[:1], X[0].tolist(), rows[0][[0]], rows[1][0], rows[0][0]):
        assert model.explain(record).decision == expected
    with pytest.raises(InputError, match="X must be one record, got 300"):
        model.explain(X)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(X[:, 0] > 0, "p", "q"))
    model = BoostedRulesClassifier(20).fit(frame, LABELS)
    decision = model.decision_function(frame[:1])[0].tolist()
    for record in (frame[:1], frame.iloc[0], frame.iloc[0].to_dict(), pl.DataFrame(frame[:1])):
        assert list(model.explain(record).decision.values()) == decision


def test_explained_predictions_are_labels_and_numbers():
    labels = pd.DataFrame(LABELS, columns=["sun", "rain", "wind"])
    model = BoostedRulesClassifier(50).fit(X, labels)
    record = int(np.argmax(LABELS.sum(axis=1)))
    told = np.array(["sun", "rain", "wind"])[model.predict(X[[record]])[0] == 1]
    assert model.explain(X[record]).prediction == tuple(told.tolist())
    number = BoostedRulesRegressor(5).fit(X, X[:, 0])
    assert number.explain(X[0]).prediction == number.predict(X[:1])[0]


def test_explanations_are_drawn():
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    model = BoostedRulesClassifier(20).fit(X, LABELS[:, 0])
    axes = model.explain(X[0]).plot(top=3)
    assert "sum" in [text.get_text() for text in axes.texts]
    plt.close("all")


def test_a_text_says_what_there_is():
    model = BoostedRulesClassifier(20).fit(X, CLASSES)
    text = model.to_text(top=3)
    assert text.startswith("3 classes: high, low, middle\n20 rules")
    assert len(re.findall(r"^if x\d", text, re.M)) == 3
    assert "covers" in text
    assert "numbers: y" in BoostedRulesRegressor(3).fit(X, X[:, 0]).to_text()


def test_progress_goes_to_stderr(capsys):
    quiet = BoostedRulesClassifier(20, n_jobs=1).fit(X, LABELS)
    assert capsys.readouterr() == ("", "")
    loud = BoostedRulesClassifier(20, verbose=1).fit(X, LABELS)
    out, err = capsys.readouterr()
    assert out == ""
    assert "rules" in err
    assert loud.rules_.to_frame().equals(quiet.rules_.to_frame())


def test_progress_does_not_change_when_learning_stops(capsys):
    noisy = LABELS[:, 0] ^ (np.random.default_rng(0).random(len(X)) < 0.2)
    params = {"early_stopping": True, "n_iter_no_change": 5, "sample": "bagging", "random_state": 0}
    quiet = BoostedRulesClassifier(300, **params).fit(X, noisy)
    loud = BoostedRulesClassifier(300, verbose=1, **params).fit(X, noisy)
    assert loud.validation_losses_.tolist() == quiet.validation_losses_.tolist()
    assert loud.rules_.to_frame().equals(quiet.rules_.to_frame())


def test_importances_are_shares_of_gains():
    model = BoostedRulesClassifier(20).fit(X, LABELS[:, 0])
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(-importances)[:2].tolist()) == {0, 1}
    gains = np.zeros(6)
    for rule in model.rules_:
        columns = {int(condition.column[1:]) for condition in rule.conditions}
        gains[list(columns)] += rule.gain / len(columns)
    np.testing.assert_allclose(importances, gains / gains.sum())
    assert not BoostedRulesClassifier(0).fit(X, LABELS).feature_importances_.any()
