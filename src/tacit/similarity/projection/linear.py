"""From many columns to the few dimensions of the grid: linear projections of dense and sparse data.

All of them are a matrix and a mean: the coordinates of objects are ``(X - mean) @ components.T``.
Sparse data are never written out as dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, make_generator
from tacit.similarity.projection.centred import Centred, RowSampling, column_moments, pick
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.projection.centred import Image, Moments

__all__ = ["METHODS", "SMALL", "Plan", "Projection", "CentredMatrix", "coordinates", "project"]

METHODS = (
    "randomized_svd",
    "approximate_pca",
    "exact_pca",
    "randomized_pca",
    "gaussian",
    "none",
)
# Directions as rows, and the variance along each where it is known already.
_Components: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64] | None]"

_MAX_UNPROJECTED = 4  # columns that a grid can have as its dimensions
_NARROW = 128  # columns up to which all products of columns cost no more than a random sketch
SMALL = 1024  # rows or columns whose products are written out for exact PCA
_SKETCH = 12  # random directions followed at once; a multiple of 4 suits the processor
_MORE_STEPS = 6  # power steps of randomised PCA
_MIN_SAMPLE = 150  # the paper's least number of rows and columns that are drawn
_SAMPLE_FRACTION = 0.01
_ROWS = 4096  # projected at a time, so that they stay in the cache


@dataclass(frozen=True)
class Projection:
    """A linear map to few dimensions."""

    # (p, d): the largest entry of each, by absolute value, is positive. If columns were scaled to
    # [0, 1], the factors of that are in here
    components: NDArray[np.float64]
    mean: NDArray[np.float64]  # (d,)
    # (p,): the fraction of the variance of the (scaled) columns that lies along each component
    explained_variance_ratio: NDArray[np.float64]
    # Whether the components, as they stand, are orthonormal, or zero where no variance was left.
    # Then no two objects are farther apart in the projection than they were
    orthonormal: bool

    def transform(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the coordinates of objects, of shape (n, p).

        >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
        >>> project(X, 1, "exact_pca", normalize=False).transform(X).tolist()
        [[-2.5], [2.5]]
        """
        matrix = Centred(X, self.mean, np.ones(len(self.mean)), count_jobs(n_jobs))
        return matrix.times(np.ascontiguousarray(self.components.T))


