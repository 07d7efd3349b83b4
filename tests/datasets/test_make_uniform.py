"""Independent columns."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.datasets import make_uniform


@pytest.mark.parametrize("density", [0.0, 0.002, 0.05, 0.3, 0.9, 1.0])
def test_density(density):
    table = make_uniform(5000, 40, density)
    assert table.n_stored / (5000 * 40) == pytest.approx(density, rel=0.1)
    spread = 5 * np.sqrt(density * (1 - density) / 5000)
    assert abs(table.one_way().stored / 5000 - density).max() <= spread


def test_labels():
    column = make_uniform(10, 3, 0.5).columns[2]
    assert (column.name, tuple(column.labels), column.default_label) == ("column 2", (0, 1), 0)


def test_columns_are_independent():
    table = make_uniform(20_000, 12, 0.2)
    pairs = table.pairs().strongest(66, by="lift")
    assert len(pairs) == 66
    assert pairs["lift"].max() < 1.15
    assert pairs["lift"].min() > 0.85


def test_zipf():
    table = make_uniform(50_000, 100, 0.05, exponent=1.0)
    held = table.one_way().stored / 50_000
    assert held.mean() == pytest.approx(0.05, rel=0.03)
    assert held[0] / held[99] == pytest.approx((100 + 2.7) / 3.7, rel=0.2)
    crowded = make_uniform(1000, 100, 0.5, exponent=2.0)
    assert crowded.n_stored / 100_000 == pytest.approx(0.5, rel=0.02)


def test_arity_spreads_evenly():
    table = make_uniform(30_000, 5, 0.4, arity=5)
    assert table.columns[0].arity == 5
    np.testing.assert_allclose(table.one_way().stored / 30_000, 0.1, atol=0.01)


def test_same_seed_same_table():
    one, two, other = (
        make_uniform(300, 80, 0.1, arity=3, exponent=1, random_state=s) for s in (3, 3, 4)
    )
    assert np.array_equal(one.values, two.values)
    assert not np.array_equal(one.values, other.values)
