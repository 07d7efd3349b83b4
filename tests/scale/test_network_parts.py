"""Dependency networks of records in partitions are those of all records in memory, to the bit."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.partitions import counting, cut_tables, growth
from support.strategies import assert_identical
from support.trees import assert_same_forest
from tacit import DependencyNetwork, InputError
from tacit.scale import Predict, partition
from tacit.tree.partitioned import level_growth


@pytest.fixture(scope="module")
def network(visits):
    return DependencyNetwork().fit(visits)


def assert_same(network, expected):
    assert_same_forest(network, expected)
    assert network.forest_.unit == expected.forest_.unit
    assert network.schema_ == expected.schema_
    assert network.to_frame().equals(expected.to_frame())


@settings(max_examples=60)
@given(cut_tables(), growth(), st.booleans())
def test_any_cut_gives_the_same_network(both, how, sparse):
    table, parts = both
    make = partial(DependencyNetwork, **how)
    expected = make().fit(table)
    with counting(sparse):
        network = make().fit(parts)
    assert_same(network, expected)
    assert_identical(network.predict_proba(parts), expected.predict_proba(table))
    if np.isfinite(expected.score(table)):
        assert network.score(parts) == pytest.approx(expected.score(table), rel=1e-12)


def test_all_trees_share_passes(visits, network):
    parts = partition(visits, 4)
    assert_same(DependencyNetwork().fit(parts), network)
    deepest = max(network.tree(name).depth_ for name in visits.schema.names)
    assert deepest > 20
    assert parts.cost.passes <= deepest // 2


def test_sparse_counts(visits, network):
    with counting(sparse=True):
        assert_same(DependencyNetwork().fit(partition(visits, 4)), network)


def test_targets_in_batches(monkeypatch, visits, network):
    each = 8 * 2 * visits.schema.n_values
    monkeypatch.setattr(level_growth, "MOST_BYTES", 10 * each)
    parts = partition(visits, 4)
    assert_same(DependencyNetwork().fit(parts), network)
    assert parts.cost.passes > 60


def test_weights_and_threads(visits):
    table = visits.with_weights(np.random.default_rng(0).random(visits.n_records))
    for criterion in ("bayes_factor", "gini"):
        make = partial(DependencyNetwork, criterion, max_leaf_nodes=6)
        whole = make().fit(table)
        for n_jobs in (1, 2):
            assert_same(make(n_jobs=n_jobs).fit(partition(table, 3)), whole)
        assert whole.score(partition(table, 5)) == pytest.approx(whole.score(table), rel=1e-12)


def test_prediction(visits, network):
    parts = partition(visits, 6)
    assert_identical(network.score_samples(parts), network.score_samples(visits))
    for arguments, options in ((("news",), {}), ((), {"column": 3}), ((), {})):
        answer = network.predict_proba(parts, *arguments, **options)
        assert_identical(answer, network.predict_proba(visits, *arguments, **options))
    tree = network.tree("news")
    assert_identical(tree.predict(parts), tree.predict(visits))
    with pytest.raises(InputError, match="basket: those of a partitioned table"):
        network.recommend(parts)
    some = next(iter(parts.map(Predict(network, "recommend", {"n": 2}))))
    assert some["rank"].max() == 2


def test_score_is_one_pass(visits, network):
    parts = partition(visits, 6)
    assert network.score(parts) == pytest.approx(network.score(visits), rel=1e-12)
    assert parts.cost.passes == 1


def test_bad_input(visits):
    nothing = visits.with_weights(np.zeros(visits.n_records))
    model = DependencyNetwork()
    with pytest.raises(InputError, match="all weights are zero"):
        model.fit(partition(nothing, 2))
    with pytest.raises(InputError, match="a minimum of 2"):
        model.fit(partition(visits, 2).select(["news"]))
    with pytest.raises(InputError, match="sample_weight"):
        model.fit(partition(visits, 2), sample_weight=np.ones(20_000))
    with pytest.raises(InputError, match="discretise: column 'news' holds Boolean"):
        DependencyNetwork(discretise={"news": 3}).fit(partition(visits, 2))
    assert not hasattr(model, "forest_")
    network = DependencyNetwork().fit(visits)
    with pytest.raises(InputError, match="all weights are zero"):
        network.score(partition(nothing, 3))
