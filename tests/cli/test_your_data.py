"""From files as they are downloaded to predictions, in Python and on the command line."""

import io
import json
import lzma
import warnings
import zipfile

import numpy as np
import polars as pl
import pytest

import tacit
from support.real_data import NAMES


def unpack(source, path):
    with lzma.open(source) as file:
        path.write_bytes(file.read())


@pytest.fixture(scope="module")
def adult(shared_data, tmp_path_factory):
    """Adult as it is downloaded: blanks after commas, no header, a banner above the test part."""
    folder = tmp_path_factory.mktemp("adult")
    for part in ("data", "test"):
        unpack(shared_data / "adult" / f"adult.{part}.xz", folder / f"adult.{part}")
    return folder


@pytest.fixture(scope="module")
def bank(shared_data, tmp_path_factory):
    path = tmp_path_factory.mktemp("bank") / "bank-full.csv"
    with zipfile.ZipFile(shared_data / "bank_marketing" / "bank+marketing.zip") as outer:
        inner = zipfile.ZipFile(io.BytesIO(outer.read("bank.zip")))
        path.write_bytes(inner.read("bank-full.csv"))
    return path


class TestAdult:
    def test_numbers_are_numbers(self, adult):
        table = tacit.read(adult / "adult.data", names=NAMES)
        assert table.shape == (32_561, 15)
        kinds = {column.name: column.kind for column in table.schema}
        assert kinds["fnlwgt"] == kinds["age"] == "numeric"
        assert kinds["education"] == kinds["class"] == "categorical"
        details = {each.name: each for each in table.summary(columns=True).details}
        assert details["fnlwgt"].reason == "whole numbers; 21,648 are too many for labels"

    def test_a_net_answers_about_raw_numbers(self, adult):
        table = tacit.read(adult / "adult.data", names=NAMES)
        net = tacit.BayesNet(random_state=0).fit(table.select(["age", "education", "sex", "class"]))
        edges = net.schema_["age"].edges
        assert len(edges) == 9
        told = net.query(["class"], given={"age": 45})
        ages, rich = table["age"].to_numpy(), (table["class"] == ">50K").to_numpy()
        inside = np.searchsorted(edges, ages, "right") == np.searchsorted(edges, 45, "right")
        assert told[">50K"] == pytest.approx(rich[inside].mean(), abs=0.01)

    def test_new_records_are_cut_where_the_old_ones_were(self, adult):
        train = tacit.read(adult / "adult.data", names=NAMES)
        test = tacit.read(adult / "adult.test", names=NAMES)
        columns = ["age", "hours-per-week", "education-num", "capital-gain", "sex", "class"]
        best = tacit.BestSubset(3).fit(train.select(columns), "class")
        cut, known = best.transform(test), train.select(columns).cut().schema
        assert "age" in best.subset_
        for name in best.subset_:
            if known[name].edges is not None:
                codes = np.searchsorted(known[name].edges, test[name].to_numpy(), "right")
                np.testing.assert_array_equal(cut.codes(name), codes)

    def test_on_the_command_line(self, run, adult, tmp_path):
        lines = (adult / "adult.data").read_text().splitlines()[:4000]
        header = ", ".join(NAMES)
        data = tmp_path / "adult.csv"
        data.write_text(header + "\n" + "\n".join(lines) + "\n")
        result = run("summary", data, "--columns", "--json")
        assert result.exit_code == 0, result.stderr
        assert "blank" in result.stderr
        kinds = {each["name"]: each["kind"] for each in json.loads(result.stdout)["details"]}
        assert kinds["fnlwgt"] == "numeric"
        result = run("select", data, "--target", "class", "-n", "2", "--json")
        assert result.exit_code == 0, result.stderr
        result = run(
            "rules", data, "--target", "class", "--n-rules", "20", "-o", tmp_path / "r.tacit"
        )
        assert result.exit_code == 0, result.stderr
        result = run("predict", tmp_path / "r.tacit", data)
        assert result.exit_code == 0, result.stderr
        predicted = pl.read_csv(io.StringIO(result.stdout))["prediction"]
        truth = pl.Series([line.rpartition(", ")[2] for line in lines])
        assert (predicted == truth).mean() > 0.8


