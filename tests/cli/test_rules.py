"""``tacit rules`` learns what the estimators learn; saved rules are shown and applied."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    age, job = rng.integers(18, 80, 300), rng.choice(["clerk", "cook", "pilot"], 300)
    rich = ((age > 40) & (job == "pilot")) | (age > 70)
    return pl.DataFrame(
        {
            "age": age,
            "job": job,
            "height": rng.normal(170, 10, 300).round(1),
            "rich": np.where(rich, "yes", "no"),
            "flies": (job == "pilot").astype(int),
            "cooks": (job == "cook").astype(int),
        }
    )


@pytest.fixture(scope="module")
def people_file(people, write):
    return write("people.csv", people)


@pytest.fixture(scope="module")
def one_target(people, write):
    return write("rich.csv", people.drop("flies", "cooks"))


def test_rules_of_classes(run, people, one_target, tmp_path):
    saved = tmp_path / "rich.tacit"
    printed = run("rules", one_target, "--target", "rich", "-n", 30, "--top", 3, "-o", saved)
    facts, text, written = printed.stdout.split("\n\n")
    model = tacit.BoostedRulesClassifier(n_rules=30, random_state=0)
    model.fit(people.drop("rich", "flies", "cooks"), people["rich"])
    assert text == model.to_text(top=3)
    lines = [line.split("   ")[0].strip() for line in facts.splitlines()]
    assert lines == [
        "records", "rules", "records held out", "accuracy", "log-likelihood",
        "area under the curve", "time",
    ]  # fmt: skip
    assert facts.splitlines()[2].split() == ["records", "held", "out", "60"]
    assert written.strip() == f"written: {saved}"

    shown = run("show", saved).stdout
    assert "30 rules" in shown
    assert "then yes" in shown
    applied = pl.read_csv(run("predict", saved, one_target, "--proba").stdout.encode())
    X = people.drop("rich", "flies", "cooks")
    assert applied["prediction"].to_list() == model.predict(X).tolist()
    np.testing.assert_allclose(applied["P(yes)"], model.predict_proba(X)[:, 1])


def test_a_page_of_rules_is_a_whole_page(run, one_target, tmp_path):
    path = tmp_path / "rich.html"
    run("rules", one_target, "--target", "rich", "-n", 5, "-o", path)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>rich</h1>" in page
    assert "RuleSet of" in page


def test_labels_and_json(run, people, people_file, tmp_path):
    targets = ["--target", "flies", "--target", "cooks"]
    saved = tmp_path / "does.tacit"
    options = ["-n", 12, "--heads", "complete", "--learning-rate", 0.5, "--max-conditions", 2]
    options += ["--feature-fraction", 2, "--test", people_file, "-o", saved, "--top", 2, "--json"]
    printed = json.loads(run("rules", people_file, *targets, *options).stdout)
    X, Y = people.drop("flies", "cooks"), people.select("flies", "cooks")
    model = tacit.BoostedRulesClassifier(
        n_rules=12, heads="complete", learning_rate=0.5, max_conditions=2, feature_fraction=2,
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    predicted = model.predict(X)
    assert printed["kind"] == "BoostedRulesClassifier"
    assert printed["targets"] == ["flies", "cooks"]
    assert printed["rules"] == 12
    assert printed["test"]["records"] == 300
    assert printed["test"]["hamming"] == pytest.approx(np.mean(predicted != Y.to_numpy()))
    assert printed["test"]["subset"] == pytest.approx(
        np.mean((predicted == Y.to_numpy()).all(axis=1))
    )
    assert len(printed["best"]) == 2
    assert set(printed["best"][0]["head"]) == {"flies", "cooks"}
    applied = pl.read_csv(run("predict", saved, people_file).stdout.encode())
    assert applied.columns == ["flies", "cooks"]
    assert np.array_equal(applied.to_numpy(), predicted)


def test_numbers(run, people, one_target, tmp_path):
    saved = tmp_path / "age.tacit"
    options = ["--regress", "-n", 20, "--test", one_target, "-o", saved, "--json"]
    printed = json.loads(run("rules", one_target, "--target", "age", *options).stdout)
    X = people.drop("age", "flies", "cooks")
    model = tacit.BoostedRulesRegressor(n_rules=20, random_state=0).fit(X, people["age"])
    assert printed["test"]["r2"] == pytest.approx(model.score(X, people["age"].to_numpy()))
    applied = pl.read_csv(run("predict", saved, one_target).stdout.encode())
    np.testing.assert_allclose(applied["prediction"], model.predict(X))


@pytest.mark.parametrize(
    "settings",
    [{"loss": "absolute"}, {"loss": "quantile", "quantile": 0.8}, {"loss": "poisson"}],
)
def test_losses_of_numbers(run, people, one_target, tmp_path, settings):
    saved = tmp_path / "age.tacit"
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    options += ["--regress", "-n", 20, "--test-fraction", 0, "-o", saved]
    run("rules", one_target, "--target", "age", *options)
    X = people.drop("age", "flies", "cooks")
    model = tacit.BoostedRulesRegressor(n_rules=20, random_state=0, **settings)
    applied = pl.read_csv(run("predict", saved, one_target).stdout.encode())
    expected = model.fit(X, people["age"]).predict(X)
    np.testing.assert_allclose(applied["prediction"], expected)


@pytest.mark.parametrize(
    ("options", "class_weight"),
    [
        (["--class-weight", "balanced"], "balanced"),
        (["--class-weight", "yes=3", "--class-weight", "no=0.5"], {"yes": 3.0, "no": 0.5}),
    ],
)
def test_weights_of_classes(run, people, one_target, tmp_path, options, class_weight):
    saved = tmp_path / "rich.tacit"
    run("rules", one_target, "--target", "rich", "-n", 10, *options, "-o", saved)
    X = people.drop("rich", "flies", "cooks")
    model = tacit.BoostedRulesClassifier(n_rules=10, random_state=0, class_weight=class_weight)
    assert tacit.load(saved).to_text() == model.fit(X, people["rich"]).to_text()
    other = tacit.BoostedRulesClassifier(n_rules=10, random_state=0).fit(X, people["rich"])
    assert other.to_text() != model.to_text()


def test_weights_of_classes_that_are_numbers(run, people, one_target, tmp_path):
    saved = tmp_path / "age.tacit"
    age = int(people["age"][0])
    run("rules", one_target, "--target", "age", "-n", 5, "--class-weight", f"{age}=9", "-o", saved)
    X = people.drop("age", "flies", "cooks")
    model = tacit.BoostedRulesClassifier(n_rules=5, random_state=0, class_weight={age: 9})
    assert tacit.load(saved).to_text() == model.fit(X, people["age"]).to_text()


def test_limits_of_columns(run, people, one_target, tmp_path):
    saved, X = tmp_path / "rich.tacit", people.drop("rich", "flies", "cooks")
    options = ["--monotonic-cst", "age=-1", "--interaction-cst", "age,job", "-n", 30]
    run("rules", one_target, "--target", "rich", *options, "-o", saved)
    model = tacit.BoostedRulesClassifier(
        n_rules=30, random_state=0, monotonic_cst={"age": -1}, interaction_cst=[["age", "job"]]
    )
    assert tacit.load(saved).to_text() == model.fit(X, people["rich"]).to_text()
    options = ["--interaction-cst", "no_interactions", "-n", 30]
    run("rules", one_target, "--target", "rich", *options, "-o", saved)
    model = tacit.BoostedRulesClassifier(30, random_state=0, interaction_cst="no_interactions")
    assert tacit.load(saved).to_text() == model.fit(X, people["rich"]).to_text()


def test_time(run, people, one_target, tmp_path):
    saved, X = tmp_path / "rich.tacit", people.drop("rich", "flies", "cooks")
    run("rules", one_target, "--target", "rich", "-n", 5, "--max-seconds", 1000, "-o", saved)
    model = tacit.BoostedRulesClassifier(5, random_state=0).fit(X, people["rich"])
    assert tacit.load(saved).to_text() == model.to_text()
    assert tacit.load(saved).max_seconds == 1000


def test_more_rules(run, people, one_target, tmp_path):
    first, more = tmp_path / "first.tacit", tmp_path / "more.tacit"
    run("rules", one_target, "--target", "rich", "-n", 5, "--learning-rate", 0.1, "-o", first)
    options = ["--target", "rich", "-n", 20, "--warm-start", first, "-o", more, "--json"]
    printed = json.loads(run("rules", one_target, *options).stdout)
    assert printed["rules"] == 20
    assert printed["test"]["records"] == 60  # by rules of the others, learnt afresh
    X = people.drop("rich", "flies", "cooks")
    model = tacit.BoostedRulesClassifier(20, learning_rate=0.1, random_state=0)
    assert tacit.load(more).to_text() == model.fit(X, people["rich"]).to_text()
    assert tacit.load(more).warm_start is False
    one = run("rules", one_target, "--target", "rich", "-n", 20, "--learning-rate", 0.1, "--json")
    assert json.loads(one.stdout) == printed
    for wrong, message in (
        (["--target", "age", "--regress"], "holds a BoostedRulesClassifier, not a Boosted"),
        (["--target", "rich", "--covering"], "does not go with --covering"),
        (["--target", "rich", "-n", 3], "goes on with 5 rules"),
        (["--target", "age"], "must stay as they were"),
    ):
        failed = run("rules", one_target, *wrong, "--test-fraction", 0, "--warm-start", first)
        assert failed.exit_code != 0
        assert message in " ".join(failed.stderr.replace("│", " ").split())


def test_an_output_has_the_name_of_its_column(run, one_target):
    printed = run("rules", one_target, "--target", "age", "--regress", "-n", 5)
    assert "numbers: age" in printed.stdout
    assert "then age " in printed.stdout
    assert printed.stderr == ""


def test_a_hint_that_a_target_is_a_number(run, people, one_target):
    result = run("rules", one_target, "--target", "age", "-n", 2, "--json")
    assert f"age has {people['age'].n_unique()} classes" in result.stderr
    assert "--regress" in result.stderr
    assert json.loads(result.stdout)["rules"] == 2
    assert run("rules", one_target, "--target", "rich", "-n", 2).stderr == ""


def test_the_help_says_how_many_conditions_there_are(run):
    most = tacit.CoveringRulesClassifier().max_conditions
    text = " ".join(run("rules", "--help").stdout.replace("│", " ").split())
    assert f"4, or {most} of covering rules" in text


def test_covering_rules(run, people, one_target, tmp_path):
    saved, listed = tmp_path / "rich.tacit", tmp_path / "rich.csv"
    options = ["--covering", "--criterion", "laplace", "-o", saved, "-o", listed]
    printed = run("rules", one_target, "--target", "rich", *options).stdout
    X = people.drop("rich", "flies", "cooks")
    model = tacit.CoveringRulesClassifier("laplace", random_state=0).fit(X, people["rich"])
    assert model.to_text(top=20) in printed
    assert pl.read_csv(listed)["conditions"].to_list() == [r.condition for r in model.rules_]
    assert "otherwise" in run("show", saved).stdout
    applied = pl.read_csv(run("predict", saved, one_target).stdout.encode())
    assert applied["prediction"].to_list() == model.predict(X).tolist()
    printed = json.loads(
        run("rules", one_target, "--target", "rich", *options[:3], "--json").stdout
    )
    assert printed["best"][0]["precision"] == pytest.approx(model.rules_[0].precision)
    once = ["--criterion", "foil_gain", "--n-optimisations", 0]
    printed = run("rules", one_target, "--target", "rich", "--covering", *once).stdout
    model = tacit.CoveringRulesClassifier("foil_gain", n_optimisations=0, random_state=0)
    assert model.fit(X, people["rich"]).to_text(top=20) in printed


HEADER = "@relation r\n@attribute a {0,1}\n@attribute b numeric\n@attribute y {0,1}\n@data\n"
LABELS = "<labels><label name='y'/><label name='z'/></labels>"


@pytest.mark.parametrize("sparse", [False, True])
def test_multi_label_files(run, tmp_path, sparse):
    rng = np.random.default_rng(1)
    header = HEADER.replace("@data", "@attribute z {0,1}\n@data")
    rows = rng.integers(0, 2, (60, 4))
    rows[:, 2] = rows[:, 0]
    if sparse:
        texts = ["{" + ",".join(f"{c} 1" for c in np.flatnonzero(row)) + "}" for row in rows]
    else:
        texts = [",".join(map(str, row)) for row in rows]
    data, labels, saved = tmp_path / "r.arff", tmp_path / "r.xml", tmp_path / "r.tacit"
    data.write_text(header + "\n".join(texts) + "\n", encoding="utf-8")
    labels.write_text(LABELS, encoding="utf-8")
    printed = run("rules", data, "--labels", labels, "-n", 8, "-o", saved).stdout
    assert "2 labels: y, z" in printed
    assert "if a " in printed
    applied = pl.read_csv(run("predict", saved, data).stdout.encode())
    assert applied["y"].to_list() == rows[:, 2].tolist()


WORDS = """@relation r
@attribute w {0,1}
@attribute 'tf of, b' numeric
@attribute size {small,large,huge}
@attribute y {0,1}
@attribute z {0,1}
@data
"""


@pytest.fixture(scope="module")
def word_files(tmp_path_factory):
    """The same records as a dense and as a sparse ARFF file, and their labels."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("words")
    w, y, z = rng.integers(0, 2, (3, 80))
    tf = np.where(rng.random(80) < 0.4, rng.integers(1, 9, 80) / 8, 0.0)
    size = rng.choice(["small", "large", "huge"], 80)
    y, z = w | (rng.random(80) < 0.1), (tf > 0.3) | (size == "huge")
    rows = list(zip(w, tf, size, y.astype(int), z.astype(int), strict=True))
    omitted = (0, 0, "small", 0, 0)
    sparse = [
        "{" + ",".join(f"{c} {x}" for c, x in enumerate(row) if x != omitted[c]) + "}"
        for row in rows
    ]
    dense = [",".join(map(str, row)) for row in rows]
    for name, lines in (("dense", dense), ("sparse", sparse)):
        (folder / f"{name}.arff").write_text(WORDS + "\n".join(lines) + "\n", encoding="utf-8")
    (folder / "labels.xml").write_text(LABELS, encoding="utf-8")
    return folder


