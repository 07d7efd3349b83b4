"""Commands on files in partitions, streamed or on a cluster, print what they print of one file."""

import json

import numpy as np
import polars as pl
import pytest
from distributed import LocalCluster

import tacit
from support.commands import run


@pytest.fixture(scope="module")
def frame():
    return tacit.datasets.load_visits().to_frame("polars")[:3000]


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("visits")
    for k, (begin, length) in enumerate(((0, 1000), (1000, 50), (1050, 1950))):
        frame.slice(begin, length).write_parquet(path / f"{k}.parquet", row_group_size=300)
    return path


@pytest.fixture(scope="module")
def whole(frame, write):
    return write("visits.parquet", frame)


@pytest.fixture(scope="module")
def address():
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


COMMANDS = {
    "count": (["news", "weather"], ["--json"]),
    "pairs": ([], ["--top", 5, "--json"]),
    "table": (["news", "sports"], ["--json"]),
    "dependency-tree": ([], ["--algorithm", "exact", "--json"]),
    "cluster": ([], ["-k", 2, "--random-state", 0, "--json"]),
    "itemsets": ([], ["--min-support", "0.05", "--min-size", 2, "--json"]),
    "association-rules": ([], ["--min-support", "0.05", "--top", 50, "--json"]),
}


@pytest.mark.parametrize("where", ["memory", "dask"])
@pytest.mark.parametrize("name", COMMANDS)
def test_same_as_one_file(folder, whole, address, name, where):
    columns, options = COMMANDS[name]
    extra = ["--memory", "200MB"] if where == "memory" else ["--dask", address]
    one = run(name, whole, *columns, *options)
    many = run(name, folder / "*.parquet", *columns, *options, *extra)
    assert one.exit_code == many.exit_code == 0, many.stderr
    expected, answer = json.loads(one.stdout), json.loads(many.stdout)
    assert shorn(answer) == shorn(expected)
    line = many.stderr.splitlines()[-1]
    assert "records" in line
    assert "stored values" in line
    assert "in kernels" in line


def shorn(answer):
    """Leave out what depends on the clock, and round."""
    if isinstance(answer, dict):
        return {k: shorn(v) for k, v in answer.items() if k not in ("seconds", "file", "passes")}
    if isinstance(answer, list):
        return [shorn(v) for v in answer]
    return float(f"{answer:.9g}") if isinstance(answer, float) else answer


def test_summary(folder, whole):
    one, many = run("summary", whole, "--json"), run("summary", folder / "*.parquet", "--json")
    expected, answer = json.loads(one.stdout), json.loads(many.stdout)
    assert {k: v for k, v in answer.items() if k != "n_bytes"}.items() <= expected.items()


def test_convert_then_scan(folder, whole, tmp_path):
    made = run("convert", folder / "*.parquet", "-o", tmp_path / "kept")
    assert made.exit_code == 0, made.stderr
    assert "3,000 records" in made.stdout
    one, many = run("pairs", whole, "--json"), run("pairs", tmp_path / "kept", "--json")
    assert json.loads(many.stdout) == json.loads(one.stdout)


@pytest.mark.parametrize("extra", [[], ["--dask"]])
def test_predict(folder, whole, address, tmp_path, extra):
    model = tmp_path / "mix.tacit"
    run("cluster", whole, "-k", 3, "--random-state", 0, "-o", model)
    extra = [*extra, address] if extra else []
    for options in ([], ["--proba"]):
        one = run("predict", model, whole, *options)
        many = run("predict", model, folder / "*.parquet", *options, *extra)
        assert many.exit_code == 0, many.stderr
        assert many.stdout == one.stdout
    written = tmp_path / "labels.parquet"
    run("predict", model, folder / "*.parquet", "-o", written, *extra)
    assert pl.read_parquet(written)["cluster"].to_list() == [
        int(line) for line in run("predict", model, whole).stdout.splitlines()[1:]
    ]


def test_predict_what_goes_with_records(folder, whole, tmp_path):
    model = tmp_path / "web.tacit"
    made = run("dependency-network", whole, "-o", model)
    assert made.exit_code == 0, made.stderr
    one = run("predict", model, whole, "--top", 2)
    many = run("predict", model, folder / "*.parquet", "--top", 2)
    assert many.stdout == one.stdout


def test_predict_with_columns_that_are_absent(frame, folder, whole, tmp_path):
    model = tmp_path / "mix.tacit"
    run("cluster", whole, "-k", 2, "--random-state", 0, "-o", model)
    less = tmp_path / "less"
    less.mkdir()
    for k in range(2):
        frame.drop("news").slice(1500 * k, 1500).write_parquet(less / f"{k}.parquet")
    refused = run("predict", model, less / "*.parquet")
    assert refused.exit_code == 1
    assert "*.parquet: has no column 'news', on which the model was fitted" in refused.stderr
    assert "say --absent default" in refused.stderr
    predicted = run("predict", model, less / "*.parquet", "--absent", "default")
    assert len(predicted.stdout.splitlines()) == 3001


@pytest.mark.parametrize(
    "options",
    [
        ["--discretise", "auto"],
        ["--discretise", "3"],
        ["--discretise", "width"],
        ["--discretise", "mdl", "--target", "c"],
        ["--discretise", "a=frequency", "--discretise", "b=1,4"],
    ],
)
def test_numbers_are_cut_as_those_of_one_file(tmp_path, options):
    rng = np.random.default_rng(0)
    a = rng.normal(size=90)
    frame = pl.DataFrame({"a": a, "b": rng.integers(0, 9, 90), "c": np.where(a > 0.3, "x", "y")})
    frame.write_csv(tmp_path / "whole.csv")
    for k in range(3):
        frame.slice(30 * k, 30).write_csv(tmp_path / f"part{k}.csv")
    one = run("count", tmp_path / "whole.csv", "a", "b", "--json", *options)
    many = run("count", tmp_path / "part*.csv", "a", "b", "--json", *options)
    assert many.exit_code == 0, many.stderr
    assert json.loads(many.stdout) == json.loads(one.stdout)


def test_models_of_numbers_take_partitions(tmp_path):
    numbers = tmp_path / "numbers.parquet"
    pl.DataFrame({"a": [0.1, 0.4, 0.3, 0.9] * 9, "b": [1.5, 2.5, 9.1, 0.2] * 9}).write_parquet(
        numbers
    )
    model = tmp_path / "tree.tacit"
    made = run("dependency-tree", numbers, "-o", model)
    assert made.exit_code == 0, made.stderr
    parts = run("predict", model, tmp_path / "num*.parquet")
    assert parts.exit_code == 0, parts.stderr
    assert len(parts.stdout.splitlines()) == 37
    assert parts.stdout == run("predict", model, numbers).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pairs", "{folder}/*.csv"], "no file matches"),
        (["pairs", "{folder}"], "is a folder, but not one that"),
        (["pairs", "{folder}/*.parquet", "--memory", "lots"], "memory"),
        (["pairs", "{folder}/*.parquet", "--memory", "1kB"], "the limit is 1.0 kB"),
        (["pairs", "{folder}/*.parquet", "--dask", "nowhere"], "no scheduler answers at 'nowhere'"),
        (["select", "{folder}/*.parquet", "--target", "news"], "takes one file"),
        (["rules", "{folder}/*.parquet", "--target", "news"], "takes one file"),
    ],
)
def test_bad_words(folder, arguments, message):
    result = run(*(argument.replace("{folder}", str(folder)) for argument in arguments))
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())
