"""What k-means is given, checked and turned into points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from tacit.errors import InputError
from tacit.mixture.kmeans.points import NumberPoints, TablePoints
from tacit.table import as_table
from tacit.table.features import weigh
from tacit.table.gateway import check_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["array_points", "number_points", "table_points"]


def table_points(
    X: Any,
    sample_weight: Any,
    schema: Schema | None = None,
    unseen: Literal["error", "default"] = "error",
) -> TablePoints:
    """Return the points of a Table; `schema` is that of the one that was fitted before."""
    table = weigh(as_table(X), sample_weight)
    if schema is not None:
        table = table.conform(schema, unseen=unseen)
    return TablePoints(table, table.weights)


def number_points(estimator: Any, X: Any, sample_weight: Any) -> NumberPoints:
    """Return numbers as points, and note what scikit-learn wants to be noted of them."""
    checked = _numbers(estimator, X, reset=True)
    return NumberPoints(checked, _weights(sample_weight, checked.shape[0]))


def array_points(
    estimator: Any, X: Any, sample_weight: Any, centres: NDArray[np.float64]
) -> NumberPoints:
    """Return numbers as points, like those the estimator was fitted to."""
    checked = _numbers(estimator, X, reset=False)
    return NumberPoints(checked, _weights(sample_weight, checked.shape[0]), centres.mean(axis=0))


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
        place = int(wrong[0])
        row, column = divmod(place, checked.shape[1])
        if is_sparse:
            row = int(np.searchsorted(checked.indptr, place, side="right")) - 1
            column = int(checked.indices[place])
        value = numbers.reshape(-1)[place]
        raise InputError(f"X contains NaN or inf: {value} at row {row}, column {column}")
    return checked


def _frame(X: Any) -> Any:
    """Return a frame in a form that scikit-learn knows, having looked at its columns."""
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
