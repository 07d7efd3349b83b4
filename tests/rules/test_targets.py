"""Targets of boosted rules: classes, labels and numbers, and what is wrong with them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from tacit import InputError
from tacit.table.targets import read_labels, read_outputs

LABELS = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1]])


def test_two_classes_are_one_output():
    target = read_labels(["b", "a", "b"], 3)
    assert (target.type, target.labels.tolist()) == ("binary", ["a", "b"])
    assert target.values.tolist() == [[1, 0, 1]]
    assert target.values.dtype == np.uint8


def test_more_classes_are_one_output_each():
    target = read_labels(pl.Series([30, 10, 20]), 3)
    assert (target.type, target.labels.tolist()) == ("multiclass", [10, 20, 30])
    assert target.values.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert target.codes.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "y",
    [
        [True, False],
        np.array([2.0, 1.0]),
        pd.Series(["x", "y"], dtype="category"),
        pl.Series(["x", "y"], dtype=pl.Enum(["y", "x", "z"])),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])),
        [10**30, 1],
    ],
)
def test_classes_of_any_type(y):
    target = read_labels(y, 2)
    assert target.type == "binary"
    assert sorted(target.codes.tolist()) == [0, 1]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        np.asfortranarray,
        lambda y: y.tolist(),
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: y.astype(object),
        sparse.csr_array,
        sparse.csc_matrix,
        lambda y: sparse.coo_array(y.astype(bool)),
        pd.DataFrame,
        pl.DataFrame,
    ],
)
def test_labels_in_any_form(form):
    target = read_labels(form(LABELS), 3)
    assert target.type == "multilabel"
    assert target.values.tolist() == LABELS.T.tolist()
    assert target.values.flags.c_contiguous
    assert target.constant().tolist() == [False, True, False]


def test_labels_keep_their_names():
    assert read_labels(pl.DataFrame(LABELS, schema=["a", "b", "c"]), 3).labels.tolist() == [
        "a", "b", "c",
    ]  # fmt: skip
    assert read_labels(LABELS, 3).labels.tolist() == [0, 1, 2]
    assert read_labels(pd.DataFrame(LABELS), 3).labels.tolist() == [0, 1, 2]


def test_explicit_zeros_and_parts_of_sparse_labels():
    parts = sparse.coo_array(([1, 0, 1], ([0, 1, 0], [0, 1, 1])), shape=(2, 2))
    assert read_labels(parts, 2).values.tolist() == [[1, 0], [1, 0]]
    twice = sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(InputError, match="record 0, label 1 holds 2"):
        read_labels(twice, 2)


def test_a_column_is_taken_for_one_class_a_record():
    with pytest.warns(DataConversionWarning):
        target = read_labels(np.array([[0], [1]]), 2)
    assert target.type == "binary"
    assert read_labels(sparse.csr_array([[0], [1]]), 2).type == "multilabel"


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        (["a", "a"], "one class only"),
        ([0.5, 1.5], "Unknown label type"),
        ([1.0, np.nan], "record 1 is missing"),
        (["a", None], "record 1 is missing"),
        ([{1}, {2}], "y holds Object; classes are"),
        (pl.Series([[1], [2]]), r"y holds List\(Int64\); classes are"),
        ([1, 2, 3], "must have 2 entries"),
        ([[1, 0]], "must have 2 rows"),
        ([[1, 0], [np.nan, 1]], "y contains NaN: record 1, label 0"),
        ([[1, 0], [1, 2]], "record 1, label 1 holds 2"),
        ([["a", "b"], ["a", "c"]], "labels are 0 or 1"),
        ([[1], [1, 0]], "not equally long"),
        (np.zeros((2, 0)), "no labels"),
        (np.zeros((2, 2, 2)), "one or two dimensions"),
        (sparse.csr_array((2, 0)), "no labels"),
        (sparse.csr_array([[0.0, np.nan], [0, 0]]), "y contains NaN: record 0, label 1"),
        (sparse.csr_array([[0, 3], [0, 0]]), "record 0, label 1 holds 3"),
        (sparse.csr_array([[0, 1]]), "must have 2 rows"),
    ],
)
def test_bad_targets_of_classes(y, problem):
    with pytest.raises(InputError, match=problem):
        read_labels(y, 2)


def test_numbers():
    one = read_outputs([1, 2], 2)
    assert (one.type, one.labels.tolist(), one.values.tolist()) == ("number", ["y"], [[1.0, 2.0]])
    two = read_outputs(pd.DataFrame({"p": [1, 2], "q": [3.5, 4]}), 2)
    assert (two.type, two.labels.tolist()) == ("numbers", ["p", "q"])
    assert two.values.tolist() == [[1.0, 2.0], [3.5, 4.0]]
    assert read_outputs(np.array([[1.0], [2.0]]), 2).type == "numbers"


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        (["a", "b"], "must hold numbers"),
        ([1.0, np.inf], "contains NaN or inf: inf at record 1, output 0"),
        ([1.0, np.nan], "record 1 is missing"),
        ([[1.0, 2.0], [np.nan, 1.0]], "contains NaN or inf: nan at record 1, output 0"),
        ([1.0, 1e200], "too large"),
        ([1.0], "must have 2 entries"),
        (np.zeros((2, 0)), "no columns"),
        (sparse.csr_array([[1.0], [0.0]]), "y is sparse"),
    ],
)
def test_bad_targets_of_numbers(y, problem):
    with pytest.raises(InputError, match=problem):
        read_outputs(y, 2)


def test_some_records_have_fewer_classes():
    target = read_labels(["a", "b", "c"], 3).take(np.array([True, False, True]))
    assert (target.type, target.labels.tolist()) == ("binary", ["a", "c"])
    with pytest.raises(InputError, match="one class only"):
        target.take(np.array([True, False]))
    assert read_labels(LABELS, 3).take(np.array([True, False, True])).values.shape == (3, 2)


def test_strata_are_classes_or_sets_of_labels():
    assert read_labels(["b", "a", "b"], 3).strata().tolist() == [1, 0, 1]
    many = np.random.default_rng(0).integers(0, 2, (40, 19))
    strata = read_labels(many, 40).strata()
    same = strata[:, None] == strata
    assert (same == (many[:, None] == many).all(axis=2)).all()
    assert read_outputs([1.0, 2.0], 2).strata() is None
