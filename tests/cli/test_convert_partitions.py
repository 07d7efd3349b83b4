"""``tacit convert`` writes folders of partitions, which other commands take."""

import json

import numpy as np
import polars as pl
import pytest

import tacit


@pytest.fixture
def pattern(visits, tmp_path):
    """Return a pattern of three files."""
    for k, rows in enumerate(np.array_split(np.arange(2000), 3)):
        visits.take(rows).to_frame("polars").write_csv(tmp_path / f"{k}.csv")
    return tmp_path / "*.csv"


def test_folders(run, pattern, visits, tmp_path):
    folder = tmp_path / "folder"
    result = run("convert", pattern, "-o", folder, "--n-jobs", "2")
    assert result.exit_code == 0
    few = visits.take(np.arange(2000))
    line = few.summary().line().removeprefix("Table of ")
    assert result.stdout == f"{folder}: PartitionedTable of 1 partition: {line}\n"
    assert tacit.scan(folder).n_stored == few.n_stored
    counted = json.loads(run("count", folder, "news", "--json").stdout)
    assert counted["counts"][1]["count"] == few.count({"news": True})
    shown = json.loads(run("summary", folder, "--json").stdout)
    assert (shown["records"], shown["stored"]) == (2000, few.n_stored)
    again = run("convert", pattern, "-o", folder)
    assert again.exit_code != 0
    assert "is not empty; give another, or overwrite" in again.stderr.replace("\n", " ")
    assert run("convert", pattern, "-o", folder, "--overwrite").exit_code == 0
    assert tacit.scan(folder).n_records == 2000


def test_memory_makes_a_folder_of_one_file(run, tmp_path):
    frame = pl.DataFrame(
        {"a": [k % 7 for k in range(9000)], "b": [f"x{k % 3}" for k in range(9000)]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    assert (
        run("convert", tmp_path / "a.parquet", "--memory", "1MB", "-o", tmp_path / "f").exit_code
        == 0
    )
    made = tacit.scan(tmp_path / "f")
    assert made.n_partitions > 1
    assert np.array_equal(made.collect().values, tacit.Table(frame).values)


def test_a_folder_that_is_none(run, tmp_path):
    result = run("summary", tmp_path)
    assert result.exit_code != 0
    assert "is a folder, but not one" in result.stderr.replace("\n", " ")
