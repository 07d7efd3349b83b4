"""What classifiers by similarity share: objects, their projection and their classes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.similarity.encoding import Encoder
from tacit.similarity.grouping import group
from tacit.similarity.scaling import column_ranges, scale_columns
from tacit.similarity.sparse_computation import SparseComputation
from tacit.table.targets import read_target, refuse_reals

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["Objects", "SimilarityClassifier", "refuse_huge"]

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
    members : ndarray of shape (n_objects,) or None
        Which of them stands for each of the objects given; None where each stands for itself.
    """

    coords: NDArray[np.float64]
    numbers: Any
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]
    members: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.coords)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each of the objects given what was found for the one that stands for it."""
        return values if self.members is None else values[self.members]


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
        self.encoder_, numbers = Encoder.fit(X, self)
        codes = self._fit_classes(y, numbers.shape[0])
        self._scales = column_ranges(numbers) if self.normalise else None
        measured = scale_columns(numbers, self._scales)
        self.computation_ = SparseComputation(
            self.resolution,
            self.dimensions,
            self.projection,
            normalise=normalise_projection,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit_numbers(measured)
        return self._grouped(
            Objects(self.computation_.coords_, measured, codes, np.ones(len(codes)))
        )

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
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = scale_columns(self.encoder_.transform(X, self), self._scales)
            coords = self.computation_.project(numbers)
        refuse_huge(numbers, coords)
        n = numbers.shape[0]
        return self._grouped(Objects(coords, numbers, np.full(n, -1, np.int32), np.ones(n)))

    def _grouped(self, objects: Objects) -> Objects:
        """Replace objects that are alike by one that stands for them, if that is asked for."""
        if self.delta is None:
            return objects
        found = group(
            self.computation_.grid_,
            objects.coords,
            objects.numbers,
            objects.codes,
            self.delta,
            n_jobs=self.n_jobs,
        )
        return Objects(found.coords, found.X, found.types, found.weights, found.labels)


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
