"""Clusters of near objects beside peers: the same labels, time and memory."""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import tacit
from benchmarks.report import Section, milliseconds
from benchmarks.similarity.data import covertype, letters
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LIMIT = 240  # CPU seconds that a peer is given
SIZE, SAMPLES = 20, 5  # least cluster, and which nearest object is the core distance's
SHOWN = ("tacit", "hdbscan", "fast_hdbscan", "scikit-learn")


# Data


def spread(n: int, d: int = 10) -> Floats:
    """Draw normal clusters of unequal size and spread: no distances are equal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, n)
    return (
        rng.normal(size=(40, d))[y] * 4
        + rng.normal(size=(n, d)) * rng.choice([0.4, 0.8, 1.2], 40)[y, None]
    )


def letter(n: int) -> Floats:
    return letters()[0][np.random.default_rng(0).permutation(20_000)[:n]]


def cover(n: int) -> Floats:
    X, _ = covertype()
    return X[np.random.default_rng(0).permutation(len(X))[:n]]


def baskets(n: int, exponent: float = 0.5) -> sparse.csr_array:
    """Draw baskets, an item of which counts by its logarithmic rarity."""
    table = tacit.datasets.make_baskets(n, 25_000, 10, exponent=exponent, n_patterns=5_000)
    columns = np.asarray(table.values, np.int64)
    counts = np.bincount(columns, minlength=table.n_columns)
    rarity = np.log(n / np.maximum(counts, 1))
    shape = (n, table.n_columns)
    return sparse.csr_array((rarity[columns], columns.astype(np.int32), table.indptr), shape)


DATA: dict[str, Callable[[int], Any]] = {
    "normal clusters": spread, "Letter": letter, "Covertype": cover, "baskets": baskets,
}  # fmt: skip


# What runs in a process of its own


def by_tacit(X: Any, samples: int, n_jobs: int = 1) -> Any:
    metric = "cosine" if sparse.issparse(X) else "euclidean"
    return (
        tacit.similarity.SparseHDBSCAN(SIZE, samples, metric=metric, n_jobs=n_jobs).fit(X).labels_
    )


def by_hdbscan(X: Any, samples: int) -> Any:
    import hdbscan

    # The object itself is not counted; a core distance of 0 is that of the object itself.
    return hdbscan.HDBSCAN(
        min_cluster_size=SIZE, min_samples=max(1, samples - 1), core_dist_n_jobs=1,
        approx_min_span_tree=False,
    ).fit(X).labels_  # fmt: skip


def by_fast_hdbscan(X: Any, samples: int) -> Any:
    import fast_hdbscan
    import numba

    numba.set_num_threads(1)
    return (
        fast_hdbscan.HDBSCAN(min_cluster_size=SIZE, min_samples=max(1, samples - 1)).fit(X).labels_
    )


def by_scikit_learn(X: Any, samples: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=SIZE, min_samples=samples, n_jobs=1, copy=True).fit(X).labels_


RUNS: dict[str, Callable[[Any, int], Any]] = {
    "tacit": by_tacit, "hdbscan": by_hdbscan, "fast_hdbscan": by_fast_hdbscan,
    "scikit-learn": by_scikit_learn, "tacit, 2 threads": functools.partial(by_tacit, n_jobs=2),
}  # fmt: skip


def run(peer: str, data: str, n: int, samples: int, path: str, limit: int) -> None:
    """Cluster once to compile, then on the clock; write seconds, memory and labels."""
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    X = DATA[data](n)
    RUNS[peer](X[:1_000], samples)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    start, cpu = time.perf_counter(), time.process_time()
    labels = RUNS[peer](X, samples)
    wall, seconds = time.perf_counter() - start, time.process_time() - cpu
    np.save(path, labels)
    told = {"seconds": seconds, "wall": wall, "bytes": resident("VmHWM") - before}
    print(json.dumps(told | {"in all": resident("VmHWM")}))


def resident(what: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024


def measured(peer: str, data: str, n: int, samples: int, limit: int = LIMIT) -> Any:
    """Return seconds, bytes, labels and all that is known of a run; or why there is nothing."""
    path = str(Path(tempfile.gettempdir()) / f"labels-{os.getpid()}.npy")
    call = f"run({peer!r}, {data!r}, {n}, {samples}, {path!r}, {limit})"
    code = f"from benchmarks.near.clusters import run; {call}"
    env = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False
    )
    if done.returncode < 0:
        return f"out of {limit} s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:60]
    told = json.loads(done.stdout.splitlines()[-1])
    labels = np.load(path)
    Path(path).unlink()
    print(peer, data, n, told, flush=True)
    return told["seconds"], told["bytes"], labels, told


def row(name: str, n: int, peer: str, found: Any, ours: Any) -> tuple[str, ...]:
    if isinstance(found, str):
        return name, f"{n:,}", peer, found, "", "", "", "", ""
    seconds, n_bytes, labels, _ = found
    same = adjusted_rand_score(ours[2], labels)
    return (
        name, f"{n:,}", peer, milliseconds(seconds), f"{seconds / ours[0]:.1f}×",
        human_bytes(max(n_bytes, 0)), f"{labels.max() + 1:,}", f"{(labels < 0).mean():.1%}",
        "1" if same == 1 else f"{same:.4f}",
    )  # fmt: skip


HEAD = ("data", "objects", "what", "CPU time", "beside tacit", "memory", "clusters", "noise",
        "adjusted Rand to tacit")  # fmt: skip


def same_labels() -> None:
    """Labels at 20,000 objects, without core distances and with them."""
    section = Section("near-hdbscan-labels", "HDBSCAN: the labels of exact peers")
    section.made_with("numpy", "scipy", "scikit-learn", "hdbscan", "fast-hdbscan", "pynndescent")
    section.say(
        f"20,000 objects, clusters of at least {SIZE}, one thread, in processes of their own. "
        "With min_samples=1 distances are as they are: where no two are equal, all find the same. "
        "Core distances make many distances of mutual reachability equal, and so do the whole "
        "numbers of Letter: there, peers differ from each other as they differ from this, since "
        "each takes equal edges in another order. The last column but one of the second table is "
        "how far peers are from each other.", "",
    )  # fmt: skip
    rows, among = [], []
    for name in ("normal clusters", "Letter", "Covertype"):
        for samples in (1, SAMPLES):
            found = {peer: measured(peer, name, 20_000, samples) for peer in SHOWN}
            told = f"{name}, min_samples={samples}"
            rows += [row(told, 20_000, p, found[p], found["tacit"]) for p in SHOWN]
            kept = {p: f[2] for p, f in found.items() if not isinstance(f, str)}
            peers = [p for p in kept if p != "tacit"]
            mutual = [
                adjusted_rand_score(kept[p], kept[q])
                for k, p in enumerate(peers)
                for q in peers[:k]
            ]
            ours = [adjusted_rand_score(kept["tacit"], kept[p]) for p in peers]
            among.append(
                (told, *(f"{min(x):.4f} to {max(x):.4f}" if x else "–" for x in (mutual, ours)))
            )
    section.table(HEAD, rows)
    section.table(("data", "peers among each other", "tacit to peers"), among)
    section.write()


def large() -> None:
    """Time at 100,000 objects and more."""
    section = Section("near-hdbscan", "HDBSCAN: time and memory")
    section.made_with("numpy", "scipy", "scikit-learn", "hdbscan", "fast-hdbscan", "pynndescent")
    section.say(
        f"Clusters of at least {SIZE}, min_samples={SAMPLES}, one thread, CPU time in processes of "
        f"their own that have run once on 1,000 objects; a peer is given {LIMIT} s of it. Memory "
        "is what comes on top of the data. fast_hdbscan finds neighbours of wide data "
        "approximately.", "",
    )  # fmt: skip
    rows = []
    for name, n, peers in (
        ("normal clusters", 100_000, ("tacit", "fast_hdbscan", "hdbscan")),
        ("Covertype", 100_000, ("tacit", "fast_hdbscan", "hdbscan")),
        ("Covertype", 500_000, ("tacit",)),
    ):
        ours = None
        for peer in peers:
            found = measured(peer, name, n, SAMPLES)
            ours = found if ours is None else ours
            rows.append(row(name, n, peer, found, ours))
    section.table(HEAD, rows)
    section.write()


def wide() -> None:
    """Sparse rows: a million by 25,000."""
    section = Section("near-hdbscan-sparse", "HDBSCAN of a million sparse rows")
    section.made_with("numpy", "scipy")
    section.say(
        "`make_baskets(n, 25_000, 10, exponent=0.5, n_patterns=5_000)`, an item of which counts by "
        f"the logarithm of its rarity; by cosine, clusters of at least {SIZE}, "
        f"min_samples={SAMPLES}, two threads. Time is on the clock, memory with the data. No peer "
        "has a search that is exact and faster than all pairs for such rows.", "",
    )  # fmt: skip
    rows = []
    for n in (20_000, 100_000, 1_000_000):
        found = measured("tacit, 2 threads", "baskets", n, SAMPLES, 1_200)
        if isinstance(found, str):
            rows.append((f"{n:,}", found, "", "", "", ""))
            continue
        seconds, _, labels, told = found
        rows.append(
            (f"{n:,}", milliseconds(told["wall"]), milliseconds(seconds),
             human_bytes(told["in all"]), f"{labels.max() + 1:,}", f"{(labels < 0).mean():.1%}")
        )  # fmt: skip
    section.table(("objects", "time", "CPU time", "memory", "clusters", "noise"), rows)
    section.write()


PARTS = {"labels": same_labels, "large": large, "sparse": wide}


def main() -> None:
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
