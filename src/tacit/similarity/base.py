"""What classifiers by similarity share: objects, their projection and their classes."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.scale import as_partitioned, gather
from tacit.similarity.grouping.groups import check_delta
from tacit.similarity.grouping.partitioned import (
    Finder,
    Sorter,
    TypeColumn,
    find_groups,
    spread_over,
    type_column,
)
from tacit.similarity.projection.encoding import Encoder
from tacit.similarity.projection.scaling import column_ranges, scale_columns
from tacit.similarity.sparse_computation import SparseComputation
from tacit.table import Table
from tacit.table.features import note_names
from tacit.table.targets import read_target, refuse_reals

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema

__all__ = ["Objects", "SimilarityClassifier", "each_record", "refuse_huge"]

F = TypeVar("F", bound="Callable[..., Any]")

_MOST_SQUARES = 1e307  # of one object, so that the squared distance of two is finite


@dataclass(frozen=True)
class Objects:
    """Objects, or representatives of groups of them, as a classifier sees them.

    Attributes
    ----------
    coords : ndarray of shape (n, n_dimensions)
        Where they are in the projection.
    numbers : ndarray or csr_array of shape (n, n_columns)
        What distances are measured between.
    codes : ndarray of shape (n,)
        Numbers of their classes; -1 for objects that are to be classified.
    weights : ndarray of shape (n,)
        How many objects each of them stands for.
    members : ndarray of shape (n_objects,), PartMembers or None
        Which of them stands for each of the objects given; None where each stands for itself, or
        where nobody will ask.
    """

    coords: NDArray[np.float64]
    numbers: Any
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]
    members: NDArray[np.int32] | PartMembers | None = None

    def __len__(self) -> int:
        return len(self.coords)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each of the objects given what was found for the one that stands for it."""
        if isinstance(self.members, PartMembers):
            return self.members.spread(values)
        return values if self.members is None else values[self.members]

    def count(self, chosen: NDArray[np.bool_]) -> int:
        """Return how many objects the chosen ones stand for."""
        return int(self.weights[chosen].sum())


