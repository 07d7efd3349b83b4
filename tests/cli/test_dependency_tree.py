"""``tacit dependency-tree`` prints what a DependencyTree finds."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def tree(visits):
    return tacit.DependencyTree().fit(visits)


@pytest.fixture
def fish_file(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    size = 20 + 3 * kind + rng.normal(size=200)
    path = tmp_path / "fish.csv"
    pl.DataFrame(
        {
            "kind": np.array(["roach", "perch"])[kind],
            "size": size,
            "weight": 4 * size + 3 * rng.normal(size=200),
            "fins": rng.integers(4, 7, 200),
        }
    ).write_csv(path)
    return path


def test_heaviest_edges(run, tree, visits_file):
    lines = run("dependency-tree", visits_file, "--top", 3).stdout.splitlines()
    edges = tree.to_frame().head(3).rows()
    assert [line.split() for line in lines[-3:]] == [
        [a, b, f"{weight:.4f}"] for a, b, weight, *_ in edges
    ]
    assert any(line.startswith("log-likelihood") and "-8.2149" in line for line in lines)


def test_text(run, tree, visits_file):
    printed = run("dependency-tree", visits_file, "--text").stdout
    assert printed.split("\n\n", 1)[1].rstrip() == tree.to_text()


def test_json(run, tree, visits, visits_file, tmp_path):
    other = tmp_path / "other.tacit"
    visits.take(np.arange(50)).save(other)
    options = ["--top", 4, "--test", other, "--json"]
    printed = json.loads(run("dependency-tree", visits_file, *options).stdout)
    assert printed == {
        "columns": 27,
        "records_read": 20_000,
        "edge_usage": 1.0,
        "edges": tree.to_frame().head(4).to_dicts(),
        "parameters": tree.n_parameters_,
        "log_likelihood": {
            "train": tree.score(visits),
            "test": tree.score(visits.take(np.arange(50))),
        },
    }


def test_output(run, tree, visits_file, tmp_path):
    names = ["t.svg", "t.dot", "t.png", "t.tacit", "t.csv", "t.parquet"]
    paths = [tmp_path / name for name in names]
    result = run("dependency-tree", visits_file, *(x for path in paths for x in ("-o", path)))
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    assert paths[0].read_text("utf-8") == tree.to_svg()
    assert paths[1].read_text("utf-8") == tree.to_dot()
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert tacit.load(paths[3]).to_frame().equals(tree.to_frame())
    assert pl.read_csv(paths[4])["to"].to_list() == tree.to_frame()["to"].to_list()
    assert pl.read_parquet(paths[5]).equals(tree.to_frame())


def test_numbers_and_labels(run, fish_file):
    frame = pl.read_csv(fish_file)
    kinds = {"fins": "numeric"}
    for options, model in [
        ([], tacit.DependencyTree()),
        (["--kinds", "fins=numeric"], tacit.DependencyTree(kinds=kinds)),
        (["--discretise", 4, "--smoothing", 2], tacit.DependencyTree(discretise=4, smoothing=2)),
    ]:
        result = run("dependency-tree", fish_file, *options, "--json")
        printed = json.loads(result.stdout)
        assert printed["log_likelihood"]["train"] == pytest.approx(model.fit(frame).score(frame))


def test_numbers_are_named(run, fish_file, tmp_path):
    path = tmp_path / "numbers.csv"
    pl.read_csv(fish_file).drop("kind").write_csv(path)
    assert "3, 2 of numbers" in run("dependency-tree", path).stdout
    printed = run("dependency-tree", path, "--kinds", "fins=numeric").stdout
    assert "3, 3 of numbers" in printed
    printed = run("dependency-tree", path, "--kinds", "size=categorical").stdout
    assert "3, 1 of numbers" in printed


def test_weights(run, fish_file, tmp_path):
    frame = pl.read_csv(fish_file).with_columns(many=pl.int_range(200) % 3)
    path = tmp_path / "weighted.csv"
    frame.write_csv(path)
    printed = json.loads(run("dependency-tree", path, "--weights", "many", "--json").stdout)
    model = tacit.DependencyTree().fit(frame.drop("many"), sample_weight=frame["many"].to_numpy())
    scores = model.score_samples(frame.drop("many"))
    expected = np.average(scores, weights=frame["many"])
    assert printed["log_likelihood"]["train"] == pytest.approx(expected)


def test_files_of_numbers_are_read_in_parts(run, tmp_path):
    X, edges = tacit.datasets.make_dependency_tree(20_000, 6)
    path = tmp_path / "numbers.parquet"
    names = list("abcdef")
    pl.DataFrame(X, schema=names).write_parquet(path, row_group_size=2000)
    options = ["--algorithm", "mist", "--random-state", 0, "--initial-sample", 2000, "--json"]
    printed = json.loads(run("dependency-tree", path, *options).stdout)
    assert {(e["from"], e["to"]) for e in printed["edges"]} == {
        (names[a], names[b]) for a, b in edges.tolist()
    }
    assert printed["edge_usage"] < 1
    assert printed["log_likelihood"] == {}


def test_missing_numbers_name_the_option(run, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1.5,2.5\n,3.5\n2.25,1.5\n", "utf-8")
    refused = run("dependency-tree", path)
    assert refused.exit_code == 1
    assert "--ignore-missing with --algorithm exact leaves such values out" in refused.stderr
    refused = run("dependency-tree", path, "--ignore-missing", "--algorithm", "mist")
    assert "--ignore-missing needs --algorithm exact" in refused.stderr
    assert run("dependency-tree", path, "--ignore-missing").exit_code == 0


def test_saved_trees_predict_and_show(run, fish_file, tmp_path):
    model = tmp_path / "fish.tacit"
    run("dependency-tree", fish_file, "-o", model)
    tree, frame = tacit.load(model), pl.read_csv(fish_file)
    told = pl.read_csv(run("predict", model, fish_file).stdout.encode())
    assert told.columns == frame.columns
    assert told["kind"].to_list() == tree.predict(frame, "kind").tolist()
    np.testing.assert_allclose(told["weight"], tree.predict(frame, "weight"))
    one = run("predict", model, fish_file, "--column", "kind", "--proba").stdout
    shares = pl.read_csv(one.encode())
    assert shares.columns == ["prediction", "P(perch)", "P(roach)"]
    np.testing.assert_allclose(shares.to_numpy()[:, 1:].astype(float), tree.predict_proba(frame, 0))
    assert tree.to_text() in run("show", model).stdout
    for options, message in [
        (["--column", "weight", "--proba"], "--column: 'weight' holds numbers"),
        (["--column", "wait"], "--column: there is no column 'wait'; did you mean 'weight'?"),
        (["--proba"], "say which --column to predict"),
    ]:
        result = run("predict", model, fish_file, *options)
        assert result.exit_code == 1
        assert message in result.stderr
    result = run("predict", model, tmp_path / "fish.tacit")
    assert result.exit_code == 1


def test_saved_trees_of_labels_predict(run, tree, visits, visits_file, tmp_path):
    model, some = tmp_path / "web.tacit", tmp_path / "some.tacit"
    tree.save(model)
    visits.take(np.arange(5)).save(some)
    told = pl.read_csv(run("predict", model, some, "--column", "device").stdout.encode())
    assert (
        told["prediction"].to_list() == tree.predict(visits.take(np.arange(5)), "device").tolist()
    )
    other = tmp_path / "mix.tacit"
    tacit.DecisionTreeClassifier(max_leaf_nodes=2).fit(visits, "scores").save(other)
    result = run("predict", other, some, "--column", "device")
    assert "--column: what a DecisionTreeClassifier predicts is settled" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delta", 2], "--delta must be a finite number above 0 and below 1"),
        (["--epsilon", -1], "--epsilon must be a finite number of at least 0"),
        (["--initial-sample", 1], "--initial-sample must be a whole number of at least 2"),
        (["--smoothing", -1], "--smoothing must be a finite number of at least 0"),
        (["--kinds", "Size=numeric"], "--kinds: there is no column 'Size'; did you mean 'size'?"),
        (["--kinds", "kind=numeric"], "--kinds: column 'kind' is no number at record 0"),
        (["--kinds", "size=big"], "--kinds: column 'size' must be one of numeric, ordered"),
        (["-o", "no/x.svg"], "--output: the folder 'no' does not exist"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, fish_file, options, message):
    assert message in one_error(run("dependency-tree", fish_file, *options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "quick"], "--algorithm"),
        (["-o", "x.doc"], "--output"),
        (["--kinds", "size"], "--kinds"),
    ],
)
def test_wrong_options(run, fish_file, options, message):
    assert message in usage_error(run("dependency-tree", fish_file, *options))


@pytest.fixture(scope="module")
def chain_parts(tmp_path_factory):
    """Columns of which each depends on the one before, in files, and all of them in one."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3000, 6))
    for c in range(1, 6):
        codes[:, c] = np.where(rng.random(3000) < 0.7, codes[:, c - 1], codes[:, c])
    frame = pl.DataFrame({f"c{c}": codes[:, c] for c in range(6)})
    folder = tmp_path_factory.mktemp("chain")
    for k in range(3):
        frame[1000 * k : 1000 * (k + 1)].write_parquet(folder / f"chain-{k}.parquet")
    frame.write_csv(folder / "all.csv")
    return folder


@pytest.mark.parametrize("method", ["exact", "mist"])
def test_partitions(run, chain_parts, method):
    options = ["--algorithm", method, "--initial-sample", 200, "--random-state", 3, "--json"]
    whole = run("dependency-tree", chain_parts / "all.csv", *options)
    streamed = run("dependency-tree", chain_parts / "chain-*.parquet", *options, "--memory", "50MB")
    one, other = json.loads(streamed.stdout), json.loads(whole.stdout)
    likelihood = other.pop("log_likelihood")
    assert one.pop("log_likelihood") == pytest.approx(likelihood, rel=1e-12)
    assert one == other
    assert {edge["from"] + edge["to"] for edge in one["edges"]} == {
        f"c{c}c{c + 1}" for c in range(5)
    }
    assert "passes: " in streamed.stderr
