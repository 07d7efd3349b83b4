"""Tuning of classifiers by similarity: objects to train, to validate and to test on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.metrics import f1_score

from tacit.errors import InputError, refuse_partitions
from tacit.parameters import check_choice, make_generator
from tacit.progress import show_progress
from tacit.similarity.base import Objects, SimilarityClassifier, refuse_huge
from tacit.similarity.projection.centred import ColumnScaling
from tacit.similarity.tuning.methods import Method, method_of
from tacit.similarity.tuning.result import MEASURES, Tuning
from tacit.table.one_hot import OneHot
from tacit.table.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.sparse_computation import SparseComputation

__all__ = ["score_codes", "tune"]

_OF_THE_GRID = (
    "resolution",
    "n_dimensions",
    "projection",
    "group_width",
)  # what the grid depends on


def tune(
    classifier: SimilarityClassifier,
    X: Any,
    y: Any,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    normalize: Sequence[bool] = (False, True),
    scoring: Literal["accuracy", "f1"] = "accuracy",
    sizes: tuple[float, float, float] = (0.6, 0.2, 0.2),
    refit: bool = True,
    random_state: Any = None,
    verbose: int = 0,
) -> Tuning:
    """Find the best parameters of a classifier by similarity.

    Columns of labels become columns of 0 and 1; then objects are divided at random. Each
    combination is fitted to the training objects and scored on the validation objects, without and
    with columns scaled to [0, 1]; the best one is scored on the test objects. That is how Hochbaum
    and Baumann tune.

    Much faster than a search that fits each combination by itself: one projection, one grid,
    distances once for each way to measure them and not for each combination, neighbours sorted
    once, cuts for all balances at once. The scores are the same; those of near neighbours all but
    that, as a search for many neighbours goes farther than one for few.

    Parameters
    ----------
    classifier : SparseKNeighborsClassifier, NormalizedCutClassifier or SparseSVC
        All parameters that are not tuned are as they are here.
    X : array-like, sparse array, frame or Table of shape (n_objects, n_columns)
    y : array-like of shape (n_objects,)
    grid : mapping of str to sequence, optional
        Values to try, by parameter; also "resolution", "n_dimensions", "projection" and
        "group_width". By default those of Hochbaum and Baumann: 1 to 25 neighbours; scales of cuts
        from 1 to 15 with nine balances from 0 to 30 (and 1 to 3 neighbours). For support vectors
        resolution (unless the classifier has one), scale and C together: "auto", 10 and 20; an
        eighth to 16 times 1 / the variance of all columns; and 1, 10, 100.
    normalize : sequence of bool
        Ways to measure distances: False as the columns are, True scaled to [0, 1].
    scoring : {"accuracy", "f1"}
        What the best combination is best by. F1 is that of the second of two classes, else the mean
        over classes. The first of equals is taken.
    sizes : three float
        Fractions of objects for training, validation and test. The last may be 0.
    refit : bool, default True
        Whether the best estimator is fitted to all objects in the end.
    random_state : int, RandomState, Generator or None
        For the division; not for the classifier, which has another.
    verbose : int, default 0
        Whether to show progress on stderr.

    Examples
    --------
    >>> import tacit
    >>> X, y = tacit.datasets.make_objects(1_500, 6, n_clusters=8, random_state=0)
    >>> model = tacit.SparseSVC(resolution=6, random_state=0)
    >>> tuning = tacit.tune(model, X, y, grid={"scale": [0.01, 0.1, 1.0]}, random_state=0)
    >>> tuning.frame.columns
    ['normalize', 'scale', 'accuracy', 'f1']
    >>> tuning.frame.height, tuning.sizes
    (6, (900, 300, 300))
    """
    refuse_partitions(X, "tune")
    method = method_of(classifier)
    ranges = _check_grid(classifier, grid, method)
    scalings = _check_normalize(normalize)
    check_choice(scoring, "scoring", MEASURES)
    _, numbers = OneHot.fit(X)
    labels = read_target(y, numbers.shape[0]).to_numpy()
    subsets = _split(numbers.shape[0], sizes, make_generator(random_state))
    begun = perf_counter()
    total = len(scalings) * int(np.prod([len(values) for values in ranges.values()]))
    rows = []
    search = _GridSearch(classifier, numbers, labels, subsets, ranges, method)
    with show_progress("combinations", total, verbose > 0) as report:
        for row in search.rows(scalings):
            rows.append(row)
            report(1)
    seconds = {"combinations": perf_counter() - begun}
    frame = _frame(rows, ranges)
    best = int(np.argmax(frame[scoring].to_numpy()))
    params = {name: rows[best][name] for name in rows[best] if name not in MEASURES}
    begun = perf_counter()
    model, tested = search.test(params, scoring)
    seconds["test"] = perf_counter() - begun
    if refit:
        begun = perf_counter()
        model = clone(classifier).set_params(**params).fit(X, y)
        seconds["refit"] = perf_counter() - begun
    n_train, n_validation, n_test = map(len, subsets)
    return Tuning(
        model,
        params,
        float(frame[scoring][best]),
        tested,
        scoring,
        frame,
        (n_train, n_validation, n_test),
        seconds,
    )


class _GridSearch:
    """Objects to train, validate and test on, and the combinations that are tried on them."""

    def __init__(
        self,
        classifier: SimilarityClassifier,
        numbers: Any,
        labels: NDArray[Any],
        subsets: Sequence[NDArray[np.int64]],
        ranges: Mapping[str, Sequence[Any]],
        method: Method,
    ) -> None:
        self.classifier = classifier
        self.numbers = [numbers[rows] for rows in subsets]
        self.labels = [labels[rows] for rows in subsets]
        self.grids = {name: ranges[name] for name in _OF_THE_GRID if name in ranges}
        self.ranges = {name: ranges[name] for name in ranges if name not in _OF_THE_GRID}
        self.method = method

    def rows(self, normalize: Sequence[bool]) -> Iterator[dict[str, Any]]:
        """Yield a row of the frame for each combination."""
        fixed = {
            name: (getattr(self.classifier, name),)
            for name in self.method.names
            if name not in self.ranges
        }
        for values in product(*self.grids.values()):
            of_grid = dict(zip(self.grids, values, strict=True))
            for scaled, (model, train, new) in zip(
                normalize, self._objects(of_grid, normalize), strict=True
            ):
                truth = _codes(self.labels[1], model.classes_)
                for tried, codes in self.method.run(model, train, new, self.ranges | fixed):
                    named = {name: tried[name] for name in self.ranges}
                    scores = score_codes(truth, codes, len(model.classes_))
                    yield {**of_grid, "normalize": scaled, **named, **scores}

    def _objects(
        self, of_grid: dict[str, Any], normalize: Sequence[bool]
    ) -> Iterator[tuple[Any, Objects, Objects]]:
        """Yield a model with projection and grid, training and validation objects, for each."""
        first: Any = clone(self.classifier).set_params(**of_grid)
        codes = first._fit_classes(self.labels[0], len(self.labels[0]))
        if len(first.classes_) < 2:
            only = first.classes_.tolist()[0]
            raise InputError(f"y: all training objects are of one class, {only!r}")
        scaling = ColumnScaling.of(self.numbers[0])
        shared = None
        if first._normalize_projection:  # the same, however distances are measured
            shared = self._project(first, *self.numbers[:2])
        for scaled in normalize:
            model = clone(first).set_params(normalize=scaled)
            train, new = (scaling(numbers) if scaled else numbers for numbers in self.numbers[:2])
            sc, coords = shared or self._project(model, train, new)
            model.classes_, model.computation_ = first.classes_, sc
            refuse_huge(new, coords)
            yield (
                model,
                model._grouped(Objects.single(sc.coords_, train, codes)),
                model._grouped(Objects.single(coords, new)),
            )

    def _project(
        self, model: SimilarityClassifier, train: Any, new: Any
    ) -> tuple[SparseComputation, NDArray[np.float64]]:
        """Return projection and grid of training objects, and the coordinates of the others."""
        sc = model._computation()._fit_numbers(train)
        return sc, sc._project(new)

    def test(self, params: dict[str, Any], scoring: str) -> tuple[Any, float | None]:
        """Return the classifier fitted to the training objects, and its score on test objects."""
        model: Any = clone(self.classifier).set_params(**params)
        model.fit(self.numbers[0], self.labels[0])
        if len(self.labels[2]) == 0:
            return model, None
        truth = _codes(self.labels[2], model.classes_)
        predicted = _codes(model.predict(self.numbers[2]), model.classes_)
        return model, score_codes(truth, predicted, len(model.classes_))[scoring]


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the numbers of classes; -1 for those that the training objects lack."""
    index = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[index] == labels, index, -1).astype(np.int32)


