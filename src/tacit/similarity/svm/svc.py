"""Support vector classification on similarities of near objects only."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import (
    check_choice,
    check_flag,
    check_number,
    make_generator,
    store_parameters,
)
from tacit.similarity import state as files
from tacit.similarity.base import Objects, SimilarityClassifier
from tacit.similarity.grid.blocks import Blocks
from tacit.similarity.svm.definite import smallest_eigenvalue
from tacit.similarity.svm.dual import Dual, KernelMatrix, signs_of, solve
from tacit.similarity.svm.platt import fit_sigmoid, probabilities
from tacit.similarity.svm.scale import choose_scale, make_folds
from tacit.similarity.svm.taper import near_squares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit import store
    from tacit.similarity.sparse_computation import SparseComputation

    Floats = NDArray[np.float64]

__all__ = ["SparseSVC", "decided_codes"]

_INDEFINITE = ("shift", "warn", "ignore")
_FOLDS = 5  # that probabilities are made from
_TOLERANCE = 1e-6  # an eigenvalue this little below 0 is rounding
_LARGE_SHIFT = 0.5  # of a diagonal of ones: objects are told apart from their like by that much
_ALL_UP_TO = 4000  # objects, all pairs of which are near
_MOST_NEAR = 1500  # objects, in the mean, that are near one of more
_MOST_ENTRIES = 6e7  # of the matrix


def _has_probabilities(model: SparseSVC) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is there only if probability=True in fit")
    return True


class SparseSVC(SimilarityClassifier):
    """Support vector machine with an RBF kernel that falls to 0 where objects are no longer near.

    Objects are near if they are in the same block, or in blocks that touch, of a grid over a
    projection: see :class:`SparseComputation`. Only their similarities exp(-scale · ‖x - y‖²) are
    computed, stored and read, so that time and memory grow with the number of near pairs and not
    with the square of the number of objects. The solver is sequential minimal optimisation by
    second order; the decision function is that of LIBSVM for the same matrix.

    An RBF that is cut off where the grid ends may have negative eigenvalues. By default it is
    tapered instead: multiplied with the product, over the dimensions of the grid, of 1 less the
    difference of two objects' coordinates in intervals, or 0 from one interval on. That is a
    Wendland function of each coordinate, positive definite in any number of dimensions, and so is
    the product of it with the RBF: the problem is convex as it stands.

    With several classes, each is separated from the rest.

    Parameters
    ----------
    scale : float or "auto"
        The greater, the faster similarity falls with distance. Often called gamma. "auto" takes one
        of 0.5, 1, 2, 4 and 8 divided by the variance of all columns together: the one that tells
        thirds of at most 1,200 of the objects apart best.
    C : float, default 1.0
        The upper limit of coefficients; the smaller, the smoother.
    taper : bool, default True
        Whether the kernel falls to 0 smoothly. If not, it is cut off, as Hochbaum and Baumann do.
    indefinite : {"shift", "warn", "ignore"}
        For kernels that are cut off. What to do if the smallest eigenvalue is negative: add its
        size to the diagonal, which makes the problem convex (where that is more than half of the
        diagonal, there is a warning); warn; or do not compute it at all. The smaller `scale` and
        the finer the grid, the farther it is below 0.
    class_weight : "balanced", mapping or None
        Factors of C by class.
    probability : bool, default False
        Whether to fit probabilities, from five folds of the same matrix by Platt's method.
    tol : float, default 1e-3
        By how much the conditions of optimality may be missed.
    max_iter : int, default -1
        The most iterations; -1 for no limit.
    resolution, n_dimensions, projection
        Of the grid: see :class:`SparseComputation`. With "auto", all pairs are near up to 4,000
        objects; of more, the grid is as coarse as leaves 1,500 near ones to each in the mean, but
        60 million pairs at most. (With `group_width`, it follows from the number of objects.)
    normalize : bool, default True
        Whether distances are measured between columns scaled to [0, 1]. The projection always is
        made of scaled columns.
    group_width : float from 0 to 1, optional
        Objects of a class within this fraction of a block's width are replaced by one: see
        :class:`SparseKNeighborsClassifier`.
    random_state, n_jobs
        As of :class:`SparseComputation`; folds are drawn, too.

    Attributes
    ----------
    classes_ : ndarray
    support_ : ndarray of shape (n_support,)
        Numbers of the support vectors among the training objects, or among their representatives.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        One problem for two classes, else one for each class.
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    scale_ : float
        The scale that was used.
    smallest_eigenvalue_ : float or None
        A lower bound, and a close one if it is negative: 0 for a tapered kernel, which has none
        below. None if it was not computed.
    shift_ : float
        What was added to the diagonal.
    computation_ : SparseComputation
        Projection and grid.
    n_fallback_ : int
        How many objects of the last prediction had no support vector near. They get the decision of
        the training object that is nearest in the projection.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(3_000, 6, n_clusters=8, random_state=0)
    >>> model = tacit.SparseSVC(scale=0.5, resolution=6, random_state=0).fit(X[:2_000], y[:2_000])
    >>> bool(model.score(X[2_000:], y[2_000:]) > 0.9)
    True
    """

    _kind: ClassVar[str] = "sparse_svc"

    def __init__(
        self,
        scale: float | Literal["auto"] = "auto",
        C: float = 1.0,
        *,
        taper: bool = True,
        indefinite: Literal["shift", "warn", "ignore"] = "shift",
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = -1,
        resolution: int | Sequence[int] | Literal["auto"] = "auto",
        n_dimensions: int | Literal["auto"] = "auto",
        projection: str = "randomized_svd",
        normalize: bool = True,
        group_width: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X, y
            Objects and their classes, as in :meth:`SparseKNeighborsClassifier.fit`.
        sample_weight : array-like of shape (n_objects,), optional
            Factors of C. An object with weight 0 is used for the projection alone.
        """
        self._check_parameters()
        self._learn(self._training_objects(X, y), sample_weight)
        return self

    def _check_partitions(self, sample_weight: Any = None, **options: Any) -> None:
        if sample_weight is not None:
            raise InputError("sample_weight cannot be given for X in partitions")

    def decision_function(self, X: Any) -> Floats:
        """Return on which side of the decision boundary objects are, and how far from it.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable

        Returns
        -------
        ndarray of shape (n_objects,) for two classes, else (n_objects, n_classes)
            Positive for the second of two classes; else greatest for the class that is predicted.
        """
        objects = self._new_objects(X)
        decisions = objects.expand(self._decide(objects))
        return decisions[:, 0] if len(self.classes_) == 2 else decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each object: the most probable one if there are probabilities.

        Platt's method fits them apart from the decision boundary, so that `probability` can move
        objects near the boundary to another class.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        check_is_fitted(self)
        codes = self._codes(self.decision_function(X))
        return np.asarray(self.classes_[codes])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each object, by Platt's method.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
        """
        check_is_fitted(self)
        if self._sigmoids is None:
            raise InputError("probability was not True when the model was fitted")
        return probabilities(self.decision_function(X), self._sigmoids)

    # Steps of fit

    def _learn(self, objects: Objects, sample_weight: Any = None) -> None:
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise InputError(f"y has one class only, {only!r}; two are needed")
        limits = self._limits(objects, sample_weight)
        # Sorted by block, near objects are close together in memory, and so are their gradients.
        order = Blocks.of(self.computation_.grid_, objects.coords).order
        coords, numbers, limits = objects.coords[order], objects.numbers[order], limits[order]
        signs = signs_of(objects.codes[order], len(self.classes_))
        self.scale_ = self._choose_scale(numbers, signs, limits)
        squares = near_squares(
            self.computation_.grid_, coords, numbers, taper=self.taper, n_jobs=self.n_jobs
        )
        graph = squares.kernel(self.scale_, copy=False)
        kernel = self._make_convex(KernelMatrix(graph, np.ones(len(order))))
        self._keep_support(self._solve(kernel, signs, limits), coords, numbers, order)
        self._sigmoids = self._fit_sigmoids(kernel, signs, limits) if self.probability else None
        self._set_fallback(0)

    def _computation(self) -> SparseComputation:
        sc = super()._computation()
        if self.group_width is None:  # groups are made within blocks: these must be small
            sc._wanted_near = (_MOST_NEAR, _MOST_ENTRIES, _ALL_UP_TO)
        return sc

    def _choose_scale(self, numbers: Any, signs: Floats, limits: Floats) -> float:
        """Return the scale that was asked for, or the best one for objects sorted by block."""
        if self.scale != "auto":
            return float(self.scale)
        return choose_scale(numbers, signs, limits, tol=float(self.tol), n_jobs=self.n_jobs)

    def _check_parameters(self) -> None:
        for name in ("scale", "C", "tol"):
            if name != "scale" or self.scale != "auto":
                check_number(getattr(self, name), name, 0, above=True)
        check_flag(self.taper, "taper")
        check_choice(self.indefinite, "indefinite", _INDEFINITE)
        if self.max_iter != -1:
            check_int(self.max_iter, "max_iter", 1)

    def _limits(self, objects: Objects, sample_weight: Any) -> Floats:
        """Return the upper limit of each object's coefficient."""
        weights = objects.weights
        if sample_weight is not None:
            groups = objects.groups if isinstance(objects.groups, np.ndarray) else None
            weights = _check_weights(sample_weight, len(objects), groups)
            if groups is not None:
                weights = np.bincount(groups, weights, len(objects)).astype(np.float64)
        factors = np.ones(len(self.classes_))
        if self.class_weight is not None:
            try:
                factors = compute_class_weight(
                    self.class_weight, classes=self.classes_, y=self.classes_
                )
            except ValueError as error:
                raise InputError(f"class_weight: {error}") from None
            if isinstance(self.class_weight, str):  # balanced: all objects count, grouped or not
                counts = np.bincount(objects.codes, objects.weights, len(self.classes_))
                factors = counts.sum() / (len(self.classes_) * counts)
        limits: Floats = float(self.C) * weights * factors[objects.codes]
        if len(np.unique(objects.codes[limits > 0])) < 2:
            raise InputError("sample_weight or class_weight leaves objects of one class only")
        return limits

    def _make_convex(self, kernel: KernelMatrix) -> KernelMatrix:
        """Return the matrix, its diagonal shifted where that is needed and wanted."""
        self.smallest_eigenvalue_: float | None = None
        self.shift_ = 0.0
        if self.taper:
            self.smallest_eigenvalue_ = 0.0
            return kernel
        if self.indefinite == "ignore":
            return kernel
        self.smallest_eigenvalue_ = smallest_eigenvalue(kernel)
        if self.smallest_eigenvalue_ >= -_TOLERANCE:
            return kernel
        if self.indefinite == "warn":
            warnings.warn(
                "the similarities of near objects are no positive definite kernel: the smallest "
                f"eigenvalue is {self.smallest_eigenvalue_:.3g}; taper=True, a larger scale, a "
                "coarser resolution or indefinite='shift' mends that",
                UserWarning,
                stacklevel=3,
            )
            return kernel
        self.shift_ = -self.smallest_eigenvalue_
        if self.shift_ > _LARGE_SHIFT:
            warnings.warn(
                f"{self.shift_:.3g} was added to the diagonal of ones, since the smallest "
                "eigenvalue of the similarities of near objects is "
                f"{self.smallest_eigenvalue_:.3g}: what "
                f"objects have in common counts {1 + self.shift_:.3g} times less beside what each "
                "is by itself; taper=True needs no shift, a larger scale or a coarser resolution "
                "a smaller one",
                UserWarning,
                stacklevel=3,
            )
        return kernel.shifted(self.shift_)

    def _solve(self, kernel: KernelMatrix, signs: Floats, limits: Floats) -> Dual:
        max_iter = int(self.max_iter)
        return solve(
            kernel, signs, limits, tol=float(self.tol), max_iter=max_iter, n_jobs=self.n_jobs
        )

    def _keep_support(
        self, dual: Dual, coords: Floats, numbers: Any, order: NDArray[np.int32]
    ) -> None:
        """Keep the support vectors, and the coordinates and decisions of all objects."""
        support = np.flatnonzero(dual.coefficients.any(axis=0))
        self.support_ = order[support].astype(np.int64)
        self.dual_coef_ = np.ascontiguousarray(dual.coefficients[:, support])
        self.intercept_ = dual.intercepts
        self.n_iter_ = dual.n_iter
        self._support = coords[support], numbers[support]
        self._decided = coords, np.ascontiguousarray(dual.decisions.T)

    def _fit_sigmoids(self, kernel: KernelMatrix, signs: Floats, limits: Floats) -> Floats:
        """Return slope and offset of each problem, from objects held out."""
        folds = make_folds(signs, make_generator(self.random_state), _FOLDS)
        held_out = np.empty_like(signs)
        for fold in range(_FOLDS):
            out = folds == fold
            dual = self._solve(kernel, signs, np.where(out, 0.0, limits))
            held_out[:, out] = dual.decisions[:, out]
        weights = limits / float(self.C)
        return np.array([fit_sigmoid(f, y, weights) for f, y in zip(held_out, signs, strict=True)])

    # Steps of predictions

    def _decide(self, objects: Objects) -> Floats:
        """Return the decision of each problem for each object."""
        squares = near_squares(
            self.computation_.grid_, objects.coords, objects.numbers, self._support,
            taper=self.taper, n_jobs=self.n_jobs,
        )  # fmt: skip
        graph = squares.kernel(self.scale_, copy=False)
        decisions: Floats = graph @ self.dual_coef_.T + self.intercept_
        isolated = np.diff(graph.indptr) == 0
        self._set_fallback(objects.count(isolated))
        if isolated.any():
            coords, known = self._decided
            _, nearest = cKDTree(coords).query(objects.coords[isolated])
            decisions[isolated] = known[nearest]
        return decisions

    def _codes(self, decisions: Floats) -> NDArray[np.int32]:
        """Return the classes that decisions stand for, by way of probabilities if there are any."""
        if self._sigmoids is None:
            return decided_codes(decisions)
        return np.asarray(probabilities(decisions, self._sigmoids).argmax(axis=1), np.int32)

    # Showing and saving

    def _facts(self) -> list[tuple[str, str]]:
        smallest = self.smallest_eigenvalue_
        known = "unknown" if smallest is None else f"{smallest:.4g}"
        return [
            (
                "kernel",
                f"exp(-{self.scale_:.4g} · distance²){', tapered' * self.taper}, C = {self.C:g}",
            ),
            ("smallest eigenvalue", f"{known}; the diagonal is shifted by {self.shift_:.4g}"),
            ("support vectors", f"{len(self.support_):,} of {len(self._decided[0]):,} objects"),
        ]

    def _training_classes(self) -> tuple[Floats, NDArray[np.int32]]:
        """Return the coordinates of training objects, and the classes that are decided on."""
        coords, decisions = self._decided
        return coords, self._codes(decisions)

    def _learned_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        coords, numbers = self._support
        arrays = {
            "support": self.support_,
            "dual_coef": self.dual_coef_,
            "intercept": self.intercept_,
            "n_iter": self.n_iter_,
            "coords": coords,
            "training_coords": self._decided[0],
            "training_decisions": self._decided[1],
        }
        if self._sigmoids is not None:
            arrays["sigmoids"] = self._sigmoids
        facts = {
            "shift": self.shift_,
            "smallest": self.smallest_eigenvalue_,
            "scale": self.scale_,
        }
        return facts, arrays | files.numbers_arrays(numbers)

    def _restore(
        self, facts: dict[str, Any], state: store.State, coords: Floats, numbers: Any
    ) -> None:
        n, n_classes = len(coords), len(self.classes_)
        n_problems = 1 if n_classes == 2 else n_classes
        if n_classes < 2:
            raise InputError("it has one class only")
        self._support = coords, numbers
        self.support_ = state["support"]
        if self.support_.shape != (n,) or self.support_.dtype != np.int64:
            raise InputError("'support' is not as long as 'coords'")
        self.dual_coef_ = files.read_floats(state, "dual_coef", (n_problems, n))
        self.intercept_ = files.read_floats(state, "intercept", (n_problems,))
        self.n_iter_ = state["n_iter"]
        m = len(state["training_coords"])
        self._decided = (
            files.read_floats(state, "training_coords", (m, coords.shape[1])),
            files.read_floats(state, "training_decisions", (m, n_problems)),
        )
        if m == 0:
            raise InputError("it has no training objects")
        self._sigmoids = None
        if "sigmoids" in state:
            self._sigmoids = files.read_floats(state, "sigmoids", (n_problems, 2))
        self._set_fallback(0)
        self.shift_ = float(facts["shift"])
        self.scale_ = float(facts.get("scale") or self.scale)
        smallest = facts["smallest"]
        self.smallest_eigenvalue_ = None if smallest is None else float(smallest)


def decided_codes(decisions: Floats) -> NDArray[np.int32]:
    """Return the classes that decisions stand for: one column of two classes, else one for each."""
    columns = decisions.reshape(len(decisions), -1)
    codes = columns.argmax(axis=1) if columns.shape[1] > 1 else columns[:, 0] > 0
    return codes.astype(np.int32)


def _check_weights(given: Any, n: int, groups: NDArray[np.int32] | None) -> Floats:
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers") from None
    expected = n if groups is None else len(groups)
    if weights.shape != (expected,):
        raise InputError(
            f"sample_weight must be one number for each of {expected:,} objects, got the shape "
            f"{weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("sample_weight must be finite and not negative")
    if not weights.any():
        raise InputError("sample_weight: all weights are zero")
    return weights
