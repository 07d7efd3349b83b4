"""``tacit find-rules`` prints what RuleFinder finds."""

import json

import polars as pl
import pytest

import tacit
from support.commands import one_error


def test_json(run, visits, visits_file):
    options = ["--target", "scores", "--value", "True", "-n", "1-2", "--min-support", 200]
    options += ["--criterion", "wilson", "--level", 0.9, "--top", 4, "--json", "--no-defaults"]
    printed = json.loads(run("find-rules", visits_file, *options).stdout)
    finder = tacit.RuleFinder(
        "scores", True, n_conditions=(1, 2), min_support=200, criterion="wilson", level=0.9,
        n_rules=4, default_conditions=False,
    ).fit(visits)  # fmt: skip
    assert printed == {
        "target": "scores",
        "value": True,
        "records": 20_000,
        "hits": finder.n_hits_,
        "criterion": "wilson",
        "rules": [vars(rule) for rule in finder.rules_],
    }


def test_text(run, visits_file):
    options = ["--target", "scores", "--value", "True", "--min-support", 200, "--top", 1]
    lines = run("find-rules", visits_file, *options).stdout.splitlines()
    assert lines[0] == (
        "scores = True in 1,677 of 20,000 records (8.4%); the best rules by confidence"
    )
    assert lines[-1].split("   ")[0] == "sports = True, football = True"
    assert lines[-1].split()[6:] == ["659", "1,051", "62.7%", "7.48", "0.627"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_output(run, visits, visits_file, tmp_path, suffix):
    path = tmp_path / f"rules.{suffix}"
    options = ["--target", "scores", "--value", "True", "--min-support", 200, "-o", path]
    result = run("find-rules", visits_file, *options)
    assert result.stdout == f"{path}: 20 rules\n"
    written = pl.read_csv(path) if suffix == "csv" else pl.read_parquet(path)
    assert written.equals(tacit.RuleFinder("scores", True, min_support=200).fit(visits).to_frame())


def test_one_target_serves_the_cuts_and_the_rules(run, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,rich\n" + "\n".join(f"{20.5 + k},{int(k > 9)}" for k in range(20)))
    options = ["--target", "rich", "--value", "1", "-n", 1, "--discretise", "mdl"]
    printed = json.loads(run("find-rules", path, *options, "--min-support", 5, "--json").stdout)
    assert printed["rules"][0]["conditions"] == {"age": ">= 30"}
    assert printed["rules"][0]["confidence"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "scroes", "--value", "True"], "--target: there is no column 'scroes'"),
        (["--target", "scores", "--value", "Maybe"], "column 'scores' has no label 'Maybe'"),
        (["--target", "scores", "--value", "True", "-n", 40], "too few for 40 conditions"),
        (["--target", "scores", "--value", "True", "--min-support", 0.1], "not a fraction"),
        (
            ["--target", "scores", "--value", "True", "-o", "no/x.csv"],
            "the folder 'no' does not exist",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(run, visits_file, options, message):
    assert message in one_error(run("find-rules", visits_file, *options))


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--target", "scores"],
        ["--target", "scores", "--value", "True", "-n", "two"],
        ["--target", "scores", "--value", "True", "-o", "rules.xls"],
        ["--target", "scores", "--value", "True", "--criterion", "beauty"],
    ],
)
def test_usage(run, visits_file, options):
    assert run("find-rules", visits_file, *options).exit_code == 2
