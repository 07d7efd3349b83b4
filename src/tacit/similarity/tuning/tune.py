"""Tuning of classifiers by similarity: one part to learn from, one to choose by, one to test on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.metrics import f1_score

from tacit.errors import InputError, refuse_partitions
from tacit.parameters import make_generator
from tacit.progress import show_progress
from tacit.similarity.base import Objects, SimilarityClassifier, refuse_huge
from tacit.similarity.projection.encoding import Encoder
from tacit.similarity.projection.scaling import column_ranges, scale_columns
from tacit.similarity.sparse_computation import SparseComputation
from tacit.similarity.tuning.methods import Method, method_of
from tacit.table.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Tuning", "score_codes", "tune"]

_SCORES = ("accuracy", "f1")
_GEOMETRY = ("resolution", "dimensions", "projection", "delta")  # what the grid depends on


@dataclass(frozen=True)
class Tuning:
    """What tuning found.

    Attributes
    ----------
    best_estimator : classifier
        With the best parameters, fitted to all objects; or to the training objects alone, if tuning
        was not to refit.
    best_params : dict
    best_score : float
        Of the validation objects.
    test_score : float or None
        Of the test objects, by a classifier that was fitted to the training objects alone. None if
        there are none.
    score : {"accuracy", "f1"}
    frame : polars.DataFrame
        A row for each combination, in the order in which they were tried: its parameters, accuracy
        and f1. Values of different types are texts.
    sizes : tuple of int
        How many objects were trained, validated and tested on.
    seconds : dict of str to float
        Time by stage: combinations, test, refit.
    """

    best_estimator: Any
    best_params: dict[str, Any]
    best_score: float
    test_score: float | None
    score: str
    frame: pl.DataFrame
    sizes: tuple[int, int, int]
    seconds: dict[str, float]

    def to_text(self, top: int = 5) -> str:
        """Return the best combinations and their scores, in words.

        Parameters
        ----------
        top : int, default 5
        """
        named = ", ".join(f"{name}={value!r}" for name, value in self.best_params.items())
        tested = "" if self.test_score is None else f", tested: {self.test_score:.4f}"
        best = self.frame.sort(self.score, descending=True, maintain_order=True).head(top)
        lines = [
            f"{type(self.best_estimator).__name__}: {named}",
            f"{self.score} validated: {self.best_score:.4f}{tested}; "
            f"{self.frame.height:,} combinations in {self.seconds['combinations']:.2f} s",
            *(
                "  " + ", ".join(f"{name}={_short(value)}" for name, value in row.items())
                for row in best.iter_rows(named=True)
            ),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Tuning of {self.to_text(0)}>"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tune(
    classifier: SimilarityClassifier,
    X: Any,
    y: Any,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    normalise: Sequence[bool] = (False, True),
    score: Literal["accuracy", "f1"] = "accuracy",
    sizes: tuple[float, float, float] = (0.6, 0.2, 0.2),
    refit: bool = True,
    random_state: Any = None,
    progress: bool = False,
) -> Tuning:
    """Find the best parameters of a classifier by similarity.

    Columns of labels become columns of 0 and 1; then objects are divided at random. Each
    combination is fitted to the training objects and scored on the validation objects, without and
    with columns scaled to [0, 1]; the best one is scored on the test objects. That is how Hochbaum
    and Baumann tune.

    Much faster than a search that fits each combination by itself: one projection, one grid,
    distances once for each way to measure them and not for each combination, neighbours sorted
    once, cuts for all balances at once. The scores are the same; those of near neighbours all but
    that, as a search for many neighbours looks farther than one for few.

    Parameters
    ----------
    classifier : SparseKNeighborsClassifier, NormalizedCutClassifier or SparseSVC
        All parameters that are not tuned are as they are here.
    X : array-like, sparse array, frame or Table of shape (n_objects, n_columns)
    y : array-like of shape (n_objects,)
    grid : mapping of str to sequence, optional
        Values to try, by parameter; also "resolution", "dimensions", "projection" and "delta". By
        default those of Hochbaum and Baumann: 1 to 25 neighbours; scales of cuts from 1 to 15 with
        nine balances from 0 to 30 (and 1 to 3 neighbours); scales of support vectors from 1e-10 to
        1e10.
    normalise : sequence of bool
        Ways to measure distances: False as the columns are, True scaled to [0, 1].
    score : {"accuracy", "f1"}
        What the best combination is best by. F1 is that of the second of two classes, else the mean
        over classes. The first of equals is taken.
    sizes : three float
        Shares of objects for training, validation and test. The last may be 0.
    refit : bool, default True
        Whether the best estimator is fitted to all objects in the end.
    random_state : int, RandomState, Generator or None
        For the division. The classifier has its own.
    progress : bool, default False
        Show on stderr how far it has come.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(1_500, 6, n_clusters=8, random_state=0)
    >>> model = tacit.SparseSVC(resolution=6, random_state=0)
    >>> found = tacit.tune(model, X, y, grid={"scale": [0.01, 0.1, 1.0]}, random_state=0)
    >>> found.frame.columns
    ['normalise', 'scale', 'accuracy', 'f1']
    >>> found.frame.height, found.sizes
    (6, (900, 300, 300))
    """
    refuse_partitions(X, "tune")
    method = method_of(classifier)
    ranges = _check_grid(classifier, grid, method)
    ways = _check_ways(normalise)
    if score not in _SCORES:
        raise InputError(f"score must be one of {_SCORES}, got {score!r}")
    _, numbers = Encoder.fit(X)
    labels = read_target(y, numbers.shape[0]).to_numpy()
    parts = _divide(numbers.shape[0], sizes, make_generator(random_state))
    begun = perf_counter()
    total = len(ways) * int(np.prod([len(values) for values in ranges.values()]))
    rows = []
    search = _Search(classifier, numbers, labels, parts, ranges, method)
    with show_progress("combinations", total, progress) as report:
        for row in search.rows(ways):
            rows.append(row)
            report(1)
    seconds = {"combinations": perf_counter() - begun}
    frame = _frame(rows, ranges)
    best = int(np.argmax(frame[score].to_numpy()))
    params = {name: rows[best][name] for name in rows[best] if name not in _SCORES}
    begun = perf_counter()
    model, tested = search.test(params, score)
    seconds["test"] = perf_counter() - begun
    if refit:
        begun = perf_counter()
        model = clone(classifier).set_params(**params).fit(X, y)
        seconds["refit"] = perf_counter() - begun
    n_train, n_validation, n_test = map(len, parts)
    return Tuning(
        model,
        params,
        float(frame[score][best]),
        tested,
        score,
        frame,
        (n_train, n_validation, n_test),
        seconds,
    )


class _Search:
    """Objects in three parts, and the combinations that are tried on them."""

    def __init__(
        self,
        classifier: SimilarityClassifier,
        numbers: Any,
        labels: NDArray[Any],
        parts: Sequence[NDArray[np.int64]],
        ranges: Mapping[str, Sequence[Any]],
        method: Method,
    ) -> None:
        self.classifier = classifier
        self.numbers = [numbers[part] for part in parts]
        self.labels = [labels[part] for part in parts]
        self.geometry = {name: ranges[name] for name in _GEOMETRY if name in ranges}
        self.ranges = {name: ranges[name] for name in ranges if name not in _GEOMETRY}
        self.method = method

    def rows(self, ways: Sequence[bool]) -> Iterator[dict[str, Any]]:
        """Yield a row of the frame for each combination."""
        fixed = {
            name: (getattr(self.classifier, name),)
            for name in self.method.names
            if name not in self.ranges
        }
        for values in product(*self.geometry.values()):
            shape = dict(zip(self.geometry, values, strict=True))
            for way, (model, train, new) in zip(ways, self._objects(shape, ways), strict=True):
                truth = _codes(self.labels[1], model.classes_)
                for tried, codes in self.method.run(model, train, new, self.ranges | fixed):
                    named = {name: tried[name] for name in self.ranges}
                    scores = score_codes(truth, codes, len(model.classes_))
                    yield {**shape, "normalise": way, **named, **scores}

    def _objects(
        self, shape: dict[str, Any], ways: Sequence[bool]
    ) -> Iterator[tuple[Any, Objects, Objects]]:
        """Yield a model with projection and grid, training and validation objects, for each way."""
        first: Any = clone(self.classifier).set_params(**shape)
        codes = first._fit_classes(self.labels[0], len(self.labels[0]))
        if len(first.classes_) < 2:
            only = first.classes_.tolist()[0]
            raise InputError(f"y: all training objects are of one class, {only!r}")
        lengths = column_ranges(self.numbers[0])
        shared = None
        if self.method.normalise_projection:
            shared = self._project(first, *self.numbers[:2])
        for way in ways:
            model = clone(first).set_params(normalise=way)
            train, new = (
                scale_columns(part, lengths if way else None) for part in self.numbers[:2]
            )
            sc, there = shared or self._project(model, train, new)
            model.classes_, model.computation_ = first.classes_, sc
            refuse_huge(new, there)
            unknown = np.full(len(there), -1, np.int32)
            yield (
                model,
                model._grouped(Objects(sc.coords_, train, codes, np.ones(len(codes)))),
                model._grouped(Objects(there, new, unknown, np.ones(len(there)))),
            )

    def _project(
        self, model: SimilarityClassifier, train: Any, new: Any
    ) -> tuple[SparseComputation, NDArray[np.float64]]:
        """Return projection and grid of training objects, and where the others are."""
        sc = SparseComputation(
            model.resolution,
            model.dimensions,
            model.projection,
            normalise=self.method.normalise_projection,
            random_state=model.random_state,
            n_jobs=model.n_jobs,
        ).fit_numbers(train)
        return sc, sc.project(new)

    def test(self, params: dict[str, Any], score: str) -> tuple[Any, float | None]:
        """Return the classifier fitted to the training objects, and its score on test objects."""
        model: Any = clone(self.classifier).set_params(**params)
        model.fit(self.numbers[0], self.labels[0])
        if len(self.labels[2]) == 0:
            return model, None
        truth = _codes(self.labels[2], model.classes_)
        found = _codes(model.predict(self.numbers[2]), model.classes_)
        return model, score_codes(truth, found, len(model.classes_))[score]


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the numbers of classes; -1 for those that the training objects lack."""
    place = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[place] == labels, place, -1).astype(np.int32)


