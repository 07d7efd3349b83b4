"""How fast an RBF kernel should fall with distance, by the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.similarity.grid.grid import Grid
from tacit.similarity.projection.centred import column_moments
from tacit.similarity.svm.dual import KernelMatrix, solve
from tacit.similarity.svm.taper import near_squares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FACTORS", "choose_scale", "make_folds", "scale_unit"]

FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
_SAMPLE = 1200  # objects that decide
_FOLDS = 3


def scale_unit(numbers: Any) -> float:
    """Return 1 / the variance of objects around their mean; half of their mean squared distance.

    >>> scale_unit(np.array([[0.0, 1.0], [4.0, 1.0]]))
    0.25
    """
    total = float(column_moments(numbers).variance.sum())
    return 1 / total if total > 1e-300 else 1.0


def choose_scale(
    numbers: Any, signs: Floats, limits: Floats, *, tol: float, n_jobs: int | None = None
) -> float:
    """Return the multiple of :func:`scale_unit` that tells objects left out apart best.

    Of at most 1,200 objects, drawn in a way that does not depend on a random state, all pairs are
    compared, and each third is decided upon by the other two. What counts is by how much decisions
    are on the wrong side, each 1 at most; that is less of a lottery than how many are.
    """
    unit = scale_unit(numbers)
    random = np.random.default_rng(0)
    chosen = np.sort(random.permutation(np.flatnonzero(limits > 0))[:_SAMPLE])
    if len(chosen) < 2 * _FOLDS:
        return unit
    sides, most = np.ascontiguousarray(signs[:, chosen]), limits[chosen]
    folds = make_folds(sides, random, _FOLDS)
    sample = numbers[chosen]
    everywhere = Grid.over(np.zeros((len(chosen), 1)), 1)
    squares = near_squares(
        everywhere, np.zeros((len(chosen), 1)), sample, taper=False, n_jobs=n_jobs
    )
    losses = []
    for factor in FACTORS:
        kernel = KernelMatrix(squares.kernel(factor * unit), np.ones(len(chosen)))
        loss = 0.0
        for fold in range(_FOLDS):
            out = folds == fold
            dual = solve(kernel, sides, np.where(out, 0.0, most), tol=max(tol, 1e-2), n_jobs=n_jobs)
            wrong = np.clip((1 - sides[:, out] * dual.decisions[:, out]) / 2, 0, 1)
            loss += float(wrong.sum())
        losses.append(loss)
    return FACTORS[int(np.argmin(losses))] * unit


def make_folds(signs: Floats, random: np.random.Generator, n_folds: int) -> NDArray[np.int64]:
    """Return a fold for each object, stratified by class."""
    n = signs.shape[1]
    shuffled = random.permutation(n)
    by_class = shuffled[np.lexsort(signs[:, shuffled])]
    folds = np.empty(n, np.int64)
    folds[by_class] = np.arange(n) % n_folds
    return folds
