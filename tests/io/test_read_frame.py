"""Files of columns as frames: the same types and values as a Table gets, numbers as they are."""

import polars as pl
import pytest

from tacit import FileError, InputError
from tacit.io import read_frame


def test_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("age,job,rich\n23.5,cook,true\n\n41,,false\n19,?,true\n")
    frame = read_frame(path, null_values=["?"])
    expected = pl.DataFrame(
        {"age": [23.5, 41.0, 19.0], "job": ["cook", None, None], "rich": [True, False, True]}
    )
    assert frame.equals(expected)


def test_a_type_holds_for_the_whole_of_a_column(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "1\n" * 20_000 + "1.5\n")
    assert read_frame(path)["a"].dtype == pl.Float64


def test_dialects(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("1; a \n2.5; b \n")
    frame = read_frame(path, format="csv", separator="; ", header=False)
    assert frame.equals(pl.DataFrame({"0": [1.0, 2.5], "1": ["a", "b"]}))
    path = tmp_path / "x.data"
    path.write_text("1,a\n3,a\n2,b\n")
    assert read_frame(path).columns == ["0", "1"]


def test_columnar(tmp_path):
    frame = pl.DataFrame({"a": [0.5, None], "b": ["x", "y"]})
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_ipc(tmp_path / "x.arrow")
    assert read_frame(tmp_path / "x.parquet").equals(frame)
    assert read_frame(tmp_path / "x.arrow").equals(frame)


def test_other_files_are_not_frames(tmp_path):
    assert read_frame(tmp_path / "x.baskets") is None
    assert read_frame(tmp_path / "x.tacit") is None


def test_what_cannot_be_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n")
    with pytest.raises(FileError, match="holds no records"):
        read_frame(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="separator must be one character"):
        read_frame(path, separator="")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="separator is no option of parquet files"):
        read_frame(tmp_path / "x.parquet", separator=";")
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(FileError, match="is not a Parquet file"):
        read_frame(tmp_path / "x.parquet")
