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
    """Similarities of near objects, and what each object has with itself."""

    graph: Any  # (n, n): symmetric, sorted, nothing on the diagonal
    diagonal: NDArray[np.float64]  # (n,)

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
    """Solutions, one for each problem."""

    # (n_problems, n): what each object counts: positive on the side of 1, negative on that of -1
    coefficients: NDArray[np.float64]
    decisions: NDArray[np.float64]  # (n_problems, n): the decision function at each object
    intercepts: NDArray[np.float64]  # (n_problems,)
    n_iter: NDArray[np.int64]  # (n_problems,)


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

    Limits are the highest that coefficients may be. An object with the limit 0 is not learned from,
    but decided upon. A `max_iter` of -1 is no limit that could matter.
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