def score_codes(
    truth: NDArray[np.int32], found: NDArray[np.int32], n_classes: int
) -> dict[str, float]:
    """Return accuracy and F1: that of the second of two classes, else the mean over classes.

    >>> score_codes(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]), 2)
    {'accuracy': 0.75, 'f1': 0.8}
    """
    held = [1] if n_classes == 2 else np.unique(np.concatenate((truth, found)))
    f1 = f1_score(truth, found, labels=held, average="macro", zero_division=0)
    return {"accuracy": float(np.mean(truth == found)), "f1": float(f1)}


def _check_grid(classifier: Any, grid: Any, method: Method) -> dict[str, list[Any]]:
    if grid is not None and not isinstance(grid, Mapping):
        raise InputError(f"grid must be a mapping of parameters to values, got {grid!r}")
    allowed = (*method.names, *_GEOMETRY)
    ranges: dict[str, list[Any]] = {}
    for name, values in dict(method.defaults if grid is None else grid).items():
        if name not in allowed:
            raise InputError(
                f"grid: {name!r} cannot be tuned for {type(classifier).__name__}; take "
                f"{', '.join(allowed)}"
            )
        if isinstance(values, str) or not np.iterable(values):
            raise InputError(f"grid: {name!r} must have a list of values, got {values!r}")
        ranges[name] = [_plain(value) for value in values]
        if not ranges[name]:
            raise InputError(f"grid: {name!r} has no values")
        for value in ranges[name]:
            clone(classifier).set_params(**{name: value})._check_parameters()
    return ranges


