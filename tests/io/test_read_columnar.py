"""Parquet and Arrow files, and `read`, which finds the format by the name."""

import datetime as dt
import gzip

import polars as pl
import pytest

from support.comparing import assert_same
from tacit import FileError, InputError, Table, read
from tacit.io import read_baskets, read_csv

SIZES = [1, 2, 3, None]
FRAME = pl.DataFrame(
    {
        "text": ["a", "b", None, "b", "b", "long text, beyond twelve bytes"],
        "whole": pl.Series([5, 5, -1, None, 3, 5], dtype=pl.Int16),
        "flag": [True, None, False, True, True, True],
        "day": [dt.date(2020, 1, d) for d in (1, 1, 2, 3, 3, 3)],
        "enum": pl.Series(["lo", "hi", "hi", "lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
        "category": pl.Series(["z", "y", "y", "x", "x", "x"], dtype=pl.Categorical),
        "real": [0.5, 1.5, 2.5, None, 0.5, 7.5],
        "point": [1.0, 2.0, 2.0, 2.0, 1.0, 3.0],
        "weight": [1.0, 0.5, 2.0, 0.0, 1.0, 3.0],
    }
)
OPTIONS = {"discretise": 2, "weights": "weight", "target": "flag"}


def write_stream(frame, path):
    frame.write_ipc_stream(path)


WRITERS = {
    "x.parquet": pl.DataFrame.write_parquet,
    "x.pq": lambda frame, path: frame.write_parquet(path, row_group_size=2),
    "x.arrow": pl.DataFrame.write_ipc,
    "x.ipc": lambda frame, path: frame.write_ipc(path, record_batch_size=2),
    "x.feather": lambda frame, path: frame.write_ipc(path, compression="zstd"),
    "y.arrow": write_stream,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("missing", ["state", "default"])
def test_a_file_reads_like_its_frame(tmp_path, name, size, missing):
    WRITERS[name](FRAME, tmp_path / name)
    table = read(tmp_path / name, chunk_records=size, missing=missing, **OPTIONS)
    assert_same(table, Table(FRAME, missing=missing, **OPTIONS))
    assert table.schema["enum"].labels.items[:3] == ("lo", "mid", "hi")


def test_columns_can_be_chosen_from_a_compressed_file(tmp_path):
    FRAME.write_parquet(tmp_path / "plain")
    path = tmp_path / "x.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    table = read(path, columns=["flag", "text"])
    assert_same(table, Table(FRAME.select("flag", "text")))


def test_types_that_are_not_discrete_are_refused_by_name(tmp_path):
    pl.DataFrame({"x": [[1, 2], [3]]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet: column 'x' has the type List"):
        read(tmp_path / "x.parquet")


def test_real_numbers_are_labels_unless_cut(tmp_path):
    FRAME.select("real").write_parquet(tmp_path / "x.parquet")
    table = read(tmp_path / "x.parquet")
    assert_same(table, Table(FRAME.select("real")))
    assert table.schema["real"].kind == "numeric"
    assert table.schema["real"].labels.dtype == "Float64"


def test_a_file_without_records_or_columns(tmp_path):
    FRAME.clear().write_parquet(tmp_path / "x.parquet")
    with pytest.raises(FileError, match=r"x.parquet: holds no records"):
        read(tmp_path / "x.parquet")


def test_a_saved_table_is_read(tmp_path):
    table = Table({"x": ["a", "b", "a"]})
    table.save(tmp_path / "x.tacit")
    assert_same(read(tmp_path / "x.tacit"), table)
    assert_same(read(tmp_path / "x.tacit", n_jobs=2), table)


def test_names_of_files_with_odd_characters(tmp_path):
    path = tmp_path / "a[1]*?.CSV"
    path.write_text("x,y\n1,2\n2,2\n")
    assert read(path).shape == (2, 2)


@pytest.mark.parametrize("name", ["x.data", "x.test"])
def test_headers_are_looked_for_in_data_files(tmp_path, name):
    (tmp_path / name).write_text("1,a\n3,a\n2,b\n")
    assert read(tmp_path / name).shape == (3, 2)
    assert read(tmp_path / name, header=True).shape == (2, 2)
    (tmp_path / name).write_text("n,what\n1,a\n3,a\n2,b\n")
    assert read(tmp_path / name).schema.names == ("n", "what")
    assert read(tmp_path / name, header=False).shape == (4, 2)


@pytest.mark.parametrize("name", ["x.unknown", "x", "x.gz", ".csv", "x.msweb"])
def test_an_unknown_name_is_refused_with_what_is_known(tmp_path, name):
    (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(FileError, match=r"does not say what it is; known are .csv, .*\.dat"):
        read(tmp_path / name)


def test_the_format_can_be_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a b\nb c\n")
    assert_same(read(path, format="baskets"), read_baskets(path))
    assert_same(read(path, format="dat"), read_baskets(path))
    assert_same(read(path, format="csv"), read_csv(path))
    with pytest.raises(InputError, match="format must be one of csv"):
        read(path, format="word")


def test_options_that_a_format_does_not_have_are_named(tmp_path):
    (tmp_path / "x.dat").write_text("a b\n")
    with pytest.raises(InputError, match="missing is no option of baskets files; there are: chunk"):
        read(tmp_path / "x.dat", missing="state")
    FRAME.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="separator is no option of parquet files"):
        read(tmp_path / "x.parquet", separator=";")
