"""``tacit dependency-network`` prints what a DependencyNetwork finds."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import one_error, usage_error


@pytest.fixture(scope="module")
def network(visits):
    return tacit.DependencyNetwork(max_leaf_nodes=8).fit(visits)


LEAVES = ["--max-leaf-nodes", 8]


def test_strongest_arcs(run, network, visits_file):
    lines = run("dependency-network", visits_file, *LEAVES, "--top", 3).stdout.splitlines()
    arcs = network.strongest(3)
    assert [line.split()[:2] for line in lines[-3:]] == [
        [arc["predictor"], arc["target"]] for arc in arcs.to_dicts()
    ]
    assert lines[-3].split()[2:] == [
        "raises", f"{arcs['change'][0]:+.1%}", f"{arcs['gain'][0]:,.1f}"
    ]  # fmt: skip


def test_json(run, visits, network, visits_file, tmp_path):
    other = tmp_path / "other.tacit"
    visits.take(np.arange(50)).save(other)
    options = [*LEAVES, "--top", 4, "--test", other, "--recommend", "sports,football", "--json"]
    printed = json.loads(run("dependency-network", visits_file, *options).stdout)
    assert printed == {
        "records": 20_000,
        "columns": visits.n_columns,
        "leaves": int(network.n_leaves_.sum()),
        "arcs": network.strongest(4).to_dicts(),
        "log_likelihood": {
            "train": network.score(visits),
            "test": network.score(visits.take(np.arange(50))),
        },
        "items": network.recommend(["sports", "football"], 4).to_dicts(),
    }


def test_recommendations(run, network, visits_file):
    options = [*LEAVES, "--recommend", "sports", "--recommend", "football", "--top", 2]
    lines = run("dependency-network", visits_file, *options).stdout.splitlines()
    items = network.recommend(["sports", "football"], 2)
    assert [line.split()[0] for line in lines[-2:]] == items["item"].to_list()
    assert lines[-2].split()[-1] == f"{items['probability'][0]:.1%}"


def test_names_with_commas_are_items(run, tmp_path):
    path = tmp_path / "shop.tacit"
    baskets = [["tea, green", "milk"], ["tea, green", "milk"], ["beer"], ["nuts"], [], []] * 10
    tacit.Table.from_baskets(baskets).save(path)
    options = ["--recommend", "tea, green", "--top", 1]
    assert run("dependency-network", path, *options).stdout.splitlines()[-1].startswith("milk")


def test_tree_of_a_column(run, network, visits_file):
    printed = run("dependency-network", visits_file, *LEAVES, "--column", "scores").stdout
    assert printed.split("\n\n", 1)[1].rstrip() == network.tree("scores").to_text()


def test_output(run, network, visits_file, tmp_path):
    names = ["web.html", "web.tacit", "web.png", "web.svg", "arcs.csv"]
    paths = [tmp_path / name for name in names]
    options = [x for path in paths for x in ("-o", path)]
    result = run("dependency-network", visits_file, *LEAVES, *options)
    assert result.stdout.splitlines()[-1] == f"written: {', '.join(map(str, paths))}"
    assert "What depends on what in visits.tacit" in paths[0].read_text("utf-8")
    assert tacit.load(paths[1]).strongest(9).equals(network.strongest(9))
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in paths[3].read_text("utf-8")
    assert pl.read_csv(paths[4]).height == network.to_frame().height


def test_saved_networks_recommend_and_show(run, visits, network, visits_file, tmp_path):
    model, some = tmp_path / "web.tacit", tmp_path / "some.tacit"
    run("dependency-network", visits_file, *LEAVES, "-o", model)
    visits.take(np.arange(5)).save(some)
    frame = pl.read_csv(run("predict", model, some, "--top", 3).stdout.encode())
    expected = network.recommend(visits.take(np.arange(5)), 3)
    assert frame.columns == ["record", "rank", "item", "probability"]
    assert frame["item"].to_list() == expected["item"].to_list()
    assert frame["record"].to_list() == [k for k in range(5) for _ in range(3)]
    assert network.to_text() in run("show", model).stdout
    assert json.loads(run("show", model, "--json").stdout)["text"] == network.to_text()
    result = run("predict", model, some, "--proba")
    assert result.exit_code == 1
    assert "--proba: a DependencyNetwork gives no probabilities" in result.stderr
    result = run("summary", model)
    assert "holds a saved DependencyNetwork, not a table; `tacit predict`" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recommend", "sprots"], "--recommend: there is no item 'sprots'; did you mean"),
        (["--column", "sprots"], "--column: there is no column 'sprots'; did you mean"),
        (["-o", "no/x.html"], "--output: the folder 'no' does not exist"),
        (["--prior-weight", 0], "--prior-weight must be a finite number above 0"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, visits_file, options, message):
    assert message in one_error(run("dependency-network", visits_file, *LEAVES, *options))


@pytest.mark.parametrize(
    ("options", "message"), [(["--kappa", 2], "--kappa"), (["-o", "x.doc"], "--output")]
)
def test_wrong_options(run, visits_file, options, message):
    assert message in usage_error(run("dependency-network", visits_file, *options))


def test_files_in_partitions(run, visits, visits_file, tmp_path):
    frame = visits.to_frame("polars")
    for k in range(3):
        frame[k * 7000 : (k + 1) * 7000].write_parquet(tmp_path / f"day{k}.parquet")
    options = [*LEAVES, "--recommend", "sports", "--json"]
    whole = json.loads(run("dependency-network", visits_file, *options).stdout)
    streamed = json.loads(run("dependency-network", tmp_path / "*.parquet", *options).stdout)
    means = [printed.pop("log_likelihood")["train"] for printed in (streamed, whole)]
    assert means[0] == pytest.approx(means[1], rel=1e-12)
    assert streamed == whole
