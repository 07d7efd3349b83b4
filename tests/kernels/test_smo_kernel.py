"""Support vectors on sparse matrices against scikit-learn and against projected gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from oracles import svm as svm_oracle
from support.strategies import for_all_jobs
from tacit import SparseSVC, _core

JOBS = (1, 2, 5)
MANY = 10_000_000


def near_kernel(n, seed, reach=0.6, scale=1.0, n_dimensions=3):
    """Return RBF similarities, zero beyond some distance: dense and, off the diagonal, as CSR."""
    X = np.random.default_rng(seed).normal(size=(n, n_dimensions))
    distances = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    K = np.where(distances < reach, np.exp(-scale * distances**2), 0.0)
    return X, K


def classes(X, seed):
    """Return ±1 for each object, by a curved border and some noise."""
    noise = 0.3 * np.random.default_rng(seed).normal(size=len(X))
    y = np.where(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise > 0, 1.0, -1.0)
    y[:2] = (1.0, -1.0)
    return y


def box(y, C):
    return np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


def solve(K, y, lower, upper, tolerance=1e-3, most=MANY, jobs=1, kind=np.float64):
    """Call the kernel with a dense matrix."""
    graph = sparse.csr_array(K - np.diag(np.diag(K)))
    graph.sort_indices()
    return _core.solve_duals(
        graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(kind),
        np.diag(K).copy(), np.atleast_2d(y), np.atleast_2d(lower), np.atleast_2d(upper),
        tolerance, most, jobs,
    )  # fmt: skip


def guarded(K):
    """Return the matrix with a diagonal that makes it positive semi-definite."""
    return K + max(0.0, 1e-9 - np.linalg.eigvalsh(K)[0]) * np.eye(len(K))


@pytest.mark.parametrize(
    ("n", "reach", "C"), [(60, 0.8, 1.0), (200, 0.5, 10.0), (200, 3.0, 0.1), (130, 0.2, 1.0)]
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_decisions_equal_those_of_scikit_learn(n, reach, C, kind):
    X, K = near_kernel(n, n, reach)
    K = guarded(K.astype(kind).astype(np.float64))
    y = classes(X, 1)
    beta, sums, intercept, gap, _ = solve(K, y, *box(y, C), tolerance=1e-7, kind=kind)
    peer = SVC(kernel="precomputed", C=C, tol=1e-7).fit(K, y)
    np.testing.assert_allclose(sums[0] + intercept, peer.decision_function(K), atol=1e-4)
    assert gap[0] < 1e-7
    np.testing.assert_allclose(sums[0], K @ beta[0], atol=1e-9)


@st.composite
def problems(draw):
    n = draw(st.integers(2, 90))
    X, K = near_kernel(n, draw(st.integers(0, 10**6)), draw(st.sampled_from([0.3, 0.8, 9.0])))
    if draw(st.booleans()):  # equal objects
        K = K[np.ix_(*[np.arange(n) // 2] * 2)]
        X = X[np.arange(n) // 2]
    y = classes(X, 0)
    C = draw(st.sampled_from([0.1, 1.0, 30.0])) * np.random.default_rng(n).choice([0, 1, 2], n)
    return guarded(K), y, *box(y, C)


@given(problem=problems())
@settings(max_examples=40)
def test_solutions_are_optimal_and_as_good_as_the_oracles(problem):
    K, y, lower, upper = problem
    beta, sums, *_ = for_all_jobs(lambda jobs: solve(*problem, tolerance=1e-6, jobs=jobs), JOBS)
    beta = beta[0]
    assert (lower <= beta).all()
    assert (beta <= upper).all()
    assert abs(beta.sum()) < 1e-9 * max(1, upper.max())
    assert svm_oracle.violation(K, y, lower, upper, beta) < 1.1e-6
    np.testing.assert_allclose(sums[0], K @ beta, atol=1e-8)
    slow = svm_oracle.objective(K, y, svm_oracle.solve(K, y, lower, upper, 100))
    assert svm_oracle.objective(K, y, beta) <= slow + 1e-4 * max(1, abs(slow))


def test_the_oracle_finds_the_same_coefficients():
    X, K = near_kernel(50, 3, 0.9)
    K, y = guarded(K) + 0.1 * np.eye(50), classes(X, 2)
    beta = solve(K, y, *box(y, 1.0), tolerance=1e-9)[0][0]
    np.testing.assert_allclose(beta, svm_oracle.solve(K, y, *box(y, 1.0)), atol=1e-5)


def test_several_problems_are_what_they_are_alone():
    X, K = near_kernel(300, 5)
    K = guarded(K)
    ys = np.stack([classes(X, seed) for seed in range(7)])
    lower, upper = box(ys, np.arange(1.0, 8.0)[:, None])
    together = for_all_jobs(lambda jobs: solve(K, ys, lower, upper, jobs=jobs), JOBS)
    for p in range(7):
        alone = solve(K, ys[p], lower[p], upper[p])
        for whole, part in zip(together, alone, strict=True):
            np.testing.assert_array_equal(whole[p], part[0])


def test_objects_that_are_left_out_are_told_by_the_others():
    X, K = near_kernel(200, 8, 0.9)
    K, y = guarded(K), classes(X, 1)
    kept = np.arange(200) % 3 > 0
    _, sums, intercept, *_ = solve(K, y, *box(y, np.where(kept, 1.0, 0.0)), tolerance=1e-8)
    peer = SVC(kernel="precomputed", tol=1e-8).fit(K[np.ix_(kept, kept)], y[kept])
    expected = peer.decision_function(K[np.ix_(~kept, kept)])
    np.testing.assert_allclose((sums[0] + intercept)[~kept], expected, atol=1e-4)


def test_an_indefinite_matrix_ends_at_a_point_without_violations():
    X, K = near_kernel(400, 2, 1.0, scale=0.05)
    assert np.linalg.eigvalsh(K)[0] < -1
    y = classes(X, 1)
    beta, *_ = solve(K, y, *box(y, 1.0))
    assert svm_oracle.violation(K, y, *box(y, 1.0), beta[0]) < 1.1e-3


def test_the_order_of_objects_does_not_matter():
    X, K = near_kernel(250, 4)
    K, y = guarded(K), classes(X, 1)
    turn = np.random.default_rng(0).permutation(250)
    first = solve(K, y, *box(y, 2.0), tolerance=1e-8)[1][0]
    second = solve(K[np.ix_(turn, turn)], y[turn], *box(y[turn], 2.0), tolerance=1e-8)[1][0]
    np.testing.assert_allclose(first[turn], second, atol=1e-5)


def test_one_class_only_gives_its_side():
    _, K = near_kernel(20, 0)
    for side in (1.0, -1.0):
        y = np.full(20, side)
        beta, sums, intercept, gap, n_iter = solve(K, y, *box(y, 1.0))
        assert not beta.any()
        assert not sums.any()
        assert n_iter[0] == 0
        assert gap[0] == 0
        assert intercept[0] == side


def test_nobody_left_gives_an_intercept_of_zero():
    y = np.array([1.0, -1.0])
    _, _, intercept, _, n_iter = solve(np.eye(2), y, np.zeros(2), np.zeros(2))
    assert intercept[0] == 0
    assert n_iter[0] == 0


def test_it_stops_when_told_to():
    X, K = near_kernel(200, 1)
    y = classes(X, 1)
    *_, gap, n_iter = solve(guarded(K), y, *box(y, 1.0), most=5)
    assert n_iter[0] == 5
    assert gap[0] > 1e-3


def test_arguments_that_do_not_go_together_are_refused():
    X, K = near_kernel(10, 1)
    y = classes(X, 1)
    lower, upper = box(y, 1.0)
    with pytest.raises(ValueError, match="a column for each object"):
        solve(K, y[:9], lower, upper)
    with pytest.raises(ValueError, match="tolerance must be above 0"):
        solve(K, y, lower, upper, tolerance=0)
    with pytest.raises(TypeError, match="float32 or float64"):
        solve(K, y, lower, upper, kind=np.int32)


def test_a_tolerance_below_all_rounding():
    X = np.array([[0.0], [np.sqrt(391.0)]])
    settings = {"resolution": 1, "indefinite": "ignore", "normalize": False}
    model = SparseSVC(1.0, 2.0, tol=1e-300, max_iter=5000, **settings)
    with pytest.warns(ConvergenceWarning, match="max_iter=5000"):
        model.fit(X, [0, 1])
    np.testing.assert_allclose(model.decision_function(X), [-1, 1], atol=1e-6)
