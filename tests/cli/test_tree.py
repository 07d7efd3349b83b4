"""``tacit tree`` grows what the estimators grow, and says how well it does."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def people():
    """Real numbers, whole numbers, labels, a missing value, weights."""
    rng = np.random.default_rng(5)
    age, hours = rng.integers(18, 80, 400) + 0.5, rng.integers(0, 60, 400)
    job = rng.choice(["clerk", "cook", "pilot"], 400)
    rich = ((age > 40) & (job == "pilot")) | (hours > 45)
    town = [None if k % 40 == 0 else "Ulm" if k % 3 else "Köln" for k in range(400)]
    return pl.DataFrame(
        {
            "age": age,
            "hours": hours,
            "job": job,
            "town": town,
            "rich": np.where(rich ^ (rng.random(400) < 0.05), "yes", "no"),
            "times": rng.integers(1, 4, 400),
        }
    )


@pytest.fixture(scope="module")
def people_file(people, write):
    return write("people.csv", people)


def test_numbers_of_a_csv_are_split_where_it_serves(run, people, people_file):
    printed = run("tree", people_file, "--target", "rich", "--weights", "times").stdout
    tree = tacit.DecisionTreeClassifier().fit(
        people.drop("times"), "rich", sample_weight=people["times"].to_numpy()
    )
    facts, text = printed.split("\n\n")
    assert text.rstrip() == tree.to_text()
    assert "hours ≥ 45.5" in text
    lines = [line.split("   ")[0].strip() for line in facts.splitlines()]
    assert lines == [
        "leaves", "columns asked about", "records", "accuracy", "log-likelihood",
        "area under the curve", "time",
    ]  # fmt: skip


def test_json(run, people, people_file, tmp_path):
    other = tmp_path / "other.csv"
    people[:100].write_csv(other)
    options = ["--target", "rich", "--weights", "times", "--test", other, "--json"]
    options += [
        "--criterion",
        "bic",
        "--max-leaf-nodes",
        4,
        "--min-samples-leaf",
        5,
        "--splits",
        "both",
    ]
    printed = json.loads(run("tree", people_file, *options).stdout)
    tree = tacit.DecisionTreeClassifier(
        "bic", splits="both", max_leaf_nodes=4, min_samples_leaf=5
    ).fit(people.drop("times"), "rich", sample_weight=people["times"].to_numpy())
    assert printed["kind"] == "DecisionTreeClassifier"
    assert (printed["leaves"], printed["depth"]) == (tree.n_leaves_, tree.depth_)
    X, y, w = people.drop("rich", "times"), people["rich"].to_numpy(), people["times"].to_numpy()
    logs = tree.predict_log_proba(X)[np.arange(400), np.searchsorted(tree.classes_, y)]
    assert printed["train"]["records"] == w.sum()
    assert printed["train"]["accuracy"] == pytest.approx(tree.score(X, y, w))
    assert printed["train"]["log_likelihood"] == pytest.approx(np.average(logs, weights=w))
    assert printed["test"]["records"] == w[:100].sum()
    assert printed["test"]["accuracy"] == pytest.approx(tree.score(X[:100], y[:100], w[:100]))
    assert printed["test"]["majority"] == pytest.approx(
        w[:100][y[:100] == "no"].sum() / w[:100].sum()
    )
    assert [rule["leaf"] for rule in printed["rules"]] == [rule.leaf for rule in tree.rules()]
    assert printed["rules"][0]["conditions"] == [list(x) for x in tree.rules()[0].conditions]
    assert sum(printed["gain"].values()) == pytest.approx(1)


def test_tables_are_taken_as_they_are(run, visits, visits_file):
    printed = json.loads(run("tree", visits_file, "--target", "scores", "--json").stdout)
    tree = tacit.DecisionTreeClassifier().fit(visits, "scores")
    assert printed["leaves"] == tree.n_leaves_
    truth = visits.codes("scores")
    assert printed["train"]["accuracy"] == pytest.approx((tree.predict(visits) == truth).mean())
    assert {type(rule["prediction"]) for rule in printed["rules"]} == {bool}


def test_cuts_before_growth(run, people_file):
    options = ["--target", "rich", "--discretise", "age=30,50", "--discretise", "hours=mdl"]
    printed = run("tree", people_file, *options, "--rules").stdout
    assert "age ≥ 50" in printed


def test_graph(run, people, people_file):
    options = ["--target", "rich", "--graph", "--json", "--kappa", 0.5, "--prior", "bdeu"]
    printed = json.loads(run("tree", people_file, *options).stdout)
    graph = tacit.DecisionGraphClassifier(kappa=0.5, prior="bdeu").fit(people, "rich")
    assert printed["kind"] == "DecisionGraphClassifier"
    assert printed["leaves"] == graph.n_leaves_


def test_long_rules_of_graphs_are_cut(run, visits_file):
    lines = run("tree", visits_file, "--target", "scores", "--graph", "--rules").stdout.splitlines()
    rules = [line for line in lines if line.startswith("if ")]
    assert len(rules) == int(lines[0].split()[1].rstrip(","))
    assert max(line.count(") or (") for line in rules) <= 3


def test_regression(run, people, people_file):
    options = ["--target", "age", "--regress", "--max-leaf-nodes", 5]
    printed = json.loads(run("tree", people_file, *options, "--json").stdout)
    tree = tacit.DecisionTreeRegressor(max_leaf_nodes=5).fit(people, "age")
    X, y = people.drop("age"), people["age"].to_numpy()
    assert printed["train"]["r2"] == pytest.approx(tree.score(X, y))
    assert printed["train"]["rmse"] == pytest.approx(((tree.predict(X) - y) ** 2).mean() ** 0.5)
    assert "R²" in run("tree", people_file, *options).stdout


def test_large_trees_are_printed_in_part(run, people_file):
    options = ["--target", "rich", "--criterion", "entropy"]
    whole = json.loads(run("tree", people_file, *options, "--json").stdout)
    lines = run("tree", people_file, *options, "--levels", 2).stdout.splitlines()
    assert any(": … " in line for line in lines)
    assert len(lines) < whole["leaves"]


def test_output(run, people, people_file, tmp_path):
    names = ["model.tacit", "tree.svg", "tree.png", "tree.pdf", "tree.dot", "rules.csv"]
    paths = [tmp_path / name for name in names]
    options = [x for path in paths for x in ("-o", path)]
    result = run("tree", people_file, "--target", "rich", "--levels", 2, *options)
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    model = tacit.load(paths[0])
    assert model.to_text() == tacit.DecisionTreeClassifier().fit(people, "rich").to_text()
    assert ET.fromstring(paths[1].read_text("utf-8")).tag.endswith("svg")
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert paths[3].read_bytes().startswith(b"%PDF")
    assert paths[4].read_text("utf-8") == model.to_dot()
    assert pl.read_csv(paths[5]).height == model.n_leaves_


def test_saved_trees_predict_files_and_show(run, people, people_file, tmp_path):
    path = tmp_path / "model.tacit"
    run("tree", people_file, "--target", "rich", "--max-leaf-nodes", 4, "-o", path)
    model = tacit.load(path)
    shown = run("show", path).stdout
    assert shown.splitlines()[0].startswith(f"{path}: DecisionTreeClassifier(")
    assert model.to_text() in shown
    frame = pl.read_csv(run("predict", path, people_file, "--proba").stdout.encode())
    expected = model.predict_proba(people.select(list(model.feature_names_in_)))
    assert frame["prediction"].to_list() == model.predict(people).tolist()
    assert np.allclose(frame["P(yes)"].to_numpy(), expected[:, 1])


def test_a_file_that_lacks_a_column_cannot_be_predicted(run, people, people_file, tmp_path):
    model, other = tmp_path / "model.tacit", tmp_path / "other.csv"
    run("tree", people_file, "--target", "rich", "-o", model)
    people.drop("hours").write_csv(other)
    result = run("predict", model, other)
    assert result.exit_code == 1
    assert "has no column 'hours', on which the model was fitted" in result.stderr


def test_regressions_and_tables_predict_files(run, people, people_file, visits_file, tmp_path):
    path = tmp_path / "model.tacit"
    run("tree", people_file, "--target", "age", "--regress", "--max-leaf-nodes", 3, "-o", path)
    frame = pl.read_csv(run("predict", path, people_file).stdout.encode())
    assert np.allclose(frame["prediction"].to_numpy(), tacit.load(path).predict(people))
    run("tree", visits_file, "--target", "scores", "--graph", "-o", path)
    frame = pl.read_csv(run("predict", path, visits_file).stdout.encode())
    assert frame["prediction"].dtype == pl.Boolean


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "wealth"], "--target: "),
        (["--target", "town"], "--target 'town' contains NaN or None: record 0 is missing"),
        (["--target", "age"], "--target 'age' holds real numbers"),
        (["--target", "rich", "--regress"], "--target 'rich' must hold numbers, got String"),
        (["--target", "rich", "--prior-weight", 0], "--prior-weight must be a finite number"),
        (["--target", "rich", "--weights", "heft"], "--weights: there is no column 'heft'"),
        (["--target", "rich", "-o", "no/x.svg"], "--output: the folder 'no' does not exist"),
        (["--target", "rich", "--test", "no.csv"], "no.csv"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, people_file, options, message):
    assert message in one_error(run("tree", people_file, *options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--graph", "--regress"], "--graph"),
        (["--graph", "--criterion", "gini"], "--criterion"),
        (["--regress", "--criterion", "bic"], "--criterion"),
        (["--criterion", "squared_error"], "--criterion"),
        (["--regress", "--prior", "bdeu"], "--prior"),
        (["--kappa", 0], "--kappa"),
        (["-o", "tree.doc"], "--output"),
    ],
)
def test_options_that_do_not_go_together(run, people_file, options, message):
    assert message in usage_error(run("tree", people_file, "--target", "rich", *options))


def test_input_is_not_overwritten(run, people_file):
    result = run("tree", people_file, "--target", "rich", "-o", people_file)
    assert result.exit_code == 1
    assert "is what is read; it would be lost" in result.stderr


def test_files_in_partitions(run, visits, visits_file, tmp_path):
    frame = visits.to_frame("polars")
    for k in range(3):
        frame[k * 7000 : (k + 1) * 7000].write_parquet(tmp_path / f"day{k}.parquet")
    options = ["--target", "news", "--max-leaf-nodes", 9, "--json"]
    whole = json.loads(run("tree", visits_file, *options).stdout)
    pattern = tmp_path / "day*.parquet"
    result = run("tree", pattern, *options, "--test", tmp_path / "day1.parquet")
    printed = json.loads(result.stdout)
    assert printed.pop("test")["records"] == 7000
    assert printed["train"].pop("log_likelihood") == pytest.approx(
        whole["train"].pop("log_likelihood"), rel=1e-12
    )
    assert printed == whole
    assert "passes" in result.stderr
    limited = json.loads(run("tree", pattern, *options, "--memory", "100MB").stdout)
    assert limited["rules"] == whole["rules"]


@pytest.mark.parametrize("option", ["--graph", "--regress"])
def test_partitions_are_not_for_all_kinds(run, people, tmp_path, option):
    people.write_parquet(tmp_path / "people.parquet")
    result = run("tree", tmp_path / "*.parquet", "--target", "hours", option)
    assert result.exit_code == 2
    assert option in result.stderr
    assert "needs all records at once" in " ".join(result.stderr.replace("│", " ").split())
