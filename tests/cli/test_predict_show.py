"""``tacit predict`` and ``tacit show``: what saved models say, and what saved files hold."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import tacit
from support.commands import one_error
from tacit.table.discretise import bin_edges


@pytest.fixture(scope="module")
def mixture(visits):
    return tacit.NaiveBayesMixture(3, n_init=1, random_state=0).fit(visits)


@pytest.fixture(scope="module")
def model_file(mixture, write):
    return write("model.tacit", mixture)


@pytest.fixture(scope="module")
def some(visits):
    return visits.take(np.arange(0, 20_000, 400))


@pytest.fixture(scope="module")
def some_file(some, write):
    """Return some records as CSV, which says less about types than a saved table does."""
    return write("some.csv", some.to_frame("polars"))


class TestPredict:
    def test_prints_csv(self, run, model_file, some_file, mixture, some):
        result = run("predict", model_file, some_file)
        assert result.exit_code == 0
        assert result.stderr == ""
        frame = pl.read_csv(io.StringIO(result.stdout))
        assert frame.to_dict(as_series=False) == {"cluster": mixture.predict(some).tolist()}

    def test_probabilities(self, run, model_file, some_file, mixture, some):
        frame = pl.read_csv(io.StringIO(run("predict", model_file, some_file, "--proba").stdout))
        assert frame.columns == ["cluster", "cluster 0", "cluster 1", "cluster 2"]
        assert np.allclose(frame[:, 1:].to_numpy(), mixture.predict_proba(some), atol=1e-9)
        assert frame["cluster"].to_list() == mixture.predict(some).tolist()

    @pytest.mark.parametrize(
        ("name", "read"),
        [
            ("x.parquet", pl.read_parquet),
            ("x.csv", pl.read_csv),
            ("x.tsv", lambda path: pl.read_csv(path, separator="\t")),
            ("x.arrow", pl.read_ipc),
            ("x.ipc", pl.read_ipc),
            ("x.FEATHER", pl.read_ipc),
        ],
    )
    def test_files(self, run, model_file, some_file, mixture, some, tmp_path, name, read):
        path = tmp_path / name
        result = run("predict", model_file, some_file, "--proba", "-o", path)
        assert result.stdout == f"{path}: 50 predictions\n"
        frame = read(path)
        assert frame.shape == (50, 4)
        assert frame["cluster"].to_list() == mixture.predict(some).tolist()

    def test_labels_that_the_model_has_not_seen(self, run, model_file, some, tmp_path):
        path = tmp_path / "new.csv"
        frame = some.to_frame("polars").with_columns(region=pl.lit("moon"))
        frame.write_csv(path)
        line = one_error(run("predict", model_file, path))
        assert "region" in line
        assert "moon" in line
        result = run("predict", model_file, path, "--unseen", "default")
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) == 51

    def test_columns_that_are_absent(self, run, model_file, some, mixture, tmp_path):
        path = tmp_path / "fewer.csv"
        some.to_frame("polars").drop("sports", "region").write_csv(path)
        line = one_error(run("predict", model_file, path))
        assert line.startswith(f"{path}: has no column 'region', on which the model was fitted")
        assert line.endswith("say --absent default")
        printed = run("predict", model_file, path, "--absent", "default").stdout
        default = some.schema["region"].default_label
        filled = some.to_frame("polars").with_columns(sports=False, region=pl.lit(default))
        assert printed.split()[1:] == [str(k) for k in mixture.predict(filled)]

    def test_what_is_no_model(self, run, visits_file, some_file, tmp_path):
        line = one_error(run("predict", visits_file, some_file))
        assert line == f"{visits_file}: holds a saved Table, not a model that predicts"
        tree = tmp_path / "tree.tacit"
        assert run("adtree", visits_file, "--lazy", "-o", tree).exit_code == 0
        assert "holds a saved ADTree, not a model" in one_error(run("predict", tree, some_file))
        assert "not a tacit file" in one_error(run("predict", some_file, some_file))
        assert "no such file" in one_error(run("predict", tmp_path / "no.tacit", some_file))

    def test_a_model_is_no_table(self, run, model_file):
        line = one_error(run("predict", model_file, model_file))
        assert line.endswith("not a table; `tacit predict` and `tacit show` take it")

    def test_usage(self, run, model_file, some_file, tmp_path):
        assert run("predict", model_file).exit_code == 2
        assert run("predict", model_file, some_file, "-o", "x.txt").exit_code == 2
        line = one_error(run("predict", model_file, some_file, "-o", tmp_path / "no" / "x.csv"))
        assert line.startswith("--output: the folder ")


class Thresholder(tacit.store.Saved):
    """A model with classes, no settings and no probabilities."""

    schema_ = tacit.schema.Schema(["news"], [tacit.schema.Labels([False, True], "Boolean")], [0])

    @classmethod
    def from_state(cls, state):
        return cls()

    def predict(self, table):
        return np.array(["low", "high"])[(np.diff(table.indptr) > 3).astype(int)]

    def to_text(self):
        return "high if more than 3 values are stored"


class TestOtherModels:
    @pytest.fixture(autouse=True)
    def _saved(self, tmp_path, monkeypatch):
        from tacit import store

        monkeypatch.setitem(store.KINDS, "thresholder", "here:Thresholder")
        monkeypatch.setattr(store, "class_of", lambda kind: Thresholder)
        store.write_arrays(tmp_path / "other.tacit", "thresholder", {"x": np.zeros(1)})

    def test_predict(self, run, some_file, some, tmp_path):
        lines = run("predict", tmp_path / "other.tacit", some_file).stdout.splitlines()
        assert lines == ["prediction", *Thresholder().predict(some)]

    def test_what_it_has_not(self, run, some_file, tmp_path):
        model = tmp_path / "other.tacit"
        line = one_error(run("predict", model, some_file, "--proba"))
        assert line == "--proba: a Thresholder gives no probabilities"
        line = one_error(run("predict", model, some_file, "--unseen", "default"))
        assert line == "--unseen: a Thresholder has no such setting"

    def test_show(self, run, tmp_path):
        lines = run("show", tmp_path / "other.tacit").stdout.splitlines()
        assert lines[-1] == "high if more than 3 values are stored"


class TestNumbers:
    @pytest.fixture
    def people(self):
        rng = np.random.default_rng(0)
        old = rng.random(400) < 0.5
        age = np.where(old, rng.normal(65, 5, 400), rng.normal(25, 5, 400)).round(2)
        return pl.DataFrame({"age": age, "retired": np.where(old, "yes", "no")})

    def test_bins_are_those_of_the_model(self, run, people, tmp_path):
        people.write_csv(tmp_path / "people.csv")
        model = tmp_path / "people.tacit"
        cut = ["--discretise", "width", "-k", 2, "-o", model]
        assert run("cluster", tmp_path / "people.csv", *cut).exit_code == 0
        others = people.filter(pl.col("age") > 40).with_columns(pl.col("age") + 0.123)
        others.write_csv(tmp_path / "others.csv")
        result = run("predict", model, tmp_path / "others.csv")
        assert result.exit_code == 0, result.stderr
        edges = bin_edges(tacit.load(model).schema_["age"].labels)
        binned = tacit.Table(others, discretise={"age": edges})
        clusters = pl.read_csv(io.StringIO(result.stdout))["cluster"]
        assert clusters.to_list() == tacit.load(model).predict(binned).tolist()
        assert clusters.n_unique() == 1  # all of them are old

    def test_model_of_numbers(self, run, people, tmp_path):
        numbers = people.select("age").with_columns(twice=2 * pl.col("age"))
        model = tacit.KMeans(2, random_state=0).fit(numbers)
        model.save(tmp_path / "model.tacit")
        expected = model.predict(numbers).tolist()
        numbers.select("twice", "age").write_csv(tmp_path / "numbers.csv")
        numbers.write_parquet(tmp_path / "numbers.parquet")
        for name in ("numbers.csv", "numbers.parquet"):
            result = run("predict", tmp_path / "model.tacit", tmp_path / name)
            assert result.exit_code == 0, result.stderr
            assert pl.read_csv(io.StringIO(result.stdout))["cluster"].to_list() == expected
        numbers.select("age").write_csv(tmp_path / "numbers.csv")
        result = run("predict", tmp_path / "model.tacit", tmp_path / "numbers.csv")
        assert "has no column 'twice'" in one_error(result)
        numbers.write_csv(tmp_path / "numbers.csv", separator=";")
        result = run("predict", tmp_path / "model.tacit", tmp_path / "numbers.csv")
        assert pl.read_csv(io.StringIO(result.stdout))["cluster"].to_list() == expected

    def test_model_of_sparse_numbers(self, run, tmp_path):
        X = sparse.random_array((60, 9), density=0.4, rng=np.random.default_rng(0)).tocsr()
        model = tacit.KMeans(3, random_state=0).fit(X)
        model.save(tmp_path / "model.tacit")
        dump_svmlight_file(X, np.zeros(60), str(tmp_path / "rows.svm"))
        result = run("predict", tmp_path / "model.tacit", tmp_path / "rows.svm")
        clusters = pl.read_csv(io.StringIO(result.stdout))["cluster"].to_list()
        assert clusters == model.predict(X).tolist()


class TestOutput:
    def test_inputs_are_not_overwritten(self, run, model_file, some_file):
        before = some_file.read_bytes()
        result = run("predict", model_file, some_file, "-o", some_file)
        assert "--output" in one_error(result)
        assert some_file.read_bytes() == before
        result = run("cluster", some_file, "-k", 2, "-o", some_file)
        assert "it would be lost" in one_error(result)
        assert some_file.read_bytes() == before

    def test_folders(self, run, model_file, some_file, tmp_path):
        (tmp_path / "labels.csv").mkdir()
        result = run("predict", model_file, some_file, "-o", tmp_path / "labels.csv")
        assert "is a folder" in one_error(result)


class TestShow:
    def test_model(self, run, model_file, mixture):
        result = run("show", model_file)
        assert result.exit_code == 0
        head, _, text = result.stdout.partition("\n\n")
        assert head.startswith(f"{model_file}: NaiveBayesMixture(")
        assert len(head.splitlines()) == 1
        assert text.rstrip("\n") == mixture.to_text()
        printed = json.loads(run("show", model_file, "--json").stdout)
        assert printed["kind"] == "NaiveBayesMixture"
        traits = mixture.profile().traits()
        assert [cluster["size"] for cluster in printed["clusters"]] == [
            cluster.size for cluster in traits
        ]
        assert [cluster["over"][0]["column"] for cluster in printed["clusters"]] == [
            cluster.over[0].column for cluster in traits
        ]

    def test_table(self, run, visits_file, visits):
        head, _, *lines = run("show", visits_file).stdout.splitlines()
        assert head == f"{visits_file}: {visits!r}"
        assert len(lines) == len(visits.summary().rows())
        printed = json.loads(run("show", visits_file, "--json").stdout)
        assert printed == {"kind": "Table"} | tacit.load(visits_file).summary().as_dict()

    def test_tree(self, run, visits_file, tmp_path):
        path = tmp_path / "tree.tacit"
        run("adtree", visits_file, "--lazy", "-o", path)
        tree = tacit.load(path)
        head, _, *lines = run("show", path).stdout.splitlines()
        assert head == f"{path}: {tree!r}"
        assert len(lines) == len(tree.stats().rows())
        printed = json.loads(run("show", path, "--json").stdout)
        assert (printed["kind"], printed["nodes"]) == ("ADTree", tree.n_nodes)

    def test_what_was_not_saved_by_tacit(self, run, some_file, tmp_path):
        assert "not a tacit file" in one_error(run("show", some_file))
        assert "no such file" in one_error(run("show", tmp_path / "nothing.tacit"))
