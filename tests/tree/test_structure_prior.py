"""What a tree pays for having been searched for."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

import tacit
from tacit import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DependencyNetwork,
    InputError,
    Table,
)
from tacit.tree.growth.settings import split_prices

BINARY = {"binary": True, "complete": False}


def evidence(counts):
    """Return the marginal likelihood of class counts with a half of a record for each class."""
    total, k = counts.sum(axis=-1), counts.shape[-1]
    return (
        gammaln(counts + 0.5).sum(axis=-1)
        - k * math.lgamma(0.5)
        + math.lgamma(k / 2)
        - gammaln(total + k / 2)
    )


def mixed(n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = {f"b{k}": rng.integers(0, 2, n) for k in range(8)}
    frame |= {"colour": rng.choice(list("rgby"), n), "size": rng.integers(0, 50, n) / 2}
    y = (frame["b0"] & (frame["size"] > 12)) | (frame["colour"] == "r")
    return frame, np.where(rng.random(n) < 0.1, 1 - y, y)


def test_prices_of_columns():
    arities, ordered = np.array([2] * 7 + [1, 5, 5, 5]), np.array([0] * 8 + [0, 1, 2], np.uint8)
    n = 10  # a column of one label cannot be split
    prices = np.exp(split_prices(arities, ordered, BINARY, 0))
    np.testing.assert_allclose(prices[[0, 8, 9, 10]], [n, n * 5, n * 4, n * 4])
    both = np.exp(split_prices(arities, ordered, {"binary": True, "complete": True}, 0))
    np.testing.assert_allclose(both[[0, 8, 9, 10]], [n, n * 6, n * 5, n * 4])
    complete = np.exp(split_prices(arities, ordered, {"binary": False, "complete": True}, 0))
    np.testing.assert_allclose(complete[[0, 8, 9, 10]], [n, n, n, n * 4])
    np.testing.assert_allclose(np.exp(split_prices(arities, ordered, BINARY, 1))[8], (n - 1) * 5)
    missing = np.where(ordered > 0, ordered + 4, 0).astype(np.uint8)  # with either side
    np.testing.assert_allclose(np.exp(split_prices(arities, missing, BINARY, 0))[9:], n * 7)
    np.testing.assert_allclose(np.exp(split_prices(arities[:3], ordered[:3], BINARY, 0)), 10)


def asked_about(model, frame):
    names = list(frame)
    return [names[column] for column in model.nodes_.column[model.nodes_.column >= 0]]


def test_the_score_of_a_graph_pays_for_its_splits():
    frame, y = mixed()
    model = DecisionGraphClassifier().fit(frame, y)
    splits = {"colour": 4, "size": len(np.unique(frame["size"])) - 1}
    asked = asked_about(model, frame)
    assert {"b0", "size", "colour"} <= set(asked)
    paid = sum(math.log(10 * splits.get(name, 1)) for name in asked)
    nodes = model.nodes_
    assert model.score_ == pytest.approx(evidence(nodes.counts[nodes.leaves]).sum() - paid)


def test_a_tree_pays_for_what_its_leaves_could_ask_about():
    frame, y = mixed()
    tree = DecisionTreeClassifier().fit(frame, y)
    nodes = tree.nodes_
    split = nodes.column >= 0
    assert {"b0", "size", "colour"} <= set(asked_about(tree, frame))
    assert tree.score_ == pytest.approx(evidence(nodes.counts[0]) + nodes.gain[split].sum())
    paid = evidence(nodes.counts[nodes.leaves]).sum() - tree.score_
    everything = sum(
        math.log(10 * {"colour": 4, "size": 49}.get(name, 1)) for name in asked_about(tree, frame)
    )
    assert math.log(10) * split.sum() <= paid < everything


def test_rare_columns_cost_nothing_where_they_could_not_pay():
    # A thousand columns that hold one record each cannot tell anything about a class.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    told = np.where(rng.random(1000) < 0.8, y, 1 - y)
    alone = DecisionTreeClassifier().fit(told[:, None], y)
    among = DecisionTreeClassifier().fit(np.column_stack((told, np.eye(1000, dtype=int))), y)
    assert among.score_ == pytest.approx(alone.score_)
    assert among.n_leaves_ == 2


def test_the_price_is_that_of_the_columns_that_could_pay():
    # The smaller side of a column may hold records of the rarer class only: whether that would pay
    # depends on its weight and on how many columns there are that could.
    n, ones = 400, 150
    y = np.arange(n) < ones
    weights = np.repeat([3, 6, 9, 12, 60, 200], 20)
    X = np.zeros((n, len(weights)), int)
    rng = np.random.default_rng(1)
    for column, weight in enumerate(weights):
        X[rng.permutation(n)[:weight], column] = 1
    X[:ones, -1], X[ones:, -1] = 1, 0
    whole = evidence(np.array([n - ones, ones]))

    def reach(w):
        inside = min(w, ones)
        sides = np.array([[w - inside, inside], [n - ones - w + inside, ones - inside]])
        return evidence(sides).sum() - whole

    n_able = next(
        k
        for k in range(1, 200)
        if sum(reach(w) > math.log(max(k, 10)) for w in [*weights[:-1], ones]) <= k
    )
    assert 40 < n_able < len(weights)
    tree = DecisionTreeClassifier(max_leaf_nodes=2).fit(X, y)
    gain = evidence(np.array([[n - ones, 0], [0, ones]])).sum() - whole
    assert tree.nodes_.gain[0] == pytest.approx(gain - math.log(n_able))


def test_a_graph_never_scores_less_than_the_tree():
    for seed in range(5):
        frame, y = mixed(seed=seed)
        for kappa in (0.1, 0.5):
            tree, graph = (
                kind(kappa=kappa).fit(frame, y)
                for kind in (DecisionTreeClassifier, DecisionGraphClassifier)
            )
            assert graph.score_ >= tree.score_ - 1e-9


def test_numbers_pay_too():
    frame, y = mixed()
    number = y * 3.0 + np.random.default_rng(1).normal(size=len(y))
    paid = DecisionTreeRegressor("bayes_factor").fit(frame, number)
    free = DecisionTreeRegressor("bayes_factor", kappa=1.0).fit(frame, number)
    assert 1 < paid.n_leaves_ < free.n_leaves_
    gains = paid.nodes_.gain[paid.nodes_.column >= 0].sum()
    stump = DecisionTreeRegressor("bayes_factor", max_leaf_nodes=1).fit(frame, number)
    assert paid.score_ == pytest.approx(stump.score_ + gains)


@pytest.mark.parametrize("criterion", ["bayes_factor", "bic"])
def test_noise_in_wide_tables_is_left_alone(criterion):
    noise = np.random.default_rng(0).integers(0, 2, (300, 150))
    paid = DependencyNetwork(criterion).fit(noise)
    free = DependencyNetwork(criterion, kappa=0.1).fit(noise)
    assert (paid.n_leaves_ > 1).mean() < 0.08
    assert (free.n_leaves_ > 1).mean() > 0.25


def test_the_tree_of_a_network_is_the_tree():
    frame, y = mixed()
    table = Table(frame | {"y": y}, discretise="auto")
    network = DependencyNetwork().fit(table)
    tree = DecisionTreeClassifier().fit(table, "y")
    assert network.tree("y").to_text() == tree.to_text()
    assert network.tree("y").score_ == pytest.approx(tree.score_)
    network.set_params(splits="complete", kappa=0.1)  # nothing is learnt by that
    assert network.tree("y").score_ == pytest.approx(tree.score_)


def test_saved_models_know_what_they_paid(tmp_path):
    frame, y = mixed()
    for model in (DecisionTreeClassifier(), DependencyNetwork(splits="both")):
        network = isinstance(model, DependencyNetwork)
        model.fit(Table(frame | {"y": y}, discretise="auto"), *(() if network else ("y",)))
        model.save(tmp_path / "model.tacit")
        loaded = tacit.load(tmp_path / "model.tacit")
        assert loaded.get_params()["kappa"] == "auto"
        before, after = (m.tree("y") if network else m for m in (model, loaded))
        assert after.score_ == before.score_


@pytest.mark.parametrize("kappa", ["none", 0, 1.5, None, math.nan])
def test_bad_kappas(kappa):
    with pytest.raises(InputError, match=r"kappa must be a finite number .*; or \"auto\""):
        DecisionTreeClassifier(kappa=kappa).fit([[0], [1]], [0, 1])
