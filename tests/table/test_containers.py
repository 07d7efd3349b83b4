"""Whatever data come in, the Table is the same, and what came in is left as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import tacit
from support.containers import (
    ARRAYS,
    BINARY,
    MIXED,
    SPARSE,
    UNORDERED,
    BatchOnly,
    StreamOnly,
    binary_values,
    column_names,
    duckdb_relation,
    mixed_columns,
)
from tacit import InputError, Table
from tacit.table.containers import as_frame, collect, container_kind, is_frame

COLUMNS = mixed_columns()
VALUES = binary_values()


def table_of(data, **options):
    """Make a Table of any container, as its kind asks for."""
    kind = container_kind(data)
    if kind == "table":
        return data
    return tacit.read(data, **options) if kind == "file" else Table(data, **options)


def labels_of(table, column):
    """Return the label of every record in a column."""
    labels = table.schema[column].labels
    return [labels[code] for code in table.codes(column).tolist()]


def assert_says_the_same(table, expected, *, ordered=True):
    """Check that two tables have the same records; where `ordered`, also labels in that order."""
    assert table.schema.names == expected.schema.names
    for name in expected.schema.names:
        assert labels_of(table, name) == labels_of(expected, name)
        assert table.one_way()[name] == expected.one_way()[name]
        if ordered:
            assert table.schema[name].labels.items == expected.schema[name].labels.items
    if ordered:
        np.testing.assert_array_equal(table.schema.defaults, expected.schema.defaults)
        np.testing.assert_array_equal(table.indptr, expected.indptr)
        np.testing.assert_array_equal(table.values, expected.values)


@pytest.mark.parametrize("name", MIXED)
def test_columns_of_several_types_make_the_same_table(name, tmp_path):
    expected = Table(pl.DataFrame(COLUMNS), discretise=3)
    made = MIXED[name](COLUMNS, tmp_path)
    table = made.cut(3) if name == "Table" else table_of(made, discretise=3)
    assert_says_the_same(table, expected, ordered=name not in UNORDERED)
    assert table.schema["member"].labels.dtype == "Boolean"
    assert list(table.schema["member"].labels) == [False, True]
    assert (table.schema["level"].labels.dtype == "Enum") == (name not in UNORDERED)


@pytest.mark.parametrize("name", BINARY)
def test_zeros_and_ones_make_the_same_table(name, tmp_path):
    data = BINARY[name](VALUES, tmp_path)
    options = {"columns": column_names(VALUES)} if name in ARRAYS | SPARSE else {}
    expected = Table(VALUES, columns=column_names(VALUES))
    table = table_of(data, **options)
    assert_says_the_same(table, expected)
    boolean = "bool" in name
    assert {labels.dtype == "Boolean" for labels in table.schema.labels} == {boolean}
    assert all(type(label) is bool for label in table.schema["x0"].labels) == boolean


def test_no_container_is_changed_by_being_read(tmp_path):
    for name, make in MIXED.items():
        data = make(COLUMNS, tmp_path)
        if isinstance(data, pd.DataFrame):
            before = data.copy(deep=True)
            table_of(data, discretise=3)
            pd.testing.assert_frame_equal(data, before)
        elif isinstance(data, pa.Table | pa.RecordBatch):
            before = data.to_pylist()
            table_of(data, discretise=3)
            assert data.to_pylist() == before, name


def test_kinds_of_containers(tmp_path):
    frames = {container_kind(make(COLUMNS, tmp_path)) for make in MIXED.values()}
    assert frames == {"frame", "file", "table"}
    assert {container_kind(make(VALUES, tmp_path)) for make in ARRAYS.values()} == {"array"}
    assert {container_kind(make(VALUES, tmp_path)) for make in SPARSE.values()} == {"sparse"}
    parts = tacit.scan(MIXED["Parquet file"](COLUMNS, tmp_path), columns=["visits"])
    assert container_kind(parts) == "partitions"
    assert container_kind([{"tea"}, {"milk", "tea"}]) == "baskets"
    columns = (pl.Series([1]), pd.Series([1]), pa.array([1]), pa.chunked_array([[1]]))
    for other in (*columns, 5, None, pl.DataFrame):
        assert container_kind(other) is None
        assert not is_frame(other)


def test_frames_without_names_are_no_frames_for_estimators():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert not is_frame(pd.DataFrame([[1]]))
    for make in (pl.LazyFrame, pa.table, lambda c: StreamOnly(pa.table(c))):
        assert is_frame(make({"a": [1]}))


# Queries and streams


def test_queries_are_run_and_anything_else_is_left_alone():
    frame = pl.DataFrame({"a": [1, 2, 3]})
    assert collect(frame.lazy().filter(pl.col("a") > 1)).to_dict(as_series=False) == {"a": [2, 3]}
    for data in (frame, {"a": [1]}, VALUES, "file.csv", None):
        assert collect(data) is data
    with pytest.raises(InputError, match=r"X: the query cannot be run: .*b"):
        as_frame(frame.lazy().select("b"), "X")


def test_a_query_in_duckdb():
    relation = duckdb_relation(pa.table(COLUMNS))
    sums = relation.aggregate("level, count(*) AS n", "level")
    table = Table(sums, weights="n")
    assert sum(table.one_way()["level"].values()) == len(COLUMNS["level"])
    assert isinstance(Table(relation, discretise=3).to_frame(), pa.Table)


def test_streams_that_are_no_tables_are_refused():
    with pytest.raises(InputError, match="data: the Arrow data cannot be read"):
        Table(StreamOnly(pl.Series([1, 2])))
    with pytest.raises(InputError, match="data: the Arrow data cannot be read"):
        Table(BatchOnly(pa.array([1, 2])))


def test_streams_can_be_read_without_pyarrow(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = Table(StreamOnly(pl.DataFrame(COLUMNS)), discretise=3)
    assert_says_the_same(table, Table(pl.DataFrame(COLUMNS), discretise=3))


def test_texts_of_pandas_can_be_read_without_pyarrow(monkeypatch):
    def refuse(*_, **__):
        raise ModuleNotFoundError("No module named 'pyarrow'")

    monkeypatch.setattr(pl, "from_pandas", refuse)  # what texts went through
    texts = ["grey", "blue", None, "grey"]
    for dtype in (pd.StringDtype("python", na_value=np.nan), pd.StringDtype("python"), object):
        frame = pd.DataFrame({"sky": pd.Series(texts, dtype=dtype), "n": [1, 2, 2, 1]})
        assert_says_the_same(Table(frame), Table({"sky": texts, "n": [1, 2, 2, 1]}))
        classes = frame["sky"].fillna("none")
        model = tacit.SparseKNeighborsClassifier(1).fit(frame[["n"]], classes)
        assert model.classes_.tolist() == ["blue", "grey", "none"]


# Names


def test_whole_numbers_are_names_by_their_text():
    frame = pd.DataFrame(VALUES)
    assert Table(frame).schema.names == Table(VALUES).schema.names == tuple("012345")
    assert frame.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert Table({0: [1, 2], np.int64(1): [1, 1]}).schema.names == ("0", "1")
    assert Table(frame).to_frame().columns.tolist() == list("012345")


bad_names = {
    "levels": (
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
        "data: column names have 2 levels; join them first",
    ),
    "0 and '0'": (
        pd.DataFrame([[1, 2]], columns=[0, "0"]),
        "data: the columns 0 and '0' would have the same name; rename one",
    ),
    "0 and '0' of a mapping": ({0: [1], "0": [2]}, "the columns 0 and '0' would have the same"),
    "pandas twice": (
        pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "b"]),
        "data: column names must be distinct, but there is more than one 'a', 'b'",
    ),
    "Arrow twice": (
        pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"]),
        "column names must be distinct, but there is more than one 'x'",
    ),
    "stream twice": (
        StreamOnly(pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"])),
        "column names must be distinct, but there is more than one 'x'",
    ),
    "truth values": (pd.DataFrame([[1]], columns=[True]), "strings or whole numbers, got True"),
    "pairs": (pd.DataFrame({("a", "b"): [1], "c": [2]}), r"whole numbers, got \('a', 'b'\)"),
}


@pytest.mark.parametrize(("data", "message"), bad_names.values(), ids=bad_names)
def test_names_that_are_none_or_not_distinct_are_refused(data, message):
    with pytest.raises(InputError, match=message):
        Table(data)


# Categories


def labels_in(data):
    return list(Table(data).schema["x"].labels)


def test_ordered_categories_keep_their_order_in_every_frame():
    levels = ["low", "mid", "high"]
    codes = [2, 0, -1, 2]
    ordered = pd.Categorical.from_codes(codes, levels, ordered=True)
    indices = pa.array([2, 0, None, 2], pa.int8())
    arrow = pa.DictionaryArray.from_arrays(indices, levels, ordered=True)
    for data in (
        pd.DataFrame({"x": ordered}),
        {"x": ordered},
        {"x": pd.Series(ordered)},
        pa.table({"x": arrow}),
        {"x": arrow},
        pd.DataFrame({"x": pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type))}),
        pa.Table.from_batches(
            pa.table({"x": part}).to_batches()[0]
            for part in (
                arrow[:2],
                pa.DictionaryArray.from_arrays(indices[2:], levels, ordered=True),
            )
        ),
    ):
        table = Table(data)
        assert list(table.schema["x"].labels) == [*levels, None]
        assert table.schema["x"].labels.dtype == "Enum"
        assert table.one_way()["x"] == {"low": 1, "mid": 0, "high": 2, None: 1}


def test_categories_without_order_are_sorted_and_those_that_do_not_occur_left_out():
    assert labels_in(pd.DataFrame({"x": pd.Categorical(["b", "a"], ["b", "c", "a"])})) == ["a", "b"]


def test_categories_that_are_no_strings():
    def category(values, categories=None, ordered=False):
        return pd.DataFrame({"x": pd.Categorical(values, categories, ordered=ordered)})

    assert labels_in(category([5, 1, None])) == [1, 5, None]
    assert labels_in(category([5, 1], [1, 3, 5], ordered=True)) == [1, 5]
    assert labels_in(category([5, 1], [5, 3, 1], ordered=True)) == ["5", "3", "1"]
    assert labels_in(category([True, False])) == [False, True]
    bins = pd.DataFrame({"x": pd.cut([1.0, 2.0, 9.0], [0, 2, 5, 10])})
    assert labels_in(bins) == ["(0, 2]", "(2, 5]", "(5, 10]"]
    with pytest.raises(InputError, match="data: column 'x' has categories that read the same"):
        Table(category(["1", 1], ["1", 1]))


# Objects


def test_objects_are_what_they_hold():
    columns = {
        "flag": [True, None, False],
        "count": [1, None, 2],
        "real": [1, 2.0, float("nan")],
        "text": ["a", None, float("nan")],
    }
    expected = Table(
        {
            "flag": [True, None, False],
            "count": [1, None, 2],
            "real": [1.0, 2.0, None],
            "text": ["a", None, None],
        }
    )
    array = np.array(list(zip(*columns.values(), strict=True)), object)
    for data in (array, np.asfortranarray(array)):
        assert_says_the_same(Table(data, columns=list(columns)), expected)
    assert_says_the_same(Table({k: np.array(v, object) for k, v in columns.items()}), expected)
    assert_says_the_same(Table(pd.DataFrame(columns, dtype=object)), expected)
    assert Table(array).schema.names == ("0", "1", "2", "3")
    assert Table(array, missing="default").schema["0"].labels.missing is None


def test_arrays_of_strings_and_dates():
    texts = np.array([["a", "x"], ["bb", "x"]])
    assert Table(texts).one_way()["0"] == {"a": 1, "bb": 1}
    assert Table(texts.astype("T"), columns=["p", "q"]).one_way()["q"] == {"x": 2}
    days = np.array([["2020-01-01"], ["2020-01-01"]], "M8[D]")
    assert list(Table(days).one_way()["0"].values()) == [2]


def test_record_arrays_of_one_dimension_only():
    records = np.array([(1, "a"), (2, "b")], [("n", "i4"), ("s", "U1")])
    assert Table(records).one_way()["s"] == {"a": 1, "b": 1}
    assert Table(records.view(np.recarray)).schema.names == ("n", "s")
    with pytest.raises(InputError, match="record arrays must have one dimension, got 2"):
        Table(records.reshape(1, 2))


# Sparse columns of pandas


def test_sparse_pandas_columns_are_not_made_dense(monkeypatch):
    wide = sparse.random(50, 2_000, 0.01, random_state=0, format="csr")
    wide.data = np.ceil(wide.data * 3)
    frame = pd.DataFrame.sparse.from_spmatrix(wide)
    with monkeypatch.context() as patch:
        patch.setattr(pd.arrays.SparseArray, "to_dense", None)
        table = Table(frame)
    assert_says_the_same(table, Table(wide))
    pd.testing.assert_frame_equal(table.to_frame(), frame.set_axis(table.schema.names, axis=1))


@pytest.mark.parametrize(
    "column",
    [[1, 2, 1], [0, -3, 0], [0.0, np.nan, 1.0], [True, True, False]],
    ids=["filled with one", "negative", "missing", "truth values beside numbers"],
)
def test_other_sparse_pandas_columns_say_the_same_as_plain_ones(column):
    fill = {"f": 0.0, "b": False}.get(np.array(column).dtype.kind, column[0])
    frame = pd.DataFrame({"a": column, "b": [0, 1, 0]})
    held = frame.astype({"a": pd.SparseDtype(frame["a"].dtype, fill), "b": pd.SparseDtype(int, 0)})
    assert_says_the_same(Table(held), Table(frame))
    pd.testing.assert_frame_equal(Table(held).to_frame(), held)


def test_sparse_pandas_columns_can_be_cut_or_be_weights():
    frame = pd.DataFrame({"a": [0.0, 1.5, 0.0], "w": [1.0, 0.0, 2.0]})
    held = frame.astype(pd.SparseDtype(float, 0))
    table = Table(held, discretise={"a": [1.0]}, weights="w")
    assert table.one_way()["a"] == {"< 1": 3.0, ">= 1": 0.0}
    assert Table(held).one_way()["a"] == {0.0: 2, 1.5: 1}
