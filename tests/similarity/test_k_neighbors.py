"""Classification by the nearest objects."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles import neighbors as oracle
from tacit import InputError, SparseKNeighborsClassifier
from tacit.similarity import SparseKNeighborsRegressor

ALGORITHMS = ["near", "exact"]


@parametrize_with_checks(
    [
        SparseKNeighborsClassifier(),
        SparseKNeighborsClassifier(weights="distance"),
        SparseKNeighborsClassifier(algorithm="near", weights="distance"),
        SparseKNeighborsClassifier(algorithm="near"),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def objects():
    X, y = clusters(4000, 12)
    return X[:3500], y[:3500], X[3500:], y[3500:]


def clusters(n, d, seed=0):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 8, n)
    X = rng.normal(size=(8, d))[cluster] * 4 + rng.normal(size=(n, d))
    return X, np.array(["a", "b", "c"])[cluster % 3]


def recall(neighbours_found, truth):
    return np.mean(
        [len(set(f) & set(t)) / len(t) for f, t in zip(neighbours_found, truth, strict=True)]
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_exact_search_is_that_of_brute_force(objects, k, weights):
    X, y, new, _ = objects
    peer = KNeighborsClassifier(k, algorithm="brute", weights=weights).fit(X, y)
    model = SparseKNeighborsClassifier(k, algorithm="exact", weights=weights).fit(X, y)
    distances, neighbours = model.kneighbors(new)
    expected, numbers = peer.kneighbors(new)
    np.testing.assert_array_equal(neighbours, numbers)
    np.testing.assert_allclose(distances, expected)
    np.testing.assert_allclose(model.predict_proba(new), peer.predict_proba(new))
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))


@pytest.mark.parametrize("resolution", ["auto", 2, 10, 100, 5000, (5, 50, 500)])
def test_no_resolution_wrecks_recall(objects, resolution):
    X, y, new, labels = objects
    model = SparseKNeighborsClassifier(
        10, algorithm="near", resolution=resolution, random_state=0
    ).fit(X, y)
    _, truth = oracle.nearest(X, new, 10)
    assert recall(model.kneighbors(new, return_distance=False), truth) > 0.98
    assert model.score(new, labels) > 0.95


def test_what_is_near_is_enough_without_reach(objects):
    X, y, new, _ = objects
    model = SparseKNeighborsClassifier(
        5, algorithm="near", resolution=15, reach=0.0, random_state=0
    ).fit(X, y)
    sc = model.computation_
    cells, cluster = sc.grid_.cells(sc.coords_), sc.grid_.cells(sc._project(new))
    distances, neighbours = model.kneighbors(new)
    checked = 0
    for row, cell in enumerate(cluster):
        near = np.flatnonzero((np.abs(cells - cell) <= 1).all(axis=1))
        if len(near) < 5:
            continue
        checked += 1
        expected, order = oracle.nearest(X[near], new[row : row + 1], 5)
        np.testing.assert_allclose(distances[row], expected[0])
        np.testing.assert_array_equal(neighbours[row], near[order[0]])
    assert checked > 100


def test_a_reach_of_one_is_exact(objects):
    X, y, new, _ = objects
    near = SparseKNeighborsClassifier(
        5, algorithm="near", resolution=300, reach=1, random_state=0
    ).fit(X, y)
    exact = SparseKNeighborsClassifier(5).fit(X, y)
    assert exact.algorithm == "exact"
    np.testing.assert_array_equal(near.kneighbors(new)[1], exact.kneighbors(new)[1])


def test_objects_with_nothing_near_are_counted():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [10, 10], [9, 10]])
    y = ["left", "left", "left", "right", "right"]
    model = SparseKNeighborsClassifier(
        1, algorithm="near", resolution=1000, projection="none", n_dimensions=2
    ).fit(X, y)
    assert model.n_fallback_ == 0
    assert model.predict([[4.0, 4], [6, 6], [10, 10]]).tolist() == ["left", "right", "right"]
    assert model.n_fallback_ == 2
    model.predict([[0.0, 0.0]])
    assert model.n_fallback_ == 0
    exact = clone(model).set_params(algorithm="exact").fit(X, y)
    assert exact.predict([[4.0, 4], [6, 6]]).tolist() == ["left", "right"]
    assert exact.n_fallback_ == 0


def test_of_classes_with_as_many_neighbours_the_first_is_predicted():
    X = np.array([[0.0], [3.0], [1.0], [2.5]])
    model = SparseKNeighborsClassifier(4, algorithm="exact").fit(X, ["b", "a", "a", "b"])
    assert model.predict([[0.2], [2.9], [1.1]]).tolist() == ["a", "a", "a"]
    assert model.predict_proba([[0.2]]).tolist() == [[0.5, 0.5]]


def test_equally_near_objects_come_in_the_order_of_their_numbers():
    X = np.zeros((300, 2))
    model = SparseKNeighborsClassifier(3).fit(X, np.arange(300) % 2)
    assert model.kneighbors([[0.0, 0.0]])[1].tolist() == [[0, 1, 2]]
    assert model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist() == [0, 0]


def test_weights_by_the_smallest_distances():
    X = np.array([[1e-310], [2e-310], [9e-310]])
    model = SparseKNeighborsClassifier(2, weights="distance").fit(X, [0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[2 / 3, 1 / 3]], rtol=1e-6)
    means = SparseKNeighborsRegressor(2, weights="distance").fit(X, [0.0, 3.0, 9.0])
    np.testing.assert_allclose(means.predict([[0.0]]), [1.0], rtol=1e-6)


def test_weights_by_distance_are_those_of_objects_at_no_distance_alone():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    model = SparseKNeighborsClassifier(5, weights="distance").fit(X, [0, 1, 1, 1, 1])
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[0.0]]).tolist() == [0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fewer_objects_than_neighbours(algorithm):
    model = SparseKNeighborsClassifier(9, algorithm=algorithm).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert model.predict([[5.0]]).tolist() == [0]
    with pytest.raises(InputError, match="n_neighbors must be at most 3"):
        model.kneighbors([[5.0]], 4)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_equals_dense(algorithm, index_type):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, (900, 40)).astype(float)
    y = rng.integers(0, 3, 900)
    rows = sparse.csr_array(X)
    rows.indptr, rows.indices = rows.indptr.astype(index_type), rows.indices.astype(index_type)
    model = SparseKNeighborsClassifier(4, algorithm=algorithm, random_state=0)
    dense = clone(model).fit(X[:800], y[:800])
    thin = clone(model).fit(rows[:800], y[:800])
    for a, b in zip(dense.kneighbors(X[800:]), thin.kneighbors(rows[800:]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_array_equal(dense.predict(X[800:]), thin.predict(rows[800:]))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_single_precision_is_kept(objects, algorithm):
    X, y, new, labels = objects
    model = SparseKNeighborsClassifier(algorithm=algorithm, random_state=0)
    model.fit(X.astype(np.float32), y)
    assert model._index.numbers.dtype == np.float32
    assert model.score(new.astype(np.float32), labels) > 0.95
    assert (model.predict(new) == model.predict(new.astype(np.float32))).all()


def test_scaled_columns(objects):
    X, y, new, _ = objects
    stretched = X * np.logspace(0, 6, 12)
    scales = np.ptp(stretched, axis=0)
    model = SparseKNeighborsClassifier(3, algorithm="exact", normalize=True).fit(stretched, y)
    expected, numbers = oracle.nearest(stretched / scales, new * np.logspace(0, 6, 12) / scales, 3)
    distances, neighbours = model.kneighbors(new * np.logspace(0, 6, 12))
    np.testing.assert_allclose(distances, expected)
    np.testing.assert_array_equal(neighbours, numbers)


def test_frames_and_tables():
    colours = ["red", "green", "blue"]
    rows = {"colour": [colours[i % 3] for i in range(60)], "size": [i % 3 * 2.0 for i in range(60)]}
    y = [f"kind {i % 3}" for i in range(60)]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows), tacit.Table(pl.DataFrame(rows))):
        model = SparseKNeighborsClassifier(3).fit(frame, y)
        assert model.feature_names_in_.tolist() == ["colour", "size"]
        assert model.predict(frame).tolist() == y


def test_groups_count_as_many_times_as_they_have_members():
    X = np.array([[0.0, 0.0]] * 2 + [[0.3, 0.0]] * 7 + [[10.0, 10.0]])
    y = [0] * 2 + [1] * 7 + [1]
    plain = SparseKNeighborsClassifier(5, algorithm="exact").fit(X, y)
    grouped = clone(plain).set_params(group_width=0.0).fit(X, y)
    new = [[0.0, 0.0], [0.3, 0.0], [9.0, 9.0], [0.1, 0.0]]
    np.testing.assert_allclose(grouped.predict_proba(new), plain.predict_proba(new))
    np.testing.assert_array_equal(grouped.predict(new), plain.predict(new))
    assert grouped._index.numbers.shape[0] == 3


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_results_do_not_depend_on_threads(objects, algorithm):
    X, y, new, _ = objects
    one, many = (
        SparseKNeighborsClassifier(5, algorithm=algorithm, random_state=0, n_jobs=jobs)
        .fit(X, y)
        .kneighbors(new)
        for jobs in (1, 3)
    )
    for a, b in zip(one, many, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pickles(objects, algorithm):
    X, y, new, _ = objects
    model = SparseKNeighborsClassifier(algorithm=algorithm).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_class_and_constant_columns(algorithm):
    X = np.column_stack((np.arange(20.0), np.ones(20), np.zeros(20)))
    model = SparseKNeighborsClassifier(algorithm=algorithm).fit(X, ["only"] * 20)
    assert model.predict(X[:3]).tolist() == ["only"] * 3
    assert model.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    same = SparseKNeighborsClassifier(algorithm=algorithm).fit(np.ones((20, 3)), np.arange(20) % 2)
    assert same.predict([[1.0, 1.0, 1.0]]).tolist() == [0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"algorithm": "far"}, "algorithm must be 'exact' or 'near', got 'far'"),
        ({"weights": "equal"}, "weights must be 'uniform' or 'distance'"),
        ({"reach": -1}, "reach must be"),
        ({"reach": "far"}, "reach must be"),
        ({"reach": np.nan}, "reach must be"),
        ({"resolution": 0}, "resolution must be"),
        ({"n_dimensions": 9}, "n_dimensions must be a whole number from 1 to 4"),
        ({"projection": "flat"}, "projection must be 'randomized_svd'"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters(parameters, message):
    model = SparseKNeighborsClassifier(**parameters)
    with pytest.raises(InputError, match=message):
        model.fit(np.eye(6), [0, 1] * 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers(bad):
    X = np.eye(6)
    model = SparseKNeighborsClassifier().fit(X, [0, 1] * 3)
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity|inf"):
        SparseKNeighborsClassifier().fit(X, [0, 1] * 3)
    with pytest.raises(ValueError, match=r"NaN|infinity|inf"):
        model.predict(X)


def test_bad_shapes():
    with pytest.raises(NotFittedError):
        SparseKNeighborsClassifier().predict(np.eye(3))
    model = SparseKNeighborsClassifier().fit(np.eye(6), [0, 1] * 3)
    with pytest.raises(ValueError, match="features"):
        model.predict(np.eye(5))
    with pytest.raises(InputError, match="n_neighbors"):
        model.kneighbors(np.eye(6), 0)
