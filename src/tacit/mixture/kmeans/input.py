"""Arrays of numbers, checked and turned into points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from tacit.errors import InputError
from tacit.mixture.kmeans.points import NumberPoints
from tacit.table.gateway import check_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["number_points"]


def number_points(
    estimator: Any, X: Any, sample_weight: Any, centres: NDArray[np.float64] | None = None
) -> NumberPoints:
    """Return numbers as points: those of a fit, or of a model with these centres."""
    checked = _numbers(estimator, X, reset=centres is None)
    offset = None if centres is None else centres.mean(axis=0)
    return NumberPoints(checked, _weights(sample_weight, checked.shape[0]), offset)


def _numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    if nw.dependencies.is_into_dataframe(X):
        X = _frame(X)
    checked: Any = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    is_sparse: bool = sparse.issparse(checked)
    numbers = checked.data if is_sparse else checked
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        position = int(wrong[0])
        row, column = divmod(position, checked.shape[1])
        if is_sparse:
            row = int(np.searchsorted(checked.indptr, position, side="right")) - 1
            column = int(checked.indices[position])
        value = numbers.reshape(-1)[position]
        raise InputError(f"X contains NaN or inf: {value} at row {row}, column {column}")
    return checked


def _frame(X: Any) -> Any:
    """Return a frame of numbers in a form that scikit-learn knows."""
    frame = nw.from_native(X, eager_only=True)
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean or dtype == nw.Object):
            raise InputError(
                f"X: column {name!r} holds {dtype}, not numbers; make a tacit.Table of the frame"
            )
    return X if frame.implementation.is_pandas() else frame.to_polars()


def _weights(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    try:
        return check_weights(sample_weight, n_records)
    except InputError as error:
        raise InputError(f"sample_weight: {error}") from None
