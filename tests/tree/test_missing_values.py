"""Missing values go to the side of a threshold that they are like."""

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import tacit
from support.strategies import assert_identical
from tacit import (
    DecisionGraphClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DependencyNetwork,
    Table,
)
from tacit.scale import partition

MOST = {"missing": None, "low": -1.0, "high": 2.0, "numbers": "none of them"}


def frame(seed, most="numbers", kind="real", n=2000):
    """Numbers, low ones of which mean "yes"; more than half of those are missing.

    `most` is the most common value, which tables do not store.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(2)
    if kind == "whole":
        x = np.clip(np.floor(2 * x), -4, 4)
    low = x < (0.3 if kind == "real" else 1)
    is_yes = low ^ (rng.random(n) < 0.05)
    missing = is_yes & (rng.random(n) < 0.6)
    if MOST[most] is None:
        missing |= is_yes & (rng.random(n) < 0.8)
    elif most != "numbers":
        x = np.where((rng.random(n) < 0.7) & (low == (MOST[most] < 0)), MOST[most], x)
        missing &= rng.random(n) < 0.3
    numbers = [None if gone else number for gone, number in zip(missing, x.tolist(), strict=True)]
    answer = np.where(is_yes, "yes", "no")
    return pl.DataFrame({"x": numbers, "noise": rng.integers(0, 5, n), "y": answer})


def features(data):
    return data.drop("y")


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("kind", ["real", "whole"])
def test_one_threshold_tells_missing_values_too(most, kind):
    train, test = frame(1, most, kind), frame(2, most, kind)
    tree = DecisionTreeClassifier(kappa=0.1, max_leaf_nodes=2)
    tree.fit(features(train), train["y"].to_numpy())
    accuracy = tree.score(features(test), test["y"].to_numpy())
    assert accuracy >= 0.9
    arrays = [features(data).to_numpy() for data in (train, test)]
    for peer in (SklearnTree(max_leaf_nodes=2), HistGradientBoostingClassifier(max_iter=20)):
        peer.fit(arrays[0], train["y"].to_numpy())
        assert accuracy >= peer.score(arrays[1], test["y"].to_numpy()) - 0.02
    by_table = DecisionTreeClassifier(kappa=0.1, max_leaf_nodes=2).fit(Table(train), "y")
    assert by_table.predict(test).tolist() == tree.predict(features(test)).tolist()
    assert tree.to_text().count("or missing") == 1
    lower, upper = tree.to_text().splitlines()[1:]
    assert lower.startswith("x <")
    assert "or missing: yes" in lower
    assert upper.startswith("x ≥")
    if most == "high":
        assert tree.nodes_.also.max() >= 0  # beside the range of low numbers


def test_missing_values_may_be_like_high_ones():
    data = frame(3)
    numbers = -data["x"].to_numpy()
    data = data.with_columns(x=pl.Series(numbers).fill_nan(None))
    tree = DecisionTreeClassifier(kappa=0.1, max_leaf_nodes=2)
    tree.fit(features(data), data["y"].to_numpy())
    assert "or missing: yes" in tree.to_text().splitlines()[-1]
    assert tree.score(features(data), data["y"].to_numpy()) > 0.9


def test_missing_values_may_be_like_no_others():
    rng = np.random.default_rng(0)
    x = rng.normal(size=900).round(3)
    y = np.where(x < 0, "low", "high").astype(object)
    y[:300] = "none"
    data = pl.DataFrame({"x": [None if k < 300 else v for k, v in enumerate(x.tolist())]})
    tree = DecisionTreeClassifier(kappa=0.1).fit(data, y)
    assert tree.score(data, y) == 1.0
    assert "x is missing: none" in tree.to_text()


@pytest.mark.parametrize("most", MOST)
def test_numbers_are_predicted(most):
    data = frame(4, most)
    target = np.where(data["y"] == "yes", 10.0, 0.0)
    tree = DecisionTreeRegressor(max_leaf_nodes=2).fit(features(data), target)
    assert tree.score(features(data), target) > 0.7
    assert "or missing" in tree.to_text()


@pytest.mark.parametrize("most", MOST)
def test_graphs_and_networks(most):
    data = frame(5, most)
    graph = DecisionGraphClassifier(kappa=0.1).fit(features(data), data["y"].to_numpy())
    assert graph.score(features(data), data["y"].to_numpy()) > 0.9
    network = DependencyNetwork(kappa=0.1, max_leaf_nodes=2).fit(Table(data).cut())
    tree = network.tree("y")
    assert tree.score(data, data["y"].to_numpy()) > 0.9
    # The forest's walk is that of the tree.
    forest = network.predict_proba(data, "y")
    np.testing.assert_allclose(forest, tree.predict_proba(data), rtol=1e-12)


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("prior", ["k2", "bdeu"])
@pytest.mark.parametrize("criterion", ["bayes_factor", "entropy"])
@pytest.mark.parametrize("kind", ["real", "whole"])
def test_partitions(most, prior, criterion, kind):
    table = Table(frame(6, most, kind))
    model = DecisionTreeClassifier(criterion, prior=prior, kappa=0.9, max_leaf_nodes=12)
    whole = model.fit(table, "y")
    parts = DecisionTreeClassifier(**model.get_params()).fit(partition(table, 4), "y")
    assert whole.n_leaves_ > 2
    for name in ("column", "low", "high", "also", "gain", "counts", "prior_fraction"):
        assert_identical(getattr(parts.nodes_, name), getattr(whole.nodes_, name))


@pytest.mark.parametrize("most", MOST)
def test_every_picture_says_where_they_go(most):
    data = frame(7, most)
    tree = DecisionTreeClassifier(kappa=0.1, max_leaf_nodes=2)
    tree.fit(features(data), data["y"].to_numpy())
    shown = [str(rule.conditions) for rule in tree.rules()]
    assert sum("or missing" in text for text in shown) == 1
    for picture in (tree.to_dot(), tree.to_svg(), tree.to_html()):
        assert picture.count("or missing") >= 1


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("kind", ["tree", "graph", "network"])
def test_files(most, kind, tmp_path):
    data = frame(8, most)
    if kind == "network":
        model = DependencyNetwork(kappa=0.1).fit(Table(data).cut())
        answer = lambda model: model.predict_proba(data, "y")  # noqa: E731
    else:
        made = {"tree": DecisionTreeClassifier, "graph": DecisionGraphClassifier}[kind](kappa=0.1)
        model = made.fit(features(data), data["y"].to_numpy())
        answer = lambda model: model.predict_proba(features(data))  # noqa: E731
    model.save(tmp_path / "model.tacit")
    assert_identical(answer(tacit.load(tmp_path / "model.tacit")), answer(model))


@pytest.mark.parametrize("more", ["low", "high"])
def test_where_nothing_was_missing_most_records_decide(more):
    # In the half with b, x is always known, and is told by a threshold.
    rng = np.random.default_rng(9)
    n = 1200
    b = np.arange(n) < n // 2
    x = rng.normal(size=n).round(3)
    sign = 1 if more == "low" else -1
    below = sign * x < 0.7
    y = np.where(b, np.where(below, "left", "right"), "neither")
    numbers = [v if known else None for v, known in zip(x.tolist(), b.tolist(), strict=True)]
    data = pl.DataFrame({"b": b, "x": numbers})
    tree = DecisionTreeClassifier(kappa=0.1).fit(data, y)
    assert tree.score(data, y) == 1.0
    asked = pl.DataFrame({"b": [True], "x": pl.Series([None], dtype=pl.Float64)})
    assert tree.predict(asked).tolist() == ["left"]
