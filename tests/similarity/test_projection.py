"""Projections: what they capture, sparse as dense, and what they do with awkward data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from support.strategies import assert_identical
from tacit import InputError
from tacit.datasets import make_documents
from tacit.similarity.projection.linear import METHODS, project

PRINCIPAL = ("exact_pca", "randomized_pca", "randomized_svd", "approximate_pca")
numbers = st.one_of(st.just(0.0), st.integers(-64, 64).map(lambda n: n / 8))
small = st.tuples(st.integers(1, 9), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=numbers)
)


def scaled(X, normalize):
    """Return the columns that principal components are taken of, by the book."""
    rest = X - X.mean(axis=0)
    if not normalize:
        return rest
    span = X.max(axis=0) - X.min(axis=0)
    return np.divide(rest, span, out=np.zeros_like(rest), where=span > 0)


def variances(X, normalize, p):
    """Return the variance along the principal components, by the book."""
    values = np.linalg.svd(scaled(X, normalize), compute_uv=False) ** 2 / len(X)
    return np.pad(values, (0, p))[:p]


def captured(X, components, normalize=False):
    """Return how much of the variance lies in the span of components."""
    basis = np.linalg.qr(components.T)[0]
    return float(np.square(scaled(X, normalize) @ basis).sum() / len(X))


def wide(n=300, d=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    X[:, :5] += rng.normal(size=(n, 1)) * 3
    X[:, 5:9] += (rng.random((n, 1)) < 0.3) * 2
    X[:, 10] = 4.0
    return X


@settings(max_examples=80)
@given(X=small, method=st.sampled_from(METHODS), normalize=st.booleans(), p=st.integers(1, 4))
def test_any_numbers_can_be_projected_sparse_as_dense(X, method, normalize, p):
    settings = {"normalize": normalize, "random_state": 0}
    projected = project(X, p, method, **settings)
    width = X.shape[1] if method == "none" else min(p, X.shape[1])
    assert projected.components.shape == (width, X.shape[1])
    assert np.isfinite(projected.components).all()
    assert (projected.explained_variance_ratio >= 0).all()
    assert (projected.explained_variance_ratio <= 1 + 1e-9).all()
    coords = projected.transform(X)
    np.testing.assert_allclose(coords, (X - X.mean(axis=0)) @ projected.components.T, atol=1e-9)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(projected.transform(rows), coords, atol=1e-9)
    other = project(rows, p, method, **settings)
    np.testing.assert_allclose(
        other.explained_variance_ratio, projected.explained_variance_ratio, atol=1e-9
    )


@settings(max_examples=60)
@given(X=small, normalize=st.booleans())
def test_few_columns_have_exact_principal_components(X, normalize):
    p = X.shape[1]
    expected = variances(X, normalize, p)
    for method in ("exact_pca", "randomized_svd", "randomized_pca"):
        projected = project(X, p, method, normalize=normalize)
        total = scaled(X, normalize).var(axis=0).sum()
        np.testing.assert_allclose(projected.explained_variance_ratio * total, expected, atol=1e-9)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("n", "d"), [(300, 60), (60, 1100), (1100, 1030)])
def test_exact_components_whichever_way_they_are_found(n, d, normalize):
    X = wide(n, d)
    expected = variances(X, normalize, 3)
    for data in (X, sparse.csr_array(X)):
        projected = project(data, 3, "exact_pca", normalize=normalize, random_state=0)
        coords = projected.transform(data)
        np.testing.assert_allclose(coords.var(axis=0), expected, rtol=1e-8)
        np.testing.assert_allclose(np.cov(coords.T, bias=True), np.diag(expected), atol=1e-8)
        assert projected.orthonormal == (not normalize)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("normalize", [False, True])
def test_sparse_and_dense_give_the_same(method, normalize):
    X = wide()[:, : 4 if method == "none" else 200]
    dense = project(X, 3, method, normalize=normalize, random_state=1)
    for rows in (
        sparse.csr_array(X),
        sparse.csr_matrix(X),
        sparse.csr_array(
            (
                sparse.csr_array(X).data,
                sparse.csr_array(X).indices.astype(np.int64),
                sparse.csr_array(X).indptr.astype(np.int64),
            ),
            X.shape,
        ),
    ):
        projected = project(rows, 3, method, normalize=normalize, random_state=1)
        np.testing.assert_allclose(projected.components, dense.components, atol=1e-7)
        np.testing.assert_allclose(projected.mean, dense.mean, atol=1e-12)


def test_a_sketch_captures_nearly_all_and_sampling_less():
    X, _ = make_documents(2000, 1500, length=40, random_state=0)
    dense = X.toarray()
    best = variances(dense, False, 3).sum()
    shares = {
        method: np.median(
            [
                captured(dense, project(X, 3, method, normalize=False, random_state=s).components)
                for s in range(5)
            ]
        )
        / best
        for method in (*PRINCIPAL, "gaussian")
    }
    assert shares["exact_pca"] == pytest.approx(1, abs=1e-9)
    assert shares["randomized_pca"] > 0.999
    assert shares["randomized_svd"] > 0.94
    assert shares["gaussian"] < shares["approximate_pca"] < shares["randomized_svd"]


def test_sampling_all_it_needs_finds_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)) * [9, 5, 1, 0.1, 0.1, 0.1] + [3, 0, 0, 5, 0, 0]
    projected = project(X, 2, "approximate_pca", normalize=False, n_rows=2000, random_state=0)
    assert captured(X, projected.components) > 0.999 * variances(X, False, 2).sum()
    assert projected.orthonormal


def test_columns_that_are_drawn_are_rescaled():
    X = np.abs(wide(200, 400))
    projected = project(X, 2, "approximate_pca", n_columns=30, random_state=0)
    assert 0 < np.count_nonzero(projected.components.any(axis=0)) <= 30
    assert not projected.orthonormal


@pytest.mark.parametrize("method", PRINCIPAL)
def test_coordinates_are_no_farther_apart_than_objects(method):
    X = wide(80, 140)
    projected = project(X, 3, method, normalize=False, n_columns=140, random_state=0)
    assert projected.orthonormal
    coords = projected.transform(X)
    for a, b in ((0, 1), (5, 70), (33, 12)):
        assert np.linalg.norm(coords[a] - coords[b]) <= np.linalg.norm(X[a] - X[b]) + 1e-9


def test_normalised_is_projecting_scaled_columns():
    X = wide() * np.linspace(1, 1e6, 200) + 5
    by_hand = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
    for method in ("exact_pca", "randomized_svd"):
        projected = project(X, 3, method, random_state=3).transform(X)
        expected = project(by_hand, 3, method, normalize=False, random_state=3).transform(by_hand)
        np.testing.assert_allclose(np.abs(projected), np.abs(expected), atol=1e-7)


def test_seeds_signs_and_threads():
    X = sparse.csr_array(wide(2000, 300))
    for method in METHODS[:-1]:
        first = project(X, 3, method, normalize=False, random_state=5)
        again = project(X, 3, method, normalize=False, random_state=5, n_jobs=3)
        assert_identical(again.components, first.components)
        largest = np.abs(first.components).argmax(axis=1)
        assert (first.components[np.arange(3), largest] > 0).all()
    assert_identical(first.transform(X, n_jobs=3), first.transform(X))
    other = project(X, 3, "gaussian", random_state=6)
    assert np.abs(other.components - first.components).max() > 0.1


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_enough(method):
    X = wide()[:, : 4 if method == "none" else 200]
    double = project(X, 2, method, random_state=0)
    for data in (X.astype(np.float32), sparse.csr_array(X.astype(np.float32))):
        single = project(data, 2, method, random_state=0)
        assert single.components.dtype == np.float64
        np.testing.assert_allclose(
            single.explained_variance_ratio, double.explained_variance_ratio, atol=1e-4
        )


@pytest.mark.parametrize("method", METHODS)
def test_all_objects_alike_and_one_object(method):
    for X in (np.full((7, 3), 2.5), np.array([[1.0, -2.0, 0.0]]), np.zeros((4, 3))):
        for data in (X, sparse.csr_array(X)):
            projected = project(data, 2, method, random_state=0)
            assert not projected.explained_variance_ratio.any()
            np.testing.assert_allclose(projected.transform(data), 0.0, atol=1e-12)


def test_fewer_rows_than_dimensions():
    X = wide(2, 1500)
    projected = project(X, 3, "exact_pca", normalize=False)
    assert projected.explained_variance_ratio.tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert projected.orthonormal
    assert not projected.components[1:].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "pca"}, "projection must be 'randomized_svd'"),
        ({"n_dimensions": 0}, "n_dimensions must be a whole number"),
        ({"n_dimensions": True}, "n_dimensions must be a whole number"),
        ({"method": "approximate_pca", "n_rows": 0}, "n_rows must be"),
        ({"method": "approximate_pca", "n_columns": 1.5}, "n_columns must be"),
        ({"method": "none"}, "at most 4 columns, but X has 200"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(InputError, match=message):
        project(wide(), **({"method": "exact_pca"} | change))


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_numbers_that_are_too_large(kind):
    with pytest.raises(InputError, match="column 1"):
        project(kind([[0.0, 1e200], [1.0, -1e200]]), 1)
    with pytest.raises(InputError, match="column 0"):
        project(kind([[1e308, 1.0], [-1e308, 2.0]]), 1)
