"""The planner: which engine is to answer which question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tacit import _core
from tacit.counts.adtree import ADTree
from tacit.counts.counter import Counter, Given, Layout
from tacit.counts.engines import Bitmaps, Scan
from tacit.errors import refuse_partitions
from tacit.machine import available_memory, check_int
from tacit.plot.html import Result, table_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import StoredRecords

__all__ = ["Plan", "Planner", "counter"]

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
    Expectations are corrected by the times that answers take. The tree's first answer for some
    columns costs more than reading the records once, later ones next to nothing. So every answer
    without the tree is paid in for the part of the tree that it would have needed, which other
    questions may need, too; the tree grows there as soon as that is paid for. The questions of
    :meth:`tables` are known together, and all pay in before the first is answered.
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
        self._planner = _core.Planner(
            table.column_store,
            self._scan._scan,
            self._bitmaps._bitmaps,
            self._tree._tree,
            self._bitmap_limit,
        )
        self._memory: OrderedDict[Any, ContingencyTable] = OrderedDict()
        self._remembered = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes held by all engines and by remembered tables."""
        return self._planner.nbytes + self._remembered

    def _engine(self) -> _core.Engine:
        return self._planner

    def table(  # noqa: D102
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: Layout = "auto",
    ) -> ContingencyTable:
        if not self.memo:
            return super().table(columns, given, layout=layout)
        columns = self._as_list(columns)
        positions, axes, n_cells = self._axes(columns)
        fixed: Given = ([], [], []) if given is None else self._query(given, "given")
        if layout not in ("auto", "dense", "sparse"):
            self._check_layout(layout, n_cells)
        key = self._key(positions, fixed, layout)
        with self._lock:
            if key in self._memory:
                self._memory.move_to_end(key)
                return self._memory[key]
        counted = self._counted(positions, axes, n_cells, fixed, layout)
        self._remember(key, counted)
        return counted

    def plan(self, columns: Sequence[str | int], given: Mapping[str, Any] | None = None) -> Plan:
        """Say how a table would be counted if it were asked for now.

        Parameters
        ----------
        columns, given
            As for :meth:`table`.
        """
        positions, _, _ = self._axes(self._as_list(columns))
        fixed: Given = ([], [], []) if given is None else self._query(given, "given")
        engine: Any
        engine, scan, bitmaps, answer, growth = self._planner.plan(positions, *fixed)
        remembered = self._key(positions, fixed, "auto") in self._memory
        return Plan("memo" if remembered else engine, scan, bitmaps, answer + growth)

    # Remembering

    def _key(self, positions: list[int], fixed: Given, layout: Layout) -> Any:
        if not fixed[0]:
            return tuple(positions), layout
        return tuple(positions), layout, *map(tuple, fixed)

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

    def __reduce__(self) -> tuple[Any, ...]:
        options: dict[str, Any] = {"memory_limit": self.memory_limit, "memo": self.memo}
        return partial(Planner, **options), (self._records,)
