"""``tacit association-rules`` prints the rules of frequent itemsets."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def sets(visits):
    return tacit.FrequentItemsets(min_support=0.02, kind="all").fit(visits)


def rows(frame):
    """Return rows as JSON has them: what is infinite is null."""
    return [
        {k: None if isinstance(x, float) and np.isinf(x) else x for k, x in row.items()}
        for row in frame.to_dicts()
    ]


FEW = ("--min-support", "0.02")


def test_text(run, sets, visits_file):
    lines = run("association-rules", visits_file, *FEW, "--top", 3).stdout.splitlines()
    rules = sets.rules()
    assert lines[0] == f"{len(rules)} association rules from 20,000 records, by confidence"
    head = "antecedent consequent support confidence lift leverage conviction zhang"
    assert lines[1].split() == head.split()
    shown = [[cell for cell in line.split("  ") if cell] for line in lines[3:]]
    assert [[cell.strip() for cell in row] for row in shown] == [
        list(row) for row in rules._listing(3).rows
    ]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ([], {}),
        (["--min-confidence", 0.2, "--min-lift", 2], {"min_confidence": 0.2, "min_lift": 2.0}),
        (["--antecedent", "sports,device=desktop"],
         {"antecedent": ["sports", ("device", "desktop")]}),
        (["--consequent", "scores"], {"consequent": ["scores"]}),
        (["--redundant"], {"redundant": True}),
        (["--min-improvement", 0.1], {"min_improvement": 0.1}),
        (["--measures", "jaccard, p_value", "--level", 0.9],
         {"measures": ["jaccard", "p_value"], "level": 0.9}),
    ],
)  # fmt: skip
def test_options_are_the_parameters(run, sets, visits_file, options, parameters):
    options = [*FEW, *options, "--top", 5000, "--json"]
    printed = json.loads(run("association-rules", visits_file, *options).stdout)
    rules = sets.rules(**parameters)
    assert len(rules) > 0
    assert printed == {
        "records": 20_000,
        "n_rules": len(rules),
        "complete": True,
        "rules": rows(rules.to_frame()),
    }


def test_sets_that_rules_are_made_of(run, visits, visits_file):
    options = [*FEW, "--kind", "all", "--max-size", 2, "--must-not-hold", "home", "--top", 5000]
    printed = json.loads(run("association-rules", visits_file, *options, "--json").stdout)
    sets = tacit.FrequentItemsets(
        min_support=0.02, kind="all", max_size=2, must_not_hold=["home"]
    ).fit(visits)
    assert printed["rules"] == rows(sets.rules().to_frame())


@pytest.mark.parametrize("by", ["lift", "p_value", "support"])
def test_order(run, sets, visits_file, by):
    options = [*FEW, "--by", by, "--measures", "lift,p_value", "--top", 4, "--json"]
    printed = json.loads(run("association-rules", visits_file, *options).stdout)["rules"]
    rules = sets.rules(measures=["lift", "p_value"]).strongest(4, by=by)
    assert printed == rows(rules.to_frame())
    values = [rule[by] for rule in printed]
    assert values == sorted(values, reverse=by != "p_value")


def test_rules_without_exception_have_no_infinite_number_in_json(run, tmp_path):
    path = tmp_path / "shop.baskets"
    path.write_text("bread butter\nbread butter\nmilk\nbread\n")
    options = ["--min-support", 2, "--json"]
    [rule] = json.loads(run("association-rules", path, *options).stdout)["rules"][:1]
    assert (rule["antecedent"], rule["consequent"]) == (["butter"], "bread")
    assert rule["confidence"] == 1
    assert rule["conviction"] is None
    assert " inf" in run("association-rules", path, "--min-support", 2).stdout


def test_output(run, sets, visits_file, tmp_path):
    names = ("r.tacit", "r.html", "r.svg", "r.png", "r.json", "r.csv", "r.parquet")
    paths = [tmp_path / name for name in names]
    outputs = [x for path in paths for x in ("-o", path)]
    result = run("association-rules", visits_file, *FEW, "--by", "lift", "--top", 2, *outputs)
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    saved, page, svg, png, data, csv, parquet = paths
    rules = sets.rules().strongest(10_000)
    assert tacit.load(saved).rules().to_frame().equals(sets.rules().to_frame())
    assert page.read_text("utf-8").startswith("<!DOCTYPE")
    assert "<svg" in svg.read_text("utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert json.loads(data.read_text("utf-8"))["rules"] == rows(rules.to_frame())
    assert pl.read_parquet(parquet).equals(rules.to_frame())
    read = pl.read_csv(csv)
    assert read["antecedent"].to_list() == [", ".join(x) for x in rules.to_frame()["antecedent"]]
    np.testing.assert_allclose(read["lift"], rules.measure("lift"))


def test_no_rules(run, visits_file):
    options = [*FEW, "--min-confidence", 1, "--consequent", "sports", "--by", "lift"]
    printed = run("association-rules", visits_file, *options).stdout
    assert printed.startswith("0 association rules from 20,000 records, by lift")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-confidence", 2], "--min-confidence must be"),
        (["--min-lift", -1], "--min-lift must be"),
        (["--kind", "closed", "--max-size", 2], "--max-size: without the sets that it leaves out"),
        (["--level", 1], "--level must be a finite number above 0 and below 1"),
        (["--measures", "lfit"], "--measures: 'lfit' is not known"),
        (["--antecedent", "sprots"], "--antecedent: there is no column 'sprots'"),
        (["--consequent", "device"], "--consequent: 'device' is no item by itself"),
        (["--itemsets-memory", "10B"], "allow more with --itemsets-memory"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, visits_file, options, message):
    assert message in one_error(run("association-rules", visits_file, *FEW, *options))


def test_rules_can_be_ranked_by_every_measure(run, visits_file):
    from tacit.baskets.measures import MEASURES

    for name in MEASURES:
        assert run("association-rules", visits_file, *FEW, "--by", name).exit_code == 0


def test_wrong_use(run, visits_file):
    assert "--by" in usage_error(run("association-rules", visits_file, "--by", "lfit"))
    assert "--kind" in usage_error(run("association-rules", visits_file, "--kind", "maximal"))
    assert "--output" in usage_error(run("association-rules", visits_file, "-o", "x.dot"))
