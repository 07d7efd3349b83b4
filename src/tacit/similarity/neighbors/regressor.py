"""The K nearest neighbours as a regressor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError
from tacit.parameters import check_choice, store_parameters
from tacit.similarity.neighbors.sparse_neighbors import NeighborSearch
from tacit.table.inputs import Inputs
from tacit.table.targets import column_numbers, read_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit import store

__all__ = ["SparseKNeighborsRegressor"]

_WEIGHTS = ("uniform", "distance")


class SparseKNeighborsRegressor(RegressorMixin, NeighborSearch):  # type: ignore[misc]
    """Predict numbers as the average of the nearest of the training objects, exact.

    Parameters
    ----------
    n_neighbors : int, default 5
        If there are fewer training objects, all of them are neighbours.
    weights : {"uniform", "distance"}
        Whether all neighbours count the same, or as much as they are near: 1 / distance, and those
        at no distance alone, if there are any.
    metric : {"euclidean", "cosine", "jaccard", "overlap", "hamming"}
    radius : float, default 1.0
        As of :class:`SparseNeighbors`.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_samples_fit_ : int
        How many objects were fitted.
    n_outputs_ : int
    n_features_in_, feature_names_in_
        Of X; names are those of frames and Tables.

    Examples
    --------
    >>> from tacit.similarity import SparseKNeighborsRegressor
    >>> baskets = [["bread", "milk"], ["bread"], ["milk", "tea"], ["bread", "milk", "tea"]]
    >>> model = SparseKNeighborsRegressor(2, metric="jaccard").fit(baskets, [3.0, 1.0, 4.0, 6.0])
    >>> model.predict([["bread", "milk"], ["tea"]]).tolist()
    [4.5, 5.0]
    """

    _kind: ClassVar[str] = "sparse_k_neighbors_regressor"
    _target_tags: ClassVar[tuple[str, ...]] = ("multi_output",)

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Literal["uniform", "distance"] = "uniform",
        metric: Literal["euclidean", "cosine", "jaccard", "overlap", "hamming"] = "euclidean",
        radius: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training objects and their numbers.

        Parameters
        ----------
        X : array-like, sparse array, frame, baskets or Table
            Of shape (n_objects, n_columns). Arrays are not copied: do not change them while the
            model is in use.
        y : array-like of shape (n_objects,) or (n_objects, n_outputs), or str
            Their numbers; or the column of a Table or a frame that holds them.
        """
        self._check_parameters()
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        inputs = Inputs.fit(self, X, y)
        encoder, numbers = inputs.one_hot()
        self._target_name = inputs.target_name
        if inputs.target is not None:
            values = column_numbers(inputs.data, inputs.target)
        else:
            values = inputs.y
        targets = read_outputs(values, numbers.shape[0])
        self._flat = targets.type == "number"
        self._targets = np.ascontiguousarray(targets.values.T)
        self._names = [str(name) for name in targets.labels]
        self.n_outputs_ = self._targets.shape[1]
        self._fit_index(encoder, numbers)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.weights, "weights", _WEIGHTS)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the average of the neighbours' numbers.

        Parameters
        ----------
        X : like the one that was fitted, or a PartitionedTable
            None for the training objects themselves, none of which is its own neighbour.

        Returns
        -------
        ndarray of shape (n_objects,) or (n_objects, n_outputs)
        """
        check_is_fitted(self)
        self._check_parameters()
        k = min(int(self.n_neighbors), self.n_samples_fit_ - (X is None))
        if k == 0:
            raise InputError("X: the only training object has no neighbours but itself")
        distances, neighbors = self._index.nearest(self._queries(X), k, self.n_jobs)
        values = self._targets[neighbors]
        if self.weights == "uniform":
            means = values.mean(axis=1)
        else:
            zero = distances == 0
            # In units of the nearest: of the smallest numbers, 1 / x would be infinite.
            first = np.broadcast_to(distances[:, :1], zero.shape)
            inverse = np.divide(first, distances, out=np.ones_like(distances), where=~zero)
            shares = np.where(zero.any(axis=1)[:, None], zero, inverse)
            shares /= shares.sum(axis=1, keepdims=True)
            means = np.einsum("nk,nko->no", shares, values)
        predicted: NDArray[np.float64] = means[:, 0] if self._flat else means
        return predicted

    def to_text(self) -> str:
        """Return what the model knows, in words."""
        check_is_fitted(self)
        n, k = self.n_samples_fit_, self.n_neighbors
        return f"{n:,} objects, {self.n_outputs_:,} outputs; {k} neighbours by {self.metric}"

    def to_frame(self) -> pl.DataFrame:
        """Return the training objects' numbers, a column for each output."""
        check_is_fitted(self)
        return pl.DataFrame(dict(zip(self._names, self._targets.T, strict=True)))

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"flat": self._flat, "outputs": self._names, "target": self._target_name}, {
            "targets": self._targets
        }

    def _restore(self, facts: dict[str, Any], state: store.State) -> None:
        targets = state["targets"]
        n, names = self.n_samples_fit_, [str(name) for name in facts["outputs"]]
        if targets.dtype != np.float64 or targets.shape != (n, len(names)):
            raise InputError("'targets' are not those of its objects")
        self._targets, self._names = targets, names
        self._flat, self._target_name = bool(facts["flat"]), facts["target"]
        self.n_outputs_ = len(names)
