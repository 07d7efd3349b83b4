"""Figures of predictions: those of scikit-learn, here and over partitions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peers

import tacit
from tacit import metrics


@given(st.data())
def test_classes(data):
    n = data.draw(st.integers(1, 30))
    k = data.draw(st.integers(2, 4))
    truth, guess = (
        np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))) for _ in "ab"
    )
    weights = np.array(data.draw(st.lists(st.floats(0.1, 3), min_size=n, max_size=n)))
    names = np.array(list("abcd"))
    scores = metrics.classification_scores(names[truth], names[guess], weights, classes=names[:k])
    assert scores["accuracy"] == pytest.approx(
        peers.accuracy_score(truth, guess, sample_weight=weights)
    )
    counts = np.bincount(truth, weights)
    assert scores["majority"] == pytest.approx(counts.max() / weights.sum())
    labels, matrix = metrics.confusion_matrix(names[truth], names[guess], names[:k].tolist())
    assert labels == names[:k].tolist()
    np.testing.assert_array_equal(matrix, peers.confusion_matrix(truth, guess, labels=range(k)))


def test_probabilities():
    truth, second = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.7, 0.6, 0.65, 0.9])
    both = np.column_stack((1 - second, second))
    scores = metrics.classification_scores(truth, second > 0.5, classes=[0, 1], probabilities=both)
    assert scores["log_likelihood"] == pytest.approx(-peers.log_loss(truth, both))
    assert scores["auc"] == pytest.approx(peers.roc_auc_score(truth, second))
    one = metrics.classification_scores([1, 1], [1, 0], classes=[0, 1], probabilities=both[:2])
    assert one["auc"] is None


def test_a_class_that_the_model_does_not_know():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75]])
    scores = metrics.classification_scores(
        ["a", "c"], ["a", "b"], classes=["a", "b"], probabilities=probabilities, baseline="b"
    )
    assert scores["log_likelihood"] == pytest.approx(np.log(0.5))
    assert (scores["accuracy"], scores["majority"]) == (0.5, 0.0)


def test_labels_and_numbers():
    rng = np.random.default_rng(0)
    Y, guess, weights = rng.random((20, 3)) < 0.3, rng.random((20, 3)) < 0.3, rng.random(20)
    scores = metrics.multilabel_scores(Y, guess, weights)
    assert scores["hamming"] == pytest.approx(
        np.average((guess != Y).mean(axis=1), weights=weights)
    )
    assert scores["subset"] == pytest.approx(np.average((guess == Y).all(axis=1), weights=weights))
    y, near = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    scores = metrics.regression_scores(y, near, weights)
    assert scores["r2"] == pytest.approx(peers.r2_score(y, near, sample_weight=weights))
    assert scores["rmse"] ** 2 == pytest.approx(
        peers.mean_squared_error(y, near, sample_weight=weights)
    )
    assert metrics.regression_scores([2.0, 2.0], [1.0, 2.0])["r2"] is None


@pytest.mark.parametrize("n_partitions", [1, 2, 7])
def test_partitions_give_the_same(n_partitions):
    visits = tacit.datasets.load_visits().take(np.arange(3000))
    model = tacit.DecisionTreeClassifier(max_depth=3).fit(visits, "region")
    parts = tacit.scale.partition(visits, n_partitions)
    here, there = (metrics.evaluate(model, X, "region") for X in (visits, parts))
    assert here == pytest.approx(there)
    y = visits.select(["region"]).to_frame("polars")["region"]
    plain = metrics.evaluate(model, visits, y)
    assert {name: plain[name] for name in here} == pytest.approx(here)


@pytest.mark.parametrize("n_partitions", [1, 2, 7])
def test_numbers_over_partitions(n_partitions):
    rng = np.random.default_rng(1)
    table = tacit.Table(pl.DataFrame({"x": rng.integers(0, 5, 200), "y": rng.integers(0, 9, 200)}))
    model = tacit.DecisionTreeRegressor(criterion="squared_error", max_depth=2).fit(table, "y")
    found = metrics.evaluate(model, tacit.scale.partition(table, n_partitions), "y")
    y = table.to_frame("polars")["y"].to_numpy()
    assert found["records"] == 200
    assert found["r2"] == pytest.approx(peers.r2_score(y, model.predict(table)))
