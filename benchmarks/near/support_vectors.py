"""Support vectors as shipped, beside scikit-learn's: accuracy in five folds."""

from __future__ import annotations

import bz2
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn import datasets
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import SHARED, Section
from benchmarks.similarity.data import adult, bank, letters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FOLDS = 5
LARGEST = 4_000  # records that are drawn of larger sets
PAIRS = ("IJ", "BR", "OQ", "HK")


def ilpd() -> tuple[Any, NDArray[Any]]:
    """Return the liver patients: ten numbers each, the one that is missing at times as 0."""
    file = next((SHARED / "ilpd").iterdir())
    frame = tacit.read(file).to_frame("polars")
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    X = frame[:, :-1].to_dummies(words).fill_null(0).to_numpy().astype(np.float64)
    return X, frame[:, -1].to_numpy()


def a9a() -> tuple[Any, NDArray[Any]]:
    """Return the training records of a9a, sparse."""
    packed = bz2.decompress((SHARED / "a9a_libsvm" / "adult.trn.bz2").read_bytes())
    X, y = load_svmlight_file(io.BytesIO(packed), n_features=123)
    return X, y


def drawn(X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return a sample of records, the same at every run."""
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:LARGEST])
    return X[rows], y[rows]


def sets() -> Iterator[tuple[str, Any, NDArray[Any]]]:
    yield "ILPD", *ilpd()
    X, letter = letters()
    for pair in PAIRS:
        rows = np.isin(letter, list(pair))
        yield f"Letter {pair[0]} / {pair[1]}", X[rows], letter[rows]
    for name, make in (("a9a", a9a), ("Adult", adult), ("Bank", bank)):
        yield f"{name}, a sample", *drawn(*make())
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name.replace("_", " "), X, y


def peers(X: Any) -> dict[str, Any]:
    """Return scikit-learn's machine on columns as they are, and scaled in two ways."""
    sparse = not isinstance(X, np.ndarray)
    unit = MaxAbsScaler() if sparse else MinMaxScaler()
    return {
        "as it is": SVC(),
        "scaled to [0, 1]": make_pipeline(unit, SVC()),
        "standardised": make_pipeline(StandardScaler(with_mean=not sparse), SVC()),
    }


def scores(model: Any, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return whether each object was classified rightly when its fold was left out."""
    right = np.zeros(len(y))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        right[test] = model.fit(X[train], y[train]).predict(X[test]) == y[test]
    return right


def support_vectors(section: Section) -> None:
    """Add the part."""
    section.part(
        "Support vectors as shipped",
        f"Accuracy in {FOLDS} folds, the same for all; both machines with the parameters that they "
        "come with, `tacit.SparseSVC(random_state=0)` and `sklearn.svm.SVC()`, the latter with "
        "columns as they are and scaled in two ways. The difference is to the best of these "
        "three, with the standard error of the paired difference: choosing the best of three by "
        f"the figures shown favours the peer. Of sets with more, {LARGEST:,} records are drawn.",
    )
    rows, level = [], 0
    with threadpool_limits(1):
        for name, X, y in sets():
            mine = scores(tacit.SparseSVC(random_state=0, n_jobs=1), X, y)
            theirs = {peer: scores(model, X, y) for peer, model in peers(X).items()}
            best = max(theirs.values(), key=np.mean)
            gap = mine - best
            error = float(gap.std(ddof=1) / np.sqrt(len(y)))
            level += gap.mean() >= -error * (1 + 1e-9)
            rows.append(
                (
                    name,
                    f"{X.shape[0]:,} × {X.shape[1]}",
                    f"{mine.mean():.4f}",
                    *(f"{right.mean():.4f}" for right in theirs.values()),
                    f"{gap.mean():+.4f} ± {error:.4f}",
                )
            )
            print(rows[-1], flush=True)
    heads = [f"SVC, {name}" for name in ("as it is", "scaled to [0, 1]", "standardised")]
    section.table(("data", "objects", "SparseSVC", *heads, "difference"), rows)
    section.say(
        f"Level with the best or better, within one standard error, on {level} of {len(rows)} sets."
        , ""
    )  # fmt: skip


def main() -> None:
    section = Section("near-svc", "Support vectors of near objects beside all pairs")
    section.made_with("numpy", "scikit-learn")
    support_vectors(section)
    section.write()


if __name__ == "__main__":
    main()
