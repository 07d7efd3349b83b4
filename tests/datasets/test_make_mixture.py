"""Mixtures: exact sizes, the same everywhere, clusters that differ, popularity that is skewed."""

from __future__ import annotations

import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import datasets
from tacit.datasets import draws, make_mixture, mixture, paper_sizes


def checksum(table):
    return zlib.crc32(table.indptr.astype("<i8").tobytes() + table.values.astype("<u4").tobytes())


def mutual_information(table, clusters):
    """Return the mutual information of the cluster with each column, in bits."""
    m, n, k = table.n_records, table.n_columns, int(clusters.max()) + 1
    rows = np.repeat(np.arange(m), np.diff(table.indptr))
    joint = np.zeros((2, k, n))
    np.add.at(joint[1], (clusters[rows], table.values), 1 / m)
    joint[0] = (np.bincount(clusters, minlength=k) / m)[:, None] - joint[1]
    independent = joint.sum(axis=0) * joint.sum(axis=1)[:, None, :]
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
    return (joint * np.log2(ratio)).sum(axis=(0, 1))


@pytest.fixture(scope="module")
def msnbc():
    return datasets.make_msnbc()


@pytest.mark.parametrize(
    ("make", "m", "n", "stored", "names"),
    [
        (datasets.make_television, 3_275, 203, 27_957, ("show 0", "show 202")),
        (datasets.make_msweb, 10_000, 282, 57_086, ("area 0", "area 281")),
        (datasets.make_msnbc, 1_043_878, 2_922, 12_348_863, ("story 0", "story 2921")),
    ],
)
def test_sizes_of_the_paper(make, m, n, stored, names, msnbc):
    table = msnbc if make is datasets.make_msnbc else make()
    assert table.shape == (m, n)
    assert table.n_stored == stored
    assert (table.schema.names[0], table.schema.names[-1]) == names
    assert table.one_way().stored.min() > 0
    assert np.diff(table.indptr).min() == 1
    first = table.columns[0]
    assert tuple(first.labels) == (False, True)
    assert first.default_label is False


def test_default_is_most_common_at_the_paper_sizes(msnbc):
    for table in (datasets.make_television(), datasets.make_msweb(), msnbc):
        assert table.one_way().stored.max() < table.n_records / 2


@given(data=st.data(), m=st.integers(1, 40), n=st.integers(1, 30))
@settings(max_examples=80, deadline=None)
def test_sizes_are_exact(data, m, n):
    stored = data.draw(st.integers(0, m * n))
    k = data.draw(st.integers(1, 5))
    seed = data.draw(st.integers(0, 1000))
    table, clusters = make_mixture(
        m, n, stored, n_clusters=k, random_state=seed, return_clusters=True
    )
    assert table.shape == (m, n)
    assert table.n_stored == stored
    assert clusters.shape == (m,)
    assert 0 <= clusters.min() <= clusters.max() < k
    held = table.one_way().stored
    if stored >= n:
        assert held.min() > 0
    if stored >= m:
        assert np.diff(table.indptr).min() > 0


def test_same_seed_same_table():
    assert checksum(make_mixture(500, 60, 2000)) == checksum(make_mixture(500, 60, 2000))
    assert checksum(make_mixture(500, 60, 2000)) != checksum(
        make_mixture(500, 60, 2000, random_state=1)
    )
    given = make_mixture(500, 60, 2000, random_state=np.random.default_rng(7))
    assert checksum(given) == checksum(make_mixture(500, 60, 2000, random_state=7))


def test_tables_stay_what_they_are():
    # Papers and guides quote numbers of these; a change of the generators must be meant.
    assert checksum(datasets.make_television()) == 658040086
    assert checksum(datasets.make_msweb()) == 2577477614


def test_last_bits_do_not_matter(monkeypatch):
    expected = [checksum(make_mixture(2000, 300, 12_000, random_state=s)) for s in range(5)]
    noise = np.random.default_rng(0)

    def off_by_a_bit(n, exponent):
        return draws.zipf_weights(n, exponent) * (1 + 3e-16 * noise.choice([-1, 0, 1], n))

    monkeypatch.setattr(mixture, "zipf_weights", off_by_a_bit)
    assert expected == [checksum(make_mixture(2000, 300, 12_000, random_state=s)) for s in range(5)]


def test_clusters_differ_in_preference_and_size():
    table, clusters = make_mixture(20_000, 200, 160_000, return_clusters=True)
    sizes = np.bincount(clusters, minlength=20)
    assert sizes.min() > 0
    assert sizes.max() > 3 * sizes.min()
    information = mutual_information(table, clusters)
    assert information.max() > 0.05
    assert np.median(information) > 0.005


def test_concentration_makes_clusters_alike():
    information = [
        mutual_information(
            *make_mixture(20_000, 50, 80_000, concentration=c, return_clusters=True)
        ).sum()
        for c in (0.2, 1.0, 5.0, 1e9)
    ]
    assert information == sorted(information, reverse=True)
    assert information[0] > 20 * information[-1]


def test_popularity_is_skewed():
    held = np.sort(make_mixture(20_000, 1000, 120_000).one_way().stored)[::-1]
    assert held[:100].sum() > 0.45 * held.sum()
    ranks = np.arange(10, 500)
    slope = np.polyfit(np.log(ranks), np.log(held[ranks]), 1)[0]
    assert -1.4 < slope < -0.6
    flat = make_mixture(20_000, 1000, 120_000, exponent=0, concentration=1e9).one_way().stored
    assert flat.max() < 2 * flat.min()


def test_lengths_are_skewed():
    lengths = np.diff(make_mixture(20_000, 1000, 160_000).indptr)
    assert np.median(lengths) < 0.75 * lengths.mean()
    assert lengths.max() > 10 * lengths.mean()


def test_columns_too_rare_to_be_drawn_occur_all_the_same():
    table = make_mixture(300, 2000, 2000)
    assert (table.one_way().stored == 1).all()
    table = make_mixture(300, 2000, 2500)
    assert table.one_way().stored.min() == 1
    few = make_mixture(300, 2000, 1999)
    assert few.one_way().stored.max() > 1


def test_memory_is_a_small_multiple_of_the_table():
    tracemalloc.start()
    table = make_mixture(200_000, 1000, 2_400_000, n_clusters=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * table.nbytes + 20e6


@pytest.mark.parametrize("extreme", [{"exponent": 1e6}, {"concentration": 1e-9}])
def test_extremes_are_drawn_too(extreme):
    assert make_mixture(50, 10, 100, **extreme).n_stored == 100


def test_paper_sizes_give_the_factors_of_the_paper():
    sizes = (paper_sizes.TELEVISION, paper_sizes.MSWEB, paper_sizes.MSNBC)
    assert [round(m * n / stored) for m, n, stored in sizes] == [24, 49, 247]
