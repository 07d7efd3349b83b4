"""Records drawn from trees: the paper's data."""

import numpy as np
import pytest
from scipy import stats

from tacit.datasets import make_dependency_tree


def test_the_tree_has_a_fixed_fan_out():
    edges = make_dependency_tree(1, 14, fan_out=3).edges
    assert edges[:, 1].tolist() == list(range(1, 14))
    assert np.bincount(edges[:, 0]).tolist() == [3, 3, 3, 3, 1]
    assert make_dependency_tree(5, 1).edges.shape == (0, 2)


def test_numbers_are_those_of_the_parent_and_some_more():
    X, edges = make_dependency_tree(20_000, 10, spread=0.5, random_state=1)
    assert X.shape == (20_000, 10)
    added = X[:, edges[:, 1]] - X[:, edges[:, 0]]
    assert np.allclose(added.std(axis=0), 0.5, atol=0.015)
    assert np.abs(np.corrcoef(added, rowvar=False) - np.eye(9)).max() < 0.035
    assert stats.kstest(X[:, 0], "norm").pvalue > 1e-3


def test_binary_columns_follow_their_parents():
    table, edges = make_dependency_tree(20_000, 8, kind="binary", coupling=0.3, random_state=2)
    codes = table.to_numpy()
    assert np.allclose(codes.mean(axis=0), 0.5, atol=0.02)
    for parent, child in edges.tolist():
        above = codes[:, parent] == 1
        assert codes[above, child].mean() == pytest.approx(0.8, abs=0.02)
        assert codes[~above, child].mean() == pytest.approx(0.2, abs=0.02)
    equal = make_dependency_tree(100, 4, kind="binary", coupling=0.5).data.to_numpy()
    assert (equal == equal[:, :1]).all()


@pytest.mark.parametrize("kind", ["numeric", "binary"])
def test_noise_is_independent_with_the_same_spread(kind):
    data, edges = make_dependency_tree(20_000, 5, kind=kind, noise=1.0, random_state=3)
    X = data if kind == "numeric" else data.to_numpy()
    assert np.abs(np.corrcoef(X, rowvar=False) - np.eye(5)).max() < 0.035
    half = make_dependency_tree(20_000, 5, kind=kind, noise=0.5, random_state=3).data
    whole = make_dependency_tree(20_000, 5, kind=kind, random_state=3).data
    pick = (lambda d: d) if kind == "numeric" else (lambda d: d.to_numpy())
    (a, b) = edges[0]
    weak, strong = (np.corrcoef(pick(d), rowvar=False)[a, b] for d in (half, whole))
    assert weak == pytest.approx(strong / 2, abs=0.03)
    assert np.allclose(pick(half).std(axis=0), pick(whole).std(axis=0), rtol=0.05)


def test_a_seed_gives_the_same_records():
    first, again = (make_dependency_tree(50, 5, random_state=7).data for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, make_dependency_tree(50, 5, random_state=8).data)
