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

from support import strategies as strategies
from tacit import InputError, Table
from tacit.table.one_hot import OneHot

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
    encoding, numbers = OneHot.fit(make(PEOPLE), model)
    assert encoding.names == NAMES
    assert dense(numbers).tolist() == ENCODED
    assert numbers.dtype == np.float64
    assert model.feature_names_in_.tolist() == list(PEOPLE)
    assert model.n_features_in_ == 4
    again = encoding.transform(make(PEOPLE), model)
    assert dense(again).tolist() == ENCODED
    assert dense(encoding.transform(make(PEOPLE))).tolist() == ENCODED


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_arrays_stay_what_they_are(kind):
    X = np.array([[0, 1, 1], [1, 0, 0]], dtype=kind)
    model = BaseEstimator()
    encoding, numbers = OneHot.fit(X, model)
    assert numbers.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert numbers.flags.c_contiguous
    assert numbers.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert encoding.names == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert encoding.transform(X[:1].tolist(), model).tolist() == [[0, 1, 1]]
    assert encoding.transform(np.asfortranarray(X)).flags.c_contiguous


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_sparse_arrays_stay_sparse(form, kind):
    X = np.array([[0, 3, 0], [1, 0, 2]], dtype=kind)
    encoding, numbers = OneHot.fit(sparse.coo_array(X).asformat(form))
    assert sparse.issparse(numbers)
    assert numbers.format == "csr"
    assert numbers.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert numbers.toarray().tolist() == X.tolist()
    assert encoding.transform(X).toarray().tolist() == X.tolist()


