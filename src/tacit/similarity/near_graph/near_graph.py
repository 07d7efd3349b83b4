"""A graph of near objects, checked once and believed ever after."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse import csgraph

from tacit import _core, store
from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_number
from tacit.plot.html import frame_html
from tacit.similarity.csr import csr_arrays
from tacit.similarity.near_graph.propagation import PropagatedLabels, propagate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Measure", "NearGraph"]

Measure = Literal["similarity", "distance"]
_MEASURES = ("similarity", "distance")
_INDICES, _NOT_FINITE, _NEGATIVE, _LOOP, _ASYMMETRIC = range(1, 6)


class NearGraph(store.Saved):
    """Objects and how near they are to some of the others, as a sparse graph.

    What is not stored is not near. The graph is checked when it is made, and not again: what takes
    one (:func:`normalized_cut`, clustering, label propagation) believes it. It answers what
    scikit-learn's ``NearestNeighbors`` answers of the objects that it was fitted to: neighbours of
    an object never include itself.

    Parameters
    ----------
    graph : sparse array, array or NearGraph of shape (n_objects, n_objects)
        Similarities or distances, finite and not negative. The diagonal has no bearing. It is not
        copied where it is a CSR array in canonical form: do not change it then.
    measure : {"similarity", "distance"}
        What the values are. A similarity of 0 is no edge; a distance of 0 is one, if it is stored.
    directed : bool, default False
        Whether (i, j) may differ from (j, i), as in graphs of the k nearest neighbours.

    Attributes
    ----------
    csr : csr_array of shape (n_objects, n_objects)
        The edges: canonical, without diagonal.
    measure, directed
        As given.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(2_000, 8, n_clusters=4, random_state=0)
    >>> sc = tacit.SparseComputation(resolution=20, random_state=0).fit(X)
    >>> graph = sc.near_graph("distance")
    >>> distances, neighbours = graph.kneighbors(3)
    >>> neighbours.shape, bool((neighbours == np.arange(2_000)[:, None]).any())
    ((2000, 3), False)
    >>> n_components, labels = graph.components()
    >>> graph.kneighbors_graph(3).nnz
    5870
    """

    _kind: ClassVar[str] = "near_graph"

    def __init__(
        self, graph: Any, measure: Measure = "similarity", *, directed: bool = False
    ) -> None:
        check_choice(measure, "measure", _MEASURES)
        if isinstance(graph, NearGraph):
            if graph.measure != measure or graph.directed > directed:
                raise InputError(
                    f"graph is a NearGraph of measure={graph.measure!r}, directed={graph.directed}"
                )
            graph = graph.csr
        else:
            graph = _checked(graph, measure, directed)
        self._set(graph, measure, directed)

    def _set(self, csr: sparse.csr_array, measure: Measure, directed: bool) -> None:
        self.csr, self.measure, self.directed = csr, measure, directed

    @classmethod
    def trusted(cls, csr: sparse.csr_array, measure: Measure, *, directed: bool = False) -> Self:
        """Return a graph that is known to be one: canonical, without diagonal, not negative."""
        graph = cls.__new__(cls)
        graph._set(csr, measure, directed)
        return graph

    @classmethod
    def from_neighbors(
        cls,
        distances: Any,
        neighbors: Any,
        *,
        keep: Literal["directed", "either", "both"] = "either",
    ) -> Self:
        """Return the graph of nearest neighbours, as any package finds them.

        Parameters
        ----------
        distances : array-like of shape (n_objects, k)
        neighbors : array-like of int, shape (n_objects, k)
            Numbers of objects; -1 where there is none. The object itself is left out.
        keep : {"directed", "either", "both"}
            Edges as they are; between objects of which one is a neighbour of the other; or of which
            each is a neighbour of the other. Of two distances that differ by rounding, the smaller.

        Examples
        --------
        >>> graph = NearGraph.from_neighbors([[1.0], [1.0], [2.0]], [[1], [0], [1]], keep="both")
        >>> graph.csr.toarray().tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        check_choice(keep, "keep", ("directed", "either", "both"))
        far, near = np.asarray(distances, np.float64), np.asarray(neighbors)
        if near.ndim != 2 or far.shape != near.shape or near.dtype.kind not in "iu":
            raise InputError(
                "distances and neighbors must be arrays of one shape, (n_objects, k), neighbors of "
                f"whole numbers; got {far.shape} and {near.shape}"
            )
        n = len(near)
        if near.size and not (near.min() >= -1 and near.max() < n):
            raise InputError(f"neighbors must be from 0 to {n - 1}, or -1")
        rows = np.repeat(np.arange(n), near.shape[1])
        columns, values = near.ravel().astype(np.int64), far.ravel()
        kept = (columns >= 0) & (columns != rows)
        rows, columns, values = rows[kept], columns[kept], values[kept]
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            first = int(np.argmax(wrong))
            raise InputError(
                "distances must be finite and not negative, but that from object "
                f"{rows[first]} to {columns[first]} is {values[first]}"
            )
        order = np.lexsort((values, columns, rows))  # a neighbour that is named twice is one
        rows, columns, values = rows[order], columns[order], values[order]
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        rows, columns, values = rows[new], columns[new], values[new]
        if keep == "directed":
            return cls(_coo_to_csr(rows, columns, values, n), "distance", directed=True)
        return cls(_merged(rows, columns, values, n, keep == "both"), "distance")

    def __len__(self) -> int:
        return int(self.csr.shape[0])

    @property
    def n_edges(self) -> int:
        """How many edges there are: pairs of objects, or directed ones."""
        return int(self.csr.nnz) if self.directed else int(self.csr.nnz) // 2

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The sum of the values of each object's edges."""
        return np.asarray(self.csr.sum(axis=1, dtype=np.float64), np.float64).reshape(-1)

    @cached_property
    def doubles(self) -> Any:
        """The graph in double precision: itself, if it is that."""
        return self.csr.astype(np.float64, copy=False)

    def require(self, measure: Measure, what: str) -> None:
        """Refuse a graph of another measure, or a directed one, for something."""
        if self.measure != measure:
            raise InputError(f"{what} takes a graph of measure={measure!r}, not {self.measure!r}")
        if self.directed:
            raise InputError(f"{what} takes an undirected graph: see to_undirected()")

    # Neighbours

    def kneighbors(
        self, n_neighbors: int = 5, return_distance: bool = True, *, n_jobs: int | None = None
    ) -> Any:
        """Return the nearest neighbours of each object, without itself.

        Parameters
        ----------
        n_neighbors : int, default 5
        return_distance : bool, default True
        n_jobs : int, optional

        Returns
        -------
        values : ndarray of shape (n_objects, n_neighbors)
            Distances ascending, or similarities descending; equal ones by number. Where an object
            has fewer neighbours, distances are infinite and similarities 0. Not with
            ``return_distance=False``.
        neighbors : ndarray of int64, shape (n_objects, n_neighbors)
            -1 where an object has fewer.
        """
        k = check_int(n_neighbors, "n_neighbors", 1)
        indptr, indices, weights = csr_arrays(self.doubles)
        nearness = -weights if self.measure == "distance" else weights
        columns = _core.strongest_links(indptr, indices, nearness, k, count_jobs(n_jobs))
        neighbors = columns.astype(np.int64)
        if not return_distance:
            return neighbors
        missing = np.inf if self.measure == "distance" else 0.0
        values = np.full(neighbors.shape, missing)
        found = neighbors >= 0
        rows = np.nonzero(found)[0]
        n = len(self)
        stored = np.repeat(np.arange(n), np.diff(indptr)) * n + indices
        values[found] = weights[np.searchsorted(stored, rows * n + neighbors[found])]
        return values, neighbors

    def radius_neighbors(self, radius: float, return_distance: bool = True) -> Any:
        """Return all neighbours within a distance, or of at least a similarity.

        Parameters
        ----------
        radius : float
        return_distance : bool, default True

        Returns
        -------
        values, neighbors : ndarrays of shape (n_objects,) of arrays
            As scikit-learn returns them, by number of the neighbour.
        """
        near = self.within(radius).csr
        at = near.indptr[1:-1]
        neighbors = _array_of_arrays(np.split(near.indices.astype(np.int64), at))
        return (
            (_array_of_arrays(np.split(near.data, at)), neighbors) if return_distance else neighbors
        )

    def within(self, radius: float) -> NearGraph:
        """Return the graph of the edges within a distance, or of at least a similarity."""
        limit = check_number(radius, "radius", 0)
        kept = self.csr.data <= limit if self.measure == "distance" else self.csr.data >= limit
        offsets = np.append(0, np.cumsum(kept))[self.csr.indptr]
        csr = _canonical(self.csr.data[kept], self.csr.indices[kept], offsets, len(self))
        return self.trusted(csr, self.measure, directed=self.directed)

    def kneighbors_graph(
        self,
        n_neighbors: int = 5,
        mode: Literal["connectivity", "distance"] = "connectivity",
        *,
        n_jobs: int | None = None,
    ) -> sparse.csr_array:
        """Return the directed graph of the nearest neighbours, as scikit-learn takes it.

        Parameters
        ----------
        n_neighbors : int, default 5
        mode : {"connectivity", "distance"}
            Values are 1, or distances (for a graph of similarities: similarities), in each row from
            the nearest on.
        n_jobs : int, optional
        """
        check_choice(mode, "mode", ("connectivity", "distance"))
        values, neighbors = self.kneighbors(n_neighbors, n_jobs=n_jobs)
        found = neighbors >= 0
        offsets = np.append(0, np.cumsum(found.sum(axis=1)))
        data = np.ones(int(found.sum())) if mode == "connectivity" else values[found]
        return sparse.csr_array((data, neighbors[found], offsets), self.csr.shape)

    def to_undirected(self, keep: Literal["either", "both"] = "either") -> NearGraph:
        """Return the graph of edges that are there in either direction, or in both.

        Of two values that differ, the nearer one counts: the smaller distance.
        """
        check_choice(keep, "keep", ("either", "both"))
        rows, columns, values = self._edges()
        sign = 1.0 if self.measure == "distance" else -1.0
        undirected = _merged(rows, columns, sign * values, len(self), keep == "both")
        undirected.data *= sign
        return self.trusted(undirected, self.measure)

    # What follows from the edges

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return how many connected components there are, and the number of each object's."""
        number, labels = csgraph.connected_components(self.csr, directed=False)
        return int(number), labels.astype(np.int32, copy=False)

    def propagate_labels(self, y: Any, *, tolerance: float = 1e-6) -> PropagatedLabels:
        """Spread the labels of some objects over the graph of similarities.

        Every object has the average of its neighbours' class fractions, weighted by similarity;
        those whose labels are known keep them. The solution is unique, and found by conjugate
        gradients.

        Parameters
        ----------
        y : array-like of int, shape (n_objects,)
            Classes; -1 where they are to be found.
        tolerance : float
            Of class fractions, relative.

        Examples
        --------
        >>> chain = sparse.diags_array([[3.0, 1.0, 3.0]] * 2, offsets=(1, -1))
        >>> spread = NearGraph(chain).propagate_labels([0, -1, -1, 1])
        >>> spread.labels.tolist(), spread.probabilities[1].round(2).tolist()
        ([0, 0, 1, 1], [0.8, 0.2])
        """
        self.require("similarity", "propagate_labels")
        least = check_number(tolerance, "tolerance", 0, above=True)
        return propagate(self.doubles, self.degrees, y, least)

    # For others

    def to_csr(self) -> sparse.csr_array:
        """Return a copy of the graph, plain: for scikit-learn with ``metric="precomputed"``."""
        return self.csr.copy()

    def _edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        rows = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.csr.indptr))
        return rows, self.csr.indices.astype(np.int64), self.csr.data

    def to_edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Return the ends and the values of edges, undirected ones once: for igraph and Leiden.

        >>> first, second, weight = NearGraph(np.array([[0, 2.0], [2.0, 0]])).to_edges()
        >>> first.tolist(), second.tolist(), weight.tolist()
        ([0], [1], [2.0])
        """
        first, second, weight = self._edges()
        kept = slice(None) if self.directed else first < second
        return first[kept], second[kept], weight[kept]

    def to_umap(self, n_neighbors: int = 15) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return what UMAP takes as ``precomputed_knn``: indices and distances, itself first.

        Objects that have fewer neighbours than asked for are refused by name.
        """
        if self.measure != "distance":
            raise InputError('to_umap takes a graph of measure="distance"')
        k = check_int(n_neighbors, "n_neighbors", 2) - 1
        distances, neighbors = self.kneighbors(k)
        short = neighbors[:, -1] < 0
        if short.any():
            i = int(np.argmax(short))
            raise InputError(
                f"n_neighbors: object {i} has {int((neighbors[i] >= 0).sum())} neighbours, "
                f"fewer than the {k} asked for"
            )
        itself = np.arange(len(self))[:, None]
        return (
            np.hstack((itself, neighbors)).astype(np.int32),
            np.hstack((np.zeros((len(self), 1)), distances)).astype(np.float32),
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the edges as a frame: first, second, and the value."""
        first, second, weight = self.to_edges()
        return pl.DataFrame({"first": first, "second": second, self.measure: weight})

    def to_text(self) -> str:
        """Return what the graph is, in words."""
        n, m = len(self), self.n_edges
        kind = "directed edges" if self.directed else "edges"
        of_all = m / (n * (n - 1) / (1 if self.directed else 2)) if n > 1 else 0.0
        return f"NearGraph of {n:,} objects, {m:,} {kind} ({of_all:.3%} of all), {self.measure}"

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return frame_html(self.to_frame(), title=self.to_text())

    # Files

    def to_state(self) -> store.State:
        """Return the arrays of a file."""
        indptr, indices, data = csr_arrays(self.csr)
        facts = {"measure": self.measure, "directed": self.directed}
        return {
            "indptr": indptr,
            "indices": indices,
            "data": data,
            "settings": store.json_array(facts),
        }

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the graph that :meth:`to_state` described, checked as any other."""
        facts = store.read_json(state["settings"])
        n = len(state["indptr"]) - 1
        csr = sparse.csr_array((state["data"], state["indices"], state["indptr"]), (n, n))
        return cls(csr, facts["measure"], directed=bool(facts["directed"]))


def _checked(graph: Any, measure: Measure, directed: bool) -> sparse.csr_array:
    """Return a graph in canonical form, without diagonal; refuse what is none."""
    refuse_partitions(graph, "a graph", "graph")
    if not (sparse.issparse(graph) or isinstance(graph, np.ndarray)):
        raise InputError(f"graph must be a sparse or NumPy array, got {type(graph).__name__}")
    matrix: Any = graph
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"graph must be square, got shape {matrix.shape}")
    if getattr(matrix, "format", None) != "csr":
        matrix = sparse.coo_array(matrix).tocsr()
    if matrix.dtype not in (np.float64, np.float32):
        matrix = matrix.astype(np.float64)
    csr = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
    fault, row, column = _fault(csr, measure, directed)
    if fault == _INDICES:
        csr = csr.copy()
        csr.sum_duplicates()  # sorts, too
        fault, row, column = _fault(csr, measure, directed)
    if fault == _LOOP:
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        edge = rows != csr.indices
        if measure == "similarity":
            edge &= csr.data != 0
        offsets = np.append(0, np.cumsum(edge))[csr.indptr]
        csr = sparse.csr_array((csr.data[edge], csr.indices[edge], offsets), csr.shape)
        fault, row, column = _fault(csr, measure, directed)
    if fault == _INDICES:
        raise InputError(f"graph: row {row} has a column {column} that is not there")
    if fault in (_NOT_FINITE, _NEGATIVE):
        what = "not finite" if fault == _NOT_FINITE else "negative"
        raise InputError(f"graph: the entry at ({row}, {column}) is {what}")
    if fault == _ASYMMETRIC:
        i, j = sorted((row, column))
        raise InputError(f"graph must be symmetric, but ({i}, {j}) and ({j}, {i}) differ")
    return _canonical(csr.data, csr.indices, csr.indptr, csr.shape[0])


