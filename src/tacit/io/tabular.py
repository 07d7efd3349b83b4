"""Files of columns (CSV, Parquet, Arrow IPC), read in chunks so that they may exceed memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from tacit.errors import FileError, InputError, no_column
from tacit.io.chunks import Chunks
from tacit.io.opening import POLARS_ERRORS
from tacit.machine import count_jobs
from tacit.schema import check_names
from tacit.table import Table
from tacit.table.cuts import class_codes, column_cuts, numbers_to_cut, say_cuts, specs_of
from tacit.table.discretise import MDL, Edges
from tacit.table.gateway import check_missing
from tacit.table.kinds import check_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tacit.io.opening import PathLike
    from tacit.schema import Kind

__all__ = ["TabularFile", "choose_columns"]

R = TypeVar("R")

_CELLS = 10_000_000  # of a chunk
_AT_ONCE = 1 << 27  # numbers to hold at once while cut points are chosen


class TabularFile(ABC):
    """A file of columns, called `path` and found, decompressed, in `plain`."""

    schema: dict[str, Any]  # Polars types by name

    def __init__(self, path: PathLike, plain: Path) -> None:
        self.path, self.plain = path, plain

    @abstractmethod
    def lazy(self) -> pl.LazyFrame:
        """Return all columns as Polars scans them."""

    @abstractmethod
    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        """Read some columns, about `size` records at a time."""

    @abstractmethod
    def whole(self, columns: list[str]) -> pl.DataFrame:
        """Read some columns of all records."""

    def widen(self, error: BaseException) -> None:
        """Give columns that values do not fit other types, or raise the error."""
        raise error

    def collect(self, columns: Any) -> pl.DataFrame:
        """Read some columns, or expressions, of all records."""
        return self.lazy().select(columns).collect(engine="streaming")

    def frame(
        self, columns: Sequence[str] | None = None, argument: str = "columns"
    ) -> pl.DataFrame:
        """Read the file, or some columns of it, as a frame, its numbers as they are.

        What the caller calls the columns, `argument` says.
        """
        check_names(self.schema, "columns")
        names = list(self.schema) if columns is None else list(columns)
        for name in names:
            if name not in self.schema:
                raise no_column(argument, name, self.schema)

        def read() -> pl.DataFrame:
            frame = self.whole(names)
            if not frame.height:
                raise FileError(self.path, "holds no records")
            return frame

        return self._retry(read)

    def table(
        self,
        columns: Sequence[str] | None = None,
        defaults: Any = None,
        weights: Any = None,
        missing: str = "state",
        discretise: Any = None,
        target: str | None = None,
        kinds: Mapping[Any, str] | None = None,
        chunk_records: int | None = None,
        n_jobs: int | None = -1,
    ) -> Table:
        """Read the file into a Table; options as for :func:`tacit.read_csv`."""
        jobs = count_jobs(n_jobs)
        check_missing(missing)
        check_names(self.schema, "columns")
        if chunk_records is not None and (type(chunk_records) is not int or chunk_records < 1):
            raise InputError(f"chunk_records must be a positive integer, got {chunk_records!r}")
        chosen = choose_columns(self.schema, columns, weights, defaults)
        if target is not None and target not in chosen:
            raise no_column("target", target, chosen)
        wanted_kinds = check_kinds(kinds, chosen)
        weight_column = weights if isinstance(weights, str) else None
        wanted = chosen if weight_column is None else [*chosen, weight_column]
        size = chunk_records or max(4096, min(1_000_000, _CELLS // max(1, len(chosen))))

        def read() -> Table:
            edges = _find_edges(self, chosen, discretise, target, wanted_kinds)
            chunks = Chunks(edges, missing, defaults, weight_column, wanted_kinds, jobs)
            for frame in self.batches(wanted, size):
                chunks.add(frame)
            if chunks.n_records == 0:
                raise FileError(self.path, "holds no records")
            parts = chunks.finish()
            if weight_column is None:
                parts.weights = weights
            return Table._of(parts)

        return self._retry(read)

    def _retry(self, read: Callable[[], R]) -> R:
        """Read until all values fit the types of their columns."""
        while True:
            try:
                return read()
            except POLARS_ERRORS as error:
                self.widen(error)


def choose_columns(
    known: Mapping[str, Any], columns: Sequence[str] | None, weights: Any, defaults: Any
) -> list[str]:
    """Return which of the known columns to read, in order, without the one that holds weights.

    Arguments are as for :func:`tacit.read_csv`; what they name has to be there.
    """
    if columns is None:
        chosen = list(known)
    elif isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise InputError("columns must be a sequence of names")
    else:
        chosen = list(dict.fromkeys(columns))
        if len(chosen) < len(columns):
            raise InputError("columns must be distinct")
        for name in chosen:
            if name not in known:
                raise no_column("columns", name, known)
    if isinstance(weights, str):
        chosen = [name for name in chosen if name != weights]
    if not chosen:
        raise InputError("there is no column left to read")
    if isinstance(weights, str) and weights not in known:
        raise no_column("weights", weights, known)
    for name in defaults if isinstance(defaults, Mapping) else ():
        if isinstance(name, str) and name not in chosen:
            raise no_column("defaults", name, chosen)
    return chosen


def _find_edges(
    file: TabularFile,
    columns: Sequence[str],
    discretise: Any,
    target: str | None,
    kinds: dict[str, Kind],
) -> dict[str, Edges]:
    """Find the cut points of all records, reading no more than the columns that need it."""
    specs = specs_of({name: file.schema[name] for name in columns}, discretise, target, kinds)
    edges = {name: spec for name, spec in specs.items() if isinstance(spec, Edges)}
    rest = [name for name in specs if name not in edges]
    if not rest:
        return edges
    classes = None
    if any(isinstance(specs[name], MDL) for name in rest):
        assert target is not None  # as specs_of checks
        classes = class_codes(file.collect([target]).get_column(target))
    n_records = file.collect([pl.len()]).item()
    step = max(1, _AT_ONCE // max(1, n_records))
    named = isinstance(discretise, Mapping)
    for k in range(0, len(rest), step):
        for series in file.collect(rest[k : k + step]).iter_columns():
            name, numbers = series.name, numbers_to_cut(series)
            cuts = column_cuts(numbers, specs[name], name, classes, named=named)
            if cuts is not None:
                edges[name] = cuts
    say_cuts({name: len(edges[name].edges) + 1 for name in rest if name in edges})
    return edges
