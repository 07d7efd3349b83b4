"""What counting needs to know of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit import _core

if TYPE_CHECKING:
    from tacit.schema import Schema
    from tacit.store import State

__all__ = [
    "Counts",
    "StoredRecords",
    "Subset",
    "as_records",
    "derive",
    "gather_values",
]

Subset: TypeAlias = NDArray[np.int64] | None  # ascending record numbers, or all records
Counts: TypeAlias = NDArray[Any]  # int64, or float64 where records have weights


class StoredRecords(Protocol):
    """Records as sorted value ids: a :class:`tacit.Table`, or what provides the same arrays."""

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where each record's stored values begin."""

    @property
    def values(self) -> NDArray[Any]:
        """Value ids, ascending within each record."""

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Record weights, if any."""

    @property
    def n_records(self) -> int:
        """Number of records."""

    @property
    def postings(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The records of each value id, and where they begin."""

    @property
    def column_store(self) -> _core.ColumnStore:
        """The columns as counting engines want them."""

    def to_state(self) -> State:
        """The named arrays that a file holds of the records."""


def as_records(records: StoredRecords, chosen: Subset = None) -> _core.Records:
    """Return what kernels count: the chosen records with their weights."""
    return _core.Records(
        records.indptr, records.values, records.schema.n_values, chosen, records.weights
    )


def gather_values(
    records: StoredRecords, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the stored values of some records, in the order given, and where each one's begin."""
    lengths = np.diff(records.indptr)[chosen]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    positions = np.repeat(records.indptr[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return indptr, records.values[positions]


def derive(total: Any, others: Any) -> Any:
    """Return the count of the default: the total less the counts of all other values.

    Sums of weights are rounded: what should be nothing can come out just above it or below.
    """
    rest = np.asarray(total - others)
    if not np.issubdtype(rest.dtype, np.floating):
        return rest
    return np.where(rest <= 1e-12 * np.asarray(total), 0.0, rest)
