"""What a model of rules makes of its X: the same columns from every container, or a clear error."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import BaseEstimator

from oracles import rule_columns as oracle
from support.rule_records import MIXED, SIZES, polars_frame
from support.rule_records import dense_columns as dense
from support.rule_records import fit_columns as fit
from support.rule_records import read_columns as read
from tacit import Table, _core
from tacit.errors import InputError
from tacit.rules.columns.features import RuleFeatures

NAN = float("nan")
X = np.array(
    [
        [0.0, 0.0, 2.0, 0.0],
        [1.0, 0.0, -3.0, NAN],
        [0.0, 0.0, 2.0, 5.0],
        [4.5, -1.0, 2.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
NUMBERS = X[:, :3]


def decoded(coded):
    """Turn codes back into numbers."""
    out = np.full((coded.n_records, len(coded.kinds)), NAN)
    for c, (default, start) in enumerate(zip(coded.defaults, coded.code_start, strict=False)):
        if default >= 0:
            out[:, c] = coded.lower[start + default]
        for run in range(coded.column_runs[c], coded.column_runs[c + 1]):
            rows = coded.records[coded.run_start[run] : coded.run_start[run + 1]]
            code = coded.run_codes[run]
            out[rows, c] = coded.lower[start + code] if code >= 0 else NAN
    return out


def unsorted(array):
    rows = sparse.csr_array(array)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
    )
    return sparse.csr_array((rows.data[order], rows.indices[order], rows.indptr), rows.shape)


def wide(array, kind):
    given = kind(array)
    given.indptr, given.indices = given.indptr.astype(np.int64), given.indices.astype(np.int64)
    return given


def explicit(array):
    rows, columns = np.indices(array.shape).reshape(2, -1)
    return sparse.csc_array((array.reshape(-1), (rows, columns)), array.shape)


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


CONTAINERS = {
    "F order": np.asfortranarray,
    "float32": lambda a: a.astype(np.float32),
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "objects": lambda a: a.astype(object),
    "lists": lambda a: a.tolist(),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "explicit zeros": explicit,
    "unsorted rows": unsorted,
    "unsorted columns": lambda a: unsorted(a.T).T,
    "int64 indices": lambda a: wide(a, sparse.csc_array),
    "float32 csr": lambda a: sparse.csr_array(a.astype(np.float32)),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_array_is_the_same(container):
    given = CONTAINERS[container](X)
    features, coded = fit(given)
    expected = fit(X)
    assert features == expected[0]
    np.testing.assert_array_equal(decoded(coded), X)
    for name in ("run_codes", "run_start", "records", "lower", "defaults"):
        np.testing.assert_array_equal(getattr(coded, name), getattr(expected[1], name))
    np.testing.assert_array_equal(dense(read(features, given)), X)


def test_sparse_arrays_of_nothing_but_zeros():
    estimator = BaseEstimator()
    features, coded = fit(sparse.csr_array((3, 2)), estimator)
    assert len(coded.records) == 0
    np.testing.assert_array_equal(decoded(coded), np.zeros((3, 2)))
    new = read(features, sparse.csc_array((3, 2)), estimator)
    condition = np.array([0, 1]), np.array([1], np.int32), np.zeros(1, np.uint8), np.zeros(1)
    indptr, rules = _core.rule_cover(*new.arguments, *condition, 1)
    assert (indptr.tolist(), rules.tolist()) == ([0, 1, 2, 3], [0, 0, 0])


def test_sparse_input_stays_as_it_was():
    given = unsorted(X)
    before = given.indices.copy(), given.data.copy()
    fit(given)
    np.testing.assert_array_equal(given.indices, before[0])
    np.testing.assert_array_equal(given.data, before[1])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64])
def test_whole_numbers_and_booleans_of_arrays_are_ordinal(dtype):
    given = np.abs(NUMBERS).astype(dtype)
    for array in (given, sparse.csr_array(given)):
        features, coded = fit(array)
        assert not features.kinds.any()
        np.testing.assert_array_equal(decoded(coded), given)


def pandas_frame():
    frame = pd.DataFrame(MIXED)
    frame["age"] = frame["age"].astype("Int64")
    frame["pays"] = frame["pays"].astype("boolean")
    frame["size"] = pd.Categorical(frame["size"], SIZES, ordered=True)
    frame["town"] = pd.Categorical(frame["town"])
    return frame


def arrow_table():
    table = pa.table({name: pa.array(values) for name, values in MIXED.items()})
    codes = pa.array([1, 0, None, 2], pa.int8())
    sizes = pa.DictionaryArray.from_arrays(codes, SIZES, ordered=True)
    return table.set_column(1, "size", sizes)


def test_every_frame_is_the_same():
    day = [18292.0, 18628.0, NAN, 18292.0]
    expected = np.array(
        [
            [31, NAN, 44, 31],
            [1, 0, NAN, 2],
            [1, 0, 1, NAN],
            [1, 0, NAN, 1],
            day,
        ]
    ).T
    for frame in (polars_frame(), pandas_frame(), arrow_table(), Table(polars_frame())):
        features, coded = fit(frame)
        assert features.kinds.tolist() == [0, 0, 1, 1, 0]
        assert features.labels(1).items == tuple(SIZES)
        assert features.labels(2).items == ("Bern", "Ulm")
        assert features.labels(0) is features.labels(4) is None
        estimator = BaseEstimator()
        features.spec.note(estimator)
        np.testing.assert_array_equal(dense(read(features, frame, estimator)), expected)
        np.testing.assert_array_equal(decoded(coded), expected)
        assert RuleFeatures.from_json(features.to_json()) == features


def test_a_frame_of_a_mapping_and_names_are_noted():
    estimator = BaseEstimator()
    features, _ = fit({"a": [1, 2], "b": ["x", "y"]}, estimator)
    assert features.spec.origin == "frame"
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    fit(X, estimator)
    assert estimator.n_features_in_ == 4
    assert not hasattr(estimator, "feature_names_in_")
    loaded = BaseEstimator()
    features.spec.note(loaded)
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    fit(X)[0].spec.note(loaded)
    assert loaded.n_features_in_ == 4
    assert not hasattr(loaded, "feature_names_in_")


def test_arrays_of_strings_have_labels():
    given = np.array([["a", 1.0], ["b", NAN], [None, 2.0]], dtype=object)
    features, coded = fit(given)
    assert (features.spec.origin, features.kinds.tolist()) == ("array", [1, 0])
    np.testing.assert_array_equal(decoded(coded), [[0, 1], [1, NAN], [NAN, 2]])
    new = read(features, np.array([["b", 3.0], ["c", 0.0]], dtype=object))
    np.testing.assert_array_equal(dense(new), [[1, 3], [-2, 0]])


def test_the_default_of_a_table_is_predominant():
    table = Table({"n": [5, 5, 2, None], "s": ["x", "y", "y", "y"]}, defaults={"n": 2, "s": "x"})
    features, coded = fit(table)
    assert features.kinds.tolist() == [0, 1]
    assert [coded.lower[coded.code_start[c] + coded.defaults[c]] for c in (0, 1)] == [2.0, 0.0]
    np.testing.assert_array_equal(decoded(coded), [[5, 0], [5, 1], [2, 1], [NAN, 1]])
    assert len(coded.records) == 6
    missing = Table({"n": [5, None, None]}, defaults={"n": None})
    assert fit(missing)[1].defaults.tolist() == [-1]


def test_bins_of_a_table_are_ordinal():
    table = Table({"n": [1.5, 2.5, 7.0]}, discretise=[2, 5])
    features, coded = fit(table)
    assert features.kinds.tolist() == [0]
    assert features.text(0, 1, float(coded.thresholds(0, 1, 1, 2))) == "n ≥ 5"
    assert features.text(0, 0, 0.5) == "n < 2"
    new = read(features, {"n": [7.5, 2.0, 1.0, None]})  # raw numbers fall into the bins
    np.testing.assert_array_equal(dense(new), [[2], [1], [0], [NAN]])
    binned = Table({"n": [7.5, 2.0, 1.0, None]}, discretise=[2, 5])
    np.testing.assert_array_equal(dense(read(features, binned)), dense(new))
    assert RuleFeatures.from_json(features.to_json()) == features


def test_columns_of_tables_are_found_by_name():
    features, _ = fit(Table({"a": [1, 2, 2], "b": ["x", "y", "y"]}))
    other = Table({"c": [1, 0], "b": ["z", "y"], "a": [7, 1]})
    np.testing.assert_array_equal(dense(read(features, other)), [[7, -2], [1, 1]])
    with pytest.raises(InputError, match="X: there is no column 'b'"):
        read(features, Table({"a": [1]}))


# Predominant values


@settings(max_examples=50)
@given(data=st.data())
def test_what_is_default_changes_nothing_but_what_is_stored(data):
    values = st.sampled_from([0.0, 0.0, 1.0, -2.0, NAN])
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 3)))
    given = data.draw(hnp.arrays(np.float64, shape, elements=values))
    n = shape[1]
    chosen = data.draw(
        st.sampled_from(["auto", "zero", "none"])
        | st.lists(values | st.just(0.5), min_size=n, max_size=n)
        | st.dictionaries(st.integers(0, n - 1), values)
    )
    _, coded = fit(sparse.csr_array(given) if data.draw(st.booleans()) else given, defaults=chosen)
    np.testing.assert_array_equal(decoded(coded), given)
    _core.RuleColumns(*coded.arguments)  # which finds nothing wrong with it
    if chosen == "none":
        assert len(coded.records) == np.count_nonzero(~np.isnan(given))
    if chosen == "zero":
        assert len(coded.records) == np.count_nonzero(given)
    if chosen == "auto":
        most = [
            max(np.isnan(column).sum(), *(np.sum(column == v) for v in column), 0)
            for column in given.T
        ]
        assert len(coded.records) == given.size - sum(most)


def test_default_values_by_name_and_label():
    _, coded = fit(polars_frame(), defaults={"town": "Bern", "size": None, "age": 7, 3: True})
    assert coded.defaults.tolist() == [0, -1, 0, 1, 0]
    assert coded.lower[0] == 7


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ("most", "defaults must be 'auto', 'zero', 'none'"),
        (3, "defaults must be 'auto', 'zero', 'none'"),
        ([0.0], "defaults must have 5 values, one for each column; got 1"),
        ({"tow": 1}, "defaults: there is no column 'tow'"),
        ({9: 1}, "defaults: column 9 is not among the 5 columns"),
        ({1.5: 1}, "defaults must be a column's name or position, got 1.5"),
        ({"town": "Rome"}, "defaults: column 'town' has no label 'Rome'"),
        ({"age": "old"}, "defaults: column 'age' holds numbers, got 'old'"),
        ({"age": float("inf")}, "defaults: column 'age' holds numbers, got inf"),
    ],
)
def test_default_values_that_cannot_be(defaults, message):
    with pytest.raises(InputError, match=message):
        fit(polars_frame(), defaults=defaults)


# Other options


def test_nominal_columns_of_numbers():
    features, coded = fit(X, kinds={0: "categorical", -1: "identifier"})
    assert features.kinds.tolist() == [1, 0, 0, 1]
    assert coded.thresholds([0], [2], [2], [2]).tolist() == [4.5]
    assert features.text(0, 3, 4.5) == "x0 ≠ 4.5"
    for frame in (polars_frame(), Table(polars_frame())):
        assert fit(frame, kinds={"age": "categorical"})[0].kinds.tolist() == [1, 0, 1, 1, 0]
    assert fit(X, kinds={"x1": "categorical"})[0].kinds.tolist() == [0, 1, 0, 0]
    for wrong in ({"x9": "categorical"}, {4: "numeric"}, {True: "numeric"}, ["x1"], "x1", 3):
        with pytest.raises(InputError, match="kinds"):
            fit(X, kinds=wrong)
    with pytest.raises(InputError, match=r"column 'x1' must be one of numeric, .*; got 'nominal'"):
        fit(X, kinds={"x1": "nominal"})


def test_kinds_that_are_boolean_have_two_values():
    three = np.array([[0.0], [1.0], [5.0], [0.0]])
    table = Table({"x0": [0, 1, 5, 0]})
    for X3 in (
        three,
        sparse.csr_array(three),
        {"x0": [0, 1, 5, None]},
        table,
        {"x0": list("abcc")},
    ):
        with pytest.raises(InputError, match="kinds: column 'x0' has 3 labels, not two"):
            fit(X3, kinds={"x0": "boolean"})
    two = three.clip(0, 1)
    for X2 in (two, sparse.csr_array(two), {"x0": [0, 1, None]}, {"x0": ["a", "b", "b"]}):
        assert fit(X2, kinds={"x0": "boolean"})[0].kinds.tolist() == [1]


def test_labels_that_kinds_call_ordered():
    sizes = pl.DataFrame({"size": ["a", "c", "b", None]})
    for frame in (sizes, Table(sizes)):
        features, coded = fit(frame, kinds={"size": "ordered"})
        assert features.kinds.tolist() == [0]
        assert features.text(0, 1, float(coded.thresholds(0, 1, 0, 1))) == "size > a"
        new = read(features, {"size": ["b", "z", None]})
        np.testing.assert_array_equal(dense(new), [[1], [NAN], [NAN]])  # unseen: in no order
        assert RuleFeatures.from_json(features.to_json()) == features


def test_text_that_kinds_call_numeric():
    given = {"n": ["10", "9", None, "2.5"]}
    features, coded = fit(given, kinds={"n": "numeric"})
    assert features.kinds.tolist() == [0]
    np.testing.assert_array_equal(decoded(coded), [[10], [9], [NAN], [2.5]])
    with pytest.raises(InputError, match="kinds: column 'n' is no number at record 1: 'x'"):
        fit({"n": ["1", "x"]}, kinds={"n": "numeric"})


def test_only_ordinal_numbers_are_binned():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"n": rng.normal(size=300), "k": rng.integers(0, 40, 300), "s": rng.integers(0, 40, 300)}
    ).with_columns(pl.col("s").cast(pl.String))
    for how in ("width", "frequency"):
        _, coded = fit(frame, bins=(how, 8), kinds={"k": "categorical"})
        sizes = np.diff(coded.code_start)
        assert sizes[0] <= 10
        assert sizes[1:].tolist() == [40, 40]
        edges = coded.thresholds(np.zeros(sizes[0] - 1), 0, range(sizes[0] - 1), range(1, sizes[0]))
        cut = np.digitize(frame["n"], edges, right=True)
        assert np.array_equal(cut, np.digitize(decoded(coded)[:, 0], edges, right=True))


@pytest.mark.parametrize("bins", ["width", ("depth", 3), ("width", 1), ("width", 2.5), 7])
def test_bins_that_cannot_be(bins):
    with pytest.raises(InputError, match="bins"):
        fit(X, bins=bins)


# Thresholds and text


@given(
    numbers=st.lists(
        st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6, unique=True
    )
)
def test_thresholds_are_half_way_and_tell_the_numbers_apart(numbers):
    numbers = sorted(set(np.array(numbers) + 0.0))
    _, coded = fit(np.array(numbers)[:, None])
    low = np.arange(len(numbers) - 1)
    thresholds = coded.thresholds(np.zeros(len(low)), np.zeros(len(low)), low, low + 1)
    for t, a, b in zip(thresholds, numbers[:-1], numbers[1:], strict=True):
        assert a <= t < b
        # Halves of the least numbers are rounded, by the least number there is.
        assert t == a or abs(t - (a / 2 + b / 2)) <= 1e-15 * max(abs(a), abs(b)) + 5e-324


def test_thresholds_of_neighbours_and_of_the_largest_numbers():
    top = np.finfo(float).max
    above = np.nextafter(1.0, 2)
    for numbers, expected in (
        ([1.0, above], 1.0),
        ([-top, top], 0.0),
        ([top / 2, top], top * 0.75),
        ([0.0, 5e-324], 0.0),
        ([-5e-324, 0.0], -5e-324),
        ([1.0, 2.0], 1.5),
    ):
        assert fit(np.array(numbers)[:, None])[1].thresholds(0, 0, 0, 1) == expected


def test_conditions_as_text():
    features, coded = fit(polars_frame())
    assert features.text(0, 1, float(coded.thresholds(0, 1, 0, 1))) == "age > 37.5"
    assert features.text(1, 0, float(coded.thresholds(1, 0, 1, 2))) == "size ≤ M"
    assert features.text(2, 2, 1.0) == "town = Ulm"
    assert features.text(3, 3, 1.0) == "pays ≠ True"
    assert features.text(3, 2, 0.0) == "pays = False"
    assert features.text(4, 1, float(coded.thresholds(4, 1, 0, 1))) == "day > 2020-07-17"
    assert features.value_text(0, 1234567.5) == "1234567.5"
    assert features.value_text(0, 1 / 3) == "0.333333"


# Other data


def test_labels_never_seen_satisfy_only_is_not():
    estimator = BaseEstimator()
    given = {"town": ["Ulm", "Bern"], "size": pl.Series(["S", "M"], dtype=pl.Enum(["S", "M"]))}
    features, _ = fit(given, estimator)
    new = read(features, {"town": ["Rome", None, "Ulm"], "size": ["XXL", "M", None]}, estimator)
    np.testing.assert_array_equal(dense(new), [[-2, NAN], [NAN, 1], [1, NAN]])
    rules = [[(0, 2, 0.0)], [(0, 3, 0.0)], [(1, 0, 0.5)], [(1, 1, 0.5)]]
    expected = [[q for q, rule in enumerate(rules) if oracle.covers(x, rule)] for x in dense(new)]
    assert expected == [[1], [3], [1]]
    flat = [condition for [condition] in rules]
    columns, ops, thresholds = (
        np.array(cells, kind)
        for cells, kind in zip(zip(*flat, strict=True), (np.int32, np.uint8, float), strict=True)
    )
    indptr, covering = _core.rule_cover(*new.arguments, np.arange(5), columns, ops, thresholds, 1)
    assert np.split(covering, indptr[1:-1])[0].tolist() == [1]
    assert covering.tolist() == [1, 3, 1]


def test_other_columns_than_in_fit():
    estimator = BaseEstimator()
    features, _ = fit(pl.DataFrame({"a": [1.0], "b": [2.0]}), estimator)
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*c.*yet now missing.*b"):
        read(features, pl.DataFrame({"a": [1.0], "c": [2.0]}), estimator)
    with pytest.raises(ValueError, match="same order"):
        read(features, pl.DataFrame({"b": [1.0], "a": [2.0]}), estimator)
    features, _ = fit(X, estimator)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* 4 features"):
        read(features, NUMBERS, estimator)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* 4 features"):
        read(features, sparse.csr_array(NUMBERS), estimator)


@pytest.mark.parametrize(
    ("column", "other", "message"),
    [
        ("age", ["old"], "column 'age' holds String, but in fit numbers"),
        ("town", [3], "column 'town' holds Int64, but in fit labels"),
        ("day", [3], "column 'day' holds Int64, but in fit Date"),
        ("age", [dt.date(2020, 1, 1)], "column 'age' holds Date, but in fit numbers"),
    ],
)
def test_columns_of_another_type(column, other, message):
    estimator = BaseEstimator()
    features, _ = fit(polars_frame(), estimator)
    new = {name: pl.Series(values[:1]) for name, values in MIXED.items()} | {column: other}
    with pytest.raises(InputError, match=message):
        read(features, new, estimator)
    with pytest.raises(InputError, match=message):
        read(features, Table(new), estimator)


def test_numbers_where_labels_are_expected():
    estimator = BaseEstimator()
    features, _ = fit(np.array([["a"], ["b"]], dtype=object), estimator)
    with pytest.raises(InputError, match="X holds numbers, but in fit column 'x0' held labels"):
        read(features, np.ones((2, 1)), estimator)


def test_columns_of_nothing():
    estimator = BaseEstimator()
    features, coded = fit({"a": [None, None], "b": [1, 1]}, estimator)
    assert coded.defaults.tolist() == [-1, 0]
    assert len(coded.records) == 0
    new = read(features, {"a": [3.0], "b": [None]}, estimator)
    np.testing.assert_array_equal(dense(new), [[3, NAN]])
    empty = pl.Series([None], dtype=pl.String)
    features, _ = fit({"a": empty}, estimator)
    np.testing.assert_array_equal(dense(read(features, {"a": ["x"]}, estimator)), [[-2]])


# Bad input


def with_duplicates(kind):
    given = kind(NUMBERS)
    given.indices = given.indices.copy()
    major = int(np.argmax(np.diff(given.indptr) > 1))
    first = given.indptr[major]
    given.indices[first + 1] = given.indices[first]
    return given


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_duplicates_of_sparse_arrays_are_added_up(kind):
    given = with_duplicates(kind)
    before = given.nnz
    np.testing.assert_array_equal(decoded(fit(given)[1]), decoded(fit(given.toarray())[1]))
    assert given.nnz == before


BAD = {
    "inf": (np.array([[0.0, 1.0], [0.0, -np.inf]]), "infinity: -inf at row 1, column 1"),
    "sparse inf": (
        sparse.csr_array(np.array([[0.0, 1.0], [np.inf, 0.0]])),
        "infinity: inf at row 1, column 0",
    ),
    "frame inf": ({"a": [1.0, np.inf]}, "infinity: inf at row 1, column 'a'"),
    "lists": ({"a": [[1], [2]]}, "column 'a' holds List"),
    "strings and numbers": (
        np.array([["a"], [1.5]], dtype=object),
        "column 'x0' cannot be read: it holds values of these types: float, str",
    ),
    "objects": (
        np.array([[{}], [1.5]], dtype=object),
        "column 'x0' cannot be read: it holds values of these types: dict, float",
    ),
    "no columns": (pl.DataFrame(), "no columns"),
    "no records": (pl.DataFrame({"a": []}), "no records"),
    "empty array": (np.empty((0, 2)), "0 sample"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    given, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        fit(given)
