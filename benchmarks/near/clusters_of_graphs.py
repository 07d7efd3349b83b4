"""Spectral and agglomerative clusters beside those of scikit-learn: all pairs, the same graphs."""

from __future__ import annotations

import gzip
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import SHARED, Section, milliseconds
from benchmarks.similarity.data import kdd, letters
from tacit.similarity import SparseAgglomerative, SparseSpectral

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FEW = 5_000  # objects of which scikit-learn takes the eigenvectors of all pairs


@dataclass(frozen=True)
class Data:
    """Objects to be clustered, and the classes of the records that they stand for."""

    name: str
    X: NDArray[np.float64]
    classes: NDArray[Any]
    members: NDArray[Any]  # which object each record is
    n_clusters: int
    n_neighbors: int

    def index(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index to the classes."""
        return float(adjusted_rand_score(self.classes, labels[self.members]))

    def few(self) -> Data:
        """Return some of the objects, drawn at random."""
        chosen = np.sort(np.random.default_rng(0).permutation(len(self.X))[:FEW])
        rank = np.full(len(self.X), -1)
        rank[chosen] = np.arange(len(chosen))
        kept = rank[self.members] >= 0
        members = rank[self.members[kept]]
        return Data(
            self.name, self.X[chosen], self.classes[kept], members, self.n_clusters,
            self.n_neighbors,
        )  # fmt: skip


def letter() -> Data:
    X, y = letters()
    return Data("Letter", X / 15.0, y, np.arange(len(y)), 26, 30)


def kdd_groups() -> Data:
    """Return groups of the records of KDD; classes are the 23 kinds of connections."""
    X, _ = kdd()
    packed = (SHARED / "kddcup99_10pct" / "kddcup.data_10_percent.gz").read_bytes()
    frame = pl.read_csv(gzip.decompress(packed), has_header=False)
    spans = np.ptp(X, axis=0)
    X = X / np.where(spans > 0, spans, 1.0)
    sc = tacit.SparseComputation(60, 3, random_state=0).fit(X)
    groups = sc.group(group_width=0.25)
    assert groups.labels is not None
    kinds = frame[frame.columns[-1]].to_numpy()
    return Data("KDD groups", np.asarray(groups.X), kinds, groups.labels, 10, 10)


def works(data: Data) -> Iterator[tuple[str, str, Callable[[Data], Any], Data]]:
    """Yield clusters, who finds them, how, and of what."""
    k, near = data.n_clusters, data.n_neighbors
    graph = "scikit-learn, same graph"
    yield (
        "Ward",
        "tacit",
        lambda d: SparseAgglomerative(k, n_neighbors=near, n_jobs=1).fit(d.X),
        data,
    )
    yield (
        "Ward", graph,
        lambda d: AgglomerativeClustering(
            k, connectivity=kneighbors_graph(d.X, near, n_jobs=1)
        ).fit(d.X),
        data,
    )  # fmt: skip
    yield "Ward", "scikit-learn, all pairs", lambda d: AgglomerativeClustering(k).fit(d.X), data
    spectral = SparseSpectral(k, n_neighbors=near, random_state=0, n_jobs=1)
    yield "spectral", "tacit", lambda d: spectral.fit(d.X), data
    peer = SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=near + 1, random_state=0, n_jobs=1
    )
    yield "spectral", graph, lambda d: peer.fit(d.X), data
    if data.name != "Letter":
        return  # of all pairs: scikit-learn's eigenvectors were not found in minutes
    few = data.few()
    yield f"spectral, {FEW:,} objects", "tacit", lambda d: spectral.fit(d.X), few
    yield (
        f"spectral, {FEW:,} objects", "scikit-learn, all pairs",
        lambda d: SpectralClustering(k, gamma=10.0, random_state=0, n_jobs=1).fit(d.X), few,
    )  # fmt: skip


def main() -> None:
    warnings.filterwarnings("ignore")
    section = Section("near-graph-clusters", "Spectral and agglomerative clusters of near objects")
    section.made_with("numpy", "scipy", "scikit-learn")
    sets = [letter(), kdd_groups()]
    told = "; ".join(
        f"{d.name}: {d.X.shape[0]:,} × {d.X.shape[1]}, {d.n_clusters} clusters, "
        f"{d.n_neighbors} neighbours"
        for d in sets
    )
    section.say(
        f"{told}. The groups stand for {len(sets[1].members):,} records "
        "(`SparseComputation.group`). The adjusted Rand index is to the classes, which no method "
        "sees: letters, and kinds of connections, by records. CPU time of one thread; columns are "
        "scaled to [0, 1] for both sides. RBF similarities of all pairs (gamma=10) of all objects "
        f"do not fit; both sides are given {FEW:,} of them. Of {FEW:,} groups of KDD, "
        "scikit-learn had found no eigenvectors of all pairs when it was stopped after six "
        "minutes.", "",
    )  # fmt: skip
    rows, ours = [], 1.0
    with threadpool_limits(1):
        for data in sets:
            for what, who, work, objects in works(data):
                start = time.process_time()
                labels = work(objects).labels_
                seconds = time.process_time() - start
                ours = seconds if who == "tacit" else ours
                beside = "" if who == "tacit" else f"{seconds / ours:.1f}×"
                quality = f"{objects.index(labels):.3f}"
                rows.append((data.name, what, who, milliseconds(seconds), beside, quality))
                print(rows[-1], flush=True)
    section.table(("data", "clusters", "what", "CPU time", "beside tacit", "adjusted Rand"), rows)
    section.write()


if __name__ == "__main__":
    main()