def project(
    X: Any,
    n_dimensions: int = 3,
    method: str = "randomized_svd",
    *,
    normalize: bool = True,
    n_rows: int | Literal["auto"] = "auto",
    n_columns: int | Literal["auto"] = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Projection:
    """Return a projection of finite numbers onto few dimensions, at most as many as columns.

    - ``"randomized_svd"``: principal components, by a random sketch of the centred data and one
      power step. Where the data have few columns, they are exact, as that costs no more.
    - ``"approximate_pca"``: rows and columns drawn in proportion to their squared lengths, and the
      exact principal components of these.
    - ``"exact_pca"``: principal components.
    - ``"randomized_pca"``: as the first, with more power steps, orthonormalised in between.
    - ``"gaussian"``: random directions.
    - ``"none"``: the columns themselves, at most four.

    Columns that do not vary have no influence, scaled to [0, 1] or not. All else is as of
    :class:`tacit.SparseComputation`.

    >>> X = np.array([[0.0, 0.0, 1.0], [4.0, 3.0, 1.0], [8.0, 6.0, 1.0]])
    >>> projection = project(X, 1, normalize=False)
    >>> projection.components.round(3).tolist(), projection.explained_variance_ratio.round(3)
    ([[0.8, 0.6, 0.0]], array([1.]))
    """
    n, d = X.shape
    plan = Plan.of(method, n_dimensions, n_rows, n_columns, (n, d))
    if is_sparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    rng = make_generator(random_state)
    moments = column_moments(X)
    scale = moments.factors() if normalize else np.ones(d)
    matrix = Centred(X, moments.mean, scale, count_jobs(n_jobs))
    return plan.project(matrix, moments, normalize, rng)


def coordinates(
    X: Any, components: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``(X - mean) @ components.T``; each row to the last bit, whatever rows are with it.

    A row on the border of two blocks must not change sides with the rows it comes with, as it may
    if BLAS multiplies them.

    >>> coordinates(np.array([[3.0, 4.0]]), np.array([[0.5, 0.5]]), np.array([1.0, 0.0])).tolist()
    [[3.0]]
    """
    shift = np.zeros(len(components))
    for j in range(len(mean)):
        shift += mean[j] * components[:, j]
    if is_sparse(X):
        return np.ascontiguousarray(X @ components.T - shift, np.float64)
    coords = np.empty((X.shape[0], len(components)))
    for first in range(0, X.shape[0], _ROWS):
        columns = np.ascontiguousarray(X[first : first + _ROWS].T)
        sums = np.zeros((len(components), columns.shape[1]))
        for column, weights in zip(columns, components.T, strict=True):
            sums += weights[:, None] * column
        coords[first : first + _ROWS] = sums.T
    coords -= shift
    return coords


class CentredMatrix(Protocol):
    """A centred matrix and its products, wherever its rows are.

    :class:`Centred` is one, of rows in memory.
    """

    @property
    def shape(self) -> tuple[int, int]: ...  # noqa: D102
    @property
    def mean(self) -> NDArray[np.float64]: ...  # noqa: D102
    @property
    def scale(self) -> NDArray[np.float64]: ...  # noqa: D102

    def gram(self) -> NDArray[np.float64]:
        """Return the (d, d) product of the transposed matrix with itself."""

    def image(self, directions: NDArray[np.float64], *, back: bool = True) -> Image:
        """Return the image of directions, the columns of a (d, l) matrix."""

    def sample(self, sampling: RowSampling, rng: np.random.Generator) -> NDArray[np.float64] | None:
        """Return a sample of the rows; None if all of them have length 0."""


@dataclass(frozen=True)
class Plan:
    """How a matrix of a known shape is to be projected: checked, but not computed yet.

    Attributes
    ----------
    method : str
    n_dimensions : int
    n_rows, n_columns : int
        How many are drawn, if they are.
    """

    method: str
    n_dimensions: int
    n_rows: int
    n_columns: int

    @classmethod
    def of(
        cls, method: Any, n_dimensions: Any, n_rows: Any, n_columns: Any, shape: tuple[int, int]
    ) -> Plan:
        """Check what :func:`project` is given."""
        check_choice(method, "projection", METHODS)
        n, d = shape
        r, c = 0, d
        if method == "approximate_pca":
            r = _sample_size("n_rows", n_rows, n)
            if n_columns != "auto" or d > _MIN_SAMPLE:
                c = _sample_size("n_columns", n_columns, d)
        if method == "none" and d > _MAX_UNPROJECTED:
            raise InputError(
                f'projection="none" is for at most {_MAX_UNPROJECTED} columns, but X has {d}'
            )
        return cls(method, min(check_int(n_dimensions, "n_dimensions", 1), d), r, c)

    def takes_products(self, d: int) -> bool:
        """Return whether it is computed from all products of d columns."""
        if self.method == "exact_pca":
            return d <= SMALL
        return self.method in ("randomized_svd", "randomized_pca") and d <= _NARROW

    def project(
        self, matrix: CentredMatrix, moments: Moments, normalize: bool, rng: np.random.Generator
    ) -> Projection:
        """Return the projection of a matrix of that shape."""
        scale, d = matrix.scale, matrix.shape[1]
        total = float(moments.variance @ scale**2)
        if not np.isfinite(total):
            raise InputError("X: the variance of its columns is more than a float64 can hold")
        if self.method == "approximate_pca":
            lower = moments.lower if normalize else np.zeros(d)
            directions, variances = _sampled(matrix, moments, lower, self, rng)
        elif total == 0.0 and self.method not in ("gaussian", "none"):
            directions, variances = np.eye(self.n_dimensions, d), None  # all objects are alike
        else:
            directions, variances = _directions(matrix, self, rng)
        largest = np.abs(directions).argmax(axis=1)
        directions = (
            directions * np.where(directions[np.arange(len(largest)), largest] < 0, -1, 1)[:, None]
        )
        if variances is None:
            variances = _variances(matrix, directions)
        ratio = np.clip(variances, 0.0, None) / (total or 1.0)
        orthonormal = not normalize and _is_orthonormal(directions)
        return Projection(directions * scale, moments.mean, ratio, orthonormal)


def _sample_size(name: str, value: Any, available: int) -> int:
    """Return how many rows or columns are drawn: as given, or the paper's recommendation."""
    if value == "auto":
        return max(_MIN_SAMPLE, int(np.ceil(_SAMPLE_FRACTION * available)))
    return check_int(value, name, 1)


def _directions(matrix: CentredMatrix, plan: Plan, rng: np.random.Generator) -> _Components:
    p, d = plan.n_dimensions, matrix.shape[1]
    if plan.method == "none":
        return np.eye(d), None
    if plan.method == "gaussian":
        return rng.standard_normal((p, d)), None
    if plan.takes_products(d):
        squares, vectors = _leading(matrix.gram(), p)
        return vectors.T, squares / matrix.shape[0]
    if plan.method == "exact_pca":
        if not isinstance(matrix, Centred):
            raise InputError(f"projection: exact_pca of more than {SMALL:,} columns takes all rows")
        return _from_rows(matrix, p) if matrix.shape[0] <= SMALL else _lanczos(matrix, p, rng)
    return _randomized(matrix, p, 1 if plan.method == "randomized_svd" else _MORE_STEPS, rng)


def _leading(symmetric: NDArray[np.float64], p: int) -> tuple[NDArray[np.float64], ...]:
    """Return the largest eigenvalues, at most p, largest first, and their vectors as columns."""
    values, vectors = np.linalg.eigh(symmetric)
    return values[: -p - 1 : -1], vectors[:, : -p - 1 : -1]


def _from_rows(matrix: Centred, p: int) -> _Components:
    """Return principal components of few rows; those that no variance is left for are zero."""
    n, d = matrix.shape
    squares, left = _leading(matrix.row_gram(), p)
    real = squares > n * np.finfo(float).eps * max(squares[0], 0.0)
    squares, left = squares[real], left[:, real]
    directions, variances = np.zeros((p, d)), np.zeros(p)
    directions[: len(squares)] = (matrix.transposed_times(left) / np.sqrt(squares)).T
    variances[: len(squares)] = squares / n
    return directions, variances


def _lanczos(matrix: Centred, p: int, rng: np.random.Generator) -> _Components:
    n, d = matrix.shape

    def multiply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return matrix.transposed_times(matrix.times(vector.reshape(-1, 1)))[:, 0]

    product: Any = LinearOperator((d, d), matvec=multiply, dtype=np.float64)
    squares, vectors = eigsh(product, p, v0=rng.standard_normal(d))
    return vectors[:, ::-1].T, squares[::-1] / n


def _randomized(
    matrix: CentredMatrix, p: int, n_steps: int, rng: np.random.Generator
) -> _Components:
    """Return principal components from random directions, after Halko, Martinsson and Tropp.

    After the power steps, the best combinations alone go through one more. It costs little, as they
    are few, and brings them much closer to the principal components.
    """
    n, d = matrix.shape
    width = min(d, max(_SKETCH, 4 * -(-(p + 5) // 4)))
    directions = rng.standard_normal((d, width))
    for _ in range(n_steps):
        directions = np.linalg.qr(matrix.image(directions).back())[0]
    image = matrix.image(directions)
    directions = np.linalg.qr(image.back(_leading(image.products, p)[1]))[0]
    squares, rotation = _leading(matrix.image(directions, back=False).products, p)
    return (directions @ rotation).T, squares / n


def _sampled(
    matrix: CentredMatrix,
    moments: Moments,
    lower: NDArray[np.float64],
    plan: Plan,
    rng: np.random.Generator,
) -> _Components:
    """Return the principal components of drawn rows of drawn columns, after Drineas et al.

    What is drawn is divided by the root of its probability: squares are then right on average.
    Lengths are those of numbers less `lower`; what is drawn is centred by the mean of all rows.
    """
    p, (n, d) = plan.n_dimensions, matrix.shape
    squares = n * matrix.scale**2 * (moments.variance + (moments.mean - lower) ** 2)
    columns, factors = np.arange(d), np.ones(d)
    if plan.n_columns < d and squares.sum() > 0:
        columns, factors = _draw(squares, plan.n_columns, rng)
    column_weights = np.zeros(d)
    column_weights[columns] = (factors * matrix.scale[columns]) ** 2
    sampling = RowSampling(lower, column_weights, columns, factors, plan.n_rows)
    sample = matrix.sample(sampling, rng)
    if sample is None:
        return np.eye(p, d), None
    if sampling.as_products:
        right = _leading(sample, p)[1].T
    else:
        right = np.linalg.svd(sample, full_matrices=False)[2][:p]
    directions = np.zeros((p, d))
    directions[: len(right), columns] = right * factors
    return directions, None


def _draw(
    squares: NDArray[np.float64], size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return indices drawn in proportion to squares, with replacement, and their factors.

    An index that was drawn twice counts for two: one, longer by the root of two, is the same.
    """
    total = float(np.cumsum(squares)[-1])
    indices, times = np.unique(pick(squares, rng.random(size) * total), return_counts=True)
    return indices, np.sqrt(times * total / (size * squares[indices]))


def _variances(matrix: CentredMatrix, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance along each direction, whatever its length."""
    lengths = np.sqrt((directions**2).sum(axis=1))
    unit = directions / np.where(lengths > 0, lengths, 1.0)[:, None]
    image = matrix.image(np.ascontiguousarray(unit.T), back=False)
    variances: NDArray[np.float64] = np.diag(image.products) / matrix.shape[0]
    return variances


def _is_orthonormal(directions: NDArray[np.float64]) -> bool:
    nonzero = directions[directions.any(axis=1)]
    return bool(np.abs(nonzero @ nonzero.T - np.eye(len(nonzero))).max(initial=0.0) < 1e-9)
