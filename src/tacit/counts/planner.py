"""The planner: which engine is to answer which question."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit import _core
from tacit.counts.adtree import ADTree, common_fractions
from tacit.counts.counter import Counter, Layout, Tables
from tacit.counts.engines import Bitmaps, Scan
from tacit.errors import refuse_partitions
from tacit.machine import available_memory, check_int
from tacit.plot.html import Result, table_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import StoredRecords

__all__ = ["Plan", "Planner", "counter"]

# Rough costs in nanoseconds. Only their ratios matter, and those only where two are close.
_CALL = 1_000.0  # any answer
_RECORD = 0.3  # a record that is read
_CODE = 0.1  # and each of its columns
_STORED = 15.0  # a stored value that is sorted
_WORD = 0.65  # 64 records of a bitmap, for each cell
_CELL = 8.0  # a cell of a table out of a tree
_GROW = 2.0  # a record that passes through a new node of a tree

_WORDS = 64  # of which a bitmap has a multiple
_MAX_COLUMNS = 8  # beyond which the ways through a tree are too many to be worth it
_MEMO = 64 * 2**20  # bytes
_TABLE_BYTES = 400  # a remembered table beside its cells


def counter(table: StoredRecords, *, memory_limit: int | None = None, memo: int = _MEMO) -> Planner:
    """Return a counter that chooses an engine for each question.

    Parameters
    ----------
    table : Table
    memory_limit : int, optional
        Bytes for bitmaps and the tree; by default half of the memory that is available. Remembered
        tables and the codes of columns that are read come on top.
    memo : int, default 64 MiB
        Bytes for tables that are remembered, in case they are asked for again. 0 for none.

    Examples
    --------
    >>> import tacit
    >>> counts = tacit.counter(tacit.datasets.load_visits())
    >>> counts.count({"weather": True, "news": True})
    845
    >>> counts.plan(["weather", "news"]).engine
    'bitmaps'
    """
    refuse_partitions(table, "counter", "table")
    return Planner(table, memory_limit=memory_limit, memo=memo)


@dataclass(frozen=True)
class Plan(Result):
    """Which engine would answer a question, and what each is expected to cost.

    Attributes
    ----------
    engine : {"memo", "scan", "bitmaps", "tree"}
    scan, bitmaps, tree : float
        Nanoseconds, roughly; infinite where an engine is out of the question. For the tree, what
        it still has to grow is included.
    """

    engine: Literal["memo", "scan", "bitmaps", "tree"]
    scan: float
    bitmaps: float
    tree: float

    def _html(self) -> str:
        costs = [(name, getattr(self, name)) for name in ("scan", "bitmaps", "tree")]
        rows = [
            (f"{name}{' (chosen)' if name == self.engine else ''}", f"{cost:,.0f}")
            for name, cost in costs
        ]
        note = "answered before: nothing to count" if self.engine == "memo" else ""
        return table_html(["engine", "expected cost (ns)"], rows, title="Plan", note=note)


class Planner(Counter):
    """A counter that chooses an engine for each question; see :func:`counter`.

    A question goes to whatever is expected to be cheapest: reading records, bitmaps, or the tree.
    The tree's first answer for some columns costs more than reading the records once, later ones
    next to nothing. So a set of columns moves to the tree as soon as counting it directly has cost
    as much as the tree would have: by its estimates, never more than twice what would have been
    best.
    """

    def __init__(
        self, table: StoredRecords, *, memory_limit: int | None = None, memo: int = _MEMO
    ) -> None:
        super().__init__(table)
        self.memory_limit = (
            None if memory_limit is None else check_int(memory_limit, "memory_limit", 1)
        )
        self.memo = check_int(memo, "memo", 0)
        limit = self.memory_limit or (available_memory() or 2**62) // 2
        self._bitmap_limit = limit // 4
        self._scan = Scan(table)
        self._bitmaps = Bitmaps(table)
        self._tree = ADTree(table, memory_limit=limit - self._bitmap_limit)
        self._rarer = [1 - fraction for fraction in common_fractions(table)]
        self._stored = _stored(table)
        self._rank = {c: k for k, c in enumerate(self._tree._order)}
        self._grown: set[tuple[int, ...]] = set()  # sets of columns the tree has answered for
        self._paid: dict[tuple[int, ...], float] = {}  # what counting them directly has cost
        self._memory: OrderedDict[Any, ContingencyTable] = OrderedDict()
        self._remembered = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes held by all engines and by remembered tables."""
        shared = self._records.column_store.nbytes
        engines = self._bitmaps.nbytes - shared + self._tree.nbytes
        return engines + self._remembered

    def count(self, query: Mapping[str, Any]) -> int | float:  # noqa: D102
        given = self._query(query, "query")
        try:
            counts = self._engine([], given[0], 1).dense([], *given)
        except _core.OverLimit:
            self._avoid_tree([], given[0])
            counts = self._scan._scan.dense([], *given)
        count: int | float = counts.item()
        return count

    def table(  # noqa: D102
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: Layout = "auto",
    ) -> ContingencyTable:
        columns = self._as_list(columns)
        if not self.memo or layout not in ("auto", "dense", "sparse"):
            return self._counted(columns, given, layout)
        key = self._key(columns, given, layout)
        with self._lock:
            if key in self._memory:
                self._memory.move_to_end(key)
                return self._memory[key]
        counted = self._counted(columns, given, layout)
        self._remember(key, counted)
        return counted

    def _counted(
        self, columns: Sequence[str | int], given: Mapping[str, Any] | None, layout: Layout
    ) -> ContingencyTable:
        try:
            return super().table(columns, given, layout=layout)
        except _core.OverLimit:
            fixed = self._fixed(given)
            self._avoid_tree(self._positions_of(columns), fixed)
            return self._scan.table(columns, given, layout=layout)

    def tables(  # noqa: D102
        self,
        column_sets: Sequence[Sequence[str | int]] | NDArray[Any],
        given: Mapping[str, Any] | None = None,
    ) -> Tables:
        if not isinstance(column_sets, np.ndarray) and isinstance(column_sets, Iterable):
            column_sets = [self._as_list(columns, "column_sets") for columns in column_sets]
        sets = self._sets(column_sets)
        fixed = self._fixed(given)
        engine = self._choose_for_many(sets, fixed)
        try:
            return Counter.tables(engine, column_sets, given)
        except _core.OverLimit:
            for positions in sets:
                self._avoid_tree(positions, fixed)
            return self._scan.tables(column_sets, given)

    def plan(self, columns: Sequence[str | int], given: Mapping[str, Any] | None = None) -> Plan:
        """Say how a table would be counted if it were asked for now.

        Parameters
        ----------
        columns, given
            As for :meth:`table`.
        """
        columns = self._as_list(columns)
        positions = self._positions_of(columns)
        fixed = self._fixed(given)
        n_cells = math.prod([self._arities[c] for c in positions])
        scan, bitmaps, answer, growth = self._costs(positions, fixed, n_cells)
        if self._key(columns, given, "auto") in self._memory:
            return Plan("memo", scan, bitmaps, answer + growth)
        key = self._columns_of(positions, fixed)
        engine = self._pick(key, scan, bitmaps, answer, growth)
        return Plan(engine, scan, bitmaps, answer + growth)

    # Remembering

    def _key(self, columns: Sequence[str | int], given: Any, layout: Layout) -> Any:
        positions = self._positions_of(columns)
        if given is None:
            return tuple(positions), (), layout
        return tuple(positions), tuple(zip(*self._query(given, "given"), strict=True)), layout

    def _remember(self, key: Any, table: ContingencyTable) -> None:
        size = table.nbytes + _TABLE_BYTES
        with self._lock:
            if key in self._memory or size > self.memo:
                return
            self._memory[key] = table
            self._remembered += size
            while self._remembered > self.memo:
                _, oldest = self._memory.popitem(last=False)
                self._remembered -= oldest.nbytes + _TABLE_BYTES

    # Choosing

    def _fixed(self, given: Mapping[str, Any] | None) -> list[int]:
        """Return the columns that have a condition, each once."""
        return [] if given is None else list(dict.fromkeys(self._query(given, "given")[0]))

    def _engine(self, positions: list[int], given: list[int], n_cells: int) -> _core.Engine:
        given = list(dict.fromkeys(given))
        key = self._columns_of(positions, given)
        if key in self._grown:  # it was worth it before
            return self._tree._tree
        scan, bitmaps, answer, growth = self._costs(positions, given, n_cells)
        engine = self._pick(key, scan, bitmaps, answer, growth)
        with self._lock:
            if engine == "tree":
                self._grown.add(key)
                self._paid.pop(key, None)
                return self._tree._tree
            self._paid[key] = self._paid.get(key, 0.0) + min(scan, bitmaps)
        return self._scan._scan if engine == "scan" else self._bitmaps._bitmaps

    def _avoid_tree(self, positions: list[int], given: list[int]) -> None:
        """Remember that the tree has no room for these columns, however often they are counted."""
        key = self._columns_of(positions, given)
        with self._lock:
            self._grown.discard(key)
            self._paid[key] = -math.inf

    def _pick(
        self, key: tuple[int, ...], scan: float, bitmaps: float, answer: float, growth: float
    ) -> Literal["scan", "bitmaps", "tree"]:
        direct = min(scan, bitmaps)
        if answer <= direct and (
            growth == 0 or answer + growth <= direct or self._paid.get(key, 0.0) >= growth
        ):
            return "tree"
        return "scan" if scan <= bitmaps else "bitmaps"

    def _choose_for_many(self, sets: list[list[int]], given: list[int]) -> Counter:
        """Choose one engine for a batch: growth is shared, since sets have subsets in common."""
        scan = bitmaps = tree = 0.0
        direct: dict[tuple[int, ...], float] = {}  # of sets the tree has not answered for
        for positions in sets:
            n_cells = math.prod([self._arities[c] for c in positions])
            costs = self._direct_costs(positions, given, n_cells)
            key = self._columns_of(positions, given)
            scan, bitmaps = scan + costs[0], bitmaps + costs[1]
            tree += _CALL + _CELL * n_cells if len(key) <= _MAX_COLUMNS else math.inf
            if key not in self._grown:
                direct[key] = direct.get(key, 0.0) + min(costs)
        columns = {c for key in direct for c in key}
        growth = sum(map(self._passing, direct)) + _GROW * self.n_records * len(columns)
        paid = sum(self._paid.get(key, 0.0) for key in direct)
        cheapest = min(scan, bitmaps)
        with self._lock:
            if tree <= cheapest and (tree + growth <= cheapest or paid >= growth):
                self._grown.update(direct)
                for key in direct:
                    self._paid.pop(key, None)
                return self._tree
            for key, cost in direct.items():
                self._paid[key] = self._paid.get(key, 0.0) + cost
        return self._scan if scan <= bitmaps else self._bitmaps

    def _columns_of(self, positions: Iterable[int], given: Iterable[int]) -> tuple[int, ...]:
        """Return all columns of a question, in the tree's order."""
        return tuple(sorted({*positions, *given}, key=self._rank.__getitem__))

    def _costs(
        self, positions: list[int], given: list[int], n_cells: int
    ) -> tuple[float, float, float, float]:
        """Return what the engines would cost: scan, bitmaps, the tree's answer, its growth."""
        scan, bitmaps = self._direct_costs(positions, given, n_cells)
        key = self._columns_of(positions, given)
        if len(key) > _MAX_COLUMNS:
            return scan, bitmaps, math.inf, math.inf
        ways = 2.0 ** sum(c not in positions for c in given)  # a condition can take a subtraction
        answer = _CALL + _CELL * n_cells * ways
        return scan, bitmaps, answer, self._growth(key)

    def _direct_costs(
        self, positions: list[int], given: list[int], n_cells: int
    ) -> tuple[float, float]:
        m = self.n_records
        columns = [*positions, *given]
        reading = m * (_RECORD + _CODE * len(columns))
        scan = _CALL + min(reading, _STORED * sum(self._stored[c] for c in columns)) + n_cells
        words = math.ceil(m / 64)
        padded = math.ceil(words / _WORDS) * _WORDS
        needed = 8 * padded * sum(self._arities[c] - 1 for c in columns)
        taken = self._bitmaps.nbytes - self._records.column_store.nbytes
        if taken + needed > self._bitmap_limit:
            return scan, math.inf
        sets = sum(self._arities[c] - 1 for c in given) + n_cells
        return scan, _CALL + _WORD * words * sets

    def _growth(self, key: tuple[int, ...]) -> float:
        """Estimate what the tree has yet to read: there are nodes for every subset of columns."""
        if key in self._grown:
            return 0.0
        return sum(
            self._passing(subset)
            for size in range(1, len(key) + 1)
            for subset in combinations(key, size)
            if subset not in self._grown
        )

    def _passing(self, key: tuple[int, ...]) -> float:
        """Estimate the cost of records that reach the last of some columns."""
        return _GROW * self.n_records * math.prod([self._rarer[c] for c in key[:-1]])

    def __reduce__(self) -> tuple[Any, ...]:
        options: dict[str, Any] = {"memory_limit": self.memory_limit, "memo": self.memo}
        return partial(Planner, **options), (self._records,)


def _stored(records: StoredRecords) -> list[int]:
    start, _ = records.postings
    offsets = records.schema.offsets
    stored: list[int] = (start[offsets[1:]] - start[offsets[:-1]]).tolist()
    return stored
