"""Whoever predicts classes and their probabilities predicts the most probable class, ties too."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import (
    BayesNet,
    BoostedRulesClassifier,
    Branching,
    CoveringRulesClassifier,
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DependencyTree,
    NaiveBayesMixture,
    SparseKNeighborsClassifier,
    SparseSVC,
    TreeMixture,
)
from tacit.estimator import Estimator, favour

LOSSES = ("logistic", "squared", "squared_hinge")
BOOSTED = [
    BoostedRulesClassifier(4, heads=heads, loss=loss)
    for heads in ("single", "complete")
    for loss in LOSSES
]
CLASSIFIERS = [
    *BOOSTED,
    BoostedRulesClassifier(4, heads="complete", loss="softmax"),
    BoostedRulesClassifier(4, loss="squared", learning_rate=1.0, l2=0.0),
    BoostedRulesClassifier(4, calibration="isotonic"),
    CoveringRulesClassifier(random_state=0),
    CoveringRulesClassifier("m_estimate", prune=False, order="descending"),
    CoveringRulesClassifier("precision", prune=False, max_rules=1),
    DecisionGraphClassifier(),
    DecisionTreeClassifier(),
    DecisionTreeClassifier("entropy", max_leaf_nodes=3),
    SparseKNeighborsClassifier(4),
    SparseKNeighborsClassifier(4, algorithm="exact"),
    SparseKNeighborsClassifier(6, weights="distance"),
    SparseKNeighborsClassifier(6, weights="distance", group_width=0.5),
    SparseSVC(probability=True, indefinite="ignore", random_state=0),
]
DENSITIES = [
    BayesNet(n_restarts=1, random_state=0),
    Branching(),
    DependencyTree(),
    TreeMixture(2, random_state=0),
]


def tied(seed, n_classes):
    """Return few different records, each with as many of several classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (12, 3)).repeat(n_classes, axis=0).astype(float)
    y = np.array(["c", "a", "d", "b"])[np.tile(np.arange(n_classes), 12)]
    order = rng.permutation(len(y))
    return X[order], y[order]


def of(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: repr(model))


def test_all_that_have_both_are_here():
    both = {
        name
        for name in tacit.__all__
        if inspect.isclass(cls := getattr(tacit, name))
        and issubclass(cls, Estimator)
        and {"predict", "predict_proba"} <= set(dir(cls))
    }
    known = {type(m).__name__ for m in (*CLASSIFIERS, *DENSITIES, NaiveBayesMixture(2))}
    apart = {"NormalizedCutClassifier"}  # fits probabilities to its scores, apart from the cut
    assert known | apart == both


@of(CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_most_probable_class_is_predicted(model, n_classes, seed):
    X, y = tied(seed, n_classes)
    new = np.vstack([X, np.random.default_rng(seed).integers(0, 2, (20, 3)) * 0.5])
    model.fit(X, y)
    expected = model.classes_[model.predict_proba(new).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(new), expected)


@of([m for m in CLASSIFIERS if "sample_weight" in inspect.signature(m.fit).parameters])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_with_weights(model, scale):
    if isinstance(model, SparseSVC):  # weights are factors of C, which has a scale of its own
        scale = 1.0
    for seed in range(3):
        X, y = tied(seed, 3)
        weights = scale * np.random.default_rng(seed).integers(1, 3, len(y))
        model.fit(X, y, sample_weight=weights)
        expected = model.classes_[model.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X), expected)


@of(DENSITIES)
def test_labels_of_densities(model):
    X, y = tied(0, 2)
    table = tacit.Table({"a": X[:, 0].astype(int), "b": X[:, 1].astype(int), "y": y})
    model.fit(table)
    for column in ("a", "y"):
        labels = np.array(model.schema_[column].labels)
        expected = labels[model.predict_proba(table, column).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(table, column), expected)


def test_clusters():
    X, _ = tied(0, 3)
    model = NaiveBayesMixture(3, n_init=1, random_state=0).fit(X.astype(int))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=3, max_size=3), min_size=1),
    st.data(),
)
@settings(max_examples=50, deadline=None)
def test_favour_changes_ties_by_next_to_nothing(rows, data):
    given_rows = np.array(rows)
    best = [np.flatnonzero(row == row.max()).tolist() for row in given_rows]
    codes = np.array([data.draw(st.sampled_from(some)) for some in best])
    favoured = favour(given_rows, codes)
    np.testing.assert_array_equal(favoured.argmax(axis=1), codes)
    np.testing.assert_allclose(favoured, given_rows, rtol=0, atol=1e-15)
