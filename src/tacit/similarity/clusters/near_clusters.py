"""What clusterers of near objects share: the objects, their graph, new ones, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_flag
from tacit.plot.html import pairs_html
from tacit.similarity import state as files
from tacit.similarity.base import refuse_huge
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.neighbors.exact import METRICS, ExactIndex, exact_index
from tacit.similarity.projection.centred import ColumnScaling
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit import store

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["NearClusters", "number_clusters", "shown_sizes"]

_TOP = 20  # clusters that a text names


class NearClusters(ClusterMixin, Estimator):  # type: ignore[misc]
    """Base of clusterers: reads X, or a graph of it, and keeps the objects for new ones.

    Subclasses have the parameters metric, normalize and n_jobs, most of them n_neighbors, and write
    `_cluster`, which sets `labels_`.
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _metrics: ClassVar[tuple[str, ...]] = METRICS
    _numbers: Any  # None where a graph was given alone
    _scaling: ColumnScaling | None
    encoder_: OneHot | None
    labels_: Ints

    def fit(self, X: Any, y: Any = None, *, graph: NearGraph | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse array, frame, baskets, Table or NearGraph
            Of shape (n_objects, n_columns). Numbers; columns of a frame that hold other labels
            become columns of 0 and 1. Arrays are not copied: do not change them while the model is
            in use. A NearGraph stands for objects that are not at hand: new ones cannot be asked
            for then.
        y : ignored
        graph : NearGraph, optional
            Which objects are near, in place of each one's nearest neighbours.
        """
        self._check_parameters()
        if graph is not None and not isinstance(graph, NearGraph):
            raise InputError(f"graph must be a NearGraph, got {type(graph).__name__}")
        if isinstance(X, NearGraph):
            if graph is not None:
                raise InputError("graph: X is a graph already")
            if len(X) == 0:
                raise InputError("X is a graph of no objects")
            graph = X
            self.encoder_ = self._scaling = None
            self._set_objects(None)
            self._set_width(len(X))
        else:
            self.encoder_, numbers = OneHot.fit(X, self)
            self._scaling = ColumnScaling.of(numbers) if self.normalize else None
            self._set_objects(numbers if self._scaling is None else self._scaling(numbers))
        n = len(X) if isinstance(X, NearGraph) else int(self._numbers.shape[0])
        if graph is not None and len(graph) != n:
            raise InputError(f"graph has {len(graph):,} objects, X has {n:,}")
        self._cluster(n, graph)
        return self

    def fit_predict(self, X: Any, y: Any = None, *, graph: NearGraph | None = None) -> Ints:
        """Find the clusters, and return that of each object.

        Parameters
        ----------
        X, y, graph
            As for :meth:`fit`.
        """
        return self.fit(X, y, graph=graph).labels_

    def predict(self, X: Any) -> Ints:
        """Return the cluster of the object that is nearest to each new one.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        nearest = self._nearest(X, 1)[1][:, 0]
        return self.labels_[nearest]

    def _cluster(self, n: int, graph: NearGraph | None) -> None:
        """Set `labels_`, and what else there is to know."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_choice(self.metric, "metric", self._metrics)
        check_flag(self.normalize, "normalize")
        count_jobs(self.n_jobs)
        if hasattr(self, "n_neighbors"):
            check_int(self.n_neighbors, "n_neighbors", 1)

    def _check_n_clusters(self, n: int) -> int:
        if self.n_clusters > n:
            raise InputError(
                f"n_clusters must be at most {n}, the number of objects; got {self.n_clusters}"
            )
        return int(self.n_clusters)

    # Objects

    def _set_objects(self, numbers: Any) -> None:
        if numbers is not None:
            refuse_huge(numbers, np.zeros((1, 1)))
        self._numbers = numbers
        self._kept: dict[str, ExactIndex] = {}  # in a dict, as predictions set no attributes

    def _set_width(self, n: int) -> None:
        self.n_features_in_ = n
        self.__dict__.pop("feature_names_in_", None)

    def _index(self) -> ExactIndex:
        if "index" not in self._kept:
            self._kept["index"] = exact_index(self._numbers, self.metric, self.n_jobs)
        return self._kept["index"]

    def _near_graph(self, n: int, graph: NearGraph | None, n_neighbors: int) -> NearGraph:
        """Return the graph that was given, or that of distances to the nearest objects."""
        if graph is not None:
            return graph if not graph.directed else graph.to_undirected()
        k = min(n_neighbors, n - 1)
        if k == 0:
            return NearGraph(np.zeros((n, n)), "distance")
        return NearGraph.from_neighbors(*self._index().nearest(None, k, self.n_jobs))

    def _nearest(self, X: Any, k: int) -> tuple[Floats, Ints]:
        """Return the distances and numbers of the nearest objects of new ones."""
        check_is_fitted(self, "labels_")
        if self.encoder_ is None:
            raise InputError(
                f"X: this {type(self).__name__} was fitted to a graph, which says nothing of new "
                "objects; fit(X, graph=…) does"
            )
        numbers = self.encoder_.transform(X, self)
        if self._scaling is not None:
            numbers = self._scaling(numbers)
        if numbers.dtype != self._numbers.dtype:
            with np.errstate(over="ignore"):
                numbers = numbers.astype(self._numbers.dtype)
        refuse_huge(numbers, np.zeros((1, 1)))
        return self._index().nearest(numbers, k, self.n_jobs)

    # Showing

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each cluster: its label and how many objects it has."""
        check_is_fitted(self, "labels_")
        labels, sizes = np.unique(self.labels_, return_counts=True)
        return pl.DataFrame({"label": labels, "size": sizes})

    def to_text(self) -> str:
        """Return how many clusters there are, and the sizes of the largest."""
        facts = self._facts()
        wide = max(len(name) for name, _ in facts)
        return "\n".join(f"{name:<{wide}}  {text}" for name, text in facts)

    def _facts(self) -> list[tuple[str, str]]:
        frame = self.to_frame()
        sizes = frame.filter(pl.col("label") >= 0)["size"].to_list()
        facts = [("clusters", shown_sizes(sizes))]
        noise = len(self.labels_) - sum(sizes)
        if noise:
            n = len(self.labels_)
            facts.append(("noise", f"{noise:,} of {n:,} objects ({noise / n:.1%})"))
        return facts

    def _html_of_fit(self) -> str:
        return pairs_html(self._facts())

    # Saving

    def to_state(self) -> store.State:
        """Return the arrays of a file: the objects, their clusters, and how X becomes numbers."""
        arrays: dict[str, NDArray[Any]] = {"labels": self.labels_, **self._learned()}
        if self.encoder_ is not None:
            arrays["encoder"] = np.frombuffer(self.encoder_.to_json(), np.uint8)
            arrays |= files.numbers_arrays(self._numbers)
        if self._scaling is not None:
            arrays["scales"] = self._scaling.ranges
        return arrays | files.settings(self, {})

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the model that :meth:`to_state` described."""
        facts, parameters = files.read_settings(state)
        model = cls(**parameters)
        model._check_parameters()
        labels = state["labels"]
        n = len(labels)
        if labels.dtype != np.int64 or labels.ndim != 1 or n == 0 or labels.min() < -1:
            raise InputError("'labels' are none")
        if labels.max() >= n:
            raise InputError("'labels' name more clusters than there are objects")
        model.labels_ = labels
        model.encoder_ = model._scaling = None
        if "encoder" in state:
            model.encoder_ = OneHot.from_json(state["encoder"].tobytes())
            files.read_names(model, facts, model.encoder_)
            width = len(model.encoder_.names)
            if "scales" in state:
                model._scaling = ColumnScaling(files.read_floats(state, "scales", (width,)))
            model._set_objects(files.read_numbers(state, n, model.encoder_))
        else:
            model._set_objects(None)
            model._set_width(n)
        model._restore(state, n)
        return model

    def _learned(self) -> dict[str, NDArray[Any]]:
        """Return what else a file holds."""
        return {}

    def _restore(self, state: store.State, n: int) -> None:
        """Take it from a file."""


def number_clusters(parts: NDArray[Any], least_size: int = 1) -> Ints:
    """Return the clusters of objects, the largest first; -1 where they are smaller than that.

    Of clusters of one size, the one whose first object comes first.

    >>> number_clusters(np.array([7, 3, 3, 5, 3, 7]), 2).tolist()
    [1, 0, 0, -1, 0, 1]
    """
    _, first, part, sizes = np.unique(
        parts, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    label = np.full(len(sizes), -1, np.int64)
    kept = order[sizes[order] >= least_size]
    label[kept] = np.arange(len(kept))
    return label[part]


def shown_sizes(sizes: list[int]) -> str:
    """Write how many clusters there are, and the sizes of the largest.

    >>> shown_sizes([4, 1_200])
    '2 of 1,200, 4 objects'
    """
    ordered = sorted(sizes, reverse=True)
    shown = ", ".join(f"{size:,}" for size in ordered[:_TOP]) + ", …" * (len(ordered) > _TOP)
    return f"{len(ordered):,}{' of ' * bool(ordered)}{shown} objects"
