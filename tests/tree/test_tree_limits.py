"""Trees and networks at the edge: weights of any scale, parameters set later, fits that fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit.errors import InputError


def some_data(n=300, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, k))
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 3, n) > 4).astype(int)
    return X, y


class TestWeights:
    @pytest.mark.parametrize("scale", [1e-12, 1e-5, 1e5, 1e12])
    @pytest.mark.parametrize("criterion", ["entropy", "gini"])
    def test_their_scale_does_not_matter(self, criterion, scale):
        X, y = some_data()
        weights = np.random.default_rng(1).random(len(y))
        make = tacit.DecisionTreeClassifier
        plain = make(criterion).fit(X, y, weights).nodes_
        other = make(criterion).fit(X, y, weights * scale).nodes_
        assert plain.column.tolist() == other.column.tolist()
        assert plain.children.tolist() == other.children.tolist()
        np.testing.assert_allclose(other.gain, plain.gain * scale, rtol=1e-6, atol=1e-9 * scale)
        np.testing.assert_allclose(other.counts, plain.counts * scale, rtol=1e-9)

    def test_bic_does_not_pay_for_leaves_of_no_weight(self):
        X = np.random.default_rng(2).integers(0, 4, (300, 5))
        y = np.random.default_rng(3).integers(0, 2, 300)
        tree = tacit.DecisionTreeClassifier("bic").fit(X, y, np.full(300, 1e-6))
        assert tree.score_ <= 0

    @pytest.mark.parametrize("weight", [1e-300, 1e300])
    @pytest.mark.parametrize(
        "model", [tacit.DecisionTreeClassifier("gini"), tacit.DecisionTreeRegressor()]
    )
    def test_beyond_all_sums(self, model, weight):
        X, y = some_data()
        with pytest.raises(InputError, match="weights: they add up to"):
            model.fit(X, y, np.full(len(y), weight))

    def test_of_classes_beyond_all_numbers(self):
        X, y = some_data()
        model = tacit.DecisionTreeClassifier(class_weight={0: 1e308, 1: 1e308})
        with pytest.raises(InputError, match=r"class_weight|weights"):
            model.fit(X, y, np.full(len(y), 10.0))


class TestParameters:
    @pytest.mark.parametrize("weight", [1e308, 1e-320])
    def test_a_prior_beyond_all_data(self, weight):
        X, y = some_data()
        with pytest.raises(InputError, match="prior_weight must be 0 or from"):
            tacit.DecisionTreeClassifier(prior_weight=weight).fit(X, y)

    def test_limits_beyond_any_table(self):
        X, y = some_data()
        free = tacit.DecisionTreeClassifier().fit(X, y)
        bound = tacit.DecisionTreeClassifier(max_leaf_nodes=10**30, max_depth=10**30).fit(X, y)
        assert bound.n_leaves_ == free.n_leaves_

    def test_set_after_fit_change_nothing_that_was_learnt(self, tmp_path):
        X, _ = some_data()
        web = tacit.DependencyNetwork().fit(X)
        score, chances = web.score(X), web.predict_proba(X, 1)
        web.set_params(prior_weight=100.0, criterion="gini")
        assert web.score(X) == score
        np.testing.assert_array_equal(web.tree(1).predict_proba(X[:, [0, 2, 3, 4]]), chances)
        web.save(tmp_path / "web.tacit")
        assert tacit.load(tmp_path / "web.tacit").score(X) == score


@pytest.mark.parametrize(
    "model",
    [tacit.DecisionTreeClassifier(), tacit.DecisionTreeRegressor(), tacit.DependencyNetwork()],
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(model):
    X, y = some_data()
    model.fit(X, y)
    before = model.predict_proba(X, 0) if hasattr(model, "forest_") else model.predict(X)
    with pytest.raises(ValueError, match=r"y|X"):
        model.fit(np.zeros((5, 1)) if hasattr(model, "forest_") else np.zeros((5, 7)), [np.nan] * 5)
    after = model.predict_proba(X, 0) if hasattr(model, "forest_") else model.predict(X)
    np.testing.assert_array_equal(before, after)


def test_classes_of_strings_and_numbers_are_refused():
    with pytest.raises(InputError, match="y holds strings and others"):
        tacit.DecisionTreeClassifier().fit([[0], [1], [2]], ["1", 1, "2"])


def test_a_large_weighted_network_is_loaded_as_it_was_saved(tmp_path):
    rng = np.random.default_rng(0)
    B = rng.random((400, 400)) < 0.1
    B[:, 1::2] = B[:, ::2] ^ (rng.random((400, 200)) < 0.02)
    web = tacit.DependencyNetwork("entropy", max_leaf_nodes=32)
    web.fit(sparse.csr_array(B.astype(int)), sample_weight=rng.random(400))
    assert web.forest_.stats.astype(float).sum() > 2.0**62  # more than any one node may have
    web.save(tmp_path / "web.tacit")
    assert tacit.load(tmp_path / "web.tacit").score(B.astype(int)) == web.score(B.astype(int))


def test_nodes_without_records_are_as_their_parents():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (200, 4))
    X[:, 1] = (X[:, 0] + rng.integers(0, 2, 200)) % 12
    web = tacit.DependencyNetwork("entropy", prior_weight=0, splits="complete", max_depth=2)
    forest = web.fit(X).forest_
    parent, child = forest.edges
    above = dict(zip(child.tolist(), parent.tolist(), strict=True))
    arity = web.schema_.arities
    checked, probabilities = 0, web._derived.probabilities
    for t in range(4):
        k, begin = int(arity[t]), int(forest.stat_start[t])
        for node in range(int(forest.roots[t]), int(forest.roots[t + 1])):
            codes = slice(
                begin + (node - forest.roots[t]) * k, begin + (node - forest.roots[t] + 1) * k
            )
            counts = forest.stats[codes]
            assert abs(probabilities[codes].sum() - 1) < 1e-12
            if counts.sum() == 0:
                first = begin + (above[node] - forest.roots[t]) * k
                expected = probabilities[first : first + k]
                np.testing.assert_array_equal(probabilities[codes], expected)
                checked += 1
    assert checked > 10


class TestBaskets:
    web = tacit.DependencyNetwork().fit(
        {
            "home": [True] * 80 + [False] * 20,
            "news": [True] * 40 + [False] * 60,
            "skin": ["light"] * 70 + ["dark"] * 30,
        }
    )

    def test_an_item_that_most_have_is_given_by_its_name(self):
        bare = self.web.recommend(["home"])
        pair = self.web.recommend([("home", True)])
        assert bare.equals(pair)
        assert not bare.equals(self.web.recommend([("home", False)]))

    def test_a_name_that_does_not_say_which_label(self):
        with pytest.raises(InputError, match="'skin' has the labels 'dark' and 'light'; say which"):
            self.web.recommend(["skin"])
