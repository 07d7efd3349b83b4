"""Counts by distinct records: each combination of labels that occurs, and how often it does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit import _core
from tacit.counts.contingency.table import ContingencyTable
from tacit.counts.counter import (
    Counter,
    Given,
    Layout,
    Tables,
    check_groups,
    check_records,
)
from tacit.errors import InputError
from tacit.machine import available_memory, check_fits, check_int, count_jobs
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.counts.counter import Group
    from tacit.counts.records import StoredRecords
    from tacit.schema import Schema
    from tacit.statistic import Partition

__all__ = ["CodeWords", "CountedWords", "Distinct", "code_type", "linked_counts"]

_MOST_TIMES = 2**32 - 1
_CELL_BYTES = 16  # while tables are worked out
_MOST_CELLS = 2**30
_CACHE = 64 * 2**20
_PAYS = 4  # a table of fewer cells than this part of the distinct records is sooner summed up
_AT_A_TIME = 7  # tables that are counted for the cache in one pass


class CodeWords:
    """Records as a few numbers each: the codes of all columns, in as many 64-bit words as needed.

    Parameters
    ----------
    arities : sequence of int

    Examples
    --------
    >>> words = CodeWords([3, 2])
    >>> counted = words.count(words.of(3, [np.array([2, 0, 2]), np.array([1, 0, 1])]))
    >>> counted.times.tolist(), [codes.tolist() for codes in words.codes(counted)]
    ([1, 2], [[0, 2], [0, 1]])
    """

    def __init__(self, arities: Sequence[int]) -> None:
        self.arities = list(arities)
        self._columns: list[list[int]] = [[]]
        filled = 1
        for column, arity in enumerate(self.arities):
            if filled * arity >= 2**64:
                self._columns.append([])
                filled = 1
            self._columns[-1].append(column)
            filled *= arity

    def __len__(self) -> int:
        return len(self._columns)

    def of(self, n_records: int, codes: Iterable[NDArray[Any]]) -> list[NDArray[np.uint64]]:
        """Return the words of records; their codes, column by column, are gone through once."""
        following = iter(codes)
        words = []
        for columns in self._columns:
            word = np.zeros(n_records, np.uint64)
            for column in columns:
                word *= np.uint64(self.arities[column])
                word += next(following).astype(np.uint64)
            words.append(word)
        return words

    def count(self, words: list[NDArray[np.uint64]]) -> CountedWords:
        """Return the distinct records, in order, with how often each occurs."""
        if len(words) == 1:
            words = [np.sort(words[0])]
        else:
            order = np.lexsort(words[::-1])
            words = [word[order] for word in words]
        first = _first_of_equals(words)
        times = np.diff(first, append=len(words[0]))
        return CountedWords([word[first] for word in words], times)

    def merge(self, one: CountedWords, other: CountedWords) -> CountedWords:
        """Return the distinct records of both."""
        words = [np.concatenate(both) for both in zip(one.words, other.words, strict=True)]
        # Runs that are in order are merged by a stable sort.
        order = np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")
        words = [word[order] for word in words]
        first = _first_of_equals(words)
        times = np.concatenate((one.times, other.times))[order]
        return CountedWords([word[first] for word in words], np.add.reduceat(times, first))

    def codes(self, counted: CountedWords) -> list[NDArray[Any]]:
        """Return the codes of each column, of the smallest unsigned type."""
        found: list[NDArray[Any]] = [np.empty(0)] * len(self.arities)
        for word, columns in zip(counted.words, self._columns, strict=True):
            for column in reversed(columns):
                arity = np.uint64(self.arities[column])
                word, code = word // arity, word % arity
                found[column] = code.astype(code_type(self.arities[column]))
        return found


@dataclass(frozen=True)
class CountedWords:
    """Distinct records, in order.

    Attributes
    ----------
    words : list of uint64 ndarray
        See :class:`CodeWords`.
    times : int64 ndarray
        How often each occurs.
    """

    words: list[NDArray[np.uint64]]
    times: NDArray[np.int64]


def _first_of_equals(words: list[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """Return where each of the distinct records begins; equal ones stand together."""
    changes = np.zeros(len(words[0]), np.bool_)
    changes[:1] = True
    for word in words:
        changes[1:] |= word[1:] != word[:-1]
    return np.flatnonzero(changes)


def code_type(arity: int) -> Any:
    """Return the smallest unsigned type of so many codes."""
    return np.uint8 if arity <= 2**8 else np.uint16 if arity <= 2**16 else np.uint32


class TooManyError(Exception):
    """There are more distinct records than fit."""


@dataclass(frozen=True)
class CodeMap:
    """Columns of partitions, and which of fewer codes each of theirs becomes, if that is said."""

    columns: list[int]
    arities: list[int]
    codes: list[NDArray[np.int64]] | None = None

    def of(self, table: Any) -> Iterator[NDArray[np.int64]]:
        """Yield the codes of the records of a Table, column by column."""
        for k, column in enumerate(self.columns):
            own = table.codes(column)
            yield own if self.codes is None else self.codes[k][own]


@dataclass(frozen=True)
class DistinctRecords(Statistic["CountedWords"]):
    """The distinct records of partitions, up to so many.

    Attributes
    ----------
    shown : CodeMap
    most : int
        With more of them, a :class:`TooManyError` is raised.
    largest : int
        Records of the largest partition.
    """

    shown: CodeMap
    most: int
    largest: int

    @classmethod
    def within(cls, shown: CodeMap, memory: int, partition_sizes: NDArray[np.int64]) -> Self:
        """Return the statistic that keeps to so many bytes, four copies while parts are merged."""
        n_words = len(CodeWords(shown.arities))
        most = memory // (32 * (n_words + 1) + len(shown.arities))
        return cls(shown, int(most), int(partition_sizes.max()))

    @property
    def n_bytes(self) -> int:
        """What those of a partition take."""
        return 8 * (len(CodeWords(self.shown.arities)) + 1) * min(self.largest, self.most)

    def partial(self, partition: Partition) -> CountedWords:
        """Return those of a partition."""
        table, words = partition.records, CodeWords(self.shown.arities)
        return self._few(words.count(words.of(table.n_records, self.shown.of(table))))

    def merge(self, one: CountedWords, other: CountedWords) -> CountedWords:
        """Return those of both."""
        return self._few(CodeWords(self.shown.arities).merge(one, other))

    def _few(self, counted: CountedWords) -> CountedWords:
        if len(counted.times) > self.most:
            raise TooManyError
        return counted


def stored_values(schema: Schema, codes: list[NDArray[Any]]) -> tuple[Any, Any]:
    """Return records with these codes of columns as tables store them: indptr and value ids."""
    lengths = np.zeros(len(codes[0]) + 1, np.int64)
    for c, own in enumerate(codes):
        lengths[1:] += own != int(schema.defaults[c])
    indptr = np.cumsum(lengths)
    values = np.empty(int(indptr[-1]), np.uint32 if schema.n_values > 2**16 else np.uint16)
    place = indptr[:-1].copy()
    for c, own in enumerate(codes):
        default = int(schema.defaults[c])
        stored = np.flatnonzero(own != default)
        code = own[stored].astype(np.int64)
        values[place[stored]] = schema.offsets[c] + code - (code > default)
        place[stored] += 1
    return indptr, values


def _room(table: StoredRecords, words: CodeWords) -> int:
    """Return the bytes that finding distinct records takes."""
    return 24 * table.n_records * len(words)


class Distinct(Counter):
    """Counts by distinct records: each combination of labels that occurs, and how often it does.

    Where columns have few labels, many records are equal: a hundred million flights by hours,
    delays and distances in bins are a few million different ones. A code for each column of these
    is all that is kept, and a question is one pass over them: so it takes about as long whatever is
    asked, and :meth:`linked` answers many questions in one pass.

    Parameters
    ----------
    table : Table
        Without weights.
    n_jobs : int, optional
        Threads. The counts do not depend on it.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits().select(["region", "weather", "news"])
    >>> distinct = tacit.counts.Distinct(visits)
    >>> distinct.count({"weather": True, "news": True}), distinct.n_distinct
    (845, 16)
    """

    def __init__(self, table: StoredRecords, *, n_jobs: int | None = None) -> None:
        check_records(table, "Distinct")
        if table.weights is not None:
            raise InputError("table: distinct records of a table with weights cannot be counted")
        schema: Schema = table.schema
        words = CodeWords(schema.arities.tolist())
        check_fits(_room(table, words), "distinct records", "leave columns out")
        codes = (table.codes(c) for c in range(len(schema)))  # type: ignore[attr-defined]
        self._set(schema, words, words.count(words.of(table.n_records, codes)), n_jobs)

    @staticmethod
    def fits(table: StoredRecords) -> bool:
        """Return whether there is memory for finding the distinct records of a table."""
        free = available_memory()
        return free is None or _room(table, CodeWords(table.schema.arities.tolist())) <= free

    @classmethod
    def of_counts(
        cls, schema: Schema, words: CodeWords, counted: CountedWords, *, n_jobs: int | None = None
    ) -> Self:
        """Return the counter of distinct records that were counted elsewhere.

        Parameters
        ----------
        schema : Schema
        words : CodeWords
            Of the columns of the schema.
        counted : CountedWords
        n_jobs : int, optional
        """
        made = cls.__new__(cls)
        made._set(schema, words, counted, n_jobs)
        return made

    def _set(
        self, schema: Schema, words: CodeWords, counted: CountedWords, n_jobs: int | None
    ) -> None:
        self._know(schema)
        self._schema = schema
        self.n_jobs = n_jobs
        self._jobs = count_jobs(n_jobs)
        times = counted.times
        self._n_records = int(times.sum())
        codes = words.codes(counted)
        if times.max(initial=0) > _MOST_TIMES:  # listed several times
            again = -(-times // _MOST_TIMES)
            codes = [np.repeat(code, again) for code in codes]
            last = np.cumsum(again) - 1
            repeated = np.full(int(again.sum()), _MOST_TIMES)
            repeated[last] = times - (again - 1) * _MOST_TIMES
            times = repeated
        self.codes: list[NDArray[Any]] = codes
        self.times: NDArray[np.uint32] = times.astype(np.uint32)
        self._wide = schema.arities.astype(np.int64)
        self._cubes: dict[tuple[int, ...], NDArray[np.int64]] = {}

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        return self._schema

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self._n_records

    @property
    def n_distinct(self) -> int:
        """Number of distinct records."""
        return len(self.times)

    @property
    def nbytes(self) -> int:
        """Bytes of the distinct records, and of the tables that :meth:`cache` made."""
        held = [self.times, *self.codes, *list(self._cubes.values())]
        return sum(array.nbytes for array in held)

    def cache(self, *, n_columns: int = 3, memory_limit: int = _CACHE) -> int:
        """Count all tables of up to so many columns, where that pays: questions then read these.

        Where a table of the columns of a question, those of its conditions included, has been
        counted, the answer is a sum over some of its cells. Other questions can be asked
        meanwhile.

        Parameters
        ----------
        n_columns : int, default 3
        memory_limit : int, default 64 MiB
            Bytes for tables; those of fewer columns come first.

        Returns
        -------
        int
            How many tables there are.
        """
        memory_limit = check_int(memory_limit, "memory_limit", 0)
        free = memory_limit - sum(cube.nbytes for cube in self._cubes.values())
        wanted: list[tuple[int, ...]] = []
        for k in range(1, check_int(n_columns, "n_columns", 1) + 1):
            sets = [s for s in combinations(range(len(self._arities)), k) if s not in self._cubes]
            cells = {s: math.prod([self._arities[c] for c in s]) for s in sets}
            paying = [s for s in sets if cells[s] * _PAYS < self.n_distinct]
            free -= 8 * sum(cells[s] for s in paying)
            if free < 0:
                break
            wanted += paying
        for k in range(0, len(wanted), _AT_A_TIME):
            sets_now = [list(s) for s in wanted[k : k + _AT_A_TIME]]
            none: Given = ([], [], [])
            for table in self._divided([(sets_now, none)], self._dense([(sets_now, none)]))[0]:
                columns = tuple(self._positions[name] for name in table.names)
                self._cubes[columns] = table.to_array()
        return len(self._cubes)

    def _from_cube(self, columns: list[int], given: Given) -> NDArray[np.int64] | None:
        """Return the cells of a table out of one that was counted before, if there is such."""
        if not self._cubes:
            return None
        ranges = _by_column(given)
        among = tuple(sorted({*columns, *ranges}))
        cube = self._cubes.get(among)
        if cube is None:
            return None
        for axis, column in reversed(list(enumerate(among))):
            if column not in ranges:
                continue
            through = np.zeros(self._arities[column], np.bool_)
            for low, high in ranges[column]:
                through[low : high + 1] = True
            if column not in columns:
                cube = cube.compress(through, axis).sum(axis)
            else:
                cube = cube * through.reshape([-1] + [1] * (cube.ndim - axis - 1))
        left = [column for column in among if column in columns]
        return cube.transpose([left.index(column) for column in columns]).ravel()

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of weights: they are not."""
        return False

    def _engine(self) -> _core.Engine:
        raise NotImplementedError  # `_dense` answers

    def count(self, query: Mapping[str, Any]) -> int:
        """Return the number of records that match; as :meth:`Counter.count`."""
        return int(self._dense([([[]], self._query(query, "query"))])[0])

    def _counted(
        self,
        positions: list[int],
        axes: tuple[Any, ...],
        n_cells: int,
        fixed: Given,
        layout: Layout,
    ) -> ContingencyTable:
        if self._check_layout(layout, n_cells) == "dense":
            counts = self._dense([([positions], fixed)])
            return ContingencyTable(axes, counts.reshape([self._arities[c] for c in positions]))
        cell = np.zeros(self.n_distinct, np.int64)
        for c in positions:
            cell = cell * self._arities[c] + self.codes[c]
        chosen = np.ones(self.n_distinct, np.bool_)
        for column, ranges in _by_column(fixed).items():
            code = self.codes[column].astype(np.int64)
            chosen &= np.any([(code >= low) & (code <= high) for low, high in ranges], axis=0)
        cells, where = np.unique(cell[chosen], return_inverse=True)
        counts = np.zeros(len(cells), np.int64)
        np.add.at(counts, where, self.times[chosen].astype(np.int64))
        return ContingencyTable.from_cells(axes, cells, counts)

    def tables(  # noqa: D102
        self,
        column_sets: Sequence[Sequence[str | int]] | NDArray[Any],
        given: Mapping[str, Any] | None = None,
    ) -> Tables:
        return self.linked([(column_sets, given)])[0]

    def linked(self, groups: Sequence[Group]) -> list[Tables]:  # noqa: D102
        fixed: list[tuple[list[list[int]], Given]] = []
        for column_sets, given in check_groups(groups):
            query: Given = ([], [], []) if given is None else self._query(given, "given")
            fixed.append((self._sets(column_sets), query))
        return self._divided(fixed, self._dense(fixed))

    def _dense(self, groups: list[tuple[list[list[int]], Given]]) -> NDArray[np.int64]:
        """Return the cells of tables: those that no cube has are counted, in one pass."""
        found = [[self._from_cube(columns, given) for columns in sets] for sets, given in groups]
        if all(cells is None for own in found for cells in own):
            return linked_counts(self.codes, self.times, self._wide, groups, self._jobs)
        rest = [
            ([columns for columns, cells in zip(sets, own, strict=True) if cells is None], given)
            for (sets, given), own in zip(groups, found, strict=True)
        ]
        counted = linked_counts(self.codes, self.times, self._wide, rest, self._jobs)
        parts, start = [np.zeros(0, np.int64)], 0
        for (sets, _), own in zip(groups, found, strict=True):
            for columns, cells in zip(sets, own, strict=True):
                if cells is None:
                    end = start + math.prod([self._arities[c] for c in columns])
                    parts.append(counted[start:end])
                    start = end
                else:
                    parts.append(cells)
        return np.concatenate(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        words = CodeWords(self._arities)
        counted = CountedWords(words.of(self.n_distinct, self.codes), self.times.astype(np.int64))
        return partial(Distinct.of_counts, n_jobs=self.n_jobs), (self._schema, words, counted)


def linked_counts(
    codes: list[NDArray[Any]],
    times: NDArray[np.uint32] | None,
    arities: NDArray[np.int64],
    groups: list[tuple[list[list[int]], Given]],
    n_jobs: int,
) -> NDArray[np.int64]:
    """Return the cells of tables of several selections, one after another, in one pass.

    Parameters
    ----------
    codes : list of ndarray
        Of each column; unsigned.
    times : uint32 ndarray, optional
        How often each record occurs.
    arities : int64 ndarray
    groups : list of (sets of columns, ranges of codes that are given)
    n_jobs : int
    """
    numbers: dict[tuple[int, ...], int] = {}
    selections, selection_of, column_sets = [], [], []
    n_cells = 0
    sizes = arities.tolist()
    for selection, (sets, given) in enumerate(groups):
        conditions = [
            (column, *(code for ends in ranges for code in ends))
            for column, ranges in _by_column(given).items()
        ]
        selections.append([numbers.setdefault(c, len(numbers)) for c in conditions])
        for columns in sets:
            cells = math.prod([sizes[c] for c in columns])
            if cells > _MOST_CELLS:
                raise InputError(f"column_sets: a table of {cells:,} cells is too large")
            n_cells += cells
        selection_of += [selection] * len(sets)
        column_sets += sets
    if n_cells > 2**20:
        what = f"{len(column_sets):,} tables of {n_cells:,} cells in all"
        check_fits(_CELL_BYTES * n_cells, what, "ask for fewer at a time")
    n_records = len(codes[0]) if codes else 0
    return _core.linked_tables(
        codes, arities, times, n_records, list(numbers), selections, selection_of, column_sets,
        n_cells, n_jobs,
    )  # fmt: skip


def _by_column(given: Given) -> dict[int, list[tuple[int, int]]]:
    """Return the ranges of codes of each column that conditions are on."""
    ranges: dict[int, list[tuple[int, int]]] = {}
    for column, low, high in zip(*given, strict=True):
        ranges.setdefault(column, []).append((low, high))
    return ranges