def score_codes(
    truth: NDArray[np.int32], predicted: NDArray[np.int32], n_classes: int
) -> dict[str, float]:
    """Return accuracy and F1: that of the second of two classes, else the mean over classes.

    >>> score_codes(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]), 2)
    {'accuracy': 0.75, 'f1': 0.8}
    """
    labels = [1] if n_classes == 2 else np.unique(np.concatenate((truth, predicted)))
    f1 = f1_score(truth, predicted, labels=labels, average="macro", zero_division=0)
    return {"accuracy": float(np.mean(truth == predicted)), "f1": float(f1)}


def _check_grid(classifier: Any, grid: Any, method: Method) -> dict[str, list[Any]]:
    if grid is not None and not isinstance(grid, Mapping):
        raise InputError(f"grid must be a mapping of parameters to values, got {grid!r}")
    allowed = (*method.names, *_OF_THE_GRID)
    ranges: dict[str, list[Any]] = {}
    for name, values in dict(method.defaults if grid is None else grid).items():
        if name not in allowed:
            raise InputError(
                f"grid: {name!r} cannot be tuned for {type(classifier).__name__}; take "
                f"{', '.join(allowed)}"
            )
        if isinstance(values, str) or not np.iterable(values):
            raise InputError(f"grid: {name!r} must have a list of values, got {values!r}")
        ranges[name] = [
            value.item() if isinstance(value, np.generic) else value for value in values
        ]
        if not ranges[name]:
            raise InputError(f"grid: {name!r} has no values")
        for value in ranges[name]:
            clone(classifier).set_params(**{name: value})._check_parameters()
    return ranges