def shown_rules(text):
    return [line for line in text.splitlines() if line.startswith(("if ", "always "))]


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_rules_of_arff_files_read_the_same_everywhere(run, word_files, form):
    path, labels = word_files / f"{form}.arff", word_files / "labels.xml"
    data = tacit.read_multilabel(path, labels)
    model = tacit.BoostedRulesClassifier(12, random_state=0).fit(data.X, data.Y)
    expected = shown_rules(model.to_text())
    assert {"w > 0.5", "w ≤ 0.5"} & {c.text for rule in model.rules_ for c in rule.conditions}
    assert any("tf of, b" in line for line in expected)
    assert all(" y " in line or " z " in line for line in expected)
    printed = run("rules", path, "--labels", labels, "-n", 12, "--top", 50).stdout
    assert shown_rules(printed) == expected
    # Other containers of the same numbers.
    frame = data.X if form == "dense" else data.X.to_frame("polars")
    for X in (frame, tacit.Table(frame.drop("tf of, b"))):
        again = tacit.BoostedRulesClassifier(12, random_state=0).fit(X, data.Y)
        assert all("≤ 0 " not in line for line in shown_rules(again.to_text()))
    again = tacit.BoostedRulesClassifier(12, random_state=0).fit(frame, data.Y)
    assert shown_rules(again.to_text()) == expected


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_a_target_of_an_arff_file(run, word_files, form, tmp_path):
    path, saved = word_files / f"{form}.arff", tmp_path / "rules.tacit"
    options = ["--target", "y", "-n", 5, "--top", 50]
    lines = shown_rules(run("rules", path, *options, "-o", saved).stdout)
    other = word_files / f"{'dense' if form == 'sparse' else 'sparse'}.arff"
    assert lines == shown_rules(run("rules", other, *options).stdout)
    assert any("w ≤ 0.5" in line or "w > 0.5" in line for line in lines)
    predicted = [run("predict", saved, p).stdout for p in (path, other)]
    assert predicted[0] == predicted[1]
    weighted = run("rules", path, *options, "--weights", "tf of, b").stdout
    assert "tf of, b" not in weighted
    assert "w " in weighted
    message = one_error(run("rules", path, *options, "--weights", "nope"))
    assert message == "--weights: there is no column 'nope'"


