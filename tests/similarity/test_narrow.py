"""Fewer numbers that rule objects out: they are found where they help, and change no answer."""

import pickle

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from tacit.similarity.neighbors.narrow import Narrowing
from tacit.similarity.neighbors.search import NeighborIndex

K = 7


def embedded(n, width, hidden, noise=0.02, offset=0.0, dtype=np.float64):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, hidden)) @ rng.normal(size=(hidden, width))
    return (offset + rows + noise * rng.normal(size=rows.shape)).astype(dtype)


def check(X, Q, index):
    found = index.search(Q, K)
    brute = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="euclidean")
    objects = brute.fit(X.astype(float)).kneighbors(Q.astype(float), return_distance=False)
    exact = np.sqrt(np.square(X[objects].astype(float) - Q[:, None].astype(float)).sum(axis=2))
    np.testing.assert_allclose(found.distances, exact, rtol=1e-9, atol=1e-12)
    return found


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(NeighborIndex, "_narrow_pays", lambda self, n_compared: True)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("noise", "offset"), [(0.0, 0.0), (0.02, 0.0), (0.3, 100.0)])
def test_the_nearest_are_those_of_brute_force(noise, offset, dtype):
    X = embedded(6000, 96, 12, noise, offset, dtype)
    X, Q = X[:4500], X[4500:]
    before = X.copy(), Q.copy()
    index = NeighborIndex(X)
    found = check(X, Q, index)
    assert index._narrow[0] is not None
    np.testing.assert_array_equal(X, before[0])  # also where a sample would be a view
    np.testing.assert_array_equal(Q, before[1])
    wide = NeighborIndex(X)
    wide._narrow = (None,)
    own = wide.search(Q, K)
    np.testing.assert_array_equal(found.objects, own.objects)
    np.testing.assert_array_equal(found.distances, own.distances)
    again = pickle.loads(pickle.dumps(index)).search(Q, K)
    np.testing.assert_array_equal(again.objects, own.objects)


@pytest.mark.usefixtures("always")
def test_there_are_none_where_all_directions_matter():
    X = np.random.default_rng(1).normal(size=(5000, 64))
    index = NeighborIndex(X[:3500])
    check(X[:3500], X[3500:], index)
    assert index._narrow == (None,)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("far", [1e3, 1e30, 1e120])
def test_objects_and_queries_far_away(far):
    X = embedded(6000, 64, 6)
    X[17] *= far  # one object, and some queries
    X[-5:] *= far
    index = NeighborIndex(X[:4500])
    found = index.search(X[4500:], K)
    wide = NeighborIndex(X[:4500])
    wide._narrow = (None,)
    np.testing.assert_array_equal(found.objects, wide.search(X[4500:], K).objects)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_whose_squares_say_nothing_have_none(scale):
    assert Narrowing.find(scale * embedded(4000, 64, 4), 5) is None


def test_they_are_not_looked_for_in_vain():
    X = embedded(6000, 96, 12)
    index = NeighborIndex(X[:4000])
    index.search(X[4000:4300], 3)
    assert index._narrow is None


def test_rows_are_no_farther_apart_than_they_were():
    X = embedded(3000, 48, 5, 0.2, 10.0)
    narrowing = Narrowing.find(X, 5)
    assert narrowing is not None
    rows = narrowing.rows(X)
    assert rows.shape[1] == len(narrowing.components) + 1
    for i in range(0, 3000, 500):
        own = np.sqrt(np.square(X - X[i]).sum(axis=1))
        less = np.sqrt(np.square(rows - rows[i]).sum(axis=1))
        lengths = np.linalg.norm(rows, axis=1)
        assert (less <= own + narrowing.error * (lengths + lengths[i])).all()
        assert (less >= 0.5 * own).all()  # and say something