def _frame(rows: Sequence[dict[str, Any]], ranges: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Return a row for each combination; all values to try decide on the type of a column."""
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
    numbers = all(issubclass(kind, int | float) and kind is not bool for kind in kinds)
    return pl.Float64 if numbers else pl.String


def _check_normalize(normalize: Any) -> list[bool]:
    values = list(normalize) if np.iterable(normalize) else []
    if not values or not all(isinstance(value, bool | np.bool_) for value in values):
        raise InputError(f"normalize must be a list of True and False, got {normalize!r}")
    return [bool(value) for value in values]


def _split(n: int, sizes: Any, random: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the numbers of objects to train, to validate and to test on."""
    try:
        fractions = np.asarray(sizes, np.float64)
    except (TypeError, ValueError):
        fractions = np.zeros(0)
    valid = fractions.shape == (3,) and (fractions[:2] > 0).all() and fractions[2] >= 0
    if not valid or not fractions.sum() < 1 + 1e-9:
        raise InputError(
            "sizes must be three fractions of at most 1 together, those of training and validation "
            f"above 0; got {sizes!r}"
        )
    ends = np.minimum(np.rint(np.cumsum(fractions) * n).astype(int), n)
    if ends[0] < 2 or ends[1] == ends[0]:
        raise InputError(f"sizes: {n} objects are too few for {sizes!r}")
    return [np.sort(rows) for rows in np.split(random.permutation(n), ends)[:3]]
