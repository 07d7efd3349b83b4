"""Decision graphs: trees whose leaves may merge."""

import numpy as np
import pytest

from tacit import DecisionGraphClassifier, DecisionTreeClassifier, InputError, Table


def parity(n_columns, n_records=400, noise=0.0):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_records, n_columns))
    X[: n_records // 3, 0] = 1  # so that a first split gains something
    y = X.sum(axis=1) % 2
    return Table(X), np.where(rng.random(n_records) < noise, 1 - y, y)


def test_parity_is_a_small_graph():
    table, y = parity(2)
    graph = DecisionGraphClassifier(kappa=0.5).fit(table, y)
    tree = DecisionTreeClassifier(kappa=0.5).fit(table, y)
    assert tree.n_leaves_ == 4
    assert graph.n_leaves_ == 2
    assert graph.score_ > tree.score_
    assert graph.score(table, y) == 1.0
    assert np.bincount(graph.nodes_.children).max() > 1


@pytest.mark.parametrize("criterion", ["bayes_factor", "bic"])
@pytest.mark.parametrize("splits", ["binary", "complete", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_never_lower_than_that_of_the_tree(criterion, splits, seed):
    rng = np.random.default_rng(seed)
    table = Table(rng.integers(0, 4, (400, 5)))
    codes = table.to_numpy()
    y = (codes[:, 0] + (codes[:, 1] > 1) + rng.integers(0, 2, 400)) % 3
    how = {"splits": splits, "kappa": 0.2}  # with "auto" a tree's splits pay less
    tree = DecisionTreeClassifier(criterion, **how).fit(table, y)
    graph = DecisionGraphClassifier(criterion, **how).fit(table, y)
    assert graph.score_ >= tree.score_ - 1e-9
    leaves = graph.apply(table)
    counts = np.zeros_like(graph.nodes_.counts)
    np.add.at(counts, (leaves, y), 1)
    mask = graph.nodes_.leaves
    np.testing.assert_array_equal(counts[mask], graph.nodes_.counts[mask])


def test_text_refers_to_what_is_said_already():
    table, y = parity(2)
    graph = DecisionGraphClassifier(kappa=0.5).fit(table, y)
    text = graph.to_text()
    assert text.count("→ leaf") == 2
    assert text.count(": leaf") == 2
    for rule in graph.rules():
        assert len(rule.conditions) == 2
        assert " or " in str(rule)
    assert graph.to_frame().height == 2


def test_numbers_of_frames():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, 600)
    y = (x > 1) & (x < 2)
    graph = DecisionGraphClassifier().fit({"x": x}, y)
    assert graph.n_leaves_ == 2
    [outside] = [rule for rule in graph.rules() if not rule.prediction]
    assert len(outside.conditions) == 2
    assert graph.score({"x": x}, y) == 1.0


def test_only_scores_that_pay_for_parameters():
    with pytest.raises(InputError, match="criterion must be 'bayes_factor' or 'bic', got 'gini'"):
        DecisionGraphClassifier("gini").fit([[0], [1]], [0, 1])
