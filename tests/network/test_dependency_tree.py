"""DependencyTree as an estimator: what it takes, and what must not matter to it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from support.estimator_checks import CLASSIFIERS, FROM_CUTS, LABELS
from tacit import DependencyTree, InputError, Table
from tacit.network.dependency_tree import parameters

AS_NUMBERS = {  # but sparse arrays are discrete
    "check_estimator_sparse_array": CLASSIFIERS,
    "check_estimator_sparse_matrix": CLASSIFIERS,
    "check_sample_weight_equivalence_on_sparse_data": LABELS,
}


def expected(estimator):
    return AS_NUMBERS if estimator.discretise is None else FROM_CUTS


@parametrize_with_checks(
    [DependencyTree(), DependencyTree(discretise="auto")],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw(n=300, seed=0):
    """Draw labels: c follows b, b follows a, d is alone."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.8, b, rng.integers(0, 3, n))
    return np.column_stack([a, b, c, rng.integers(0, 2, n)])


@pytest.fixture(scope="module")
def codes():
    return draw()


@pytest.fixture(scope="module")
def tree(codes):
    return DependencyTree().fit(codes)


def test_what_it_finds(codes, tree):
    assert tree.edges_.dtype == np.int64
    assert {(0, 1), (1, 2)} <= {tuple(edge) for edge in tree.edges_.tolist()}
    counts = np.zeros((3, 3))
    np.add.at(counts, (codes[:, 0], codes[:, 1]), 1 / len(codes))
    alone = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0)
    information = (counts * np.log(counts / alone)).sum()
    assert tree.weights_[0] == pytest.approx(information)
    assert_allclose(tree.intervals_, tree.weights_[:, None] * [1, 1])
    assert tree.edge_usage_ == 1.0
    assert tree.n_read_ == len(codes)
    assert tree.n_parameters_ == 2 + 6 + 6 + (3 if 3 not in tree.edges_[-1][:1] else 0)
    assert repr(tree) == "DependencyTree()"


@pytest.mark.parametrize("kind", ["frame", "pandas", "table", "sparse", "mapping", "list"])
def test_input_of_any_kind(codes, tree, kind):
    names = ["x0", "x1", "x2", "x3"]
    given = {
        "frame": lambda: pl.DataFrame(codes, schema=names),
        "pandas": lambda: pd.DataFrame(codes, columns=names),
        "table": lambda: Table(codes, columns=names),
        "sparse": lambda: sparse.csr_array(codes),
        "mapping": lambda: dict(zip(names, codes.T, strict=True)),
        "list": codes.tolist,
    }[kind]()
    other = DependencyTree().fit(given)
    assert np.array_equal(other.edges_, tree.edges_)
    assert_allclose(other.score_samples(given), tree.score_samples(codes))
    assert_allclose(other.predict_proba(given, 1), tree.predict_proba(codes, 1))
    named = kind in ("frame", "pandas", "table", "mapping")
    assert hasattr(other, "feature_names_in_") == named
    assert list(other.column_names_) == names


def test_real_numbers_are_numeric_and_few_whole_ones_are_not():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"real": rng.normal(size=50), "whole": rng.integers(0, 4, 50)})
    for X in (frame, Table(frame)):
        assert DependencyTree().fit(X)._layout.numeric.tolist() == [True, False]
        both = DependencyTree(kinds={"whole": "numeric"}).fit(X)
        assert both._layout.numeric.tolist() == [True, True]
        cut = DependencyTree(discretise=3).fit(X)
        assert cut._layout.numeric.tolist() == [False, False]
        assert len(cut.schema_["real"].labels) == 3
        named = DependencyTree(discretise={"real": 2}).fit(X)
        assert named._layout.numeric.tolist() == [False, False]
        part = DependencyTree(discretise={"real": 2}, kinds={"whole": "numeric"}).fit(X)
        assert part._layout.numeric.tolist() == [False, True]
    labels = DependencyTree(kinds={"n": "categorical"}).fit(frame.select(n=pl.col("whole") + 0.0))
    assert labels._layout.numeric.tolist() == [False]
    array = frame.to_numpy()
    assert DependencyTree().fit(array)._layout.numeric.tolist() == [True, True]
    part = DependencyTree(kinds={1: "categorical"}).fit(array)
    assert part._layout.numeric.tolist() == [True, False]
    numbers = DependencyTree(kinds=dict.fromkeys(range(4), "numeric")).fit(draw(50))
    assert numbers._layout.numeric.all()


