"""What the growth kernel is given: the same codes whatever form X comes in."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import BaseEstimator

from tacit import Table
from tacit.schema import Labels, Schema
from tacit.table.discretise import bins_of
from tacit.table.inputs import Inputs
from tacit.tree.growth.coding import (
    MISSING,
    NUMBERS,
    number_columns,
    ordered_columns,
    table_coding,
)

examples = settings(max_examples=50)
numbers = st.sampled_from([-2.5, -1.0, 0.0, 0.0, 0.0, 1.0, 7.25])


def code(X):
    """Return what the kernel takes of X, and the schema that its codes are those of."""
    inputs = Inputs.fit(BaseEstimator(), X)
    records = inputs.ranked()
    return table_coding(records, numbers=inputs.origin != "table"), records.schema


def dense_codes(coding):
    """Return the codes of all records and columns, defaults too."""
    n_records, n_columns = len(coding.indptr) - 1, len(coding.defaults)
    codes = np.tile(coding.defaults, (n_records, 1))
    records = np.repeat(np.arange(n_records), np.diff(coding.indptr))
    columns = np.searchsorted(coding.offsets, coding.values, side="right") - 1
    places = coding.values - coding.offsets[columns]
    codes[records, columns] = places + (places >= coding.defaults[columns])
    assert n_columns == codes.shape[1]
    return codes


def are_postings_of(coding):
    for value in range(int(coding.offsets[-1])):
        rows = coding.rows[coding.start[value] : coding.start[value + 1]]
        held = [
            record
            for record in range(len(coding.indptr) - 1)
            if value in coding.values[coding.indptr[record] : coding.indptr[record + 1]]
        ]
        assert rows.tolist() == held
    return True


@examples
@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=numbers))
def test_codes_are_ranks(X):
    for form in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        coding, schema = code(form)
        codes = dense_codes(coding)
        for c in range(X.shape[1]):
            held = schema.labels[c].numbers
            assert (np.diff(held) > 0).all()
            np.testing.assert_array_equal(held[codes[:, c]], X[:, c])
        assert are_postings_of(coding)
        assert coding.ordered.tolist() == [2] * X.shape[1]


def test_the_most_common_number_is_the_default():
    coding, schema = code(np.array([[7.0], [3.0], [7.0], [-0.0], [0.0], [7.0]]))
    assert schema.labels[0].numbers.tolist() == [0.0, 3.0, 7.0]
    assert coding.defaults.tolist() == [2]
    assert len(coding.values) == 3


def test_a_sparse_array_is_not_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(2000, 10**5, density=2e-5, format="csr", random_state=rng)
    coding, schema = code(X)
    assert len(coding.values) == X.nnz
    column = int(X.indices[0])
    assert schema.labels[column].numbers.tolist() == sorted({0.0, *X[:, [column]].data.tolist()})


def test_labels_and_missing_values_of_frames():
    frame = pl.DataFrame({"a": ["x", None, "x"], "b": [2.5, None, 1.0], "c": [None, None, None]})
    coding, schema = code(frame)
    assert schema.labels[0] == Labels(["x", None], "String")
    np.testing.assert_array_equal(schema.labels[1].numbers, [1.0, 2.5, np.nan])
    assert [labels.missing for labels in schema.labels] == [1, 2, 0]
    assert dense_codes(coding).tolist() == [[0, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert coding.ordered.tolist() == [0, NUMBERS + MISSING, 0]


def test_a_table_is_taken_as_it_is():
    table = Table({"a": [1, 2, 3, 1], "b": [True, False, False, False]})
    coding, _ = code(table)
    assert coding.indptr is table.indptr
    assert coding.values is table.values
    assert coding.rows is table.postings[1]
    assert coding.ordered.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (Labels([1, 2, 7], "Int64"), True),
        (Labels([1, 2, 7, None], "UInt8"), True + MISSING),
        (Labels([1.0, 2.0, 3.0], "Float64"), True),
        (Labels([1.0, 2.0, 3.5], "Float64"), NUMBERS),  # which never have a child for each
        (Labels([1.0, 3.5, None], "Float64"), NUMBERS + MISSING),
        (Labels([1, 2, 7], "Int64", kind="categorical"), False),
        (Labels([1, 2], "Int64"), False),  # two labels have no threshold but one
        (Labels(["a", "b", "c"], "String"), False),
        (Labels(["a", "b", "c"], "String", kind="ordered"), True),
        (bins_of([1, 2], missing=True), True + MISSING),
        (bins_of([1, 2], missing=False), True),
        (Labels([False, True, None], "Boolean"), False),
        (Labels([dt.date(2020, 1, 1), dt.date(2021, 1, 1), None], "Date"), True + MISSING),
        (Labels(["low", "mid", "high"], "Enum"), True),
        (Labels([None], "Null"), False),
    ],
)
def test_what_is_ordered(labels, ordered):
    assert ordered_columns(Schema(["x"], [labels], [0])).tolist() == [ordered]


def test_columns_of_numbers():
    kinds = {"d": "categorical"}
    table = Table(
        {"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [0, 1, 1], "d": [1, 2, 3]}, kinds=kinds
    )
    assert number_columns(table.schema).tolist() == [True, False, True, False]
    assert number_columns(table.schema, 3).tolist() == [True, False, False, False]
    cut = Table({"a": [1.5, 2.5, 3.5]}, discretise={"a": [2.0]})
    assert number_columns(cut.schema).tolist() == [False]  # they are bins
