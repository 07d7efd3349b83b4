"""How estimators take their y."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from support.strategies import assert_identical
from tacit import InputError, Table
from tacit.table.targets import (
    _number_classes,
    class_labels,
    column_classes,
    column_numbers,
    pack_classes,
    read_classes,
    read_numbers,
    read_target,
    unpack_classes,
)


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 2],
        (1, 2, 2),
        np.array([1, 2, 2]),
        np.array([1, 2, 2], object),
        pd.Series([1, 2, 2], index=[5, 5, 9]),
        pl.Series([1, 2, 2]),
        pa.chunked_array([[1], [2, 2]]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_any_form(y):
    assert read_target(y, 3).to_list() == [1, 2, 2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "y must have 3 entries, one for each record; got 2"),
        ([1, None, 2], "y contains NaN or None: record 1 is missing"),
        ([1, 2, np.nan], "y contains NaN or None: record 2 is missing"),
        (
            np.array([1, "a", 2.5], object),
            "y cannot be read: it holds values of these types: int, str, float$",
        ),
        (5, "y cannot be read"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(InputError, match=message):
        read_target(y, 3)


def test_reals_are_refused_where_classes_are_asked_for():
    assert read_classes(pl.Series([1.0, 2.0]), 2).labels.tolist() == [1.0, 2.0]
    assert read_classes(pl.Series(["a"]), 1).labels.tolist() == ["a"]
    with pytest.raises(InputError, match=r"y holds real numbers \(record 1: 2.5\)"):
        read_classes(pl.Series([1.0, 2.5]), 2)
    with pytest.raises(InputError, match=r"y holds real numbers \(record 0: inf\)"):
        read_classes(pl.Series([np.inf]), 1)


def test_classes_are_sorted():
    classes = read_classes(["b", "a", "c", "a"], 4)
    assert classes.labels.tolist() == ["a", "b", "c"]
    assert classes.codes.tolist() == [1, 0, 2, 0]
    assert classes.codes.dtype == np.int32


def test_classes_that_an_enumeration_declares_but_no_record_has():
    y = pl.Series(["z", "x"], dtype=pl.Enum(["z", "y", "x"]))
    classes = read_classes(y, 2)
    assert classes.labels.tolist() == ["x", "z"]  # in the order of scikit-learn
    assert classes.codes.tolist() == [1, 0]


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


def test_classes_of_the_records_that_are_kept():
    kept = np.array([True, False, True])
    classes = read_classes(["c", "b", "a"], 3, kept)
    assert (classes.labels.tolist(), classes.codes.tolist()) == (["a", "c"], [1, 0])


def test_a_column_without_a_class_for_some_record():
    table = Table({"a": [1, 2], "y": ["b", None]})
    with pytest.raises(InputError, match="y: column 'y' has a missing value at record 1"):
        column_classes(table, 1)


@pytest.mark.parametrize("values", [[1.5, 2.5, 1.5], [3, 1, 3], [True, False, True]])
def test_numbers(values):
    assert read_numbers(values, 3).tolist() == values
    assert column_numbers(Table({"y": values}), 0).tolist() == values
    assert read_numbers(values, 3, np.array([True, False, True])).tolist() == values[::2]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["a", "b"], {}, "y: column 'y' holds labels that are no numbers; a classifier"),
        ([1.5, 2.5, 9.0], {"discretise": {"y": [2.0]}}, "y: column 'y' holds bins; a classifier"),
        ([1.5, None], {}, "y: column 'y' has a missing value at record 1"),
    ],
)
def test_columns_that_are_no_numbers(values, options, message):
    with pytest.raises(InputError, match=message):
        column_numbers(Table({"y": values}, **options), 0)


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.array([3, 9], np.int16),
        np.array([1.5, 2.0]),
        np.array(["a", "< 3"]),
        np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_are_packed_and_unpacked(classes):
    again = unpack_classes(pack_classes(classes))
    assert again.dtype == classes.dtype
    assert again.tolist() == classes.tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, -5, 3, 900], np.int16),
        np.array([2**63, 2**63 + 1, 2**63], np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([True, True]),
        np.array([10**9, 7, 10**9]),
        np.array([0.5, 2.0, 0.5]),
    ],
)
def test_classes_are_numbered_as_by_a_sort(values):
    classes = _number_classes(values)
    labels, codes = np.unique(values, return_inverse=True)
    assert_identical(classes.labels, labels)
    assert_identical(classes.codes, codes.astype(np.int32))
