"""Exact neighbours of dense objects, ten kinds of data and one more, beside peers.

``python -m benchmarks.near.dense Letter …`` writes the sections of these kinds alone.
"""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import sys
from typing import TYPE_CHECKING, Any

import faiss
import hnswlib
import numpy as np
import pynndescent
from sklearn.neighbors import NearestNeighbors

from benchmarks.near.dense_data import KINDS, N_QUERIES
from benchmarks.near.runs import Run, run
from benchmarks.report import Section, on_one_core
from tacit.similarity import SparseNeighbors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

K = 10
FEW = 250  # queries that slow peers are asked; their time is scaled up
ENOUGH = 0.99  # recall that peers are set up for, as far as that goes
GRAPHS = ("Adult", "Letter", "200 clusters well apart", "embedding, intrinsic dimension 30")


def ours(X: NDArray[Any], Q: NDArray[Any], k: int = K) -> Run:
    model = SparseNeighbors(n_neighbors=k, metric="euclidean", n_jobs=1)
    model.fit(X[:200]).kneighbors(Q[:10], 10)  # imports
    return run(lambda: model.fit(X), lambda fitted: fitted.kneighbors(Q)[0])


def flat(X: NDArray[Any], Q: NDArray[Any], k: int = K) -> Run:
    return run(lambda: filled(faiss.IndexFlatL2(X.shape[1]), X), lambda index: roots(index, Q, k))


def filled(index: Any, X: NDArray[Any]) -> Any:
    if not index.is_trained:
        index.train(X)
    index.add(X)
    return index


def roots(index: Any, Q: NDArray[Any], k: int = K) -> NDArray[Any]:
    return np.sqrt(np.maximum(index.search(Q, k)[0], 0))


def set_up(built: Run, exact: NDArray[Any], tried: Iterator[Run]) -> Run:
    """Return the first of several searches of an index that finds enough, or the last."""
    for queries in tried:
        found = Run(built.index, queries.queries, queries.distances)
        if found.recall(exact) >= ENOUGH:
            break
    return found


def inverted(X: NDArray[Any], Q: NDArray[Any], exact: NDArray[Any]) -> Run:
    """Lists of about √n objects, as many of them as it takes."""
    n_lists = int(np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_lists)
    built = run(lambda: filled(index, X), lambda _: np.zeros((0, K)))

    def tried() -> Iterator[Run]:
        for n_probed in (1, 2, 4, 8, 16, 32, 64, 128, 256):
            index.nprobe = n_probed
            yield run(lambda: index, lambda built: roots(built, Q))

    return set_up(built, exact, tried())


def by_faiss_graph(X: NDArray[Any], Q: NDArray[Any], exact: NDArray[Any]) -> Run:
    index = faiss.IndexHNSWFlat(X.shape[1], 32)
    index.hnsw.efConstruction = 100
    built = run(lambda: filled(index, X), lambda _: np.zeros((0, K)))

    def tried() -> Iterator[Run]:
        for breadth in (16, 32, 64, 128, 256, 512):
            index.hnsw.efSearch = breadth
            yield run(lambda: index, lambda built: roots(built, Q))

    return set_up(built, exact, tried())


def by_hnswlib(X: NDArray[Any], Q: NDArray[Any], exact: NDArray[Any]) -> Run:
    graph = hnswlib.Index("l2", X.shape[1])
    graph.init_index(len(X), M=32, ef_construction=100, random_seed=0)
    graph.set_num_threads(1)
    built = run(lambda: graph.add_items(X, num_threads=1), lambda _: np.zeros((0, K)))

    def tried() -> Iterator[Run]:
        for breadth in (16, 32, 64, 128, 256, 512):
            graph.set_ef(breadth)
            yield run(lambda: graph, lambda built: np.sqrt(built.knn_query(Q, K, 1)[1]))

    return set_up(built, exact, tried())


def by_pynndescent(X: NDArray[Any], Q: NDArray[Any], exact: NDArray[Any]) -> Run:
    pynndescent.NNDescent(X[:2000], n_neighbors=30, n_jobs=1).query(Q[:10], K)  # compiles
    graph: Any = None

    def build() -> None:
        nonlocal graph
        graph = pynndescent.NNDescent(X, n_neighbors=30, n_jobs=1, random_state=0)
        graph.prepare()

    built = run(build, lambda _: np.zeros((0, K)))

    def tried() -> Iterator[Run]:
        for epsilon in (0.1, 0.2, 0.3, 0.5):
            yield run(lambda: None, lambda _, e=epsilon: graph.query(Q, K, epsilon=e)[1])

    return set_up(built, exact, tried())


def by_scikit_learn(X: NDArray[Any], Q: NDArray[Any]) -> Run:
    model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=1)
    few = Q[:FEW]
    return run(lambda: model.fit(X), lambda fitted: fitted.kneighbors(few)[0], len(Q) / len(few))


def neighbours(kinds: list[str]) -> None:
    """Write a section for each kind of data."""
    for kind in kinds:
        section = Section(
            f"near-dense-{list(KINDS).index(kind)}", f"Exact neighbours of dense objects: {kind}"
        )
        section.made_with("faiss-cpu", "hnswlib", "pynndescent", "scikit-learn", "numpy")
        with on_one_core():
            faiss.omp_set_num_threads(1)
            X, Q = KINDS[kind]()
            runs = {"tacit": ours(X, Q), "faiss, flat": flat(X, Q)}
            exact = runs["tacit"].distances
            brute = by_scikit_learn(np.asarray(X, np.float64), np.asarray(Q, np.float64))
            np.testing.assert_allclose(exact[:FEW], brute.distances, rtol=1e-5, atol=1e-5)
            runs["scikit-learn, brute force"] = by_scikit_learn(X, Q)
            runs["faiss, IVF"] = inverted(X, Q, exact)
            if kind in GRAPHS:
                runs["faiss, HNSW"] = by_faiss_graph(X, Q, exact)
                runs["hnswlib"] = by_hnswlib(X, Q, exact)
                runs["pynndescent"] = by_pynndescent(X, Q, exact)
            many = ours(X, Q, 100), flat(X, Q, 100)
        base = runs["faiss, flat"]
        section.say(
            f"The {K} nearest of {len(X):,} × {X.shape[1]} in single precision, {len(Q):,} queries "
            "that are none of them; CPU time on one core. Distances equal those of brute force in "
            f"double precision (checked for {FEW:,} queries). Peers that are not exact search as "
            f"far as it takes to find {ENOUGH:.0%}, as far as they can; times with ~ are scaled up "
            f"from {FEW:,} queries. The 100 nearest: {many[1].total / many[0].total:.2f}× of "
            "faiss, flat.",
            "",
        )
        section.table(
            (
                "what",
                "index",
                "queries",
                "queries a second, with index",
                "recall",
                "faiss, flat / this",
            ),
            [one.row(name, exact, base, N_QUERIES) for name, one in runs.items()],
        )
        section.write()


def main() -> None:
    neighbours(list(KINDS))


if __name__ == "__main__":
    neighbours(sys.argv[1:] or list(KINDS))
