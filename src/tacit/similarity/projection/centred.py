"""Numbers with their column means taken away and their columns scaled, without writing them out.

Sparse numbers would lose their zeros if they were centred. They are not: a product with the centred
matrix is a product with the stored numbers, less the same for the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.similarity.csr import csr_arrays
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "Centred",
    "ColumnScaling",
    "RowSampling",
    "Image",
    "Moments",
    "binary_moments",
    "counted_moments",
    "centred_products",
    "column_moments",
    "column_products",
    "is_binary",
    "pick",
]

_CELLS = 2**20  # numbers written out at once


@dataclass(frozen=True)
class Moments:
    """What is known of each column: float64 arrays of shape (d,)."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]  # that of the objects at hand, divided by n
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def factors(self) -> NDArray[np.float64]:
        """Return 1 / (max - min) for each column, and 0 for those that do not vary.

        >>> column_moments(np.array([[1.0, 7.0], [5.0, 7.0]])).factors()
        array([0.25, 0.  ])
        """
        with np.errstate(over="ignore"):
            span = self.upper - self.lower
        if not np.isfinite(span).all():
            column = int(np.argmin(np.isfinite(span)))
            raise InputError(f"X: column {column} spans more than a float64 can hold")
        factors = np.zeros(len(span))
        np.divide(1.0, span, out=factors, where=span >= 1e-300)
        return factors


