"""Clusters by the leading eigenvectors of a graph of near objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import check_choice, check_number, make_generator, store_parameters
from tacit.similarity import state as files
from tacit.similarity.clusters.near_clusters import NearClusters
from tacit.similarity.neighbors.exact import exact_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit import store
    from tacit.similarity.near_graph.near_graph import NearGraph

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["SparseSpectral"]

_AFFINITIES = ("uniform", "local")
_DENSE_BELOW = 200  # objects whose eigenvectors are found in full
_PARTS = 20  # how many times smaller than the mean a component may be that counts
_STARTS = 10  # of k-means


class SparseSpectral(NearClusters):
    """Clusters by the leading eigenvectors of the normalised Laplacian of near objects.

    The graph joins each object with its `n_neighbors` nearest ones, or is given. Its connected
    components come first: the spectrum of a graph is that of its components, so that each of them
    has eigenvectors of its own, and no cluster crosses from one to another. The `n_clusters` least
    eigenvalues of all components together say how many clusters each is divided into, by k-means of
    its eigenvectors. Components of fewer than `min_cluster_size` objects, and those beyond the
    largest `n_clusters`, do not count: their objects are in the cluster of the nearest object that
    is in one.

    Parameters
    ----------
    n_clusters : int, default 8
    n_neighbors : int, default 10
    min_cluster_size : int or "auto"
        The fewest objects of a component that counts. "auto" is a twentieth of what a cluster has
        in the mean. The largest component always counts.
    affinity : {"uniform", "local"}
        How similar near objects are: all alike (half as much where only one of both is among the
        nearest of the other), or exp(-d² / (σ τ)) with the distances σ and τ of both to their
        `n_neighbors`-th nearest one. A graph of similarities that is given is taken as it is.
    tolerance : float, default 1e-4
        Of eigenvalues.
    metric : {"euclidean", "cosine", "jaccard", "overlap", "hamming"}
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    random_state : int, RandomState, Generator or None
        Where the eigenvectors and k-means begin.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
    embedding_ : ndarray of shape (n_objects, k)
        The eigenvectors of each object's component, as many as it has clusters, then zeros.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    n_connected_ : int
        How many connected components the graph has.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> import tacit
    >>> from tacit.similarity import SparseSpectral
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 600)
    >>> radius = np.repeat([1.0, 3.0], 300) + rng.normal(scale=0.1, size=600)
    >>> rings = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    >>> model = SparseSpectral(2, random_state=0).fit(rings)
    >>> np.unique(model.labels_[:300]).size, np.unique(model.labels_[300:]).size
    (1, 1)
    """

    _kind: ClassVar[str] = "sparse_spectral"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        min_cluster_size: int | Literal["auto"] = "auto",
        affinity: Literal["uniform", "local"] = "uniform",
        tolerance: float = 1e-4,
        metric: Literal["euclidean", "cosine", "jaccard", "overlap", "hamming"] = "euclidean",
        normalize: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_int(self.n_clusters, "n_clusters", 1)
        if not isinstance(self.min_cluster_size, str):
            check_int(self.min_cluster_size, "min_cluster_size", 1)
        elif self.min_cluster_size != "auto":
            raise InputError(
                f"min_cluster_size must be 'auto' or a whole number, got {self.min_cluster_size!r}"
            )
        check_choice(self.affinity, "affinity", _AFFINITIES)
        check_number(self.tolerance, "tolerance", 0, above=True)

    def _cluster(self, n: int, graph: NearGraph | None) -> None:
        n_clusters = self._check_n_clusters(n)
        weights = self._similarities(n, graph)
        rng = make_generator(self.random_state)
        n_parts, part = sparse.csgraph.connected_components(weights, directed=False)
        self.n_connected_ = int(n_parts)
        sizes = np.bincount(part, minlength=n_parts)
        # Each component has the eigenvalue 0 once: as many as there are clusters come first.
        least_size = self.min_cluster_size
        if least_size == "auto":
            least_size = n // (_PARTS * n_clusters)
        largest = np.argsort(-sizes, kind="stable")[:n_clusters]
        largest = largest[: max(1, int((sizes[largest] >= least_size).sum()))]
        order = np.argsort(part, kind="stable")
        starts = np.append(0, np.cumsum(sizes))
        members = [order[starts[p] : starts[p + 1]] for p in largest]
        spectra = [
            _spectrum(weights[rows][:, rows], n_clusters - len(members) + 1, self.tolerance, rng)
            for rows in members
        ]
        values = np.concatenate([spectrum[0] for spectrum in spectra])
        owner = np.repeat(np.arange(len(members)), [len(spectrum[0]) for spectrum in spectra])
        rank = np.concatenate([np.arange(len(spectrum[0])) for spectrum in spectra])
        least = np.lexsort((owner, values, rank > 0))[:n_clusters]
        self.eigenvalues_ = np.sort(np.maximum(values[least], 0.0))
        counts = np.bincount(owner[least], minlength=len(members))
        labels = np.full(n, -1, np.int64)
        self.embedding_ = np.zeros((n, int(counts.max())))
        made = 0
        for rows, (_, vectors), k in zip(members, spectra, counts.tolist(), strict=True):
            self.embedding_[rows, :k] = vectors[:, :k]
            labels[rows] = made + _divide(vectors[:, :k], rng, self.n_jobs)
            made += k
        self.labels_ = self._with_rest(labels)

    def _similarities(self, n: int, graph: NearGraph | None) -> Any:
        """Return the graph of similarities, positive, in double precision."""
        if graph is not None and graph.measure == "similarity":
            return self._near_graph(n, graph, 1).doubles
        near = self._near_graph(n, graph, int(self.n_neighbors)).doubles
        if self.affinity == "local":
            scales = np.sqrt(np.maximum(near.max(axis=1).toarray().reshape(-1), 1e-300))
            if graph is None and n > 1:
                k = min(int(self.n_neighbors), n - 1)
                far = self._index().nearest(None, k, self.n_jobs)[0][:, -1]
                scales = np.sqrt(np.maximum(far, 1e-300))
            rows = np.repeat(np.arange(n), np.diff(near.indptr))
            ratio = near.data / scales[rows] / scales[near.indices]
            data = np.maximum(np.exp(-(ratio**2)), 1e-12)  # near is near
        elif graph is None and n > 1:
            k = min(int(self.n_neighbors), n - 1)
            found = self._index().nearest(None, k, self.n_jobs)[1]
            offsets = np.arange(n + 1) * k
            directed = sparse.csr_array((np.full(n * k, 0.5), found.ravel(), offsets), (n, n))
            return (directed + directed.T).tocsr()
        else:
            data = np.ones(len(near.data))
        return sparse.csr_array((data, near.indices, near.indptr), near.shape)

    def _with_rest(self, labels: Ints) -> Ints:
        """Return labels in which objects of small components have that of the nearest object."""
        rest = np.flatnonzero(labels < 0)
        if len(rest) == 0:
            return labels
        if self._numbers is None:
            raise InputError(
                f"n_clusters is {self.n_clusters}, but the graph has {self.n_connected_:,} "
                "components; without numbers there is no saying where the others belong"
            )
        placed = np.flatnonzero(labels >= 0)
        index = exact_index(self._numbers[placed], self.metric, self.n_jobs)
        nearest = index.nearest(self._numbers[rest], 1, self.n_jobs)[1][:, 0]
        labels[rest] = labels[placed[nearest]]
        return labels

    def _learned(self) -> dict[str, NDArray[Any]]:
        return {
            "embedding": self.embedding_,
            "eigenvalues": self.eigenvalues_,
            "connected": np.array([self.n_connected_]),
        }

    def _restore(self, state: store.State, n: int) -> None:
        self.embedding_ = files.read_floats(state, "embedding", (n, state["embedding"].shape[1]))
        self.eigenvalues_ = files.read_floats(state, "eigenvalues", state["eigenvalues"].shape)
        self.n_connected_ = int(state["connected"][0])


def _spectrum(
    weights: Any, n_vectors: int, tolerance: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the least eigenvalues of a connected graph's normalised Laplacian, and vectors.

    Vectors are those of the random walk: divided by the square roots of degrees.
    """
    n = weights.shape[0]
    k = min(n_vectors, n)
    degrees = np.asarray(weights.sum(axis=1), np.float64).reshape(-1)
    root = 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    start = rng.uniform(-1.0, 1.0, n)
    if k == 1:  # connected: 0, and all the same
        return np.zeros(1), np.full((n, 1), 1 / np.sqrt(degrees.sum() or 1.0))
    scaled = sparse.diags_array(root) @ weights @ sparse.diags_array(root)
    if n <= max(_DENSE_BELOW, 3 * k):
        values, vectors = np.linalg.eigh(scaled.toarray())
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        try:
            values, vectors = eigsh(
                scaled.tocsr(), k, which="LA", tol=tolerance, v0=start, ncv=min(n, max(3 * k, 40))
            )
        except ArpackNoConvergence as error:
            raise InputError(
                f"tolerance: {len(error.eigenvalues)} of {k} eigenvectors were found to "
                f"{tolerance:g}; try a larger one, or fewer clusters"
            ) from error
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    vectors = vectors * root[:, None]
    # The sign of an eigenvector is anyone's: its largest number is positive.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
    return 1 - values, np.ascontiguousarray(vectors * signs)


def _divide(vectors: Floats, rng: np.random.Generator, n_jobs: int | None) -> Ints:
    """Return the clusters of a component by its eigenvectors."""
    k = vectors.shape[1]
    if k == 1:
        return np.zeros(len(vectors), np.int64)
    from tacit.mixture import KMeans

    seed = int(rng.integers(2**31))
    model = KMeans(k, n_init=_STARTS, random_state=seed, n_jobs=n_jobs)
    return np.asarray(model.fit(np.ascontiguousarray(vectors)).labels_, np.int64)
