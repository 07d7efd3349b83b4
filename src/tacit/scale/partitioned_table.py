"""The PartitionedTable: a table of which only some records are in memory at a time."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, TypeVar

import numpy as np

from tacit import counts
from tacit.counts.pairs import suits_square
from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_fits, check_int, count_jobs
from tacit.progress import show_progress
from tacit.scale.cost import Cost
from tacit.scale.counting import (
    OneWayCounts,
    QueryCount,
    StoredCount,
    TableCounts,
    TwoWayCounts,
)
from tacit.scale.executor import chosen_executor
from tacit.scale.local import Local
from tacit.scale.pair_counting import PairCounts
from tacit.scale.partitions import MemoryReader, MemorySource, Partitions
from tacit.schema import check_query
from tacit.table import Table
from tacit.table.gateway import check_records, check_target, value_type
from tacit.table.kinds import check_kinds, schema_of_kinds
from tacit.table.records import Records

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.pairs import Layout
    from tacit.scale.executor import Executor, PartitionFunction, Report
    from tacit.schema import Schema
    from tacit.statistic import Partition, Statistic

__all__ = ["Metadata", "PartitionedTable", "PassRunner", "as_partitioned", "of_tables", "partition"]

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class Metadata:
    """What is known of a partitioned table once its values have been counted."""

    schema: Schema
    partitions: Partitions  # their reader makes Tables under the schema; none is empty
    sizes: NDArray[np.int64]  # the number of records of each
    n_stored: int
    weighted: bool

    def read_by(self, passes: PassRunner, schema: Schema, reader: Any, sources: Any) -> Metadata:
        """Return those of the same records under another schema: stored values are counted."""
        partitions = Partitions(sources, reader, self.partitions.firsts)
        total = passes.reduce(partitions, StoredCount(), "partitions")
        assert total is not None
        return replace(self, schema=schema, partitions=partitions, n_stored=total[0])


class PassRunner:
    """Runs passes for a table: chooses who computes, shows progress and adds up what it costs."""

    def __init__(self, default: Executor, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.default = default
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cost = Cost()
        self._lock = Lock()

    @property
    def memory(self) -> int | None:
        """The limit on this machine, if there is one."""
        return self.default.memory

    @property
    def executor(self) -> Executor:
        """Who computes the next pass."""
        return chosen_executor() or self.default

    def reduce(
        self,
        partitions: Partitions,
        statistic: Statistic[S],
        what: str,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> S | None:
        """Return the statistic of all partitions."""
        executor, jobs = self.executor, self._jobs(n_jobs)
        with self._pass(executor, partitions, what, jobs, verbose) as report:
            return executor.reduce(partitions, statistic, jobs, report)

    def map(
        self,
        partitions: Partitions,
        function: PartitionFunction[R],
        what: str,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> Iterator[R]:
        """Yield what a function says of each partition."""
        # Who computes is chosen now, not when the first result is asked for.
        executor, jobs = self.executor, self._jobs(n_jobs)

        def mapped() -> Iterator[R]:
            with self._pass(executor, partitions, what, jobs, verbose) as report:
                yield from executor.map(partitions, function, jobs, report)

        return mapped()

    def _jobs(self, n_jobs: int | None) -> int:
        return count_jobs(self.n_jobs if n_jobs is None else n_jobs)

    @contextmanager
    def _pass(
        self,
        executor: Executor,
        partitions: Partitions,
        what: str,
        n_jobs: int,
        verbose: int | None,
    ) -> Iterator[Report]:
        """Give what is told the cost of each partition."""
        shown = bool(self.verbose if verbose is None else verbose)
        begin = time.perf_counter()
        try:
            with show_progress(what, len(partitions.sources), shown, passing=True) as advance:

                def report(cost: Cost) -> None:
                    self._add(cost)
                    advance(cost.partitions)

                yield report
        finally:
            seconds, threads = time.perf_counter() - begin, 1
            with suppress(Exception):  # a cluster that is gone has been said already
                threads = executor.threads(n_jobs)
            self._add(Cost(passes=1, seconds=seconds, thread_seconds=seconds * threads))

    def _add(self, cost: Cost) -> None:
        with self._lock:
            self.cost += cost


class PartitionedTable(Records):
    """A table in partitions: files, row groups, tables elsewhere.

    :func:`tacit.scan` makes one. Nothing is read before something is asked; then labels and
    defaults are found in one pass, and every question is one more. What is in memory at a time
    does not grow with the number of partitions. Inside :func:`tacit.scale.on_dask` a cluster
    computes, with the same result.

    Models take it as they take a Table: :class:`NaiveBayesMixture`, :class:`KMeans`, decision
    trees, dependency networks and trees, Bayes nets and groupings. Rules and similarity graphs
    need all records at once; :meth:`collect` gets them.

    Parameters
    ----------
    find : callable
        Finds the metadata when they are first asked for, with a :class:`PassRunner`.
    passes : PassRunner
    origin : str
        What it was made of, for people.
    """

    in_partitions: ClassVar = True  # for lower layers, which do not know this class

    def __init__(
        self, find: Callable[[PassRunner], Metadata], passes: PassRunner, origin: str
    ) -> None:
        self._find = find
        self._passes = passes
        self._origin = origin
        self._cached_metadata: Metadata | None = None
        self._lock = RLock()

    @classmethod
    def _of(cls, metadata: Metadata, passes: PassRunner, origin: str) -> PartitionedTable:
        """Return the table of which all is known without a pass."""
        table = cls(lambda passes: metadata, passes, origin)
        table._cached_metadata = metadata
        return table

    @property
    def _metadata(self) -> Metadata:
        with self._lock:
            if self._cached_metadata is None:
                self._cached_metadata = self._find(self._passes)
        return self._cached_metadata

    # What it holds

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        return self._metadata.schema

    @property
    def n_records(self) -> int:
        """Number of records (the papers' m)."""
        return int(self._metadata.sizes.sum())

    @property
    def n_stored(self) -> int:
        """Number of stored, that is non-default values (the papers' l)."""
        return self._metadata.n_stored

    @property
    def weighted(self) -> bool:
        """Whether records have weights."""
        return self._metadata.weighted

    @property
    def nbytes(self) -> int:
        """Bytes that the stored values of all partitions would take in one Table."""
        width = np.dtype(value_type(self.schema.n_values)).itemsize
        m = self.n_records
        return 8 * (m + 1) + width * self.n_stored + 8 * m * self.weighted

    @property
    def partition_sizes(self) -> NDArray[np.int64]:
        """The number of records of each partition; none is empty."""
        return self._metadata.sizes.copy()

    @property
    def n_partitions(self) -> int:
        """How many partitions have records."""
        return len(self._metadata.sizes)

    @property
    def memory(self) -> int | None:
        """The limit of memory on this machine, if there is one."""
        return self._passes.memory

    @property
    def statistic_bytes(self) -> int | None:
        """How large a statistic of a partition may be where passes run, if there is a limit."""
        return self._passes.executor.statistic_bytes(self.n_partitions)

    @property
    def cost(self) -> Cost:
        """What all passes so far took."""
        return self._passes.cost

    # The two ways to compute over records

    def reduce(
        self,
        statistic: Statistic[S],
        *,
        what: str = "partitions",
        only: Sequence[int] | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> S:
        """Return a statistic of all records, in one pass.

        Parameters
        ----------
        statistic : Statistic
        what : str
            What the progress bar counts.
        only : sequence of int, optional
            The partitions that have something to say; others need not be loaded.
        n_jobs : int, optional
            Threads on this machine; the result does not depend on it.
        verbose : int, optional
            1 shows progress on stderr.
        """
        partitions = self._metadata.partitions
        if only is not None and self._passes.executor.takes_some:
            partitions = partitions.only(only)
        summary = self._passes.reduce(partitions, statistic, what, n_jobs, verbose)
        assert summary is not None  # a table has at least one record
        return statistic.finalize(summary)

    def map(
        self,
        function: PartitionFunction[R],
        *,
        what: str = "partitions",
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> Iterator[R]:
        """Yield what a function says of each :class:`~tacit.scale.Partition`, in their order.

        What has not been computed when the iterator is closed is not computed at all.

        Parameters
        ----------
        function : callable
            Picklable. To predict: ``logs.map(tacit.scale.Predict(model))``.
        what, n_jobs, verbose
            As for :meth:`reduce`.
        """
        return self._passes.map(self._metadata.partitions, function, what, n_jobs, verbose)

    # What it says

    def one_way(
        self, *, given: Mapping[str, Any] | None = None, n_jobs: int | None = None
    ) -> counts.OneWay:
        """Count every value of every column; as :meth:`tacit.Table.one_way`."""
        self._check_given(given)
        stored, total = self.reduce(OneWayCounts(given), n_jobs=n_jobs)
        return counts.OneWay(self.schema, stored, total)

    def two_way(
        self,
        target: str | int,
        *,
        given: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> counts.TwoWay:
        """Count a target's values with those of every column; as :meth:`tacit.Table.two_way`."""
        column = check_target(self.schema, target)
        self._check_given(given)
        stored, singles, total = self.reduce(TwoWayCounts(column, given), n_jobs=n_jobs)
        one_way = counts.OneWay(self.schema, singles, total)
        return counts.TwoWay(self.schema, column, stored, one_way)

    def pairs(
        self,
        *,
        given: Mapping[str, Any] | None = None,
        layout: Layout = "auto",
        n_jobs: int | None = None,
    ) -> counts.Pairs:
        """Count all pairs of columns; as :meth:`tacit.Table.pairs`."""
        self._check_given(given)
        m, n = self.n_records, self.schema.n_values
        if layout == "auto" and suits_square(n, self.n_stored**2 / m):
            layout = "dense"  # of all records, if not of every partition
        total = self.reduce(PairCounts(n, m, self.weighted, given, layout), n_jobs=n_jobs)
        return total.pairs(self.schema, self._passes._jobs(n_jobs))

    def contingency(
        self,
        columns: Sequence[str | int],
        *,
        given: Mapping[str, Any] | None = None,
        layout: counts.Layout = "auto",
        n_jobs: int | None = None,
    ) -> counts.ContingencyTable:
        """Count every combination of labels; as :meth:`tacit.Table.contingency`."""
        return self.tables([self._positions(columns)], given=given, layout=layout, n_jobs=n_jobs)[0]

    def table(
        self,
        columns: Sequence[str | int],
        given: Mapping[str, Any] | None = None,
        *,
        layout: counts.Layout = "auto",
    ) -> counts.ContingencyTable:
        """Count every combination of labels, as a :class:`Counter` does."""
        return self.contingency(columns, given=given, layout=layout)

    def tables(
        self,
        column_sets: Sequence[Sequence[str | int]],
        *,
        given: Mapping[str, Any] | None = None,
        layout: counts.Layout = "auto",
        n_jobs: int | None = None,
    ) -> list[counts.ContingencyTable]:
        """Count many contingency tables in one pass.

        Parameters
        ----------
        column_sets : sequence of sequences of str or int
        given : mapping, optional
            Count only the records that match, as for :meth:`count`.
        layout : {"auto", "dense", "sparse"}
            As for :meth:`tacit.Table.contingency`.
        n_jobs : int, optional
            Threads.
        """
        positions = [self._positions(columns) for columns in column_sets]
        self._check_given(given)
        return self.reduce(TableCounts(positions, given, layout), n_jobs=n_jobs)

    def count(self, query: Mapping[str, Any]) -> int | float:
        """Return the (weighted) number of records that match; as :meth:`tacit.Table.count`."""
        check_query(self.schema, query, "query")
        count: int | float = self.reduce(QueryCount(query))[0]
        return count

    def _check_given(self, given: Mapping[str, Any] | None) -> None:
        if given is not None:
            check_query(self.schema, given)

    # Other tables made of it

    def take(self, records: Any, *, n_jobs: int | None = None) -> Table:
        """Return the Table of some records, in their order, in one pass.

        Parameters
        ----------
        records : record numbers
        n_jobs : int, optional
            Threads.
        """
        chosen = check_records(records, self.n_records)
        if chosen is None or not len(chosen):
            raise InputError("records: there must be at least one")
        joined = Table.concat(
            [t for t in self.map(_TakeRecords(chosen), n_jobs=n_jobs) if t is not None]
        )
        return joined if joined.schema == self.schema else joined.conform(self.schema)

    def collect(self, *, n_jobs: int | None = None) -> Table:
        """Return all records as one Table in memory."""
        check_fits(2 * self.nbytes, "the table of all partitions", "take some of the records")
        return self.take(np.arange(self.n_records), n_jobs=n_jobs)

    def select(self, columns: Sequence[str | int]) -> PartitionedTable:
        """Return the table of some of the columns; of files, others are not read."""
        metadata = self._metadata
        chosen = self._positions(columns)
        if not chosen:
            raise InputError("columns: there must be at least one")

        def find(passes: PassRunner) -> Metadata:
            old = metadata.partitions
            read = old.reader.select(old.sources, metadata.schema, chosen)
            return metadata.read_by(passes, metadata.schema.select(chosen), *read)

        return PartitionedTable(find, self._passes, f"{len(chosen)} columns of {self._origin}")

    def conform(self, schema: Schema, *, unseen: Literal["error", "default"] = "error") -> Self:
        """Return the same records under another schema; as :meth:`tacit.Table.conform`."""
        metadata = self._metadata
        if schema == metadata.schema:
            return self

        def find(passes: PassRunner) -> Metadata:
            old = metadata.partitions
            return metadata.read_by(
                passes, schema, *old.reader.conform(old.sources, schema, unseen)
            )

        return type(self)(find, self._passes, self._origin)

    def _of_kinds(self, kinds: Any, target: Any = None) -> Self:
        """Return the same records with columns of the kinds that a caller names, not the target.

        Labels stay the labels that they are, so that nothing is read for it.
        """
        if not kinds:
            return self
        names = [name for name in self.schema.names if name != target]
        schema = schema_of_kinds(self.schema, check_kinds(kinds, names))
        metadata = replace(self._metadata, schema=schema)
        return type(self)(lambda _: metadata, self._passes, self._origin)

    def materialise(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> PartitionedTable:
        """Write all partitions to a folder, in one pass, and return the table of that folder.

        Its partitions are mapped into memory, not read: later passes parse nothing, and cost hardly
        more than those over a Table in memory. :func:`tacit.scan` opens the folder again. An index
        is written last, so that a folder which was not written to the end is no table.

        Where a cluster computes, its workers write: the folder must be one that all of them, and
        this machine, see under the same path.

        Parameters
        ----------
        folder : path-like
            To be made, or empty.
        overwrite : bool, default False
            Whether a table in the folder may be replaced. It stays what it was until all of the
            new one has been written. Other files in the folder are refused.
        n_jobs, verbose
            As for :meth:`reduce`.

        Returns
        -------
        PartitionedTable

        Examples
        --------
        >>> import pathlib, tempfile, tacit
        >>> visits = tacit.datasets.load_visits()
        >>> with tempfile.TemporaryDirectory() as parent:
        ...     folder = pathlib.Path(parent) / "visits"
        ...     made = tacit.scale.partition(visits, 4).materialise(folder)
        ...     again = tacit.scan(folder)
        ...     print(again.n_partitions, again.count({"weather": True, "news": True}))
        4 845
        """
        from tacit.io.tables.folder import materialise

        return materialise(self, folder, overwrite=overwrite, n_jobs=n_jobs, verbose=verbose)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse_partitions(self, "an array")
        raise AssertionError

    def __repr__(self) -> str:
        if self._cached_metadata is None:
            return f"PartitionedTable of {self._origin}, not read yet"
        line = self.summary().line().removeprefix("Table of ")
        many = "s" * (self.n_partitions != 1)
        return f"PartitionedTable of {self.n_partitions:,} partition{many}: {line}"


@dataclass(frozen=True)
class _TakeRecords:
    """The Table of those of some records, given by ascending numbers, that are in a partition."""

    chosen: NDArray[np.int64]

    def __call__(self, partition: Partition) -> Table | None:
        """Take them; None if there are none."""
        table: Table = partition.records
        first = partition.first
        low, high = np.searchsorted(self.chosen, (first, first + table.n_records))
        return table.take(self.chosen[low:high] - first) if low < high else None


def as_partitioned(X: Any) -> PartitionedTable | None:
    """Return `X` as a partitioned table if it is one, or a frame of Dask; else None."""
    if isinstance(X, PartitionedTable):
        return X
    from tacit.io.dask_frames import is_dask_frame, scan_dask

    return scan_dask(X) if is_dask_frame(X) else None


def partition(
    table: Table, n_partitions: int, *, memory: int | str | None = None
) -> PartitionedTable:
    """Cut a Table in memory into partitions of about the same size.

    Parameters
    ----------
    table : Table
    n_partitions : int
        At most the number of records.
    memory : int or str, optional
        As for :class:`Local`.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits()
    >>> parts = tacit.scale.partition(visits, 4)
    >>> parts
    PartitionedTable of 4 partitions: 20,000 records × 27 columns, ...
    >>> parts.count({"weather": True, "news": True})
    845
    """
    n = check_int(n_partitions, "n_partitions", 1)
    if n > table.n_records:
        raise InputError(f"n_partitions must be at most {table.n_records:,}, got {n:,}")
    cuts = np.linspace(0, table.n_records, n + 1).astype(np.int64)
    tables = [table.take(np.arange(a, b)) for a, b in pairwise(cuts)]
    return of_tables(tables, memory=memory)


def of_tables(tables: Sequence[Table], *, memory: int | str | None = None) -> PartitionedTable:
    """Return tables with one schema as partitions of one table."""
    head = tables[0]
    for k, table in enumerate(tables):
        if table.schema != head.schema:
            raise InputError(f"tables: the schema of table {k} is not that of table 0")
        if table.weighted != head.weighted:
            raise InputError("tables: some have weights and some have none")
    sizes = np.array([table.n_records for table in tables], np.int64)
    sources = tuple(MemorySource(table, name=f"partition {k}") for k, table in enumerate(tables))
    firsts = tuple((np.cumsum(sizes) - sizes).tolist())
    partitions = Partitions(sources, MemoryReader(), firsts)
    n_stored = sum(table.n_stored for table in tables)
    metadata = Metadata(head.schema, partitions, sizes, n_stored, head.weighted)
    return PartitionedTable._of(metadata, PassRunner(Local(memory)), "tables in memory")
