"""The PartitionedTable: a table of which only some records are in memory at a time."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np

from tacit import counts
from tacit.counts.pairs import suits_square
from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_fits, check_int, count_jobs
from tacit.progress import show_progress
from tacit.scale.cost import Cost
from tacit.scale.counting import OneWayCounts, QueryCount, TableCounts, TwoWayCounts
from tacit.scale.executor import chosen_executor
from tacit.scale.local import Local
from tacit.scale.pair_counting import PairCounts
from tacit.scale.partitions import HeldPiece, HeldReader, Partitions
from tacit.scale.taking import Narrowed, NarrowedPiece, StoredCount, TakeRecords
from tacit.schema import check_query
from tacit.table import Summary, Table
from tacit.table.gateway import check_records, check_target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.pairs import Layout
    from tacit.scale.executor import Executor
    from tacit.schema import Schema
    from tacit.statistic import Partition, Statistic

__all__ = ["Contents", "PartitionedTable", "Run", "as_partitioned", "of_tables", "partition"]

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class Contents:
    """What is known of a partitioned table once its values have been counted.

    Attributes
    ----------
    schema : Schema
    partitions : Partitions
        Their reader makes Tables under the schema. None is empty.
    sizes : int64 array
        The number of records of each.
    n_stored : int
    weighted : bool
    """

    schema: Schema
    partitions: Partitions
    sizes: NDArray[np.int64]
    n_stored: int
    weighted: bool


class Run:
    """Runs passes for a table: chooses who computes, shows progress and adds up what it costs."""

    def __init__(self, own: Executor, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.own = own
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cost = Cost()
        self._lock = Lock()

    @property
    def memory(self) -> int | None:
        """The limit on this machine, if there is one."""
        return getattr(self.own, "memory", None)

    @property
    def executor(self) -> Executor:
        """Who computes the next pass."""
        return chosen_executor() or self.own

    def reduce(
        self,
        partitions: Partitions,
        statistic: Statistic[S],
        what: str,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> S | None:
        """Return the statistic of all partitions."""
        jobs = count_jobs(self.n_jobs if n_jobs is None else n_jobs)
        shown = bool(self.verbose if verbose is None else verbose)
        begin, executor = time.perf_counter(), self.executor
        try:
            with show_progress(what, len(partitions.pieces), shown, passing=True) as advance:
                report = partial(self._note, advance)
                return executor.reduce(partitions, statistic, jobs, report)
        finally:
            self._end_pass(executor, begin, jobs)

    def map(
        self,
        partitions: Partitions,
        function: Callable[[Partition], R],
        what: str,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> Iterator[R]:
        """Yield what a function says of each partition."""
        jobs = count_jobs(self.n_jobs if n_jobs is None else n_jobs)
        shown = bool(self.verbose if verbose is None else verbose)
        # Who computes is settled now, not when the first result is asked for.
        return self._mapped(self.executor, partitions, function, what, jobs, shown)

    def _mapped(
        self,
        executor: Executor,
        partitions: Partitions,
        function: Callable[[Partition], R],
        what: str,
        jobs: int,
        shown: bool,
    ) -> Iterator[R]:
        begin = time.perf_counter()
        try:
            with show_progress(what, len(partitions.pieces), shown, passing=True) as advance:
                report = partial(self._note, advance)
                yield from executor.map(partitions, function, jobs, report)
        finally:
            self._end_pass(executor, begin, jobs)

    def _end_pass(self, executor: Executor, begin: float, n_jobs: int) -> None:
        seconds, threads = time.perf_counter() - begin, 1
        with suppress(Exception):  # a cluster that is gone has been said already
            threads = executor.threads(n_jobs)
        self._add(Cost(passes=1, seconds=seconds, thread_seconds=seconds * threads))

    def _note(self, advance: Callable[[int], None], cost: Cost) -> None:
        self._add(cost)
        advance(cost.partitions)

    def _add(self, cost: Cost) -> None:
        with self._lock:
            self.cost += cost


class PartitionedTable:
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
        Finds the contents when they are first asked for, with a :class:`Run`.
    run : Run
    origin : str
        What it was made of, for people.
    """

    in_partitions: ClassVar = True  # lower rooms, which do not know this class, look here

    def __init__(self, find: Callable[[Run], Contents], run: Run, origin: str) -> None:
        self._find = find
        self._run = run
        self._origin = origin
        self._known: Contents | None = None
        self._finding = RLock()

    @property
    def _contents(self) -> Contents:
        with self._finding:
            if self._known is None:
                self._known = self._find(self._run)
        return self._known

    # What it holds

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        return self._contents.schema

    @property
    def n_records(self) -> int:
        """Number of records (the papers' m)."""
        return int(self._contents.sizes.sum())

    @property
    def n_columns(self) -> int:
        """Number of columns (the papers' n)."""
        return len(self.schema)

    @property
    def n_stored(self) -> int:
        """Number of stored, that is non-default values (the papers' l)."""
        return self._contents.n_stored

    @property
    def shape(self) -> tuple[int, int]:
        """Records × columns."""
        return self.n_records, self.n_columns

    @property
    def weighted(self) -> bool:
        """Whether records have weights."""
        return self._contents.weighted

    @property
    def partition_sizes(self) -> NDArray[np.int64]:
        """The number of records of each partition; none is empty."""
        return self._contents.sizes.copy()

    @property
    def n_partitions(self) -> int:
        """How many partitions have records."""
        return len(self._contents.sizes)

    @property
    def memory(self) -> int | None:
        """The limit of memory on this machine, if there is one."""
        return self._run.memory

    @property
    def statistic_bytes(self) -> int | None:
        """How large a statistic of a partition may be where passes run, if there is a limit."""
        return self._run.executor.statistic_bytes(self.n_partitions)

    @property
    def cost(self) -> Cost:
        """What all passes so far took."""
        return self._run.cost

    # The two ways to look at records

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
        partitions = self._contents.partitions
        if only is not None and getattr(self._run.executor, "takes_some", False):
            partitions = partitions.only(only)
        summary = self._run.reduce(partitions, statistic, what, n_jobs, verbose)
        assert summary is not None  # contents have at least one record
        return statistic.finalize(summary)

    def map(
        self,
        function: Callable[[Partition], R],
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
        return self._run.map(self._contents.partitions, function, what, n_jobs, verbose)

    # What it says

    def summary(self) -> Summary:
        """Report size and sparsity: m, n, l and the factor m·n/l."""
        (m, n), stored, schema = self.shape, self.n_stored, self.schema
        arity = int(schema.arities.max())
        width = 2 if schema.n_values < 2**16 else 4
        return Summary(
            records=m,
            columns=n,
            stored=stored,
            factor=m * n / stored if stored else float("inf"),
            values=schema.n_values,
            largest_arity=arity,
            missing_columns=sum(labels.missing is not None for labels in schema.labels),
            weighted=self.weighted,
            n_bytes=8 * (m + 1) + width * stored + 8 * m * self.weighted,
            dense_bytes=m * n * (1 if arity <= 2**8 else 2 if arity <= 2**16 else 4),
        )

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
        place = check_target(self.schema, target)
        self._check_given(given)
        stored, held, total = self.reduce(TwoWayCounts(place, given), n_jobs=n_jobs)
        return counts.TwoWay(self.schema, place, stored, counts.OneWay(self.schema, held, total))

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
            layout = "dense"  # of the whole, if not of every partition
        found = self.reduce(PairCounts(n, m, self.weighted, given, layout), n_jobs=n_jobs)
        return found.pairs(self.schema, count_jobs(self._run.n_jobs if n_jobs is None else n_jobs))

    def contingency(
        self,
        columns: Sequence[str | int],
        *,
        given: Mapping[str, Any] | None = None,
        layout: counts.Layout = "auto",
        n_jobs: int | None = None,
    ) -> counts.ContingencyTable:
        """Count every combination of labels; as :meth:`tacit.Table.contingency`."""
        if isinstance(columns, str):
            raise InputError(f"columns must be a list of column names, got {columns!r}")
        return self.tables([columns], given=given, layout=layout, n_jobs=n_jobs)[0]

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
            Count the records that match ``{column: label, …}`` only.
        layout : {"auto", "dense", "sparse"}
            As for :meth:`tacit.Table.contingency`.
        n_jobs : int, optional
            Threads.
        """
        places = [[self.schema.position(c, "columns") for c in own] for own in column_sets]
        self._check_given(given)
        return self.reduce(TableCounts(places, given, layout), n_jobs=n_jobs)

    def count(self, query: Mapping[str, Any]) -> int | float:
        """Return the (weighted) number of records that match ``{column: label, …}``."""
        check_query(self.schema, query, "query")
        return self.reduce(QueryCount(query))

    def _check_given(self, given: Mapping[str, Any] | None) -> None:
        if given is not None:
            check_query(self.schema, given)

    # Other tables made of it

    def take(self, records: Any, *, n_jobs: int | None = None) -> Table:
        """Return the Table of some records, in their own order, in one pass.

        Parameters
        ----------
        records : record numbers
        n_jobs : int, optional
            Threads.
        """
        chosen = check_records(records, self.n_records)
        if chosen is None or not len(chosen):
            raise InputError("records: there must be at least one")
        found = self.map(TakeRecords(chosen), n_jobs=n_jobs)
        tables = [own for own in found if own is not None]
        joined = Table.concat(tables)
        return joined if joined.schema == self.schema else joined.conform(self.schema)

    def collect(self, *, n_jobs: int | None = None) -> Table:
        """Return all records as one Table in memory."""
        n_bytes = self.summary().n_bytes
        check_fits(2 * n_bytes, "the table of all partitions", "take some of the records")
        return self.take(np.arange(self.n_records), n_jobs=n_jobs)

    def select(self, columns: Sequence[str | int]) -> PartitionedTable:
        """Return the table of some of the columns; of files, others are not read."""
        if isinstance(columns, str):
            raise InputError(f"columns must be a list of column names, got {columns!r}")
        contents = self._contents
        places = [contents.schema.position(c, "columns") for c in columns]
        if not places:
            raise InputError("columns: there must be at least one")

        def find(run: Run) -> Contents:
            narrowed = Narrowed.of(contents.partitions.reader, contents.schema, places)
            pieces = contents.partitions.pieces
            if isinstance(narrowed, Narrowed):
                pieces = tuple(NarrowedPiece.of(piece) for piece in pieces)
            parts = Partitions(pieces, narrowed, contents.partitions.firsts)
            found = run.reduce(parts, StoredCount(), "partitions")
            assert found is not None
            return replace(contents, schema=narrowed.schema, partitions=parts, n_stored=found)

        return PartitionedTable(find, self._run, f"{len(places)} columns of {self._origin}")

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
        >>> with tempfile.TemporaryDirectory() as place:
        ...     folder = pathlib.Path(place) / "visits"
        ...     made = tacit.scale.partition(visits, 4).materialise(folder)
        ...     again = tacit.scan(folder)
        ...     print(again.n_partitions, again.count({"weather": True, "news": True}))
        4 845
        """
        from tacit.scale.files.folder import materialise

        return materialise(self, folder, overwrite=overwrite, n_jobs=n_jobs, verbose=verbose)

    def __len__(self) -> int:
        return self.n_records

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse_partitions(self, "an array")
        raise AssertionError

    def __repr__(self) -> str:
        if self._known is None:
            return f"PartitionedTable of {self._origin}, not read yet"
        line = self.summary().line().removeprefix("Table of ")
        many = "s" * (self.n_partitions != 1)
        return f"PartitionedTable of {self.n_partitions:,} partition{many}: {line}"


def as_partitioned(X: Any) -> PartitionedTable | None:
    """Return `X` as a partitioned table if it is one, or a frame of Dask; else None."""
    if isinstance(X, PartitionedTable):
        return X
    from tacit.scale.dask_frames import is_dask_frame, scan_dask

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
    schema = tables[0].schema
    for k, own in enumerate(tables):
        if own.schema != schema:
            raise InputError(f"tables: the schema of table {k} is not that of table 0")
        if (own.weights is None) != (tables[0].weights is None):
            raise InputError("tables: some have weights and some have none")
    sizes = np.array([own.n_records for own in tables], np.int64)
    pieces = tuple(HeldPiece(own, f"partition {k}") for k, own in enumerate(tables))
    firsts = tuple((np.cumsum(sizes) - sizes).tolist())
    contents = Contents(
        schema,
        Partitions(pieces, HeldReader(), firsts),
        sizes,
        sum(own.n_stored for own in tables),
        tables[0].weights is not None,
    )
    made = PartitionedTable(lambda run: contents, Run(Local(memory)), "tables in memory")
    made._known = contents
    return made
