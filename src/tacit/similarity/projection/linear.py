"""From many columns to the few dimensions of the grid: linear projections of dense and sparse data.

All of them are a matrix and a mean: the coordinates of objects are ``(X - mean) @ components.T``.
Sparse data are never written out as dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.parameters import make_generator
from tacit.similarity.projection.centred import Centred, Drawing, column_moments, pick
from tacit.table.features import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.projection.centred import Image, Moments

__all__ = ["METHODS", "SMALL", "Plan", "Projection", "Sight", "coordinates", "project"]

METHODS = (
    "randomised_svd",
    "approximate_pca",
    "exact_pca",
    "randomised_pca",
    "gaussian",
    "none",
)
# Directions as rows, and the variance along each where it is known already.
_Found: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64] | None]"

_MOST_UNPROJECTED = 4  # columns that a grid can have as its dimensions
_NARROW = 128  # columns up to which all products of columns cost no more than a random sketch
SMALL = 1024  # rows or columns whose products are written out for exact PCA
_SKETCH = 12  # random directions followed at once; a multiple of 4 suits the processor
_MORE_STEPS = 6  # power steps of randomised PCA
_LEAST_SAMPLE = 150  # the paper's least number of rows and columns that are drawn
_SAMPLE_SHARE = 0.01
_ROWS = 4096  # projected at a time, so that they stay in the cache


@dataclass(frozen=True)
class Projection:
    """A linear map to few dimensions.

    Attributes
    ----------
    components : float64 array of shape (p, d)
        The largest entry of each, by absolute value, is positive. If columns were scaled to
        [0, 1], the factors of that are in here.
    mean : float64 array of shape (d,)
    explained_variance_ratio : float64 array of shape (p,)
        The share of the variance of the (scaled) columns that lies along each component.
    orthonormal : bool
        Whether the components, as they stand, are orthonormal, or zero where no variance was left.
        Then no two objects are farther apart in the projection than they were.
    """

    components: NDArray[np.float64]
    mean: NDArray[np.float64]
    explained_variance_ratio: NDArray[np.float64]
    orthonormal: bool

    def transform(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the coordinates of objects, of shape (n, p).

        >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
        >>> project(X, 1, "exact_pca", normalise=False).transform(X).tolist()
        [[-2.5], [2.5]]
        """
        whole = Centred(X, self.mean, np.ones(len(self.mean)), count_jobs(n_jobs))
        return whole.times(np.ascontiguousarray(self.components.T))


