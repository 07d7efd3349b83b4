"""Other ways to a sparse similarity matrix, after the paper's Table 12: all of them need it whole.

SRT keeps the greatest similarities, URS draws entries uniformly, PRS in proportion to similarity,
AHK (Arora, Hazan and Kale 2006) rounds small ones at random to zero or to a constant.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import f1_score

import tacit
from benchmarks.report import milliseconds
from benchmarks.similarity.data import le1
from tacit.similarity.graph import near_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.report import Section

RESOLUTIONS = (4, 8, 12, 16, 20)
MOST_NEIGHBOURS = 25
SEED = 0


def srt(whole: NDArray[np.float32], share: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Keep the greatest."""
    del rng
    n_kept = max(1, round(share * whole.size))
    least = np.partition(whole.ravel(), whole.size - n_kept)[whole.size - n_kept]
    return np.where(whole >= least, whole, 0)


def urs(whole: NDArray[np.float32], share: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Keep some, each as likely as any other."""
    return np.where(rng.random(whole.shape, np.float32) < share, whole, 0)


def prs(whole: NDArray[np.float32], share: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Keep some, drawn in proportion without replacement: those whose clocks ring first."""
    clocks = rng.standard_exponential(whole.shape, np.float32) / whole
    n_kept = max(1, round(share * whole.size))
    last = np.partition(clocks.ravel(), n_kept - 1)[n_kept - 1]
    return np.where(clocks <= last, whole, 0)


def ahk(whole: NDArray[np.float32], share: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Keep the great ones; small ones become a constant, with a chance in proportion, or zero."""
    low, high = 0.0, float(whole.max()) / max(share, 1e-6)
    for _ in range(30):  # of the constant, until the density is that asked for
        constant = (low + high) / 2
        if np.minimum(whole / constant, 1).mean(dtype=np.float64) > share:
            low = constant
        else:
            high = constant
    stays = rng.random(whole.shape, np.float32) * constant < whole
    return np.where(stays, np.maximum(whole, np.float32(constant)), 0)


WAYS = {"SRT": srt, "URS": urs, "PRS": prs, "AHK": ahk}


def votes(similar: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each number of neighbours predicts, of shape (objects, numbers).

    Ties go to the nearest neighbour; objects without any are negative.
    """
    some = np.argpartition(-similar, MOST_NEIGHBOURS, axis=1)[:, :MOST_NEIGHBOURS]
    near = np.take_along_axis(similar, some, axis=1)
    order = np.argsort(-near, axis=1, kind="stable")
    some, near = np.take_along_axis(some, order, axis=1), np.take_along_axis(near, order, axis=1)
    lead = np.cumsum(np.where(near > 0, 2 * y[some] - 1, 0), axis=1)
    nearest = ((y[some[:, :1]] == 1) & (near[:, :1] > 0)).astype(np.int64)
    return np.where(lead == 0, nearest, (lead > 0).astype(np.int64))


def judge(similar: Any, truth: Any, y: NDArray[np.int64]) -> tuple[float, float]:
    """Return accuracy and F1 on test objects, by the number of neighbours best in validation."""
    valid, tested = (votes(part, y) for part in similar)
    scores = {
        "accuracy": lambda t, g: float((t == g).mean()),
        "f1": lambda t, g: float(f1_score(t, g)),
    }
    results = []
    for score in scores.values():
        best = int(np.argmax([score(truth[0], guess) for guess in valid.T]))
        results.append(score(truth[1], tested[:, best]))
    return results[0], results[1]


def near(
    sc: Any, training: Any, others: Any, shape: tuple[int, int]
) -> tuple[NDArray[np.float32], int]:
    """Return the similarities that the grid keeps, written out, and how many they are."""
    graph = near_graph(
        sc.grid_, sc.transform(others), others, others=(sc.coords_, training), dtype=np.float32
    )
    assert graph.shape == shape
    return graph.toarray(), graph.nnz


def sparsifiers(section: Section) -> None:
    """Add the section on sparsifiers."""
    X, y = le1()
    X = X / np.ptp(X, axis=0)
    order = np.random.default_rng(SEED).permutation(len(X))
    train, valid, test = np.split(order, [int(0.6 * len(X)), int(0.8 * len(X))])
    truth = (y[valid], y[test])
    begun = time.perf_counter()
    whole = [np.exp(-cdist(X[part], X[train])).astype(np.float32) for part in (valid, test)]
    complete = time.perf_counter() - begun
    rows = [table_row("complete", 1.0, complete, judge(whole, truth, y[train]))]
    for k in RESOLUTIONS:
        begun = time.perf_counter()
        sc = tacit.SparseComputation(resolution=k, n_dimensions=3, random_state=SEED).fit(X[train])
        kept = [near(sc, X[train], X[part], (len(part), len(train))) for part in (valid, test)]
        took = time.perf_counter() - begun
        share = sum(held for _, held in kept) / sum(part.size for part in whole)
        similar = [part for part, _ in kept]
        rows.append(table_row(f"{k}: grid", share, took, judge(similar, truth, y[train])))
        for name, way in WAYS.items():
            rng = np.random.default_rng(SEED)
            begun = time.perf_counter()
            similar = [way(part, share, rng) for part in whole]
            took = complete + time.perf_counter() - begun
            share_now = sum(np.count_nonzero(part) for part in similar) / sum(
                part.size for part in whole
            )
            results = judge(similar, truth, y[train])
            rows.append(table_row(f"{k}: {name}", share_now, took, results))
    section.part(
        "Other sparsifiers: neighbours on LE1",
        "Similarities of validation and test objects to training objects, at the density that the "
        "grid has with so many intervals: the greatest ones (SRT), drawn uniformly (URS), drawn in "
        "proportion (PRS), rounded at random (AHK). The time is that to a sparse matrix; all but "
        "the grid need the complete one first. The number of neighbours is the best in validation.",
    )
    section.table(("k", "density", "time", "accuracy", "F1"), rows)


def table_row(
    name: str, share: float, took: float, results: tuple[float, float]
) -> tuple[str, ...]:
    return name, f"{share:.2%}", milliseconds(took), f"{results[0]:.2%}", f"{results[1]:.2%}"