def mixed(n=400, seed=0):
    """Draw numbers and labels that follow from each other; some labels are missing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    age = np.clip(20 + 15 * kind + rng.normal(scale=8, size=n), 0, None).astype(int)
    town = ["Ulm" if k % 2 else "Bern" if k else None for k in kind + rng.integers(0, 2, n)]
    return pl.DataFrame(
        {
            "kind": np.array(["a", "b", "c"])[kind],
            "age": age,
            "size": np.round(age / 10 + rng.normal(size=n), 3),
            "town": town,
            "odd": kind == 1,
        }
    )


@pytest.mark.parametrize("missing", ["state", "ignore"])
@pytest.mark.parametrize("kinds", [None, {"age": "numeric"}])
def test_a_table_with_numbers_is_what_its_frame_is(kinds, missing, tmp_path):
    frame = mixed()
    tree = DependencyTree(missing=missing, kinds=kinds).fit(frame)
    # Whole numbers that are many are cut, unless they are called numeric.
    assert tree._layout.numeric.tolist() == [False, kinds is not None, True, False, False]
    table = DependencyTree(missing=missing, kinds=kinds).fit(Table(frame))
    assert table.schema_ == tree.schema_
    assert table._layout.numeric.tolist() == tree._layout.numeric.tolist()
    assert np.array_equal(table.edges_, tree.edges_)
    assert_allclose(table.weights_, tree.weights_)
    expected = tree.score_samples(frame)
    ages = tree.predict(frame, "age")
    new = mixed(50, seed=1)  # with numbers that were not there in fit
    told = tree.predict_proba(new, "kind")
    table.save(tmp_path / "tree.tacit")
    for asked in (tree, table, tacit.load(tmp_path / "tree.tacit")):
        for X in (frame, Table(frame), Table(frame[:, ::-1])):
            assert_allclose(asked.score_samples(X), expected)
            assert asked.predict(X, "age").tolist() == ages.tolist()
        assert_allclose(asked.predict_proba(new, "kind"), told)
        assert_allclose(asked.predict_proba(Table(new), "kind"), told)
    assert_allclose(table.score_samples(frame[:, ::-1]), expected)  # fitted on a Table: by name
    assert table.marginals({"age": 12})["kind"]["a"] > 0.8


@pytest.mark.parametrize("missing", ["state", "ignore"])
def test_baskets(missing, tmp_path):
    baskets = [["bread", "milk"], ["milk"], ["beer", "bread", "milk"], ["beer"]] * 10
    table = Table.from_baskets(baskets)
    tree = DependencyTree(missing=missing).fit(baskets)
    tree.save(tmp_path / "tree.tacit")
    expected = DependencyTree(missing=missing).fit(table).score_samples(table)
    for asked in (tree, tacit.load(tmp_path / "tree.tacit")):
        assert_allclose(asked.score_samples(baskets), expected)
        assert_allclose(asked.score_samples([["milk"]]), expected[1:2])
        assert_allclose(asked.score_samples({"milk": [True]}), expected[1:2])  # the rest is absent
        with pytest.warns(tacit.errors.InputWarning, match="'cider'"):
            assert_allclose(asked.score_samples([{"cider", "milk"}]), expected[1:2])
    strict = DependencyTree(missing=missing, absent="error").fit(baskets)
    with pytest.raises(InputError, match="there is no column 'beer'"):
        strict.score_samples({"milk": [True], "bread": [False]})


def test_missing_numbers_of_tables():
    frame = mixed().with_columns(size=pl.when(pl.col("age") > 25).then("size"))
    for X in (frame, Table(frame)):
        with pytest.raises(InputError, match="'size'"):
            DependencyTree().fit(X)
    tree = DependencyTree(missing="ignore").fit(frame)
    other = DependencyTree(missing="ignore").fit(Table(frame))
    assert_allclose(other.score_samples(Table(frame)), tree.score_samples(frame))
    assert other.marginals()["size"] == pytest.approx(tree.marginals()["size"])


def test_weights_are_records_that_are_there_several_times(codes):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(codes))
    whole = DependencyTree().fit(np.repeat(codes, times, axis=0))
    weighted = DependencyTree().fit(codes, sample_weight=times)
    assert np.array_equal(weighted.edges_, whole.edges_)
    assert_allclose(weighted.score_samples(codes), whole.score_samples(codes))
    X = rng.normal(size=(80, 3)).cumsum(axis=1)
    times = rng.integers(0, 4, 80)
    whole = DependencyTree().fit(np.repeat(X, times, axis=0))
    weighted = DependencyTree().fit(X, sample_weight=times)
    assert_allclose(weighted.score_samples(X), whole.score_samples(X))
    table = Table(codes).with_weights(np.arange(len(codes), dtype=float))
    scores = DependencyTree().fit(table).score_samples(table)
    mean = DependencyTree().fit(table).score(table)
    assert mean == pytest.approx(np.average(scores, weights=np.arange(len(codes))))


def test_parameters_are_made_once_when_asked_for(codes, monkeypatch):
    made = []
    make = parameters.make_density
    monkeypatch.setattr(parameters, "make_density", lambda *a: made.append(1) or make(*a))
    tree = DependencyTree().fit(codes)
    assert made == []
    before = dict(tree.__dict__)
    tree.score(codes)
    tree.predict(codes)
    assert made == [1]
    assert all(tree.__dict__[name] is value for name, value in before.items())
    assert tree.__dict__.keys() == before.keys()
    again = pickle.loads(pickle.dumps(DependencyTree().fit(codes)))
    assert again.score(codes) == tree.score(codes)


def test_clone_and_pickle(codes, tree):
    again = clone(tree).fit(codes)
    assert_allclose(again.score_samples(codes), tree.score_samples(codes))
    assert pickle.loads(pickle.dumps(tree)).score(codes) == tree.score(codes)


def test_a_fit_that_fails_changes_nothing(codes):
    tree = DependencyTree().fit(codes)
    before = tree.score(codes)
    with pytest.raises(InputError):
        tree.set_params(kinds={"a": "numeric"}).fit(codes[:, :2])
    assert tree.set_params(kinds=None).score(codes) == before


def test_smoothing_is_pseudo_records_in_all_cells():
    codes = np.array([[0, 0], [1, 1]] * 4)
    tree = DependencyTree(smoothing=2.0).fit(codes)
    told = np.exp(tree.score_samples(np.array([[0, 0], [0, 1]])))
    assert_allclose(told, [4.5 / 10, 0.5 / 10])
    assert tree.set_params(smoothing=99).score(codes) == pytest.approx(np.log(0.45))
    bare = DependencyTree(smoothing=0).fit(codes)
    assert bare.score_samples(np.array([[0, 1]])).tolist() == [-np.inf]
    assert bare.score(codes) == pytest.approx(np.log(0.5))


# Missing values


def test_missing_labels_are_a_state_or_ignored():
    frame = pl.DataFrame(
        {
            "a": ["x", "y", None, "x", "y", None] * 10,
            "b": ["u", "v", "v", "u", "v", "u"] * 10,
        }
    )
    state = DependencyTree().fit(frame)
    assert state.schema_["a"].labels.items == ("x", "y", None)
    assert set(state.marginals()["a"].to_dict()) == {"x", "y", None}
    ignore = DependencyTree(missing="ignore", smoothing=0).fit(frame)
    assert ignore.schema_["a"].labels.items == ("x", "y")
    assert_allclose(ignore.marginals()["a"].probabilities, [0.5, 0.5])
    holes = frame.filter(pl.col("a").is_null())
    b = ignore.marginals()["b"]
    assert_allclose(np.exp(ignore.score_samples(holes)), [b[x] for x in holes["b"]])
    assert state.score_samples(holes)[0] < np.log(b["v"])
    # The most common value is missing, so that another one is the default.
    mostly = pl.DataFrame({"a": ["x", None, None, "y", "y"], "b": list("uvuvu")})
    table = DependencyTree(missing="ignore").fit(mostly).sample(20, random_state=0)
    assert table.schema["a"].default_label == "y"
    assert None not in set(table.to_frame()["a"])


def test_missing_numbers_are_left_out_pair_by_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).cumsum(axis=1)
    X[rng.random(X.shape) < 0.2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        DependencyTree().fit(X)
    tree = DependencyTree(missing="ignore").fit(X)
    known = ~np.isnan(X)
    both = known[:, 0] & known[:, 1]
    rho = np.corrcoef(X[both, 0], X[both, 1])[0, 1]
    assert tree.weights_[0] == pytest.approx(-0.5 * np.log(1 - rho**2))
    told = tree.marginals()["x0"]
    assert told["mean"] == pytest.approx(np.nanmean(X[:, 0]))
    assert told["sd"] == pytest.approx(np.nanstd(X[:, 0]))


def test_unseen_labels(codes):
    tree = DependencyTree().fit(codes)
    other = codes.copy()
    other[3, 0] = 7
    with pytest.raises(InputError, match=r"'x0'.*7"):
        tree.score_samples(other)
    lenient = DependencyTree(unseen="default").fit(codes)
    other[3, 0] = lenient.schema_["x0"].default_label
    unseen = other.copy()
    unseen[3, 0] = 7
    assert_allclose(lenient.score_samples(unseen), lenient.score_samples(other))


# Sampling by numbers instead of all records


def test_mist_finds_the_same_tree():
    X, edges = tacit.datasets.make_dependency_tree(20_000, 12, random_state=1)
    tree = DependencyTree("mist", initial_sample=2000, random_state=0).fit(X)
    assert np.array_equal(tree.edges_, edges)
    assert tree.edge_usage_ < 1
    exact = DependencyTree("exact").fit(X)
    assert (tree.intervals_[:, 0] <= exact.weights_).all()
    assert (exact.weights_ <= tree.intervals_[:, 1]).all()
    assert exact.score(X) >= tree.score(X) > exact.score(X) - 0.05
    again = DependencyTree("mist", initial_sample=2000, random_state=0).fit(X)
    assert_allclose(again.score_samples(X[:9]), tree.score_samples(X[:9]))


def test_rounds_are_told(capsys):
    X, _ = tacit.datasets.make_dependency_tree(3000, 6)
    DependencyTree("mist", initial_sample=1000, random_state=0, verbose=1).fit(X)
    assert capsys.readouterr().err.startswith("1,000 records read for 15 pairs of columns\n")


def test_auto_is_exact_unless_it_is_much_work(monkeypatch):
    X, _ = tacit.datasets.make_dependency_tree(12_000, 6)
    assert DependencyTree(random_state=0).fit(X).edge_usage_ == 1
    monkeypatch.setattr("tacit.network.dependency_tree.dependency_tree._PRODUCTS", 1e5)
    assert DependencyTree(random_state=0).fit(X).edge_usage_ < 1
    assert DependencyTree(missing="ignore").fit(X).edge_usage_ == 1
    weights = np.ones(len(X))
    assert DependencyTree().fit(X, sample_weight=weights).edge_usage_ == 1
    with pytest.raises(InputError, match="weights"):
        DependencyTree("mist").fit(X, sample_weight=weights)


def test_fewer_records_than_the_sample_are_all_read():
    X, _ = tacit.datasets.make_dependency_tree(300, 6)
    tree = DependencyTree("mist").fit(X)
    exact = DependencyTree("exact").fit(X)
    assert np.array_equal(tree.edges_, exact.edges_)
    assert_allclose(tree.weights_, exact.weights_)
    assert_allclose(tree.score(X), exact.score(X))


def test_files_are_read_by_path(tmp_path, codes):
    frame = pl.DataFrame(codes, schema=["a", "b", "c", "d"]).cast(pl.String)
    expected = DependencyTree().fit(frame)
    for name in ("t.csv", "t.parquet", "t.arrow"):
        path = tmp_path / name
        strings = frame.select(pl.all().replace_strict({"0": "u", "1": "v", "2": "w"}))
        writer = {"csv": strings.write_csv, "parquet": strings.write_parquet}
        writer.get(name[2:], strings.write_ipc)(path)
        tree = DependencyTree().fit(path)
        assert np.array_equal(tree.edges_, expected.edges_)
        assert tree.score(str(path)) == pytest.approx(expected.score(frame))
    X, edges = tacit.datasets.make_dependency_tree(3000, 5)
    path = tmp_path / "numbers.parquet"
    pl.DataFrame(X, schema=list("vwxyz")).write_parquet(path)
    tree = DependencyTree().fit(path)
    assert np.array_equal(tree.edges_, edges)
    assert list(tree.feature_names_in_) == list("vwxyz")
    assert np.isfinite(tree.score(path))


# One column, constant columns, columns that determine each other


def test_one_column():
    tree = DependencyTree(smoothing=0).fit({"a": ["x", "y", "y", "y"]})
    assert tree.edges_.shape == (0, 2)
    assert tree.score({"a": ["y"]}) == pytest.approx(np.log(0.75))
    assert "1 column;" in tree.to_text()
    X = np.arange(10.0)[:, None]
    alone = DependencyTree().fit(X)
    assert alone.marginals()["x0"] == {"mean": 4.5, "sd": pytest.approx(X.std())}


def test_constant_columns_hang_anywhere_and_change_nothing(codes):
    wide = np.column_stack([codes, np.zeros(len(codes), int)])
    tree = DependencyTree(smoothing=0).fit(wide)
    assert 0.0 in tree.weights_
    plain = DependencyTree(smoothing=0).fit(codes)
    assert_allclose(tree.score_samples(wide), plain.score_samples(codes))
    X = np.column_stack([np.arange(20.0) ** 1.5, np.full(20, 3.0), np.arange(20.0) % 7])
    tree = DependencyTree().fit(X)
    assert np.isfinite(tree.score_samples(X)).all()
    assert tree.marginals()["x1"]["mean"] == pytest.approx(3.0)
    assert_allclose(tree.predict(X, "x1"), 3.0)


def test_columns_that_determine_each_other():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    X = np.column_stack([x, 5 - 3 * x, rng.normal(size=100)])
    tree = DependencyTree().fit(X)
    assert np.isinf(tree.weights_[0])
    assert np.isfinite(tree.score_samples(X)).all()
    assert_allclose(tree.predict(X, 1), X[:, 1], atol=1e-3)
    assert "∞" in tree.to_text()
    assert "∞" in tree.to_dot()
    twice = np.column_stack([draw()[:, 0]] * 2)
    assert DependencyTree(smoothing=0).fit(twice).predict(twice, 1).tolist() == twice[:, 0].tolist()