def column_moments(X: Any) -> Moments:
    """Return mean, variance and extremes of each column of a dense or CSR matrix.

    >>> column_moments(sparse.csr_array(np.array([[2.0, 0.0], [0.0, 0.0]]))).mean
    array([1., 0.])
    """
    if is_binary(X):
        return binary_moments(np.asarray(X.sum(axis=0, dtype=np.float64)).reshape(-1), X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        moments = _sparse_moments(X) if is_sparse(X) else _dense_moments(X)
    if not np.isfinite(moments.variance).all():
        column = int(np.argmin(np.isfinite(moments.variance)))
        raise InputError(f"X: the squares of column {column} are more than a float64 can hold")
    return moments


def is_binary(X: Any) -> bool:
    """Return whether all numbers are 0 or 1, so that their sums are exact in whatever order."""
    numbers = X.data if is_sparse(X) else X
    step = max(1, _CELLS // max(1, int(np.prod(numbers.shape[1:]))))
    return all(
        bool(((rows == 0) | (rows == 1)).all())
        for rows in (numbers[first : first + step] for first in range(0, len(numbers), step))
    )


def binary_moments(sums: NDArray[Any], n: int) -> Moments:
    """Return the moments of columns of 0 and 1 from how often each of them is 1.

    >>> binary_moments(np.array([1, 4]), 4).variance
    array([0.1875, 0.    ])
    """
    mean = sums / n
    lower, upper = (sums == n).astype(np.float64), (sums > 0).astype(np.float64)
    return Moments(mean, mean * (1.0 - mean), lower, upper)


def counted_moments(
    columns: NDArray[Any], numbers: NDArray[Any], counts: NDArray[Any], width: int, n: int
) -> Moments:
    """Return the moments of columns from how often each number but 0 occurs in each of them.

    >>> counted_moments(np.array([0, 1]), np.array([1.0, 2.0]), np.array([1, 4]), 2, 4).mean
    array([0.25, 2.  ])
    """
    mean = np.bincount(columns, counts * numbers, width) / n
    rest = n - np.bincount(columns, counts, width)  # records that have 0
    squares = np.bincount(columns, counts * (numbers - mean[columns]) ** 2, width)
    variance = (squares + rest * mean**2) / n
    lower, upper = np.where(rest > 0, 0.0, np.inf), np.where(rest > 0, 0.0, -np.inf)
    held = counts > 0
    np.minimum.at(lower, columns[held], numbers[held])
    np.maximum.at(upper, columns[held], numbers[held])
    variance[lower == upper] = 0.0
    return Moments(mean, variance, lower, upper)


def _dense_moments(X: NDArray[Any]) -> Moments:
    mean = X.mean(axis=0, dtype=np.float64)
    variance = np.zeros(X.shape[1])
    for _, rows in _row_chunks(X):
        centred = rows - mean
        variance += np.einsum("ij,ij->j", centred, centred)
    lower, upper = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    variance[lower == upper] = 0.0  # rounding of the mean is no variance
    return Moments(mean, variance / len(X), lower, upper)


def _sparse_moments(X: Any) -> Moments:
    mean, variance, lower, upper = _core.sparse_column_moments(*csr_arrays(X), X.shape[1])
    variance[lower == upper] = 0.0
    return Moments(mean, variance, lower, upper)


def _row_chunks(X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield rows of X written out as float64, some at a time, and which they are."""
    step = max(1, _CELLS // max(1, X.shape[1]))
    for first in range(0, X.shape[0], step):
        chunk = slice(first, first + step)
        rows = X[chunk]
        dense = rows.toarray() if is_sparse(rows) else rows
        yield chunk, dense.astype(np.float64, copy=False)


def column_products(X: Any) -> NDArray[np.float64]:
    """Return the (d, d) products of columns, neither centred nor scaled, some rows at a time."""
    product = np.zeros((X.shape[1], X.shape[1]))
    for _, rows in _row_chunks(X):
        product += rows.T @ rows
    return product


def centred_products(
    products: NDArray[np.float64],
    n: int,
    scale: NDArray[np.float64],
    moments: Moments | None = None,
) -> NDArray[np.float64]:
    """Return products of columns once these are centred and scaled.

    Without `moments` the columns are 0 and 1. The products are whole numbers then, and exact: so is
    this but for one rounding, in whatever order they were added up.
    """
    sums = np.diag(products)
    varies = (sums > 0) & (sums < n)
    if moments is not None:
        binary = (moments.lower >= 0) & (moments.upper <= 1) & (sums == np.rint(moments.mean * n))
        sums = np.where(binary, sums, moments.mean * n)
        varies = moments.lower < moments.upper
    centred = products - np.outer(sums, sums) / n
    centred *= np.outer(scale * varies, scale * varies)
    return centred


@dataclass(frozen=True)
class Image:
    """Products of a centred matrix A and some directions D."""

    products: NDArray[np.float64]  # (l, l): ``(A D)' (A D)``
    product: NDArray[np.float64]  # ``A D`` itself, or ``A' A D``, whichever is at hand
    matrix: Centred | None = None  # A, if `product` is to be multiplied by its transpose

    def back(self, combinations: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return ``A' A D``, or that of combinations of the directions: a (d, l) matrix."""
        product = self.product if combinations is None else self.product @ combinations
        return product if self.matrix is None else self.matrix.transposed_times(product)


@dataclass(frozen=True)
class RowSampling:
    """How rows are sampled: in proportion to their squared lengths, with replacement."""

    # (d,): the squared length of a row x is ``(x - origin)**2 @ column_weights``
    origin: NDArray[np.float64]
    column_weights: NDArray[np.float64]
    columns: NDArray[np.int64]  # columns that sampled rows are to have
    factors: NDArray[np.float64]  # what each of these is multiplied by
    n_rows: int  # how many are drawn

    @property
    def as_products(self) -> bool:
        """Whether the sample is summed up as products of its columns, which are fewer."""
        return self.n_rows > len(self.columns)

    def take(
        self,
        rows: Centred,
        lengths: NDArray[np.float64],
        targets: NDArray[np.float64],
        total: float,
    ) -> NDArray[np.float64]:
        """Return the sample of some rows: itself, or products of its columns.

        What is drawn is divided by the root of its probability: squares are then right on average.
        `targets` are points between 0 and the sum of the squared `lengths`; the row that a point
        falls on is drawn. `total` is that sum over all rows there are.
        """
        indices, times = np.unique(pick(lengths, targets), return_counts=True)
        factors = np.sqrt(times * total / (self.n_rows * lengths[indices]))
        sample = (rows.rows(indices, self.columns) * self.factors) * factors[:, None]
        return sample.T @ sample if self.as_products else sample


def pick(lengths: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which of several consecutive intervals each point falls on.

    >>> pick(np.array([2.0, 0.0, 3.0]), np.array([1.5, 2.0, 5.0])).tolist()
    [0, 2, 2]
    """
    last = int(np.flatnonzero(lengths)[-1])  # for points at the very end, by rounding
    return np.minimum(np.searchsorted(np.cumsum(lengths), targets, side="right"), last)


class Centred:
    """The matrix (X - mean) · diag(scale), never written out."""

    def __init__(
        self, X: Any, mean: NDArray[np.float64], scale: NDArray[np.float64], n_jobs: int = 1
    ) -> None:
        self.X, self.mean, self.scale, self.n_jobs = X, mean, scale, n_jobs
        self.shape: tuple[int, int] = X.shape

    def times(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product with a (d, l) matrix.

        >>> X = np.array([[1.0, 2.0], [3.0, 6.0]])
        >>> Centred(X, X.mean(axis=0), np.ones(2)).times(np.eye(2)).tolist()
        [[-1.0, -2.0], [1.0, 2.0]]
        """
        scaled = self.scale[:, None] * right
        product = self._product(scaled)
        product -= self.mean @ scaled
        return product

    def transposed_times(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the transposed matrix with an (n, l) matrix."""
        product = self._transposed_product(right)
        product -= self.mean[:, None] * right.sum(axis=0)
        product *= self.scale[:, None]
        return product

    def image(self, directions: NDArray[np.float64], *, back: bool = True) -> Image:
        """Return the image of the columns of a matrix; `back`: it will be asked for that, too."""
        image = self.times(directions)
        return Image(image.T @ image, image, self)

    def sample(self, sampling: RowSampling, rng: np.random.Generator) -> NDArray[np.float64] | None:
        """Return a sample of the rows; None if all of them have length 0."""
        lengths = self.row_squares(sampling.origin, sampling.column_weights)
        total = float(np.cumsum(lengths)[-1])
        if total == 0:
            return None
        return sampling.take(self, lengths, rng.random(sampling.n_rows) * total, total)

    def rows(self, indices: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows and columns, written out."""
        rows = self.X[indices][:, columns]
        dense = rows.toarray() if is_sparse(rows) else rows
        centred: NDArray[np.float64] = (dense - self.mean[columns]) * self.scale[columns]
        return centred

    def row_squares(
        self, origin: NDArray[np.float64], column_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return ``((X - origin)**2 @ column_weights)``, neither centred nor scaled."""
        if is_sparse(self.X):
            squares = sparse.csr_array(
                (self.X.data.astype(np.float64) ** 2, self.X.indices, self.X.indptr), self.shape
            )
            shifted = squares @ column_weights + column_weights @ origin**2
            if origin.any():
                shifted -= 2 * (self.X @ (column_weights * origin))
            return np.maximum(shifted, 0.0)
        return np.concatenate(
            [(rows - origin) ** 2 @ column_weights for _, rows in _row_chunks(self.X)]
        )

    def gram(self) -> NDArray[np.float64]:
        """Return the (d, d) product of the transposed matrix with itself, some rows at a time."""
        if is_binary(self.X):
            return centred_products(column_products(self.X), self.shape[0], self.scale)
        product = np.zeros((self.shape[1], self.shape[1]))
        for _, rows in _row_chunks(self.X):
            centred = (rows - self.mean) * self.scale
            product += centred.T @ centred
        return product

    def row_gram(self) -> NDArray[np.float64]:
        """Return the (n, n) product of the matrix with its transpose; for few rows."""
        product = np.zeros((self.shape[0], self.shape[0]))
        step = max(1, _CELLS // self.shape[0])
        by_column = self.X.tocsc() if is_sparse(self.X) else self.X
        for first in range(0, self.shape[1], step):
            chunk = slice(first, first + step)
            columns = by_column[:, chunk]
            dense = columns.toarray() if is_sparse(columns) else columns
            centred = (dense - self.mean[chunk]) * self.scale[chunk]
            product += centred @ centred.T
        return product

    def _product(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        if is_sparse(self.X):
            return _core.sparse_product(*self._rows, right, False, self.n_jobs)
        product = np.empty((self.shape[0], right.shape[1]))
        for chunk, rows in _row_chunks(self.X):
            np.matmul(rows, right, out=product[chunk])
        return product

    def _transposed_product(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        if is_sparse(self.X):
            return _core.sparse_product(*self._rows, right, True, self.n_jobs)
        product = np.zeros((self.shape[1], right.shape[1]))
        for chunk, rows in _row_chunks(self.X):
            product += rows.T @ right[chunk]
        return product

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], int]:
        return *csr_arrays(self.X), self.shape[1]


@dataclass(frozen=True)
class ColumnScaling:
    """How columns become numbers from 0 to 1, as they were in fit.

    Distances do not depend on where ranges begin: then `lower` is None, zeros stay zeros, and
    sparse numbers stay sparse. For what does depend on it, columns begin at 0; those of sparse
    numbers whose least number is negative are stored in full then.
    """

    ranges: NDArray[np.float64]  # (d,): 1 for constant columns
    lower: NDArray[np.float64] | None = None  # (d,)

    @classmethod
    def of(cls, numbers: Any, *, shift: bool = False) -> ColumnScaling:
        """Return the scaling of numbers to their ranges; with `shift`, so that they begin at 0.

        >>> X = np.array([[2.0, 7.0], [4.0, 7.0]])
        >>> ColumnScaling.of(X)(X).tolist()
        [[1.0, 7.0], [2.0, 7.0]]
        >>> ColumnScaling.of(X, shift=True)(X).tolist()
        [[0.0, 0.0], [1.0, 0.0]]
        """
        ends = numbers.max(axis=0), numbers.min(axis=0)
        if sparse.issparse(numbers):
            ends = ends[0].toarray(), ends[1].toarray()
        # Sparse numbers are divided in their own type.
        own = sparse.issparse(numbers) and numbers.dtype.kind == "f"  # type: ignore[attr-defined]
        kind = numbers.dtype if own else np.dtype(np.float64)
        with np.errstate(over="ignore"):
            ranges = np.subtract(*ends, dtype=np.float64).reshape(-1)
            held = np.isfinite(ranges.astype(kind, copy=False))
        if not held.all():
            column = int(np.argmin(held))
            raise InputError(f"X: column {column} spans more than a {kind} can hold")
        lower = np.asarray(ends[1], np.float64).reshape(-1) if shift else None
        return cls(np.where(ranges > 0, ranges, 1.0), lower)

    def __call__(self, numbers: Any) -> Any:
        """Return numbers scaled; what was not there in fit may be beyond 0 and 1."""
        if not sparse.issparse(numbers):
            return (numbers if self.lower is None else numbers - self.lower) / self.ranges
        matrix: Any = numbers  # sorted indices stay sorted
        if self.lower is not None and self.lower.any():
            matrix = _shift_stored(matrix, self.lower)
        data = matrix.data / self.ranges[matrix.indices].astype(matrix.dtype, copy=False)
        return sparse.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)


def _shift_stored(numbers: Any, lower: NDArray[np.float64]) -> Any:
    """Return sparse numbers less those of their columns: what was 0 there is stored."""
    shifted = np.flatnonzero(lower)
    n, d = numbers.shape
    n_bytes = n * len(shifted) * 20 + numbers.nnz * 12
    check_fits(
        n_bytes,
        f"X with {len(shifted):,} columns that begin below or above 0, scaled to [0, 1],",
        "scale its columns so that 0 is the least number of each",
    )
    filled = np.tile(-lower[shifted].astype(numbers.dtype, copy=False), n)
    offsets = np.arange(n + 1, dtype=np.int64) * len(shifted)
    dense = sparse.csr_array((filled, np.tile(shifted, n), offsets), (n, d))
    result = numbers + dense
    result.sort_indices()
    return result
