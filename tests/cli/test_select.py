"""``tacit select`` says what BestSubset says."""

from __future__ import annotations

import json

import pytest

import tacit


def test_text(run, visits_file, visits):
    result = run("select", visits_file, "--target", "scores", "-n", "2", "--top", "3")
    assert result.exit_code == 0
    assert result.stderr == ""
    head, _, _, *rows = result.stdout.splitlines()
    assert head == "The best sets of 2 columns for scores by information_gain, 20,000 records"
    best = tacit.BestSubset(2, n_best=3).fit(visits, "scores")
    assert len(rows) == 3
    for row, subset in zip(rows, best.ranking_, strict=True):
        assert row.startswith(", ".join(subset.columns))
        assert f"{subset.score:.4f}" in row


@pytest.mark.parametrize("options", [[], ["--given", "sports"], ["--criterion", "penalized"]])
def test_json(run, visits_file, visits, options):
    printed = json.loads(
        run("select", visits_file, "--target", "scores", "-n", "1", "--json", *options).stdout
    )
    score = options[-1] if "--criterion" in options else "information_gain"
    given = options[1:] if "--given" in options else []
    best = tacit.BestSubset(1, score, given=given, n_best=10).fit(visits, "scores")
    assert printed["best"] == best.to_frame().to_dicts()
    assert (printed["target"], printed["criterion"], printed["given"]) == ("scores", score, given)
    assert (printed["records"], printed["subsets"]) == (20_000, best.n_subsets_)
    assert printed["scored"] == best.n_scored_


def test_weights(run, mixed_file):
    printed = json.loads(run("select", mixed_file, "--target", "sold", "-n", "2", "--json").stdout)
    assert printed["records"] == 5.5


def test_one_target_for_cuts_and_for_the_search(run, tmp_path):
    lines = [f"{k / 4},{k % 3},{'up' if k > 20 else 'down'}" for k in range(40)]
    (tmp_path / "numbers.csv").write_text("\n".join(["height,noise,way", *lines]))
    options = ["--target", "way", "-n", "1", "--json"]
    result = run("select", tmp_path / "numbers.csv", *options, "--discretise", "mdl")
    [best, _] = json.loads(result.stdout)["best"]
    assert (best["columns"], best["combinations"]) == (["height"], 2)
    unasked = run("select", tmp_path / "numbers.csv", *options)
    [best, _] = json.loads(unasked.stdout)["best"]
    assert best["columns"] == ["height"]
    assert 2 <= best["combinations"] < 40


def test_refuses(run, visits_file):
    unknown = run("select", visits_file, "--target", "nothing")
    assert unknown.exit_code == 1
    assert unknown.stderr.startswith("error: --target: there is no column 'nothing'")
    assert run("select", visits_file).exit_code == 2
    assert run("select", visits_file, "--target", "scores", "-n", "0").exit_code == 2
    assert run("select", visits_file, "--target", "scores", "--criterion", "best").exit_code == 2


def test_a_selection_is_saved_shown_and_applied(run, tmp_path):
    lines = [f"{k / 4},{k % 3},{'up' if k > 20 else 'down'}" for k in range(40)]
    source, model = tmp_path / "numbers.csv", tmp_path / "way.tacit"
    source.write_text("\n".join(["height,noise,way", *lines]))
    best = tmp_path / "best.csv"
    result = run("select", source, "--target", "way", "-n", "1", "-o", model, "-o", best)
    assert result.exit_code == 0, result.stderr
    assert tacit.load(model).subset_ == ("height",)
    assert best.read_text().startswith("columns,score_nats,gain_nats,combinations\nheight,")
    shown = run("show", model).stdout
    assert "way by information_gain, in nats" in shown
    assert "height: 0.63" in shown
    fields = json.loads(run("show", model, "--json").stdout)
    assert fields["kind"] == "BestSubset"
    applied = run("predict", model, source)
    assert applied.exit_code == 0, applied.stderr
    head, *rows = applied.stdout.splitlines()
    assert (head, len(rows)) == ("height", 40)
    assert len(set(rows)) == len(tacit.load(model)._input.schema["height"].labels)
    for option, said in (("--proba", "gives no probabilities"), ("--unseen", "no such setting")):
        refused = run("predict", model, source, option, *(["default"] * (option == "--unseen")))
        assert refused.exit_code != 0
        assert said in " ".join(refused.stderr.split())
