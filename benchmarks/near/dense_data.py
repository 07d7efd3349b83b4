"""Ten kinds of dense data, in single precision: objects and queries that are none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.similarity import data

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Data: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]

N_QUERIES = 5_000


def divided(X: NDArray[Any], n_objects: int, n_queries: int = N_QUERIES) -> Data:
    """Return some rows as objects and others as queries, drawn without replacement."""
    rows = np.random.default_rng(0).permutation(len(X))
    X = np.ascontiguousarray(X, np.float32)
    return X[rows[:n_objects]], X[rows[n_objects : n_objects + n_queries]]


def scaled(X: NDArray[Any]) -> NDArray[np.float32]:
    """Return columns from 0 to 1."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray((X - low) / np.where(high > low, high - low, 1.0), np.float32)


def embedded(width: int, intrinsic: int, noise: float = 0.05, n: int = 100_000) -> Data:
    """Return nonlinear images of few hidden numbers, with some noise in every column."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n + N_QUERIES, intrinsic)).astype(np.float32)
    first = rng.normal(size=(intrinsic, width)).astype(np.float32) / np.float32(np.sqrt(intrinsic))
    X = hidden @ first
    X += noise * rng.normal(size=X.shape).astype(np.float32)
    return X[:n], X[n:]


def isotropic(width: int, n: int = 100_000) -> Data:
    X = np.random.default_rng(0).normal(size=(n + N_QUERIES, width)).astype(np.float32)
    return X[:n], X[n:]


def apart(width: int = 64, n_clusters: int = 200, n: int = 200_000) -> Data:
    """Return clusters that are well apart."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_clusters, width))
    X = centres[rng.integers(0, n_clusters, n + N_QUERIES)]
    X = (X + 0.1 * rng.normal(size=X.shape)).astype(np.float32)
    return X[:n], X[n:]


def mixture() -> Data:
    X, _ = tacit.datasets.make_objects(205_000, 54, spread=0.5, random_state=0)
    return divided(X, 200_000)


KINDS: dict[str, Callable[[], Data]] = {
    "Covertype": lambda: divided(data.covertype()[0], 500_000),
    "Adult": lambda: divided(data.adult()[0], 40_000),
    "Letter": lambda: divided(data.letters()[0], 15_000),
    "KDD, scaled": lambda: divided(scaled(data.kdd()[0]), 200_000),
    "60 clusters that overlap": mixture,
    "200 clusters well apart": apart,
    "embedding, intrinsic dimension 10": lambda: embedded(256, 10),
    "embedding, intrinsic dimension 30": lambda: embedded(256, 30),
    "wide embedding, intrinsic dimension 30": lambda: embedded(768, 30, n=50_000),
    "isotropic": lambda: isotropic(256),
    "isotropic, 16 columns": lambda: isotropic(16),
}
