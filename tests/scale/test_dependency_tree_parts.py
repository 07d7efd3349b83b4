"""Dependency trees of records in partitions are those of all records in memory."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.strategies import JOBS, data
from tacit.network.density import LogLikelihood
from tacit.scale import of_tables, partition


def assert_same_tree(one, other, tolerance=1e-12):
    assert np.array_equal(one.edges_, other.edges_)
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=tolerance, atol=1e-15)
    np.testing.assert_allclose(one.intervals_, other.intervals_, rtol=tolerance, atol=1e-15)
    assert one.edge_usage_ == other.edge_usage_
    assert one.n_read_ == other.n_read_
    assert one.structure_.rounds == other.structure_.rounds
    for a, b in zip(one.structure_.nodes, other.structure_.nodes, strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(one.structure_.pairs, other.structure_.pairs, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_exact_tree_takes_one_pass(visits, n):
    parts = partition(visits, n)
    result = tacit.DependencyTree().fit(parts)
    assert parts.cost.passes == 1
    assert parts.cost.records == visits.n_records
    assert_same_tree(result, tacit.DependencyTree().fit(visits))
    assert result.feature_names_in_.tolist() == list(visits.schema.names)


@settings(max_examples=40)
@given(data(max_rows=12), st.data())
def test_any_cut_gives_the_same_exact_tree(records, draw):
    table = records.table()
    if not table.n_records or not table.n_columns or not records.total():
        return
    cuts = draw.draw(st.lists(st.integers(0, table.n_records), max_size=4))
    ends = sorted({0, table.n_records, *cuts})
    tables = [table.take(np.arange(a, b)) for a, b in pairwise(ends)]
    whole = tacit.DependencyTree().fit(table)
    assert_same_tree(tacit.DependencyTree().fit(of_tables(tables)), whole)


def test_partitions_of_one_record():
    table = tacit.Table({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1], "c": ["x", "x", "y", "x"]})
    parts = partition(table, 4)
    assert_same_tree(tacit.DependencyTree().fit(parts), tacit.DependencyTree().fit(table))


def test_wide_partitions_stay_sparse():
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(4000)]
    baskets = [list(rng.choice(names, 5, replace=False)) for _ in range(1200)]
    table = tacit.Table.from_baskets(baskets)
    parts = partition(table, 3)
    assert not isinstance(parts.pairs().stored, np.ndarray)
    assert_same_tree(tacit.DependencyTree().fit(parts), tacit.DependencyTree().fit(table))


def test_weights(visits):
    weights = np.random.default_rng(1).integers(0, 5, visits.n_records).astype(float)
    table = visits.with_weights(weights)
    assert_same_tree(
        tacit.DependencyTree().fit(partition(table, 4)), tacit.DependencyTree().fit(table)
    )


def test_missing_values_left_out():
    rng = np.random.default_rng(2)
    columns = rng.integers(0, 3, (400, 4)).cumsum(axis=1) % 3
    table = tacit.Table(
        {
            f"c{k}": [None if rng.random() < share else int(x) for x in columns[:, k]]
            for k, share in enumerate((0.0, 0.1, 0.7, 0.2))
        }
    )
    whole = tacit.DependencyTree(missing="ignore").fit(table)
    result = tacit.DependencyTree(missing="ignore").fit(partition(table, 3))
    assert_same_tree(result, whole)
    assert result.schema_ == whole.schema_


def test_threads_make_no_difference(visits):
    parts = partition(visits, 3)
    first = tacit.DependencyTree(n_jobs=1).fit(parts)
    for n_jobs in JOBS[1:3]:
        assert_same_tree(tacit.DependencyTree(n_jobs=n_jobs).fit(parts), first)


def test_score_is_one_reduction(visits):
    tree = tacit.DependencyTree().fit(visits)
    parts = partition(visits, 5)
    assert tree.score(parts) == pytest.approx(tree.score(visits), rel=1e-12)
    assert parts.cost.passes == 1
    weights = np.random.default_rng(1).random(visits.n_records)
    table = visits.with_weights(weights)
    assert tree.score(partition(table, 5)) == pytest.approx(tree.score(table), rel=1e-12)
    assert np.array_equal(tree.score_samples(parts), tree.score_samples(visits))
    assert np.array_equal(tree.predict(parts, "news"), tree.predict(visits, "news"))
    assert np.array_equal(tree.predict_proba(parts), tree.predict_proba(visits))
    again = pickle.loads(pickle.dumps(LogLikelihood(tree)))
    assert again.model.score(visits) == tree.score(visits)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"kinds": {"nowhere": "numeric"}}, {}, "kinds: there is no column 'nowhere'"),
        ({"discretise": {"news": 3}}, {}, "discretise: column 'news' holds Boolean, not numbers"),
        ({}, {"sample_weight": np.ones(20_000)}, "sample_weight.*tacit.scan"),
        ({"algorithm": "mist", "missing": "ignore"}, {}, "missing"),
    ],
)
def test_bad_input(visits, options, arguments, message):
    with pytest.raises(tacit.InputError, match=message):
        tacit.DependencyTree(**options).fit(partition(visits, 2), **arguments)


def test_weights_that_are_all_zero(visits):
    table = visits.with_weights(np.zeros(visits.n_records))
    tree = tacit.DependencyTree()
    with pytest.raises(tacit.InputError, match="all weights are zero"):
        tree.fit(partition(table, 3))
    assert not hasattr(tree, "edges_")
