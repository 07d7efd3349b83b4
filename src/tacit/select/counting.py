"""Who counts where the caller brings no counter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts import ContingencyTable
    from tacit.schema import Schema
    from tacit.select.measure import CountsTables
    from tacit.table import Table

__all__ = ["default_counter"]


def default_counter(table: Table) -> CountsTables:
    """Return the counter for a search over a table."""
    return _Direct(table)


@dataclass(frozen=True)
class _Flat:
    counts: NDArray[Any]
    offsets: NDArray[np.int64]


@dataclass(frozen=True)
class _Cells:
    cells: NDArray[np.int64]
    counts: NDArray[Any]

    def _occurring(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        return self.cells, self.counts


class _Direct:
    """Counts anew for each table, record by record."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._codes = cache(table.codes)

    @property
    def schema(self) -> Schema:
        return self._table.schema

    @property
    def n_records(self) -> int:
        return self._table.n_records

    def _cells(self, columns: Sequence[str | int]) -> tuple[NDArray[np.int64], int]:
        """Return the cell of each record, and how many cells there are."""
        places = [self.schema.position(column, "columns") for column in columns]
        arities = [int(self.schema.arities[place]) for place in places]
        if math.prod(arities) >= 2**63:
            raise InputError(f"columns: {len(places)} columns have too many combinations")
        cells = np.zeros(self.n_records, np.int64)
        for place, arity in zip(places, arities, strict=True):
            cells = cells * arity + self._codes(place)
        return cells, math.prod(arities)

    def tables(
        self, column_sets: Sequence[Sequence[str | int]], given: Mapping[str, Any] | None = None
    ) -> _Flat:
        parts = []
        for columns in column_sets:
            cells, n_cells = self._cells(columns)
            parts.append(np.bincount(cells, self._table.weights, n_cells))
        offsets = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
        return _Flat(np.concatenate(parts), offsets.astype(np.int64))

    def table(
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: str = "auto",
    ) -> ContingencyTable | _Cells:
        if layout != "sparse":
            return self._table.contingency(columns)
        cells, where = np.unique(self._cells(columns)[0], return_inverse=True)
        return _Cells(cells, np.bincount(where, self._table.weights, len(cells)))
