"""What classifiers by similarity share: objects, their projection and their classes."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.plot.html import pairs_html
from tacit.scale import as_partitioned, gather
from tacit.similarity import state as files
from tacit.similarity.grid.blocks import near_blocks
from tacit.similarity.grid.plot import plot_grid
from tacit.similarity.grouping.groups import check_group_width
from tacit.similarity.grouping.partitioned import (
    CellSorter,
    GroupLookup,
    TypeColumn,
    find_groups,
    look_up,
    type_column,
)
from tacit.similarity.projection.centred import ColumnScaling
from tacit.similarity.sparse_computation import SparseComputation
from tacit.table.input_spec import note_names
from tacit.table.inputs import Inputs
from tacit.table.targets import pack_classes, read_classes, read_target, unpack_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit import store
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.similarity.tuning.result import Tuning
    from tacit.table.one_hot import OneHot

__all__ = ["Objects", "SimilarityClassifier", "refuse_huge"]

_MAX_SQUARES = 1e307  # of one object, so that the squared distance of two is finite
_MAX_CLASSES_SHOWN = 6


@dataclass(frozen=True)
class Objects:
    """Objects, or representatives of groups of them, as classifiers take them."""

    coords: NDArray[np.float64]  # (n, n_dimensions): their coordinates in the projection
    numbers: Any  # (n, n_columns): what distances are measured between
    # (n,): numbers of their classes; -1 for objects that are to be classified
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]  # (n,): how many objects each of them represents
    # (n_objects,): which of them represents each of the objects given; None where each represents
    # itself, or where it is not needed
    groups: NDArray[np.int32] | PartitionedMembers | None = None

    @classmethod
    def single(cls, coords: NDArray[np.float64], numbers: Any, codes: Any = None) -> Objects:
        """Return objects that represent themselves alone."""
        n = len(coords)
        return cls(
            coords, numbers, np.full(n, -1, np.int32) if codes is None else codes, np.ones(n)
        )

    def __len__(self) -> int:
        return len(self.coords)

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each of the objects given the value of its representative."""
        if isinstance(self.groups, PartitionedMembers):
            return self.groups.expand(values)
        return values if self.groups is None else values[self.groups]

    def take(self, chosen: NDArray[np.bool_]) -> Objects:
        """Return the chosen ones."""
        rows = np.flatnonzero(chosen)
        return Objects(self.coords[rows], self.numbers[rows], self.codes[rows], self.weights[rows])

    def count(self, chosen: NDArray[np.bool_]) -> int:
        """Return how many objects the chosen ones represent."""
        return int(self.weights[chosen].sum())


