"""Clusters around objects that are denser than all that is near: density peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import store_parameters
from tacit.similarity import state as files
from tacit.similarity.clusters.near_clusters import NearClusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit import store
    from tacit.similarity.near_graph.near_graph import NearGraph

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["SparseDensityPeaks"]

_WIDER = 4  # how much farther a search goes that found nothing denser
_MOST_CELLS = 2**24  # distances that are held at once


class SparseDensityPeaks(NearClusters):
    """Clusters around peaks of density, far from anything denser.

    An object is the denser the nearer its `n_neighbors`-th nearest one is; of equally dense ones,
    the first counts as denser. From each, a step leads to the nearest object that is denser, found
    exactly: among the nearest neighbours, for most. The objects with the largest product of density
    and length of that step are the centres; all others are in the cluster where their steps lead.

    After Rodriguez and Laio (2014).

    Parameters
    ----------
    n_clusters : int, default 8
    n_neighbors : int, default 10
        Which nearest object says how dense it is around one.
    metric : {"euclidean", "cosine", "jaccard", "overlap", "hamming"}
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of each object, numbered as their centres are.
    probabilities_ : ndarray of shape (n_objects,)
        The density of each object, as a fraction of that of its cluster's centre.
    centers_ : ndarray of int64, shape (n_clusters,)
        The objects at the peaks, the clearest one first.
    radii_ : ndarray of shape (n_objects,)
        The distance to the `n_neighbors`-th nearest: density is its inverse.
    separations_ : ndarray of shape (n_objects,)
        The distance to the nearest denser object; of the densest, the largest of all others.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> from tacit.similarity import SparseDensityPeaks
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 9.0]], 100, axis=0) + rng.normal(size=(300, 2))
    >>> model = SparseDensityPeaks(3).fit(X)
    >>> sorted(model.to_frame()["size"].to_list())
    [100, 100, 100]
    """

    _kind: ClassVar[str] = "sparse_density_peaks"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        metric: Literal["euclidean", "cosine", "jaccard", "overlap", "hamming"] = "euclidean",
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int(self.n_clusters, "n_clusters", 1)

    def _cluster(self, n: int, graph: NearGraph | None) -> None:
        if graph is not None:
            raise InputError(
                "graph: density peaks take distances to all objects, which a graph of near ones "
                "does not have; give X alone"
            )
        n_clusters = self._check_n_clusters(n)
        k = min(int(self.n_neighbors), n - 1)
        if k == 0:
            self._keep(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
            return
        distances, neighbors = self._index().nearest(None, k, self.n_jobs)
        radii = distances[:, -1]
        rank = np.empty(n, np.int64)  # the densest first
        order = np.argsort(radii, kind="stable")
        rank[order] = np.arange(n)
        up, apart = self._denser(rank, distances, neighbors)
        densest = order[0]
        apart[densest] = np.delete(apart, densest).max()
        up[densest] = densest
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(apart > 0, apart / radii, 0.0)  # inf where many objects are equal
        worth[densest] = np.inf
        # Of equally good ones, the denser.
        centers = np.lexsort((rank, -apart, -worth))[:n_clusters].astype(np.int64)
        if densest not in centers:
            centers = np.append(densest, centers[:-1])
        labels = np.full(n, -1, np.int64)
        labels[centers] = np.arange(n_clusters)
        up[centers] = centers
        while True:  # steps of steps, until all are at a centre
            further = up[up]
            if (further == up).all():
                break
            up = further
        self._keep(labels[up], centers, radii, apart)

    def _denser(self, rank: Ints, distances: Floats, neighbors: Ints) -> tuple[Ints, Floats]:
        """Return the nearest denser object of each one, and how far away it is."""
        n, k = neighbors.shape
        up, apart = np.zeros(n, np.int64), np.zeros(n)
        todo = np.arange(n)
        while len(todo):
            denser = rank[neighbors] < rank[todo][:, None]
            found = denser.any(axis=1)
            first = denser[found].argmax(axis=1)
            rows = np.flatnonzero(found)
            up[todo[rows]] = neighbors[rows, first]
            apart[todo[rows]] = distances[rows, first]
            todo = todo[~found]
            todo = todo[rank[todo] > 0]
            k = min(_WIDER * k, n)
            if len(todo) * k > _MOST_CELLS:  # a few at a time, as far as it takes
                step = max(1, _MOST_CELLS // n)
                for at in range(0, len(todo), step):
                    self._compare_all(todo[at : at + step], rank, up, apart)
                break
            if len(todo):
                distances, neighbors = self._index().nearest(self._numbers[todo], k, self.n_jobs)
        return up, apart

    def _compare_all(self, few: Ints, rank: Ints, up: Ints, apart: Floats) -> None:
        n = len(rank)
        distances, neighbors = self._index().nearest(self._numbers[few], n, self.n_jobs)
        first = (rank[neighbors] < rank[few][:, None]).argmax(axis=1)
        rows = np.arange(len(few))
        up[few], apart[few] = neighbors[rows, first], distances[rows, first]

    def _keep(self, labels: Ints, centers: Ints, radii: Floats, apart: Floats) -> None:
        self.labels_, self.centers_ = labels, centers
        self.radii_, self.separations_ = radii, apart
        top = radii[centers][labels]
        self.probabilities_ = np.ones(len(labels))
        np.divide(top, radii, out=self.probabilities_, where=radii > 0)
        np.minimum(self.probabilities_, 1.0, out=self.probabilities_)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each cluster: size, centre, and how far that is from anything denser."""
        check_is_fitted(self, "labels_")
        return pl.DataFrame(
            {
                "label": np.arange(len(self.centers_)),
                "size": np.bincount(self.labels_, minlength=len(self.centers_)),
                "center": self.centers_,
                "radius": self.radii_[self.centers_],
                "separation": self.separations_[self.centers_],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw density against separation: centres stand apart from the rest.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        check_is_fitted(self, "labels_")
        from tacit.similarity.clusters.tree_plot import plot_decision

        return plot_decision(self.radii_, self.separations_, self.centers_, ax)

    def _learned(self) -> dict[str, NDArray[Any]]:
        return {"centers": self.centers_, "radii": self.radii_, "separations": self.separations_}

    def _restore(self, state: store.State, n: int) -> None:
        centers = state["centers"]
        k = len(centers)
        valid = centers.dtype == np.int64 and k > 0 and ((centers >= 0) & (centers < n)).all()
        if not valid or self.labels_.min() < 0 or self.labels_.max() >= k:
            raise InputError("'centers' are not those of its clusters")
        radii, apart = (files.read_floats(state, name, (n,)) for name in ("radii", "separations"))
        self._keep(self.labels_, centers, radii, apart)
