"""Exact neighbours of sets by Jaccard distance, beside peers.

``python -m benchmarks.near.sparse groceries …`` writes the sections of these sets alone.
"""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import sys
from typing import Any

import numpy as np
import pynndescent
from datasketch import MinHash, MinHashLSHForest
from sklearn.neighbors import NearestNeighbors

from benchmarks.near.runs import Run, run
from benchmarks.near.sparse_data import KINDS, N_QUERIES
from benchmarks.report import Section, on_one_core
from tacit.similarity import SparseNeighbors

K = 10
FEW = 20  # queries that scikit-learn is asked; its time is scaled up
SOME = 500  # queries that are multiplied with all objects, or hashed
MOST_DENSE = 1_000_000_000  # bytes of a dense array
N_HASHES = 128


def ours(X: Any, Q: Any) -> Run:
    model = SparseNeighbors(n_neighbors=K, metric="jaccard", n_jobs=1)
    model.fit(X[:200]).kneighbors(Q[:10])  # imports
    return run(lambda: model.fit(X), lambda fitted: fitted.kneighbors(Q)[0])


def distances_to(X: Any, rows: Any) -> Any:
    """Return the Jaccard distances of some rows to all objects, by a product."""
    shared = (rows @ X.T).toarray()
    either = rows.sum(axis=1)[:, None] + X.sum(axis=1)[None, :] - shared
    return 1 - np.divide(shared, either, out=np.ones_like(shared), where=either > 0)


def by_product(X: Any, Q: Any) -> Run:
    def search(_: Any) -> Any:
        parts = []
        for first in range(0, SOME, 50):
            every = distances_to(X, Q[first : first + 50])
            parts.append(np.sort(np.partition(every, K - 1, axis=1)[:, :K], axis=1))
        return np.concatenate(parts)

    return run(lambda: None, search, Q.shape[0] / SOME)


def by_scikit_learn(X: Any, Q: Any) -> Run:
    """On dense arrays of bits: there is no other way by this distance."""
    model = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="jaccard", n_jobs=1)
    few = Q[:FEW].toarray().astype(bool)
    return run(
        lambda: model.fit(X.toarray().astype(bool)),
        lambda fitted: fitted.kneighbors(few)[0],
        Q.shape[0] / FEW,
    )


def by_datasketch(X: Any, Q: Any) -> Run:
    """The best of ten times as many candidates of a forest, by their true distances."""

    def hashed(rows: Any) -> list[Any]:
        sets = np.split(rows.indices.astype(np.uint32), rows.indptr[1:-1])
        return MinHash.bulk([[e.tobytes() for e in row] for row in sets], num_perm=N_HASHES)

    def build() -> Any:
        forest = MinHashLSHForest(num_perm=N_HASHES)
        for number, one in enumerate(hashed(X)):
            forest.add(number, one)
        forest.index()
        return forest

    def search(forest: Any) -> Any:
        few = Q[:SOME]
        found = np.ones((SOME, K))
        for q, one in enumerate(hashed(few)):
            candidates = np.array(forest.query(one, 10 * K), np.int64)
            if len(candidates):
                every = np.sort(distances_to(X[candidates], few[q : q + 1])[0])[:K]
                found[q, : len(every)] = every
        return found

    return run(build, search, Q.shape[0] / SOME)


def by_pynndescent(X: Any, Q: Any) -> Run:
    graph: Any = None

    def build() -> None:
        nonlocal graph
        graph = pynndescent.NNDescent(X, metric="jaccard", n_neighbors=30, n_jobs=1, random_state=0)
        graph.prepare()

    pynndescent.NNDescent(X[:2000], metric="jaccard", n_neighbors=30, n_jobs=1).query(Q[:10], K)
    return run(build, lambda _: graph.query(Q, K, epsilon=0.3)[1])


def neighbours(kinds: list[str]) -> None:
    """Write a section for each set."""
    for kind in kinds:
        section = Section(f"near-sparse-{kind}", f"Exact neighbours of sets: {kind}")
        section.made_with("datasketch", "pynndescent", "scikit-learn", "scipy")
        X, Q = KINDS[kind]()
        with on_one_core():
            runs = {"tacit": ours(X, Q), "SciPy, products with all": by_product(X, Q)}
            exact = runs["tacit"].distances
            np.testing.assert_allclose(
                exact[:SOME], runs["SciPy, products with all"].distances, atol=1e-6
            )
            if X.shape[0] * X.shape[1] < MOST_DENSE:
                runs["scikit-learn, brute force"] = by_scikit_learn(X, Q)
            runs["datasketch, LSH forest"] = by_datasketch(X, Q)
            runs["pynndescent"] = by_pynndescent(X, Q)
        section.say(
            f"The {K} nearest of {X.shape[0]:,} × {X.shape[1]:,} with {X.nnz:,} stored values by "
            f"Jaccard distance, {Q.shape[0]:,} queries that are none of them; CPU time on one "
            f"core. Distances were compared with those of products for {SOME:,} queries. Times "
            "with ~ are scaled up from fewer queries. scikit-learn knows this distance for dense "
            "arrays only: it is left out where one takes more than a gigabyte. datasketch looks up "
            "ten times as many candidates, whose true distances are computed.",
            "",
        )
        base = runs["SciPy, products with all"]
        section.table(
            ("what", "index", "queries", "queries a second, with index", "recall", "SciPy / this"),
            [one.row(name, exact, base, N_QUERIES) for name, one in runs.items()],
        )
        section.write()


def main() -> None:
    neighbours(list(KINDS))


if __name__ == "__main__":
    neighbours(sys.argv[1:] or list(KINDS))