def _fault(csr: Any, measure: Measure, directed: bool) -> tuple[int, int, int]:
    return _core.check_graph(*csr_arrays(csr), measure == "distance", directed)


def _canonical(data: Any, indices: Any, indptr: Any, n: int) -> sparse.csr_array:
    csr = sparse.csr_array((data, indices, indptr), (n, n))
    csr.has_canonical_format = True
    return csr


def _coo_to_csr(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n: int
) -> sparse.csr_array:
    """Return distinct entries as a CSR array; zeros stay stored."""
    order = np.lexsort((columns, rows))
    counts = np.bincount(rows, minlength=n)
    return sparse.csr_array(
        (values[order], columns[order], np.append(0, np.cumsum(counts))), (n, n)
    )


def _merged(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n: int, both: bool
) -> sparse.csr_array:
    """Return the least value of each pair of objects, in both directions."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((values, high, low))
    low, high, values = low[order], high[order], values[order]
    first = np.ones(len(low), bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    starts = np.flatnonzero(first)
    if both:  # each of the two has named the other
        starts = starts[np.diff(np.append(starts, len(low))) > 1]
    low, high, values = low[starts], high[starts], values[starts]
    return _coo_to_csr(
        np.concatenate((low, high)),
        np.concatenate((high, low)),
        np.concatenate((values, values)),
        n,
    )


def _array_of_arrays(parts: list[NDArray[Any]]) -> NDArray[np.object_]:
    result = np.empty(len(parts), object)
    result[:] = parts
    return result
