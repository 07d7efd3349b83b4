"""Conditions on the command line: sets, ranges and exclusion."""

import datetime as dt
import json

import polars as pl
import pytest

from support.commands import one_error
from tacit import between, exclude


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("region=north,west", ["north", "west"], ["north", "west"]),
        ("region!=north", exclude("north"), {"exclude": "north"}),
        ("region!=north,west", exclude(["north", "west"]), {"exclude": ["north", "west"]}),
        ("device=phone,", ["phone", None], ["phone", None]),
        ("device!=", exclude(None), {"exclude": None}),
        ("device=phone, tablet", ["phone", "tablet"], ["phone", "tablet"]),
    ],
)
def test_sets_of_labels(run, visits, visits_file, text, query, shown):
    name = text.partition("=")[0].removesuffix("!")
    printed = json.loads(run("count", visits_file, "news", "-g", text, "--json").stdout)
    counts = visits.contingency(["news"], given={name: query})
    assert printed["given"] == {name: shown}
    assert printed["total"] == counts.total == visits.count({name: query}) > 0
    assert {cell["labels"][0]: cell["count"] for cell in printed["counts"]} == {
        label: counts[label] for label in (False, True)
    }


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("rooms=2..3", between(2, 3), {"between": [2, 3]}),
        ("rooms=..2", between(None, 2), {"between": [None, 2]}),
        ("rooms=2.5..", between(2.5, None), {"between": [2.5, None]}),
        ("rooms!=2..3", exclude(between(2, 3)), {"exclude": {"between": [2, 3]}}),
        ("rooms=..1,3", [between(None, 1), 3], [{"between": [None, 1]}, 3]),
    ],
)
def test_ranges(run, mixed, mixed_file, text, query, shown):
    printed = json.loads(run("table", mixed_file, "sold", "-g", text, "--json").stdout)
    assert printed["given"] == {"rooms": shown}
    assert printed["total"] == mixed.count({"rooms": query})


def test_dates(run, tmp_path):
    path = tmp_path / "days.parquet"
    days = [dt.date(2024, month, 1) for month in (1, 2, 3)]
    pl.DataFrame({"day": days, "n": ["a", "b", "b"]}).write_parquet(path)
    assert run("count", path, "-g", "day=2024-01-15..2024-12-31").stdout == "2\n"
    assert run("count", path, "-g", "day=..2024-02-01").stdout == "2\n"
    line = one_error(run("count", path, "-g", "day=january.."))
    assert line == "--given: column 'day': 'january' is not a date or a time"


def test_labels_that_look_like_conditions(run, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('"a!",b\n"x,y",1..2\nx,"1..2"\ny,3\n')
    assert run("count", path, "-g", "a!=x,y").stdout == "1\n"
    assert run("count", path, "-g", "a!!=x,y").stdout == "2\n"
    assert run("count", path, "-g", "a!=x,x,y").stdout == "2\n"
    assert run("count", path, "-g", "b=1..2").stdout == "2\n"
    assert run("count", path, "-g", "b=3,1..2").stdout == "3\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["region=north,wst"], "column 'region' has no label 'wst'"),
        (["region=east..west"], "column 'region' has no label 'east..west'"),
        (["region=north", "region!=west"], "--given: column 'region' is there twice"),
        (["regin!=north"], "--given: there is no column 'regin!'; did you mean 'region'?"),
    ],
)
def test_errors(run, visits_file, options, message):
    given = [part for option in options for part in ("--given", option)]
    assert one_error(run("count", visits_file, *given)).startswith(message)


def test_bins_and_approximate_trees(run, tmp_path):
    path, tree = tmp_path / "ages.csv", tmp_path / "ages.tacit"
    path.write_text("age,pays\n" + "".join(f"{20 + k % 60},{k % 3}\n" for k in range(600)))
    options = ["--discretise", "age=20,40,60"]
    run("adtree", path, "-o", tree, "--min-count", "30", *options)
    exact = run("count", path, "-g", "age=40..60", "-g", "pays=0,1", *options).stdout
    assert exact == "130\n"
    bounds = json.loads(run("count", tree, "-g", "age=40..60", "-g", "pays=0,1", "--json").stdout)
    [cell] = bounds["counts"]
    assert cell["lower"] <= 130 <= cell["upper"]
    line = one_error(run("count", tree, "-g", "age=45..60"))
    assert "the nearest are 40 and 60" in line
