"""Targets: classes in order, and numbers as moments of fixed point."""

from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tacit import Table
from tacit.table.targets import class_labels
from tacit.tree.growth.settings import fixed_weights
from tacit.tree.growth.target import Moments, column_classes, read_classes


def test_classes_are_sorted():
    classes = read_classes(["b", "a", "c", "a"], 4)
    assert classes.labels.tolist() == ["a", "b", "c"]
    assert classes.codes.tolist() == [1, 0, 2, 0]
    assert classes.codes.dtype == np.int32


def test_classes_that_an_enumeration_declares_but_no_record_has():
    y = pl.Series(["z", "x"], dtype=pl.Enum(["z", "y", "x"]))
    classes = read_classes(y, 2)
    assert classes.labels.tolist() == ["z", "x"]
    assert classes.codes.tolist() == [0, 1]


def test_classes_of_a_table_are_its_labels():
    table = Table({"y": ["b", "a", "c", "b"]}, defaults={"y": "b"})
    classes = column_classes(table, 0)
    assert classes.labels.tolist() == ["a", "b", "c"]
    assert classes.codes.tolist() == [1, 0, 2, 1]


def test_arrays_of_classes():
    assert class_labels([1, 2]).dtype == np.int64
    assert class_labels([False, True]).dtype == bool
    assert class_labels(["a", "bc"]).dtype.kind == "U"
    assert class_labels([1, "a"]).dtype == object
    assert class_labels([2**70, 1]).tolist() == [2**70, 1]


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
