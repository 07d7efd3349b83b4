"""What structure learning says about input it cannot use, and how it takes awkward input."""

import numpy as np
import pytest

from oracles.structure import discrete_tree, gaussian_tree, kruskal, mixed_columns
from tacit import InputError, Table
from tacit.network.structure.columns import Columns
from tacit.network.structure.learn import Settings, learn

METHODS = ("exact", "mist")


def settings(method, **more):
    return Settings(algorithm=method, initial_sample=100, random_state=0, **more)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("bad", "what"), [(np.nan, "missing"), (np.inf, "infinite")])
def test_numbers_must_be_finite(method, bad, what):
    x = gaussian_tree(0, 300, 3)
    x[:, 1] = bad  # in every row, so that any sample meets it
    columns = Columns.from_array(x, ["a", "b", "c"])
    with pytest.raises(InputError, match=rf"column 'b' in row \d+ is {what}"):
        learn(columns, settings(method))


def test_the_row_of_a_missing_number_is_named():
    x = gaussian_tree(0, 300, 3)
    x[217, 2] = np.nan
    with pytest.raises(InputError, match="column '2' in row 217 is missing"):
        learn(Columns.from_array(x), settings("exact"))
    result = learn(Columns.from_array(x), settings("exact", missing="ignore"))
    assert result.nodes[2].n == 299


def test_infinite_numbers_are_never_ignored():
    x = gaussian_tree(0, 300, 3)
    x[5, 0] = -np.inf
    with pytest.raises(InputError, match="column '0' in row 5 is infinite"):
        learn(Columns.from_array(x), settings("exact", missing="ignore"))


def test_names_of_mixed_columns_are_those_of_the_numbers():
    x = gaussian_tree(0, 300, 2)
    x[:, 0] = np.nan
    table = Table({"d": [0, 1, 2] * 100})
    columns = Columns.mixed(x, ["x", "y"], table, ["y", "d", "x"])
    for method in METHODS:
        with pytest.raises(InputError, match="column 'x' in row"):
            learn(columns, settings(method))


@pytest.mark.parametrize("method", METHODS)
def test_constant_and_identical_numbers(method):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    x = np.stack([a, np.full(1000, 7.0), 3 * a - 1, a + b], axis=1)
    result = learn(Columns.from_array(x), settings(method))
    assert result.edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert result.weights[0] == 0
    assert result.weights[1] == np.inf
    assert result.nodes[1].variance == 0
    assert result.nodes[1].mean == 7


