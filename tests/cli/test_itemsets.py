"""``tacit itemsets`` prints what FrequentItemsets finds."""

import json

import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error

TENTH = ("--min-support", "10%")


@pytest.fixture(scope="module")
def found(visits):
    return tacit.FrequentItemsets(min_support=0.1).fit(visits)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "shop.baskets"
    path.write_text("bread butter milk\nbread butter\nmilk tea\nbread butter tea\nmilk\nbeer\n")
    return path


def test_text(run, found, visits_file):
    lines = run("itemsets", visits_file, *TENTH, "--top", 2).stdout.splitlines()
    assert lines[0] == found.itemsets_.title
    assert lines[1].split() == ["items", "support", "records"]
    shown = [line.rsplit(maxsplit=2) for line in lines[3:]]
    assert [tuple(row) for row in shown] == found.itemsets_.rows(2)


def test_json(run, found, visits_file):
    printed = json.loads(run("itemsets", visits_file, *TENTH, "--top", 3, "--json").stdout)
    assert printed == {
        "records": 20_000,
        "kind": "closed",
        "n_itemsets": len(found.itemsets_),
        "complete": True,
        "itemsets": found.to_frame(3).to_dicts(),
    }


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--min-support", 3000, "--kind", "all"], {"min_support": 3000, "kind": "all"}),
        (["--min-support", "0.05", "--kind", "maximal"], {"min_support": 0.05, "kind": "maximal"}),
        (["--min-support", 1, "--n-itemsets", 9], {"min_support": 1, "n_itemsets": 9}),
        (["--min-size", 2, "--max-size", 3], {"min_size": 2, "max_size": 3}),
        (["--must-hold", "sports,news"], {"must_hold": ["sports", "news"]}),
        (["--must-hold", "sports", "--must-hold", "news"], {"must_hold": ["sports", "news"]}),
        (
            ["--must-not-hold", "home, device=desktop"],
            {"must_not_hold": ["home", ("device", "desktop")]},
        ),
        (
            ["--one-of", "sports,news", "--one-of", "home"],
            {"one_of": [["sports", "news"], ["home"]]},
        ),
        (["--defaults", "--min-support", "0.9"], {"defaults": True, "min_support": 0.9}),
        (["--itemsets-memory", "1GB"], {"memory": "1GB"}),
    ],
)
def test_options_are_the_parameters(run, visits, visits_file, options, parameters):
    printed = json.loads(run("itemsets", visits_file, *options, "--top", 5000, "--json").stdout)
    model = tacit.FrequentItemsets(**parameters).fit(visits)
    assert printed["n_itemsets"] == len(model.itemsets_) > 0
    assert printed["itemsets"] == model.to_frame().to_dicts()


def test_forecast(run, found, visits, visits_file):
    told = found.forecast(visits)
    printed = run("itemsets", visits_file, *TENTH, "--forecast", "--json").stdout
    assert json.loads(printed) == told._asdict()
    assert told.n_itemsets == len(found.itemsets_)
    line = run("itemsets", visits_file, *TENTH, "--forecast").stdout
    assert line.startswith(f"{told.n_itemsets:,} itemsets, ")


