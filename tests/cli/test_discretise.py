"""Numbers are cut into bins from the command line as asked for; a table holds them as they are."""

from __future__ import annotations

import json

import pytest

import tacit


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(
        "age,height,rich\n23.5,1.61,no\n31.25,1.72,yes\n44.0,1.83,yes\n55.5,1.74,yes\n19.5,1.9,no\n"
    )
    return path


@pytest.mark.parametrize(
    ("options", "spec", "target"),
    [
        (["--discretise", "2"], 2, None),
        (["--discretise", "width"], "width", None),
        (["--discretise", "mdl", "--target", "rich"], "mdl", "rich"),
        (
            ["--discretise", "age=30,50", "--discretise", "height=frequency"],
            {"age": [30, 50], "height": "frequency"},
            None,
        ),
    ],
)
def test_bins_are_those_of_the_library(run, people, options, spec, target):
    printed = json.loads(run("count", people, "age", "rich", "--json", *options).stdout)
    table = tacit.read(people, discretise=spec, target=target)
    frame = table.contingency(["age", "rich"]).to_frame()
    expected = [{"labels": [age, rich], "count": n} for age, rich, n in frame.rows()]
    assert printed["counts"] == expected
    assert len(expected) > 1


def test_real_numbers_are_labels_unless_cut(run, people):
    printed = json.loads(run("count", people, "age", "--json").stdout)
    counts = {cell["labels"][0]: cell["count"] for cell in printed["counts"]}
    assert counts == {23.5: 1, 31.25: 1, 44.0: 1, 55.5: 1, 19.5: 1}
    details = json.loads(run("summary", people, "--columns", "--json").stdout)["details"]
    assert [d["kind"] for d in details] == ["numeric", "numeric", "categorical"]


@pytest.mark.parametrize("given", [["age=2", "3"], ["3", "age=2"], ["2", "3"]])
def test_one_way_for_all_or_one_for_each(run, people, given):
    options = [word for how in given for word in ("--discretise", how)]
    result = run("summary", people, *options)
    assert result.exit_code == 2
    assert "COLUMN=HOW" in result.stderr


def test_commands_say_which_numbers_they_cut(run, tmp_path):
    lines = [f"{k / 7},{k % 3},{'up' if k > 20 else 'down'}" for k in range(60)]
    source = tmp_path / "numbers.csv"
    source.write_text("\n".join(["height,step,way", *lines]))
    note = "note: numbers cut into bins: height (10); set --discretise or --kinds\n"
    assert run("cluster", source, "-k", "2").stderr == note
    assert run("select", source, "--target", "way", "-n", "1").stderr == note
    told = run("select", source, "--target", "way", "-n", "1", "--discretise", "height=4")
    assert told.stderr == note.replace("10", "4")
    edges = run("select", source, "--target", "way", "-n", "1", "--discretise", "height=2,4")
    assert edges.stderr == ""
