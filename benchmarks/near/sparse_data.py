"""Sets for benchmarks of sparse neighbours, as CSR arrays of ones: objects, and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import tacit
from benchmarks.baskets.itemset_data import load
from benchmarks.baskets.recommend import as_csr
from benchmarks.report import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Data: TypeAlias = tuple[Any, Any]

N_QUERIES = 2_000


def divided(X: Any) -> Data:
    """Return all rows but some, drawn without replacement, and these."""
    rows = np.random.default_rng(0).permutation(X.shape[0])
    X = sparse.csr_array(X, dtype=np.float32)
    # pynndescent takes nothing wider.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X[np.sort(rows[N_QUERIES:])], X[rows[:N_QUERIES]]


def drawn(n: int, width: int, mean_length: float) -> Data:
    return divided(as_csr(tacit.datasets.make_baskets(n + N_QUERIES, width, mean_length)))


def msweb() -> Data:
    return divided(as_csr(tacit.read_msweb(SHARED / "msweb" / "anonymous-msweb.data.gz")))


KINDS: dict[str, Callable[[], Data]] = {
    "kosarak-like": lambda: drawn(75_000, 28_000, 40),
    "movielens-like": lambda: drawn(69_000, 65_000, 90),
    "wide": lambda: drawn(175_000, 25_000, 6),
    "groceries": lambda: divided(load("groceries")),
    "msweb": msweb,
}
