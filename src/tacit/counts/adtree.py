"""ADtrees: counts cached so that any contingency table follows without reading records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit import _core, store
from tacit.blocks import BLOCK, BlockArray
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.counter import Counter, Given, Layout, Tables
from tacit.counts.repeated import Repeated
from tacit.errors import FileError, InputError
from tacit.machine import available_memory, check_int, human_bytes
from tacit.plot.html import Result, pairs_html

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.records import StoredRecords

__all__ = ["ADTree", "TreeStats", "common_fractions"]

_UNBOUNDED = 2**31 - 1  # conditions deep
_UNBOUNDED_SIZE = 2**62
_LEAF_SIZE = 16
_ARRAYS = ("nodes", "varies", "slots", "lists", "sums")


class ADTree(Counter, store.Saved):
    r"""Counts cached so that any contingency table follows without reading records.

    After Moore and Lee (1998). The tree holds a count for each combination of values that occurs,
    but none for the most common value of a column in its context: that one follows by subtraction.
    It grows as it is asked, so the first table of some columns reads records and those after it do
    not; :meth:`build` makes all of it beforehand. Queries are safe from several threads.

    Parameters
    ----------
    table : Table, or PartitionedTable without weights
        Of partitions, the tree is one of their distinct records, found in one pass: the counts are
        those of all records.
    leaf_size : int, default 16
        Combinations of fewer records than this are not divided further: their records are listed
        and counted one by one. Larger leaves save memory and time to build, at the cost of slower
        tables.
    max_depth : int, optional
        Combinations of this many values are not divided further.
    memory_limit : int, optional
        Bytes that the tree may take, what it holds of the columns included. Subtrees used least
        recently are dropped to stay below it and made again when needed. By default, half of the
        memory that is available.
    min_count : int, default 1
        Keep no count below this one. Above 1 the tree is approximate: its tables have bounds, see
        :meth:`ContingencyTable.bounds`.

    Examples
    --------
    >>> import tacit
    >>> tree = tacit.ADTree(tacit.datasets.load_visits())
    >>> tree.count({"region": "north", "weather": True})
    1538
    >>> tree.table(["news", "weather"], given={"region": "north"})
    news × weather, 5,417 records
    news \ weather  False   True
    False           2,609  1,230
    True            1,270    308
    """

    _kind: ClassVar[str] = "adtree"
    _in_blocks: ClassVar[tuple[str, ...]] = tuple(f"tree.{name}" for name in _ARRAYS)

    def __init__(
        self,
        table: StoredRecords,
        *,
        leaf_size: int = _LEAF_SIZE,
        max_depth: int | None = None,
        memory_limit: int | None = None,
        min_count: int = 1,
    ) -> None:
        if getattr(table, "in_partitions", False) is True:
            half = (available_memory() or 2**62) // 2
            table = Repeated.of_partitions(table, half if memory_limit is None else memory_limit)
        super().__init__(table)
        self.leaf_size = _setting(leaf_size, "leaf_size", 1)
        self.max_depth = None if max_depth is None else _setting(max_depth, "max_depth", 0)
        self.memory_limit = (
            None if memory_limit is None else _setting(memory_limit, "memory_limit", 1)
        )
        self.min_count = _setting(min_count, "min_count", 1)
        if self.min_count > 1 and table.weights is not None:
            what = "partitions" if isinstance(table, Repeated) else "weighted records"
            raise InputError(f"min_count: counts of {what} are all kept; it must be 1")
        self._order = _tree_order(table)
        self._path: str | os.PathLike[str] = ""  # of the file it was loaded from
        self._tree = self._plant()

    def _plant(self) -> _core.Tree:
        limit = self.memory_limit
        if limit is None:
            limit = (available_memory() or 2**62) // 2
        elif self._records.column_store.nbytes > limit:
            taken = human_bytes(self._records.column_store.nbytes)
            raise InputError(
                f"memory_limit: {human_bytes(limit)} are too little, since the codes of columns "
                f"asked about before take {taken}"
            )
        depth = _UNBOUNDED if self.max_depth is None else self.max_depth
        return _core.Tree(
            self._records.column_store, self._order, self.leaf_size, depth, limit, self.min_count
        )

    # Counting

    def _engine(self) -> _core.Engine:
        return self._tree

    @property
    def records(self) -> StoredRecords:
        """The table that is counted; of partitions, distinct records and how often they occur."""
        records: StoredRecords = getattr(self._records, "table", self._records)
        return records

    @property
    def n_records(self) -> int:
        """Number of records."""
        return getattr(self._records, "total", self._records.n_records)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return not isinstance(self._records, Repeated) and super().weighted

    @property
    def exact(self) -> bool:
        """Whether all counts are kept."""
        return self.min_count == 1

    def count(self, query: Mapping[str, Any]) -> int | float:  # noqa: D102
        try:
            if self.min_count == 1:
                return super().count(query)
            estimate: int = self._tree.bounded([], *self._query(query, "query"))[0].item()
            return estimate
        except (_core.OverLimit, _core.Unsound) as problem:
            raise self._explained(problem) from None

    def interval(self, query: Mapping[str, Any]) -> tuple[int | float, int | float]:
        """Return the least and the most that :meth:`count` can be: the same, of an exact tree.

        Parameters
        ----------
        query : mapping
            As for :meth:`count`.

        Examples
        --------
        >>> import tacit
        >>> tree = tacit.ADTree(tacit.datasets.load_visits(), min_count=500)
        >>> query = {"region": ["west", "south"], "device": "tablet"}
        >>> tree.count(query), tree.interval(query)
        (1181, (799, 1181))
        """
        if self.exact:
            return (self.count(query),) * 2
        try:
            _, lower, upper = self._tree.bounded([], *self._query(query, "query"))
        except (_core.OverLimit, _core.Unsound) as problem:
            raise self._explained(problem) from None
        return lower.item(), upper.item()

    def table(  # noqa: D102
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: Layout = "auto",
    ) -> ContingencyTable:
        try:
            if self.min_count == 1:
                return super().table(columns, given, layout=layout)
            return self._bounded(columns, given, layout)
        except (_core.OverLimit, _core.Unsound) as problem:
            raise self._explained(problem) from None

    def _bounded(
        self, columns: Sequence[str | int], given: Mapping[str, Any] | None, layout: Layout
    ) -> ContingencyTable:
        positions, axes, n_cells = self._axes(columns)
        if self._check_layout(layout, n_cells) == "sparse":
            raise InputError(
                "layout: an approximate tree knows no cell to be empty, so its tables are dense; "
                f"this one has {n_cells:,} cells: ask for fewer columns"
            )
        fixed: Given = ([], [], []) if given is None else self._query(given, "given")
        estimate, lower, upper = self._tree.bounded(positions, *fixed)
        return ContingencyTable(axes, estimate, lower=lower, upper=upper)

    def tables(  # noqa: D102
        self,
        column_sets: Sequence[Sequence[str | int]] | NDArray[Any],
        given: Mapping[str, Any] | None = None,
    ) -> Tables:
        if not self.exact:
            raise InputError("column_sets: an approximate tree answers one table at a time")
        try:
            return super().tables(column_sets, given)
        except (_core.OverLimit, _core.Unsound) as problem:
            raise self._explained(problem) from None

    def _explained(self, problem: Exception) -> InputError:
        if isinstance(problem, _core.Unsound):
            return FileError(self._path, f"is damaged: its tree is not sound: {problem}")
        if self.memory_limit is None:
            return InputError(f"the tree may take half of the free memory, but {problem}")
        return InputError(f"memory_limit: {human_bytes(self.memory_limit)}, but {problem}")

    # The tree itself

    def build(self, *, full: bool = True) -> ADTree:
        """Make the tree now instead of when it is asked.

        Parameters
        ----------
        full : bool, default True
            Make every node down to the leaves, so that no later question changes the tree. With
            False, only the counts of single columns.

        Returns
        -------
        ADTree
            This tree.
        """
        try:
            if full:
                self._tree.build()
            elif self.exact:
                super().tables([[c] for c in range(len(self._columns))])
            else:
                for c in range(len(self._columns)):
                    self._tree.bounded([c], [], [], [])
        except _core.Unsound as problem:
            raise self._explained(problem) from None
        except _core.OverLimit as problem:
            hint = "raise leaf_size, set max_depth, or let the tree grow as it is asked"
            raise InputError(f"{self._explained(problem)}; {hint}") from None
        return self

    def clear(self) -> None:
        """Forget all counts; they are made again when needed."""
        self._tree.clear()

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and of what it holds of the columns."""
        return self._tree.nbytes

    @property
    def n_nodes(self) -> int:
        """Number of counts the tree holds."""
        return self._tree.sizes()[0]

    def stats(self) -> TreeStats:
        """Report the size of the tree beside what theory says of it."""
        nodes, varies, lists, n_bytes, evictions = self._tree.sizes()
        return TreeStats(
            n_records=self.n_records,
            n_columns=len(self._columns),
            nodes=nodes,
            varies=varies,
            listed_records=lists,
            bytes=n_bytes,
            evictions=evictions,
            **_bounds(self._records, self.leaf_size, self.max_depth),
        )

    # Files

    def to_state(self) -> store.State:
        """Return the arrays of the tree, and of the table it is of."""
        nodes, varies, slots, lists, sums = self._tree.arrays()
        settings = [
            self.leaf_size,
            -1 if self.max_depth is None else self.max_depth,
            -1 if self.memory_limit is None else self.memory_limit,
            self.min_count,
            int(isinstance(self._records, Repeated)),
        ]
        arrays = {
            **self._records.to_state(),
            "tree.order": np.array(self._order, np.int64),
            "tree.settings": np.array(settings, np.int64),
            "tree.nodes": nodes,
            "tree.varies": varies,
            "tree.slots": slots,
            "tree.lists": lists,
        }
        if sums is not None:
            arrays["tree.sums"] = sums
        return arrays

    @classmethod
    def from_state(cls, state: store.State) -> ADTree:
        """Make the tree of a file's arrays, which are viewed and not copied.

        Large ones are read, and checked, when they are used.
        """
        table: Any = store.class_of("table").from_state(state)
        leaf_size, max_depth, memory_limit, min_count, *more = state["tree.settings"].tolist()
        if more == [1]:  # files of version 0.1 have four settings
            table = Repeated(table)
        tree = cls(
            table,
            leaf_size=leaf_size,
            max_depth=None if max_depth < 0 else max_depth,
            memory_limit=None if memory_limit < 0 else memory_limit,
            min_count=min_count,
        )
        tree._order = state["tree.order"].tolist()
        if sorted(tree._order) != list(range(len(tree._columns))):
            raise InputError("the tree's order is not one of the columns")
        tree._tree = tree._plant()
        saved: list[Any] = [state[f"tree.{name}"] for name in _ARRAYS[:-1]]
        saved.append(state.get("tree.sums"))
        nodes, varies, slots, lists, sums = (
            x.array if isinstance(x, BlockArray) else x for x in saved
        )
        unread = [x.array.nbytes if isinstance(x, BlockArray) else 0 for x in saved]

        def fetch(array: int, block: int) -> None:
            saved[array].fetch(block)

        try:
            tree._tree.restore(
                tree._order,
                nodes,
                varies,
                slots,
                lists,
                sums,
                fetch if any(unread) else None,
                BLOCK,
                unread,
            )
        except TypeError:
            raise InputError("its tree's arrays have the wrong types") from None
        except ValueError as error:
            raise InputError(f"its tree is not sound: {error}") from None
        return tree

    def _from_file(self, path: str | os.PathLike[str]) -> ADTree:
        self._path = path
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Where it goes, the tree grows again as it is asked.
        names = ("leaf_size", "max_depth", "memory_limit", "min_count")
        return partial(ADTree, **{name: getattr(self, name) for name in names}), (self._records,)

    def __repr__(self) -> str:
        nodes = self.n_nodes
        size = f"{nodes:,} node{'s' if nodes > 1 else ''}, {human_bytes(self.nbytes)}"
        return f"{super().__repr__()}: {size}"


