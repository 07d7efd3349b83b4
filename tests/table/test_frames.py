"""Frames in and the same frames out: pandas, Polars, Arrow."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal

from tacit import InputError, Table

DAY = dt.date(2020, 2, 29)
MOMENT = dt.datetime(2021, 7, 1, 12, 30, 15, 250)
ZURICH = ZoneInfo("Europe/Zurich")


def instants(unit, zone=None):
    """Moments at the finest resolution of a unit, far apart and close together."""
    counts = pl.Series([0, 1, 2, 1_600_000_000_001, -5, None, 1], dtype=pl.Int64)
    series = counts.cast(pl.Datetime(unit))
    return series if zone is None else series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def autumn_hours():
    """Four instants around the hour that a clock shows twice."""
    hours = [dt.datetime(2021, 10, 30, 23, 30) + dt.timedelta(hours=h) for h in (0, 1, 2, 1)]
    return pl.Series(hours).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Zurich")


polars_columns = {
    "String": pl.Series(["b", "a", None, "b", "", "a label longer than a view", "é"]),
    "Categorical": pl.Series(["z", "a", None, "z"], dtype=pl.Categorical),
    "Enum": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
    "Boolean": pl.Series([True, None, False, True]),
    "Date": pl.Series([DAY, None, dt.date(1969, 1, 1), DAY]),
    "Datetime ms": instants("ms"),
    "Datetime us": instants("us"),
    "Datetime ns": instants("ns"),
    "Datetime UTC": instants("us", "UTC"),
    "Datetime zone": instants("ms", "Europe/Zurich"),
    "Datetime fold": autumn_hours(),
    "Time": pl.Series([dt.time(1), None, dt.time(23, 59, 59, 999_999), dt.time(1)]),
    "Time ns": pl.Series([1, 2, None, 1], dtype=pl.Int64).cast(pl.Time),
    "Duration ms": pl.Series([5, -3, None, 5]).cast(pl.Duration("ms")),
    "Duration us": pl.Series([5, -3, None, 5]).cast(pl.Duration("us")),
    "Duration ns": pl.Series([5, 7, None, 5]).cast(pl.Duration("ns")),
    "Float64": pl.Series([1.0, -2.0, None, 1e300, 1.0]),
    "Float32": pl.Series([1.0, -2.0, None, 1.0], dtype=pl.Float32),
    "Null": pl.Series([None, None], dtype=pl.Null),
    "String of nulls": pl.Series([None, None], dtype=pl.String),
    "Int64 of nulls": pl.Series([None, None], dtype=pl.Int64),
    "one value": pl.Series([7, 7, 7]),
}
for kind in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64):
    lowest, highest = pl.select(kind.min(), kind.max().alias("high")).row(0)
    polars_columns[str(kind)] = pl.Series([lowest, 3, None, highest, 3], dtype=kind)


@pytest.mark.parametrize("series", polars_columns.values(), ids=polars_columns)
def test_polars_frames_come_back_as_they_were(series):
    frame = pl.DataFrame({"x": series, "other": [1, 2, *[1] * (len(series) - 2)]})
    before = frame.clone()
    assert_frame_equal(Table(frame).to_frame(), before)
    assert_frame_equal(frame, before)


@pytest.mark.parametrize("series", polars_columns.values(), ids=polars_columns)
def test_every_record_is_counted_under_its_own_label(series):
    table = Table(pl.DataFrame({"x": series}))
    counts = table.one_way()["x"]
    assert len(counts) == len(table.schema["x"].labels)
    assert sum(counts.values()) == len(series)
    assert sum(n > 0 for n in counts.values()) == series.n_unique()


@given(
    values=st.lists(
        st.tuples(
            st.none() | st.text(max_size=15),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.integers(-(2**53), 2**53).map(float),
            st.none() | st.booleans(),
            st.none() | st.dates(),
            st.none() | st.datetimes(),
            st.none() | st.times(),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=40)
def test_any_values_come_back(values):
    kinds = [pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Datetime("us"), pl.Time]
    frame = pl.DataFrame(values, schema=dict(zip("abcdefg", kinds, strict=True)), orient="row")
    table = Table(frame)
    assert_frame_equal(table.to_frame(), frame)
    for name in frame.columns:
        for label, count in table.one_way()[name].items():
            same = [x for x in frame[name].to_list() if x == label or (x is label is None)]
            assert count == len(same) == table.count({name: label})


def test_not_a_number_is_missing():
    table = Table({"x": [1.0, float("nan"), None, 1.0]})
    assert table.one_way()["x"] == {1.0: 2, None: 2}
    assert table.to_frame()["x"].to_list() == [1.0, None, None, 1.0]


def test_zero_and_minus_zero_are_one_label():
    assert Table({"x": [0.0, -0.0, 1.0]}).one_way()["x"] == {0.0: 2, 1.0: 1}


def test_labels_are_sorted_with_missing_last():
    assert list(Table({"x": ["b", None, "a", "C"]}).schema["x"].labels) == ["C", "a", "b", None]
    assert list(Table({"x": [10, None, 9]}).schema["x"].labels) == [9, 10, None]


def test_several_chunks_and_slices_are_read_in_order():
    parts = [
        pl.DataFrame({"x": ["a", None, long], "n": [1, 2, None]}) for long in ("b" * 20, "c" * 30)
    ]
    frame = pl.concat([*parts, *parts], rechunk=False)
    assert_frame_equal(Table(frame).to_frame(), frame)
    assert_frame_equal(Table(frame[2:9]).to_frame(), frame[2:9])


pandas_columns = {
    "str": pd.Series(["a", "b", None, "a"], dtype="str"),
    "object": pd.Series(["a", "b", "a"], dtype=object),
    "object of bools": pd.Series([True, None, False], dtype=object),
    "category": pd.Series(["a", "b", None, "a"], dtype="category"),
    "ordered category": pd.Series(
        pd.Categorical(["lo", "hi", None], ["lo", "mid", "hi"], ordered=True)
    ),
    "category of ints": pd.Series(pd.Categorical([5, 1, 5])),
    "ordered category of ints": pd.Series(pd.Categorical([5, 1, None], [1, 5, 7], ordered=True)),
    "ints in an order of their own": pd.Series(pd.Categorical([5, 1], [5, 3, 1], ordered=True)),
    "category of bools": pd.Series(pd.Categorical([True, None, False])),
    "category of dates": pd.Series(pd.Categorical(pd.to_datetime(["2021-01-01", "2020-01-01"]))),
    "category of intervals": pd.Series(pd.cut([1.5, 7.5, 3.0], 3)),
    "category of several types": pd.Series(pd.Categorical(["a", 1, None], ["a", 1])),
    "category of nothing": pd.Series(pd.Categorical([None, None])),
    "Sparse[int]": pd.Series(pd.arrays.SparseArray([0, 3, 0, 1])),
    "Sparse[float]": pd.Series(pd.arrays.SparseArray([np.nan, 3.0, np.nan])),
    "Sparse[bool]": pd.Series(pd.arrays.SparseArray([True, False, False])),
    "int64": pd.Series([3, 1, 3]),
    "int8": pd.Series([3, 1, 3], dtype="int8"),
    "uint64": pd.Series([2**64 - 1, 1], dtype="uint64"),
    "Int64": pd.Series([3, None, 1], dtype="Int64"),
    "large Int64": pd.Series([2**60 + 1, None, 1], dtype="Int64"),
    "large UInt64": pd.Series([2**64 - 1, None, 1], dtype="UInt64"),
    "float64": pd.Series([1.0, np.nan, 3.0]),
    "float32": pd.Series([1.0, np.nan, 3.0], dtype="float32"),
    "Float64": pd.Series([1.0, None, 3.0], dtype="Float64"),
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "datetime64[s]": pd.Series([MOMENT, None, DAY]).astype("datetime64[s]"),
    "datetime64[us]": pd.Series([MOMENT, None, DAY]).astype("datetime64[us]"),
    "datetime64[ns]": pd.Series([1, 2, None, 10**18], dtype="Int64").astype("datetime64[ns]"),
    "datetime with zone": pd.Series([MOMENT, None], dtype="datetime64[us]").dt.tz_localize(ZURICH),
    "timedelta": pd.Series([dt.timedelta(seconds=5), None], dtype="timedelta64[us]"),
    "string[pyarrow]": pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
    "int64[pyarrow]": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
}


@pytest.mark.parametrize("series", pandas_columns.values(), ids=pandas_columns)
def test_pandas_frames_come_back_as_they_were(series):
    frame = pd.DataFrame({"x": series, "other": range(len(series))})
    before = frame.copy(deep=True)
    pd.testing.assert_frame_equal(Table(frame).to_frame(), before)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("values", [["a", None, "b"], [1, None, 2], [2**60 + 1, None]])
def test_objects_come_back_with_what_is_missing_still_missing(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    back = Table(frame).to_frame()["x"]
    assert back.dtype == object
    for value, given_value in zip(back, values, strict=True):
        if given_value is None:
            assert pd.isna(value)
        else:
            assert value == given_value
            assert type(value) is type(given_value)


arrow_columns = {
    "string": pa.array(["b", None, "a"]),
    "large_string": pa.array(["b", None, "a"], pa.large_string()),
    "dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
    "ordered dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 2], pa.int8()), ["lo", "mid", "hi"], ordered=True
    ),
    "ordered dictionary of ints": pa.DictionaryArray.from_arrays(
        [1, None, 2], [1, 2, 4], ordered=True
    ),
    "ints in an order of their own": pa.DictionaryArray.from_arrays(
        [1, None, 2], [4, 1, 2], ordered=True
    ),
    "int8": pa.array([1, None, -1], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 1], pa.uint64()),
    "double": pa.array([1.0, None, 2.0]),
    "bool": pa.array([True, None, False]),
    "date32": pa.array([DAY, None, DAY]),
    "timestamp": pa.array([MOMENT, None, MOMENT], pa.timestamp("us")),
    "timestamp with zone": pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "UTC")),
    "time64": pa.array([dt.time(1), None, dt.time(2)], pa.time64("us")),
    "duration": pa.array([dt.timedelta(1), None, dt.timedelta(2)], pa.duration("us")),
    "null": pa.array([None, None, None]),
}


@pytest.mark.parametrize("column", arrow_columns.values(), ids=arrow_columns)
def test_arrow_tables_come_back_as_they_were(column):
    data = pa.table({"x": column, "other": [1, 2, 2]})
    back = Table(data).to_frame()
    assert isinstance(back, pa.Table)
    assert back.to_pylist() == data.to_pylist()
    assert back.schema.types == data.schema.types


def test_any_frame_can_come_back_as_any_other():
    columns = {"s": ["a", None, "b"], "n": [1, 2, 2], "f": [True, False, True]}
    frames = [pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns), columns]
    expected = pl.DataFrame(columns)
    for frame in frames:
        table = Table(frame)
        assert_frame_equal(table.to_frame("polars"), expected)
        assert table.to_frame("pyarrow").to_pylist() == expected.to_dicts()
        back = table.to_frame("pandas")
        assert isinstance(back, pd.DataFrame)
        assert back["n"].tolist() == columns["n"]
        assert back["s"].isna().tolist() == [False, True, False]
    assert isinstance(Table(columns).to_frame(), pl.DataFrame)


def test_parts_of_a_pandas_table_come_back_as_pandas():
    frame = pd.DataFrame({"a": pd.Series([1, None, 3], dtype="Int64"), "b": ["x", "y", "x"]})
    table = Table(frame)
    pd.testing.assert_frame_equal(table.select(["b"]).to_frame(), frame[["b"]])
    expected = frame.iloc[[0, 2]].reset_index(drop=True)
    pd.testing.assert_frame_equal(table.take([0, 2]).to_frame(), expected)
    pd.testing.assert_frame_equal(table.with_defaults({"b": "y"}).to_frame(), frame)
    both = pd.concat([frame, frame], ignore_index=True)
    pd.testing.assert_frame_equal(Table.concat([table, table]).to_frame(), both)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_with_columns_that_are_cut_come_back_with_bins(make):
    table = Table(make({"x": [1.5, 7.5, None], "n": [1, 2, 2]}), discretise={"x": [5.0]})
    back = table.to_frame()
    assert type(back) is type(make({"x": [1]}))
    assert pl.DataFrame(back).to_dict(as_series=False) == {
        "x": ["< 5", ">= 5", None],
        "n": [1, 2, 2],
    }


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, dict])
def test_missing_values_are_a_state_the_default_or_an_error(make):
    data = make({"s": ["a", "b", None, "b", None, None], "n": [1, 2, 1, 1, 1, 1]})
    assert Table(data).one_way()["s"] == {"a": 1, "b": 2, None: 3}
    assert Table(data, missing="state").schema["s"].default_label is None
    assert Table(data, missing="default").one_way()["s"] == {"a": 1, "b": 5}
    as_a = Table(data, missing="default", defaults={"s": "a"})
    assert as_a.one_way()["s"] == {"a": 4, "b": 2}
    assert as_a.codes("s").tolist() == [0, 1, 0, 1, 0, 0]
    with pytest.raises(InputError, match="column 's' has a missing value at record 2, and missing"):
        Table(data, missing="error")


@pytest.mark.parametrize("series", polars_columns.values(), ids=polars_columns)
@pytest.mark.parametrize("missing", ["default", "error"])
def test_missing_values_of_every_type_can_be_filled_or_refused(series, missing):
    frame = pl.DataFrame({"x": series})
    if missing == "error" and series.null_count():
        place = series.is_null().arg_max()
        with pytest.raises(InputError, match=f"column 'x' has a missing value at record {place}"):
            Table(frame, missing=missing)
        return
    table = Table(frame, missing=missing)
    if series.null_count() == len(series):
        assert list(table.schema["x"].labels) == [None]
        return
    assert table.schema["x"].labels.missing is None
    back, missing_rows = table.to_frame()["x"], series.is_null()
    assert_series_equal(back.filter(~missing_rows), series.filter(~missing_rows), check_names=False)
    default = table.schema["x"].default
    assert set(table.codes("x")[missing_rows.to_numpy()].tolist()) <= {default}


refused = {
    "inf": ({"x": [1.0, float("inf")]}, "column 'x' holds inf at record 1"),
    "minus inf": ({"x": [float("-inf")]}, "column 'x' holds -inf at record 0"),
    "lists": ({"x": [[1], [2]]}, r"column 'x' has the type List\(Int64\), which is not discrete"),
    "structs": ({"x": [{"a": 1}]}, "column 'x' has the type Struct.* which is not discrete"),
    "binary": ({"x": [b"a"]}, "column 'x' has the type Binary, which is not discrete"),
    "objects": ({"x": [object()]}, "column 'x' has the type Object, which is not discrete"),
    "mixed": ({"x": [1, "a"]}, "the mapping does not make a frame"),
    "lengths": ({"x": [1, 2], "y": [1, 2, 3]}, "the mapping does not make a frame"),
    "names": ({1.5: [1, 2]}, "column names must be strings or whole numbers, got 1.5"),
    "pandas lists": (pd.DataFrame({"x": [[1], [2]]}), r"column 'x' has the type List\(Int64\)"),
    "pandas mixed": (
        pd.DataFrame({"good": [1, 2], "x": pd.Series([1, "a"], dtype=object)}),
        "column .x. cannot be read",
    ),
    "pandas mixed, text first": (
        pd.DataFrame({"good": [1, 2], "x": pd.Series(["a", 1], dtype=object)}),
        "column .x. cannot be read",
    ),
    "pandas names": (
        pd.DataFrame([[1, 2]], columns=["a", None]),
        "data: column names must be strings or whole numbers, got",
    ),
    "pandas names twice": (pd.DataFrame([[1, 2]], columns=["x", "x"]), "'x'"),
    "arrow names twice": (pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"]), "'x'"),
    "arrow struct": (pa.table({"x": [{"a": 1}]}), "column 'x' has the type Struct"),
}


@pytest.mark.parametrize(("data", "message"), refused.values(), ids=refused)
def test_columns_that_are_not_discrete_are_refused(data, message):
    with pytest.raises(InputError, match=message):
        Table(data)


@pytest.mark.parametrize("values", [[1, "a"], ["a", 1], [True, "a"], ["a", 2.5, None]])
def test_the_error_of_a_mixed_column_names_the_column(values):
    frame = pd.DataFrame({"good": range(len(values)), "x": pd.Series(values, dtype=object)})
    with pytest.raises(InputError, match=r"\bx\b"):
        Table(frame)
    with pytest.raises(InputError, match=r"\bx\b"):
        Table({"good": list(range(len(values))), "x": values})
