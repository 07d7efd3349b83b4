"""``tacit significant-rules`` prints what SignificantRules finds."""

import json
import math

import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error

SCORES = ("--target", "scores", "--max-size", 2, "--correction", "tarone")


@pytest.fixture(scope="module")
def found(visits):
    return tacit.SignificantRules(max_size=2, correction="tarone").fit(visits, "scores")


def as_json(rule):
    def finite(x):
        return x if math.isfinite(x) else None

    low, high = rule.odds_ratio_interval
    return {
        **vars(rule),
        "odds_ratio": finite(rule.odds_ratio),
        "odds_ratio_interval": [finite(low), finite(high)],
    }


def test_text(run, found, visits_file):
    lines = run("significant-rules", visits_file, *SCORES, "--top", 2).stdout.splitlines()
    assert lines[0].startswith(f"{len(found.rules_)} rules")
    assert f"among {found.n_testable_:,} testable hypotheses" in lines[0]
    assert lines[1] == found.to_text().splitlines()[0]
    assert len(lines) == 6
    for line, rule in zip(lines[4:], found.rules_, strict=False):
        assert f"{rule.positives:,} of {rule.support:,}" in line


def test_json(run, found, visits_file):
    printed = json.loads(
        run("significant-rules", visits_file, *SCORES, "--top", 3, "--json").stdout
    )
    assert printed == {
        "target": "scores",
        "value": True,
        "records": 20_000,
        "positives": 1_677,
        "threshold": found.threshold_,
        "n_testable": found.n_testable_,
        "n_significant": found.n_significant_,
        "least_support": found.least_support_,
        "rules": [as_json(rule) for rule in found.rules_[:3]],
    }


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--alpha", 0.001, "--min-support", 100], {"alpha": 0.001, "min_support": 100}),
        (["--control", "fdr"], {"control": "fdr"}),
        (["--control", "fdr", "--correction", "hochberg"],
         {"control": "fdr", "correction": "hochberg"}),
        (["--n-permutations", 99, "--random-state", 3],
         {"n_permutations": 99, "random_state": 3}),
        (["--correction", "tarone", "--test", "chi2", "--alternative", "less"],
         {"correction": "tarone", "test": "chi2", "alternative": "less"}),
        (["--correction", "tarone", "--redundant", "--level", 0.9],
         {"correction": "tarone", "redundant": True, "level": 0.9}),
        (["--correction", "tarone", "--default-conditions", "never", "--value", "False"],
         {"correction": "tarone", "default_conditions": False, "value": False}),
        (["--correction", "tarone", "--default-conditions", "always"],
         {"correction": "tarone", "default_conditions": True}),
    ],
)  # fmt: skip
def test_options_are_the_parameters(run, visits, visits_file, options, parameters):
    options = ["--target", "scores", "--max-size", 1, *options, "--top", 5000, "--json"]
    printed = json.loads(run("significant-rules", visits_file, *options).stdout)
    model = tacit.SignificantRules(max_size=1, **{"random_state": 0, **parameters}).fit(
        visits, "scores"
    )
    assert printed["threshold"] == model.threshold_
    assert printed["rules"] == [as_json(rule) for rule in model.rules_] != []


def test_missing_values_can_be_no_conditions(run, tmp_path):
    path = tmp_path / "ill.csv"
    pl.DataFrame(
        {"pain": ["yes"] * 20 + ["no"] * 30 + [None] * 20, "ill": ["y"] * 20 + ["n"] * 50}
    ).write_csv(path)
    options = ["--target", "ill", "--value", "n", "--correction", "tarone", "--redundant"]
    options += ["--missing", "state", "--top", 50, "--json"]

    def conditions(*more):
        printed = json.loads(run("significant-rules", path, *options, *more).stdout)
        return [rule["conditions"] for rule in printed["rules"]]

    assert {"pain": None} in conditions()
    assert {"pain": None} not in conditions("--ignore-missing")
    assert {"pain": "yes"} in conditions("--ignore-missing")


def test_output(run, found, visits_file, tmp_path):
    names = ("r.tacit", "r.html", "r.svg", "r.png", "r.json", "r.csv", "r.parquet")
    paths = [tmp_path / name for name in names]
    outputs = [x for path in paths for x in ("-o", path)]
    result = run("significant-rules", visits_file, *SCORES, "--top", 2, *outputs)
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    saved, page, svg, png, data, csv, parquet = paths
    assert tacit.load(saved).rules_ == found.rules_
    assert page.read_text("utf-8").startswith("<!DOCTYPE")
    assert "<svg" in svg.read_text("utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert len(json.loads(data.read_text("utf-8"))["rules"]) == len(found.rules_)
    assert pl.read_parquet(parquet).equals(found.to_frame())
    assert pl.read_csv(csv)["conditions"].to_list() == found.to_frame()["conditions"].to_list()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "scroes"], "--target: there is no column 'scroes'"),
        (["--target", "scores", "--value", "Maybe"], "column 'scores' has no label 'Maybe'"),
        (["--target", "region"], "--value: y has"),
        (["--target", "scores", "--alpha", 0], "--alpha must be"),
        (["--target", "scores", "--correction", "hochberg"], "--correction: control='fwer'"),
        (["--target", "scores", "--n-permutations", 5], "--n-permutations: 5 are too few"),
        (["--target", "scores", "--level", 1], "--level must be"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, visits_file, options, message):
    assert message in one_error(run("significant-rules", visits_file, *options))


def test_wrong_use(run, visits_file, tmp_path):
    assert "--target" in usage_error(run("significant-rules", visits_file))
    wrong = run("significant-rules", visits_file, "--target", "scores", "--test", "new.csv")
    assert "--test" in usage_error(wrong)
    folder = run("significant-rules", tmp_path, "--target", "scores")
    assert "needs all records on one machine" in one_error(folder)
