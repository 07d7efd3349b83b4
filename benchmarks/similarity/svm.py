"""Support vectors on near pairs, against LIBSVM on the same matrix with its zeros written out."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import SHARED, Section, milliseconds, peak_bytes, times_once
from tacit.machine import human_bytes
from tacit.similarity.graph import near_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TRAINED, RESOLUTION, DIMENSIONS = 16_000, 20, 3
SCALES = (0.05, 0.2, 0.5)
TIGHT = 1e-6  # at the usual tolerance, decisions of two solvers differ by as much as it allows
_MEMORY = """
from benchmarks.similarity import svm
def prepare():
    return svm.letters(), svm.model({scale}, "{guard}")
def work(prepared):
    (X, y), model = prepared
    n = svm.TRAINED
    {work}
    return 0
"""


def letters() -> tuple[Floats, NDArray[np.int64]]:
    """The letters, A to M against N to Z, in an order drawn at random."""
    with lzma.open(SHARED / "letter" / "letter-recognition.data.xz", "rt") as file:
        _, *rows = (line.strip().split(",") for line in file)
    y = np.array([int(row[0] > "M") for row in rows])
    X = np.array([row[1:] for row in rows], np.float64)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def model(scale: float, guard: Any, tol: float = 1e-3) -> tacit.SparseSVC:
    """What is measured."""
    return tacit.SparseSVC(
        scale, indefinite=guard, tol=tol, resolution=RESOLUTION, n_dimensions=DIMENSIONS,
        random_state=0,
    )  # fmt: skip


def densified(fitted: tacit.SparseSVC, X: Floats, others: Floats | None = None) -> Floats:
    """The matrix that scikit-learn takes: of the same near pairs, all zeros written out."""
    sc = fitted.computation_
    columns = None if others is None else (sc._project(others), others)
    graph = near_graph(
        sc.grid_, sc._project(X), X, others=columns, kind="rbf", scale=fitted.scale,
    )  # fmt: skip
    dense: Floats = graph.toarray()
    if others is None:
        np.fill_diagonal(dense, 1 + fitted.shift_)
    return dense


def peer(fitted: tacit.SparseSVC, X: Floats, y: NDArray[np.int64], tol: float) -> Floats:
    """Densify, fit and decide."""
    svc = SVC(kernel="precomputed", tol=tol, cache_size=1000)
    svc.fit(densified(fitted, X[:TRAINED]), y[:TRAINED])
    decisions: Floats = svc.decision_function(densified(fitted, X[TRAINED:], X[:TRAINED]))
    return decisions


def support_vectors(section: Section) -> None:
    """Add the section."""
    X, y = letters()
    section.part(
        f"Support vectors on near pairs: Letter, A–M against N–Z, {TRAINED:,} of {len(y):,} "
        f"objects, p = {DIMENSIONS}, k = {RESOLUTION}",
        "RBF kernel, C = 1, one thread. scikit-learn refuses sparse kernel matrices, so they are "
        "densified for it; its time includes that, and the similarities themselves for both, but "
        "not the projection. Decisions of test objects are compared at a tolerance of "
        f"{TIGHT:g} on both sides, times are of the usual 1e-3.",
    )
    with threadpool_limits(1):
        rows = [_row(X, y, scale, guard) for scale in SCALES for guard in ("shift", "ignore")]
    section.table(
        ("scale", "guard", "shift", "tacit fit + decide", "scikit-learn", "ratio",
         "largest difference", "accuracy"),
        rows,
    )  # fmt: skip
    _memory(section)


def _row(X: Floats, y: NDArray[np.int64], scale: float, guard: str) -> tuple[str, ...]:
    def ours(tol: float = 1e-3) -> Floats:
        return model(scale, guard, tol).fit(X[:TRAINED], y[:TRAINED]).decision_function(X[TRAINED:])

    fitted = model(scale, guard).fit(X[:TRAINED], y[:TRAINED])
    fitted.predict(X[TRAINED:])
    told = "not compared"
    if guard == "shift" or scale >= 0.5:  # else the problem is not convex: solutions may differ
        near = densified(fitted, X[TRAINED:], X[:TRAINED]).any(axis=1)
        gap = float(np.abs(ours(TIGHT) - peer(fitted, X, y, TIGHT))[near].max())
        assert gap < 1e-3, f"decisions differ by {gap} at scale {scale}"
        told = f"{gap:.1e}"
    mine = min(times_once(ours)[0] for _ in range(3))
    theirs = times_once(lambda: peer(fitted, X, y, 1e-3))[0]
    accuracy = float(np.mean((ours() > 0) == y[TRAINED:]))
    return (
        f"{scale:g}", guard, f"{fitted.shift_:.3g}", milliseconds(mine), milliseconds(theirs),
        f"{theirs / mine:.0f}×", told, f"{accuracy:.2%}",
    )  # fmt: skip


def _memory(section: Section) -> None:
    """Say what both take at most, each in a separate process."""
    fit = "model.fit(X[:n], y[:n]).decision_function(X[n:])"
    dense = "svm.peer(model.fit(X[:n], y[:n]), X, y, 1e-3)"
    ours, _ = peak_bytes(_MEMORY.format(scale=0.2, guard="shift", work=fit))
    theirs, _ = peak_bytes(_MEMORY.format(scale=0.2, guard="shift", work=dense))
    stored = 2 * model(0.2, "ignore").fit(*_trained()).computation_.n_pairs_
    section.say(
        f"Memory beyond the data: tacit {human_bytes(ours)} for {stored:,} stored similarities "
        f"({ours / stored:.0f} bytes each), scikit-learn {human_bytes(theirs)}.",
        "",
    )


def _trained() -> tuple[Floats, NDArray[np.int64]]:
    X, y = letters()
    return X[:TRAINED], y[:TRAINED]
