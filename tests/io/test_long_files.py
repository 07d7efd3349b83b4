"""Logs in files: the same table in memory and in partitions, whatever the kind of file."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_series_equal

import tacit
from support.strategies import assert_identical
from tacit import FileError, InputError, Table

LOG = pl.DataFrame(
    {
        "userId": [7, 3, 7, 12, 3, 7, 7],
        "movieId": [1, 2, 2, 1, 10, 10, 1],
        "rating": [4.5, 3.0, 0.0, 1.0, 2.0, 5.0, -4.5],
        "said": ["good", "bad", "bad", "ok", "ok", "good", "good"],
        "w": [1.5, 2.0, 1.5, 1.0, 2.0, 1.5, 1.5],
    }
)


def write(frame, path):
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".parquet":
            frame.write_parquet(path, row_group_size=3)
        case _:
            frame.write_ipc(path)
    return path


def assert_same(table, expected):
    assert table.schema == expected.schema
    assert_identical(table.indptr, expected.indptr)
    assert_identical(table.values, expected.values)
    assert_series_equal(table.index, expected.index)
    assert (table.weights is None) == (expected.weights is None)
    if expected.weights is not None:
        assert_identical(table.weights, expected.weights)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(
    "columns",
    [("userId", "movieId"), ("userId", "movieId", "rating"), ("movieId", "userId", "said")],
)
@pytest.mark.parametrize("options", [{}, {"min_count": 2, "min_items": 2}, {"duplicates": "last"}])
def test_a_file_is_read_as_its_frame_is(tmp_path, ending, columns, options):
    path = write(LOG, tmp_path / f"log.{ending}")
    expected = Table.from_long(LOG, *columns, **options)
    assert_same(tacit.read(path, long=columns, **options), expected)
    for several in ({}, {"partition_records": 1}):
        assert_same(tacit.scan(path, long=columns, **options, **several).collect(), expected)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from("abcde"), st.integers(-2, 2)),
        min_size=1,
        max_size=40,
    ),
    cut=st.integers(1, 40),
    each=st.integers(1, 5),
    value=st.sampled_from([None, "v"]),
    how=st.sampled_from(["sum", "first", "last"]),
    least=st.integers(1, 2),
)
@settings(max_examples=25, deadline=None)
def test_rows_of_a_record_may_be_in_several_files(
    tmp_path_factory, rows, cut, each, value, how, least
):
    folder = tmp_path_factory.mktemp("log")
    frame = pl.DataFrame(rows, schema={"r": pl.Int64, "i": pl.String, "v": pl.Int64}, orient="row")
    options = {"duplicates": how, "min_count": least, "min_items": least - 1}
    columns = ("r", "i") if value is None else ("r", "i", "v")
    frame[:cut].write_parquet(folder / "0.parquet", row_group_size=4)
    if cut < frame.height:
        frame[cut:].write_parquet(folder / "1.parquet", row_group_size=4)
    log = tacit.scan(folder / "*.parquet", long=columns, partition_records=each, **options)
    try:
        expected = Table.from_long(frame, *columns, **options)
    except InputError as error:
        with pytest.raises(InputError, match=str(error).split(";")[0]):
            log.collect()
        return
    assert_same(log.collect(), expected)
    assert log.n_records == expected.n_records
    assert log.n_stored == expected.n_stored


def test_a_large_log_is_brought_together_in_little_memory(tmp_path):
    log = tacit.datasets.make_ratings(2000, 300, 60_000).sample(fraction=1, shuffle=True, seed=0)
    for k in range(4):
        log[k::4].write_csv(tmp_path / f"{k}.csv")
    order = pl.concat([log[k::4] for k in range(4)])
    columns = ("userId", "title", "rating")
    expected = Table.from_long(order, *columns, duplicates="last", min_count=20)
    found = tacit.scan(
        tmp_path / "*.csv", long=columns, duplicates="last", min_count=20, memory="8MB"
    )
    assert found.n_partitions > 1
    assert_same(found.collect(), expected)
    assert found.one_way().to_frame().equals(expected.one_way().to_frame())


def test_temporary_files_go_away_with_the_table(tmp_path, monkeypatch):
    import gc
    import tempfile

    path = write(LOG, tmp_path / "log.csv")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    table = tacit.scan(path, long=("userId", "movieId"), partition_records=1)
    assert not list(temporary.iterdir())
    assert table.n_records == 3
    [folder] = temporary.iterdir()
    assert {name.suffix for name in folder.iterdir()} == {".tacit"}
    kept = table.materialise(tmp_path / "kept")
    del table
    gc.collect()
    assert not list(temporary.iterdir())
    assert kept.collect().index.to_list() == [3, 7, 12]


def test_weights_and_roles(tmp_path):
    path = write(LOG, tmp_path / "log.csv")
    expected = Table.from_long(LOG, "userId", "movieId", "rating", "w")
    roles = {"record": "userId", "item": "movieId", "value": "rating", "weight": "w"}
    assert_same(tacit.read(path, long=roles), expected)
    named = ("userId", "movieId", "rating")
    assert_same(tacit.read(path, long=named, weights="w"), expected)
    assert_same(tacit.scan(path, long=named, weights="w", partition_records=1).collect(), expected)


def test_items_are_called_by_the_names_in_another_file(tmp_path):
    path = write(LOG, tmp_path / "log.csv")
    films = pl.DataFrame(
        {"movieId": [2, 10, 99], "title": ["Heat", "Alien", "Emma"], "x": [1, 2, 3]}
    )
    names = (write(films, tmp_path / "films.csv"), "movieId", "title")
    for table in (
        tacit.read(path, long=("userId", "movieId"), names=names),
        tacit.read(path, long=("userId", "movieId"), names=(films, "movieId", "title")),
        tacit.scan(path, long=("userId", "movieId"), names=names, partition_records=1).collect(),
    ):
        assert table.schema.names == ("1", "Alien", "Heat")
        assert table.with_index(None).to_frame().rows() == [
            (False, True, True), (True, True, True), (True, False, False)
        ]  # fmt: skip


def test_names_that_several_items_have_are_told_apart(tmp_path):
    path = write(LOG, tmp_path / "log.csv")
    films = pl.DataFrame({"movieId": [1, 2, 10], "title": ["Emma", "Heat", "Emma"]})
    table = tacit.read(path, long=("userId", "movieId"), names=(films, "movieId", "title"))
    assert table.schema.names == ("Emma [10]", "Emma [1]", "Heat")
    others = pl.DataFrame({"movieId": ["tt1", "tt2"], "title": ["Emma", "Heat"]})
    with pytest.raises(InputError, match=r"names: no item has one; an item is '1', while .* 'tt1'"):
        tacit.read(path, long=("userId", "movieId"), names=(others, "movieId", "title"))
    twice = pl.DataFrame({"movieId": [1, 1], "title": ["Emma", "Heat"]})
    with pytest.raises(InputError, match="names: the item '1' has several names"):
        tacit.read(path, long=("userId", "movieId"), names=(twice, "movieId", "title"))


@pytest.mark.parametrize(
    ("long", "options", "message"),
    [
        ("userId", {}, "long must be the columns"),
        (("userId",), {}, "long must be the columns"),
        ({"record": "userId"}, {}, "long: it does not say which column is the item"),
        ({"record": "userId", "thing": "x"}, {}, "long: 'thing' is none of"),
        (("userId", "film"), {}, "long: there is no column 'film'|columns: there is no column"),
        (("userId", "movieId"), {"names": "films.csv"}, "names must be a file"),
        (
            ("userId", "movieId"),
            {"names": ("log.csv", "movieId", "no")},
            "names: there is no column",
        ),
        (("userId", "movieId"), {"discretise": "width"}, "discretise is no option of logs"),
        (("userId", "movieId"), {"min_count": 99}, "min_count: no item is in 99 records"),
        (("userId", "movieId"), {"missing": "state"}, "missing must be 'error' or 'drop'"),
    ],
)
def test_bad_options_are_named(tmp_path, monkeypatch, long, options, message):
    monkeypatch.chdir(tmp_path)
    write(LOG, tmp_path / "log.csv")
    with pytest.raises(InputError, match=message):
        tacit.read("log.csv", long=long, **options)
    with pytest.raises(InputError, match=message):
        tacit.scan("log.csv", long=long, **options).n_records  # noqa: B018


def test_other_files_are_no_logs(tmp_path):
    (tmp_path / "shop.dat").write_text("1 2\n")
    with pytest.raises(InputError, match="long: baskets files have no columns"):
        tacit.read(tmp_path / "shop.dat", long=("a", "b"))
    Table({"a": [1, 2]}).save(tmp_path / "t.tacit")
    with pytest.raises(InputError, match="long is no option of tacit files"):
        tacit.scan(tmp_path / "t.tacit", long=("a", "b"))


def test_missing_values_name_the_file(tmp_path):
    log = LOG.with_columns(pl.when(pl.col("userId") != 12).then("userId").alias("userId"))
    path = write(log, tmp_path / "log.parquet")
    with pytest.raises(InputError, match=r"log.parquet: record: .* missing value at row 3"):
        tacit.read(path, long=("userId", "movieId"))
    with pytest.raises(InputError, match=r"log.parquet: .*record: .* missing value at row"):
        tacit.scan(path, long=("userId", "movieId")).n_records  # noqa: B018
    expected = Table.from_long(log, "userId", "movieId", missing="drop")
    assert_same(tacit.read(path, long=("userId", "movieId"), missing="drop"), expected)
    dropped = tacit.scan(path, long=("userId", "movieId"), missing="drop", partition_records=1)
    assert_same(dropped.collect(), expected)


def test_a_cut_off_log_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("userId,movieId,rating\n1,2,3\n1,2\n")
    with pytest.raises(FileError, match="line 3 has 2 fields where 3 are expected"):
        tacit.read(path, long=("userId", "movieId"))


def test_frames_of_dask_are_logs(tmp_path):
    dask_frames = pytest.importorskip("dask.dataframe")
    log = tacit.datasets.make_ratings(50, 30, 600).sample(fraction=1, shuffle=True, seed=1)
    frame = dask_frames.from_pandas(log.to_pandas(), npartitions=4)
    found = tacit.scan(frame, long=("userId", "title"), min_count=5).collect()
    assert_same(found, Table.from_long(log, "userId", "title", min_count=5))


def test_a_cluster_brings_rows_together(tmp_path, client):
    log = tacit.datasets.make_ratings(60, 30, 900).sample(fraction=1, shuffle=True, seed=2)
    log.write_parquet(tmp_path / "log.parquet", row_group_size=200)
    long = ("userId", "title", "rating")
    with tacit.scale.on_dask(client):
        table = tacit.scan(tmp_path / "log.parquet", long=long, partition_records=20)
        assert table.n_partitions > 1
        found = table.collect()
    assert_same(found, Table.from_long(log, *long))


def test_ratings_are_what_they_say():
    log = tacit.datasets.make_ratings(100, 40, 3000, random_state=3)
    assert log.columns == ["userId", "movieId", "title", "rating", "timestamp"]
    assert log.shape == (3000, 5)
    assert log["userId"].is_sorted()
    assert log["userId"].is_between(1, 100).all()
    assert log["movieId"].is_between(1, 40).all()
    assert log.select(pl.struct("movieId", "title").n_unique()).item() == log["movieId"].n_unique()
    assert set(log["rating"].unique()) <= set(np.arange(1, 11) / 2)
    assert log.equals(tacit.datasets.make_ratings(100, 40, 3000, random_state=3))
    counts = log["movieId"].value_counts(sort=True)["count"]
    assert counts[0] > 4 * counts[20]
