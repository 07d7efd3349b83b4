"""Records as a net sees them: a code for each column, -1 where the value is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.schema import Column, Labels

__all__ = [
    "Records",
    "find_code",
    "make_table",
    "read_records",
    "row_blocks",
    "without_missing",
]

_CELLS = 2**20  # of codes that are held at a time


@dataclass(frozen=True)
class Records:
    """Codes of all columns."""

    # Of each column the code of every record, of a type as small as can be; -1 for not known
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


def read_records(
    schema: Schema,
    table: Table,
    *,
    first: int = 0,
    unseen: Literal["error", "default"] = "error",
) -> Records:
    """Return a table's records under the schema of a net.

    Columns are found by name, labels by what they are. Labels of a net that are all text, as those
    from BIF files are, are found by how they read, too: 1 and 1.0 are "1" then, and True is "TRUE",
    "True" or "true", whichever there is. Missing values are not known, unless the net has a label
    for them. Columns that the net does not have are passed over. `first` is the number of the first
    record, for messages, where these are some of more; `unseen` says what to do with labels that
    the net does not have.
    """
    check_fits(2 * table.n_records * len(schema), "the codes of all records", "give fewer records")
    absent = set(schema.names).difference(table.schema.names)
    if absent:
        name = next(name for name in schema.names if name in absent)
        raise InputError(f"X: there is no column {name!r}, which the net has")
    columns = []
    for column in schema:
        position = table.schema.position(column.name)
        codes = _match(table.schema.labels[position], column.labels)
        if unseen == "default":
            codes[codes == -2] = column.default
        dtype = np.min_scalar_type(-column.arity - 1)
        values = codes.astype(dtype)[table.codes(position)]
        _refuse_unknown(table, position, values, column, first)
        columns.append(values)
    return Records(columns, table.weights)


def _match(theirs: Labels, ours: Labels) -> NDArray[np.int64]:
    """Return the code in `ours` of each label; -1 for what is not known, -2 for what is wrong."""
    if ours.edges is not None and theirs.is_numeric:
        codes = ours.find_all(theirs)
        return np.where((codes < 0) & (np.arange(len(theirs)) != theirs.missing), -2, codes)
    by_text = all(isinstance(label, str) for label in ours)
    return np.array([find_code(ours, label, by_text=by_text) for label in theirs], np.int64)


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
    table: Table, position: int, codes: NDArray[Any], column: Column, first: int
) -> None:
    wrong = codes == -2
    if not wrong.any():
        return
    record = int(wrong.argmax())
    label = table.schema.labels[position][int(table.codes(position)[record])]
    shown = ", ".join(repr(x) for x in column.labels[:8])
    more = f", … ({column.arity} in all)" if column.arity > 8 else ""
    raise InputError(
        f"X: column {column.name!r} has {label!r} at record {first + record}, which the "
        f"net does not know; its labels are {shown}{more}"
    )


def row_blocks(codes: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield some rows at a time, as what is made of all of them would fill memory."""
    size = max(1, _CELLS // codes.shape[1])
    for begin in range(0, len(codes), size):
        yield np.ascontiguousarray(codes[begin : begin + size])


def make_table(schema: Schema, blocks: Iterable[NDArray[Any]]) -> Table:
    """Return the Table of blocks of rows of codes."""
    lengths, values = [np.zeros(1, np.int64)], []
    for block in blocks:
        stored = block != schema.defaults
        cells = np.flatnonzero(stored)
        columns, drawn = cells % len(schema), block.ravel()[cells]
        ids = schema.offsets[columns] + drawn - (drawn > schema.defaults[columns])
        lengths.append(stored.sum(axis=1))
        values.append(ids.astype(value_type(schema.n_values)))
    indptr = np.cumsum(np.concatenate(lengths))
    return Table.from_stored(schema, indptr, np.concatenate(values))


def without_missing(schema: Schema, table: Table | PartitionedTable | None = None) -> Schema:
    """Return the schema without labels for missing values.

    Where such a label is the default, the most common one of the table takes its part; the first
    one, if no table is given.
    """
    if all(labels.missing is None for labels in schema.labels):
        return schema
    labels, defaults = list(schema.labels), schema.defaults.copy()
    mostly_missing = [d == known.missing for d, known in zip(defaults, labels, strict=True)]
    counts = None if table is None or not any(mostly_missing) else table.one_way()
    for c, known in enumerate(schema.labels):
        if known.missing is None:
            continue
        if len(known) == 1:
            raise InputError(f"X: column {schema.names[c]!r} has only missing values")
        labels[c] = known.without_missing()
        if mostly_missing[c]:
            defaults[c] = 0 if counts is None else int(np.argmax(counts.array(c)[:-1]))
    return Schema(schema.names, labels, defaults)
