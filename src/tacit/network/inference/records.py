"""Records as a net sees them: a code for each column, -1 where the value is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.table import Table
from tacit.table.discretise import bin_edges
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.schema import Column, Labels, Schema

__all__ = ["Records", "find_code", "make_table", "read_records"]

_CELLS = 2**20  # of codes looked at together


@dataclass(frozen=True)
class Records:
    """Codes of all columns.

    Attributes
    ----------
    columns : list of ndarray
        Of each column the code of every record, of a type as small as can be; -1 for not known.
    weights : ndarray of float64, optional
    """

    columns: list[NDArray[Any]]
    weights: NDArray[np.float64] | None

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.columns[0])

    def take(self, chosen: NDArray[np.int64]) -> Records:
        """Return some of the records."""
        weights = None if self.weights is None else self.weights[chosen]
        return Records([codes[chosen] for codes in self.columns], weights)

    def weigh(self, chosen: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        """Return the weights of some records; one each where there are none."""
        if self.weights is not None:
            return self.weights[chosen]
        return np.ones(self.n_records)[chosen]

    def incomplete(self) -> NDArray[np.int64]:
        """Return the numbers of the records with a value that is not known."""
        lacking = np.zeros(self.n_records, np.bool_)
        for codes in self.columns:
            lacking |= codes < 0
        return np.flatnonzero(lacking)

    def matrix(self, chosen: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return some records as rows of codes."""
        return np.stack([codes[chosen] for codes in self.columns], axis=1).astype(np.int32)

    def cells(
        self, arities: NDArray[np.int64], parents: Sequence[int], child: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Return where each record falls in the table of a family, and which records are known.

        The table is in C order, the child last. The second is ``None`` where all are known; the
        cell of a record that is not known is -1.
        """
        cell = np.zeros(self.n_records, np.int64)
        lacking = np.zeros(self.n_records, np.bool_)
        for column in (*parents, child):
            codes = self.columns[column]
            cell *= arities[column]
            cell += codes
            lacking |= codes < 0
        if not lacking.any():
            return cell, None
        cell[lacking] = -1
        return cell, ~lacking


def read_records(schema: Schema, data: Any, argument: str = "data", first: int = 0) -> Records:
    """Return data as records under a schema.

    Columns are found by name, labels by what they are. Labels of a net that are all text, as those
    from BIF files are, are found by how they read, too: 1 and 1.0 are "1" then, and True is "TRUE",
    "True" or "true", whichever there is. Numbers are cut where the net's bins are. Missing values
    are not known, unless the net has a label for them.

    Parameters
    ----------
    schema : Schema
    data : Table, frame, mapping of columns, array or sparse array
        Arrays have the net's columns, in order. Columns that the net does not have are passed over.
    argument : str
        What the caller calls the data.
    first : int
        The number of the first record, where these are some of more; for messages.
    """
    table = data if isinstance(data, Table) else _as_table(schema, data, argument)
    check_fits(2 * table.n_records * len(schema), "the codes of all records", "give fewer records")
    held = set(table.schema.names)
    lost = [name for name in schema.names if name not in held]
    if lost:
        raise InputError(f"{argument}: there is no column {lost[0]!r}, which the net has")
    columns = []
    for place, name in enumerate(schema.names):
        own = table.schema.position(name)
        codes = _match(table.schema.labels[own], schema.labels[place])
        dtype = np.min_scalar_type(-len(schema.labels[place]) - 1)
        column = codes.astype(dtype)[table.codes(own)]
        _refuse_unknown(table, own, column, schema.column(place), argument, first)
        column[column < 0] = -1
        columns.append(column)
    return Records(columns, table.weights)


def _as_table(schema: Schema, data: Any, argument: str) -> Table:
    """Make a table of other data; numbers of columns that the net has in bins are cut."""
    if hasattr(data, "shape") and not hasattr(data, "columns"):
        if len(data.shape) != 2 or data.shape[1] != len(schema):
            raise InputError(
                f"{argument} must have {len(schema)} columns as the net has, got an array of "
                f"shape {tuple(data.shape)}"
            )
        return Table(data, columns=list(schema.names))
    try:
        return Table(data)
    except InputError as error:
        cuts = {column.name: bin_edges(column.labels) for column in schema}
        binned = {name: edges for name, edges in cuts.items() if edges is not None}
        if not binned:
            raise InputError(f"{argument}: {error}") from None
    return Table(data, discretise=binned)


def _match(was: Labels, now: Labels) -> NDArray[np.int64]:
    """Return the code in `now` of each label; -1 for what is not known, -2 for what is wrong."""
    by_text = all(isinstance(label, str) for label in now)
    return np.array([find_code(now, label, by_text=by_text) for label in was], np.int64)


def find_code(labels: Labels, label: Any, *, by_text: bool) -> int:
    """Return the code of a label: -1 for a missing value that has none, -2 if it is wrong."""
    try:
        code = labels.find(label)
    except TypeError:  # a list, say
        return -2
    if code >= 0:
        return code
    if label is None:
        return -1
    if not by_text or isinstance(label, str):
        return -2
    codes = {labels.find(text) for text in _texts(label)} - {-1}
    return codes.pop() if len(codes) == 1 else -2


def _texts(label: Any) -> tuple[str, ...]:
    """Return how a label may read: files write truth in capitals, too, and 0 may become 0.0."""
    text = str(label)
    if isinstance(label, bool):
        return text, text.upper(), text.lower()
    if isinstance(label, float) and label.is_integer():
        return text, str(int(label))
    return (text,)


def _refuse_unknown(
    table: Table, own: int, codes: NDArray[Any], column: Column, argument: str, first: int
) -> None:
    wrong = codes == -2
    if not wrong.any():
        return
    record = int(wrong.argmax())
    label = table.schema.labels[own][int(table.codes(own)[record])]
    shown = ", ".join(repr(x) for x in column.labels[:8])
    more = f", … ({column.arity} in all)" if column.arity > 8 else ""
    raise InputError(
        f"{argument}: column {column.name!r} has {label!r} at record {first + record}, which the "
        f"net does not know; its labels are {shown}{more}"
    )


def make_table(schema: Schema, codes: NDArray[Any]) -> Table:
    """Return the Table of rows of codes; some rows at a time, as the rest would fill memory."""
    size = max(1, _CELLS // len(schema))
    lengths, values = [np.zeros(1, np.int64)], []
    for begin in range(0, len(codes), size):
        block = np.ascontiguousarray(codes[begin : begin + size])
        stored = block != schema.defaults
        ids = schema.offsets[:-1] + block - (block > schema.defaults)
        lengths.append(stored.sum(axis=1))
        values.append(ids[stored].astype(value_type(schema.n_values)))
    indptr = np.cumsum(np.concatenate(lengths))
    return Table.from_stored(schema, indptr, np.concatenate(values))
