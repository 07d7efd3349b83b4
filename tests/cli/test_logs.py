"""Commands on logs: a row for each record and item, ids in what is written."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def ratings():
    return tacit.datasets.make_ratings(200, 40, 3000)


@pytest.fixture(scope="module")
def folder(ratings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    ratings.drop("title").write_csv(folder / "ratings.csv")
    ratings.select("movieId", "title").unique().write_csv(folder / "movies.csv")
    return folder


LONG = ("--long", "userId,movieId")


def test_summary_of_a_log(run, folder, ratings):
    result = run("summary", folder / "ratings.csv", *LONG, "--min-count", 60, "--json")
    expected = tacit.Table.from_long(ratings, "userId", "movieId", min_count=60)
    told = json.loads(result.stdout)
    assert (told["records"], told["columns"], told["stored"]) == (
        *expected.shape,
        expected.n_stored,
    )


def test_items_have_names(run, folder, ratings):
    names = f"{folder / 'movies.csv'}:movieId,title"
    path = folder / "named.tacit"
    run("convert", folder / "ratings.csv", *LONG, "--names", names, "--min-items", 3, "-o", path)
    table = tacit.load(path)
    assert set(table.schema.names) == set(ratings["title"].unique())
    assert table.index.name == "userId"


def test_values_and_duplicates(run, folder):
    long = ("--long", "userId,movieId,rating")
    assert run("summary", folder / "ratings.csv", *long, "--duplicates", "last").exit_code == 0
    error = one_error(run("summary", folder / "ratings.csv", *long, "--duplicates", "error"))
    assert "has item" in error
    assert "more than once" in error


def test_a_log_in_partitions(run, folder, ratings):
    result = run("summary", folder / "ratings.csv", *LONG, "--memory", "8MB", "--json")
    assert json.loads(result.stdout)["records"] == ratings["userId"].n_unique()


def test_predictions_have_the_ids_of_records(run, folder, ratings):
    model, labels = folder / "model.tacit", folder / "labels.csv"
    ids = sorted(ratings["userId"].unique())
    run("cluster", folder / "ratings.csv", *LONG, "--n-clusters", 2, "-o", model, "-o", labels)
    written = pl.read_csv(labels)
    assert written.columns == ["userId", "cluster"]
    assert written["userId"].to_list() == ids
    printed = run("predict", model, folder / "ratings.csv", *LONG, "--proba").stdout
    frame = pl.read_csv(io.StringIO(printed))
    assert frame.columns == ["userId", "cluster", "cluster 0", "cluster 1"]
    assert frame["userId"].to_list() == ids
    assert frame["cluster"].to_list() == written["cluster"].to_list()
    parts = run("predict", model, folder / "ratings.csv", *LONG, "--memory", "8MB").stdout
    assert pl.read_csv(io.StringIO(parts)).equals(written)
    again = folder / "again.csv"
    run("cluster", folder / "ratings.csv", *LONG, "--n-clusters", 2, "--memory", "8MB", "-o", again)
    assert pl.read_csv(again)["userId"].to_list() == ids


def test_recommendations_have_the_ids_of_records(run, folder, ratings):
    model = folder / "network.tacit"
    run("dependency-network", folder / "ratings.csv", *LONG, "--min-count", 100, "-o", model)
    printed = run("predict", model, folder / "ratings.csv", *LONG, "--top", 1).stdout
    frame = pl.read_csv(io.StringIO(printed))
    assert frame.columns == ["userId", "record", "rank", "item", "probability"]
    ids = sorted(ratings["userId"].unique())
    assert frame["userId"].to_list() == [ids[k] for k in frame["record"]]


def test_test_records_have_ids(run, folder, ratings):
    out = folder / "told.csv"
    result = run(
        "classify", folder / "ratings.csv", *LONG, "--target", 1, "--test-fraction", 0.3, "-o", out
    )
    assert result.exit_code == 0
    assert set(pl.read_csv(out)["record"]) <= set(ratings["userId"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-count", 3), "--min-count: is about a log"),
        (("--names", "movies.csv:a,b"), "--names: is about a log"),
        (("--long", "userId"), "--long: 'userId' is not 2 or 3 columns"),
        ((*LONG, "--names", "movies.csv"), "--names: 'movies.csv' is not FILE:ITEM,NAME"),
    ],
)
def test_options_that_do_not_go_together(run, folder, options, message):
    assert message in usage_error(run("summary", folder / "ratings.csv", *options))


def test_an_adtree_has_a_min_count_of_its_own(run, folder):
    out = folder / "adtree.tacit"
    path = folder / "small.tacit"
    run("convert", folder / "ratings.csv", *LONG, "--min-count", 60, "-o", path)
    assert run("adtree", path, "--min-count", 9, "-o", out).exit_code == 0


def test_a_column_that_is_not_there(run, folder):
    assert "long: there is no column 'film'" in one_error(
        run("summary", folder / "ratings.csv", "--long", "userId,film")
    )


class TestText:
    def test_what_is_found_is_said_once(self, run, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("a;b\n1,5;é\n2,5;x\n", encoding="latin-1")
        result = run("summary", path, "--discretise", "2")
        assert result.exit_code == 0
        [note] = result.stderr.splitlines()
        assert note == (
            f"note: {path}: the encoding is Latin-1; values are separated by ';'; "
            "numbers have decimal commas"
        )

    def test_what_is_said_is_not_looked_for(self, run, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("made by hand\n'a';'b'\n'1,5';'é'\n", encoding="utf-16")
        layout = {
            "--separator": ";", "--quote": "'", "--decimal": ",", "--encoding": "utf-16",
            "--skip-lines": 1, "--discretise": 2,
        }  # fmt: skip
        options = [x for pair in layout.items() for x in pair]
        result = run("summary", path, "--header", "--json", *options)
        assert result.stderr == ""
        assert json.loads(result.stdout)["records"] == 1
        result = run("summary", path, "--no-header", "--json", *options)
        assert json.loads(result.stdout)["records"] == 2

    def test_wrong_layouts_name_the_option(self, run, tmp_path):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        assert "--encoding" in one_error(run("summary", tmp_path / "x.csv", "--encoding", "x-9"))
        assert "--decimal" in one_error(run("summary", tmp_path / "x.csv", "--decimal", "x"))


class TestSources:
    def test_json_excel_and_databases(self, run, tmp_path):
        import sqlite3

        openpyxl = pytest.importorskip("openpyxl")
        (tmp_path / "x.jsonl").write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
        book = openpyxl.Workbook()
        sheet = book.create_sheet("data")
        for row in (("a", "b"), (1, "x"), (2, "y")):
            sheet.append(row)
        book.save(tmp_path / "x.xlsx")
        with sqlite3.connect(tmp_path / "x.db") as base:
            base.execute("create table t as select 1 as a, 'x' as b union all select 2, 'y'")
        base.close()
        for arguments in (
            [tmp_path / "x.jsonl"],
            [tmp_path / "x.xlsx", "--sheet", "data"],
            [tmp_path / "x.xlsx", "--sheet", 2],
            [f"sqlite:///{tmp_path / 'x.db'}", "--sql", "select * from t"],
        ):
            result = run("summary", *arguments, "--json")
            assert result.exit_code == 0, result.stderr
            told = json.loads(result.stdout)
            assert (told["records"], told["columns"]) == (2, 2)
        error = one_error(run("summary", f"sqlite:///{tmp_path / 'x.db'}"))
        assert error.startswith("--sql: say what to ask")
