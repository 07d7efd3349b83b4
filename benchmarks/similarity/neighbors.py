"""Nearest neighbours: index and queries against approximate and exact peers."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import Section, milliseconds
from benchmarks.similarity.data import covertype

try:
    import hnswlib
except ImportError:
    hnswlib = None
try:
    import pynndescent
except ImportError:
    pynndescent = None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

QUERIES = 20_000
OBJECTS = 480_000
K = 10
SPREADS = {"60 clusters well apart": 0.1, "60 clusters that overlap in the projection": 0.5}
FEW = 1_000  # queries that slow peers are asked; their time is scaled up
HNSW = "hnswlib, M=16, ef_construction=200, ef=200"
BRUTE = "scikit-learn, brute force"


@dataclass
class Run:
    """Seconds of index and queries, and the distances found."""

    index: float
    queries: float
    distances: NDArray[np.float64]
    scaled: bool = False

    @property
    def total(self) -> float:
        return self.index + self.queries


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def ours(X: NDArray[Any], Q: NDArray[Any], **parameters: Any) -> Run:
    model = tacit.SparseKNeighborsClassifier(K, random_state=0, **parameters)
    y = np.arange(len(X)) % 2
    index, model = timed(lambda: model.fit(X, y))
    queries, (distances, _) = timed(lambda: model.kneighbors(Q))
    return Run(index, queries, distances)


def by_hnswlib(X: NDArray[Any], Q: NDArray[Any]) -> Run:
    def build() -> Any:
        graph = hnswlib.Index("l2", X.shape[1])
        graph.init_index(len(X), M=16, ef_construction=200, random_seed=0)
        graph.set_num_threads(1)
        graph.add_items(X, num_threads=1)
        graph.set_ef(200)
        return graph

    index, graph = timed(build)
    queries, (_, squares) = timed(lambda: graph.knn_query(Q, K, num_threads=1))
    return Run(index, queries, np.sqrt(squares))


def by_pynndescent(X: NDArray[Any], Q: NDArray[Any]) -> Run:
    def build() -> Any:
        graph = pynndescent.NNDescent(X, n_neighbors=30, n_jobs=1, random_state=0)
        graph.prepare()
        return graph

    pynndescent.NNDescent(X[:2000], n_neighbors=30, n_jobs=1).query(Q[:10], K)  # compiles
    index, graph = timed(build)
    queries, (_, distances) = timed(lambda: graph.query(Q, K))
    return Run(index, queries, distances)


def by_scikit_learn(X: NDArray[Any], Q: NDArray[Any], algorithm: str) -> Run:
    few = Q[:FEW]
    index, model = timed(lambda: NearestNeighbors(n_neighbors=K, algorithm=algorithm).fit(X))
    queries, (distances, _) = timed(lambda: model.kneighbors(few))
    return Run(index, queries * len(Q) / len(few), distances, scaled=True)


def recall(answer: NDArray[Any], exact: NDArray[Any]) -> float:
    """Return the fraction of neighbours that are as near as the k-th nearest object."""
    return float((answer <= exact[: len(answer), -1:] * (1 + 1e-5)).mean())


def works(
    X: NDArray[Any], Q: NDArray[Any], *, all_peers: bool
) -> Iterator[tuple[str, Callable[[], Run]]]:
    yield "tacit, exact", lambda: ours(X, Q, algorithm="exact")
    yield "tacit, near", lambda: ours(X, Q)
    yield "tacit, near, resolution 20", lambda: ours(X, Q, resolution=20)
    yield "tacit, near, resolution 10,000", lambda: ours(X, Q, resolution=10_000)
    if hnswlib is not None and all_peers:
        yield HNSW, lambda: by_hnswlib(X, Q)
    if pynndescent is not None and all_peers:
        yield "pynndescent", lambda: by_pynndescent(X, Q)
    yield BRUTE, lambda: by_scikit_learn(X, Q, "brute")
    if all_peers:
        yield "scikit-learn, kd-tree", lambda: by_scikit_learn(X, Q, "kd_tree")


def synthetic(spread: float) -> tuple[NDArray[Any], NDArray[Any]]:
    X, _ = tacit.datasets.make_objects(OBJECTS + QUERIES, 54, spread=spread, random_state=0)
    return X[:OBJECTS], X[OBJECTS:]


def real() -> tuple[NDArray[Any], NDArray[Any]]:
    X, _ = covertype()
    X = X[np.random.default_rng(0).permutation(len(X))[: OBJECTS + QUERIES]]
    return X[:OBJECTS], X[OBJECTS:]


def neighbours(section: Section) -> None:
    """Add the sections of all data sets; where clusters overlap, without the slowest peers."""
    sets: dict[str, Callable[[], Any]] = {
        name: functools.partial(synthetic, spread) for name, spread in SPREADS.items()
    }
    for name, make in {**sets, "Covertype": real}.items():
        X, Q = make()
        section.part(
            f"The {K} nearest of {OBJECTS:,} × {X.shape[1]}, {name}",
            f"{QUERIES:,} queries, one thread. Recall: the fraction of neighbours that are as near "
            f"as the {K}th nearest object. Times with ~ are scaled up from {FEW:,} queries.",
        )
        runs = {}
        with threadpool_limits(1):
            for peer, work in works(X, Q, all_peers="overlap" not in name):
                runs[peer] = work()
        exact = runs["tacit, exact"].distances
        brute = runs[BRUTE].distances
        np.testing.assert_allclose(exact[: len(brute)], brute, rtol=1e-6, atol=1e-3)
        base = runs.get(HNSW, runs[BRUTE]).total
        section.table(
            ("what", "index", "queries", "total", "recall", "hnswlib / this", "brute force / this"),
            [
                (
                    peer,
                    milliseconds(run.index),
                    ("~" if run.scaled else "") + milliseconds(run.queries),
                    milliseconds(run.total),
                    f"{recall(run.distances, exact):.4f}",
                    f"{base / run.total:.2f}×" if HNSW in runs else "–",
                    f"{runs[BRUTE].total / run.total:.2f}×",
                )
                for peer, run in runs.items()
            ],
        )
