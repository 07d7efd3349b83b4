"""Counters that hold no counts: reading records, and bitmaps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.counter import Counter
from tacit.machine import count_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.counts.counter import Layout
    from tacit.counts.records import StoredRecords

__all__ = ["Bitmaps", "Scan"]


class Scan(Counter):
    """Counts by reading the records, every time.

    Nothing has to be prepared, and the cost of a table hardly depends on how many cells it has:
    half a nanosecond a record, or time in proportion to the stored values where columns are almost
    all default.

    Parameters
    ----------
    table : Table
    n_jobs : int, optional
        Threads for a table of very many records. The counts do not depend on it.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> tacit.counts.Scan(visits).count({"weather": True, "news": True})
    845
    """

    def __init__(self, table: StoredRecords, *, n_jobs: int | None = None) -> None:
        super().__init__(table)
        self.n_jobs = n_jobs
        self._jobs = count_jobs(n_jobs)
        self._scan = _core.Scan(table.column_store, self._jobs)

    @property
    def nbytes(self) -> int:
        """Bytes held besides the table: codes of the columns asked about so far."""
        return self._scan.nbytes

    def _engine(self) -> _core.Engine:
        return self._scan

    def _table_of(
        self, chosen: NDArray[np.int64], columns: Sequence[str | int], layout: Layout
    ) -> ContingencyTable:
        """Count some records only; their numbers ascend."""
        positions, axes, n_cells = self._axes(columns)
        rows = chosen.astype(np.int32)
        if self._check_layout(layout, n_cells) == "sparse":
            return ContingencyTable.from_cells(axes, *self._scan.some(positions, rows, True))
        return ContingencyTable(axes, self._scan.some(positions, rows, False))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Scan, n_jobs=self.n_jobs), (self._records,)


class Bitmaps(Counter):
    """Counts by bitmaps: one bit for each record and value, AND and population count.

    The most common value of a column needs no bitmap: its counts follow by subtraction. Best for
    columns of few values. Bitmaps are made when first asked for.

    Parameters
    ----------
    table : Table

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> tacit.counts.Bitmaps(visits).count({"weather": True, "news": True})
    845
    """

    def __init__(self, table: StoredRecords) -> None:
        super().__init__(table)
        self._bitmaps = _core.Bitmaps(table.column_store)

    @property
    def nbytes(self) -> int:
        """Bytes held besides the table: bitmaps and codes made so far."""
        return self._bitmaps.nbytes

    def _engine(self) -> _core.Engine:
        return self._bitmaps

    def __reduce__(self) -> tuple[Any, ...]:
        return Bitmaps, (self._records,)
