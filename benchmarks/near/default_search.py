"""Whether neighbours that are near on the grid are worth less than those of all: held-out parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import tacit
from benchmarks.near.dense_data import apart, embedded, scaled
from benchmarks.report import Section, cpu_seconds, milliseconds, on_one_core
from benchmarks.similarity import data

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST = 20_000  # objects of a set, drawn at random
FOLDS = 5


def drawn(X: Any, y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rows = np.random.default_rng(0).permutation(len(X))[:MOST]
    return np.ascontiguousarray(scaled(np.asarray(X)[rows]), np.float64), np.asarray(y)[rows]


def halves(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return classes that a random direction, bent, divides objects into."""
    direction = np.random.default_rng(1).normal(size=X.shape[1])
    along = (X - X.mean(axis=0)) @ direction
    return X, (np.sin(2 * along / along.std()) > 0).astype(np.int64)


def made(n_clusters: int, spread: float) -> tuple[NDArray[Any], NDArray[Any]]:
    return tacit.datasets.make_objects(
        MOST, 12, n_clusters=n_clusters, n_classes=3, spread=spread, random_state=0
    )


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "Letter, 26 classes": data.letters,
    "Letter, O": data.le1,
    "Letter, A to M": data.le2,
    "bank": data.bank,
    "Adult": data.adult,
    "Covertype": data.covertype,
    "KDD": data.kdd,
    "12 clusters": lambda: made(12, 0.2),
    "60 clusters": lambda: made(60, 0.5),
    "200 clusters": lambda: halves(apart(n=MOST)[0]),
    "embedding of 10": lambda: halves(embedded(256, 10, n=MOST)[0]),
    "embedding of 30": lambda: halves(embedded(256, 30, n=MOST)[0]),
}


def judged(X: Any, y: Any, algorithm: str) -> tuple[list[float], float]:
    """Return accuracies of held-out parts, and CPU seconds of all fits and predictions."""
    accuracies, seconds = [], 0.0
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        model = tacit.SparseKNeighborsClassifier(algorithm=algorithm, random_state=0, n_jobs=1)
        taken, predicted = cpu_seconds(
            lambda m=model, a=train, b=test: m.fit(X[a], y[a]).predict(X[b])
        )
        seconds += taken
        accuracies.append(float((predicted == y[test]).mean()))
    return accuracies, seconds


def main() -> None:
    """Write the section."""
    section = Section("near-default", "Neighbours near on the grid, or of all: held out")
    section.made_with("scikit-learn", "numpy")
    section.say(
        "`SparseKNeighborsClassifier` as shipped with either `algorithm`: accuracy in "
        f"{FOLDS}-fold cross-validation of at most {MOST:,} objects, columns scaled to [0, 1], and "
        "CPU time of all fits and predictions. Differences are between the same parts, with their "
        "standard error.",
        "",
    )
    rows = []
    with on_one_core():
        for name, load in SETS.items():
            X, y = drawn(*load())
            judged(X[:500], y[:500] if len(set(y[:500])) > 1 else np.arange(500) % 2, "exact")
            near, near_time = judged(X, y, "near")
            exact, exact_time = judged(X, y, "exact")
            off = np.array(exact) - np.array(near)
            rows.append(
                (
                    name,
                    f"{np.mean(near):.4f}",
                    f"{np.mean(exact):.4f}",
                    f"{off.mean():+.4f} ± {off.std(ddof=1) / np.sqrt(FOLDS):.4f}",
                    milliseconds(near_time),
                    milliseconds(exact_time),
                    f"{near_time / exact_time:.2f}×",
                )
            )
    section.table(
        ("data", "near", "exact", "exact - near", "time, near", "time, exact", "near / exact"), rows
    )
    section.write()


if __name__ == "__main__":
    main()
