"""Counters: whatever answers ``count(query)`` and ``table(columns, given)``."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from tacit.counts.contingency.cells import MAX_CELLS
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.cube import rolled_up
from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_fits
from tacit.plot.html import Result
from tacit.schema import check_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit import _core
    from tacit.counts.records import Counts, StoredRecords
    from tacit.schema import Column, Schema

__all__ = ["Counter", "Given", "Group", "Layout", "Tables"]

Layout: TypeAlias = Literal["auto", "dense", "sparse"]
# Columns, and the first and the last code of a range; a column has several where it takes them.
Given: TypeAlias = tuple[list[int], list[int], list[int]]

# Sets of columns, and what is given.
Group: TypeAlias = "tuple[Sequence[Sequence[str | int]] | NDArray[Any], Mapping[str, Any] | None]"

_LABELS = frozenset((str, int, float, bool, type(None)))  # what is a label and nothing else

_ALWAYS_DENSE = 2**20  # cells
_MAX_CACHED = 50_000  # lists of names whose positions are cached
_CELL_BYTES = 24  # while a dense table is worked out


def check_records(table: Any, who: str) -> None:
    """Refuse what is no table in memory."""
    refuse_partitions(table, who, "table")
    if not hasattr(table, "column_store"):
        kind = type(table).__name__
        raise InputError(f"table must be a Table, got {kind}; tacit.Table makes one of it")


def check_groups(groups: Any) -> Sequence[Group]:
    """Return what several tables are asked of, or say which part is no pair of sets and query."""
    if not isinstance(groups, Sequence) or isinstance(groups, str):
        raise InputError(f"groups must be pairs (column_sets, given), got {groups!r}")
    for k, group in enumerate(groups):
        if isinstance(group, str) or not isinstance(group, Sequence) or len(group) != 2:
            raise InputError(f"groups[{k}] must be a pair (column_sets, given), got {group!r}")
    return groups


class Counter(Result, ABC):
    """Answers how often combinations of values occur in a table.

    All counters give the same numbers, also for weighted records, bit for bit: they differ in what
    they keep and in how fast they are. See :class:`Scan`, :class:`Bitmaps`, :class:`ADTree`, and
    :func:`counter`, which chooses among them.
    """

    def __init__(self, table: StoredRecords) -> None:
        check_records(table, type(self).__name__)
        self._records = table
        self._know(table.schema)

    def _know(self, schema: Schema) -> None:
        self._columns: tuple[Column, ...] = tuple(schema)
        self._arities: list[int] = schema.arities.tolist()
        self._cached_axes: dict[Any, tuple[list[int], tuple[Column, ...], int]] = {}
        self._positions = {name: position for position, name in enumerate(schema.names)}

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        return self._records.schema

    @property
    def records(self) -> StoredRecords:
        """The table that is counted."""
        return self._records

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self._records.n_records

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._records.weights is not None

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held besides the table."""

    @abstractmethod
    def _engine(self) -> _core.Engine:
        """Return the engine that counts."""

    def count(self, query: Mapping[str, Any]) -> int | float:
        """Return the (weighted) number of records that match ``{column: label, …}``.

        Parameters
        ----------
        query : mapping
            Every record matches an empty one. In place of a label there can be a collection of
            labels, any of which will do, :func:`tacit.between` or :func:`tacit.exclude`. No record
            matches an empty collection.
        """
        given = self._query(query, "query")
        count: int | float = self._engine().dense([], *given).item()
        return count

    def table(
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: Layout = "auto",
    ) -> ContingencyTable:
        """Count every combination of labels of some columns.

        Parameters
        ----------
        columns : sequence of str or int
            Distinct columns, one axis for each, in this order.
        given : mapping, optional
            Count only the records that match, as for :meth:`count`.
        layout : {"auto", "dense", "sparse"}
            Hold all cells, or those that are not zero; "auto" does the first as long as there are
            at most a million cells, or four for each record.
        """
        positions, axes, n_cells = self._axes(columns)
        fixed: Given = ([], [], []) if given is None else self._query(given, "given")
        return self._counted(positions, axes, n_cells, fixed, layout)

    def _counted(
        self,
        positions: list[int],
        axes: tuple[Column, ...],
        n_cells: int,
        fixed: Given,
        layout: Layout,
    ) -> ContingencyTable:
        if n_cells > _ALWAYS_DENSE or layout != "auto":
            layout = self._check_layout(layout, n_cells)
        engine = self._engine()
        if layout == "sparse":
            return ContingencyTable.from_cells(axes, *engine.sparse(positions, *fixed))
        return ContingencyTable(axes, engine.dense(positions, *fixed))

    def cube(
        self, columns: Sequence[str | int], given: Mapping[str, Any] | None = None
    ) -> pl.DataFrame:
        """Count every combination of labels, with roll-ups: each column, or all of it.

        The rows are those of ``SELECT columns, count(*), GROUPING(columns) … GROUP BY CUBE
        (columns)`` in SQL. A column that is rolled up is null; what is missing in the data is null,
        too, and `grouping` tells them apart. The frame can be handed to whatever reads Arrow:
        ``duckdb.sql("FROM cube WHERE grouping = 1")``.

        Parameters
        ----------
        columns : sequence of str or int
            At most 16.
        given : mapping, optional
            Count only the records that match, as for :meth:`count`.

        Returns
        -------
        polars.DataFrame
            The columns, `count`, and `grouping`: a bit for each column that is rolled up, the
            lowest for the last one. Combinations that do not occur are left out; the total is
            always there.

        Examples
        --------
        >>> import tacit
        >>> visits = tacit.datasets.load_visits()
        >>> counts = tacit.counter(visits)
        >>> cube = counts.cube(["region", "weather"], given={"region": ["east", "west"]})
        >>> cube.filter(cube["grouping"] == 0b01)  # of each region, all weather
        shape: (2, 4)
        ┌────────┬─────────┬───────┬──────────┐
        │ region ┆ weather ┆ count ┆ grouping │
        │ ---    ┆ ---     ┆ ---   ┆ ---      │
        │ str    ┆ bool    ┆ i64   ┆ i64      │
        ╞════════╪═════════╪═══════╪══════════╡
        │ east   ┆ null    ┆ 2945  ┆ 1        │
        │ west   ┆ null    ┆ 3958  ┆ 1        │
        └────────┴─────────┴───────┴──────────┘
        """
        whole = self.table(columns, given)
        total = self.count({} if given is None else given)
        if not self.weighted:
            return rolled_up(whole, total)
        return rolled_up(whole, total, lambda chosen: self.table(chosen, given))

    def tables(
        self,
        column_sets: Sequence[Sequence[str | int]] | NDArray[Any],
        given: Mapping[str, Any] | None = None,
    ) -> Tables:
        """Count many tables at once.

        Parameters
        ----------
        column_sets : sequence of sequences of str or int, or 2-D array of column positions
        given : mapping, optional
            As for :meth:`table`, the same for all of them.

        Returns
        -------
        Tables
            Dense tables, in the order asked for.
        """
        sets = self._sets(column_sets)
        fixed: Given = ([], [], []) if given is None else self._query(given, "given")
        sizes = [math.prod([self._arities[c] for c in positions]) for positions in sets]
        total = sum(sizes)
        if total > _ALWAYS_DENSE:
            check_fits(
                _CELL_BYTES * total,
                f"{len(sets):,} tables of {total:,} cells in all",
                "ask for fewer at a time",
            )
        offsets = np.fromiter(accumulate(sizes, initial=0), np.int64, len(sizes) + 1)
        starts = np.fromiter(accumulate(map(len, sets), initial=0), np.int64, len(sizes) + 1)
        flat = np.fromiter((c for positions in sets for c in positions), np.int64, int(starts[-1]))
        counts = self._engine().dense_many(flat, starts, offsets, *fixed)
        return Tables(self._columns, sets, counts, offsets)

    def linked(self, groups: Sequence[Group]) -> list[Tables]:
        """Count tables of several selections at once: what linked views ask for.

        Parameters
        ----------
        groups : sequence of (column_sets, given)
            As for :meth:`tables`.

        Returns
        -------
        list of Tables
            Those of each group.

        Examples
        --------
        >>> import tacit
        >>> counts = tacit.counts.Distinct(tacit.datasets.load_visits())
        >>> given = {"weather": True, "region": ["north", "east"]}
        >>> regions, others = counts.linked(
        ...     [([["region"]], {"weather": True}), ([["news"], ["device"]], given)]
        ... )
        >>> others[0].to_array()
        array([1676,  419])
        """
        return [self.tables(column_sets, given) for column_sets, given in check_groups(groups)]

    def _divided(self, groups: list[tuple[list[list[int]], Given]], counts: Counts) -> list[Tables]:
        """Return the tables of each group out of the cells of all of them."""
        divided, start = [], 0
        for sets, _ in groups:
            sizes = [math.prod([self._arities[c] for c in positions]) for positions in sets]
            offsets = np.fromiter(accumulate(sizes, initial=0), np.int64, len(sizes) + 1)
            end = start + int(offsets[-1])
            divided.append(Tables(self._columns, sets, counts[start:end], offsets))
            start = end
        return divided

    def _sets(self, column_sets: Any) -> list[list[int]]:
        """Return the positions of the columns of each set."""
        if isinstance(column_sets, np.ndarray):
            if column_sets.ndim != 2 or column_sets.dtype.kind not in "iu":
                raise InputError("column_sets must be sequences of columns, or a 2-D integer array")
            if column_sets.shape[1] == 0:
                raise InputError("column_sets must be one or more column names, got none")
            n = len(self._columns)
            ordered = np.sort(column_sets, axis=1)
            if len(column_sets) and (ordered[:, 0].min() < 0 or ordered[:, -1].max() >= n):
                raise InputError(f"column_sets: positions of columns must be in [0, {n})")
            if (ordered[:, 1:] == ordered[:, :-1]).any():
                raise InputError("column_sets: the columns of a set must be distinct")
            positions: list[list[int]] = column_sets.tolist()
            return positions
        if not isinstance(column_sets, Iterable):
            kind = type(column_sets).__name__
            raise InputError(f"column_sets must be sequences of columns, got {kind}")
        return [self._positions_of(columns, "column_sets") for columns in column_sets]

    def _axes(self, columns: Sequence[str | int]) -> tuple[list[int], tuple[Column, ...], int]:
        """Return the positions of some columns, the columns, and how many cells their table has.

        Names are looked up once: in a table of a microsecond or two that would be half of the
        time.
        """
        try:
            key = tuple(columns) if type(columns) is list else columns
            return self._cached_axes[key]
        except (KeyError, TypeError):
            pass
        positions = self._positions_of(columns)
        axes = tuple([self._columns[c] for c in positions])
        axes_and_size = positions, axes, math.prod([self._arities[c] for c in positions])
        if type(key) is tuple and all(type(c) is str for c in key):
            if len(self._cached_axes) >= _MAX_CACHED:
                self._cached_axes.clear()
            self._cached_axes[key] = axes_and_size
        return axes_and_size

    def _as_list(self, columns: Any, argument: str = "columns") -> Sequence[str | int]:
        """Return columns that can be gone through more than once."""
        if isinstance(columns, (list, tuple)):
            return columns
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise InputError(f"{argument} must be one or more column names, got {columns!r}")
        return list(columns)

    def _positions_of(self, columns: Sequence[str | int], argument: str = "columns") -> list[int]:
        """Return the positions of distinct columns, at least one."""
        columns = self._as_list(columns, argument)
        try:
            named = self._positions.get
            positions: list[Any] = [named(c, c) for c in columns]  # type: ignore[arg-type]
        except TypeError:
            positions = list(columns)
        n = len(self._columns)
        if not all(type(c) is int and 0 <= c < n for c in positions):
            positions = [self.schema.position(c, argument) for c in columns]
        if not positions:
            raise InputError(f"{argument} must be one or more column names, got none")
        if len(set(positions)) < len(positions):
            twice = next(c for k, c in enumerate(positions) if c in positions[:k])
            raise InputError(
                f"{argument} must be distinct, but {self._columns[twice].name!r} is there twice"
            )
        return positions

    def _query(self, query: Mapping[str, Any], argument: str) -> Given:
        """Return the codes that match; a column all of whose codes do is left out."""
        plain = type(query) is dict and _LABELS.issuperset(map(type, query.values()))
        if plain and query.keys() <= self._positions.keys():
            given = [self._positions[column] for column in query]
            columns = zip(given, query.values(), strict=True)
            codes = [self._columns[position].code(label) for position, label in columns]
            return given, codes, codes
        given, first, last = [], [], []
        for position, ranges in check_query(self.schema, query, argument):
            if ranges == ((0, self._arities[position] - 1),):
                continue
            for low, high in ranges or ((0, -1),):
                given.append(position)
                first.append(low)
                last.append(high)
        return given, first, last

    def _check_layout(self, layout: Layout, n_cells: int) -> Layout:
        """Return how to hold so many cells, or say why that cannot be."""
        if layout not in ("auto", "dense", "sparse"):
            raise InputError(f"layout must be 'auto', 'dense' or 'sparse', got {layout!r}")
        if n_cells > MAX_CELLS:
            raise InputError(
                f"columns: a table of 2^{math.log2(n_cells):.0f} cells has more than can be "
                "numbered; ask for fewer columns"
            )
        if layout == "auto":
            small = n_cells <= max(_ALWAYS_DENSE, 4 * self.n_records)
            return "dense" if small else "sparse"
        if layout == "dense":
            check_fits(
                _CELL_BYTES * n_cells,
                f"a dense table of {n_cells:,} cells",
                "ask for layout='sparse', which holds only cells that occur",
            )
        return layout

    def __repr__(self) -> str:
        shape = f"{self.n_records:,} records × {len(self._columns):,} columns"
        return f"{type(self).__name__} of {shape}"


