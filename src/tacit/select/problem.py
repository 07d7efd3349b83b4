"""What a selector is given, as one Table that holds the columns and the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from tacit.errors import InputError, no_column
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.features import array_frame, array_names, array_table, is_sparse
from tacit.table.gateway import value_type
from tacit.table.targets import read_target, refuse_reals

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Problem", "array_problem", "frame_problem", "table_problem"]


class Problem(NamedTuple):
    """A table, the index of its target, and the indices of the columns that can be chosen."""

    table: Table
    target: int

    @property
    def features(self) -> list[int]:
        """The indices of all columns but the target."""
        return [k for k in range(self.table.n_columns) if k != self.target]


def table_problem(X: Table, y: Any, discretise: Any) -> Problem:
    """Take a Table, which holds the target or gets it from `y`."""
    if discretise is not None:
        raise InputError("discretise: X is a Table, and its columns are discrete already")
    if isinstance(y, str):
        return Problem(X, X.schema.position(y, "y"))
    return Problem(_join(X, _target_table(y, X.schema.names, X.n_records)), X.n_columns)


def frame_problem(X: Any, y: Any, discretise: Any, n_jobs: int | None) -> Problem:
    """Take a frame, which holds the target or gets it from `y`."""
    frame = nw.from_native(X, eager_only=True)
    if isinstance(y, str):
        if y not in frame.columns:
            raise no_column("y", y, frame.columns)
        table = Table(X, discretise=discretise, target=y if discretise else None, n_jobs=n_jobs)
        return Problem(table, table.schema.position(y, "y"))
    classes = _target_table(y, frame.columns, len(frame))
    if discretise is None:
        return Problem(_join(Table(X, n_jobs=n_jobs), classes), frame.shape[1])
    # Cuts may be made to tell the target's labels apart, so that it has to be in the frame.
    [name] = classes.schema.names
    labels = classes.to_frame("polars")[name]
    series = nw.new_series(name, labels.to_list(), backend=frame.implementation)
    joined = frame.with_columns(series).to_native()
    table = Table(joined, discretise=discretise, target=name, n_jobs=n_jobs)
    return Problem(table, frame.shape[1])


def array_problem(X: Any, y: Any, discretise: Any, n_jobs: int | None) -> Problem:
    """Take an array, dense or sparse; its columns are called x0, x1, …, as scikit-learn does."""
    if isinstance(y, str):
        raise InputError(f"y: an array has no column {y!r}; give a frame, or y as an array")
    names = array_names(X.shape[1])
    if is_sparse(X) and discretise is None:
        classes = _target_table(y, names, X.shape[0])
        return Problem(_join(array_table(X, names), classes), len(names))
    return frame_problem(array_frame(X, names), y, discretise, n_jobs)


def _target_table(y: Any, taken: Sequence[str], n_records: int) -> Table:
    """Return a Table of one column, the target; its name is none of those that are taken."""
    name = "y"
    while name in taken:
        name += "_"
    series = read_target(y, n_records).alias(name)
    refuse_reals(series)
    return Table({name: series})


def _join(table: Table, target: Table) -> Table:
    """Return the table with one column more, behind the others."""
    ours, theirs = table.schema, target.schema
    schema = Schema(
        [*ours.names, *theirs.names],
        [*ours.labels, *theirs.labels],
        np.concatenate((ours.defaults, theirs.defaults)),
    )
    held = np.diff(target.indptr)
    indptr = table.indptr + target.indptr
    values = np.empty(int(indptr[-1]), value_type(schema.n_values))
    last = np.zeros(len(values), np.bool_)
    last[indptr[1:][held > 0] - 1] = True
    values[~last] = table.values
    values[last] = target.values + ours.n_values
    return Table.from_stored(schema, indptr, values, table.weights)
