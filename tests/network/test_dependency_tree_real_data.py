"""Chow–Liu trees of real data: the yardstick of density estimation, and a web site's visitors."""

from __future__ import annotations

import lzma

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import minimum_spanning_tree

from support.real_data import msweb
from tacit import DependencyTree, Table


def read_debd(folder, name):
    """Return train and test records of a set: 0 and 1."""
    parts = []
    for part in ("train", "test"):
        path = folder / "debd" / name / f"{name}.{part}.data.xz"
        with lzma.open(path, "rt") as file:
            parts.append(np.loadtxt(file, delimiter=",", dtype=np.int64))
    return parts


def chow_liu(train, test, smoothing):
    """Return edges, weight and test log-likelihood of a Chow–Liu tree of binary columns."""
    m, n = train.shape
    x = train.astype(float)
    p11 = x.T @ x / m
    p = x.mean(axis=0)
    information = np.zeros((n, n))
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        one, two = (p if a else 1 - p)[:, None], (p if b else 1 - p)[None, :]
        joint = (p11 if a and b else 0) + (p[:, None] - p11 if a and not b else 0)
        joint = joint + (p[None, :] - p11 if b and not a else 0)
        joint = joint + (1 - p[:, None] - p[None, :] + p11 if not a and not b else 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = joint * np.log(joint / (one * two))
        information += np.where(joint > 1e-12, part, 0)
    np.fill_diagonal(information, 0)
    mst = minimum_spanning_tree(-(information + 1e-9)).tocoo()
    edges = np.sort(np.column_stack([mst.row, mst.col]), axis=1)
    single = (np.array([m - train.sum(axis=0), train.sum(axis=0)]) + smoothing / 2) / (
        m + smoothing
    )
    logs = np.log(single[test, np.arange(n)])
    score = logs.sum(axis=1)
    for a, b in edges:
        pair = np.full((2, 2), smoothing / 4)
        np.add.at(pair, (train[:, a], train[:, b]), 1)
        score += np.log(pair / (m + smoothing))[test[:, a], test[:, b]] - logs[:, a] - logs[:, b]
    return edges[np.lexsort(edges.T[::-1])], information[tuple(edges.T)].sum(), score.mean()


# What is published for Chow–Liu trees, to two decimals, where it is known.
PUBLISHED = {"nltcs": -6.76, "jester": -58.23, "baudio": -44.37, "bnetflix": -60.25}


@pytest.mark.parametrize("name", ["nltcs", "jester", "baudio", "bnetflix", "mushrooms", "nips"])
def test_the_yardstick_of_density_estimation(shared_data, name):
    train, test = read_debd(shared_data, name)
    tree = DependencyTree().fit(Table(train, defaults=0))
    edges, weight, score = chow_liu(train, test, 1.0)
    assert tree.weights_.sum() == pytest.approx(weight)
    result = tree.score(Table(test, defaults=0))
    if np.array_equal(tree.edges_, edges):
        assert result == pytest.approx(score)
    else:  # pairs with the same information can be joined either way
        assert result == pytest.approx(score, abs=0.05)
    if name in PUBLISHED:
        assert result == pytest.approx(PUBLISHED[name], abs=0.0101)


def test_visitors_of_a_web_site(shared_data):
    train, test = msweb(shared_data)
    tree = DependencyTree().fit(train)
    pairs = set(tree.to_frame().head(10).select("from", "to").rows())
    assert ("Windows Family of OSs", "Windows 95") in pairs or (
        "Windows 95", "Windows Family of OSs",
    ) in pairs  # fmt: skip
    score = tree.score(test)
    dense = test.conform(train.schema).to_numpy()
    _, weight, expected = chow_liu(train.to_numpy(), dense, 1.0)
    assert tree.weights_.sum() == pytest.approx(weight)
    assert score == pytest.approx(expected, abs=0.01)
    assert_allclose(tree.score_samples(test.take([7, 8])), tree.score_samples(test)[7:9])


def test_census_with_numbers_and_labels(shared_data):
    names = [
        "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation",
        "relationship", "race", "sex", "gain", "loss", "hours", "country", "income",
    ]  # fmt: skip
    with lzma.open(shared_data / "adult" / "adult.data.xz") as file:
        text = file.read().replace(b", ", b",")
    frame = pl.read_csv(text, has_header=False, new_columns=names, null_values="?")
    train, test = frame[:20_000], frame[20_000:]
    numbers = ["age", "education_num", "hours"]
    kinds = dict.fromkeys(numbers, "numeric")
    tree = DependencyTree(kinds=kinds).fit(train.drop("fnlwgt", "gain", "loss"))
    edges = {frozenset(pair) for pair in tree.to_frame().select("from", "to").rows()}
    assert frozenset(("education", "education_num")) in edges
    assert frozenset(("marital", "relationship")) in edges
    rest = test.drop("fnlwgt", "gain", "loss")
    told = tree.predict(rest, "sex") == test["sex"].to_numpy()
    assert told.mean() > 0.75
    labels = DependencyTree().fit(train.select("marital", "relationship", "income"))
    income = labels.predict_proba(rest.select("marital", "relationship", "income"), "income")
    assert income.shape == (test.height, 2)
    assert np.isfinite(tree.score(rest))
