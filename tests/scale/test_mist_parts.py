"""MIST over partitions reads the records that it reads in memory, and finds the same."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles.structure import discrete_tree
from support.partitions import on_threads
from support.strategies import JOBS, data
from tacit.network.structure.random_order import RandomOrder
from tacit.network.structure.sampled_partitions import FirstSample, PairSamples
from tacit.scale import Partition, of_tables, partition
from tacit.statistic import Statistic


def mist(**options):
    return tacit.DependencyTree("mist", **({"initial_sample": 500, "random_state": 0} | options))


def assert_same(one, other):
    assert np.array_equal(one.edges_, other.edges_)
    assert np.array_equal(one.weights_, other.weights_)
    assert np.array_equal(one.intervals_, other.intervals_)
    assert one.edge_usage_ == other.edge_usage_
    assert one.n_read_ == other.n_read_
    assert one.structure_.rounds == other.structure_.rounds
    for name in ("nodes", "pairs"):
        both = getattr(one.structure_, name), getattr(other.structure_, name)
        assert all(np.array_equal(a, b) for a, b in zip(*both, strict=True))


@pytest.fixture(scope="module")
def binary():
    return discrete_tree(1, 12_000, 16)


@pytest.fixture(scope="module")
def labels():
    return discrete_tree(2, 8000, 9, arity=4, coupling=0.35)


@pytest.mark.parametrize("n", [1, 3, 16])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"guarantee": "decision"},
        {"tree_edges": "exact"},
        {"interval": "hoeffding"},
        {"epsilon": 0.02},
        {"initial_sample": 37},
        {"initial_sample": 7999},
        {"random_state": 5},
    ],
    ids=str,
)
def test_the_same_as_in_memory(labels, n, options):
    assert_same(mist(**options).fit(partition(labels, n)), mist(**options).fit(labels))


@pytest.mark.parametrize("n_jobs", JOBS[1:3])
def test_threads_make_no_difference(binary, n_jobs):
    assert_same(mist(n_jobs=n_jobs).fit(partition(binary, 5)), mist().fit(binary))


@settings(max_examples=40)
@given(data(max_rows=24, weights=None, with_chosen=False), st.integers(0, 99), st.data())
def test_any_cut(records, seed, draw):
    table = records.table()
    cuts = draw.draw(st.sets(st.integers(0, table.n_records), max_size=5))
    ends = sorted({0, table.n_records, *cuts})
    tables = [table.take(np.arange(a, b)) for a, b in pairwise(ends)]
    options = {"initial_sample": 2, "random_state": seed}
    assert_same(mist(**options).fit(of_tables(tables)), mist(**options).fit(table))


def test_partitions_of_one_record():
    table = discrete_tree(3, 60, 5)
    options = {"initial_sample": 10}
    assert_same(mist(**options).fit(partition(table, 60)), mist(**options).fit(table))


def test_a_sorted_file_is_no_different(binary):
    """Partitions that are no random samples of the records are no excuse."""
    order = np.lexsort([binary.codes(c) for c in range(4)])
    table = tacit.Table.concat([binary.take(order[k : k + 1000]) for k in range(0, 12_000, 1000)])
    exact = tacit.DependencyTree("exact").fit(table)
    assert np.array_equal(mist().fit(partition(table, 12)).edges_, exact.edges_)


def test_a_label_that_one_partition_has(labels):
    codes = np.stack([labels.codes(c) for c in range(9)], axis=1)
    codes[7990:, 3] = 7
    table = tacit.Table(codes)
    assert_same(mist().fit(partition(table, 8)), mist().fit(table))


def test_a_pass_reads_ahead_only_where_that_costs_little(binary):
    parts = partition(binary, 4)
    result = mist().fit(parts)
    assert len(result.structure_.rounds) > 2
    assert parts.cost.passes < len(result.structure_.rounds)
    assert parts.cost.passes == 2


def test_what_is_decided_early_ends_the_reading():
    rng = np.random.default_rng(0)
    codes = (rng.random((20_000, 4)) < 0.5).astype(int)
    codes[:, 1] = np.where(rng.random(20_000) < 0.95, codes[:, 0], codes[:, 1])
    codes[:, 2] = np.where(rng.random(20_000) < 0.9, codes[:, 1], codes[:, 2])
    codes[:, 3] = np.where(rng.random(20_000) < 0.85, codes[:, 2], codes[:, 3])
    parts = partition(tacit.Table(codes), 10)
    result = mist(initial_sample=9000).fit(parts)
    assert len(result.structure_.rounds) == 1
    assert parts.cost.passes == 1
    assert result.n_read_ == 9000


def test_partitions_without_a_sampled_record_are_not_loaded():
    table = discrete_tree(4, 6000, 12)
    parts = partition(table, 600)
    result = mist(initial_sample=60).fit(parts)
    assert parts.cost.passes > 1
    assert parts.cost.partitions < 600 * parts.cost.passes
    assert parts.cost.records == 10 * parts.cost.partitions
    assert_same(result, mist(initial_sample=60).fit(table))


def test_few_records_are_all_read(labels):
    parts = partition(labels, 4)
    result = mist(initial_sample=8000).fit(parts)
    assert parts.cost.passes == 1
    assert result.edge_usage_ == 1
    assert_same(result, mist(initial_sample=8000).fit(labels))


def test_statistics_are_small_and_travel(labels):
    order, pairs = RandomOrder(8000, 3), np.array([[0, 1], [2, 8]])
    part = Partition(labels, 0, 0, 1)
    first = FirstSample(order, (0, 500), labels.schema.n_values)
    later = PairSamples(order, ((500, 1000), (1000, 2000)), pairs, 18, labels.schema.n_values)
    for statistic in (first, later):
        text = pickle.dumps(statistic)
        assert len(text) < 2000
        result = pickle.loads(text).partial(part)
        assert sum(array.nbytes for array in result) == statistic.n_bytes
    rows = np.sort(order.numbers(500, 1000))
    stored = labels.take(rows).pairs(layout="dense").stored
    cells = np.concatenate([stored[0:3, 3:6].ravel(), stored[6:9, 24:27].ravel()])
    assert np.array_equal(later.partial(part)[1], cells)


def test_weights_are_refused(binary):
    parts = partition(binary.with_weights(np.ones(12_000)), 3)
    tree = mist()
    with pytest.raises(tacit.InputError, match="takes no weights"):
        tree.fit(parts)
    assert not hasattr(tree, "edges_")


def test_on_a_cluster(labels):
    parts = partition(labels, 6)
    with on_threads():
        tree = mist(initial_sample=60).fit(parts)
    assert_same(tree, mist(initial_sample=60).fit(labels))


def test_some_of_the_partitions(labels):
    parts = partition(labels, 5)
    numbers = parts.reduce(_Indices(), only=[1, 3])
    assert numbers == [(1, 1600), (3, 4800)]
    assert parts.cost.partitions == 2
    some = parts._metadata.partitions.only([1, 3])
    assert [some.identity(k) for k in range(2)] == [(some.home[0], 1), (some.home[0], 3)]
    assert some.key != some.home[0]


class _Indices(Statistic):
    def partial(self, part):
        return [(part.index, part.first)]

    def merge(self, one, other):
        return one + other
