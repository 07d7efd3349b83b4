"""X as numbers: arrays, sparse arrays, frames and Tables."""

import json
import warnings
from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from tacit.similarity.projection.encoding import Encoder

from support import strategies as strategies
from tacit import InputError, Table

PEOPLE = {
    "age": [31.5, 58.0, 44.0, 20.0],
    "town": ["Ulm", "Bern", "Ulm", None],
    "pays": [True, False, True, True],
    "visits": [1, 0, 7, 2],
}
NAMES = ("age", "town=Bern", "town=Ulm", "town=missing", "pays", "visits")
ENCODED = [
    [31.5, 0, 1, 0, 1, 1],
    [58.0, 1, 0, 0, 0, 0],
    [44.0, 0, 1, 0, 1, 7],
    [20.0, 0, 0, 1, 1, 2],
]


def dense(numbers):
    return numbers.toarray() if sparse.issparse(numbers) else numbers


@pytest.mark.parametrize(
    "make",
    [dict, pl.DataFrame, pd.DataFrame, lambda data: nw.from_native(pl.DataFrame(data))],
    ids=["mapping", "polars", "pandas", "narwhals"],
)
def test_frames_of_all_kinds(make):
    model = BaseEstimator()
    encoder, numbers = Encoder.fit(make(PEOPLE), model)
    assert encoder.names == NAMES
    assert dense(numbers).tolist() == ENCODED
    assert numbers.dtype == np.float64
    assert model.feature_names_in_.tolist() == list(PEOPLE)
    assert model.n_features_in_ == 4
    again = encoder.transform(make(PEOPLE), model)
    assert dense(again).tolist() == ENCODED
    assert dense(encoder.transform(make(PEOPLE))).tolist() == ENCODED


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_arrays_stay_what_they_are(kind):
    X = np.array([[0, 1, 1], [1, 0, 0]], dtype=kind)
    model = BaseEstimator()
    encoder, numbers = Encoder.fit(X, model)
    assert numbers.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert numbers.flags.c_contiguous
    assert numbers.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert encoder.names == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert encoder.transform(X[:1].tolist(), model).tolist() == [[0, 1, 1]]
    assert encoder.transform(np.asfortranarray(X)).flags.c_contiguous


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_sparse_arrays_stay_sparse(form, kind):
    X = np.array([[0, 3, 0], [1, 0, 2]], dtype=kind)
    encoder, numbers = Encoder.fit(sparse.coo_array(X).asformat(form))
    assert sparse.issparse(numbers)
    assert numbers.format == "csr"
    assert numbers.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert numbers.toarray().tolist() == X.tolist()
    assert encoder.transform(X).toarray().tolist() == X.tolist()