def project(
    X: Any,
    dimensions: int = 3,
    method: str = "randomised_svd",
    *,
    normalise: bool = True,
    rows: int | Literal["auto"] = "auto",
    columns: int | Literal["auto"] = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Projection:
    """Return a projection of numbers onto few dimensions.

    Parameters
    ----------
    X : float array or CSR array of shape (n, d)
        Finite; a CSR array is left sparse.
    dimensions : int, default 3
        At most as many as there are columns are made.
    method : str, default "randomised_svd"
        - ``"randomised_svd"``: principal components, by a random sketch of the centred data and
          one power step. Where the data have few columns, they are exact, as that costs no more.
        - ``"approximate_pca"``: rows and columns drawn in proportion to their squared lengths, and
          the exact principal components of these.
        - ``"exact_pca"``: principal components.
        - ``"randomised_pca"``: as the first, with more power steps, orthonormalised in between.
        - ``"gaussian"``: random directions.
        - ``"none"``: the columns themselves, at most four.
    normalise : bool, default True
        Scale columns to [0, 1] first. Columns that do not vary play no part then or otherwise.
    rows, columns : int or "auto"
        How many are drawn for approximate PCA. By default 1 % of the rows, but at least 150; and
        all columns if there are up to 150, else 1 %, but at least 150.
    random_state : int, RandomState or Generator, optional
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Projection

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 1.0], [4.0, 3.0, 1.0], [8.0, 6.0, 1.0]])
    >>> found = project(X, 1, normalise=False)
    >>> found.components.round(3).tolist(), found.explained_variance_ratio.round(3).tolist()
    ([[0.8, 0.6, 0.0]], [1.0])
    """
    n, d = X.shape
    plan = Plan.of(method, dimensions, rows, columns, (n, d))
    if is_sparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    rng = make_generator(random_state)
    moments = column_moments(X)
    scale = moments.factors() if normalise else np.ones(d)
    whole = Centred(X, moments.mean, scale, count_jobs(n_jobs))
    return plan.project(whole, moments, normalise, rng)


def coordinates(
    X: Any, components: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``(X - mean) @ components.T``; each row to the last bit, whatever rows are with it.

    A row on the border of two blocks must not change sides with the rows it comes with, as it may
    if BLAS multiplies them.

    Parameters
    ----------
    X : float array or CSR array of shape (n, d)
    components : float64 array of shape (p, d)
    mean : float64 array of shape (d,)

    Examples
    --------
    >>> coordinates(np.array([[3.0, 4.0]]), np.array([[0.5, 0.5]]), np.array([1.0, 0.0])).tolist()
    [[3.0]]
    """
    shift = np.zeros(len(components))
    for j in range(len(mean)):
        shift += mean[j] * components[:, j]
    if is_sparse(X):
        return np.ascontiguousarray(X @ components.T - shift, np.float64)
    found = np.empty((X.shape[0], len(components)))
    for first in range(0, X.shape[0], _ROWS):
        part = np.ascontiguousarray(X[first : first + _ROWS].T)
        sums = np.zeros((len(components), part.shape[1]))
        for column, weights in zip(part, components.T, strict=True):
            sums += weights[:, None] * column
        found[first : first + _ROWS] = sums.T
    found -= shift
    return found


class Sight(Protocol):
    """A centred matrix that can be looked at as a whole, wherever its rows are.

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
        """Return what becomes of directions, the columns of a (d, l) matrix."""

    def sample(self, drawing: Drawing, rng: np.random.Generator) -> NDArray[np.float64] | None:
        """Return what is drawn of the rows; None if none of them has a length."""


@dataclass(frozen=True)
class Plan:
    """How a matrix of a known shape is to be projected: checked, but not looked at yet.

    Attributes
    ----------
    method : str
    n_dimensions : int
    rows, columns : int
        How many are drawn, if they are.
    """

    method: str
    n_dimensions: int
    rows: int
    columns: int

    @classmethod
    def of(
        cls, method: Any, dimensions: Any, rows: Any, columns: Any, shape: tuple[int, int]
    ) -> Plan:
        """Check what :func:`project` is given."""
        if method not in METHODS:
            raise InputError(f"projection must be one of {', '.join(METHODS)}; got {method!r}")
        n, d = shape
        r, c = 0, d
        if method == "approximate_pca":
            r = _sample_size("rows", rows, n)
            if columns != "auto" or d > _LEAST_SAMPLE:
                c = _sample_size("columns", columns, d)
        if method == "none" and d > _MOST_UNPROJECTED:
            raise InputError(
                f'projection="none" is for at most {_MOST_UNPROJECTED} columns, but X has {d}'
            )
        return cls(method, min(_whole("dimensions", dimensions), d), r, c)

    def takes_products(self, d: int) -> bool:
        """Return whether all products of d columns are what it looks at."""
        if self.method == "exact_pca":
            return d <= SMALL
        return self.method in ("randomised_svd", "randomised_pca") and d <= _NARROW

    def project(
        self, whole: Sight, moments: Moments, normalise: bool, rng: np.random.Generator
    ) -> Projection:
        """Return the projection of a matrix of that shape."""
        scale, d = whole.scale, whole.shape[1]
        total = float(moments.variance @ scale**2)
        if not np.isfinite(total):
            raise InputError("X: the variance of its columns is more than a float64 can hold")
        if self.method == "approximate_pca":
            lower = moments.lower if normalise else np.zeros(d)
            found = _sampled(whole, moments, lower, self, rng)
        elif total == 0.0 and self.method not in ("gaussian", "none"):
            found = np.eye(self.n_dimensions, d), None  # all objects are alike
        else:
            found = _directions(whole, self, rng)
        directions, variances = found
        largest = np.abs(directions).argmax(axis=1)
        directions = (
            directions * np.where(directions[np.arange(len(largest)), largest] < 0, -1, 1)[:, None]
        )
        if variances is None:
            variances = _variances(whole, directions)
        ratio = np.clip(variances, 0.0, None) / (total or 1.0)
        orthonormal = not normalise and _is_orthonormal(directions)
        return Projection(directions * scale, moments.mean, ratio, orthonormal)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _sample_size(name: str, value: Any, available: int) -> int:
    """Return how many rows or columns are drawn: as told, or the paper's recommendation."""
    if value == "auto":
        return max(_LEAST_SAMPLE, int(np.ceil(_SAMPLE_SHARE * available)))
    return _whole(name, value)


def _directions(whole: Sight, plan: Plan, rng: np.random.Generator) -> _Found:
    p, d = plan.n_dimensions, whole.shape[1]
    if plan.method == "none":
        return np.eye(d), None
    if plan.method == "gaussian":
        return rng.standard_normal((p, d)), None
    if plan.takes_products(d):
        squares, vectors = _leading(whole.gram(), p)
        return vectors.T, squares / whole.shape[0]
    if plan.method == "exact_pca":
        if not isinstance(whole, Centred):
            raise InputError(f"projection: exact_pca of more than {SMALL:,} columns takes all rows")
        return _from_rows(whole, p) if whole.shape[0] <= SMALL else _lanczos(whole, p, rng)
    return _randomised(whole, p, 1 if plan.method == "randomised_svd" else _MORE_STEPS, rng)


def _leading(symmetric: NDArray[np.float64], p: int) -> tuple[NDArray[np.float64], ...]:
    """Return the largest eigenvalues, at most p, largest first, and their vectors as columns."""
    values, vectors = np.linalg.eigh(symmetric)
    return values[: -p - 1 : -1], vectors[:, : -p - 1 : -1]


def _from_rows(whole: Centred, p: int) -> _Found:
    """Return principal components of few rows; those that no variance is left for are zero."""
    n, d = whole.shape
    squares, left = _leading(whole.row_gram(), p)
    real = squares > n * np.finfo(float).eps * max(squares[0], 0.0)
    squares, left = squares[real], left[:, real]
    found, variances = np.zeros((p, d)), np.zeros(p)
    found[: len(squares)] = (whole.transposed_times(left) / np.sqrt(squares)).T
    variances[: len(squares)] = squares / n
    return found, variances


def _lanczos(whole: Centred, p: int, rng: np.random.Generator) -> _Found:
    n, d = whole.shape

    def multiply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return whole.transposed_times(whole.times(vector.reshape(-1, 1)))[:, 0]

    product: Any = LinearOperator((d, d), matvec=multiply, dtype=np.float64)
    squares, vectors = eigsh(product, p, v0=rng.standard_normal(d))
    return vectors[:, ::-1].T, squares[::-1] / n


def _randomised(whole: Sight, p: int, n_steps: int, rng: np.random.Generator) -> _Found:
    """Return principal components from random directions, after Halko, Martinsson and Tropp.

    After the power steps, the best combinations alone go through one more. It costs little, as they
    are few, and brings them much closer to the principal components.
    """
    n, d = whole.shape
    width = min(d, max(_SKETCH, 4 * -(-(p + 5) // 4)))
    directions = rng.standard_normal((d, width))
    for _ in range(n_steps):
        directions = np.linalg.qr(whole.image(directions).back())[0]
    image = whole.image(directions)
    directions = np.linalg.qr(image.back(_leading(image.products, p)[1]))[0]
    squares, rotation = _leading(whole.image(directions, back=False).products, p)
    return (directions @ rotation).T, squares / n


def _sampled(
    whole: Sight,
    moments: Moments,
    lower: NDArray[np.float64],
    plan: Plan,
    rng: np.random.Generator,
) -> _Found:
    """Return the principal components of drawn rows of drawn columns, after Drineas et al.

    What is drawn is divided by the root of its probability: squares are then right on average.
    Lengths are those of numbers less `lower`; what is drawn is centred by the mean of all rows.
    """
    p, (n, d) = plan.n_dimensions, whole.shape
    squares = n * whole.scale**2 * (moments.variance + (moments.mean - lower) ** 2)
    kept, weight = np.arange(d), np.ones(d)
    if plan.columns < d and squares.sum() > 0:
        kept, weight = _draw(squares, plan.columns, rng)
    emphasis = np.zeros(d)
    emphasis[kept] = (weight * whole.scale[kept]) ** 2
    drawing = Drawing(lower, emphasis, kept, weight, plan.rows)
    some = whole.sample(drawing, rng)
    if some is None:
        return np.eye(p, d), None
    if drawing.many:
        right = _leading(some, p)[1].T
    else:
        right = np.linalg.svd(some, full_matrices=False)[2][:p]
    found = np.zeros((p, d))
    found[: len(right), kept] = right * weight
    return found, None


def _draw(
    squares: NDArray[np.float64], size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places drawn in proportion to squares, with replacement, and their factors.

    A place that was drawn twice counts for two: one, longer by the root of two, is the same.
    """
    total = float(np.cumsum(squares)[-1])
    places, times = np.unique(pick(squares, rng.random(size) * total), return_counts=True)
    return places, np.sqrt(times * total / (size * squares[places]))


def _variances(whole: Sight, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance along each direction, whatever its length."""
    lengths = np.sqrt((directions**2).sum(axis=1))
    unit = directions / np.where(lengths > 0, lengths, 1.0)[:, None]
    image = whole.image(np.ascontiguousarray(unit.T), back=False)
    variances: NDArray[np.float64] = np.diag(image.products) / whole.shape[0]
    return variances


def _is_orthonormal(directions: NDArray[np.float64]) -> bool:
    held = directions[directions.any(axis=1)]
    return bool(np.abs(held @ held.T - np.eye(len(held))).max(initial=0.0) < 1e-9)
