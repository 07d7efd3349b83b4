"""Record ids: they stay with their records, whatever is made of a table."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_series_equal

import tacit
from tacit import FileError, InputError, Table, store
from tacit.table.index import index_to_array

IDS = pl.Series("id", ["x", "y", "z", "x"])


@pytest.fixture
def table():
    made = Table({"a": [1, 2, 2, 3], "b": list("pqpp")}, weights=[1, 2, 3, 4])
    return made.with_index(IDS)


def test_a_table_has_no_ids_unless_it_is_given_some(table):
    assert Table({"a": [1, 2]}).index is None
    assert_series_equal(table.index, IDS)
    assert table.with_index(None).index is None
    assert_series_equal(table.index, IDS)
    assert table.with_index(np.arange(4)).index.to_list() == [0, 1, 2, 3]
    assert table.with_index(pd.Index([4, 3, 2, 1], name="n")).index.name == "n"


def test_ids_stay_with_their_records(table):
    assert table.take([1, 3]).index.to_list() == ["y", "x"]
    assert table.take(np.array([True, False, True, False])).index.to_list() == ["x", "z"]
    other = Table({"b": list("qp"), "a": [3, 1]})
    for same in (
        table.select(["b"]),
        table.with_defaults({"a": 3}),
        table.with_weights(None),
        table.conform(other.schema, unseen="default"),
        table.fresh(),
        pickle.loads(pickle.dumps(table)),
    ):
        assert_series_equal(same.index, IDS)


def test_joined_tables_have_ids_if_all_have(table):
    assert Table.concat([table, table.take([0])]).index.to_list() == ["x", "y", "z", "x", "x"]
    assert Table.concat([table, table.with_index(None)]).index is None
    with pytest.raises(InputError, match="the record ids are String in one and Int64 in another"):
        Table.concat([table, table.with_index([1, 2, 3, 4])])


def test_ids_are_saved(table, tmp_path):
    path = tmp_path / "t.tacit"
    table.save(path)
    assert_series_equal(tacit.load(path).index, IDS)
    assert_series_equal(tacit.scan(path).collect().index, IDS)
    store.write_arrays(path, "table", {**table.to_state(), "index": np.zeros(9, np.uint8)})
    with pytest.raises(FileError, match="damaged: its record ids cannot be read"):
        tacit.load(path)
    store.write_arrays(path, "table", {**table.to_state(), "index": index_to_array(IDS[:2])})
    with pytest.raises(FileError, match="not one for each record"):
        tacit.load(path)


def test_partitions_have_the_ids_of_their_records(table, tmp_path):
    parts = tacit.scale.partition(table, 3)
    assert_series_equal(parts.collect().index, IDS)
    folder = parts.materialise(tmp_path / "folder")
    assert_series_equal(folder.collect().index, IDS)
    assert folder.take([1, 2]).index.to_list() == ["y", "z"]
    assert_series_equal(tacit.scan(tmp_path / "folder").select(["b"]).collect().index, IDS)


def test_frames_have_the_ids(table):
    frame = table.to_frame("polars")
    assert frame.columns == ["id", "a", "b"]
    assert_series_equal(frame["id"], IDS)
    arrow = table.to_frame("pyarrow")
    assert arrow.column_names == ["id", "a", "b"]
    assert arrow.column("id").to_pylist() == IDS.to_list()
    pandas = table.to_frame("pandas")
    assert pandas.index.tolist() == IDS.to_list()
    assert pandas.index.name == "id"
    assert table.with_index([5, 6, 7, 8]).to_frame("polars").columns[0] == "index"
    with pytest.raises(InputError, match="the record ids and a column are both called 'a'"):
        table.with_index(IDS.alias("a")).to_frame("polars")


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([5, 6, 9], name="id"),
        pd.Index(["x", "y", "x"]),
        pd.RangeIndex(1, 4),
        pd.RangeIndex(3, name="row"),
        pd.DatetimeIndex(["2024-01-01", "2024-02-01", "2024-03-01"], name="day"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["shop", "till"]),
    ],
    ids=["numbers", "texts", "from 1", "named", "dates", "levels"],
)
def test_the_index_of_pandas_comes_back(index):
    frame = pd.DataFrame({"a": ["u", "v", "u"]}, index=index)
    back = Table(frame).to_frame("pandas")
    assert back.index.tolist() == index.tolist()
    assert list(back.index.names) == list(index.names)
    pd.testing.assert_series_equal(
        back["a"].reset_index(drop=True), frame["a"].reset_index(drop=True)
    )
    assert Table(frame).schema.names == ("a",)


def test_an_index_that_polars_has_no_type_for_is_text():
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.PeriodIndex(["2024-01", "2024-02"], freq="M"))
    assert Table(frame).index.to_list() == ["2024-01", "2024-02"]


def test_a_default_index_is_none():
    frame = pd.DataFrame({"a": [1, 2, 1]})
    assert Table(frame).index is None
    assert Table(frame[frame["a"] == 1]).index.to_list() == [0, 2]


def test_ids_must_be_one_for_each_record(table):
    with pytest.raises(InputError, match="index must have 4 record ids, got 2"):
        table.with_index([1, 2])
    with pytest.raises(InputError, match="index must be a series of record ids"):
        table.with_index(7)