def test_wide_indices_zeros_that_are_stored_and_unsorted_rows():
    X = sparse.csr_matrix(([2.0, 0.0, 1.0], [2, 0, 1], [0, 2, 3]), (2, 3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    _, numbers = OneHot.fit(X)
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
            OneHot.fit(data)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    with pytest.raises(InputError, match=r"at row 3, column 'b'"):
        OneHot.fit(frame)


def test_missing_numbers_of_frames():
    with pytest.raises(InputError, match="column 'age' has a missing value at row 1"):
        OneHot.fit({"age": [1, None], "town": ["a", "b"]})
    encoding, _ = OneHot.fit(PEOPLE)
    with pytest.raises(InputError, match="column 'age' has a missing value at row 0"):
        encoding.transform(PEOPLE | {"age": [None, 1.0, 2.0, 3.0]})


def test_labels_that_were_not_there_are_zeros_or_an_error():
    encoding, _ = OneHot.fit({"town": ["Ulm", "Bern"], "age": [1, 2]})
    later = {"town": ["Rome", "Ulm", None], "age": [5, 6, 7]}
    assert dense(encoding.transform(later)).tolist() == [[0, 0, 5], [0, 1, 6], [0, 0, 7]]
    with pytest.raises(InputError, match="column 'town' holds 'Rome', which it did not in fit"):
        encoding.transform(later, unseen="error")
    with pytest.raises(InputError, match="unseen must be"):
        encoding.transform(later, unseen="default")


def test_columns_that_change_their_kind():
    encoding, _ = OneHot.fit(PEOPLE)
    with pytest.raises(InputError, match="column 'age' holds String, but in fit numbers"):
        encoding.transform(PEOPLE | {"age": ["a", "b", "c", "d"]})
    with (
        pytest.warns(UserWarning, match="feature names"),
        pytest.raises(InputError, match="X is an array, but column 'town' is not of numbers"),
    ):
        encoding.transform(np.ones((2, 4)))
    with pytest.raises(InputError, match="column 'age' holds String, but in fit numbers"):
        encoding.transform(Table(PEOPLE | {"age": ["a", "b", "c", "d"]}))
    with pytest.raises(InputError, match="there is no column 'age'"):
        encoding.transform(Table({"town": ["a"]}))


def test_names_must_be_the_same_in_the_same_order():
    model = BaseEstimator()
    encoding, _ = OneHot.fit({"a": [1.0], "b": [2.0]}, model)
    with pytest.raises(ValueError, match="feature names"):
        encoding.transform({"b": [1.0], "a": [2.0]}, model)
    with (
        pytest.warns(UserWarning, match="feature names"),
        pytest.raises(ValueError, match="features"),
    ):
        encoding.transform(np.ones((1, 3)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert encoding.transform(np.array([[3.0, 4.0]]), model).tolist() == [[3, 4]]
    assert "feature names" in str(told[0].message)


def test_an_array_in_fit_and_a_frame_later():
    model = BaseEstimator()
    encoding, _ = OneHot.fit(np.ones((2, 2)), model)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert encoding.transform({"a": [1.0], "b": [2.0]}, model).tolist() == [[1, 2]]
        with pytest.raises(InputError, match="String"):
            encoding.transform({"a": ["x"], "b": [2.0]}, model)


def test_tables_show_each_label():
    table = Table({"town": ["Ulm", "Bern", "Ulm"], "pays": [True, False, True], "n": [0, 1, 0]})
    encoding, numbers = OneHot.fit(table)
    assert encoding.names == ("town=Bern", "town=Ulm", "pays", "n")
    assert dense(numbers).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    more = Table({"n": [1, 1], "other": ["a", "b"], "pays": [True, False], "town": ["Rome", "Ulm"]})
    assert dense(encoding.transform(more)).tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    with pytest.raises(InputError, match="no column 'town'"):
        encoding.transform(Table({"pays": [True]}))


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
    encoding, numbers = OneHot.fit(table)
    assert dense(OneHot.fit(other)[1]).tolist() == dense(numbers).tolist()
    assert dense(encoding.transform(other)).tolist() == dense(numbers).tolist()
    assert dense(OneHot.fit(frame)[1]).tolist() == dense(numbers).tolist()
    assert (dense(numbers).sum(axis=1) == len(columns)).all()


def test_many_labels_are_sparse_and_stay_so():
    frame = pl.DataFrame({"word": [f"w{k}" for k in range(20)], "n": [1] + [0] * 19})
    encoding, numbers = OneHot.fit(frame)
    assert encoding.sparse
    assert numbers.format == "csr"
    assert numbers.nnz == 21
    assert sparse.issparse(encoding.transform(frame[:1]))


def test_json_there_and_back():
    for X in (PEOPLE, np.ones((2, 2)), sparse.csr_array(np.eye(2)), Table({"a": ["x", None]})):
        encoding, _ = OneHot.fit(X)
        assert OneHot.from_json(encoding.to_json()) == encoding


@pytest.mark.parametrize(
    "change",
    [
        {"origin": "list"},
        {"origin": "array"},
        {"names": ["age", "pays"]},
        {"names": []},
        {"names": ["age", "age", "pays", "visits"]},
        {"names": 5},
        {"numbers": {}},
        {"numbers": {"0": ["Float64", "numeric"], "9": ["Float64", "numeric"]}},
        {"sparse": "no"},
        {"schema": {"names": ["town"]}},
    ],
)
def test_files_are_not_believed(change):
    content = json.loads(OneHot.fit(PEOPLE)[0].to_json()) | change
    with pytest.raises(InputError):
        OneHot.from_json(json.dumps(content).encode())
    with pytest.raises(InputError):
        OneHot.from_json(b"{")


def test_files_of_version_0_1():
    encoding, _ = OneHot.fit(PEOPLE)
    schema = json.loads(encoding.to_json())["schema"]
    earlier = {"kind": "frame", "inputs": list(PEOPLE), "labels": schema, "sparse": False}
    assert OneHot.from_json(json.dumps(earlier).encode()).names == NAMES
    for change in ({"kind": "list"}, {"inputs": ["age"]}, {"inputs": 5}, {"sparse": 1}):
        with pytest.raises(InputError):
            OneHot.from_json(json.dumps(earlier | change).encode())


def test_nothing_to_encode():
    with pytest.raises(InputError, match="no records"):
        OneHot.fit({"a": []})
    with pytest.raises(InputError, match="no columns"):
        OneHot.fit(pl.DataFrame())
    with pytest.raises(ValueError, match="0 sample"):
        OneHot.fit(np.ones((0, 3)))


@given(strategies.data(max_rows=10), st.data())
def test_what_a_table_stores_is_taken_as_it_is(own, draw):
    table = own.table()
    if not table.n_records or not table.n_columns:
        return
    names = draw.draw(st.permutations(table.schema.names))
    names = names[: draw.draw(st.integers(1, len(names)))]
    encoding, _ = OneHot.fit(table.select(names))
    expected = []
    for name in names:
        labels, codes = table.schema[name].labels, table.codes(name)
        values = [labels[code] for code in codes]
        if set(labels) in ({0, 1}, {False, True}) and len(labels) == 2:
            expected.append([float(value) for value in values])
        elif table.schema[name].kind == "numeric":
            expected.append([float("nan") if value is None else float(value) for value in values])
        else:
            expected += [[float(code == k) for code in codes] for k in range(len(labels))]
    expected = np.transpose(expected)
    for form in (True, False):
        encoding = replace(encoding, sparse=form)
        if np.isnan(expected).any():
            with pytest.raises(InputError, match="has a missing value at row"):
                encoding.transform(table)
            continue
        encoded = encoding.transform(table)
        assert not form or encoded.has_canonical_format
        assert np.array_equal(dense(encoded), expected)


def test_stored_values_of_columns_that_are_numbers():
    table = Table({"a": [0, 1, 0], "b": [False, False, True], "c": ["x", "y", "x"]})
    encoding, _ = OneHot.fit(table.select(["b", "a"]))
    encoding = replace(encoding, sparse=True)
    assert encoding.transform(table).toarray().tolist() == [[0, 0], [0, 1], [1, 0]]


# Numbers of Tables


def test_a_table_is_what_its_frame_is():
    table = Table(PEOPLE)
    encoding, numbers = OneHot.fit(table)
    assert encoding.names == NAMES
    assert dense(numbers).tolist() == ENCODED
    for X in (table, Table(pl.DataFrame(PEOPLE)[:, ::-1]), PEOPLE, pl.DataFrame(PEOPLE)[:, ::-1]):
        assert dense(encoding.transform(X)).tolist() == ENCODED  # columns are found by name
    of_frame, _ = OneHot.fit(PEOPLE)
    assert dense(of_frame.transform(table)).tolist() == ENCODED
    later = PEOPLE | {"age": [1.25, 2.0, 3.0, 4.0], "town": ["Rome", "Ulm", "Bern", None]}
    expected = dense(of_frame.transform(later)).tolist()
    assert dense(encoding.transform(Table(later))).tolist() == expected  # numbers never seen
    assert dense(encoding.transform(later)).tolist() == expected
    assert OneHot.from_json(encoding.to_json()) == encoding


@given(
    numbers=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.5]), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    )
)
def test_numbers_of_tables_frames_and_arrays_are_the_same(numbers):
    X = np.array(numbers)
    frame = pl.DataFrame(X, schema=["x0", "x1", "x2"])
    fitted = [OneHot.fit(given) for given in (X, frame, Table(frame))]
    assert len({encoding.names for encoding, _ in fitted}) == 1
    for encoding, encoded in fitted:
        assert np.array_equal(dense(encoded), X)
        assert np.array_equal(dense(encoding.transform(Table(frame))), X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.array_equal(dense(encoding.transform(X)), X)


def test_numbers_that_were_0_and_1_in_fit_may_be_others_later():
    data = {"n": [0, 1, 1], "town": ["a", "b", "b"]}
    for X in (data, Table(data)):
        encoding, _ = OneHot.fit(X)
        later = {"n": [2, 0], "town": ["a", "b"]}
        for new in (later, Table(later)):
            assert dense(encoding.transform(new)).tolist() == [[2, 1, 0], [0, 0, 1]]


def test_columns_of_nothing():
    encoding, _ = OneHot.fit(PEOPLE)
    for new in (PEOPLE | {"age": [None] * 4}, Table(PEOPLE | {"age": [None] * 4})):
        with pytest.raises(InputError, match="column 'age' has a missing value at row 0"):
            encoding.transform(new)


def test_missing_numbers_of_tables_are_named():
    table = Table({"town": ["a", "b", "b"], "age": [1, 2, None]})
    with pytest.raises(InputError, match="X: column 'age' has a missing value at row 2"):
        OneHot.fit(table)
    encoding, _ = OneHot.fit(Table({"town": ["a", "b", "c"], "age": [1, 2, 3]}))
    with pytest.raises(InputError, match="X: column 'age' has a missing value at row 2"):
        encoding.transform(table)
    with pytest.raises(InputError, match="X: column 'age' has a missing value at row 2"):
        encoding.transform({"town": ["a", "b", "b"], "age": [1, 2, None]})
    none_held = table.take([0, 1])  # which still has the label, but no record of it
    assert dense(encoding.transform(none_held)).tolist() == [[1, 0, 0, 1], [0, 1, 0, 2]]


def test_labels_that_a_table_did_not_have():
    encoding, _ = OneHot.fit(Table({"town": ["Ulm", "Bern"], "age": [1, 2]}))
    later = {"town": ["Rome", "Ulm", None], "age": [5, 6, 7]}
    for X in (later, Table(later)):
        assert dense(encoding.transform(X)).tolist() == [[0, 0, 5], [0, 1, 6], [0, 0, 7]]
        with pytest.raises(InputError, match="column 'town' holds 'Rome', which it did not in fit"):
            encoding.transform(X, unseen="error")


def test_bins_of_a_table_are_labels():
    table = Table({"n": [1.5, 2.5, 7.0]}, discretise=[2, 5])
    encoding, numbers = OneHot.fit(table)
    assert encoding.names == ("n=< 2", "n=2 – 5", "n=>= 5")
    assert dense(numbers).tolist() == np.eye(3).tolist()
    for X in ({"n": [9.0, 2.0]}, Table({"n": [9.0, 2.0]}), np.array([[9.0], [2.0]])):
        assert dense(encoding.transform(X)).tolist() == [[0, 0, 1], [0, 1, 0]]


def test_kinds_of_a_table_say_what_its_numbers_are():
    data = {"code": [3, 1, 3], "n": [5, 6, 7]}
    encoding, numbers = OneHot.fit(Table(data, kinds={"code": "categorical"}))
    assert encoding.names == ("code=1", "code=3", "n")
    assert dense(numbers).tolist() == [[0, 1, 5], [1, 0, 6], [0, 1, 7]]
    assert dense(encoding.transform(data)).tolist() == dense(numbers).tolist()
