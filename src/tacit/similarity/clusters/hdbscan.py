"""Clusters of any shape by density: HDBSCAN, exact, without comparing all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_flag, check_number, store_parameters
from tacit.plot.html import pairs_html
from tacit.similarity import state as files
from tacit.similarity.base import refuse_huge
from tacit.similarity.clusters.condensed import NOISE, CondensedTree, Selection, condense
from tacit.similarity.clusters.reachability import first_reached, metric_tree, unit_rows
from tacit.similarity.near_graph.near_graph import NearGraph
from tacit.similarity.neighbors.exact import ExactIndex, exact_index
from tacit.similarity.projection.centred import ColumnScaling
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit import store

    Floats = NDArray[np.float64]

__all__ = ["SparseHDBSCAN"]

_METHODS = ("eom", "leaf")
_METRICS = ("euclidean", "cosine")
_TOP = 20  # clusters that a text names


class SparseHDBSCAN(ClusterMixin, Estimator):  # type: ignore[misc]
    """Clusters as regions where objects are dense, of any shape, at several densities; noise apart.

    Two objects reach each other at the largest of their distance and of the distances to the
    `min_samples`-th nearest object of both. The minimum spanning tree of these is found exactly:
    Borůvka's rounds over small boxes of objects, most of which are too far away, or hold nothing
    but the cluster that is to grow, and are passed over. Along the tree, clusters divide as the
    density rises; of all of them, those that last longest are chosen.

    The labels are those of other exact implementations with ``min_samples=1``, or wherever no two
    edges tie. With more, many edges are as long as one core distance that they share, and
    implementations differ from each other by a few objects. Here an object between two clusters at
    one and the same density goes to the one it is closer to.

    After Campello, Moulavi and Sander (2013).

    Parameters
    ----------
    min_cluster_size : int, default 5
        The fewest objects of a cluster, 2 or more.
    min_samples : int, optional
        Which nearest object says how dense it is around one; the object itself is the first. The
        greater, the more objects are noise. By default, `min_cluster_size`.
    cluster_selection_method : {"eom", "leaf"}
        Whether clusters last longest together ("excess of mass"), or are those not divided further.
    cluster_selection_epsilon : float, default 0
        Clusters that begin at a smaller distance are not told apart.
    allow_single_cluster : bool, default False
        Whether all objects may be one cluster.
    metric : {"euclidean", "cosine"}
        The distance; the cosine's is 1 less the cosine.
    normalize : bool, default False
        Whether distances are measured between columns scaled to [0, 1].
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_objects,)
        The cluster of each object, from 0 on; -1 for noise.
    probabilities_ : ndarray of shape (n_objects,)
        How firmly objects are in their clusters: 1 for those that stay longest, 0 for noise.
    n_clusters_ : int
    cluster_persistence_ : ndarray of shape (n_clusters,)
        The stability of each cluster: the sum over its objects of how long each stays, in λ.
    condensed_tree_ : CondensedTree
        All clusters, chosen or not.
    selected_ : ndarray of int64, shape (n_clusters,)
        The number of each cluster in the tree.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 600)
    >>> radius = np.repeat([1.0, 3.0], 300) + rng.normal(scale=0.1, size=600)
    >>> rings = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    >>> model = tacit.similarity.SparseHDBSCAN(min_cluster_size=20).fit(rings)
    >>> model.n_clusters_, np.unique(model.labels_[:300]).size
    (2, 1)
    >>> bool(model.predict([[0.0, 1.0]])[0] == model.labels_[0])
    True
    """

    _kind: ClassVar[str] = "sparse_hdbscan"
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    condensed_tree_: CondensedTree
    labels_: NDArray[np.int64]
    probabilities_: Floats
    encoder_: OneHot

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        *,
        cluster_selection_method: Literal["eom", "leaf"] = "eom",
        cluster_selection_epsilon: float = 0.0,
        allow_single_cluster: bool = False,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse array, frame or Table of shape (n_objects, n_columns)
            Numbers; columns of a frame that hold other labels become columns of 0 and 1. Arrays are
            not copied: do not change them while the model is in use.
        y : ignored
        """
        self._check_parameters()
        if isinstance(X, NearGraph):
            raise InputError("X is a NearGraph; SparseHDBSCAN takes the objects themselves")
        self.encoder_, numbers = OneHot.fit(X, self)
        self._scaling = ColumnScaling.of(numbers) if self.normalize else None
        self._set_objects(self._measured(numbers))
        n = self._numbers.shape[0]
        n_core = self._n_core(n)
        tree = metric_tree(self._numbers, n_core, self.metric, self.n_jobs)
        self._cores = tree.cores
        self._keep(condense(tree, int(self.min_cluster_size)))
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Find the clusters, and return that of each object.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        """
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster that each object would be in if it came alone; -1 for noise.

        It would leave the tree's clusters where it reaches its first object. The tree itself stays
        as it is. An object that was fitted counts once more when it comes again, so that it is
        denser around it: what was noise may then be at the edge of a cluster.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        return self._place(X)[0]

    def membership(self, X: Any) -> Floats:
        """Return how firmly objects would be in their clusters, as `probabilities_` says it.

        Parameters
        ----------
        X : like the one that was fitted
        """
        return self._place(X)[1]

    def _place(self, X: Any) -> tuple[NDArray[np.int64], Floats]:
        check_is_fitted(self)
        numbers = self._measured(self.encoder_.transform(X, self))
        if numbers.dtype != self._numbers.dtype:
            with np.errstate(over="ignore"):
                numbers = numbers.astype(self._numbers.dtype)
        refuse_huge(numbers, np.zeros((1, 1)))
        n_core = self._n_core(len(self._cores))
        reached = first_reached(self._index(), numbers, self._cores, n_core, self.n_jobs)
        tree = self.condensed_tree_
        with np.errstate(divide="ignore"):
            lambdas = np.minimum(1 / reached.reach, tree.object_lambdas[reached.objects])
        clusters = tree.object_clusters[reached.objects].copy()
        while True:  # up to the cluster that has begun already
            early = tree.births[clusters] > lambdas
            if not early.any():
                break
            clusters[early] = tree.cluster_parents[clusters[early]]
        labels = self._selection.labels(clusters, lambdas)
        return labels, self._selection.probabilities(labels, lambdas)

    # Steps of fit

    def _check_parameters(self) -> None:
        check_int(self.min_cluster_size, "min_cluster_size", 2)
        if self.min_samples is not None:
            check_int(self.min_samples, "min_samples", 1)
        check_choice(self.cluster_selection_method, "cluster_selection_method", _METHODS)
        check_choice(self.metric, "metric", _METRICS)
        check_number(self.cluster_selection_epsilon, "cluster_selection_epsilon", 0)
        check_flag(self.allow_single_cluster, "allow_single_cluster")
        check_flag(self.normalize, "normalize")
        count_jobs(self.n_jobs)

    def _n_core(self, n: int) -> int:
        """Return which nearest object the core distance is to."""
        if self.min_samples is None:
            return min(int(self.min_cluster_size), n)
        if self.min_samples > n:
            raise InputError(
                f"min_samples must be at most {n}, the number of objects; got {self.min_samples}"
            )
        return int(self.min_samples)

    def _measured(self, numbers: Any) -> Any:
        """Return what distances are measured between."""
        scaled = numbers if self._scaling is None else self._scaling(numbers)
        return unit_rows(scaled) if self.metric == "cosine" else scaled

    def _set_objects(self, numbers: Any) -> None:
        refuse_huge(numbers, np.zeros((1, 1)))
        self._numbers = numbers
        self._kept: dict[str, ExactIndex] = {}  # in a dict, as predictions set no attributes

    def _index(self) -> ExactIndex:
        if "index" not in self._kept:
            self._kept["index"] = exact_index(self._numbers, self.metric, self.n_jobs)
        return self._kept["index"]

    def _keep(self, tree: CondensedTree) -> None:
        """Choose clusters of the tree, and set what follows from them."""
        self.condensed_tree_ = tree
        self._selection = Selection.choose(
            tree,
            self.cluster_selection_method,
            allow_single=bool(self.allow_single_cluster),
            epsilon=float(self.cluster_selection_epsilon),
        )
        self.selected_ = self._selection.chosen
        self.n_clusters_ = len(self.selected_)
        self.cluster_persistence_ = tree.stabilities[self.selected_]
        self.labels_ = self._selection.labels(tree.object_clusters, tree.object_lambdas)
        self.probabilities_ = self._selection.probabilities(self.labels_, tree.object_lambdas)

    # Showing

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each cluster: size, stability, and the λ at which it begins and ends.

        The last row, with the label -1, is the noise.
        """
        check_is_fitted(self)
        sizes = np.bincount(self.labels_ + 1, minlength=self.n_clusters_ + 1)
        tree, chosen = self.condensed_tree_, self.selected_
        return pl.DataFrame(
            {
                "label": [*range(self.n_clusters_), NOISE],
                "size": [*sizes[1:].tolist(), int(sizes[0])],
                "stability": [*self.cluster_persistence_.tolist(), None],
                "birth": [*tree.births[chosen].tolist(), None],
                "death": [*tree.deaths[chosen].tolist(), None],
            },
            schema_overrides={"stability": pl.Float64, "birth": pl.Float64, "death": pl.Float64},
        )

    def to_text(self) -> str:
        """Return how many clusters there are, and the sizes of the largest."""
        return "\n".join(f"{name:<8}  {text}" for name, text in self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        check_is_fitted(self)
        frame = self.to_frame()
        sizes = sorted(frame["size"][:-1].to_list(), reverse=True)
        shown = ", ".join(f"{size:,}" for size in sizes[:_TOP]) + ", …" * (len(sizes) > _TOP)
        noise, n = frame["size"][-1], len(self.labels_)
        return [
            ("clusters", f"{self.n_clusters_:,}{' of ' * bool(sizes)}{shown} objects"),
            ("noise", f"{noise:,} of {n:,} objects ({noise / n:.1%})"),
        ]

    def _html_of_fit(self) -> str:
        return pairs_html(self._facts())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the condensed tree, with the clusters that were chosen in colours.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        check_is_fitted(self)
        return self.condensed_tree_.plot(ax, selected=self.selected_.tolist())

    # Saving

    def to_state(self) -> store.State:
        """Return the objects, their core distances and the condensed tree."""
        tree = self.condensed_tree_
        arrays: dict[str, NDArray[Any]] = {
            "encoder": np.frombuffer(self.encoder_.to_json(), np.uint8),
            "cores": self._cores,
            "cluster_parents": tree.cluster_parents,
            "births": tree.births,
            "cluster_sizes": tree.cluster_sizes,
            "object_clusters": tree.object_clusters,
            "object_lambdas": tree.object_lambdas,
        }
        if self._scaling is not None:
            arrays["scales"] = self._scaling.ranges
        return arrays | files.numbers_arrays(self._numbers) | files.settings(self, {})

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the model that :meth:`to_state` described."""
        facts, parameters = files.read_settings(state)
        model = cls(**parameters)
        model._check_parameters()
        model.encoder_ = OneHot.from_json(state["encoder"].tobytes())
        files.read_names(model, facts, model.encoder_)
        n, width = len(state["cores"]), len(model.encoder_.names)
        model._scaling = None
        if "scales" in state:
            model._scaling = ColumnScaling(files.read_floats(state, "scales", (width,)))
        model._set_objects(files.read_numbers(state, n, model.encoder_))
        model._cores = files.read_floats(state, "cores", (n,))
        model._n_core(n)
        model._keep(_read_tree(state, n))
        return model


def _read_tree(state: store.State, n: int) -> CondensedTree:
    """Return the condensed tree of a file, or say what is wrong with it."""
    names = ("cluster_parents", "births", "cluster_sizes", "object_clusters", "object_lambdas")
    parents, births, sizes, clusters, lambdas = (state[name] for name in names)
    k = len(parents)
    for name, dtype, length in zip(names, "idiid", (k, k, k, n, n), strict=True):
        wanted = np.int64 if dtype == "i" else np.float64
        if state[name].dtype != wanted or state[name].shape != (length,):
            raise InputError(f"{name!r} is not as long as it should be, or of another type")
    if k == 0 or parents[0] != -1 or not (parents[1:] < np.arange(1, k)).all():
        raise InputError("'cluster_parents' do not come before their parts")
    if (parents[1:] < 0).any() or not ((clusters >= 0) & (clusters < k)).all():
        raise InputError("'object_clusters' or 'cluster_parents' name clusters that are not there")
    if not ((births >= 0).all() and births[0] == 0 and (lambdas >= 0).all()):
        raise InputError("'births' or 'object_lambdas' are no densities")
    if not (births[1:] >= births[parents[1:]]).all() or not (sizes >= 1).all():
        raise InputError("'births' or 'cluster_sizes' are not those of parts")
    return CondensedTree(parents, births, sizes, clusters, lambdas)
