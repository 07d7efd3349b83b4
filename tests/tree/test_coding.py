"""What the growth kernel is given: the same codes whatever form X comes in."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from tacit import Table
from tacit.schema import Labels
from tacit.tree.growth.coding import array_coding, is_ordered, ordered_columns, table_coding

examples = settings(max_examples=50)
numbers = st.sampled_from([-2.5, -1.0, 0.0, 0.0, 0.0, 1.0, 7.25])


def code(X, kind="array", **options):
    settings = {"ordered": "auto", "discretise": None, "classes": None, "n_jobs": 1}
    return array_coding(X, kind, **settings | options)


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
        coding, columns = code(form)
        codes = dense_codes(coding)
        for c in range(X.shape[1]):
            numbers = columns.numbers[c]
            assert (np.diff(numbers) > 0).all()
            np.testing.assert_array_equal(numbers[codes[:, c]], X[:, c])
        assert are_postings_of(coding)
        assert coding.ordered.tolist() == [2] * X.shape[1]


def test_the_most_common_number_is_the_default():
    coding, columns = code(np.array([[7.0], [3.0], [7.0], [-0.0], [0.0], [7.0]]))
    assert columns.numbers[0].tolist() == [0.0, 3.0, 7.0]
    assert coding.defaults.tolist() == [2]
    assert len(coding.values) == 3


def test_a_sparse_array_is_not_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(2000, 10**5, density=2e-5, format="csr", random_state=rng)
    coding, columns = code(X)
    assert len(coding.values) == X.nnz
    column = int(X.indices[0])
    assert columns.numbers[column].tolist() == sorted({0.0, *X[:, [column]].data.tolist()})


def test_labels_and_missing_values_of_frames():
    frame = pl.DataFrame({"a": ["x", None, "x"], "b": [2.5, None, 1.0], "c": [None, None, None]})
    coding, columns = code(frame, "frame")
    assert columns.labels[0] == Labels(["x", None], "String")
    assert columns.labels[1] is None
    np.testing.assert_array_equal(columns.numbers[1], [1.0, 2.5, np.nan])
    assert columns.missing == [False, True, False]
    assert dense_codes(coding).tolist() == [[0, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert coding.ordered.tolist() == [0, 2, 0]


def test_a_table_is_taken_as_it_is():
    table = Table({"a": [1, 2, 3, 1], "b": [True, False, False, False]})
    coding = table_coding(table, "auto")
    assert coding.indptr is table.indptr
    assert coding.values is table.values
    assert coding.rows is table.postings[1]
    assert coding.ordered.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("items", "dtype", "ordered"),
    [
        ([1, 2, 7], "Int64", True),
        ([1, 2, 7, None], "UInt8", True),
        ([1.0, 2.0], "Float64", True),
        ([2, 1, 7], "Int64", False),
        (["a", "b", "c"], "String", False),
        (["< 1", "1 – 2", ">= 2", None], "String", True),
        ([False, True, None], "Boolean", False),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "Date", True),
        ([dt.date(2020, 1, 1), 5], "Date", False),
        (["low", "high"], "Enum", False),
        ([None], "Null", False),
    ],
)
def test_what_is_ordered(items, dtype, ordered):
    assert is_ordered(Labels(items, dtype)) is ordered


def test_ordered_columns_by_name_or_place():
    schema = Table({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [0, 1, 1]}).schema
    assert ordered_columns(schema, "auto").tolist() == [1, 0, 0]
    assert ordered_columns(schema, ["b", 2]).tolist() == [0, 1, 1]
    assert ordered_columns(schema, ()).tolist() == [0, 0, 0]
