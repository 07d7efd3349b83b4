"""The NumPy side: contingency tables by ``bincount`` over raveled codes, as well as it goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tacit


PLAIN = "NumPy `bincount`"
TUNED = "NumPy `bincount`, narrow codes, buffers kept"
RAVELED = "NumPy `ravel_multi_index` and `bincount`"


@dataclass(frozen=True)
class Flat:
    """Tables one after another, as a tacit counter returns them."""

    counts: Any
    offsets: Any


class NumpyCounter:
    """Counts by NumPy; codes are taken out of the table beforehand.

    It has what `tacit.BestSubset` asks of a counter, so that the same search can run over it.
    """

    def __init__(self, table: tacit.Table) -> None:
        self._table = table
        self.schema, self.n_records = table.schema, table.n_records
        self.arities: list[int] = table.schema.arities.tolist()
        wide = [table.codes(column) for column in range(table.n_columns)]
        self._wide = [np.ascontiguousarray(codes, np.intp) for codes in wide]
        narrow = [np.min_scalar_type(arity - 1) for arity in self.arities]
        self._narrow = [codes.astype(kind) for codes, kind in zip(self._wide, narrow, strict=True)]
        self._indices = np.empty(self.n_records, np.intp)
        self._buffers: dict[Any, Any] = {}

    def size(self, places: Sequence[int]) -> int:
        return math.prod([self.arities[c] for c in places])

    def tuned(self, places: Sequence[int]) -> Any:
        """Count in the narrowest type that can number the cells, in buffers that are kept."""
        cells = self._cells([self._narrow[c] for c in places], places)
        np.copyto(self._indices, cells)
        return np.bincount(self._indices, minlength=self.size(places))

    def plain(self, places: Sequence[int]) -> Any:
        """Count as it is usually written."""
        cells = self._wide[places[0]]
        for c in places[1:]:
            cells = cells * self.arities[c] + self._wide[c]
        return np.bincount(cells, minlength=self.size(places))

    def raveled(self, places: Sequence[int]) -> Any:
        """Count with NumPy's own function to number cells."""
        shape = [self.arities[c] for c in places]
        cells = np.ravel_multi_index([self._wide[c] for c in places], shape)
        return np.bincount(cells, minlength=self.size(places))

    def given(self, places: Sequence[int], column: int, code: int) -> Any:
        """Count the records that have a code in another column."""
        chosen = np.flatnonzero(self._narrow[column] == code)
        cells = self._cells([self._narrow[c].take(chosen) for c in places], places)
        return np.bincount(cells, minlength=self.size(places))

    def _cells(self, codes: Sequence[Any], places: Sequence[int]) -> Any:
        kind = np.min_scalar_type(self.size(places) - 1)
        if kind not in self._buffers:
            self._buffers[kind] = np.empty(self.n_records, kind)
        cells = self._buffers[kind][: len(codes[0])]
        np.copyto(cells, codes[0])
        for own, c in zip(codes[1:], places[1:], strict=True):
            np.multiply(cells, kind.type(self.arities[c]), out=cells)
            np.add(cells, own, out=cells)
        return cells

    # What BestSubset asks of a counter

    def tables(self, column_sets: Any, given: Any = None) -> Flat:
        parts = [self.tuned(places) for places in np.asarray(column_sets).tolist()]
        return Flat(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))

    def table(self, columns: Sequence[Any], given: Any = None, *, layout: str = "auto") -> Any:
        return self._table.contingency(columns)