def test_rules_of_a_sparse_array_have_the_same_thresholds(word_files):
    columns = ["w", "tf of, b"]
    data = tacit.read_multilabel(word_files / "sparse.arff", word_files / "labels.xml")
    table = data.X.select(columns)
    X, Y = tacit.io.MultiLabelData(table, data.Y).to_arrays()
    texts = [
        shown_rules(tacit.BoostedRulesClassifier(12).fit(numbers, data.Y).to_text())
        for numbers in (table, X, table.to_frame("polars"))
    ]
    named = [line.replace("x0", "w").replace("x1", "tf of, b") for line in texts[1]]
    assert texts[0] == texts[2] == named
    assert Y.shape == (80, 2)


def test_rules_of_labels_that_are_texts_still_predict_arff_files(run, word_files, tmp_path):
    """Those of `read_arff`, which keeps what nominal attributes declare."""
    table = tacit.read_arff(word_files / "sparse.arff", discretise={"tf of, b": 2})
    model = tacit.CoveringRulesClassifier(prune=False).fit(table.select(["w", "size", "y"]), "y")
    model.save(tmp_path / "rules.tacit")
    predicted = pl.read_csv(
        run("predict", tmp_path / "rules.tacit", word_files / "sparse.arff",
            "--discretise", "tf of, b=2").stdout.encode(),
        infer_schema=False,
    )  # fmt: skip
    assert predicted["prediction"].to_list() == model.predict(table).tolist()


