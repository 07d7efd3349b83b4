"""Clusters by merging the nearest ones, along the edges of a graph of near objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.utils.validation import check_is_fitted

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_fits, check_int
from tacit.parameters import check_choice, check_number, store_parameters
from tacit.similarity import state as files
from tacit.similarity.clusters.near_clusters import NearClusters, number_clusters
from tacit.similarity.clusters.reachability import SpanningTree, metric_tree, unit_rows
from tacit.similarity.csr import csr_arrays
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit import store
    from tacit.similarity.near_graph.near_graph import NearGraph

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["SparseAgglomerative"]

_LINKAGES = ("ward", "average", "single")
_NARROW = -200  # exponent of 2: where all columns are narrower, squares of differences may vanish


@dataclass(frozen=True)
class _Merges:
    """Merges in their order: number k makes the node n + k."""

    children: Ints  # (n_merges, 2)
    heights: Floats
    sizes: Ints


class SparseAgglomerative(NearClusters):
    """Clusters by merging the two nearest ones, again and again, without comparing all pairs.

    - "single": clusters are as near as their nearest objects. Exact: the tree is that of all pairs,
      read off the minimum spanning tree.
    - "average": as near as their objects are in the mean, over the pairs that are near. Pairs that
      are not near have no say, which makes clusters that touch in few places nearer than they are.
    - "ward": by the increase of the sum of squares, exact for each pair of clusters that is looked
      at; only clusters merge that hold near objects.

    Near are objects of which one is among the `n_neighbors` nearest of the other, or those of a
    graph that is given, and, where parts of that hang together nowhere, the ends of the edges
    between them in the minimum spanning tree of all pairs. With all pairs near, average and Ward
    are those of SciPy.

    Heights never fall from a merge to a later one that contains it; where Ward's do along a graph,
    the later one has the height of the earlier.

    Parameters
    ----------
    n_clusters : int, optional
        How many clusters the tree is cut into; 2 if there is no `distance_threshold`.
    distance_threshold : float, optional
        The height at which the tree is cut instead.
    linkage : {"ward", "average", "single"}
    n_neighbors : int, default 10
        For "ward" and "average".
    metric : {"euclidean", "cosine"}
        The distance; the cosine's is 1 less the cosine. "ward" takes the first.
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of each object, the largest first.
    n_clusters_ : int
    linkage_matrix_ : ndarray of shape (n_objects - 1, 4)
        The merges as SciPy has them: both nodes, height and size. It is what
        ``scipy.cluster.hierarchy`` takes.
    n_connected_ : int
        How many parts of the graph hang together nowhere; 1 for "single".
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> import tacit
    >>> from tacit.similarity import SparseAgglomerative
    >>> X, y = tacit.datasets.make_objects(2_000, 8, n_clusters=4, random_state=0)
    >>> model = SparseAgglomerative(4).fit(X)
    >>> sizes = model.to_frame()["size"].to_list()
    >>> len(sizes), sum(sizes)
    (4, 2000)
    >>> bool((model.predict(X[:100]) == model.labels_[:100]).all())
    True
    """

    _kind: ClassVar[str] = "sparse_agglomerative"
    linkage_matrix_: NDArray[np.float64]
    _metrics: ClassVar[tuple[str, ...]] = ("euclidean", "cosine")

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        linkage: Literal["ward", "average", "single"] = "ward",
        n_neighbors: int = 10,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.linkage, "linkage", _LINKAGES)
        if self.n_clusters is not None:
            check_int(self.n_clusters, "n_clusters", 1)
        if self.distance_threshold is not None:
            check_number(self.distance_threshold, "distance_threshold", 0)
            if self.n_clusters is not None:
                raise InputError("n_clusters and distance_threshold: give one of both")
        if self.linkage == "ward" and self.metric != "euclidean":
            raise InputError(f"linkage='ward' takes metric='euclidean', not {self.metric!r}")

    def _cluster(self, n: int, graph: NearGraph | None) -> None:
        if self.n_clusters is not None:
            self._check_n_clusters(n)
        self.n_connected_ = 1
        if self.linkage == "single" and graph is None:
            merges = self._single(n)
        else:
            merges = self._along(n, graph)
        heights = _ascending(merges.children, merges.heights, n)
        self.linkage_matrix_ = np.column_stack((merges.children, heights, merges.sizes))
        self._cut(n)

    def _single(self, n: int) -> _Merges:
        tree = self._tree()
        return _along_edges(tree.a, tree.b, tree.reach, n)

    def _along(self, n: int, graph: NearGraph | None) -> _Merges:
        """Merge along a graph that hangs together."""
        ward = self.linkage == "ward"
        if graph is not None and graph.measure != "distance" and not ward:
            raise InputError(
                f"graph: linkage={self.linkage!r} takes one of measure='distance', not "
                f"{graph.measure!r}"
            )
        if self._numbers is None and ward:
            raise InputError("X: linkage='ward' takes numbers, not a graph alone")
        near = self._near_graph(n, graph, int(self.n_neighbors))
        self.n_connected_, part = near.components()
        if self.linkage == "single":
            return self._single_along(near, n)
        edges = near.doubles
        if self.n_connected_ > 1:
            edges = self._joined(edges, part)
        points, exponent = self._points() if ward else (None, 0)
        first, second, heights, sizes = _core.graph_merges(
            *csr_arrays(edges), np.ones(n, np.int64), points
        )
        heights = np.ldexp(heights, -exponent)
        children = np.sort(np.stack((first, second), axis=1).astype(np.int64), axis=1)
        return _Merges(children, heights, sizes)

    def _joined(self, edges: Any, part: NDArray[np.int32]) -> sparse.csr_array:
        """Return a graph with the edges of the minimum spanning tree between its parts."""
        if self._numbers is None:
            raise InputError(
                f"X: the graph has {self.n_connected_:,} parts that hang together nowhere; without "
                "numbers there is no saying how far they are apart"
            )
        tree = self._tree()
        apart = part[tree.a] != part[tree.b]
        a, b, lengths = tree.a[apart], tree.b[apart], tree.reach[apart]
        rows = np.repeat(np.arange(len(part)), np.diff(edges.indptr))
        data = np.concatenate((edges.data, lengths, lengths))
        places = np.concatenate((rows, a, b)), np.concatenate((edges.indices, b, a))
        return sparse.csr_array(sparse.coo_array((data, places), edges.shape))  # zeros stay

    def _tree(self) -> SpanningTree:
        """Return the minimum spanning tree of all pairs."""
        numbers = unit_rows(self._numbers) if self.metric == "cosine" else self._numbers
        return metric_tree(numbers, 1, self.metric, self.n_jobs)

    def _single_along(self, near: NearGraph, n: int) -> _Merges:
        """Merge along the least edges of a graph that is given, which must hang together."""
        if self.n_connected_ > 1:
            raise InputError(
                f"graph has {self.n_connected_:,} parts that hang together nowhere; give X alone "
                "for single linkage among all pairs"
            )
        first, second, length = near.to_edges()
        order = np.argsort(length, kind="stable")
        ends = (first[order].astype(np.int32), second[order].astype(np.int32))
        return _along_edges(*ends, length[order].astype(np.float64), n)

    def _points(self) -> tuple[Floats, int]:
        """Return the objects in full, where they are close times a power of 2, and its exponent."""
        numbers = self._numbers
        n, d = numbers.shape
        if is_sparse(numbers):
            check_fits(
                2 * n * d * 8,
                f"X: centroids of {n:,} objects with {d:,} columns",
                "project them first: SparseComputation(…).fit_transform(X)",
            )
            numbers = numbers.toarray()
        points = np.ascontiguousarray(numbers, np.float64)
        width = np.frexp(np.ptp(points, axis=0).max(initial=0.0))[1]
        if width >= _NARROW:
            return points, 0
        return np.ldexp(points - points.min(axis=0), -width), int(-width)

    def _cut(self, n: int) -> None:
        """Cut the tree where the parameters say."""
        heights = self.linkage_matrix_[:, 2]
        if self.distance_threshold is not None:
            merged = heights <= self.distance_threshold
        else:
            k = 2 if self.n_clusters is None else int(self.n_clusters)
            order = np.argsort(heights, kind="stable")  # a merge comes after those it contains
            merged = np.zeros(len(heights), np.bool_)
            merged[order[: max(0, n - k)]] = True
        self.labels_ = number_clusters(_tops(self.linkage_matrix_, merged, n))
        self.n_clusters_ = int(self.labels_.max()) + 1

    def plot(self, ax: Axes | None = None, *, top: int = 30) -> Axes:
        """Draw the dendrogram of the last merges.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        top : int, default 30
            How many nodes are at its foot.
        """
        check_is_fitted(self, "labels_")
        from tacit.similarity.clusters.tree_plot import plot_dendrogram

        return plot_dendrogram(self.linkage_matrix_, self.n_clusters_, ax, check_int(top, "top", 2))

    def _learned(self) -> dict[str, NDArray[Any]]:
        return {"tree": self.linkage_matrix_, "connected": np.array([self.n_connected_])}

    def _restore(self, state: store.State, n: int) -> None:
        tree = files.read_floats(state, "tree", (n - 1, 4))
        made = n + np.arange(n - 1)
        if not ((tree[:, :2] >= 0).all() and (tree[:, :2].max(axis=1, initial=-1) < made).all()):
            raise InputError("'tree' merges nodes that are not there yet")
        self.linkage_matrix_ = tree
        self.n_connected_ = int(state["connected"][0])
        self._cut(n)


def _along_edges(a: NDArray[Any], b: NDArray[Any], lengths: Floats, n: int) -> _Merges:
    """Return the merges along edges in ascending order."""
    if n == 1:
        return _Merges(np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0, np.int64))
    tree = np.arange(n - 1)
    if len(a) > n - 1:  # of a graph: those that are in its spanning tree
        tree = _spanning_edges(a, b, n)
    first, second, sizes = _core.merge_edges(a[tree], b[tree], n)
    children = np.sort(np.stack((first, second), axis=1).astype(np.int64), axis=1)
    return _Merges(children, lengths[tree], sizes)


def _spanning_edges(a: NDArray[Any], b: NDArray[Any], n: int) -> Ints:
    """Return which edges, in ascending order, join what was apart."""
    # Ranks for lengths: no two are equal, and none is 0, which would be no edge.
    ranks = sparse.coo_array((1.0 + np.arange(len(a)), (a, b)), (n, n)).tocsr()
    chosen = csgraph.minimum_spanning_tree(ranks)
    return np.sort(chosen.data.astype(np.int64) - 1)


def _ascending(children: Ints, heights: Floats, n: int) -> Floats:
    """Return heights that are no less than those of the merges within."""
    raised = np.concatenate((np.zeros(n), heights))
    if (raised[n:] >= raised[children].max(axis=1, initial=0.0)).all():
        return heights
    each = raised.tolist()
    for k, (one, other) in enumerate(children.tolist(), start=n):
        each[k] = max(each[k], each[one], each[other])
    return np.array(each[n:])


def _tops(tree: Floats, merged: NDArray[np.bool_], n: int) -> Ints:
    return _roots(tree[:, :2].astype(np.int64), merged, n)


def _roots(children: Ints, merged: NDArray[np.bool_], n: int) -> Ints:
    """Return the highest node above each object that comes of the merges chosen."""
    up = np.arange(n + len(children))
    chosen = np.flatnonzero(merged)
    up[children[chosen, 0]] = up[children[chosen, 1]] = n + chosen
    while True:  # steps of steps
        further = up[up]
        if (further == up).all():
            return up[:n]
        up = further