@dataclass(frozen=True)
class TreeStats(Result):
    """The size of an :class:`ADTree`, and bounds for it after the paper's appendix A.

    The paper has the bounds for columns of two values; here a column of k values counts k - 1 times
    where one of two counts once.

    Attributes
    ----------
    n_records, n_columns : int
    nodes, varies, listed_records, bytes, evictions : int
        What there is now: counts, Vary nodes, entries of record lists, memory, and how often
        subtrees were dropped to stay below the memory limit.
    most_dense : int
        Nodes if no value were left out, in the worst case.
    most_nodes : int
        Nodes if all combinations of values occurred.
    most_for_records : int
        Nodes in the worst case for so many records and this leaf size: a node has at most half of
        its parent's records.
    skewed_estimate : float
        Nodes to be expected if columns were independent, each as skewed as it is here.
    """

    n_records: int
    n_columns: int
    nodes: int
    varies: int
    listed_records: int
    bytes: int
    evictions: int
    most_dense: int
    most_nodes: int
    most_for_records: int
    skewed_estimate: float

    def rows(self) -> list[tuple[str, str]]:
        """Return what there is to say, as (name, text) pairs."""
        return [
            ("records × columns", f"{self.n_records:,} × {self.n_columns:,}"),
            ("nodes", f"{self.nodes:,}"),
            ("bytes", human_bytes(self.bytes)),
            ("expected, independent columns", f"{self.skewed_estimate:.3g}"),
            ("worst case, these records", f"{_number(self.most_for_records)}"),
            ("worst case, any records", f"{_number(self.most_nodes)}"),
            ("worst case, no value left out", f"{_number(self.most_dense)}"),
        ]

    def _html(self) -> str:
        return pairs_html(self.rows(), title="ADTree")

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def _setting(value: Any, argument: str, least: int) -> int:
    return min(check_int(value, argument, least), _UNBOUNDED_SIZE)


