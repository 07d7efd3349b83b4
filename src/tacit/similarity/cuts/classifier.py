"""Supervised normalised cut: a classifier by minimum cuts of the graph of near objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.similarity import state as files
from tacit.similarity.base import Objects, SimilarityClassifier
from tacit.similarity.cuts.labelling import (
    UNKNOWN,
    cut_labels,
    cut_margins,
    labelled_graph,
    neighbor_fractions,
)
from tacit.similarity.graph import near_graph
from tacit.similarity.svm.platt import fit_sigmoid, probabilities
from tacit.similarity.svm.scale import make_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit import store
    from tacit.scale import PartitionedTable
    from tacit.similarity.cuts.labelling import LabelledGraph

    Floats = NDArray[np.float64]

__all__ = ["NormalizedCutClassifier"]

KINDS = ("exponential", "rbf", "cosine")
NODE_WEIGHTS = ("degree", "neighbours")
_FOLDS = 5  # that probabilities are made from


def _has_probabilities(model: NormalizedCutClassifier) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is there only if probability=True in fit")
    return True


class NormalizedCutClassifier(SimilarityClassifier):
    """Classify objects together, by the cut that separates the fewest similar ones.

    After Hochbaum's supervised normalised cut. New objects and training objects are the nodes of a
    graph, similarities of near ones its edges. With two classes, S is to hold the training objects
    of the second class and none of the first, and minimises

        C(S, S̄) - balance · C(S, S),

    the similarity between S and the rest against that within S. This is solved exactly, by a
    minimum cut; of several solutions it is the one with the fewest members. More than two classes
    are one cut for each against all others; an object that several claim, or none, goes to the
    class with the largest fraction of its similarity to training objects.

    What is predicted for an object depends on the other objects that are predicted with it.

    Objects join a class one after another as the balance rises. The balance at which an object does
    so, against the one that decides, is its score (`decision_function`): it says how sure its class
    is, and orders objects, where the class alone does not.

    Parameters
    ----------
    scale : float, default 5.0
        ε of the similarity: how fast it falls with distance.
    balance : float, default 0.001
        λ of the objective: the larger, the more objects go to the second class.
    node_weights : {"degree", "neighbours"}
        "degree" is the objective above (SNC). "neighbours" (KSNC) sums node weights over S instead
        of C(S, S): the fraction of the class among the `n_neighbors` most similar training objects.
    n_neighbors : int, default 3
        For node weights by neighbours.
    kind : {"exponential", "rbf", "cosine"} or callable
        The similarity: exp(-ε‖x-y‖), exp(-ε‖x-y‖²), the cosine, or a function of two arrays of
        rows that returns one number, not negative, for each pair of rows.
    probability : bool, default False
        Whether to fit probabilities: Platt's sigmoid of the scores of training objects, of which
        each fifth is classified by the others.
    resolution, n_dimensions, projection
        Of the grid: see :class:`SparseComputation`.
    normalize : bool, default False
        Whether similarities are measured between columns scaled to [0, 1].
    group_width : float from 0 to 1, optional
        Objects of a class within this fraction of a block's width are replaced by one: see
        :class:`SparseKNeighborsClassifier`.
    random_state, n_jobs
        As of :class:`SparseComputation`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    computation_ : SparseComputation
        The projection and the grid.
    n_fallback_ : int
        Objects of the last prediction about which the graph says nothing, as they are connected
        with no training object: they have the class of the training object that is nearest in the
        projection.
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 4)) + 2 * y[:, None]
    >>> model = tacit.NormalizedCutClassifier(scale=1.0, resolution=5, random_state=0)
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    _kind: ClassVar[str] = "normalized_cut_classifier"

    def __init__(
        self,
        scale: float = 5.0,
        balance: float = 0.001,
        *,
        node_weights: Literal["degree", "neighbours"] = "degree",
        n_neighbors: int = 3,
        kind: str | Callable[[Any, Any], Any] = "exponential",
        probability: bool = False,
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        n_dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomized_svd",
        normalize: bool = False,
        group_width: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each object.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
            All objects are classified together; those of a PartitionedTable by groups, so that it
            takes `group_width`.
        """
        classes: NDArray[Any] = self.predict_path(X, [self.balance])[0]
        return classes

    def predict_path(self, X: Any, balances: Any) -> NDArray[Any]:
        """Return the classes of objects for several balances.

        Takes little longer than one: the graph is made once, and sets of members grow with the
        balance, so that most of what one cut decides need not be decided again.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        balances : array-like of shape (n_balances,)

        Returns
        -------
        ndarray of shape (n_balances, n_objects)
        """
        check_is_fitted(self)
        self._check_parameters()
        if isinstance(balances, str) or np.ndim(balances) == 0 or len(balances) == 0:
            raise InputError(f"balances must be a list of at least one number, got {balances!r}")
        values = np.array([check_number(b, "balances", 0) for b in balances])
        new = self._new_objects(X)
        codes = self._cut(new, values)
        unknown = codes == UNKNOWN
        isolated = np.flatnonzero(unknown.any(axis=0))
        self._set_fallback(new.count(unknown.any(axis=0)))
        if len(isolated):
            # What is near is defined by the projection, so that is where nearness has a meaning.
            nearest = cKDTree(self._training.coords).query(new.coords[isolated])[1]
            codes[:, isolated] = np.where(
                unknown[:, isolated], self._training.codes[nearest], codes[:, isolated]
            )
        classes: NDArray[Any] = self.classes_[new.expand(np.ascontiguousarray(codes.T)).T]
        return classes

    def decision_function(self, X: Any) -> Floats:
        """Return how far objects are from changing sides as the balance falls or rises.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
            All objects are classified together, as by :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_objects,) for two classes, else (n_objects, n_classes)
            The balance that decides less the one beyond which the object is claimed, both as
            ``balance / (2 + |balance|)``, from -2 to 2; by neighbours as
            ``balance / (1 + |balance|)``.
            Positive for members of the second of two classes. Of more classes, the one that is
            predicted is the highest: where that is not the case by itself, since several claim the
            object or none, the two exchange their scores. Objects of which the graph says nothing
            have scores next to 0.
        """
        check_is_fitted(self)
        self._check_parameters()
        new = self._new_objects(X)
        margins, isolated = self._margins(new, self._training)
        self._set_fallback(new.count(isolated))
        decisions = new.expand(margins)
        return decisions[:, 0] if len(self.classes_) == 2 else decisions

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each object, from its scores.

        Probabilities are fitted apart from the cut, so that the most probable class need not be the
        one that is predicted.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        check_is_fitted(self)
        if self._sigmoids is None:
            raise InputError("probability was not True when the model was fitted")
        return probabilities(self.decision_function(X), self._sigmoids)

    def _answer_partitions(
        self, method: Callable[..., Any], X: PartitionedTable, options: dict[str, Any]
    ) -> NDArray[Any]:
        classes: NDArray[Any] = method(self, X, **options)  # all objects are classified together
        return classes

    def _facts(self) -> list[tuple[str, str]]:
        kind = getattr(self.kind, "__name__", self.kind)
        by = f"{self.n_neighbors} neighbours" if self.node_weights == "neighbours" else "degree"
        return [
            ("similarity", f"{kind}, scale {self.scale:g}"),
            ("cut", f"balance {self.balance:g}, nodes weighted by {by}"),
        ]

    def _learn(self, objects: Objects) -> None:
        super()._learn(objects)
        self._sigmoids: Floats | None = None
        if self.probability:
            self._sigmoids = self._fit_sigmoids(objects)

    def _fit_sigmoids(self, objects: Objects) -> Floats:
        """Return slope and offset of each score, from fifths of the objects left out."""
        n_classes = len(self.classes_)
        wanted = [1] if n_classes == 2 else range(n_classes)
        signs = np.stack([np.where(objects.codes == code, 1.0, -1.0) for code in wanted])
        folds = make_folds(signs, make_generator(self.random_state), _FOLDS)
        margins = np.zeros((len(objects), len(wanted)))
        for fold in np.unique(folds):
            out = folds == fold
            if not out.all():
                margins[out] = self._margins(objects.take(out), objects.take(~out))[0]
        return np.array(
            [fit_sigmoid(m, y, objects.weights) for m, y in zip(margins.T, signs, strict=True)]
        )

    def _cut(self, new: Objects, balances: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return codes of classes for each balance; -1 where the graph says nothing."""
        problem, weights = self._problem(new, self._training)
        return cut_labels(problem, balances, node_weights=weights, n_jobs=self.n_jobs)

    def _margins(self, new: Objects, training: Objects) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the scores of objects, and of which of them the graph says nothing."""
        problem, weights = self._problem(new, training)
        balance = float(self.balance)
        n_jobs = self.n_jobs
        margins = cut_margins(problem, balance, node_weights=weights, n_jobs=n_jobs)
        codes = cut_labels(problem, np.array([balance]), node_weights=weights, n_jobs=n_jobs)[0]
        isolated = codes == UNKNOWN
        tiny = np.finfo(np.float64).tiny
        if isolated.any():
            margins[isolated] = -tiny
            nearest = cKDTree(training.coords).query(new.coords[isolated])[1]
            codes[isolated] = training.codes[nearest]
        if margins.shape[1] == 1:  # rounding must not put an object on the other side
            second = codes == 1
            margins[:, 0] = np.where(
                second, np.maximum(margins[:, 0], tiny), np.minimum(margins[:, 0], 0.0)
            )
            return margins, isolated
        rows, best = np.arange(len(codes)), margins.argmax(axis=1)
        margins[rows, best], margins[rows, codes] = margins[rows, codes], margins[rows, best]
        margins[isolated, codes[isolated]] = tiny
        equal = margins.argmax(axis=1) != codes
        margins[rows[equal], codes[equal]] = np.nextafter(margins[equal].max(axis=1), np.inf)
        return margins, isolated

    def _problem(self, new: Objects, training: Objects) -> tuple[LabelledGraph, Floats | None]:
        """Return the graph of new objects and their similarity to training objects; weights."""
        grid, classes = self.computation_.grid_, (training.codes, len(self.classes_))
        measure: dict[str, Any] = {
            "kind": self.kind, "scale": float(self.scale), "n_jobs": self.n_jobs
        }  # fmt: skip
        graph = near_graph(grid, new.coords, new.numbers, **measure)
        others = (training.coords, training.numbers)
        links = near_graph(grid, new.coords, new.numbers, others=others, **measure)
        for similarities in (graph, links):
            _check_similarities(similarities.data)
        problem = labelled_graph(graph, links, *classes, new.weights, training.weights)
        weights = None
        if self.node_weights == "neighbours":
            k = int(self.n_neighbors)
            weights = neighbor_fractions(links, *classes, training.weights, k, n_jobs=self.n_jobs)
            weights *= new.weights[:, None]
        return problem, weights

    # Saving

    def _learned_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super()._learned_state()
        return facts, arrays if self._sigmoids is None else arrays | {"sigmoids": self._sigmoids}

    def _restore(
        self, facts: dict[str, Any], state: store.State, coords: Floats, numbers: Any
    ) -> None:
        n, n_classes = len(coords), len(self.classes_)
        codes = files.read_codes(state, n, n_classes)
        weights = files.read_floats(state, "weights", (n,))
        super()._learn(Objects(coords, numbers, codes, weights))
        self._sigmoids = None
        if "sigmoids" in state:
            n_scores = 1 if n_classes == 2 else n_classes
            self._sigmoids = files.read_floats(state, "sigmoids", (n_scores, 2))

    def _check_parameters(self) -> None:
        check_number(self.balance, "balance", 0)
        check_flag(self.probability, "probability")
        check_number(self.scale, "scale", 0, above=True)
        count_jobs(self.n_jobs)
        check_int(self.n_neighbors, "n_neighbors", 1)
        check_choice(self.node_weights, "node_weights", NODE_WEIGHTS)
        if not callable(self.kind) and self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS} or callable, got {self.kind!r}")


def _check_similarities(values: NDArray[np.float64]) -> None:
    """Refuse similarities that cannot be capacities: those of a callable, or cosines below 0."""
    if len(values) and not (values.min() >= 0 and values.max() < np.inf):
        raise InputError(
            "kind: similarities must be finite and not negative, but they range from "
            f"{values.min():g} to {values.max():g}"
        )
