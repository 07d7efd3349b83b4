"""``tacit recommend`` prints what a Recommender recommends, and how good it is."""

import json

import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def rec(visits):
    return tacit.Recommender("linear", l2=10.0).fit(visits)


LINEAR = ("--algorithm", "linear", "--l2", 10)


def test_a_basket(run, rec, visits_file):
    lines = run("recommend", visits_file, *LINEAR, "--basket", "home,sports", "-n", 3).stdout
    shown = [line.split() for line in lines.splitlines()[-3:]]
    told = rec.recommend(["home", "sports"], n=3)
    assert shown == [[item, f"{score:.4f}"] for item, score in told.iter_rows()]


def test_json(run, rec, visits, visits_file, tmp_path):
    options = [*LINEAR, "--similar", "sports", "-n", 2, "-o", tmp_path / "m.tacit", "--json"]
    printed = json.loads(run("recommend", visits_file, *options).stdout)
    assert printed == {
        "records": visits.n_records,
        "items": len(rec.counts_),
        "algorithm": "linear",
        "l2": 10.0,
        "similar": rec.similar("sports", n=2).to_dicts(),
    }
    assert tacit.load(tmp_path / "m.tacit").recommend(["home"]).equals(rec.recommend(["home"]))


def test_evaluation(run, visits, visits_file):
    options = ["recommend", visits_file, *LINEAR, "--evaluate", "-n", 3]
    printed = json.loads(run(*options, "--json").stdout)["evaluation"]
    assert [row["recommender"] for row in printed] == [
        "linear (this)", "item cosines", "popularity",
    ]  # fmt: skip
    direct = tacit.evaluate_recommender(tacit.Recommender("linear", l2=10.0), visits, n=3)
    assert printed[0]["hit@3"] == pytest.approx(direct.to_frame()["hit@3"][0])
    assert "hit@3" in run(*options).stdout


def test_what_is_popular_without_a_question(run, rec, visits_file):
    lines = run("recommend", visits_file, *LINEAR, "-n", 2).stdout.splitlines()
    assert lines[-2:] == rec.to_text(2).splitlines()[-2:]


def test_errors(run, visits_file):
    assert "--basket: there is no item 'hom'" in one_error(
        run("recommend", visits_file, *LINEAR, "--basket", "hom")
    )
    assert "--similar: there is no item" in one_error(
        run("recommend", visits_file, *LINEAR, "--similar", "hom")
    )
    usage_error(run("recommend", visits_file, "-n", 0))
    assert "--output" in usage_error(run("recommend", visits_file, "-o", "m.html"))
