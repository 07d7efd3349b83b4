"""``tacit density`` prints what a TreeMixture finds."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def mix(visits):
    return tacit.TreeMixture(4, max_iter=5, max_joint_labels=1, random_state=0).fit(visits)


FOUR = ("-k", 4, "--max-iter", 5, "--max-joint-labels", 1)


def test_heaviest_edges(run, mix, visits, visits_file):
    lines = run("density", visits_file, *FOUR, "--top", 3).stdout.splitlines()
    edges = mix.to_frame().head(3).rows()
    assert [line.split() for line in lines[-3:]] == [
        [a, b, f"{weight:.4f}", f"{held:.0%}"] for a, b, weight, held in edges
    ]
    assert any(
        line.startswith("log-likelihood") and f"{mix.score(visits):.4f}" in line for line in lines
    )


def test_json(run, mix, visits, visits_file, tmp_path):
    other = tmp_path / "other.tacit"
    visits.take(np.arange(50)).save(other)
    options = [*FOUR, "--top", 2, "--test", other, "-q", "scores | sports=True", "--json"]
    printed = json.loads(run("density", visits_file, *options).stdout)
    told = mix.query("scores", {"sports": True})
    assert printed.pop("answers")[0]["probabilities"][1]["probability"] == pytest.approx(told[True])
    assert printed == {
        "columns": 27,
        "clusters": 4,
        "trees": 1,
        "smoothing": mix.smoothing_,
        "parameters": mix.n_parameters_,
        "edges": mix.to_frame().head(2).to_dicts(),
        "selection": mix.selection_.to_dicts(),
        "log_likelihood": {
            "train": mix.score(visits),
            "test": mix.score(visits.take(np.arange(50))),
        },
    }


def test_splits_and_temperature(run, visits_file):
    options = ("--splits", 1, "--inverse-temperature", 0.5, "--json")
    told = json.loads(run("density", visits_file, *FOUR, *options).stdout)["selection"]
    assert {(row["splits"], row["inverse_temperature"]) for row in told} == {(1, 0.5)}
    usage_error(run("density", visits_file, "--inverse-temperature", 2))
    refused = run("density", visits_file, "--inverse-temperature", 0)
    assert "--inverse-temperature must be a finite number above 0" in one_error(refused)


def test_query(run, visits_file):
    printed = run("density", visits_file, *FOUR, "--query", "scores | sports=True").stdout
    assert "given sports = True (probability" in printed
    assert printed.splitlines()[-1].split()[0] == "True"


def test_output(run, mix, visits_file, tmp_path):
    paths = [tmp_path / name for name in ("m.svg", "m.png", "m.tacit", "m.csv", "m.html")]
    result = run("density", visits_file, *FOUR, *(x for path in paths for x in ("-o", path)))
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    assert paths[0].read_text("utf-8") == mix.to_svg()
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    assert tacit.load(paths[2]).to_frame().equals(mix.to_frame())
    assert pl.read_csv(paths[3])["to"].to_list() == mix.to_frame()["to"].to_list()
    assert "<svg" in paths[4].read_text("utf-8")


def test_draw(run, visits_file, tmp_path):
    path = tmp_path / "drawn.csv"
    run("density", visits_file, *FOUR, "--draw", 30, "-o", path)
    assert pl.read_csv(path).shape == (30, 27)
    assert "--draw: say where" in one_error(run("density", visits_file, "--draw", 3))


def test_validation(run, visits, visits_file, tmp_path):
    path = tmp_path / "valid.tacit"
    visits.take(np.arange(300)).save(path)
    options = ("--max-clusters", 2, "--max-iter", 3, "--json", "--validation")
    told = json.loads(run("density", visits_file, *options, path).stdout)
    assert "held_out" in told["selection"][0]
    none = json.loads(run("density", visits_file, *options, "none").stdout)
    assert "log_marginal" in none["selection"][0]
    assert "--validation" in one_error(run("density", visits_file, "--validation", "2"))
    assert "no.csv" in one_error(run("density", visits_file, "--validation", "no.csv"))


def test_a_saved_mixture_is_shown_and_predicts(run, mix, visits, visits_file, tmp_path):
    path, out = tmp_path / "m.tacit", tmp_path / "p.csv"
    mix.save(path)
    assert mix.to_text().splitlines()[0] in run("show", path).stdout
    assert len(json.loads(run("show", path, "--json").stdout)["clusters"]) == 4
    run("predict", path, visits_file, "--column", "scores", "--proba", "-o", out)
    told = pl.read_csv(out)
    assert told.columns == ["prediction", "P(False)", "P(True)"]
    np.testing.assert_allclose(
        told["P(True)"], mix.predict_proba(visits, "scores")[:, 1], rtol=1e-9
    )


def test_bad_options(run, visits_file):
    usage_error(run("density", visits_file, "--trees", "oak"))
    usage_error(run("density", visits_file, "-k", 0))
    assert "--output" in usage_error(run("density", visits_file, "-o", "m.bif"))
