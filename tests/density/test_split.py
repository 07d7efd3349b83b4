"""Clusters that are divided: where EM starts from, where they are drawn to, what is chosen."""

from itertools import pairwise

import numpy as np
import pytest

from support.tree_mixtures import random_clusters
from tacit import InputError, Table, TreeMixture
from tacit.density.blocks import Blocks
from tacit.density.clusters import Prior, Tree, cell_counts, expect, maximise
from tacit.density.layout import TreeLayout
from tacit.density.learn import Fit
from tacit.density.split import sizes_of, split_clusters
from tacit.scale import partition


def a_fit(table, n_clusters, seed=0):
    """Return random clusters of a chain of columns as if EM had come to them."""
    layout = TreeLayout(Blocks.single(table.schema), np.arange(len(table.schema)) - 1)
    group = random_clusters(np.random.default_rng(seed), layout, n_clusters)
    tree = Tree(layout, Prior(2.0, group.cells[:, 0]))
    return Fit([tree], [group], [expect(group, layout.records(table))])


@pytest.mark.parametrize("splits", range(8))
@pytest.mark.parametrize("n", [1, 2, 5, 12, 64, 100])
def test_sizes_rise_to_the_number_asked_for_and_at_most_double(n, splits):
    sizes = sizes_of(n, splits)
    assert sizes[-1] == n
    assert all(a < b <= 2 * a for a, b in pairwise(sizes))
    assert len(sizes) <= splits + 1
    assert sizes[0] == -(-n // 2**splits)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "more"), [(1, 1), (3, 1), (4, 4)])
def test_halves_share_what_their_cluster_had(n, more, weighted):
    rng = np.random.default_rng(1)
    table = Table(rng.integers(0, 3, (5000, 4)))
    if weighted:
        table = table.with_weights(rng.integers(1, 4, table.n_records).astype(float))
    fit = a_fit(table, n)
    group, expected = fit.groups[0], fit.expected[0]
    tree, start = split_clusters(fit, table, n + more, np.random.default_rng(2))
    divided = np.argsort(-group.weights, kind="stable")[:more]
    parents = np.sort(np.concatenate([np.arange(n), divided]))
    np.testing.assert_array_equal(tree.prior.of_clusters, group.cells[:, parents])
    for k in range(n):
        halves = parents == k
        assert start.totals[halves].sum() == pytest.approx(expected.totals[k])
        np.testing.assert_allclose(
            start.stored[:, halves].sum(axis=1), expected.stored[:, k], rtol=1e-9, atol=1e-9
        )
        if halves.sum() == 2:  # of different records
            one, other = (cell_counts(tree.layout, start)[:, halves] / start.totals[halves]).T
            assert np.abs(one - other).max() > 0.05
    assert start.weight == pytest.approx(expected.weight)


def test_records_go_to_the_nearer_seed():
    """Two kinds of records that differ in all columns are divided, whichever are drawn."""
    kinds = np.repeat([[0] * 12, [1] * 12], 50, axis=0)
    flips = np.random.default_rng(0).random(kinds.shape) < 0.02
    table = Table(np.where(flips, 1 - kinds, kinds))
    found = []
    for seed in range(20):
        _, start = split_clusters(a_fit(table, 1), table, 2, np.random.default_rng(seed))
        halves = start.stored / start.totals
        found.append(np.abs(halves[:, 0] - halves[:, 1])[: len(table.schema)].min())
    # Seeds are of different kinds half of the time.
    assert 4 <= sum(least > 0.8 for least in found) <= 16


def test_the_prior_of_a_half_is_its_cluster():
    table = Table(np.random.default_rng(0).integers(0, 2, (300, 3)))
    fit = a_fit(table, 2)
    tree, start = split_clusters(fit, table, 4, np.random.default_rng(0))
    strong = tree._replace(prior=tree.prior._replace(strength=1e9))
    np.testing.assert_allclose(
        maximise([strong], [start])[0].cells, fit.groups[0].cells[:, [0, 0, 1, 1]], atol=1e-5
    )
    counts = cell_counts(tree.layout, start) + 2.0 * tree.prior.of_clusters
    np.testing.assert_allclose(
        maximise([tree], [start])[0].cells, counts / tree.layout.row_sums(counts), rtol=1e-9
    )


def species(n, seed):
    """Draw records of 24 kinds, each of which allows few labels in each of 12 columns."""
    allowed = np.random.default_rng(0).integers(0, 6, (24, 12, 2))
    rng = np.random.default_rng(seed)
    kind, choice = rng.integers(0, 24, n), rng.integers(0, 2, (n, 12))
    return np.take_along_axis(allowed[kind], choice[..., None], axis=2)[..., 0]


def test_records_held_out_choose_splits_where_structure_depends_on_the_kind():
    train, test = species(1200, 1), species(2000, 2)
    schema = Table(np.vstack([train, test]))
    learn, new = schema.take(np.arange(1200)), schema.take(np.arange(1200, 3200))
    settings = {"max_joint_labels": 1, "random_state": 0}
    mix = TreeMixture(64, **settings).fit(learn)
    plain = TreeMixture(64, splits=0, inverse_temperature=1, **settings).fit(learn)
    best = mix.selection_.row(0, named=True)
    assert best["splits"] > 0
    assert best["held_out"] == mix.selection_["held_out"].max()
    assert set(plain.selection_["splits"]) == {0}
    assert set(plain.selection_["inverse_temperature"]) == {1.0}
    assert mix.n_clusters_ == plain.n_clusters_ == 64
    assert mix.score(new) > plain.score(new)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_and_partitions_do_not_matter(n_jobs):
    table = Table(species(900, 3))
    settings = {"splits": 2, "inverse_temperature": 0.7, "max_joint_labels": 4, "random_state": 0}
    one = TreeMixture(12, n_jobs=1, **settings).fit(table)
    more = TreeMixture(12, n_jobs=n_jobs, **settings).fit(table)
    np.testing.assert_array_equal(one.score_samples(table), more.score_samples(table))
    apart = TreeMixture(12, n_jobs=n_jobs, **settings).fit(partition(table, 4))
    np.testing.assert_allclose(
        apart.score_samples(table), one.score_samples(table), rtol=1e-6, atol=1e-6
    )


def test_seeds_differ_where_records_do():
    """Nine of ten records are the same."""
    codes = np.zeros((400, 6), int)
    codes[::10] = np.random.default_rng(0).integers(0, 2, (40, 6))
    table = Table(codes)
    apart = 0
    for seed in range(30):
        tree, start = split_clusters(a_fit(table, 1), table, 2, np.random.default_rng(seed))
        one, other = (cell_counts(tree.layout, start) / start.totals).T
        apart += np.abs(one - other).max() > 0.05
    assert apart >= 20  # by two draws alone, 6 or so


@pytest.mark.parametrize("held", [6, 200])
def test_records_without_a_weight_are_not_there_in_partitions(held):
    rng = np.random.default_rng(0)
    records = (rng.random((300, 6)) < 0.4).astype(int)
    table = Table(records, weights=np.where(np.arange(300) < held, 1.0, 0.0))
    for seed in range(3):
        model = TreeMixture(2, random_state=seed)
        whole = TreeMixture(2, random_state=seed).fit(table).score_samples(table)
        model.fit(partition(table, 3))
        assert model.selection_["held_out"].is_finite().all()
        np.testing.assert_allclose(model.score_samples(table), whole, rtol=1e-9)


def test_held_out_records_need_a_weight():
    table = Table({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]})
    with pytest.raises(InputError, match="validation: the weights of all records are 0"):
        TreeMixture(1, validation=table.with_weights([0.0] * 4)).fit(table)
    one = partition(table.with_weights([0.0, 0.0, 0.0, 1.0]), 2)
    with pytest.raises(InputError, match="validation: no record is left"):
        TreeMixture(1).fit(one)