def test_bank_marketing_has_semicolons(run, bank, tmp_path):
    table = tacit.read(bank)
    assert table.shape == (45_211, 17)
    assert table.schema["balance"].kind == "numeric"
    result = run("summary", bank)
    assert "';'" in result.stderr
    result = run("tree", bank, "--target", "y", "--max-depth", "3", "-o", tmp_path / "tree.tacit")
    assert result.exit_code == 0, result.stderr
    tree = tacit.load(tmp_path / "tree.tacit")
    again = tacit.DecisionTreeClassifier(max_depth=3).fit(table, "y")
    assert tree.to_text() == again.to_text()


def test_groceries_are_baskets(run, shared_data, tmp_path):
    path = tmp_path / "groceries.basket"
    unpack(shared_data / "groceries" / "groceries.csv.xz", path)
    baskets = tacit.read(path, separator=",")
    web = tacit.DependencyNetwork().fit(baskets)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        told = web.recommend([["whole milk"], ["sausage", "rolls/buns", "moon cheese"]], n=3)
    assert told["record"].to_list() == [0, 0, 0, 1, 1, 1]
    assert ["moon cheese" in str(each.message) for each in noted] == [True]
    probabilities = web.predict_proba([["whole milk"], ["soda"]], "rolls/buns")
    assert probabilities.shape == (2, 2)
    result = run("dependency-network", path, "--separator", ",", "-o", tmp_path / "web.tacit")
    assert result.exit_code == 0, result.stderr
    (tmp_path / "new.basket").write_text("whole milk,soda\nsausage\n")
    result = run("predict", tmp_path / "web.tacit", tmp_path / "new.basket", "--separator", ",")
    assert result.exit_code == 0, result.stderr
    assert pl.read_csv(io.StringIO(result.stdout))["record"].n_unique() == 2


def test_msweb_as_a_log(run, shared_data, tmp_path):
    visits = tacit.read_msweb(shared_data / "msweb" / "anonymous-msweb.data.gz")
    start, rows = visits.postings
    items = np.repeat(np.array(visits.schema.names), np.diff(start))
    log = pl.DataFrame({"visitor": rows.astype(np.int64), "area": items}).sample(
        fraction=1.0, shuffle=True, seed=0
    )
    log.write_csv(tmp_path / "log.csv")
    table = tacit.read(tmp_path / "log.csv", long=("visitor", "area"))
    assert table.n_stored == visits.n_stored
    seen = table.one_way()
    for name in table.schema.names[:20]:
        assert seen[name][True] == visits.one_way()[name][True]
    scanned = tacit.scan(tmp_path / "log.csv", long=("visitor", "area"), partition_records=5_000)
    assert scanned.one_way()[name] == seen[name]
    result = run("summary", tmp_path / "log.csv", "--long", "visitor,area", "--json")
    assert json.loads(result.stdout)["stored"] == visits.n_stored


def test_ratings_in_long_format(run, tmp_path):
    log = tacit.datasets.make_ratings(400, 80, 6_000, random_state=0)
    log.write_csv(tmp_path / "ratings.csv")
    log.select("movieId", "title").unique("movieId").write_csv(tmp_path / "movies.csv")
    options = ["--long", "userId,movieId", "--names", f"{tmp_path / 'movies.csv'}:movieId,title"]
    result = run(
        "cluster", tmp_path / "ratings.csv", *options, "-k", "2", "-o", tmp_path / "m.tacit"
    )
    assert result.exit_code == 0, result.stderr
    result = run("predict", tmp_path / "m.tacit", tmp_path / "ratings.csv", *options)
    assert result.exit_code == 0, result.stderr
    told = pl.read_csv(io.StringIO(result.stdout))
    assert told["userId"].to_list() == sorted(log["userId"].unique())
    part = log.filter(pl.col("movieId") <= 20)  # most films of the model are not named
    part.write_csv(tmp_path / "part.csv")
    result = run("predict", tmp_path / "m.tacit", tmp_path / "part.csv", *options)
    assert result.exit_code == 0, result.stderr


def test_letter_has_a_header_of_numbers(run, shared_data, tmp_path):
    path = tmp_path / "letter.data"
    unpack(shared_data / "letter" / "letter-recognition.data.xz", path)
    table = tacit.read(path)
    assert table.shape == (20_000, 17)
    assert table.schema.names[:2] == ("Letter", "1")
    assert {column.kind for column in table.schema[1:]} == {"numeric"}
    result = run("classify", path, "--target", "Letter", "--method", "tree", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["accuracy"] > 0.6