class Tables(Result, Sequence[ContingencyTable]):
    """Dense contingency tables, one after another in one array.

    Attributes
    ----------
    counts : ndarray
        All cells; each table in C order.
    offsets : int64 ndarray
        Table k is ``counts[offsets[k]:offsets[k + 1]]``.
    """

    def __init__(
        self,
        columns: tuple[Column, ...],
        sets: list[list[int]],
        counts: Counts,
        offsets: NDArray[np.int64],
    ) -> None:
        self._columns = columns
        self._sets = sets
        self.counts = counts
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self._sets)

    @overload
    def __getitem__(self, key: int) -> ContingencyTable: ...
    @overload
    def __getitem__(self, key: slice) -> list[ContingencyTable]: ...
    def __getitem__(self, key: int | slice) -> ContingencyTable | list[ContingencyTable]:
        if isinstance(key, slice):
            return [self[k] for k in range(*key.indices(len(self)))]
        position = range(len(self))[key]
        axes = tuple([self._columns[c] for c in self._sets[position]])
        cells = self.counts[self.offsets[position] : self.offsets[position + 1]]
        return ContingencyTable(axes, cells.reshape([column.arity for column in axes]))

    def __repr__(self) -> str:
        return f"{len(self):,} tables of {len(self.counts):,} cells in all"