def _number(n: int) -> str:
    return f"{n:,}" if n < 10**12 else f"10^{math.log10(n):.1f}"


def _bounds(records: StoredRecords, leaf_size: int, max_depth: int | None) -> dict[str, Any]:
    """Appendix A: sums over levels k of the ways to choose k columns and a rarer value of each."""
    arities = records.schema.arities.tolist()
    n = len(arities)
    deepest = min(n, n if max_depth is None else max_depth)
    # A node at level k has at most n_records / 2^k records, and its parent at least leaf_size.
    levels_of_records = records.n_records.bit_length() - 1
    levels_of_parents = (records.n_records // leaf_size).bit_length()
    depth = min(deepest, levels_of_records, levels_of_parents)
    # ways[k] = sum over all sets of k columns of the product of their (arity - 1)
    ways = [1] + [0] * depth
    for arity in arities:
        for k in range(depth, 0, -1):
            ways[k] += ways[k - 1] * (arity - 1)
    rarer = [1 - fraction for fraction in common_fractions(records)]
    typical = min(max(sum(rarer) / n, 1e-12), 0.5)
    levels = math.log(max(records.n_records / leaf_size, 1)) / -math.log(typical)
    return {
        "most_dense": math.prod(arity + 1 for arity in arities),
        "most_nodes": math.prod(arities),
        "most_for_records": sum(ways),
        "skewed_estimate": float(sum(math.comb(n, k) for k in range(min(n, int(levels)) + 1))),
    }


def common_fractions(records: StoredRecords) -> list[float]:
    """Return the fraction of records that have the most common value, for each column."""
    schema, (start, _) = records.schema, records.postings
    lengths = np.diff(start)
    fractions = []
    for c in range(len(schema)):
        stored = lengths[schema.offsets[c] : schema.offsets[c + 1]]
        most = max(records.n_records - int(stored.sum()), int(stored.max(initial=0)))
        fractions.append(most / records.n_records)
    return fractions


def _tree_order(records: StoredRecords) -> list[int]:
    """Skewed columns first: few records go down where the most common value is left out."""
    fractions = common_fractions(records)
    return sorted(range(len(fractions)), key=lambda c: (-fractions[c], c))
