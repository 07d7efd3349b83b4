"""``tacit classify`` fits what the estimators fit, and says how well it does."""

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import tacit

METHODS = {
    "knn": "SparseKNeighborsClassifier",
    "snc": "NormalizedCutClassifier",
    "ksnc": "NormalizedCutClassifier",
    "svm": "SparseSVC",
}


@pytest.fixture(scope="module")
def flowers():
    """Numbers of different lengths, a label, and a class that depends on them."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 6, 300)
    X = rng.normal(size=(6, 3))[kind] * 3 + rng.normal(size=(300, 3)) * 0.4
    return pl.DataFrame(
        {
            "length": X[:, 0],
            "width": X[:, 1] * 100,
            "height": X[:, 2],
            "colour": np.where(X[:, 1] > 0, "<red>", "blue"),
            "class": np.array(["iris", "rose"])[kind % 2],
        }
    )


@pytest.fixture(scope="module")
def flowers_file(flowers, write):
    return write("flowers.csv", flowers)


def parts(flowers, seed=0):
    drawn = np.random.default_rng(seed).permutation(300)
    return flowers[np.sort(drawn[60:])], flowers[np.sort(drawn[:60])]


@pytest.mark.parametrize("method", METHODS)
def test_json_says_what_the_estimator_says(run, flowers, flowers_file, method):
    options = ["--method", method, "--normalize", "--resolution", 6, "--json"]
    told = json.loads(run("classify", flowers_file, "--target", "class", *options).stdout)
    train, test = parts(flowers)
    more = {"node_weights": "neighbours"} if method == "ksnc" else {}
    model = getattr(tacit, METHODS[method])(normalize=True, resolution=6, random_state=0, **more)
    model.fit(train.drop("class"), train["class"])
    predicted = model.predict(test.drop("class"))
    assert told["kind"] == METHODS[method]
    assert told["accuracy"] == pytest.approx(np.mean(predicted == test["class"].to_numpy()))
    assert told["classes"] == ["iris", "rose"]
    assert (told["training"], told["test"]) == (240, 60)
    assert told["density"] == model.computation_.density_
    truth = test["class"].to_numpy()
    expected = [
        [int(np.sum((truth == is_) & (predicted == taken))) for taken in ("iris", "rose")]
        for is_ in ("iris", "rose")
    ]
    assert told["confusion"] == expected
    assert told["parameters"]["resolution"] == [6, 6, 6]
    assert set(told["seconds"]) == {"reading", "fitting", "predicting"}


def test_words(run, flowers_file):
    printed = run("classify", flowers_file, "--target", "class", "--normalize").stdout
    facts, confusion = printed.split("\n\n")
    names = [line.split("   ")[0] for line in facts.splitlines()]
    assert names == [
        "method", "records", "grid", "accuracy", "F1", "without near objects", "time",
    ]  # fmt: skip
    assert "240 to learn from, 60 to test on" in facts
    assert confusion.splitlines()[0].split() == ["class", "\\", "predicted", "iris", "rose"]


@pytest.mark.parametrize("method", METHODS)
def test_tuning_finds_what_tune_finds(run, flowers, flowers_file, method, tmp_path):
    report = tmp_path / "report.html"
    options = [
        "--method",
        method,
        "--tune",
        "--scoring",
        "f1",
        "--random-state",
        4,
        "--resolution",
        4,
    ]
    told = json.loads(
        run("classify", flowers_file, "--target", "class", *options, "-o", report, "--json").stdout
    )
    train, _ = parts(flowers, 4)
    more = {"node_weights": "neighbours"} if method == "ksnc" else {}
    model = getattr(tacit, METHODS[method])(resolution=4, random_state=4, **more)
    tuned = tacit.tune(
        model, train.drop("class"), train["class"], scoring="f1", sizes=(0.75, 0.25, 0),
        random_state=4,
    )  # fmt: skip
    assert told["tuning"] == {
        "combinations": tuned.frame.height,
        "scoring": "f1",
        "best_score": tuned.best_score,
    }
    for name, value in tuned.best_params.items():
        assert told["parameters"][name] == value
    assert {"tuning", "fitting"} <= set(told["seconds"])
    page = report.read_text("utf-8")
    assert "<h2>Tuning</h2>" in page
    assert f"{tuned.frame.height:,} combinations" in page


def test_the_report_needs_nothing_else(run, flowers, tmp_path):
    named = flowers.with_columns(
        pl.col("class").replace({"iris": "<i>ris & co", "rose": "r\u00f6se"})
    )
    path, report = tmp_path / "a<b>.csv", tmp_path / "report.html"
    named.write_csv(path)
    run("classify", path, "--target", "class", "-o", report, "--tune")
    page = report.read_text("utf-8")
    assert "<title>class of a&lt;b&gt;.csv</title>" in page
    assert "&lt;i&gt;ris &amp; co" in page
    assert "<i>ris" not in page
    assert not re.search(r"(src|href)=|https?://", page)
    drawings = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(drawings) == 2  # scores by n_neighbors, and the grid
    for drawing in drawings:
        ET.fromstring(drawing)
    assert len(re.findall("<rect", drawings[1])) > 10


def test_predictions_are_written_for_test_objects(run, flowers, flowers_file, tmp_path):
    out = tmp_path / "out.parquet"
    printed = run("classify", flowers_file, "--target", "class", "-o", out).stdout
    assert f"written: {out}" in printed
    frame = pl.read_parquet(out)
    assert frame.columns == ["record", "class", "prediction"]
    assert frame.height == 60
    assert flowers["class"][frame["record"].to_list()].equals(frame["class"])


def test_another_file_to_test_on(run, flowers, flowers_file, tmp_path):
    other = tmp_path / "other.csv"
    more = flowers[:50].with_columns(
        pl.when(pl.int_range(50) < 5).then(pl.lit("tulip")).otherwise("class").alias("class")
    )
    more.select(reversed(more.columns)).write_csv(other)
    options = ["--target", "class", "--test", other, "--normalize", "--n-neighbors", 1, "--json"]
    told = json.loads(run("classify", flowers_file, *options).stdout)
    assert (told["training"], told["test"]) == (300, 50)
    assert told["classes"] == ["iris", "rose", "tulip"]
    assert told["accuracy"] == 0.9  # each is its own neighbour, but tulips are unheard of
    assert sum(told["confusion"][2]) == 5
    flowers.drop("width").write_csv(other)
    result = run("classify", flowers_file, "--target", "class", "--test", other)
    assert result.exit_code == 1
    assert "has no column 'width'" in result.stderr


@pytest.mark.parametrize("method", METHODS)
def test_saved_models_predict_and_show_themselves(run, flowers, flowers_file, method, tmp_path):
    model, out = tmp_path / "model.tacit", tmp_path / "out.csv"
    run("classify", flowers_file, "--target", "class", "--method", method, "-o", model)
    shown = run("show", model).stdout
    assert METHODS[method] in shown
    assert "2: iris, rose" in shown
    assert json.loads(run("show", model, "--json").stdout)["kind"] == METHODS[method]
    told = run("predict", model, flowers_file, "-o", out).stdout
    assert "300 predictions" in told
    expected = tacit.load(model).predict(flowers.drop("class"))
    assert pl.read_csv(out)["prediction"].to_list() == expected.tolist()
    flowers.drop("width").write_csv(out)
    assert "has no column 'width'" in run("predict", model, out).stderr


def test_a_table_is_taken_by_its_labels(run, visits_file, visits, tmp_path):
    name = "weather"
    model = tmp_path / "model.tacit"
    told = json.loads(
        run(
            "classify", visits_file, "--target", name, "--test-fraction", 0.05, "-o", model,
            "--json",
        ).stdout
    )  # fmt: skip
    assert told["training"] + told["test"] == visits.n_records
    assert told["accuracy"] > 0.6
    printed = run("predict", model, visits_file).stdout
    assert printed.count("\n") == visits.n_records + 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--target", "klass"], "--target: .* has no column 'klass'"),
        (["--test-fraction", "1"], "leaves none on one side"),
        (["--weights", "width"], "--weights: records are compared one by one"),
        (["--scale", "2"], "is not for --method knn"),
        (["--method", "svm", "--n-neighbors", "2"], "is not for --method svm"),
        (["--method", "svm", "--scale", "-1"], "--scale must be a finite number above 0"),
        (["--resolution", "fine"], "neither auto nor whole numbers"),
        (["--resolution", "3,4"], "--resolution must be one number, or 3"),
        (["--n-dimensions", "5"], "neither auto nor a number from 1 to 4"),
        (["-o", "model.pkl"], "must end in .tacit, .html, .svg"),
        (["--method", "tree", "--tune"], "--tune: is not for --method tree"),
        (["--method", "tree", "--C", "2"], "--C: is not for --method tree"),
        (["--method", "tree", "-p", "depth=3"], "not NAME=VALUE with a parameter of Decision"),
    ],
)
def test_what_is_wrong_is_said_of_the_option(run, flowers_file, options, problem):
    given = options if "--target" in options else ["--target", "class", *options]
    result = run("classify", flowers_file, *given)
    assert result.exit_code != 0
    assert re.search(problem, " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split()))


def test_missing_classes_are_an_error(run, flowers, tmp_path):
    path = tmp_path / "holes.csv"
    flowers.with_columns(
        pl.when(pl.int_range(300) == 7).then(None).otherwise("class").alias("class")
    ).write_csv(path)
    result = run("classify", path, "--target", "class")
    assert result.exit_code == 1
    assert "--target 'class': the class of record 7 is missing" in result.stderr


def test_warnings_are_lines_on_stderr(run, flowers_file):
    options = ["--target", "class", "--method", "svm", "--scale", "1e-6", "--resolution", "30"]
    result = run("classify", flowers_file, *options)
    assert result.exit_code == 0
    assert "Traceback" not in result.stderr


def test_missing_numbers_and_what_to_do_about_them(run, flowers, tmp_path):
    path = tmp_path / "flowers.csv"
    lost = pl.when(pl.int_range(300) == 7).then(None).otherwise(pl.col("width")).alias("width")
    flowers.with_columns(lost).write_csv(path)
    result = run("classify", path, "--target", "class")
    assert result.exit_code == 1
    assert "column 'width': the number of record 7 is missing" in " ".join(result.stderr.split())
    assert "--discretise" in result.stderr
    assert run("classify", path, "--target", "class", "--discretise", "width").exit_code == 0


def test_values_with_another_separator(run, flowers, tmp_path):
    path = tmp_path / "flowers.csv"
    flowers.write_csv(path, separator=";")
    result = run("classify", path, "--target", "class")
    assert result.exit_code == 0
    [note] = result.stderr.splitlines()
    assert note == f"note: {path}: values are separated by ';'"
    said = run("classify", path, "--target", "class", "--separator", ";")
    assert said.exit_code == 0
    assert said.stderr == ""


@pytest.mark.parametrize("method", ["tree", "graph", "rules", "covering"])
def test_every_classifier_of_the_package(run, flowers, flowers_file, method):
    names = {
        "tree": "DecisionTreeClassifier",
        "graph": "DecisionGraphClassifier",
        "rules": "BoostedRulesClassifier",
        "covering": "CoveringRulesClassifier",
    }
    limit = {"tree": "max_depth=2", "rules": "n_rules=20", "covering": "max_rules=3"}
    options = ["-p", limit[method]] if method in limit else []
    told = json.loads(
        run(
            "classify", flowers_file, "--target", "class", "--method", method, *options, "--json"
        ).stdout
    )
    assert told["kind"] == names[method]
    order = np.random.default_rng(0).permutation(len(flowers))
    train, test = flowers[np.sort(order[60:])], flowers[np.sort(order[:60])]
    model = getattr(tacit, names[method])()
    known = model.get_params()
    model.set_params(**({"random_state": 0} if "random_state" in known else {}))
    for text in options[1:]:
        name, _, value = text.partition("=")
        model.set_params(**{name: int(value)})
    model.fit(train.drop("class"), train["class"].to_numpy())
    predicted = model.predict(test.drop("class"))
    assert told["accuracy"] == pytest.approx(np.mean(predicted == test["class"].to_numpy()))
    assert sum(map(sum, told["confusion"])) == 60
