"""What trees learn from: weights of classes, and numbers as moments of fixed point."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import InputError
from tacit.table.class_weights import class_weights
from tacit.tree.growth.settings import fixed_weights
from tacit.tree.growth.target import Moments


def test_weights_of_classes():
    labels, totals = np.array(["a", "b"]), np.array([3.0, 1.0])
    assert class_weights("balanced", labels, lambda: totals).tolist() == [4 / 6, 2.0]
    assert class_weights({"b": 5}, labels, lambda: totals).tolist() == [1.0, 5.0]
    with pytest.raises(InputError, match="class_weight must be 'balanced', a dict or None"):
        class_weights([1, 2], labels, lambda: totals)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50).map(lambda n: n / 4), st.integers(1, 5)),
        min_size=1,
        max_size=20,
    )
)
def test_moments_are_exact_sums(records):
    y, w = np.array([r[0] for r in records]), np.array([r[1] for r in records])
    units, unit = fixed_weights(w.astype(float), fine=True)
    moments = Moments.of(y, units)
    assert moments.base in y
    deviations = [Fraction(x) - Fraction(moments.base) for x in y.tolist()]
    scale = Fraction(unit) * Fraction(moments.scale)
    first = sum(int(n) * d for n, d in zip(w, deviations, strict=True))
    second = sum(int(n) * d * d for n, d in zip(w, deviations, strict=True))
    assert sum(moments.first.tolist()) == first * scale
    assert sum(moments.second.tolist()) == second * scale * Fraction(moments.scale)
    assert sum(moments.second.tolist()) < 2**62


def test_moments_of_many_wide_numbers_do_not_overflow():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100_000) * 10.0 ** rng.integers(-20, 20, 100_000)
    units, _ = fixed_weights(rng.random(100_000), fine=True)
    moments = Moments.of(y, units)
    for sums in (moments.first, moments.second):
        assert sum(np.abs(sums).tolist()) < 2**62