@dataclass(frozen=True)
class PartMembers:
    """Which of some groups stands for each record of a partitioned table."""

    parts: PartitionedTable
    finder: Finder
    n_jobs: int | None

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each record what was found for its group: one pass."""
        return spread_over(self.parts, replace(self.finder, values=values), self.n_jobs)


def each_record(method: F) -> F:
    """Let a method that says something of each object take a partitioned table, too.

    With `delta`, records of all partitions are grouped together, as those of a Table are. Without,
    each is looked at by itself, and partitions are asked about one by one.
    """

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        parts = as_partitioned(X)
        if parts is None or self.delta is not None:
            return method(self, X)
        check_is_fitted(self)
        return self._ask_parts(method.__name__, parts)

    return cast("F", either)


@dataclass(frozen=True)
class _Ask:
    """What a classifier says of each record of a part, and how many had nothing near."""

    model: SimilarityClassifier
    method: str

    def __call__(self, part: Partition) -> tuple[NDArray[Any], int]:
        model = copy(self.model)
        model.n_jobs = part.n_jobs
        model._note_fallback(0)
        found = getattr(model, self.method)(part.records)
        lonely: int = getattr(model, "n_fallback_")  # noqa: B009 -- of all classifiers
        return found, lonely


class SimilarityClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers: fits the projection and the grid, and keeps the training objects.

    `normalise` says whether distances are measured between columns that are scaled to [0, 1] by the
    training objects; the projection always is.
    """

    resolution: int | Sequence[int] | Literal["auto"]
    dimensions: int | Literal["auto"]
    projection: str
    normalise: bool
    delta: float | None
    random_state: Any
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def schema_(self) -> Schema | None:
        """The columns of the Table that was fitted; None for numbers and frames."""
        check_is_fitted(self)
        return self.encoder_.labels if self.encoder_.kind == "table" else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`tacit.load` reads; atomic.

        Objects that predictions compare with are in the file. Generators of random numbers and
        weights of classes are not, as predictions do not depend on them. Functions cannot be saved.

        Parameters
        ----------
        path : path-like
        """
        from tacit.similarity.saving import write_classifier

        check_is_fitted(self)
        write_classifier(path, self)

    def to_text(self) -> str:
        """Return what the model knows, in words."""
        check_is_fitted(self)
        shown = [str(label) for label in self.classes_[:6].tolist()]
        more = ", …" if len(self.classes_) > 6 else ""
        sc = self.computation_
        share = 100 * float(np.sum(sc.explained_variance_ratio_))
        sides = " x ".join(map(str, sc.grid_.resolution))
        measured = "scaled" if self.normalise else "as they are"
        rows = [
            ("classes", f"{len(self.classes_):,}: {', '.join(shown)}{more}"),
            ("columns", f"{self.n_features_in_:,}, {measured}"),
            ("projection", f"{self.projection}, {share:.1f}% of the variance"),
            ("grid", f"{sides}; {sc.n_pairs_:,} near pairs, {100 * sc.density_:.3g}% of all"),
            *self._facts(),
        ]
        wide = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{wide}}  {text}" for name, text in rows)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what else there is to say, name and text."""
        return []

    @contextmanager
    def _kept_on_failure(self) -> Iterator[None]:
        """Leave a fitted model as it was if it cannot be fitted again."""
        known = self.__dict__.copy()
        try:
            yield
        except BaseException:  # an interruption, too, leaves what was
            self.__dict__.clear()
            self.__dict__.update(known)
            raise

    def _fit_objects(self, X: Any, y: Any, *, normalise_projection: bool = True) -> Objects:
        """Check, encode and project training objects; note what predictions need."""
        parts = as_partitioned(X)
        if parts is not None:
            return self._fit_parts(parts, y, normalise_projection)
        if isinstance(X, Table) and isinstance(y, str):
            X, y = _part_with(X, y)
        self.encoder_, numbers = Encoder.fit(X, self)
        codes = self._fit_classes(y, numbers.shape[0])
        self._scales = column_ranges(numbers) if self.normalise else None
        measured = scale_columns(numbers, self._scales)
        self.computation_ = self._computation(normalise_projection).fit_numbers(measured)
        self.computation_.encoder_ = self.encoder_
        return self._grouped(
            Objects(self.computation_.coords_, measured, codes, np.ones(len(codes)))
        )

    def _computation(self, normalise: bool) -> SparseComputation:
        return SparseComputation(
            self.resolution,
            self.dimensions,
            self.projection,
            normalise=normalise,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _fit_parts(self, parts: PartitionedTable, y: Any, normalise_projection: bool) -> Objects:
        """Do the same with records in partitions: what comes back are groups of them."""
        if self.delta is None:
            raise InputError(
                f"X: {type(self).__name__} compares records with each other, which takes all of "
                "them on one machine, but X is a partitioned table; delta= puts those together "
                "that are alike, X.collect() gets all records, X.take(…) some of them"
            )
        delta = check_delta(self.delta)
        if y is None:
            self._fit_classes(None, parts.n_records)
        computation = self._computation(normalise_projection)
        found = computation.fit_parts(parts, y)
        types = type_column(found, y, lambda labels: self._fit_classes(labels, len(labels)))
        sorter = Sorter(computation.place(), computation.grid_, delta, types, within=True)
        groups, cells = find_groups(parts, sorter, self.n_jobs)
        computation.note_blocks(cells.in_blocks())
        self.encoder_, self.computation_ = found.encoder, computation
        note_names(self, found.encoder.inputs)
        self._scales = np.ones(found.shape[1]) if self.normalise else None
        return Objects(groups.coords, groups.X, groups.types, groups.weights)

    def _fit_classes(self, y: Any, n_objects: int) -> NDArray[np.int32]:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        series = read_target(y, n_objects)
        try:
            refuse_reals(series)
        except InputError as error:
            raise InputError(f"Unknown label type: {error}") from None
        classes, codes = np.unique(series.to_numpy(), return_inverse=True)
        texts = all(isinstance(label, str) for label in classes.tolist())
        self.classes_ = classes.astype(str) if texts else classes
        return codes.astype(np.int32)

    def _new_objects(self, X: Any) -> Objects:
        """Check, encode and project objects that are to be classified."""
        check_is_fitted(self)
        parts = as_partitioned(X)
        if parts is not None:
            return self._new_groups(parts)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = scale_columns(self.encoder_.transform(X, self), self._scales)
            coords = self.computation_.project(numbers)
        refuse_huge(numbers, coords)
        n = numbers.shape[0]
        return self._grouped(Objects(coords, numbers, np.full(n, -1, np.int32), np.ones(n)))

    def _new_groups(self, parts: PartitionedTable) -> Objects:
        """Put records in partitions together that are to be classified."""
        if self.delta is None:
            raise InputError(
                f"X: {type(self).__name__} looks at all records together, on one machine, but X is "
                "a partitioned table; fit with delta= to put those together that are alike, or ask "
                "about each partition by itself: X.map(tacit.scale.Predict(model))"
            )
        sc = self.computation_
        sorter = Sorter(sc.place(), sc.grid_, check_delta(self.delta), TypeColumn.same(-1))
        groups, _ = find_groups(parts, sorter, self.n_jobs)
        members = PartMembers(parts, groups.finder, self.n_jobs)
        return Objects(groups.coords, groups.X, groups.types, groups.weights, members)

    def _ask_parts(self, method: str, parts: PartitionedTable) -> NDArray[Any]:
        """Return what a method says of each record, one partition after another."""
        lonely = 0
        light = copy(self)
        light.computation_ = self.computation_.without_objects()

        def found() -> Iterator[NDArray[Any]]:
            nonlocal lonely
            for own, n in parts.map(_Ask(light, method), n_jobs=self.n_jobs):
                lonely += n
                yield own

        instead = "take it partition by partition, from X.map(tacit.scale.Predict(model))"
        whole = gather(found(), parts.n_records, method, instead)
        self._note_fallback(lonely)
        return whole

    def _note_fallback(self, n: int) -> None:
        """Note how many objects had nothing near."""
        self.__dict__["n_fallback_"] = n

    def _grouped(self, objects: Objects) -> Objects:
        """Replace objects that are alike by one that stands for them, if that is asked for."""
        if self.delta is None:
            return objects
        found = self.computation_.group_objects(
            objects.coords, objects.numbers, objects.codes, check_delta(self.delta)
        )
        return Objects(found.coords, found.X, found.types, found.weights, found.labels)


def _part_with(table: Table, y: str) -> tuple[Table, Any]:
    """Return a Table without the column of classes, and these."""
    name = table.schema.names[table.schema.position(y, "y")]
    others = [own for own in table.schema.names if own != name]
    if not others:
        raise InputError(f"X has no columns besides {name!r}")
    return table.select(others), table.select([name]).to_frame("polars")[name]


def refuse_huge(numbers: Any, coords: NDArray[np.float64]) -> None:
    """Refuse objects whose distances to others a float64 cannot hold."""
    for held in (numbers, coords):
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(held):
                doubles: Any = held.astype(np.float64, copy=False)  # type: ignore[attr-defined]
                squares = np.asarray(doubles.multiply(doubles).sum(axis=1))
            else:
                squares = np.einsum("ij,ij->i", held, held, dtype=np.float64)
        wrong = ~(squares < _MOST_SQUARES)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"X: row {row} holds numbers that are too large for distances")
