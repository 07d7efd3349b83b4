"""Baskets: lengths, popularity, and items that go together."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.datasets import make_baskets


@pytest.fixture(scope="module")
def baskets():
    return make_baskets(20_000, 3000, 8, n_patterns=300)


def test_size_and_lengths(baskets):
    assert baskets.shape == (20_000, 3000)
    assert baskets.schema.names[17] == "item 17"
    assert tuple(baskets.columns[0].labels) == (False, True)
    lengths = np.diff(baskets.indptr)
    assert lengths.min() >= 1
    assert lengths.mean() == pytest.approx(8, rel=0.02)
    assert lengths.var() == pytest.approx(7, rel=0.05)  # of 1 + Poisson(7)


def test_items_of_a_pattern_go_together(baskets):
    strongest = baskets.pairs().strongest(20, by="lift", min_count=40)
    assert len(strongest) == 20
    assert strongest["lift"].min() > 20


def test_popularity_is_skewed(baskets):
    held = np.sort(baskets.one_way().stored)[::-1]
    assert held[:300].sum() > 0.5 * held.sum()


def test_same_seed_same_table():
    one, two, other = (make_baskets(500, 80, 5, random_state=s) for s in (3, 3, 4))
    assert np.array_equal(one.values, two.values)
    assert not np.array_equal(one.values, other.values)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_items(n):
    table = make_baskets(100, n, n, n_patterns=1)
    assert table.shape == (100, n)
    assert np.diff(table.indptr).max() <= n


def test_default_size():
    table = make_baskets()
    assert table.shape == (100_000, 16_000)
    assert table.n_stored == pytest.approx(1_000_000, rel=0.01)