@dataclass(frozen=True)
class PartitionedMembers:
    """Which of some groups represents each record of a partitioned table."""

    partitions: PartitionedTable
    lookup: GroupLookup
    n_jobs: int | None

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each record the value of its group: one pass."""
        return look_up(self.partitions, replace(self.lookup, values=values), self.n_jobs)


@dataclass(frozen=True)
class _PredictCounting:
    """What a classifier says of each record of a partition, and how many had nothing near."""

    model: SimilarityClassifier
    method: str

    def __call__(self, partition: Partition) -> tuple[NDArray[Any], int]:
        model = copy(self.model)
        model.n_jobs = partition.n_jobs
        model._set_fallback(0)
        return getattr(model, self.method)(partition.records), model.n_fallback_


class SimilarityClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Base of the classifiers: fits the projection and the grid, and keeps the training objects.

    Subclasses list all parameters in their constructors, as scikit-learn has it, and say what is
    learned from objects that are encoded, projected and grouped.
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _normalize_projection: ClassVar[bool] = True  # whatever distances are measured between
    _training: Objects
    classes_: NDArray[Any]
    computation_: SparseComputation

    def fit(self, X: Any, y: Any) -> Self:
        """Project the training objects, and learn from them.

        Parameters
        ----------
        X : array-like, sparse array, frame, Table or PartitionedTable
            Of shape (n_objects, n_columns). Arrays are not copied: do not change them while the
            model is in use. A PartitionedTable takes `group_width`: what is learned from are
            groups of records.
        y : array-like of shape (n_objects,) or str
            Their classes; or the column of a Table or PartitionedTable that holds them.
        """
        self._check_parameters()
        self._learn(self._training_objects(X, y))
        return self

    def _fit_partitions(self, X: PartitionedTable, y: Any) -> Self:
        self._check_parameters()
        self._learn(self._training_groups(X, y))
        return self

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, objects: Objects) -> None:
        """Keep the training objects."""
        self._training = objects
        self._set_fallback(0)

    @property
    def encoder_(self) -> OneHot:
        """How X becomes numbers."""
        return self.computation_.encoder_

    @property
    def schema_(self) -> Schema | None:
        """The columns of the Table that was fitted; None for numbers and frames."""
        check_is_fitted(self)
        spec = self.encoder_.spec
        return spec.schema if spec.origin == "table" and not spec.numeric.any() else None

    @property
    def n_fallback_(self) -> int:
        """How many objects of the last prediction had nothing near."""
        check_is_fitted(self)
        return self._last_prediction["n_fallback"]

    def _set_fallback(self, n: int) -> None:
        self._last_prediction = {"n_fallback": n}  # in a dict, as predictions set no attributes

    # Showing

    def to_text(self) -> str:
        """Return what the model knows, in words."""
        rows = self._summary()
        wide = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{wide}}  {text}" for name, text in rows)

    def _html_of_fit(self) -> str:
        return pairs_html(self._summary())

    def to_frame(self) -> pl.DataFrame:
        """Return the training objects, or their representatives: coordinates and class.

        Coordinates are those of the projection, x0, x1, …
        """
        check_is_fitted(self)
        coords, codes = self._training_classes()
        columns = {f"x{j}": column for j, column in enumerate(coords.T)}
        return pl.DataFrame({**columns, "class": self.classes_[codes].tolist()})

    def to_html(
        self,
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        tuning: Tuning | None = None,
    ) -> str:
        """Return a page about the model: what it knows, and a map of its grid.

        Parameters
        ----------
        X, y : optional
            Objects and their classes, of which the page shows the confusion matrix.
        title : str, optional
        tuning : Tuning, optional
            Where the model comes from: the page shows scores by parameter.
        """
        from tacit.metrics import confusion_matrix
        from tacit.similarity.report.page import page

        facts, confusion = self._summary(), None
        if X is not None:
            predicted = self.predict(X)
            truth = read_target(y, len(predicted)).to_numpy()
            confusion = confusion_matrix(truth, predicted, self.classes_.tolist())
            accuracy = float(np.mean(truth == predicted))
            facts.append(("accuracy", f"{accuracy:.2%} of {len(predicted):,} objects"))
        return page(title or type(self).__name__, facts, self, confusion, tuning)

    def plot(self, ax: Any = None, *, max_objects: int = 5000) -> Any:
        """Draw the training objects by class, and the grid in two dimensions or in three.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A three-dimensional one for a grid of three dimensions or more.
        max_objects : int, default 5000
            Of more objects, so many are drawn at random.
        """
        check_is_fitted(self)
        coords, codes = self._training_classes()
        return plot_grid(coords, self.computation_.grid_, self.classes_[codes], ax, max_objects)

    def _training_classes(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the coordinates and classes of training objects, or of their groups."""
        return self._training.coords, self._training.codes

    def _summary(self) -> list[tuple[str, str]]:
        """Return what there is to say, name and text."""
        check_is_fitted(self)
        shown = [str(label) for label in self.classes_[:_MAX_CLASSES_SHOWN].tolist()]
        more = ", …" if len(self.classes_) > _MAX_CLASSES_SHOWN else ""
        sc = self.computation_
        explained = 100 * float(np.sum(sc.explained_variance_ratio_))
        sides = " x ".join(map(str, sc.grid_.resolution))
        measured = "scaled" if self.normalize else "as they are"
        return [
            ("classes", f"{len(self.classes_):,}: {', '.join(shown)}{more}"),
            ("columns", f"{self.n_features_in_:,}, {measured}"),
            ("projection", f"{self.projection}, {explained:.1f}% of the variance"),
            ("grid", f"{sides}; {sc.n_pairs_:,} near pairs, {100 * sc.density_:.3g}% of all"),
            *self._facts(),
        ]

    def _facts(self) -> list[tuple[str, str]]:
        """Return what else there is to say."""
        return []

    # Saving

    def to_state(self) -> store.State:
        """Return the arrays of a file: projection, grid, and the objects predictions compare with.

        Random states and weights of classes are not saved, as predictions do not depend on them.
        Functions cannot be saved.
        """
        sc = self.computation_
        facts, arrays = self._learned_state()
        facts = files.computation_facts(sc) | pack_classes(self.classes_) | facts
        if self._scaling is not None:
            arrays["scales"] = self._scaling.ranges
        return files.computation_arrays(sc) | arrays | files.settings(self, facts)

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the classifier that :meth:`to_state` described."""
        facts, parameters = files.read_settings(state)
        model = cls(**parameters)
        model._check_parameters()
        model.computation_ = sc = model._computation()
        files.read_computation(sc, facts, state)
        files.read_names(model, facts, sc.encoder_)
        model.classes_ = unpack_classes(facts)
        width, n = len(sc.encoder_.names), len(state["coords"])
        model._scaling = None
        if "scales" in state:
            model._scaling = ColumnScaling(files.read_floats(state, "scales", (width,)))
        coords = files.read_floats(state, "coords", (n, sc.grid_.n_dimensions))
        numbers = files.read_numbers(state, n, sc.encoder_)
        model._restore(facts, state, coords, numbers)
        return model

    def _learned_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return facts and arrays that hold what was learned."""
        objects = self._training
        return {}, {
            "coords": objects.coords,
            "codes": objects.codes,
            "weights": objects.weights,
            **files.numbers_arrays(objects.numbers),
        }

    def _restore(
        self, facts: dict[str, Any], state: store.State, coords: NDArray[np.float64], numbers: Any
    ) -> None:
        """Take what was learned from a file."""
        n = len(coords)
        codes = files.read_codes(state, n, len(self.classes_))
        self._learn(Objects(coords, numbers, codes, files.read_floats(state, "weights", (n,))))

    # Training objects

    def _computation(self) -> SparseComputation:
        return SparseComputation(
            self.resolution,
            self.n_dimensions,
            self.projection,
            normalize=self._normalize_projection,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _training_objects(self, X: Any, y: Any) -> Objects:
        """Check, encode, project and group training objects; set what predictions need."""
        inputs = Inputs.fit(self, X, y)
        encoder, numbers = inputs.one_hot()
        self._target_name = inputs.target_name
        y = inputs.y
        if inputs.target is not None:
            y = inputs.data.select([inputs.target]).to_frame("polars")[inputs.target_name]
        codes = self._fit_classes(y, numbers.shape[0])
        self._scaling = ColumnScaling.of(numbers) if self.normalize else None
        measured = numbers if self._scaling is None else self._scaling(numbers)
        self.computation_ = self._computation()._fit_numbers(measured)
        self.computation_.encoder_ = encoder
        return self._grouped(Objects.single(self.computation_.coords_, measured, codes))

    def _training_groups(self, X: PartitionedTable, y: Any) -> Objects:
        """Do the same with records in partitions: what comes back are groups of them."""
        if self.group_width is None:
            raise InputError(
                f"X: {type(self).__name__} compares records with each other, which takes all of "
                "them on one machine, but X is a partitioned table; group_width= groups those "
                "that are alike, X.collect() gets all records, X.take(…) some of them"
            )
        width = check_group_width(self.group_width)
        if y is None:
            self._fit_classes(None, X.n_records)
        sc = self._computation()
        columns = sc._fit_projection(X, y)
        types = type_column(columns, y, lambda labels: self._fit_classes(labels, len(labels)))
        sorter = CellSorter(sc._projector(), sc.grid_, width, types, within=True)
        groups, cells = find_groups(X, sorter, self.n_jobs)
        blocks = cells.to_blocks()
        sc._set_near(near_blocks(blocks, blocks, sc.grid_))
        self.computation_ = sc
        note_names(self, columns.encoder.spec.names)
        self._scaling = ColumnScaling(np.ones(columns.shape[1])) if self.normalize else None
        return Objects(groups.coords, groups.X, groups.types, groups.weights)

    def _fit_classes(self, y: Any, n_objects: int) -> NDArray[np.int32]:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        self.classes_, codes = read_classes(y, n_objects)
        return codes

    def _grouped(self, objects: Objects) -> Objects:
        """Replace objects that are alike by one that represents them, if that is asked for."""
        if self.group_width is None:
            return objects
        width = check_group_width(self.group_width)
        groups = self.computation_._group_objects(
            objects.coords, objects.numbers, objects.codes, width
        )
        return Objects(groups.coords, groups.X, groups.types, groups.weights, groups.labels)

    # Objects that are to be classified

    def _new_objects(self, X: Any) -> Objects:
        """Check, encode, project and group objects that are to be classified."""
        check_is_fitted(self)
        partitions = as_partitioned(X)
        if partitions is not None:
            return self._new_groups(partitions)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = self.encoder_.transform(X, self)
            numbers = numbers if self._scaling is None else self._scaling(numbers)
            coords = self.computation_._project(numbers)
        refuse_huge(numbers, coords)
        return self._grouped(Objects.single(coords, numbers))

    def _new_groups(self, X: PartitionedTable) -> Objects:
        """Group records in partitions that are to be classified."""
        if self.group_width is None:
            raise InputError(
                f"X: {type(self).__name__} takes all records together, on one machine, but X is a "
                "partitioned table; fit with group_width= to group those that are alike, or ask "
                "about each partition by itself: X.map(tacit.scale.Predict(model))"
            )
        sc, width = self.computation_, check_group_width(self.group_width)
        sorter = CellSorter(sc._projector(), sc.grid_, width, TypeColumn.same(-1))
        groups, _ = find_groups(X, sorter, self.n_jobs)
        members = PartitionedMembers(X, groups.lookup, self.n_jobs)
        return Objects(groups.coords, groups.X, groups.types, groups.weights, members)

    def _answer_partitions(
        self, method: Callable[..., Any], X: PartitionedTable, options: dict[str, Any]
    ) -> NDArray[Any]:
        check_is_fitted(self)
        if self.group_width is not None:  # records of all partitions are grouped together
            answer: NDArray[Any] = method(self, X, **options)
            return answer
        n_fallback = 0
        light = copy(self)
        light.computation_ = self.computation_._without_objects()

        def answers() -> Iterator[NDArray[Any]]:
            nonlocal n_fallback
            for of_partition, n in X.map(
                _PredictCounting(light, method.__name__), n_jobs=self.n_jobs
            ):
                n_fallback += n
                yield of_partition

        instead = "take it partition by partition, from X.map(tacit.scale.Predict(model))"
        answer = gather(answers(), X.n_records, method.__name__, instead)
        self._set_fallback(n_fallback)
        return answer


def refuse_huge(numbers: Any, coords: NDArray[np.float64]) -> None:
    """Refuse objects whose distances to others a float64 cannot hold."""
    for values in (numbers, coords):
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(values):
                doubles: Any = values.astype(np.float64, copy=False)  # type: ignore[attr-defined]
                squares = np.asarray(doubles.multiply(doubles).sum(axis=1))
            else:
                squares = np.einsum("ij,ij->i", values, values, dtype=np.float64)
        wrong = ~(squares < _MAX_SQUARES)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"X: row {row} holds numbers that are too large for distances")
