"""The smallest eigenvalue of sparse kernel matrices, and probabilities from decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from tacit.similarity.svm.definite import smallest_eigenvalue
from tacit.similarity.svm.dual import KernelMatrix, signs_of
from tacit.similarity.svm.platt import fit_sigmoid, sigmoid


def random_kernel(n, seed, scale):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    K = np.where(squares < 0.5, np.exp(-scale * squares), 0.0)
    graph = sparse.csr_array(K - np.eye(n))
    return K, KernelMatrix(graph, np.ones(n))


@pytest.mark.parametrize("n", [2, 50, 300, 301, 700])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_the_bound_is_below_the_eigenvalue_and_close(n, scale):
    K, kernel = random_kernel(n, n, scale)
    lowest = np.linalg.eigvalsh(K)[0]
    estimate = smallest_eigenvalue(kernel)
    assert estimate <= lowest + 1e-9
    assert (estimate > lowest - max(2e-3, 0.02 * -lowest)) or estimate >= 0


def test_matrices_of_which_lanczos_finds_everything_at_once():
    eye = KernelMatrix(sparse.csr_array((400, 400)), np.ones(400))
    assert smallest_eigenvalue(eye) == pytest.approx(1)
    pairs = sparse.csr_array(np.kron(np.eye(200), [[0, 2], [2, 0]]))
    assert smallest_eigenvalue(KernelMatrix(pairs, np.ones(400))) == pytest.approx(-1, abs=1e-9)


def test_a_shift_moves_eigenvalues_and_products():
    K, kernel = random_kernel(60, 1, 0.1)
    moved = kernel.shifted(2.5)
    assert smallest_eigenvalue(moved) == pytest.approx(smallest_eigenvalue(kernel) + 2.5)
    assert smallest_eigenvalue(kernel.shifted(1e3)) > 0
    v = np.arange(60.0)
    np.testing.assert_allclose(moved @ v, K @ v + 2.5 * v)


def test_sides():
    codes = np.array([0, 2, 1], np.int32)
    expected = [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    np.testing.assert_array_equal(signs_of(codes, 3), expected)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 200))
def test_the_sigmoid_is_the_most_likely_one(seed, n):
    rng = np.random.default_rng(seed)
    decisions = rng.normal(size=n) * rng.choice([0.1, 1, 5])
    signs = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * decisions + 0.5)), 1.0, -1.0)
    signs[:2] = (1, -1)
    weights = rng.integers(1, 4, n).astype(float)
    above, below = weights[signs > 0].sum(), weights[signs < 0].sum()
    aims = np.where(signs > 0, (above + 1) / (above + 2), 1 / (below + 2))

    def loss(line):
        z = line[0] * decisions + line[1]
        return weights @ (aims * np.logaddexp(0, z) + (1 - aims) * np.logaddexp(0, -z))

    estimate = fit_sigmoid(decisions, signs, weights)
    assert loss(estimate) <= minimize(loss, [0.0, 0.0], method="Nelder-Mead").fun + 1e-6


def test_equal_decisions_give_the_share_of_each_side():
    slope, offset = fit_sigmoid(np.full(30, 2.0), np.repeat([1.0, -1.0], [20, 10]), np.ones(30))
    shares = sigmoid(np.full(3, 2.0), slope, offset)
    np.testing.assert_allclose(shares, (20 * 21 / 22 + 10 / 12) / 30, rtol=1e-6)