def _frame(rows: Sequence[dict[str, Any]], ranges: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Return a row for each combination; what type a column has, all values to try decide."""
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        kind = _column_type(ranges[name]) if name in ranges else None
        if kind == pl.String:
            values = [None if value is None else str(value) for value in values]
        columns[name] = pl.Series(name, values, kind)
    return pl.DataFrame(columns)


def _column_type(values: Sequence[Any]) -> Any:
    """Return the type that can hold all values: a number's, or that of texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return pl.Int64
    return pl.Float64 if kinds <= {int, float} else pl.String


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _check_ways(normalise: Any) -> list[bool]:
    ways = list(normalise) if np.iterable(normalise) else []
    if not ways or not all(isinstance(way, bool | np.bool_) for way in ways):
        raise InputError(f"normalise must be a list of True and False, got {normalise!r}")
    return [bool(way) for way in ways]


def _divide(n: int, sizes: Any, random: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the numbers of objects to train, to validate and to test on."""
    try:
        shares = np.asarray(sizes, np.float64)
    except (TypeError, ValueError):
        shares = np.zeros(0)
    fine = shares.shape == (3,) and (shares[:2] > 0).all() and shares[2] >= 0
    if not fine or not shares.sum() < 1 + 1e-9:
        raise InputError(
            "sizes must be three shares of at most 1 together, those of training and validation "
            f"above 0; got {sizes!r}"
        )
    ends = np.minimum(np.rint(np.cumsum(shares) * n).astype(int), n)
    if ends[0] < 2 or ends[1] == ends[0]:
        raise InputError(f"sizes: {n} objects are too few for {sizes!r}")
    drawn = random.permutation(n)
    return [np.sort(part) for part in np.split(drawn, ends)[:3]]
