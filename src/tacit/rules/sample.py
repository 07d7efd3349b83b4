"""What fit is given, put in order: columns, target and weights of the records that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from tacit.errors import InputError
from tacit.table import Table
from tacit.table.features import is_frame, is_sparse
from tacit.table.targets import read_sample_weight, require_target, take_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_WEIGHT = 1e100  # beyond which sums of squares would not be finite

__all__ = ["Sample", "exponent", "one_record", "refuse_lazy", "take_sample"]


@dataclass(frozen=True)
class Sample:
    """The records to learn from; none has the weight zero."""

    data: Any  # the columns, without the target
    y: Any  # the target of all records that were given
    target_name: str | None  # the column that it was
    weights: NDArray[np.float64] | None  # of the records to learn from
    # Which of the records that were given have a weight; None for all.
    kept: NDArray[np.bool_] | None


def take_sample(model: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Put what fit is given in order; columns and target are read later."""
    require_target(model, y)
    refuse_lazy(X)
    name = None
    if isinstance(y, str):
        name, (X, y) = y, _split(X, y)
    weights = X.weights if isinstance(X, Table) else None
    if sample_weight is not None:
        if weights is not None:
            raise InputError("sample_weight: the Table has weights already")
        weights = _weights(sample_weight, _n_records(X))
    if weights is None or weights.all():
        return Sample(X, y, name, weights, None)
    if not weights.any():
        raise InputError("sample_weight: all weights are zero")
    kept = weights > 0
    return Sample(_rows(X, kept), y, name, weights[kept], kept)


def exponent(weights: NDArray[np.float64]) -> int:
    """Return the e of the 2**e that the largest weight is just below: 0 if all are zero.

    Weights that are divided by 2**e lose nothing and have sums and products that are finite.

    >>> exponent(np.array([3.0, 0.1]))
    2
    """
    return int(np.frexp(weights.max(initial=0.0))[1])


def refuse_lazy(X: Any) -> None:
    """Refuse a query of Polars that has not been run."""
    if isinstance(X, pl.LazyFrame):
        raise InputError("X is a LazyFrame, which has no records yet: call its collect()")


def _split(X: Any, name: str) -> tuple[Any, Any]:
    """Return columns without the target, and the target."""
    if isinstance(X, Table):
        target = X.schema.position(name, "y")
        rest = [k for k in range(X.n_columns) if k != target]
        if not rest:
            raise InputError(f"X: there is no column but the target {name!r}")
        return X.select(rest), X.select([target]).to_frame("polars")[name]
    return take_target(X, name)


def _weights(sample_weight: Any, n_records: int) -> NDArray[np.float64] | None:
    weights = read_sample_weight(sample_weight, n_records)
    if weights is not None and weights.max() > _MOST_WEIGHT:
        raise InputError(f"sample_weight: {weights.max():g} is too large; scale weights down")
    return weights


def _n_records(X: Any) -> int:
    if isinstance(X, Mapping) and not is_sparse(X):
        return len(next(iter(X.values()), ()))
    return int(_num_samples(X))


def _rows(X: Any, kept: NDArray[np.bool_]) -> Any:
    """Return some records of whatever X is."""
    if isinstance(X, Table):
        return X.take(kept)
    if isinstance(X, Mapping) and not is_sparse(X):
        return {name: _safe_indexing(column, np.flatnonzero(kept)) for name, column in X.items()}
    if is_frame(X):
        return nw.from_native(X, eager_only=True).filter(kept.tolist()).to_native()
    return _safe_indexing(X.tocsr() if is_sparse(X) else X, np.flatnonzero(kept))


def one_record(X: Any) -> Any:
    """Return one record as something with one row: a row of an array, or names with values."""
    refuse_lazy(X)
    if nw.dependencies.is_pandas_series(X) and all(isinstance(key, str) for key in X.index):
        X = X.to_dict()
    if isinstance(X, Mapping) and not is_sparse(X):
        X = {name: _column(value) for name, value in X.items()}
    elif not isinstance(X, Table) and not is_frame(X):
        X = X if is_sparse(X) else np.asarray(X)
        X = X.reshape(1, -1) if X.ndim == 1 else X
    n_records = _n_records(X)
    if n_records != 1:
        raise InputError(f"X must be one record, got {n_records:,}; explain them one by one")
    return X


def _column(value: Any) -> Any:
    """Return one value as a column; what is one already stays as it is."""
    if isinstance(value, np.generic):
        return np.asarray([value])  # which Polars knows the type of
    return [value] if isinstance(value, str) or not hasattr(value, "__len__") else value
