"""``tacit cluster`` says what the models say."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import tacit


@pytest.fixture(scope="module")
def mixture(visits):
    return tacit.NaiveBayesMixture(4, n_init=1, random_state=0).fit(visits)


OPTIONS = ["-k", 4, "--n-init", 1]


class TestMixture:
    def test_text(self, run, visits_file, mixture):
        result = run("cluster", visits_file, *OPTIONS, "--top", 2)
        assert result.exit_code == 0
        assert result.stderr == ""
        facts, _, profile = result.stdout.partition("\n\n")
        assert profile.rstrip("\n") == mixture.profile().to_text(2)
        rows = dict(re.split("  +", line, maxsplit=1) for line in facts.splitlines())
        assert rows["records (m)"] == "20,000"
        assert rows["clusters"] == "4"
        assert rows["log-likelihood"] == f"{mixture.log_likelihood_:,.1f}"
        assert rows["iterations"].startswith(f"{mixture.n_iter_:,}")

    def test_json(self, run, visits_file, mixture):
        printed = json.loads(run("cluster", visits_file, *OPTIONS, "--top", 2, "--json").stdout)
        assert printed["method"] == "mixture"
        assert (printed["records"], printed["columns"]) == (20_000, 27)
        assert printed["facts"]["log_likelihood"] == pytest.approx(mixture.log_likelihood_)
        assert printed["selection"] == []
        for described, cluster in zip(
            printed["clusters"], mixture.profile().traits(2), strict=True
        ):
            assert described["name"] == cluster.name
            assert described["size"] == pytest.approx(cluster.size)
            assert [t["column"] for t in described["over"]] == [t.column for t in cluster.over]
            for listed, trait in zip(described["under"], cluster.under, strict=True):
                assert listed["lift"] == pytest.approx(trait.lift)

    def test_seed(self, run, visits_file):
        command = ["cluster", visits_file, *OPTIONS, "--json", "--random-state"]
        texts = {run(*command, s).stdout for s in "001"}
        assert len(texts) == 2

    def test_files(self, run, visits, visits_file, mixture, tmp_path):
        model, labels, report = (tmp_path / name for name in ("m.tacit", "l.csv", "c.html"))
        result = run("cluster", visits_file, *OPTIONS, "-o", model, "-o", labels, "-o", report)
        assert result.stdout.endswith(f"\nwritten: {model}, {labels}, {report}\n")
        wanted = mixture.predict(visits).tolist()
        assert tacit.load(model).predict(visits).tolist() == wanted
        assert pl.read_csv(labels).to_dict(as_series=False) == {"cluster": wanted}
        page = report.read_text("utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert f"<title>Clusters of {visits_file.name}</title>" in page
        assert page.count("<article") == 4
        assert "How many clusters" not in page

    def test_auto(self, run, visits_file, visits, tmp_path):
        report = tmp_path / "c.html"
        options = ["-k", "auto", "--max-clusters", 5, "--n-init", 1, "--criterion", "bic"]
        printed = json.loads(run("cluster", visits_file, *options, "--json", "-o", report).stdout)
        curve = {row["clusters"]: row["bic"] for row in printed["selection"]}
        n_clusters = len(printed["clusters"])
        assert curve[n_clusters] == min(curve.values())
        assert max(curve) <= 5
        page = report.read_text("utf-8")
        assert "How many clusters: BIC" in page
        assert f"{n_clusters}, chosen by BIC" in page

    def test_missing_values_can_say_nothing(self, run, visits_file):
        result = run("cluster", visits_file, *OPTIONS, "--ignore-missing", "--top", 50)
        assert "device = desktop" in result.stdout
        assert "(missing)" not in result.stdout

    def test_weights(self, run, mixed_file):
        printed = json.loads(run("cluster", mixed_file, "-k", 2, "--json").stdout)
        assert sum(c["size"] for c in printed["clusters"]) == pytest.approx(5.5)


class TestKMeans:
    def test_text(self, run, visits_file, visits):
        options = ["-k", 3, "--n-init", 1, "--method", "kmeans"]
        result = run("cluster", visits_file, *options, "--top", 2)
        assert result.exit_code == 0
        model = tacit.KMeans(3, n_init=1, random_state=0).fit(visits)
        profile = tacit.mixture.Profile.from_labels(visits, model.labels_)
        facts, _, text = result.stdout.partition("\n\n")
        assert text.rstrip("\n") == profile.to_text(2)
        assert re.search(rf"^inertia +{model.inertia_:,.1f}$", facts, re.M)

    def test_auto_is_for_mixtures(self, run, visits_file):
        result = run("cluster", visits_file, "--method", "kmeans")
        assert result.exit_code == 2
        assert "auto is for --method mixture" in " ".join(result.stderr.split())


class TestWrongInput:
    @pytest.mark.parametrize(
        "options",
        [["-k", 0], ["-k", "many"], ["-k", "-3"], ["-k", 2, "--top", 0], ["-k", 2, "--n-init", 0],
         ["-k", 2, "--prior", -1], ["-k", 2, "--criterion", "best"], ["-k", 2, "--method", "magic"],
         ["-k", 2, "-o", "x.txt"], ["-k", 2, "-o", "x.pkl"]],
    )  # fmt: skip
    def test_usage(self, run, visits_file, options):
        assert run("cluster", visits_file, *options).exit_code == 2

    @pytest.mark.parametrize("ending", ["x.tacit", "x.csv", "x.html"])
    def test_no_such_folder(self, run, visits_file, tmp_path, ending):
        result = run("cluster", visits_file, "-k", 2, "-o", tmp_path / "no" / ending)
        assert result.exit_code == 1
        [line] = result.stderr.splitlines()
        assert line.startswith("error: --output: the folder ")

    def test_more_clusters_than_records(self, run, tmp_path):
        (tmp_path / "days.csv").write_text("sky\ngrey\nblue\n")
        result = run("cluster", tmp_path / "days.csv", "-k", 5)
        assert result.exit_code == 1
        assert "--n-clusters=5" in result.stderr

    def test_few_distinct_records_are_one_line(self, run, tmp_path):
        (tmp_path / "days.csv").write_text("sky\n" + "grey\n" * 5)
        result = run("cluster", tmp_path / "days.csv", "-k", 3, "--method", "kmeans")
        assert result.exit_code == 0
        [line] = result.stderr.splitlines()
        assert line.startswith("warning: ")

    def test_missing_values_are_for_mixtures(self, run, visits_file):
        options = ["-k", 2, "--method", "kmeans", "--ignore-missing"]
        assert run("cluster", visits_file, *options).exit_code == 2


class TestDensity:
    @pytest.fixture
    def rings(self, tmp_path):
        rng = np.random.default_rng(0)
        angle = rng.uniform(0, 2 * np.pi, 400)
        radius = np.repeat([1.0, 3.0], 200) + rng.normal(scale=0.08, size=400)
        frame = pl.DataFrame({"x": radius * np.cos(angle), "y": radius * np.sin(angle)})
        path = tmp_path / "rings.csv"
        pl.concat([frame, pl.DataFrame({"x": [9.0, -9.0], "y": [9.0, 9.0]})]).write_csv(path)
        return path

    def test_clusters_and_noise(self, run, rings, tmp_path):
        out = {end: tmp_path / f"out{end}" for end in (".tacit", ".csv", ".html", ".svg")}
        written = [word for path in out.values() for word in ("-o", path)]
        options = ["--method", "hdbscan", "--min-cluster-size", 20]
        told = json.loads(run("cluster", rings, *options, "--json").stdout)
        assert [c["size"] for c in told["clusters"]] == [200, 200, 2]
        assert told["clusters"][-1]["name"] == "noise"
        assert told["facts"] == {"noise": 2}
        text = run("cluster", rings, *options, *written).stdout
        assert "2, and 2 records of noise" in text
        frame = pl.read_csv(out[".csv"])
        assert frame.columns == ["cluster", "membership"]
        assert frame["cluster"].tail(2).to_list() == [-1, -1]
        assert frame["cluster"].n_unique() == 3
        predicted = run("predict", out[".tacit"], rings).stdout.split()
        assert predicted[0] == "cluster"
        assert predicted[1:] == [str(label) for label in frame["cluster"]]
        assert "SparseHDBSCAN" in run("show", out[".tacit"]).stdout
        for end in (".html", ".svg"):
            assert out[end].stat().st_size > 1000

    @pytest.mark.parametrize(
        ("frame", "n_clusters", "noise"),
        [
            ({"x": [0, 0, 1, 1, 9, 9, 8, 8], "y": [0, 1, 0, 1, 9, 8, 9, 8]}, 2, 0),
            ({"x": [2.0**k for k in range(9)]}, 0, 9),
        ],
    )
    def test_noise_is_no_cluster(self, run, tmp_path, frame, n_clusters, noise):
        path, page = tmp_path / "two.csv", tmp_path / "two.html"
        pl.DataFrame(frame).write_csv(path)
        options = ["--method", "hdbscan", "--min-cluster-size", 3, "--min-samples", 1]
        text = run("cluster", path, *options, "-o", page).stdout
        heading = f"{n_clusters} clusters of {len(frame['x'])} records"
        assert f"{n_clusters}, and {noise} records of noise" in text
        assert f"\n{heading}; lifts" in text
        assert ("noise: " in text) == (noise > 0)
        assert f"<p>{heading}</p>" in page.read_text("utf-8")
        told = json.loads(run("cluster", path, *options, "--json").stdout)
        names = [f"cluster {k}" for k in range(n_clusters)] + ["noise"] * (noise > 0)
        assert [cluster["name"] for cluster in told["clusters"]] == names

    def test_what_is_not_for_it(self, run, rings, visits_file):
        result = run("cluster", rings, "--method", "hdbscan", "-k", 3)
        assert result.exit_code == 2
        assert "follows from the data" in result.output
        result = run("cluster", visits_file, "-k", 3, "--min-samples", 3)
        assert result.exit_code == 2
        assert "is for --method hdbscan" in result.output

    @pytest.mark.parametrize(
        "options",
        [
            ["--method", "agglomerative", "-k", 3, "--linkage", "single"],
            ["--method", "spectral", "-k", 2, "--n-neighbors", 8],
            ["--method", "components", "--radius", 0.5, "--min-cluster-size", 3],
            ["--method", "density-peaks", "-k", 2, "--normalize"],
        ],
    )
    def test_clusters_of_near_records(self, run, rings, tmp_path, options):
        out = {end: tmp_path / f"out{end}" for end in (".tacit", ".csv", ".html", ".svg")}
        written = [word for path in out.values() for word in ("-o", path)]
        result = run("cluster", rings, *options, *written)
        assert result.exit_code == 0, result.output
        told = json.loads(run("cluster", rings, *options, "--json").stdout)
        frame = pl.read_csv(out[".csv"])
        sizes = sorted(c["size"] for c in told["clusters"])
        assert sorted(frame["cluster"].value_counts()["count"].to_list()) == sizes
        if "components" in options:
            assert told["facts"] == {"noise": 2}
            assert "2, and 2 records of noise" in result.stdout
        elif "single" in options:
            assert sizes[-1] >= 200
            assert len(sizes) == 3
        else:
            assert len(sizes) == 2
            assert told["facts"] == {}
        predicted = run("predict", out[".tacit"], rings).stdout.split()
        assert predicted[1:] == [str(label) for label in frame["cluster"]]
        for end in (".html", ".svg"):
            assert out[end].stat().st_size > 1000

    def test_options_of_other_methods_are_refused(self, run, rings):
        for options, told in (
            (["--method", "spectral"], "say how many"),
            (["--method", "components", "-k", 3], "follows from the data"),
            (["--method", "spectral", "-k", 2, "--radius", 1], "is for --method components"),
            (["--method", "kmeans", "-k", 2, "--linkage", "ward"], "is for --method agglomerative"),
            (["--method", "hdbscan", "--min-cluster-size", 1], "is at least 2"),
            (
                ["--method", "components", "--radius", 0.3, "--n-neighbors", 3],
                "has no effect with --radius",
            ),
            (
                ["--method", "agglomerative", "-k", 2, "--linkage", "single", "--n-neighbors", 3],
                "has no effect with --linkage single",
            ),
            (["--method", "hdbscan", "--init", "x"], "is for --method mixture or kmeans"),
            (["--method", "hdbscan", "--n-init", 9], "is for --method mixture or kmeans"),
            (["--method", "hdbscan", "--max-clusters", 4], "is for --method mixture"),
            (["--method", "kmeans", "-k", 2, "--criterion", "bic"], "is for --method mixture"),
        ):
            result = run("cluster", rings, *options)
            assert result.exit_code == 2
            assert told in " ".join(result.output.replace("│", " ").split())
