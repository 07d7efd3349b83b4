"""The Table: discrete records of which only what is not the default is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from tacit import counts, store
from tacit.errors import InputError, refuse_partitions
from tacit.machine import check_fits, check_int, count_jobs
from tacit.schema import Schema
from tacit.statistic import Partition, Statistic
from tacit.table import build, frames, long, matrices, recode
from tacit.table.containers import container_kind
from tacit.table.counted import CountedRecords
from tacit.table.cuts import cut_schema
from tacit.table.gateway import (
    check_records,
    check_size,
    check_stored,
    check_weights,
)
from tacit.table.index import check_index, index_from_array, index_to_array
from tacit.table.kinds import schema_of_kinds
from tacit.table.schema_json import schema_from_json, schema_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.schema import Column

__all__ = ["Table"]


R = TypeVar("R")

# What is no data for a Table, but for something near it.
_ELSEWHERE = {
    "table": "a Table already",
    "file": "the path of a file; tacit.read(path) makes a Table of it",
    "baskets": "a list; Table.from_baskets(data) makes a Table of collections of items, and "
    "np.array(data) an array of rows",
}


class Table(CountedRecords, store.Saved):
    """Discrete records with tacit defaults.

    Every column has a default, its most common value unless you name another. Only values that
    differ from it are stored, and all work is in proportion to them.

    Parameters
    ----------
    data : frame, mapping, ndarray or sparse array
        A frame of pandas, Polars or Arrow (or any other that narwhals knows), a query that makes
        one (a LazyFrame, a DuckDB relation), a stream of Arrow batches, whatever has the Arrow
        PyCapsule interface, or a mapping of column names to values. Names that are whole numbers
        become text. Ordered categories keep their order, and all labels that they declare.

        A two-dimensional NumPy array: whole numbers from 0 on, truth values, or strings and other
        objects, of which ``None`` and NaN are missing. A record array is a frame.

        Any SciPy sparse array or matrix of whole numbers from 0 on, or of truth values. What it
        stores twice is added up, as SciPy does, and zeros that it stores are zeros. A pandas frame
        of sparse columns is taken for one, if what they leave out is zero.
    columns : sequence of str, optional
        Column names, for data that brings none. Columns of arrays are called "0", "1", …
    defaults : mapping or label, optional
        ``{column: label}`` for the columns whose default is not to be the most common value, or
        one label for all columns.
    weights : array-like of shape (n_records,) or str, optional
        Record weights; a name takes that column of a frame out of the data.
    missing : {"state", "default", "error"}
        What to do with missing values of a frame: they are a further label (``None``), are
        taken for the default, or are refused.
    discretise : spec or mapping, optional
        How to cut numeric columns into bins: a spec for all of them, or ``{column: spec}``. A spec
        is "auto", "width", "frequency", a number of bins, a list of edges, "mdl" (needs `target`),
        or one of the classes of those names. Numbers that are not cut are labels as they are.
        One spec for all leaves columns of two numbers alone, unless it lists edges.
    target : str, optional
        The column that "mdl" cuts are to tell apart; it is not cut itself.
    kinds : mapping, optional
        ``{column: kind}`` for columns that are not what they look like: "numeric", "ordered",
        "categorical", "boolean" or "identifier". :meth:`summary` shows the kinds of all columns.
    n_jobs : int, optional
        Threads for encoding. The result does not depend on it.

    Examples
    --------
    >>> import tacit
    >>> table = tacit.Table({"sky": ["blue", "grey", "grey"], "rain": [False, True, False]})
    >>> table
    Table of 3 records × 2 columns, 2 stored values (m·n/l = 3)
    >>> table.count({"sky": "grey", "rain": True})
    1
    """

    _kind: ClassVar[str] = "table"

    def __init__(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        defaults: Any = None,
        weights: Any = None,
        missing: Literal["state", "default", "error"] = "state",
        discretise: Any = None,
        target: str | None = None,
        kinds: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        refuse_partitions(data, "a Table", "data")
        kind = container_kind(data)
        if kind in _ELSEWHERE:
            raise InputError(f"data is {_ELSEWHERE[kind]}")
        jobs = count_jobs(n_jobs)
        if kind in ("array", "sparse"):
            parts = frames.encode_array(data, columns, defaults, missing, jobs)
            if kinds is not None:
                parts.schema = schema_of_kinds(parts.schema, kinds)
            if discretise is not None:
                table = Table._of(parts)
                parts = recode.conform_table(
                    table, cut_schema(table, discretise, target), "error", "data"
                )
        else:
            if columns is not None:
                raise InputError("columns names the columns of an array; a frame has names already")
            parts = frames.encode_frame(
                data, defaults, weights, missing, discretise, target, kinds, jobs
            )
            weights = parts.weights if isinstance(weights, str) else weights
        parts.weights = weights
        self._fill(parts)

    def _fill(self, parts: build.Parts) -> None:
        n_records = len(parts.indptr) - 1
        check_size(n_records, len(parts.schema))
        self._schema = parts.schema
        self._indptr = parts.indptr
        self._values = parts.values
        self._weights = check_weights(parts.weights, n_records)
        self._native = parts.native
        self._index = check_index(parts.index, n_records)
        self._sizes = parts.sizes
        self._singles: counts.OneWay | None = None
        for array in (parts.indptr, parts.values):
            array.flags.writeable = False

    @classmethod
    def _of(cls, parts: build.Parts) -> Table:
        table = cls.__new__(cls)
        table._fill(parts)
        return table

    @classmethod
    def from_stored(cls, schema: Schema, indptr: Any, values: Any, weights: Any = None) -> Table:
        """Make a Table of value ids in CSR form; everything about them is checked first.

        Parameters
        ----------
        schema : Schema
        indptr : int64 array of shape (n_records + 1,)
        values : uint16 or uint32 array
            Value ids as `schema` numbers them, ascending within a record.
        weights : array-like, optional
        """
        indptr, values = np.atleast_1d(indptr), np.atleast_1d(values)
        if len(indptr) and indptr.dtype.kind not in "iu":
            raise InputError(f"indptr must be integers, got {indptr.dtype}")
        indptr = indptr.astype(np.int64)
        if len(values) and values.dtype.kind not in "iu":
            raise InputError(f"values must be integers, got {values.dtype}")
        if len(values) and (values.min() < 0 or values.max() >= schema.n_values):
            wrong = values[(values < 0) | (values >= schema.n_values)][0]
            raise InputError(f"values: {wrong} is not in [0, {schema.n_values})")
        values = values.astype(build.value_type(schema.n_values))
        check_stored(schema, indptr, values, "values")
        return cls._of(build.Parts(schema, indptr, values, weights))

    @classmethod
    def from_baskets(
        cls,
        baskets: Iterable[Iterable[Any]],
        *,
        defaults: Any = False,
        weights: Any = None,
    ) -> Table:
        """Make a Table of collections of items: a column for each item, True where it is there.

        Parameters
        ----------
        baskets : iterable of iterables of items
            An item twice in a basket counts once. Columns are named ``str(item)`` and sorted.
        defaults : mapping or label, default False
            As for :class:`Table`; ``None`` stores the rarer of True and False for each item.
        weights : array-like, optional

        Examples
        --------
        >>> import tacit
        >>> tacit.Table.from_baskets([["milk", "bread"], ["milk"], ["tea"]]).one_way()["milk"]
        {False: 1, True: 2}
        """
        parts = matrices.encode_baskets(baskets, defaults)
        parts.weights = weights
        return cls._of(parts)

    @classmethod
    def from_long(
        cls,
        frame: Any,
        record: str,
        item: str,
        value: str | None = None,
        weight: str | None = None,
        *,
        duplicates: Literal["sum", "first", "last", "error"] = "sum",
        min_count: int = 1,
        min_items: int = 0,
        missing: Literal["error", "drop"] = "error",
        n_jobs: int | None = None,
    ) -> Table:
        """Make a Table of a log: rows that say which record has which item, and how much of it.

        There is a column for each item, named ``str(item)``, in the order of the items, and a
        record for each record id, in the order of the ids, which :attr:`index` keeps. Without
        `value`, columns are True where the item is there and False, the default, elsewhere. A
        number is 0 where there is none, any other value None.

        Parameters
        ----------
        frame : frame or mapping
            pandas, Polars (lazy, too), Arrow, or a mapping of column names to values.
        record, item : str
            The columns of record ids and of items.
        value : str, optional
            The column of values. The labels of an item are those that it has, and the default.
        weight : str, optional
            The column of record weights, which must be the same in all rows of a record.
        duplicates : {"sum", "first", "last", "error"}
            What to do with several rows of one record and item: add numbers up, keep the first or
            the last row, or refuse them. To add up, other values must be the same.
        min_count : int, default 1
            Items of fewer records are left out.
        min_items : int, default 0
            So are, after that, records with fewer items.
        missing : {"error", "drop"}
            Whether rows in which an id, an item, a value or a weight is missing are refused or
            left out.
        n_jobs : int, optional
            Threads. The result does not depend on it.

        Examples
        --------
        >>> import tacit
        >>> log = {"user": [7, 3, 7, 7], "film": ["Alien", "Heat", "Heat", "Heat"]}
        >>> table = tacit.Table.from_long(log, record="user", item="film")
        >>> table.to_frame().rows()
        [(3, False, True), (7, True, True)]
        """
        options = long.LongOptions(
            record, item, value, weight, duplicates, min_count, min_items, missing
        )
        return cls._of(long.encode_long(frame, options, count_jobs(n_jobs)))

    @classmethod
    def concat(cls, tables: Sequence[Table], *, defaults: Any = None) -> Table:
        """Put the records of several tables with the same columns one after another.

        Labels are matched by what they are, not by their codes.

        Parameters
        ----------
        tables : sequence of Table
        defaults : mapping or label, optional
            As for :class:`Table`: without it, the most common values of all records.
        """
        return cls._of(recode.concat_tables(list(tables), defaults))

    # What it holds

    @property
    def schema(self) -> Schema:
        """Columns, labels and defaults."""
        return self._schema

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where each record's stored values begin; one entry more than records."""
        return self._indptr

    @property
    def values(self) -> NDArray[Any]:
        """The value ids of all records, ascending within each."""
        return self._values

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Record weights, or ``None`` where each record counts one."""
        return self._weights

    @property
    def weighted(self) -> bool:
        """Whether records have weights."""
        return self._weights is not None

    @property
    def index(self) -> pl.Series | None:
        """Record ids, or ``None`` where records have none; see :meth:`with_index`."""
        return self._index

    @property
    def n_records(self) -> int:
        """Number of records (the papers' m)."""
        return len(self._indptr) - 1

    @property
    def n_stored(self) -> int:
        """Number of stored, that is non-default values (the papers' l)."""
        return len(self._values)

    @property
    def columns(self) -> list[Column]:
        """The columns."""
        return list(self._schema)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored values and what belongs to them; labels not counted."""
        total = self._indptr.nbytes + self._values.nbytes
        if self._weights is not None:
            total += self._weights.nbytes
        if self._index is not None:
            total += int(self._index.estimated_size())
        if "postings" in self.__dict__:
            total += sum(array.nbytes for array in self.postings)
        if "column_store" in self.__dict__:
            total += self.column_store.nbytes
        return total

    # Other tables made of it

    def take(self, records: Any) -> Table:
        """Return the Table of a subset of the records, in their order.

        Labels and defaults stay as they are.

        Parameters
        ----------
        records : mask or record numbers
        """
        chosen = check_records(records, self.n_records)
        if chosen is None:
            return self
        return Table._of(recode.take_records(self, chosen))

    def select(self, columns: Sequence[str | int]) -> Table:
        """Return the Table of some of the columns, in the given order."""
        return Table._of(recode.select_columns(self, self._positions(columns)))

    def with_defaults(self, defaults: Any) -> Table:
        """Return the same data stored with other defaults.

        Parameters
        ----------
        defaults : mapping, label or None
            As for :class:`Table`; ``None`` makes each column's most common value its default.
        """
        return Table._of(recode.change_defaults(self, defaults))

    def conform(
        self,
        schema: Schema,
        *,
        unseen: Literal["error", "default"] = "error",
        absent: Literal["error", "default"] = "error",
        argument: str = "X",
    ) -> Table:
        """Return the same records under another schema, such as that of a fitted model.

        Columns are matched by their names, labels by what they are: 1 is 1.0 and True, but not "1".
        Numbers are cut where the schema has bins. Columns that it does not have are passed over. It
        takes time proportional to the stored values and labels, and none if the schema is the same.

        Parameters
        ----------
        schema : Schema
        unseen : {"error", "default"}
            What to do with a label, or a missing value, that occurs in a record and that the
            schema does not have: refuse it, or take it for the column's default.
        absent : {"error", "default"}
            What to do with a column of the schema that is not there: refuse it, or give all
            records its default.
        argument : str
            What the caller calls this table, for error messages.

        Examples
        --------
        >>> import tacit
        >>> may = tacit.Table({"plan": ["pro", "free", "pro"], "paid": [1, 0, 1]})
        >>> june = tacit.Table({"paid": [0, 0, 1], "plan": ["free", "free", "pro"]})
        >>> june.conform(may.schema).to_numpy().tolist()
        [[0, 0], [0, 0], [1, 1]]
        """
        for name, value in (("unseen", unseen), ("absent", absent)):
            if value not in ("error", "default"):
                raise InputError(f"{name} must be 'error' or 'default', got {value!r}")
        if not isinstance(schema, Schema):
            raise InputError(f"schema must be a Schema, got {type(schema).__name__}")
        if schema == self._schema:
            return self
        filled = Table._of(recode.fill_absent(self, schema)) if absent == "default" else self
        return Table._of(recode.conform_table(filled, schema, unseen, argument))

    def with_weights(self, weights: Any) -> Table:
        """Return the same records with other weights; ``None`` for none."""
        parts = build.Parts(
            self._schema, self._indptr, self._values, weights, self._native, self._index
        )
        return Table._of(parts)

    def with_index(self, index: Any) -> Table:
        """Return the same records under other ids; ``None`` for none.

        Ids are no column: nothing is counted or learnt from them. They stay with their records in
        all that makes tables of tables, and in files.

        Parameters
        ----------
        index : Polars series, pandas index, array-like or None
            An id for each record. The series' name is what a frame will call them.
        """
        table = self.fresh()
        table._index = check_index(index, self.n_records)
        return table

    # Out again

    def codes(self, column: str | int) -> NDArray[np.int64]:
        """Return the code of every record in one column."""
        c = self._schema.position(column)
        start, rows = self.postings
        codes = np.full(self.n_records, self._schema.defaults[c], np.int64)
        bounds = start[self._schema.offsets[c] : self._schema.offsets[c + 1] + 1]
        codes[rows[bounds[0] : bounds[-1]]] = np.repeat(self._schema.codes_of(c), np.diff(bounds))
        return codes

    def to_numpy(self) -> NDArray[np.int64]:
        """Return the dense view: the code of every record in every column."""
        check_fits(8 * self.n_records * self.n_columns, "the dense view", "take fewer records")
        dense = np.tile(self._schema.defaults, (self.n_records, 1))
        rows = np.repeat(np.arange(self.n_records), np.diff(self._indptr))
        dense[rows, self._schema.value_columns[self._values]] = self._schema.value_codes[
            self._values
        ]
        return dense

    def to_frame(self, backend: Literal["polars", "pandas", "pyarrow"] | None = None) -> Any:
        """Return the data as they were given: labels, one frame column for each column.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame; by default the kind the Table was made of, or Polars.

        Record ids (:attr:`index`) are the index of a pandas frame, and the first column of others.
        """
        return frames.decode_frame(self, backend, self._native)

    def head(self, n: int = 5) -> Any:
        """Return the first records as a frame, as :meth:`to_frame` does.

        Parameters
        ----------
        n : int, default 5
            How many, at most.

        Examples
        --------
        >>> import tacit
        >>> table = tacit.Table({"sky": ["blue", "grey", "grey"], "rain": [False, True, False]})
        >>> table.head(1).rows(), table["sky"].to_list()
        ([('blue', False)], ['blue', 'grey', 'grey'])
        """
        first = np.arange(min(check_int(n, "n", 1), self.n_records))
        return frames.decode_frame(self.take(first), None, self._native)

    def __getitem__(self, columns: Any) -> Any:
        """Return a column's labels as a series, or of a list of columns the Table of them."""
        if isinstance(columns, str):
            return frames.decode_frame(self.select([columns]), None, self._native)[columns]
        if isinstance(columns, list) and all(isinstance(name, str) for name in columns):
            return self.select(columns)
        raise InputError(
            "table[…] takes the name of a column or a list of names; table.take(…) takes records, "
            f"got {columns!r}"
        )

    def __contains__(self, column: object) -> bool:
        return column in self._schema.names

    # As a single partition

    def reduce(
        self,
        statistic: Statistic[R],
        *,
        what: str = "partitions",
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> R:
        """Return a statistic of all records, as :meth:`tacit.PartitionedTable.reduce` does.

        A Table shows no progress: `what` and `verbose` are there for partitioned tables.
        """
        return statistic.finalize(statistic.partial(Partition(self, 0, 0, count_jobs(n_jobs))))

    def map(
        self,
        function: Callable[[Partition], R],
        *,
        what: str = "partitions",
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> Iterator[R]:
        """Yield what a function says of all records, as :meth:`tacit.PartitionedTable.map` does."""
        yield function(Partition(self, 0, 0, count_jobs(n_jobs)))

    def to_state(self) -> store.State:
        """Return the arrays a file must hold to make the Table again."""
        schema = np.frombuffer(schema_to_json(self._schema), np.uint8)
        return {"schema": schema, **self._stored_state()}

    def _stored_state(self) -> dict[str, NDArray[Any]]:
        """Return what a file must hold beside the schema."""
        arrays: dict[str, NDArray[Any]] = {"indptr": self._indptr, "values": self._values}
        if self._weights is not None:
            arrays["weights"] = self._weights
        if self._index is not None:
            arrays["index"] = index_to_array(self._index)
        return arrays

    @classmethod
    def from_state(cls, state: store.State) -> Table:
        """Make the Table of a file's arrays, which are checked in full and not copied."""
        schema = schema_from_json(state["schema"].tobytes())
        indptr, values, weights = state["indptr"], state["values"], state.get("weights")
        if (
            indptr.dtype != np.int64
            or values.dtype != build.value_type(schema.n_values)
            or (weights is not None and weights.dtype != np.float64)
        ):
            raise InputError("its arrays have the wrong types")
        check_stored(schema, indptr, values, "stored values")
        parts = build.Parts(schema, indptr, values, weights)
        if "index" in state:
            parts.index = index_from_array(state["index"], len(indptr) - 1)
        return cls._of(parts)

    def fresh(self) -> Table:
        """Return the same table, sharing its arrays, but nothing that is derived and kept."""
        table = Table.__new__(Table)
        derived = ("column_store", "_scan", "postings", "_singles", "_sizes")
        table.__dict__ |= {name: x for name, x in self.__dict__.items() if name not in derived}
        table._singles = table._sizes = None
        return table

    def __getstate__(self) -> dict[str, Any]:
        engines = ("column_store", "_scan")  # made again where they are needed
        return {name: value for name, value in self.__dict__.items() if name not in engines}

    def __repr__(self) -> str:
        return self.summary().line()

    def _repr_html_(self) -> str:
        from tacit.table.preview import preview

        return preview(self)
