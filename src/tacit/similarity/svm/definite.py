"""The smallest eigenvalue of a sparse kernel matrix.

A kernel such as exp(-γ‖x - y‖²) is positive definite as long as all pairs are there. Without those
of far objects it need not be: the fewer pairs and the wider the kernel, the more it is indefinite.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh_tridiagonal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.svm.dual import KernelMatrix

__all__ = ["smallest_eigenvalue"]

_FEW = 64  # objects, up to which the dense matrix is taken
_MAX_STEPS = 1000
_CHECK_EVERY = 20
_SETTLED = 1.3  # times as many steps, in which the estimate must not have moved


def smallest_eigenvalue(
    kernel: KernelMatrix, *, precision: float = 1e-3, least: float = 1e-4
) -> float:
    """Return a lower bound of the smallest eigenvalue, close to it if it is negative.

    Where each object has less in common with all others together than with itself, no eigenvalue
    is negative. Else by Lanczos' method: as many products of the matrix and a vector as it takes,
    and the memory of a few vectors. What is returned is the estimate less its residual and what it
    last moved by. That is good enough where both are below `least`, or below the fraction
    `precision` of a negative estimate. A small residual alone says that an eigenvalue is near, and
    not that it is the smallest: the method may rest at another for some steps before it finds that.

    >>> from scipy import sparse
    >>> from tacit.similarity.svm.dual import KernelMatrix
    >>> path = sparse.csr_array([[0, 0.9, 0], [0.9, 0, 0.9], [0, 0.9, 0]])
    >>> round(smallest_eigenvalue(KernelMatrix(path, np.ones(3))), 4)
    -0.2728
    """
    n = len(kernel)
    discs = float(np.min(kernel.diagonal - abs(kernel.graph).sum(axis=1)))  # Gershgorin's
    if discs >= 0:
        return discs
    if n <= _FEW:
        matrix = kernel.graph.toarray().astype(np.float64)
        np.fill_diagonal(matrix, kernel.diagonal)
        return float(np.linalg.eigvalsh(matrix)[0])
    return _lanczos(kernel, precision, least)


def _lanczos(kernel: KernelMatrix, precision: float, least: float) -> float:
    n = len(kernel)
    start = np.random.default_rng(0).normal(size=n)  # the result must not depend on the run
    vector, before = start / math.sqrt(_dot(start, start)), np.zeros(n)
    main: list[float] = []
    beside: list[float] = [0.0]
    estimate, residual, moved = 0.0, np.inf, np.inf
    checked: list[tuple[int, float]] = []  # steps and the estimates after them
    for step in range(1, min(n, _MAX_STEPS) + 1):
        image = kernel @ vector - beside[-1] * before
        main.append(_dot(vector, image))
        image -= main[-1] * vector
        beside.append(math.sqrt(_dot(image, image)))
        exhausted = beside[-1] < 1e-12 * max(map(abs, main))
        if exhausted or step % _CHECK_EVERY == 0 or step == min(n, _MAX_STEPS):
            estimate, residual = _lowest(np.array(main), np.array(beside[1:]))
            before_that = [value for at, value in checked if at * _SETTLED <= step]
            moved = before_that[-1] - estimate if before_that else np.inf
            checked.append((step, estimate))
            enough = max(least, -precision * estimate)
            if exhausted or max(residual, moved) <= enough:
                break
        before, vector = vector, image / beside[-1]
    return estimate - residual - (0.0 if exhausted or not np.isfinite(moved) else max(moved, 0.0))


def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the product of two vectors; not by BLAS, which may start threads for it."""
    return float(np.einsum("i,i->", a, b))


def _lowest(main: NDArray[np.float64], beside: NDArray[np.float64]) -> tuple[float, float]:
    """Return the lowest eigenvalue of a tridiagonal matrix, and how far off it may be."""
    values, vectors = eigh_tridiagonal(main, beside[:-1], select="i", select_range=(0, 0))
    return float(values[0]), float(abs(beside[-1] * vectors[-1, 0]))
