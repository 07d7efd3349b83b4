"""Clusters as what hangs together: connected components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from tacit.machine import check_int
from tacit.parameters import check_number, store_parameters
from tacit.similarity import state as files
from tacit.similarity.clusters.near_clusters import NearClusters, number_clusters
from tacit.similarity.clusters.reachability import metric_tree, unit_rows
from tacit.similarity.neighbors.exact import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.similarity.near_graph.near_graph import NearGraph

__all__ = ["SparseComponents"]


class SparseComponents(NearClusters):
    """Clusters as connected components: of objects within a radius, or of the nearest neighbours.

    With a `radius` and no graph of one's own, objects are in one cluster if a chain of steps that
    are no longer leads from one to the other, among all pairs: that is read off the minimum
    spanning tree, which is exact. Without, steps lead to each object's `n_neighbors` nearest.

    Parameters
    ----------
    radius : float, optional
        The longest step; of graphs of similarities, the least similarity.
    min_cluster_size : int, default 1
        Objects of smaller components are noise.
    n_neighbors : int, default 10
        Without `radius`: how many nearest objects each one is joined to.
    metric : {"euclidean", "cosine"}
        The distance; the cosine's is 1 less the cosine.
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of each object, the largest first; -1 for noise.
    n_clusters_ : int
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> from tacit.similarity import SparseComponents
    >>> model = SparseComponents(radius=1.5).fit([[0.0], [1.0], [2.0], [5.0], [6.0]])
    >>> model.labels_.tolist(), model.predict([[6.5], [9.0]]).tolist()
    ([0, 0, 0, 1, 1], [1, -1])
    """

    _kind: ClassVar[str] = "sparse_components"
    _metrics: ClassVar[tuple[str, ...]] = ("euclidean", "cosine")

    def __init__(
        self,
        radius: float | None = None,
        *,
        min_cluster_size: int = 1,
        n_neighbors: int = 10,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int(self.min_cluster_size, "min_cluster_size", 1)
        if self.radius is not None:
            check_number(self.radius, "radius", 0)

    def _cluster(self, n: int, graph: NearGraph | None) -> None:
        if graph is None and self.radius is not None:
            numbers = unit_rows(self._numbers) if self.metric == "cosine" else self._numbers
            tree = metric_tree(numbers, 1, self.metric, self.n_jobs)
            short = tree.reach <= self._within(self.radius)
            ends = (tree.a[short], tree.b[short])
            edges = sparse.coo_array((np.ones(len(ends[0])), ends), (n, n))
            parts = csgraph.connected_components(edges, directed=False)[1]
        else:
            near = self._near_graph(n, graph, int(self.n_neighbors))
            if self.radius is not None:
                near = near.within(float(self.radius))
            parts = near.components()[1]
        # What is given with a graph of similarities is no distance.
        similar = graph is not None and graph.measure == "similarity"
        self._step = None if similar or self.radius is None else float(self.radius)
        self.labels_ = number_clusters(parts, int(self.min_cluster_size))
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster of the object that is nearest to each new one.

        It is -1 where that is beyond the radius, unless this was of a graph of similarities.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        distances, objects = self._nearest(X, 1)
        labels = self.labels_[objects[:, 0]]
        if self._step is not None:
            labels = np.where(distances[:, 0] <= self._within(self._step), labels, -1)
        return labels

    def _within(self, radius: float) -> float:
        """Return the longest step as distances are rounded: of parallel vectors not always to 0."""
        return radius + (ROUNDING if self.metric == "cosine" else 0.0)

    def _learned(self) -> dict[str, NDArray[Any]]:
        return {"step": np.array([] if self._step is None else [self._step], np.float64)}

    def _restore(self, state: Any, n: int) -> None:
        step = files.read_floats(state, "step", (int(len(state["step"]) > 0),))
        self._step = float(step[0]) if len(step) else None
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
