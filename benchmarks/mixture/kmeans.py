"""k-means: an iteration on a large sparse table, and bounds where clusters are well apart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn import cluster
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import Section, milliseconds, race
from tacit import datasets

try:
    from sklearnex.cluster import KMeans as IntelKMeans
except ImportError:
    IntelKMeans = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

CLUSTERS = 20
ITERATIONS = 20
REPEATS = 3


def as_numbers(table: tacit.Table) -> sparse.csr_array:
    """The same table as scikit-learn's users hold it."""
    ones = np.ones(table.n_stored, np.float32)
    indices, indptr = table.values.astype(np.int32), table.indptr.astype(np.int32)
    return sparse.csr_array((ones, indices, indptr), shape=table.shape)


def start(X: sparse.csr_array) -> NDArray[np.float64]:
    """Means of a few records each: of single records many are equally far, and all break ties."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(X.shape[0], (CLUSTERS, 50), replace=False)
    return np.array([X[rows].mean(axis=0, dtype=np.float64) for rows in drawn])


def as_fractions(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centres of a Table of two labels a column: the fractions of both."""
    return np.stack((1 - centres, centres), axis=2).reshape(len(centres), -1)


def inertia(X: sparse.csr_array, model: Any) -> float:
    """What the labels amount to in double precision, whoever found them."""
    members = sparse.csr_array(
        (np.ones(X.shape[0]), (model.labels_, np.arange(X.shape[0]))),
        shape=(CLUSTERS, X.shape[0]),
    )
    sums, sizes = (members @ X.astype(np.float64)).toarray(), members.sum(axis=1)
    return float(X.sum(dtype=np.float64) - (np.square(sums).sum(axis=1) / sizes).sum())


def an_iteration(section: Section) -> None:
    """Add the section of one iteration on the large table."""
    table = datasets.make_msnbc()
    X = as_numbers(table)
    centres = start(X)
    same = {"max_iter": ITERATIONS, "tol": 0.0, "n_init": 1}
    fractions, single = as_fractions(centres), centres.astype(np.float32)

    def ours(algorithm: str, jobs: int, data: Any = table) -> Callable[[], Any]:
        init = fractions if data is table else centres
        model = tacit.KMeans(CLUSTERS, init=init, algorithm=algorithm, n_jobs=jobs, **same)
        return lambda: model.fit(data)

    def peer(algorithm: str, jobs: int, kind: Any = cluster.KMeans) -> Callable[[], Any]:
        model = kind(CLUSTERS, init=single, algorithm=algorithm, **same)

        def fit() -> Any:
            with threadpool_limits(jobs):
                return model.fit(X)

        return fit

    works = {
        "scikit-learn, Lloyd, float32": peer("lloyd", 1),
        "scikit-learn, Lloyd, float32, two threads": peer("lloyd", 2),
        "scikit-learn, Elkan, float32": peer("elkan", 1),
        "tacit, Lloyd": ours("lloyd", 1),
        "tacit, Lloyd, CSR of float32": ours("lloyd", 1, X),
        "tacit, bounds": ours("bounds", 1),
        "tacit, auto": ours("auto", 1),
        "tacit, Lloyd, two threads": ours("lloyd", 2),
        "tacit, auto, two threads": ours("auto", 2),
    }
    if IntelKMeans is None:
        section.say("(scikit-learn-intelex is not at hand and was left out.)", "")
    else:
        works["scikit-learn-intelex, Lloyd, float32"] = peer("lloyd", 1, IntelKMeans)
    reached = {name: inertia(X, work()) for name, work in works.items()}
    first = reached["tacit, Lloyd"]
    for name, own in reached.items():
        most = 1e-12 if name.startswith("tacit") else 1e-5  # single precision leaves its mark
        assert abs(own / first - 1) < most, f"{name}: inertia {own}, not {first}"
    took = race(works, REPEATS, warm_up=False)
    section.part(
        f"k-means: an iteration, {table.n_records:,} × {table.n_columns:,}, "
        f"l = {table.n_stored:,}, {CLUSTERS} clusters",
        f"{ITERATIONS} iterations from the same centres, checks and copies of the data included; "
        f"one thread unless said otherwise. The inertia is {first:,.0f} for all, to five digits; "
        "to twelve for tacit's ways.",
    )
    lloyd = "scikit-learn, Lloyd, float32"
    base = {1: took[lloyd], 2: took[f"{lloyd}, two threads"]}
    section.table(
        ("what", "an iteration", "scikit-learn's Lloyd / this"),
        [
            (
                name,
                milliseconds(seconds / ITERATIONS),
                f"{base[2 if 'two' in name else 1] / seconds:.1f}×",
            )
            for name, seconds in took.items()
        ],
    )
    threads = took["tacit, Lloyd"] / took["tacit, Lloyd, two threads"]
    section.say(f"Two threads are {threads:.2f} times as fast as one.", "")


def whole_fits(section: Section) -> None:
    """Add the section of fits until nothing changes, where bounds pay."""
    section.part("Until no label changes")
    rows = []
    rng = np.random.default_rng(0)
    middles = rng.normal(size=(50, 12)) * 2
    apart = (middles[rng.integers(0, 50, 300_000)] + rng.normal(size=(300_000, 12))).astype("f4")
    for name, X, k in (("normal clusters, 300,000 × 12, dense", apart, 50),):
        init = X[rng.choice(len(X), k, replace=False)]
        same = {"init": init, "n_init": 1, "tol": 0.0, "max_iter": 1000}
        models = {
            "scikit-learn, Lloyd": cluster.KMeans(k, **same),
            "scikit-learn, Elkan": cluster.KMeans(k, algorithm="elkan", **same),
            "tacit, Lloyd": tacit.KMeans(k, algorithm="lloyd", **same),
            "tacit, bounds": tacit.KMeans(k, algorithm="bounds", **same),
            "tacit, auto": tacit.KMeans(k, algorithm="auto", **same),
        }
        with threadpool_limits(1):
            first = None
            for method, model in models.items():
                begun = time.perf_counter()
                model.fit(X)
                seconds = time.perf_counter() - begun
                first = first or model.inertia_
                assert abs(model.inertia_ / first - 1) < 1e-4, f"{method}: {model.inertia_}"
                rows.append(
                    (f"{name}, {k} clusters: {method}", milliseconds(seconds), str(model.n_iter_),
                     milliseconds(seconds / model.n_iter_))
                )  # fmt: skip
    section.table(("what", "fit", "iterations", "an iteration"), rows)


def seeding(section: Section) -> None:
    """Add the section of k-means++."""
    section.part("k-means: seeding by k-means++")
    table = datasets.make_msnbc()
    X = as_numbers(table)
    works = {
        "tacit": lambda: tacit.KMeans(CLUSTERS, random_state=0, max_iter=1).fit(table),
        "scikit-learn, float32": lambda: cluster.KMeans(
            CLUSTERS, random_state=0, max_iter=1, n_init=1
        ).fit(X),
    }
    with threadpool_limits(1):
        took = race(works, 1, warm_up=False)
    section.say("Seeding and one iteration, the large table, one thread:", "")
    section.table(
        ("what", "time", "scikit-learn / this"),
        [
            (name, milliseconds(seconds), f"{took['scikit-learn, float32'] / seconds:.1f}×")
            for name, seconds in took.items()
        ],
    )


def kmeans(section: Section) -> None:
    """Add all sections."""
    for part in (an_iteration, whole_fits, seeding):
        part(section)
