"""Weights in fixed point."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.tree.growth.settings import fixed_leaf, fixed_weights

weights = st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=30).map(np.array)


@given(weights)
def test_weights_are_whole_numbers_of_a_unit(given):
    units, unit = fixed_weights(given)
    assert units.dtype == np.int64
    assert int(units.sum()) <= 2**53
    assert np.log2(unit) == round(np.log2(unit))
    np.testing.assert_allclose(units / unit, given, atol=given.sum() * 2.0**-51)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30).filter(any))
def test_whole_weights_are_exact(given):
    units, unit = fixed_weights(np.array(given, float))
    assert unit == 1.0
    assert units.tolist() == given
    fine, unit = fixed_weights(np.array(given, float), fine=True)
    assert [Fraction(n) / Fraction(unit) for n in fine.tolist()] == given
    assert sum(fine.tolist()) < 2**53


def test_weights_beyond_what_floats_count():
    units, unit = fixed_weights(np.array([2.0**70, 2.0**69]))
    assert units.tolist() == [2 * units[1], units[1]]
    assert unit == units[1] / 2.0**69


def test_the_least_leaf():
    assert fixed_leaf(1, 8.0) == 0  # any weight will do
    assert fixed_leaf(3, 8.0) == 24
    assert fixed_leaf(3, 0.5) == 2
