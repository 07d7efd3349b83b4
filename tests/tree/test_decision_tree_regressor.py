"""Decision trees for numbers."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import gammaln
from sklearn import tree as peer
from sklearn.base import clone

from tacit import DecisionTreeRegressor, InputError, Table

examples = settings(max_examples=30)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 15}, {"min_samples_leaf": 20}])
def test_is_scikit_learns_tree(seed, limits):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    y = 2 * X[:, 0] + np.where(X[:, 1] > 0, 3.0, X[:, 2]) + rng.normal(size=300)
    model = DecisionTreeRegressor(**limits).fit(X, y)
    other = peer.DecisionTreeRegressor(**limits, random_state=0).fit(X, y)
    assert model.n_leaves_ == other.get_n_leaves()
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-12)
    np.testing.assert_allclose(model.feature_importances_, other.feature_importances_, rtol=1e-9)
    assert model.score_ == pytest.approx(-((y - model.predict(X)) ** 2).sum())
    weights = rng.integers(0, 4, 300)
    if "max_leaf_nodes" in limits:  # where scikit-learn counts records, tacit weighs them
        model.fit(X, y, sample_weight=weights)
        other.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-12)


def test_by_hand():
    model = DecisionTreeRegressor().fit({"a": [1, 1, 2, 2, 3]}, [1.0, 3.0, 7.0, 7.0, 7.0])
    assert model.n_leaves_ == 2
    assert model.predict({"a": [0, 1, 2, 3]}).tolist() == [2.0, 2.0, 7.0, 7.0]
    assert model.nodes_.gain[0] == pytest.approx(30.0)  # of 32
    assert model.score_ == pytest.approx(-2.0)
    assert model.nodes_.counts[0, 0] == 5


def test_bayes_factor_by_hand():
    x, y = [0] * 5 + [1] * 5, np.array([0.0, 1, 2, 1, 1, 8, 9, 9, 10, 9])
    model = DecisionTreeRegressor("bayes_factor", kappa=0.5, prior_weight=2.0)
    model.fit(Table({"x": x}), y)
    assert model.n_leaves_ == 2

    def marginal(part):
        n, mean = len(part), part.mean()
        beta = y.var() + ((part - mean) ** 2).sum() / 2
        beta += 2 * n * (mean - y.mean()) ** 2 / (2 * (2 + n))
        score = gammaln(1 + n / 2) - gammaln(1) + math.log(y.var()) - (1 + n / 2) * math.log(beta)
        return score + 0.5 * math.log(2 / (2 + n)) - n / 2 * math.log(2 * math.pi)

    apart = marginal(y[:5]) + marginal(y[5:])
    assert model.score_ == pytest.approx(apart + 4 * math.log(0.5))
    assert model.nodes_.gain[0] == pytest.approx(apart - marginal(y) + 2 * math.log(0.5))


def test_noise_is_one_leaf_under_the_bayes_factor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    assert DecisionTreeRegressor("bayes_factor").fit(X, y).n_leaves_ == 1
    model = DecisionTreeRegressor("bayes_factor").fit(X, y + 5 * (X[:, 1] > 0))
    assert model.n_leaves_ == 2
    assert model.feature_importances_.tolist() == [0, 1, 0]


@examples
@given(
    st.sampled_from([1e-140, 1e-8, 1.0, 3.0, 1e9, 1e140]),
    st.sampled_from([0.0, 5.0, 1e12]),
    st.sampled_from(["squared_error", "bayes_factor"]),
)
def test_any_scale(scale, shift, criterion):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (100, 3))
    y = np.where(X[:, 1] > 1, 4.0, 0.0) + rng.integers(0, 2, 100)
    plain = DecisionTreeRegressor(criterion, max_leaf_nodes=4).fit(X, y)
    model = clone(plain).fit(X, (y + shift) * scale)
    np.testing.assert_array_equal(model.apply(X), plain.apply(X))
    np.testing.assert_allclose(model.predict(X), (plain.predict(X) + shift) * scale)


def test_means_are_those_of_the_records():
    """A leaf of one and the same number has just that mean, to the last bit."""
    rng = np.random.default_rng(0)
    levels = rng.normal(size=7) * 1e3
    x = rng.integers(0, 7, 1000)
    model = DecisionTreeRegressor().fit({"x": x}, levels[x])
    assert model.n_leaves_ == 7
    assert model.predict({"x": range(7)}).tolist() == levels.tolist()


@examples
@given(st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_a_weight_of_two_is_the_record_twice(weights):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)).round(1), rng.integers(0, 9, 30) / 4
    weights[0] = 1
    twice = DecisionTreeRegressor(max_leaf_nodes=5)
    twice.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    model = clone(twice).fit(X, y, sample_weight=weights)
    assert [c.edges for c in model.schema_] == [c.edges for c in twice.schema_]
    np.testing.assert_allclose(model.predict(X), twice.predict(X))


def test_forms():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 4)) * (rng.random((300, 4)) < 0.4)
    y = X[:, 0] * 2.0 - X[:, 3]
    dense = DecisionTreeRegressor().fit(X, y)
    expected = dense.predict(X)
    np.testing.assert_allclose(expected, y)
    form = sparse.csc_array(X)
    np.testing.assert_allclose(DecisionTreeRegressor().fit(form, y).predict(form), y)
    table = Table(np.column_stack((X, y - y.min())), columns=["a", "b", "c", "d", "y"])
    model = DecisionTreeRegressor().fit(table, "y")
    np.testing.assert_allclose(model.predict(table), y - y.min())
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(y=y)
    np.testing.assert_allclose(DecisionTreeRegressor().fit(frame, "y").predict(frame), y)
    assert model.score(table, y - y.min()) == 1.0


def test_the_order_of_records_does_not_matter():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(200, 3)), rng.normal(size=200), rng.random(200)
    order = rng.permutation(200)
    model = DecisionTreeRegressor(max_leaf_nodes=20).fit(X, y, sample_weight=w)
    other = clone(model).fit(X[order], y[order], sample_weight=w[order])
    np.testing.assert_array_equal(model.nodes_.counts, other.nodes_.counts)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-12)


def test_a_constant_is_one_leaf():
    model = DecisionTreeRegressor().fit([[1.0], [2.0], [3.0]], [4.5, 4.5, 4.5])
    assert model.n_leaves_ == 1
    assert model.predict([[9.0]]).tolist() == [4.5]
    assert DecisionTreeRegressor("bayes_factor").fit([[1], [2]], [3, 3]).n_leaves_ == 1


def test_least_gain_is_in_squares_of_y():
    x, y = [0, 0, 1, 1], [0.0, 0.0, 2.0, 2.0]
    assert DecisionTreeRegressor(min_gain=3.9).fit({"x": x}, y).n_leaves_ == 2
    assert DecisionTreeRegressor(min_gain=4.1).fit({"x": x}, y).n_leaves_ == 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "y must hold numbers, got String"),
        ([1.0, np.nan], "y contains NaN or None: record 1"),
        ([1.0, np.inf], "y contains NaN or infinity: inf at record 1"),
        ([1.0], "y must have 2 entries"),
        ([-1.7e308, 1.7e308], "y: its numbers are too far apart"),
        ([1e-200, 2e-200], "y: its numbers are too close together"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(InputError, match=message):
        DecisionTreeRegressor().fit([[1], [2]], y)


def test_bad_columns():
    table = Table({"a": [1, 2], "b": ["x", "y"], "c": [1, None], "d": [0.1, 0.9]}, discretise=[0.5])
    for name, message in {
        "b": "y: column 'b' holds labels that are no numbers",
        "c": "y: column 'c' has a missing value at record 1",
        "d": "y: column 'd' holds bins",
    }.items():
        with pytest.raises(InputError, match=message):
            DecisionTreeRegressor().fit(table, name)
    with pytest.raises(InputError, match="discretise='mdl' needs target"):
        DecisionTreeRegressor(discretise="mdl").fit([[0.5], [1.5]], [1, 2])
