"""Scores and probabilities of NormalizedCutClassifier: when objects change sides."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit import InputError, NormalizedCutClassifier

PLATT = "classes follow the cut, probabilities are fitted apart from it"


@parametrize_with_checks(
    [NormalizedCutClassifier(scale=1.0, probability=True, random_state=0)],
    expected_failed_checks=lambda _: {"check_classifiers_train": PLATT},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def objects(n=300, d=4, n_classes=2, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n_classes, d))[y] * apart + rng.normal(size=(n, d)), y


def moments(model, X):
    """Return the λ beyond which each object is claimed, in the units of scores."""
    value = model.balance
    by_degree = model.node_weights == "degree"
    now = value / (2 + value) if by_degree else value / (1 + value)
    return now - model.decision_function(X)


@pytest.mark.parametrize("node_weights", ["degree", "neighbours"])
@pytest.mark.parametrize("seed", range(3))
def test_an_object_changes_sides_where_its_score_says(node_weights, seed):
    X, y = objects(120, seed=seed)
    model = NormalizedCutClassifier(
        1.0, 0.2, node_weights=node_weights, resolution=3, random_state=0
    ).fit(X[:80], y[:80])
    new = X[80:]
    scores = model.decision_function(new)
    assert len(np.unique(scores)) > 5
    np.testing.assert_array_equal(scores > 0, model.predict(new) == 1)
    enters = moments(model, new)
    for balance in (0.0, 0.05, 0.2, 0.7, 3.0, 40.0):
        now = balance / ((2 if node_weights == "degree" else 1) + balance)
        sure = np.abs(enters - now) > 1e-9
        members = model.predict_path(new, [balance])[0] == 1
        np.testing.assert_array_equal(members[sure], (enters < now)[sure])


@pytest.mark.parametrize("seed", range(3))
def test_scores_change_their_sign_with_the_classes(seed):
    X, y = objects(150, seed=seed)
    one = NormalizedCutClassifier(1.0, 0.0, resolution=3, random_state=0).fit(X[:100], y[:100])
    other = NormalizedCutClassifier(1.0, 0.0, resolution=3, random_state=0).fit(
        X[:100], 1 - y[:100]
    )
    np.testing.assert_allclose(
        one.decision_function(X[100:]), -other.decision_function(X[100:]), atol=1e-9
    )


def test_scores_order_objects_and_probabilities_hold():
    X, y = objects(1500, apart=0.8, seed=3)
    model = NormalizedCutClassifier(2.0, 0.0, probability=True, random_state=0)
    model.fit(X[:1000], y[:1000])
    new, truth = X[1000:], y[1000:]
    scores, given = model.decision_function(new), model.predict_proba(new)
    by_class = roc_auc_score(truth, model.predict(new))
    assert roc_auc_score(truth, scores) > by_class + 0.05
    np.testing.assert_allclose(given.sum(axis=1), 1)
    assert log_loss(truth, given) < 0.55 < log_loss(truth, np.full(500, 0.5))
    for low in (0.0, 0.25, 0.5, 0.75):  # as many as was said
        within = (given[:, 1] >= low) & (given[:, 1] < low + 0.25)
        spread = 3 * np.sqrt(0.25 / max(within.sum(), 1))
        assert abs(truth[within].mean() - given[within, 1].mean()) < spread
    slope, offset = model._sigmoids[0]
    np.testing.assert_allclose(given[:, 1], expit(-(slope * scores + offset)))


@pytest.mark.parametrize("node_weights", ["degree", "neighbours"])
def test_of_several_classes_the_highest_score_is_predicted(node_weights):
    X, y = objects(400, n_classes=4, seed=1)
    model = NormalizedCutClassifier(
        1.0, 0.1, node_weights=node_weights, probability=True, random_state=0
    ).fit(X[:300], y[:300])
    scores = model.decision_function(X[300:])
    assert scores.shape == (100, 4)
    np.testing.assert_array_equal(scores.argmax(axis=1), model.predict(X[300:]))
    assert model.predict_proba(X[300:]).shape == (100, 4)


def test_objects_of_which_the_graph_says_nothing_are_in_the_middle():
    X, y = objects(200)
    model = NormalizedCutClassifier(1.0, resolution=8, random_state=0).fit(X[:150], y[:150])
    far = np.concatenate((X[150:], X[:3] + np.array([40.0, 0, 0, 0])))
    scores = model.decision_function(far)
    assert model.n_fallback_ >= 1
    np.testing.assert_array_equal(scores > 0, model.predict(far) == 1)
    assert (np.abs(scores) < 1e-300).sum() == model.n_fallback_


def test_probabilities_are_saved_and_only_there_if_asked_for(tmp_path):
    X, y = objects(200)
    model = NormalizedCutClassifier(1.0, probability=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict_proba(X[:50]), model.predict_proba(X[:50]))
    bare = NormalizedCutClassifier(1.0, random_state=0).fit(X, y)
    assert not hasattr(bare, "predict_proba")
    with pytest.raises(InputError, match="probability was not True"):
        bare.set_params(probability=True).predict_proba(X)
    with pytest.raises(InputError, match="probability must be True or False, got 'yes'"):
        bare.set_params(probability="yes").fit(X, y)


def test_the_number_of_threads_does_not_matter():
    X, y = objects(400, n_classes=3)
    one, two = (
        NormalizedCutClassifier(1.0, probability=True, random_state=0, n_jobs=jobs).fit(X, y)
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.predict_proba(X[:90]), two.predict_proba(X[:90]))