@pytest.mark.parametrize("method", METHODS)
def test_constant_and_identical_codes(method):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 1000))
    table = Table({"a": a, "k": [1] * 1000, "same": a.astype(str), "b": np.where(b > 0, a, b)})
    result = learn(Columns.from_table(table), settings(method))
    assert result.edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert result.weights[0] == 0
    assert result.weights[1] == pytest.approx(np.log(3), abs=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_number_beside_codes(method):
    x = np.full((600, 1), 4.0)
    table = discrete_tree(0, 600, 2)
    result = learn(Columns.mixed(x, ["x"], table), settings(method))
    assert result.edges.tolist() == [[0, 1], [1, 2]]
    assert result.weights[0] == 0
    assert result.nodes[0].variance == 0


def test_columns_that_differ_rarely_are_not_taken_for_equal():
    # In a sample of 100 the first two nearly always agree; in all records the last two are closer.
    rng = np.random.default_rng(1)
    a = rng.normal(size=20_000)
    far = np.where(rng.random(20_000) < 0.002, 40.0, 0.0)
    x = np.stack([a + far, a, a + 0.1 * rng.normal(size=20_000)], axis=1)
    whole = learn(Columns.from_array(x), Settings(algorithm="exact"))
    for seed in range(20):
        result = learn(
            Columns.from_array(x), Settings(algorithm="mist", initial_sample=100, random_state=seed)
        )
        assert result.edges.tolist() == whole.edges.tolist()


@pytest.mark.parametrize("make", [lambda: gaussian_tree(0, 50, 4), lambda: np.zeros((50, 4))])
def test_fewer_records_than_the_first_sample(make):
    columns = Columns.from_array(make())
    exact, mist = (learn(columns, Settings(algorithm=method)) for method in METHODS)
    assert mist.edges.tolist() == exact.edges.tolist()
    assert mist.edge_usage == 1
    assert mist.n_read == 50


def test_tiny_samples():
    for n_records in (2, 3, 5, 9):
        x = gaussian_tree(n_records, n_records, 3)
        exact = learn(Columns.from_array(x), Settings(algorithm="exact"))
        mist = learn(
            Columns.from_array(x), Settings(algorithm="mist", initial_sample=2, random_state=0)
        )
        assert mist.edges.tolist() == exact.edges.tolist()


def test_independent_columns_are_read_to_the_end():
    x = np.random.default_rng(0).normal(size=(2000, 5))
    result = learn(Columns.from_array(x), settings("mist"))
    weights = -0.5 * np.log1p(-(np.corrcoef(x, rowvar=False) ** 2 - 2 * np.eye(5)))
    assert result.edges.tolist() == kruskal(weights).tolist()
    assert result.n_read == 2000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "guess"}, "algorithm must be 'mist' or 'exact', got 'guess'"),
        ({"interval": "t"}, "interval must be"),
        ({"guarantee": "half"}, "guarantee must be"),
        ({"tree_edges": "none"}, "tree_edges must be"),
        ({"missing": "error"}, "missing must be"),
        ({"delta": 0}, "delta must be a finite number above 0 and below 1, got 0"),
        ({"delta": 1.0}, "delta must be"),
        ({"delta": "small"}, "delta must be"),
        ({"delta": True}, "delta must be"),
        ({"epsilon": -0.1}, "epsilon must be a finite number of at least 0"),
        ({"epsilon": np.nan}, "epsilon must be"),
        ({"initial_sample": 1}, "sample must be a whole number of at least 2"),
        ({"initial_sample": 10.5}, "sample must be"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"missing": "ignore"}, "missing='ignore' needs algorithm='exact'"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_settings_are_checked(changes, message):
    columns = Columns.from_array(gaussian_tree(0, 300, 3))
    with pytest.raises(InputError, match=message):
        learn(columns, Settings(**{"algorithm": "mist", "initial_sample": 100} | changes))


def test_samples_cannot_be_weighted():
    columns = Columns.from_array(gaussian_tree(0, 300, 3), weights=np.ones(300))
    with pytest.raises(InputError, match="algorithm='mist' takes no weights"):
        learn(columns, settings("mist"))


def test_hoeffdings_inequality_is_not_for_mixed_columns():
    with pytest.raises(InputError, match="interval='hoeffding' is for columns"):
        learn(mixed_columns(0, 300), settings("mist", interval="hoeffding"))


def test_columns_are_checked():
    x = np.zeros((3, 2))
    with pytest.raises(InputError, match="two dimensions"):
        Columns.from_array(np.zeros(3))
    with pytest.raises(InputError, match="must be numbers"):
        Columns.from_array(np.array([["a"]]))
    with pytest.raises(InputError, match="3 names for 2 columns"):
        Columns.from_array(x, ["a", "b", "c"])
    with pytest.raises(InputError, match="no records"):
        Columns.from_array(np.zeros((0, 2)))
    with pytest.raises(InputError, match="no columns"):
        Columns.from_array(np.zeros((2, 0)))
    with pytest.raises(InputError, match="weights must be 3 numbers"):
        Columns.from_array(x, weights=np.ones(2))
    with pytest.raises(InputError, match="not negative"):
        Columns.from_array(x, weights=np.array([1.0, -1, 1]))
    table = Table({"d": [0, 1, 1]})
    with pytest.raises(InputError, match="3 rows and 1 columns"):
        Columns.mixed(x, ["a"], table)
    with pytest.raises(InputError, match="every column once"):
        Columns.mixed(x, ["a", "b"], table, ["a", "b"])
    with pytest.raises(InputError, match="every column once"):
        Columns.mixed(x, ["a", "d"], table)