def test_output(run, found, visits_file, tmp_path):
    names = ("s.tacit", "s.html", "s.svg", "s.png", "s.json", "s.csv", "s.parquet")
    paths = [tmp_path / name for name in names]
    outputs = [x for path in paths for x in ("-o", path)]
    result = run("itemsets", visits_file, *TENTH, "--top", 2, *outputs)
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    saved, page, svg, png, data, csv, parquet = paths
    assert tacit.load(saved).to_frame().equals(found.to_frame())
    assert page.read_text("utf-8").startswith("<!DOCTYPE")
    assert "<svg" in svg.read_text("utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert json.loads(data.read_text("utf-8"))["itemsets"] == found.to_frame().to_dicts()
    assert pl.read_parquet(parquet).equals(found.to_frame())
    texts = found.to_frame().with_columns(pl.col("items").list.join(", "))
    assert pl.read_csv(csv).equals(texts)
    assert found.to_text() in run("show", saved).stdout


def test_numbers_are_cut_and_bins_are_items(run, tmp_path):
    frame = pl.DataFrame({"age": [20.5 + k for k in range(40)], "pays": [0] * 21 + [1] * 19})
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    options = ["--discretise", "age=30,50", "--defaults", "--min-support", 5, "--kind", "all"]
    hold = ["--must-hold", "age=>= 50"]
    printed = json.loads(run("itemsets", path, *options, *hold, "--json").stdout)
    assert [(each["items"], each["count"]) for each in printed["itemsets"]] == [
        (["age = >= 50"], 10), (["age = >= 50", "pays"], 10),
    ]  # fmt: skip
    whole = tacit.FrequentItemsets(min_support=2).fit(frame)
    answer = json.loads(run("itemsets", path, "--min-support", 2, "--json").stdout)
    assert answer["itemsets"] == whole.to_frame(20).to_dicts()
    assert any("age = " in item for each in answer["itemsets"] for item in each["items"])


def test_a_log_in_partitions(run, tmp_path):
    log = pl.DataFrame({"who": [1, 1, 2, 2, 3], "what": ["a", "b", "a", "b", "a"]})
    log.write_csv(tmp_path / "log.csv")
    options = ["--long", "who,what", "--min-support", 2, "--json"]
    one = json.loads(run("itemsets", tmp_path / "log.csv", *options).stdout)
    many = run("itemsets", tmp_path / "log.csv", *options, "--memory", "100MB")
    assert [each["items"] for each in one["itemsets"]] == [["a"], ["a", "b"]]
    assert json.loads(many.stdout) == one
    assert "in kernels" in many.stderr


def test_an_interrupted_search_says_so(run, visits_file, monkeypatch):
    def stop(self, X, y=None, sample_weight=None):
        fit(self, X)
        self.complete_ = False
        __import__("warnings").warn(tacit.InputWarning("interrupted: others are missing"))
        return self

    fit = tacit.FrequentItemsets.fit
    monkeypatch.setattr(tacit.FrequentItemsets, "fit", stop)
    result = run("itemsets", visits_file, *TENTH, "--json")
    assert result.stderr == "warning: interrupted: others are missing\n"
    assert json.loads(result.stdout)["complete"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--must-hold", "sprots"], "--must-hold: there is no column 'sprots'"),
        (["--must-hold", "device"], "--must-hold: 'device' is no item by itself; name a label"),
        (["--must-not-hold", "device=desk"], "--must-not-hold: column 'device' has no label"),
        (["--one-of", "home,sprots"], "--one-of: there is no column 'sprots'"),
        (["--must-hold", "device=phone"], "--must-hold: device = phone is the default"),
        (["--must-hold", "news", "--must-not-hold", "news"], "--must-not-hold: 'news' is in"),
        (["--min-support", "1.5"], "--min-support must be a fraction"),
        (["--min-support", 0], "--min-support must be a whole number from 1"),
        (["--n-itemsets", 3, "--kind", "maximal"], "--n-itemsets: which sets are maximal"),
        (["--min-size", 3, "--max-size", 2], "--max-size must be a whole number of at least 3"),
        (["--itemsets-memory", "2 dogs"], "--itemsets-memory"),
        (["--itemsets-memory", "100B"], "allow more with --itemsets-memory"),
        (["-o", "no/x.csv"], "the folder 'no' does not exist"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, visits_file, options, message):
    assert message in one_error(run("itemsets", visits_file, *options))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--min-support", "many"], "--min-support"),
        (["--kind", "open"], "--kind"),
        (["--n-itemsets", 0], "--n-itemsets"),
        (["-o", "x.txt"], "--output"),
    ],
)
def test_wrong_use(run, visits_file, options, named):
    assert named in usage_error(run("itemsets", visits_file, *options))


def test_a_file_of_baskets(run, shop):
    lines = run("itemsets", shop, "--min-support", 3).stdout.splitlines()
    assert lines[0] == "2 closed frequent itemsets of 6 records"
    assert [line.split() for line in lines[3:]] == [
        ["milk", "50.00%", "3"],
        ["bread,", "butter", "50.00%", "3"],
    ]
