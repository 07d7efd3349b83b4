"""Commands: what they print is what the library says, and what is wrong is said in one line."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import tacit
from support.commands import assert_sports_by_scores, one_error
from tacit import io as files
from tacit.cli import app, output


class TestSummary:
    def test_text(self, run, visits, visits_file):
        result = run("summary", visits_file)
        assert result.exit_code == 0
        unasked = tacit.Table.from_stored(visits.schema, visits.indptr, visits.values)
        for name, text in unasked.summary().rows():
            assert f"{name:<17}   {text}" in result.stdout
        assert result.stderr == ""

    def test_json(self, run, visits, visits_file):
        printed = json.loads(run("summary", visits_file, "--json").stdout)
        assert printed == tacit.load(visits_file).summary().as_dict()

    def test_columns(self, run, visits, visits_file):
        lines = run("summary", visits_file, "--columns").stdout.splitlines()
        [region] = [line.split() for line in lines if line.startswith("region")]
        reason = ["text", "without", "an", "order"]
        assert region == ["region", "categorical", "4", "south", "38.4%", "–", *reason]
        listed = lines[lines.index(next(x for x in lines if x.startswith("region"))) :]
        assert [x.split("  ")[0] for x in listed] == list(visits.schema.names)

    def test_columns_json(self, run, mixed, mixed_file):
        details = json.loads(run("summary", mixed_file, "--columns", "--json").stdout)["details"]
        assert [d["name"] for d in details] == list(mixed.schema.names)
        assert [d["kind"] for d in details] == [column.kind for column in mixed.schema]
        assert [d["labels"] for d in details] == [3, 2, 2, 2, 2]
        missing = [d["missing_fraction"] for d in details]
        assert missing == pytest.approx([0, 0, 1 / 5.5, 0, 0])
        assert [d["default"] for d in details] == [2, False, "Ulm", "z", 7]
        one_way = mixed.one_way()
        for detail in details:
            count = one_way[detail["name"]][detail["default"]]
            assert detail["default_fraction"] == count / one_way.total

    def test_nothing_stored(self, run, tmp_path):
        tacit.Table({"a": [1, 1]}).save(tmp_path / "same.tacit")
        printed = json.loads(run("summary", tmp_path / "same.tacit", "--json").stdout)
        assert printed["factor"] is None
        assert run("summary", tmp_path / "same.tacit").exit_code == 0


class TestCount:
    def test_square(self, run, visits_file):
        assert_sports_by_scores(run("count", visits_file, "sports", "scores"))

    def test_list(self, run, visits, visits_file):
        lines = [line.split() for line in run("count", visits_file, "device").stdout.splitlines()]
        for label in ("desktop", "phone", "tablet", None):
            count = visits.count({"device": label})
            assert [label or "(missing)", f"{count:,}", f"{count / 20_000:.1%}"] in lines

    @pytest.mark.parametrize(
        ("columns", "given"),
        [
            (["sports"], {}),
            (["sports", "scores"], {"region": "south"}),
            (["region", "device"], {"sports": True}),
            (["region", "device", "cart"], {"home": False, "weather": True}),
            (["device"], {"subscriber": True, "region": "north"}),
            (["region"], {"device": None}),
        ],
    )
    def test_json_is_the_contingency_table(self, run, visits, visits_file, columns, given):
        options = [f"--given={k}={'' if v is None else v}" for k, v in given.items()]
        printed = json.loads(run("count", visits_file, *columns, *options, "--json").stdout)
        counts = visits.contingency(columns, given=given)
        assert printed["columns"] == columns
        assert printed["given"] == given
        assert printed["total"] == counts.total == visits.count(given)
        assert sum(cell["count"] for cell in printed["counts"]) == counts.total
        assert len(printed["counts"]) == (counts.to_array() > 0).sum()
        for cell in printed["counts"]:
            assert cell["count"] == counts[tuple(cell["labels"])]

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("rooms=2", {"rooms": 2}),
            ("rooms=3", {"rooms": 3}),
            ("sold=False", {"sold": False}),
            ("sold=True", {"sold": True}),
            ("town=Ulm", {"town": "Ulm"}),
            ("town=Köln", {"town": "Köln"}),
            ("town=", {"town": None}),
            ("a=b=x=y", {"a=b": "x=y"}),
            ("[red]size[/red]=7", {"[red]size[/red]": 7}),
        ],
    )
    def test_labels_of_all_types(self, run, mixed, mixed_file, text, query):
        printed = json.loads(run("count", mixed_file, "-g", text, "--json").stdout)
        assert printed["given"] == query
        assert printed["total"] == mixed.count(query) > 0
        assert printed["counts"] == [{"labels": [], "count": mixed.count(query)}]
        assert float(run("count", mixed_file, "-g", text).stdout) == mixed.count(query)

    def test_number_of_records(self, run, visits_file):
        assert run("count", visits_file).stdout == "20,000\n"
        assert run("count", visits_file, "--given", "checkout=True").stdout == "653\n"

    def test_nothing_matches(self, run, visits_file):
        options = ["--given", "checkout=True", "--given", "cart=False"]
        assert run("count", visits_file, *options).stdout == "0\n"
        printed = json.loads(run("count", visits_file, "region", *options, "--json").stdout)
        assert (printed["total"], printed["counts"]) == (0, [])
        assert run("count", visits_file, "region", "device", *options).exit_code == 0

    def test_column_called_count(self, run, tmp_path):
        tacit.Table({"count": [1, 2, 2], "share": ["x", "x", "y"]}).save(tmp_path / "c.tacit")
        printed = json.loads(run("count", tmp_path / "c.tacit", "count", "share", "--json").stdout)
        assert printed["counts"] == [
            {"labels": [1, "x"], "count": 1},
            {"labels": [2, "x"], "count": 1},
            {"labels": [2, "y"], "count": 1},
        ]
        assert run("count", tmp_path / "c.tacit", "count").exit_code == 0

    def test_names_are_no_markup(self, run, mixed_file):
        printed = run("count", mixed_file, "[red]size[/red]", "sold").stdout
        assert "[red]size[/red] × sold, 5.5 records" in printed
        assert "[red]size[/red] \\ sold" in printed

    def test_json_is_utf8(self, run, mixed_file):
        raw = run("count", mixed_file, "town", "--json").stdout_bytes
        assert "Köln".encode() in raw

    def test_unknown_column(self, run, visits_file):
        line = one_error(run("count", visits_file, "sport"))
        assert line == "columns: there is no column 'sport'; did you mean 'sports'?"
        line = one_error(run("count", visits_file, "--given", "sport=True"))
        assert line == "--given: there is no column 'sport'; did you mean 'sports'?"

    def test_unknown_label(self, run, visits_file):
        line = one_error(run("count", visits_file, "sports", "--given", "region=nort"))
        assert line == (
            "column 'region' has no label 'nort'; its labels are 'east', 'north', 'south', 'west'; "
            "did you mean 'north'?"
        )

    def test_column_twice(self, run, visits_file):
        assert "distinct" in one_error(run("count", visits_file, "home", "home"))
        line = one_error(run("count", visits_file, "-g", "home=True", "-g", "home=False"))
        assert line == "--given: column 'home' is there twice"

    def test_given_without_label(self, run, visits_file):
        result = run("count", visits_file, "--given", "home")
        assert result.exit_code == 2
        assert "'home' is not COLUMN=LABEL" in result.stderr


class TestPairs:
    @pytest.mark.parametrize("by", ["leverage", "lift", "count"])
    def test_json(self, run, visits, visits_file, by):
        printed = json.loads(
            run("pairs", visits_file, "--top", 7, "--by", by, "--min-count", 50, "--json").stdout
        )
        expected = visits.pairs().strongest(7, by=by, min_count=50, detail=True)
        assert printed == {"records": 20_000, "by": by, "pairs": expected.to_dicts()}

    def test_text(self, run, visits_file):
        lines = run("pairs", visits_file).stdout.splitlines()
        assert lines[0] == "The strongest pairs by leverage, 20,000 records"
        assert lines[3].split() == ["sports", "scores", "1,490", "285.6", "5.22"]
        assert len(lines) == 3 + 20

    def test_weights(self, run, mixed, mixed_file):
        printed = json.loads(run("pairs", mixed_file, "--json").stdout)
        assert printed["records"] == 5.5
        assert printed["pairs"] == mixed.pairs().strongest(20, detail=True).to_dicts()

    def test_jobs_do_not_matter(self, run, visits_file):
        printed = {run("pairs", visits_file, "--n-jobs", jobs).stdout for jobs in (1, 2, -1)}
        assert len(printed) == 1

    @pytest.mark.parametrize("options", [["--top", 0], ["--by", "luck"], ["--min-count", -1]])
    def test_usage(self, run, visits_file, options):
        assert run("pairs", visits_file, *options).exit_code == 2


class TestConvert:
    def test_saves_the_table(self, run, visits, visits_file, tmp_path):
        target = tmp_path / "again.tacit"
        result = run("convert", visits_file, "-o", target)
        assert result.exit_code == 0
        assert result.stdout == f"{target}: {visits.summary().line()}\n"
        assert tacit.load(target).to_frame().equals(visits.to_frame())

    def test_output_is_needed(self, run, visits_file):
        assert run("convert", visits_file).exit_code == 2

    def test_no_such_folder(self, run, visits_file, tmp_path):
        line = one_error(run("convert", visits_file, "-o", tmp_path / "no" / "x.tacit"))
        assert "does not exist" in line


class TestReading:
    @pytest.fixture
    def asked(self, monkeypatch, mixed):
        calls = []

        def read(path, **options):
            calls.append((str(path), options))
            return mixed

        monkeypatch.setattr(files, "read_what", read)
        return calls

    @pytest.mark.parametrize("command", [["summary"], ["count"], ["pairs"]])
    def test_passes_only_what_was_said(self, run, asked, command):
        run(*command, "x.csv")
        assert asked == [("x.csv", {})]

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (["--format", "csv"], {"format": "csv"}),
            (["--separator", ";"], {"separator": ";"}),
            (["--separator", "\\t"], {"separator": "\t"}),
            (["--separator", "tab"], {"separator": "\t"}),
            (["--no-header"], {"header": False}),
            (["--missing", "default"], {"missing": "default"}),
            (["--null-value", "?", "--null-value", "NA"], {"null_values": ["?", "NA"]}),
            (["--weights", "w"], {"weights": "w"}),
            (["--n-jobs", "-1"], {"n_jobs": -1}),
        ],
    )
    def test_options(self, run, asked, options, expected):
        for command in (["summary"], ["count", "rooms"], ["pairs"]):
            arguments = [command[0], "x.csv", *command[1:], *options]
            assert run(*arguments).exit_code == 0
            assert asked.pop() == ("x.csv", expected)

    def test_wrong_choice(self, run, asked):
        assert run("summary", "x.csv", "--missing", "maybe").exit_code == 2

    def test_no_such_file(self, run, tmp_path):
        line = one_error(run("summary", tmp_path / "nothing.tacit"))
        assert line == f"{tmp_path / 'nothing.tacit'}: no such file"

    def test_damaged_file(self, run, tmp_path):
        path = tmp_path / "bad.tacit"
        path.write_bytes(b"not what it says it is")
        assert str(path) in one_error(run("summary", path))

    @pytest.mark.parametrize(
        ("failure", "line"),
        [
            (PermissionError(13, "Permission denied", "x.csv"), "Permission denied"),
            (MemoryError(), "there is not enough memory"),
            (tacit.InputError("two\nlines"), "two lines"),
        ],
    )
    def test_failures_are_one_line(self, run, monkeypatch, failure, line):
        def read(path, **options):
            raise failure

        monkeypatch.setattr(files, "read_what", read)
        assert line in one_error(run("summary", "x.csv"))


class TestFormats:
    def test_csv_with_options(self, run, tmp_path):
        path = tmp_path / "rain.txt"
        path.write_text("blue;1;2\ngrey;?;1\ngrey;2;1\n")
        options = ["--format", "csv", "--separator", ";", "--no-header", "--null-value", "?"]
        table = tacit.read_csv(path, separator=";", header=False, null_values=["?"])
        printed = json.loads(run("summary", path, *options, "--columns", "--json").stdout)
        assert printed["missing_columns"] == 1
        assert [d["name"] for d in printed["details"]] == list(table.schema.names)
        name = table.schema.names[1]
        counted = json.loads(run("count", path, name, *options, "--json").stdout)
        assert {cell["labels"][0]: cell["count"] for cell in counted["counts"]} == {
            1: 1,
            2: 1,
            None: 1,
        }
        refused = one_error(run("summary", path, *options, "--missing", "error"))
        assert "missing value" in refused

    def test_weights_of_a_csv(self, run, tmp_path):
        path = tmp_path / "w.csv"
        path.write_text("sky,n\nblue,0.5\ngrey,2\n")
        printed = json.loads(run("count", path, "sky", "--weights", "n", "--json").stdout)
        assert printed["total"] == 2.5
        assert run("count", path, "--weights", "n", "-g", "sky=grey").stdout == "2\n"

    def test_baskets(self, run, tmp_path):
        path = tmp_path / "shop.dat"
        path.write_text("milk,bread\nmilk\ntea\nmilk,bread,tea\n")
        printed = json.loads(run("pairs", path, "--separator", ",", "--json").stdout)
        expected = tacit.read_baskets(path, separator=",").pairs().strongest(20, detail=True)
        assert printed["pairs"] == expected.to_dicts()
        assert run("count", path, "--given", "milk=True", "--n-jobs", 1).stdout == "3\n"

    def test_parquet_to_tacit(self, run, visits, tmp_path):
        source, target = tmp_path / "visits.parquet", tmp_path / "visits.tacit"
        visits.to_frame("polars").write_parquet(source)
        assert run("convert", source, "--output", target).exit_code == 0
        assert tacit.load(target).to_frame().equals(visits.to_frame())

    def test_option_of_another_format(self, run, visits_file):
        line = one_error(run("summary", visits_file, "--separator", ";"))
        assert line == "--separator is no option of tacit files; there are: none"
        assert "format must be one of" in one_error(run("summary", visits_file, "--format", "xls"))

    def test_name_that_does_not_tell(self, run, tmp_path):
        (tmp_path / "data.what").write_text("1\n")
        assert "its name does not say" in one_error(run("summary", tmp_path / "data.what"))


class TestOutput:
    def test_version(self, run):
        assert run("--version").stdout == f"tacit {tacit.__version__}\n"

    def test_progress_is_on_stderr_and_for_people(self, visits_file):
        shown = CliRunner(env={"FORCE_COLOR": "1", "TERM": "xterm"}).invoke(
            app, ["pairs", str(visits_file), "--json"]
        )
        assert "reading" in shown.stderr
        assert "counting all pairs of 27 columns" in shown.stderr
        assert json.loads(shown.stdout)["records"] == 20_000

    def test_help_tells_the_json(self, run):
        assert "details, a list" in run("summary", "--help").stdout
        assert "counts" in run("count", "-h").stdout
        assert "expected" in run("pairs", "-h").stdout

    def test_no_command(self, run):
        assert "summary" in run().output
        assert run("sumary", "x").exit_code == 2

    @pytest.mark.parametrize(
        ("label", "expected"),
        [
            (None, None),
            (True, True),
            (3, 3),
            (2.0, 2.0),
            ("x", "x"),
            (dt.date(2024, 2, 29), "2024-02-29"),
            (dt.datetime(2024, 2, 29, 12), "2024-02-29T12:00:00"),
            (dt.time(8, 30), "08:30:00"),
            (dt.timedelta(hours=26), "1 day, 2:00:00"),
        ],
    )
    def test_labels_in_json(self, label, expected):
        assert output.json_label(label) == expected
        assert type(output.json_label(label)) is type(expected)

    def test_long_lines_are_not_broken_in_a_pipe(self, run, tmp_path):
        name = "a very long name of a column " * 5
        tacit.Table({name: [1, 2, 2], "b": [1, 2, 2]}).save(tmp_path / "long.tacit")
        assert name.strip() in run("pairs", tmp_path / "long.tacit").stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [("tacit tr", ["tree"]), ("tacit tree --max-d", ["--max-depth"])],
)
def test_completion(words, completed):
    given = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    given["_TACIT_COMPLETE"] = "complete_bash"
    done = subprocess.run(
        [sys.executable, "-m", "tacit"],
        env=os.environ | given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == completed


def test_a_folder_of_other_files_is_refused_by_the_name_of_the_argument(run, tmp_path):
    assert one_error(run("summary", tmp_path)).startswith(f"FILE: {tmp_path} is a folder")
