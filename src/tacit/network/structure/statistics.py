"""What is kept of the records about columns, edges that join two, and the tree they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]

__all__ = [
    "ClassMoments",
    "EdgeStatistic",
    "Moments",
    "NodeStatistic",
    "PairMoments",
    "Structure",
    "class_information",
    "correlation_information",
    "correlations",
    "table_information",
]

_SAME = 1e-13  # correlations nearer to one than this differ from it by rounding only
_FLOOR = 1e-9  # least variance within a class, as a fraction of the variance of all


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a numeric column over n (weighted) records; the divisor is n."""

    n: float
    mean: float
    variance: float


@dataclass(frozen=True)
class PairMoments:
    """First and second moments of two numeric columns over the same n (weighted) records."""

    n: float
    mean_a: float
    mean_b: float
    var_a: float
    var_b: float
    cov: float


@dataclass(frozen=True)
class ClassMoments:
    """Mean and variance of a numeric column for each code of a discrete one."""

    counts: Floats
    means: Floats
    variances: Floats


NodeStatistic: TypeAlias = "Moments | NDArray[np.float64]"
EdgeStatistic: TypeAlias = "PairMoments | ClassMoments | NDArray[np.float64]"


@dataclass(frozen=True)
class Structure:
    """A tree over columns, and what the records say about its edges."""

    edges: Ints  # (n_columns - 1, 2): each with a < b, in lexicographic order
    weights: Floats  # mutual information in nats, as far as records were read
    # Between these the information of all records lies, as sure as `delta` says
    lower: Floats
    upper: Floats
    edge_usage: float  # fraction of all (record, pair) combinations that was read
    n_read: int  # records read for the pair that needed most
    # For each round how many records had been read, and how many pairs were still open
    rounds: list[dict[str, int]] = field(default_factory=list)
    nodes: list[NodeStatistic] = field(default_factory=list)  # Moments, or counts by code
    # Of each edge PairMoments, ClassMoments or two-way counts
    pairs: list[EdgeStatistic] = field(default_factory=list)


def correlations(covariance: Any, var_a: Any, var_b: Any) -> Floats:
    """Return correlations; those with a constant column are 0, those within rounding of 1 are 1.

    >>> correlations(np.array([1.0, 0.0, -2.0]), np.array([1.0, 0.0, 2.0]), 2.0).tolist()
    [0.7071067811865475, 0.0, -1.0]
    """
    scale = np.sqrt(var_a) * np.sqrt(var_b)
    known = scale > 0
    rho = np.divide(covariance, scale, out=np.zeros(np.shape(scale)), where=known)
    rounded: Floats = np.where(1 - np.abs(rho) < _SAME, np.sign(rho), rho)
    return rounded


def correlation_information(rho: Any) -> Floats:
    """Return the mutual information of two Gaussian columns, in nats; infinite at ±1.

    >>> correlation_information(np.array([0.0, 0.6, -1.0])).round(4).tolist()
    [0.0, 0.2231, inf]
    """
    with np.errstate(divide="ignore"):
        information: Floats = -0.5 * np.log1p(-np.square(rho)) + 0.0
    return information


def table_information(counts: NDArray[Any]) -> Floats:
    """Return the mutual information of two-way counts, in nats; leading axes are separate tables.

    >>> float(table_information(np.array([[1, 0], [0, 1]])).round(4))
    0.6931
    """
    cells = np.asarray(counts, np.float64)
    total = cells.sum(axis=(-2, -1), keepdims=True)
    p = np.divide(cells, total, out=np.zeros_like(cells), where=total > 0)
    independent = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    ratio = np.divide(p, independent, out=np.ones_like(p), where=p > 0)
    information: Floats = np.maximum((p * np.log(ratio)).sum(axis=(-2, -1)), 0.0)
    return information


def class_information(counts: Floats, sums: Floats, squares: Floats) -> Floats:
    """Return the information of a discrete and a Gaussian column, in nats.

    It is ½[log σ² − Σ p_k log σ_k²], the log-likelihood ratio of a normal distribution for each
    class to one for all, for each record. Variances of classes are at least 1e-9·σ². Arguments have
    the shape (…, n_classes): how many records each class has, and Σx and Σx² of its numbers.

    Examples
    --------
    >>> two = np.array([2.0, 2.0])
    >>> float(class_information(two, np.array([0.0, 8.0]), np.array([2.0, 34.0])).round(4))
    0.8047
    """
    total = counts.sum(axis=-1)
    _, variances = class_moments(counts, sums, squares)
    mean = _ratio(sums.sum(axis=-1), total)
    spread = np.maximum(_ratio(squares.sum(axis=-1), total) - mean**2, 0.0)
    known = spread > 0
    relative = _ratio(variances, spread[..., None])
    logs = np.log(np.maximum(relative, _FLOOR))
    inside = _ratio((counts * logs).sum(axis=-1), total)
    return np.where(known, np.maximum(-0.5 * inside, 0.0), 0.0)


def class_moments(counts: Floats, sums: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of each class; 0 for classes without records."""
    means = _ratio(sums, counts)
    return means, np.maximum(_ratio(squares, counts) - means**2, 0.0)


def _ratio(a: Floats, b: Floats) -> Floats:
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    return np.divide(a, b, out=np.zeros(shape), where=np.broadcast_to(b, shape) > 0)
