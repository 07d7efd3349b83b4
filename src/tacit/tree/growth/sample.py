"""What fit is given, put in order: columns, target and weights of the records that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import InputError
from tacit.table import Table
from tacit.table.features import is_sparse, note_names, take_columns
from tacit.table.targets import read_sample_weight, read_target, require_target, take_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table.features import Kind

__all__ = ["Sample", "note_target", "table_sample", "take_sample"]


class Sample(NamedTuple):
    """The records to learn from; none has the weight zero."""

    data: Any
    kind: Kind
    y: Any  # the target as it was given; the series, where it is a column of a frame
    target: int | None  # the position of the target among the columns of a Table
    target_name: str | None
    weights: NDArray[np.float64] | None

    @property
    def schema(self) -> Schema | None:
        """The columns of a Table, the target among them."""
        return self.data.schema if self.kind == "table" else None


def take_sample(model: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Put what fit is given in order, and note the columns on the model."""
    require_target(model, y)
    if isinstance(X, Table):
        return table_sample(model, X, y, sample_weight)
    name = None
    if isinstance(y, str):
        name, (X, y) = y, take_target(X, y)
    kind, given = take_columns(model, X, reset=True)
    n_records = given.shape[0]
    if kind == "frame" and (n_records == 0 or given.shape[1] == 0):
        raise InputError(f"X: there are {n_records} records and {given.shape[1]} columns")
    weights = _weights(sample_weight, n_records)
    if weights is not None and not weights.all():
        kept = weights > 0
        given = given.tocsr() if is_sparse(given) else given
        given = given.filter(kept) if kind == "frame" else given[kept]
        y, weights = _some(y, kept), weights[kept]
    return Sample(given, kind, y, None, name, weights)


def table_sample(model: Any, X: Table, y: Any, sample_weight: Any) -> Sample:
    """Take a Table, of which the target may be a column."""
    if model.discretise is not None:
        raise InputError("discretise: X is a Table, and its columns are discrete already")
    weights = X.weights
    if sample_weight is not None:
        if weights is not None:
            raise InputError("sample_weight: the Table has weights already")
        weights = _weights(sample_weight, X.n_records)
    target, name = None, None
    if isinstance(y, str):
        target, name = note_target(model, X.schema, y), y
    else:
        note_names(model, X.schema.name_array)
    if weights is not None and not weights.all():
        if not weights.any():
            raise InputError("weights: all weights are zero")
        kept = weights > 0
        X, weights = X.take(kept), weights[kept]
        y = y if target is not None else _some(y, kept)
    return Sample(X, "table", y, target, name, weights)


def note_target(model: Any, schema: Schema, y: str) -> int:
    """Return the position of a target among columns, and note the others on the model."""
    target, names = schema.position(y, "y"), schema.name_array
    if len(names) == 1:
        raise InputError(f"X: there is no column but the target {y!r}")
    note_names(model, np.concatenate((names[:target], names[target + 1 :])))
    return target


def _weights(sample_weight: Any, n_records: int) -> Any:
    weights = None if sample_weight is None else read_sample_weight(sample_weight, n_records)
    if weights is not None and not weights.any():
        raise InputError("sample_weight: all weights are zero")
    return weights


def _some(y: Any, kept: NDArray[np.bool_]) -> Any:
    """Return some records' targets; one of the wrong length is left for others to refuse."""
    return read_target(y, len(kept)).filter(kept)