def test_a_table_and_weights(run, people, tmp_path):
    table = tacit.Table(
        people.select("job", "rich").with_columns(age=people["age"] // 10),
        weights=np.arange(300) % 3 + 1,
    )
    path = tmp_path / "people.tacit"
    table.save(path)
    printed = json.loads(run("rules", path, "--target", "rich", "-n", 5, "--json").stdout)
    model = tacit.BoostedRulesClassifier(n_rules=5, random_state=0)
    model.fit(
        table.with_weights(None).select(["job", "age"]), people["rich"], np.arange(300) % 3 + 1
    )
    texts = [model.rules_.merged()[k].condition for k in model.rules_.merged().ranked()]
    assert [rule["conditions"] for rule in printed["best"]] == texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say --target, or --labels"),
        (["--target", "rich", "--labels", "x.xml"], "say --target, or --labels"),
        (["--target", "poor"], "has no column 'poor'"),
        (["--target", "rich", "--covering", "--regress"], "not with --regress"),
        (["--target", "rich", "--covering", "--algorithm", "histogram"], "--covering"),
        (["--target", "rich", "--criterion", "laplace"], "is for --covering"),
        (["--target", "rich", "--n-optimisations", 1], "is for --covering"),
        (["--target", "rich", "--feature-fraction", "many"], "'many' is none of a number"),
        (["--target", "rich", "--feature-fraction", "1.5"], "--feature-fraction must be"),
        (["--target", "rich", "--learning-rate", "0"], "--learning-rate must be"),
        (["--target", "rich", "--regress", "--loss", "softmax"], "does not go with --regress"),
        (["--target", "rich", "--loss", "poisson"], "poisson is for --regress"),
        (["--target", "rich", "--quantile", "0.5"], "is for --regress"),
        (["--target", "rich", "--class-weight", "yes"], "neither balanced nor CLASS=WEIGHT"),
        (["--target", "rich", "--class-weight", "rich=2"], "there is no class 'rich'"),
        (["--target", "rich", "--class-weight", "yes=-2"], "--class-weight: weights must be"),
        (["--target", "age", "--regress", "--class-weight", "balanced"], "does not go with"),
        (["--target", "rich", "--max-seconds", "0"], "--max-seconds must be"),
        (["--target", "rich", "--covering", "--max-seconds", "2"], "--covering"),
        (["--target", "rich", "--monotonic-cst", "age"], "neither COLUMN=1 nor COLUMN=-1"),
        (["--target", "rich", "--monotonic-cst", "aeg=1"], "there is no column 'aeg'"),
        (["--target", "rich", "--interaction-cst", "age,jbo"], "there is no column 'jbo'"),
        (["--target", "rich", "--covering", "--interaction-cst", "pairwise"], "--covering"),
        (["--target", "age", "--regress", "--loss", "quantile"], "--quantile must be given"),
        (["--target", "age", "--regress", "--quantile", "0.5"], "--quantile is for loss="),
        (["--target", "rich", "--test-fraction", "0.001"], "leaves none on one side"),
        (["--target", "rich", "-o", "model.txt"], "must end in"),
        (["--target", "rich", "--regress"], "--target"),
        (["--target", "rich", "--max-conditions", "300"], "--max-conditions"),
        (["--target", "age", "--target", "rich"], "--target: label 'rich' holds"),
    ],
)
def test_what_cannot_be(run, one_target, options, message):
    failed = run("rules", one_target, *options)
    assert failed.exit_code != 0
    assert message in " ".join(failed.stderr.replace("│", " ").split())


def test_a_file_without_a_column_of_the_model(run, people, one_target, tmp_path):
    saved, other = tmp_path / "rich.tacit", tmp_path / "other.csv"
    run("rules", one_target, "--target", "rich", "-n", 3, "-o", saved)
    people.select("job", "rich").write_csv(other)
    failed = run("predict", saved, other)
    assert failed.exit_code == 1
    assert "has no column 'age'" in failed.stderr
