"""What a Table says: counts of its values, its columns side by side for engines that count."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core, counts
from tacit.machine import count_jobs
from tacit.schema import check_query, complement
from tacit.table.gateway import check_records, check_target
from tacit.table.records import Records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.pairs import Layout, Method
    from tacit.schema import Schema

__all__ = ["CountedRecords"]


class CountedRecords(Records):
    """Records whose stored values are in memory, by record and by value."""

    _schema: Schema
    _indptr: NDArray[np.int64]
    _values: NDArray[Any]
    _weights: NDArray[np.float64] | None
    _sizes: NDArray[np.int64] | None  # how many records hold each value id, where it is known
    _singles: counts.OneWay | None

    if TYPE_CHECKING:  # what counting asks of records; see tacit.counts.StoredRecords

        @property
        def indptr(self) -> NDArray[np.int64]: ...  # noqa: D102
        @property
        def values(self) -> NDArray[Any]: ...  # noqa: D102
        @property
        def weights(self) -> NDArray[np.float64] | None: ...  # noqa: D102
        def to_state(self) -> Mapping[str, NDArray[Any]]: ...  # noqa: D102

    @cached_property
    def postings(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The column-wise view: ``rows[start[v]:start[v + 1]]`` are the records that hold v."""
        records = _core.Records(self._indptr, self._values, self._schema.n_values)
        sizes = _core.one_way(records, 1) if self._sizes is None else self._sizes
        start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        rows = _core.postings(records, start)
        for array in (start, rows):
            array.flags.writeable = False
        return start, rows

    @cached_property
    def column_store(self) -> _core.ColumnStore:
        """The columns as counting engines share them."""
        schema, (start, rows) = self._schema, self.postings
        return _core.ColumnStore(
            self.n_records, schema.offsets, schema.defaults, start, rows, self._weights
        )

    @cached_property
    def _scan(self) -> counts.Scan:
        return counts.Scan(self)

    def _one_way(self, chosen: counts.Subset, n_jobs: int) -> counts.OneWay:
        """Count once for all records: two-way counts and pairs start from it, too."""
        if chosen is not None:
            return counts.one_way(self, chosen, n_jobs)
        if self._singles is None:
            self._singles = counts.one_way(self, None, n_jobs)
        return self._singles

    def one_way(
        self,
        *,
        records: Any = None,
        given: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> counts.OneWay:
        """Count every value of every column, in time proportional to the stored values.

        Parameters
        ----------
        records : mask or record numbers, optional
            Count these records only.
        given : mapping, optional
            Count only the records that match, as for :meth:`count`.
        n_jobs : int, optional
            Threads; the counts do not depend on it.
        """
        return self._one_way(self._choose(records, given), count_jobs(n_jobs))

    def two_way(
        self,
        target: str | int,
        *,
        records: Any = None,
        given: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> counts.TwoWay:
        """Count a target's values together with those of every column.

        Parameters
        ----------
        target : str or int
            A column with at least two values.
        records, given, n_jobs
            As for :meth:`one_way`.
        """
        jobs = count_jobs(n_jobs)
        position = check_target(self._schema, target)
        chosen = self._choose(records, given)
        return counts.two_way(self, position, chosen, self._one_way(chosen, jobs), jobs)

    def pairs(
        self,
        *,
        records: Any = None,
        given: Mapping[str, Any] | None = None,
        layout: Layout = "auto",
        method: Method = "auto",
        n_jobs: int | None = None,
    ) -> counts.Pairs:
        """Count all pairs of columns.

        Parameters
        ----------
        records, given, n_jobs
            As for :meth:`one_way`.
        layout : {"auto", "dense", "sparse"}
            How the co-occurrence counts are stored; "auto" takes what is smaller.
        method : {"auto", "outer", "bitmap"}
            How a dense result is counted: by the outer product of each record with itself, or by
            AND and population count of one bitmap for each value, which wins on denser tables.
        """
        jobs = count_jobs(n_jobs)
        chosen = self._choose(records, given)
        return counts.pairs(self, chosen, self._one_way(chosen, jobs), jobs, layout, method)

    def contingency(
        self,
        columns: Sequence[str | int],
        *,
        records: Any = None,
        given: Mapping[str, Any] | None = None,
        layout: counts.Layout = "auto",
    ) -> counts.ContingencyTable:
        """Count every combination of labels of some columns.

        This reads the records. To ask for many tables, make an :class:`ADTree` or ask
        :func:`counter` to choose.

        Parameters
        ----------
        columns : sequence of str or int
        records, given
            As for :meth:`one_way`.
        layout : {"auto", "dense", "sparse"}
            As for :meth:`Counter.table`.
        """
        if records is None:
            return self._scan.table(columns, given, layout=layout)
        chosen = self._choose(records, given)
        assert chosen is not None
        return self._scan._table_of(chosen, columns, layout)

    def where(self, query: Mapping[str, Any]) -> NDArray[np.int64]:
        """Return the numbers of the records that match a query, ascending.

        Parameters
        ----------
        query : mapping
            As for :meth:`count`.
        """
        start, rows = self.postings
        offsets = self._schema.offsets
        matches = np.ones(self.n_records, np.bool_)
        for column, ranges in check_query(self._schema, query, "query"):
            default, arity = int(self._schema.defaults[column]), int(self._schema.arities[column])
            rest = any(first <= default <= last for first, last in ranges)
            holds = np.zeros(self.n_records, np.bool_)  # one of the values, or one of the others
            for first, last in complement(ranges, arity) if rest else ranges:
                value = offsets[column] + first - (first > default)
                behind = value + last - first + 1
                holds[rows[start[value] : start[behind]]] = True
            matches &= ~holds if rest else holds
        return np.flatnonzero(matches).astype(np.int64)

    def count(self, query: Mapping[str, Any]) -> int | float:
        """Return the (weighted) number of records that match a query.

        Parameters
        ----------
        query : mapping
            ``{column: label, …}``. In place of a label there can be a collection of labels, any of
            which will do, :func:`tacit.between` or :func:`tacit.exclude`.

        Examples
        --------
        >>> import tacit
        >>> visits = tacit.datasets.load_visits()
        >>> visits.count({"region": ["north", "west"], "device": tacit.exclude("phone")})
        4345
        """
        return self._scan.count(query)

    def _choose(self, records: Any, given: Mapping[str, Any] | None) -> counts.Subset:
        chosen = check_records(records, self.n_records)
        if given is None:
            return chosen
        check_query(self._schema, given)
        matching = self.where(given)
        if chosen is None:
            return matching
        return np.intersect1d(chosen, matching, assume_unique=True)
