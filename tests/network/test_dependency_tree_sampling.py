"""Records drawn from dependency trees have the distribution that they were drawn from."""

import numpy as np
import polars as pl
from numpy.testing import assert_allclose
from scipy import stats

import tacit
from oracles.density import tree_joint
from tacit import DependencyTree


def test_discrete_records_have_their_probabilities():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (60, 1)) + rng.integers(0, 2, (60, 3))
    codes = np.minimum(codes, 2)
    tree = DependencyTree().fit(codes)
    joint = tree_joint(codes, [3, 3, 3], tree.edges_.tolist(), 1.0)
    drawn = tree.sample(20_000, random_state=1)
    assert isinstance(drawn, tacit.Table)
    assert drawn.schema == tree.schema_
    seen = np.zeros((3, 3, 3))
    np.add.at(seen, tuple(drawn.to_numpy().T), 1)
    assert stats.chisquare(seen.ravel(), 20_000 * joint.ravel()).pvalue > 1e-3


def test_impossible_labels_are_not_drawn():
    tree = DependencyTree(smoothing=0).fit(
        pl.DataFrame(
            {"a": ["x", "y", "x"], "b": ["u", "v", "u"]},
            schema={"a": pl.Enum(["w", "x", "y", "z"]), "b": pl.Enum(["v", "u"])},
        )
    )
    frame = tree.sample(500, random_state=0).to_frame()
    assert set(frame.rows()) == {("x", "u"), ("y", "v")}


def test_numbers_have_their_moments():
    X = np.random.default_rng(2).normal(size=(200, 4)).cumsum(axis=1) * [1, 10, 100, 0.1] + 5
    tree = DependencyTree().fit(X)
    drawn = tree.sample(50_000, random_state=3).to_numpy()
    assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.03 * X.std(axis=0).max())
    assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.02)
    for a, b in tree.edges_:
        expected = np.corrcoef(X[:, a], X[:, b])[0, 1]
        assert abs(np.corrcoef(drawn[:, a], drawn[:, b])[0, 1] - expected) < 0.02
    # The mean log-density of what is drawn is minus the entropy.
    rho = np.array([np.corrcoef(X[:, a], X[:, b])[0, 1] for a, b in tree.edges_])
    entropy = np.log(X.std(axis=0)).sum() + 2 * np.log(2 * np.pi * np.e)
    entropy += 0.5 * np.log(1 - rho**2).sum()
    assert abs(tree.score(drawn) + entropy) < 0.03


def test_mixed_records_are_learnt_back():
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 3, 500)
    size = 2.0 * kind + rng.normal(size=500)
    frame = pl.DataFrame(
        {"size": size, "kind": np.array(list("abc"))[kind], "old": size + rng.normal(size=500) > 2}
    )
    tree = DependencyTree().fit(frame)
    drawn = tree.sample(30_000, random_state=5)
    assert drawn.schema == frame.schema
    again = DependencyTree().fit(drawn)
    assert np.array_equal(again.edges_, tree.edges_)
    for kind in "abc":
        one, other = (f.filter(pl.col("kind") == kind)["size"] for f in (drawn, frame))
        assert abs(one.mean() - other.mean()) < 0.1
        assert abs(one.std() - other.std()) < 0.1
    told = tree.marginals()["old"][True]
    assert abs(drawn["old"].mean() - told) < 0.01
    assert abs(tree.score(drawn) - again.score(drawn)) < 0.01


def test_seeds():
    tree = DependencyTree().fit(np.random.default_rng(0).normal(size=(50, 3)))
    first, again, other = (tree.sample(4, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    generator = np.random.default_rng(9)
    tree.sample(2, random_state=generator)
    assert tree.sample(1).shape == (1, 3)
