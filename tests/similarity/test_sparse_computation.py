"""SparseComputation: what a user gets, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles import grid as oracle
from tacit import InputError, SparseComputation, machine
from tacit.similarity import graph as graph_module
from tacit.similarity.grid.forecast import choose_resolution


@parametrize_with_checks([SparseComputation(random_state=0), SparseComputation(5, adaptive=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def objects():
    return tacit.datasets.make_objects(600, 6, n_clusters=3, random_state=1)


@pytest.fixture(scope="module")
def fitted(objects):
    return SparseComputation(8, random_state=0).fit(objects[0])


def test_pairs_are_those_of_touching_cells_of_the_projection(objects, fitted):
    X = objects[0]
    coords = (X - fitted.mean_) @ fitted.components_.T
    np.testing.assert_allclose(fitted.coords_, coords, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(X), coords, atol=1e-12)
    wanted = oracle.near_pairs(fitted.grid_.cells(fitted.coords_).tolist())
    first, second = fitted.pairs()
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == wanted
    assert fitted.n_pairs_ == len(wanted) == len(first)
    assert fitted.density_ == pytest.approx(len(wanted) / (600 * 599 / 2))


def test_similarities_are_those_of_the_complete_matrix(objects, fitted):
    X = objects[0]
    graph = fitted.similarity("rbf", 0.7)
    assert isinstance(graph, sparse.csr_array)
    rows = np.repeat(np.arange(600), np.diff(graph.indptr))
    np.testing.assert_allclose(
        graph.data, rbf_kernel(X, gamma=0.7)[rows, graph.indices], rtol=1e-10
    )


@pytest.mark.parametrize("k", [1, 2])
def test_coarse_grids_keep_all_pairs(objects, k):
    sc = SparseComputation(k, random_state=0).fit(objects[0])
    assert sc.density_ == 1.0
    assert sc.similarity().nnz == 600 * 599


@pytest.mark.parametrize("space", ["original", "normalized", "projected"])
def test_distances_in_each_space(objects, fitted, space):
    X = objects[0]
    numbers = {
        "original": X,
        "normalized": (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)),
        "projected": fitted.coords_,
    }[space]
    graph = fitted.similarity("distance", space=space, triangle="upper")
    first, second = fitted.pairs()
    wanted = np.linalg.norm(numbers[first] - numbers[second], axis=1)
    np.testing.assert_allclose(graph.data, wanted, rtol=1e-9)


def test_sparse_input_gives_what_dense_input_gives():
    X = sparse.random_array((400, 30), density=0.2, rng=np.random.default_rng(0)).tocsr()
    dense = SparseComputation(6, projection="exact_pca").fit(X.toarray())
    thin = SparseComputation(6, projection="exact_pca").fit(X)
    wide = X.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    wider = SparseComputation(6, projection="exact_pca").fit(wide)
    assert wide.indices.dtype == np.int64
    a, b, c = (sc.similarity("exponential", space="original") for sc in (dense, thin, wider))
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.data, b.data, rtol=1e-10)
    np.testing.assert_array_equal(b.data, c.data)


def test_resolutions_of_each_dimension(objects):
    sc = SparseComputation((3, 5, 9), random_state=0).fit(objects[0])
    assert sc.grid_.resolution == (3, 5, 9)
    assert np.all(sc.grid_.cells(sc.coords_).max(axis=0) == [2, 4, 8])


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_dimensions(objects, p):
    sc = SparseComputation(50, p, random_state=0).fit(objects[0])
    assert sc.components_.shape == (p, 6)
    wanted = oracle.near_pairs(sc.grid_.cells(sc.coords_).tolist())
    assert sc.n_pairs_ == len(wanted)


def test_a_resolution_of_a_million_costs_no_more_than_the_objects(objects):
    sc = SparseComputation(1_000_000, random_state=0).fit(objects[0])
    assert len(sc.blocks_) <= 600
    assert sc.similarity().nnz == 2 * sc.n_pairs_


def test_adaptive_grids_split_crowded_blocks(objects):
    plain = SparseComputation(3, random_state=0).fit(objects[0])
    split = SparseComputation(3, adaptive=25, random_state=0).fit(objects[0])
    assert split.blocks_.sizes.max() <= 25
    assert split.n_pairs_ < plain.n_pairs_
    kept = set(zip(*(a.tolist() for a in split.pairs()), strict=True))
    assert kept < set(zip(*(a.tolist() for a in plain.pairs()), strict=True))


def test_forecasts_come_true(fitted):
    forecast = fitted.forecast()
    graph = fitted.similarity()
    assert forecast.n_pairs * 2 == graph.nnz
    n_bytes = graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes
    assert n_bytes <= forecast.n_bytes <= 1.1 * n_bytes
    assert (
        fitted.forecast(20).n_pairs
        == clone(fitted).set_params(resolution=20).fit(fitted._numbers).n_pairs_
    )
    assert "pairs in" in str(forecast)


def test_what_does_not_fit_is_refused_with_a_resolution_that_does(objects, monkeypatch):
    sc = SparseComputation(2, random_state=0).fit(objects[0])
    monkeypatch.setattr("tacit.similarity.graph.available_memory", lambda: 300_000)
    monkeypatch.setattr("tacit.machine.available_memory", lambda: 300_000)
    with pytest.raises(InputError, match=r"would take .* MB.*resolution=\d+ would take") as result:
        sc.similarity()
    named = int(str(result.value).split("resolution=")[1].split()[0])
    assert SparseComputation(named, random_state=0).fit(objects[0]).similarity().nnz > 0


def test_a_million_duplicates_are_refused_with_a_hint_to_groups(monkeypatch):
    X = np.ones((1_000_000, 2))
    X[0] = 0
    sc = SparseComputation(random_state=0).fit(X)
    assert sc.n_pairs_ == pytest.approx(999_999 * 999_998 / 2)
    with pytest.raises(InputError, match=r"group\(\)"):
        sc.similarity()
    groups = sc.group()
    assert groups.weights.tolist() in ([1, 999_999], [999_999, 1])


def test_constant_columns_and_one_block():
    X = np.full((40, 3), 7.0)
    sc = SparseComputation(10).fit(X)
    assert sc.density_ == 1.0
    np.testing.assert_array_equal(sc.similarity().data, 1.0)


def test_one_object():
    sc = SparseComputation().fit([[1.0, 2.0]])
    assert sc.n_pairs_ == 0
    assert sc.density_ == 0.0
    assert sc.similarity().shape == (1, 1)


def test_frames_with_labels_and_tables():
    frame = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "green"]})
    a = SparseComputation(2, projection="exact_pca").fit(frame).similarity("squared_distance")
    b = SparseComputation(2, projection="exact_pca").fit(frame.to_pandas())
    np.testing.assert_allclose(a.toarray(), b.similarity("squared_distance").toarray())
    assert a[0, 1] == pytest.approx(1 + 2)  # sizes differ by 1, and colours in two columns
    assert a[0, 2] == pytest.approx(4)
    table = tacit.Table(pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"]}))
    c = SparseComputation(2, projection="exact_pca").fit(table).similarity("squared_distance")
    np.testing.assert_allclose(c.toarray(), [[0, 2, 2], [2, 0, 4], [2, 4, 0]])


def test_inputs_stay_as_they_are(objects):
    X = objects[0].copy()
    X.flags.writeable = False
    SparseComputation(random_state=0).fit(X).similarity()
    thin = sparse.csr_array(X)
    before = thin.copy()
    SparseComputation(random_state=0).fit(thin).similarity()
    assert (thin != before).nnz == 0


def test_recommended_resolutions_grow():
    sizes = [10, 10**3, 10**4, 5 * 10**4, 10**5, 3 * 10**5, 10**6, 10**7]
    result = [choose_resolution(n) for n in sizes]
    assert result == sorted(result)
    assert all(20 <= choose_resolution(n) <= 50 for n in sizes if n <= 100_000)


def test_pictures(objects):
    X, y = objects
    for p, name in ((1, "rectilinear"), (2, "rectilinear"), (3, "3d"), (4, "3d")):
        ax = SparseComputation(6, p, random_state=0).fit(X).plot(y=y, max_objects=100)
        assert ax.name == name
        assert (
            sum(len(c.get_offsets()) for c in ax.collections if c.get_label() in ("0", "1")) == 100
        )
        assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1"]
        plt.close(ax.figure)
    with pytest.raises(InputError, match="three-dimensional"):
        SparseComputation(6).fit(X).plot(ax=plt.subplots()[1])
    plt.close("all")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"resolution": 0}, "resolution must be a whole number of at least 1, got 0"),
        ({"resolution": 2.5}, "resolution must be a whole number"),
        ({"resolution": (3, 4)}, "resolution must be one number, or 3"),
        ({"resolution": "fine"}, 'resolution must be whole numbers or "auto"'),
        ({"resolution": 10**7, "n_dimensions": 4}, "too fine"),
        ({"n_dimensions": 0}, "n_dimensions must be a whole number from 1 to 4"),
        ({"n_dimensions": 5}, "n_dimensions must be a whole number from 1 to 4, got 5"),
        ({"n_dimensions": "two"}, "n_dimensions must be"),
        ({"projection": "tsne"}, "projection"),
        ({"adaptive": 0}, "adaptive must be a whole number of at least 1"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_parameters_that_make_no_sense(objects, parameters, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        SparseComputation(**parameters).fit(objects[0])


def test_numbers_that_are_none():
    X = np.zeros((5, 3))
    X[3, 1] = np.nan
    with pytest.raises(InputError, match=r"X contains NaN or inf.*row 3, column 1"):
        SparseComputation().fit(X)
    X[3, 1] = np.inf
    with pytest.raises(InputError, match=r"row 3, column 1"):
        SparseComputation().fit(sparse.csr_array(X))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "manhattan"}, "kind must be one of"),
        ({"scale": -1}, "scale must be a finite number of at least 0"),
        ({"scale": np.nan}, "scale"),
        ({"scale": "big"}, "scale"),
        ({"space": "hyper"}, "space must be"),
        ({"triangle": "lower"}, "triangle must be"),
        ({"dtype": np.int64}, "dtype must be float32 or float64"),
        ({"kind": lambda a, b: np.zeros(3)}, "kind must return one similarity for each pair"),
    ],
)
def test_similarities_that_make_no_sense(fitted, arguments, message):
    with pytest.raises(InputError, match=message):
        fitted.similarity(**arguments)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        SparseComputation().similarity()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_normalized_columns_begin_at_0(form):
    """Distances do not depend on where ranges begin; cosines and functions do."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (40, 5)).astype(float) * [1, 2, 3, 0, 1] + [0, 9, 0, 0, 0]
    scaled = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
    sc = SparseComputation(1, random_state=0).fit(form(X))

    def product(A, B):
        A, B = (x.toarray() if sparse.issparse(x) else x for x in (A, B))
        return (A * B).sum(axis=1)

    def compare(kind, of_rows):
        graph = sc.similarity(kind, space="normalized", diagonal=True).toarray()
        np.testing.assert_allclose(graph, of_rows, atol=1e-12)

    compare("cosine", cosine_similarity(scaled))
    compare("distance", euclidean_distances(scaled))
    compare(product, scaled @ scaled.T)


def test_pairs_that_would_not_fit_are_refused_before_they_are_made(monkeypatch):
    sc = SparseComputation(random_state=0).fit(np.ones((1_000_000, 2)))
    monkeypatch.setattr(machine, "available_memory", lambda: 10**9)
    monkeypatch.setattr(graph_module, "available_memory", lambda: 10**9)
    with pytest.raises(InputError, match=r"500,000,000,000 near pairs .* see group\(\)"):
        sc.pairs()


def test_columns_as_they_are_are_all_taken_or_it_says_so():
    X = np.random.default_rng(0).random((50, 2))
    with pytest.raises(InputError, match=r'n_dimensions is 1, but projection="none" takes all 2'):
        SparseComputation(n_dimensions=1, projection="none").fit(X)
    for p in (2, 3, "auto"):
        sc = SparseComputation(n_dimensions=p, projection="none").fit(X)
        assert sc.grid_.n_dimensions == 2
