"""``tacit cluster`` of files in partitions says what it says of one file."""

import json
import re

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import run
from support.kmeans_data import days

SETTINGS = ["--n-init", 2, "--random-state", 1]
MEMORY = ["--memory", "200MB"]


def frame():
    hours = np.random.default_rng(1).integers(0, 4, 900).astype(np.float64)
    return days(900, 0.15).with_columns(hours=hours)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("days")
    whole = frame()
    for k, (begin, length) in enumerate(((0, 200), (200, 500), (700, 200))):
        part = whole.slice(begin, length)
        part.write_parquet(path / f"{k}.parquet", row_group_size=90)
    return path


@pytest.fixture(scope="module")
def table(folder):
    """The days as one Table in memory."""
    return tacit.scan(str(folder / "*.parquet")).collect()


@pytest.mark.parametrize("method", ["mixture", "kmeans"])
def test_same_as_one_file(folder, table, method, tmp_path):
    outputs = {}
    table.save(tmp_path / "all.tacit")
    for name, source in (("parts", folder / "*.parquet"), ("whole", tmp_path / "all.tacit")):
        model, labels, report = (tmp_path / f"{name}.{x}" for x in ("tacit", "csv", "html"))
        result = run(
            "cluster", source, "-k", 3, "--method", method, *SETTINGS,
            *(MEMORY if name == "parts" else []), "--json", "-o", model,
            "-o", labels, "-o", report,
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        outputs[name] = json.loads(result.stdout), pl.read_csv(labels), tacit.load(model)
        assert report.read_text("utf-8").count("<article") == 3
        if name == "parts":
            line = r"^\d+ passes: [\d,]+ records, .* in kernels$"
            assert re.search(line, result.stderr, re.M), result.stderr
    (one, own_labels, model), (other, labels, _) = outputs.values()
    assert own_labels.equals(labels)
    assert np.array_equal(model.predict(table), labels.get_column("cluster").to_numpy())
    assert (one["records"], one["columns"], one["stored"]) == (900, 5, table.n_stored)
    assert one["facts"] == pytest.approx(other["facts"], rel=1e-12)
    for a, b in zip(one["clusters"], other["clusters"], strict=True):
        assert a["size"] == pytest.approx(b["size"], rel=1e-12)
        for side in ("over", "under"):
            for x, y in zip(a[side], b[side], strict=True):
                assert (x["column"], x["label"]) == (y["column"], y["label"])
                assert x["lift"] == pytest.approx(y["lift"], rel=1e-9)


def test_text(folder, table):
    result = run("cluster", folder / "*.parquet", "-k", 3, "--method", "kmeans", *SETTINGS, *MEMORY)
    assert result.exit_code == 0
    model = tacit.KMeans(3, n_init=2, random_state=1).fit(table)
    facts, _, text = result.stdout.partition("\n\n")
    assert text.rstrip("\n") == tacit.mixture.Profile.from_labels(table, model.labels_).to_text(5)
    assert re.search(rf"^inertia +{model.inertia_:,.1f}$", facts, re.M)


def test_weights(folder):
    options = ["-k", 2, "--method", "kmeans", "--weights", "hours", "--json", *SETTINGS, *MEMORY]
    result = run("cluster", folder / "*.parquet", *options)
    assert result.exit_code == 0
    sizes = [own["size"] for own in json.loads(result.stdout)["clusters"]]
    assert sum(sizes) == frame()["hours"].sum()


def test_few_distinct_records_are_one_line(tmp_path):
    for k in range(2):
        pl.DataFrame({"sky": ["grey"] * 5}).write_parquet(tmp_path / f"{k}.parquet")
    result = run(
        "cluster", tmp_path / "*.parquet", "-k", 3, "--method", "kmeans", *SETTINGS, *MEMORY
    )
    assert result.exit_code == 0
    [warning] = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert "1 distinct clusters" in warning


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "auto"], "--n-clusters"),
        (["-k", "901"], "--n-clusters=901"),
        (["-k", "901", "--method", "kmeans"], "--n-clusters=901"),
        (["-k", "3", "--method", "kmeans", "--memory", "1kB"], "memory"),
        (["-k", "3", "--method", "kmeans", "--weights", "moon"], "moon"),
    ],
)
def test_bad_input_is_one_line(folder, options, message):
    result = run("cluster", folder / "*.parquet", *options)
    assert result.exit_code == 1
    [error] = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert message in error
    assert result.stdout == ""


def test_no_files(tmp_path):
    result = run("cluster", tmp_path / "*.parquet", "-k", 3, "--method", "kmeans")
    assert result.exit_code == 1
    assert "no file matches" in result.stderr