def test_wide_indices_zeros_that_are_stored_and_unsorted_rows():
    X = sparse.csr_matrix(([2.0, 0.0, 1.0], [2, 0, 1], [0, 2, 3]), (2, 3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    _, numbers = Encoder.fit(X)
    assert numbers.toarray().tolist() == [[0, 0, 2], [0, 1, 0]]
    assert numbers.has_sorted_indices
    assert numbers.nnz == 2
    assert X.nnz == 3


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_no_number_may_be_missing_or_infinite(wrong):
    X = np.ones((5, 3))
    X[3, 1] = wrong
    for data in (X, X.astype(np.float32), sparse.csr_array(X)):
        with pytest.raises(InputError, match=r"X contains NaN or inf: .* at row 3, column 1"):
            Encoder.fit(data)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    with pytest.raises(InputError, match=r"at row 3, column 'b'"):
        Encoder.fit(frame)


def test_missing_numbers_of_frames():
    with pytest.raises(InputError, match="column 'age' has a missing value at row 1"):
        Encoder.fit({"age": [1, None], "town": ["a", "b"]})
    encoder, _ = Encoder.fit(PEOPLE)
    with pytest.raises(InputError, match="column 'age' has a missing value at row 0"):
        encoder.transform(PEOPLE | {"age": [None, 1.0, 2.0, 3.0]})


def test_labels_that_were_not_there_are_zeros_or_an_error():
    encoder, _ = Encoder.fit({"town": ["Ulm", "Bern"], "age": [1, 2]})
    later = {"town": ["Rome", "Ulm", None], "age": [5, 6, 7]}
    assert dense(encoder.transform(later)).tolist() == [[0, 0, 5], [0, 1, 6], [0, 0, 7]]
    with pytest.raises(InputError, match="column 'town' holds 'Rome', which it did not in fit"):
        encoder.transform(later, unseen="error")
    with pytest.raises(InputError, match="unseen must be"):
        encoder.transform(later, unseen="default")


def test_columns_that_change_their_kind():
    encoder, _ = Encoder.fit(PEOPLE)
    with pytest.raises(InputError, match="column 'age' holds String, but in fit numbers"):
        encoder.transform(PEOPLE | {"age": ["a", "b", "c", "d"]})
    with pytest.raises(InputError, match="X is an array, but column 'town' is not of numbers"):
        encoder.transform(np.ones((2, 4)))
    with pytest.raises(InputError, match="X is a Table"):
        encoder.transform(Table({"town": ["a"]}))


def test_names_must_be_the_same_in_the_same_order():
    model = BaseEstimator()
    encoder, _ = Encoder.fit({"a": [1.0], "b": [2.0]}, model)
    with pytest.raises(ValueError, match="feature names"):
        encoder.transform({"b": [1.0], "a": [2.0]}, model)
    with pytest.raises(ValueError, match="features"):
        encoder.transform(np.ones((1, 3)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert encoder.transform(np.array([[3.0, 4.0]]), model).tolist() == [[3, 4]]
    assert "feature names" in str(told[0].message)


def test_an_array_in_fit_and_a_frame_later():
    model = BaseEstimator()
    encoder, _ = Encoder.fit(np.ones((2, 2)), model)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert encoder.transform({"a": [1.0], "b": [2.0]}, model).tolist() == [[1, 2]]
        with pytest.raises(InputError, match="String"):
            encoder.transform({"a": ["x"], "b": [2.0]}, model)


def test_tables_show_each_label():
    table = Table({"town": ["Ulm", "Bern", "Ulm"], "pays": [True, False, True], "n": [0, 1, 0]})
    encoder, numbers = Encoder.fit(table)
    assert encoder.names == ("town=Bern", "town=Ulm", "pays", "n")
    assert dense(numbers).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    more = Table({"n": [1, 1], "other": ["a", "b"], "pays": [True, False], "town": ["Rome", "Ulm"]})
    assert dense(encoder.transform(more)).tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    with pytest.raises(InputError, match="no column 'town'"):
        encoder.transform(Table({"pays": [True]}))


@settings(max_examples=40)
@given(
    columns=st.lists(
        st.lists(st.sampled_from("abcd"), min_size=6, max_size=6), min_size=1, max_size=4
    ),
    seed=st.integers(0, 99),
)
def test_defaults_of_a_table_do_not_matter(columns, seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({f"c{k}": values for k, values in enumerate(columns)})
    table = Table(frame)
    other = table.with_defaults({c: rng.choice(frame[c].unique().sort()) for c in frame.columns})
    encoder, numbers = Encoder.fit(table)
    assert dense(Encoder.fit(other)[1]).tolist() == dense(numbers).tolist()
    assert dense(encoder.transform(other)).tolist() == dense(numbers).tolist()
    assert dense(Encoder.fit(frame)[1]).tolist() == dense(numbers).tolist()
    assert (dense(numbers).sum(axis=1) == len(columns)).all()


def test_many_labels_are_sparse_and_stay_so():
    frame = pl.DataFrame({"word": [f"w{k}" for k in range(20)], "n": [1] + [0] * 19})
    encoder, numbers = Encoder.fit(frame)
    assert encoder.sparse
    assert numbers.format == "csr"
    assert numbers.nnz == 21
    assert sparse.issparse(encoder.transform(frame[:1]))


def test_json_there_and_back():
    for X in (PEOPLE, np.ones((2, 2)), sparse.csr_array(np.eye(2)), Table({"a": ["x", None]})):
        encoder, _ = Encoder.fit(X)
        assert Encoder.from_json(encoder.to_json()) == encoder


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "list"},
        {"kind": "array"},
        {"kind": "table"},
        {"inputs": ["age", "pays"]},
        {"inputs": []},
        {"inputs": ["age", "age", "town", "pays", "visits"]},
        {"inputs": 5},
        {"sparse": "no"},
        {"labels": {"names": ["town"]}},
    ],
)
def test_files_are_not_believed(change):
    content = json.loads(Encoder.fit(PEOPLE)[0].to_json()) | change
    with pytest.raises(InputError):
        Encoder.from_json(json.dumps(content).encode())
    with pytest.raises(InputError):
        Encoder.from_json(b"{")


def test_nothing_to_encode():
    with pytest.raises(InputError, match="no records"):
        Encoder.fit({"a": []})
    with pytest.raises(InputError, match="no columns"):
        Encoder.fit(pl.DataFrame())
    with pytest.raises(ValueError, match="0 sample"):
        Encoder.fit(np.ones((0, 3)))


@given(strategies.data(max_rows=10), st.data())
def test_what_a_table_stores_is_taken_as_it_is(own, draw):
    table = own.table()
    if not table.n_records or not table.n_columns:
        return
    names = draw.draw(st.permutations(table.schema.names))
    encoder, _ = Encoder.fit(table.select(names[: draw.draw(st.integers(1, len(names)))]))
    encoder = replace(encoder, sparse=True)
    column_by_column = encoder._assemble(list(encoder._of_table(table, "zero")), table.n_records)
    encoded = encoder.transform(table)
    assert encoded.has_canonical_format
    assert np.array_equal(encoded.toarray(), column_by_column.toarray())


def test_stored_values_of_columns_that_are_numbers():
    table = Table({"a": [0, 1, 0], "b": [False, False, True], "c": ["x", "y", "x"]})
    encoder, _ = Encoder.fit(table.select(["b", "a"]))
    encoder = replace(encoder, sparse=True)
    assert encoder.transform(table).toarray().tolist() == [[0, 0], [0, 1], [1, 0]]
