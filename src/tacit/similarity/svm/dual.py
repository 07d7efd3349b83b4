"""Support vectors on a sparse kernel matrix: problems for the solver, and what it finds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tacit import _core
from tacit.machine import count_jobs
from tacit.similarity.csr import csr_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Dual", "KernelMatrix", "solve", "signs_of"]

_MANY = 10_000_000  # iterations; more are allowed for many objects


@dataclass(frozen=True)
class KernelMatrix:
    """Similarities of near objects, and what each object has with itself.

    Attributes
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, sorted, nothing on the diagonal.
    diagonal : ndarray of shape (n,)
    """

    graph: Any
    diagonal: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.diagonal)

    def __matmul__(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = self.graph @ vector + self.diagonal * vector
        return product

    def shifted(self, by: float) -> KernelMatrix:
        """Return the matrix with something added to its diagonal."""
        return KernelMatrix(self.graph, self.diagonal + by)


@dataclass(frozen=True)
class Dual:
    """Solutions, one for each problem.

    Attributes
    ----------
    coefficients : ndarray of shape (n_problems, n)
        What each object counts: positive on the side of 1, negative on the side of -1.
    decisions : ndarray of shape (n_problems, n)
        The decision function at each object.
    intercepts : ndarray of shape (n_problems,)
    n_iter : ndarray of shape (n_problems,)
    """

    coefficients: NDArray[np.float64]
    decisions: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    n_iter: NDArray[np.int64]


def signs_of(codes: NDArray[np.int32], n_classes: int) -> NDArray[np.float64]:
    """Return the two sides of each problem: one of two classes, else each against the rest.

    >>> signs_of(np.array([0, 1, 1], np.int32), 2)
    array([[-1.,  1.,  1.]])
    """
    wanted = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes == wanted[:, None], 1.0, -1.0)


def solve(
    kernel: KernelMatrix,
    signs: NDArray[np.float64],
    limits: NDArray[np.float64],
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    n_jobs: int | None = None,
) -> Dual:
    """Solve one problem for each row of signs.

    Parameters
    ----------
    kernel : KernelMatrix
    signs : ndarray of shape (n_problems, n)
    limits : ndarray of shape (n,) or (n_problems, n)
        The upper limit of coefficients. An object with the limit 0 is not learned from, but decided
        upon.
    tol : float
    max_iter : int
        -1 is no limit that could matter.
    n_jobs : int, optional
    """
    most = max(_MANY, 100 * len(kernel)) if max_iter == -1 else max_iter
    lower, upper = np.where(signs > 0, 0.0, -limits), np.where(signs > 0, limits, 0.0)
    coefficients, sums, intercepts, gaps, n_iter = _core.solve_duals(
        *csr_arrays(kernel.graph),
        kernel.diagonal,
        signs,
        lower,
        upper,
        tol,
        most,
        count_jobs(n_jobs),
    )
    if (gaps >= tol).any():
        warnings.warn(
            f"the solver stopped after max_iter={most} iterations, before its tolerance of {tol:g} "
            f"was reached: the gap is {gaps.max():.3g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    sums += intercepts[:, None]
    return Dual(coefficients, sums, intercepts, n_iter)
