"""Visits to a web site: what the network predicts of visitors that it has not seen."""

import numpy as np
import polars as pl
import pytest

import tacit
from support.real_data import msweb
from tacit import DependencyNetwork


@pytest.fixture(scope="module")
def visits(shared_data):
    return msweb(shared_data)


@pytest.fixture(scope="module")
def web(visits):
    return DependencyNetwork(n_jobs=2).fit(visits[0])


def test_the_strongest_arcs_are_those_one_would_expect(web):
    pairs = set(web.strongest(10).select("predictor", "target").iter_rows())
    assert ("Windows 95", "Windows Family of OSs") in pairs
    assert ("Knowledge Base", "Support Desktop") in pairs


def test_conditional_likelihood_beats_columns_alone(web, visits):
    train, test = visits
    alone = DependencyNetwork(max_leaf_nodes=1).fit(train)
    assert alone.score(test) < -11
    assert alone.score(test) + 2 < web.score(test) < 0


def test_recommendations_beat_popularity(web, visits):
    """All but one: each test visitor with two areas or more hides one, and ten are guessed."""
    train, test = visits
    test = test.conform(train.schema)
    lengths = np.diff(test.indptr)
    kept = test.take(lengths >= 2)
    rng = np.random.default_rng(0)
    hidden = kept.indptr[:-1] + rng.integers(0, np.diff(kept.indptr))
    names = np.array(train.schema.names, dtype=object)
    answers = pl.DataFrame(
        {"record": np.arange(len(kept)), "item": names[kept.values[hidden]].tolist()}
    )
    mask = np.ones(len(kept.values), np.bool_)
    mask[hidden] = False
    indptr = kept.indptr - np.arange(len(kept) + 1)
    baskets = tacit.Table.from_stored(train.schema, indptr, kept.values[mask])
    popular = DependencyNetwork(max_leaf_nodes=1).fit(train)  # leaves that know shares only
    recall = [
        len(model.recommend(baskets, n=10).join(answers, on=["record", "item"])) / len(kept)
        for model in (web, popular)
    ]
    assert recall[0] > 0.6
    assert recall[0] > recall[1] + 0.1
