"""What a selector is given, as one Table that holds the columns and the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.schema import Schema
from tacit.table import Table
from tacit.table.gateway import value_type
from tacit.table.targets import read_class_target, read_classes, refuse_real_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table.input_spec import InputSpec
    from tacit.table.inputs import Inputs

__all__ = ["Problem", "make_problem"]


class Problem(NamedTuple):
    """A table, the index of its target, and what to remember of the columns."""

    table: Table
    target: int
    spec: InputSpec  # of the columns, the target not among them

    @property
    def features(self) -> list[int]:
        """The indices of all columns but the target."""
        return [k for k in range(self.table.n_columns) if k != self.target]


def make_problem(inputs: Inputs, discretise: Any, n_jobs: int | None) -> Problem:
    """Cut the numbers of X, maybe to tell classes apart, and put the target behind its columns."""
    if inputs.target is not None:
        refuse_real_classes(inputs.data, inputs.target)
        table = inputs.table(discretise, n_jobs=n_jobs)
        return Problem(table, inputs.target, inputs.remembered.without(inputs.target))
    classes = read_classes(inputs.y, inputs.n_records).codes
    table = inputs.table(discretise, classes=classes, n_jobs=n_jobs)
    target = _target_table(inputs.y, inputs.names, inputs.n_records, inputs.target_name)
    return Problem(_join(table, target), table.n_columns, inputs.remembered)


def _target_table(y: Any, taken: Sequence[str], n_records: int, name: str | None) -> Table:
    """Return a Table of one column, the target; its name is none of those that are taken."""
    name, held = name or "y", set(taken)
    while name in held:
        name += "_"
    series = read_class_target(y, n_records).alias(name)
    numeric = series.dtype.is_numeric()
    return Table({name: series}, kinds={name: "categorical"} if numeric else None)


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
