"""ARFF files, dense and sparse."""

from __future__ import annotations

import io
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError
from tacit.io.arff.header import Attribute, read_header, split_values
from tacit.io.arff.sparse import SparseRows
from tacit.io.opening import naming, opened
from tacit.table.gateway import check_missing
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike

__all__ = ["DenseRows", "read_arff", "read_rows"]

_BLOCK = 1 << 22  # characters to work on at a time


def read_arff(
    path: PathLike,
    *,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    defaults: Any = None,
    n_jobs: int | None = -1,
) -> Table:
    """Read an ARFF file into a Table.

    Nominal attributes keep the labels they declare, in that order, also those that do not occur.
    Numbers are labels as they are, unless `discretise` cuts them. Dates stay text. In a sparse file
    what is left out is zero, or the first label of a nominal attribute; nothing in proportion to
    records × attributes is ever built.

    Parameters
    ----------
    path : path-like
        May be compressed, as for :func:`read_csv`.
    missing, discretise, target, defaults
        As for :class:`tacit.Table`.
    n_jobs : int, default -1
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    Table
    """
    check_missing(missing)
    with naming(path):
        rows = read_rows(path)[1]
        if isinstance(rows, SparseRows):
            return Table._of(rows.finish(missing, discretise, target, defaults))
        return Table(
            rows.finish(),
            missing=missing,
            discretise=discretise,
            target=target,
            defaults=defaults,
            n_jobs=n_jobs,
        )


def read_rows(path: PathLike) -> tuple[list[Attribute], SparseRows | DenseRows]:
    """Return what a file declares, and its rows as they stand there."""
    with naming(path), opened(path) as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        number = count(1)
        attributes = read_header(path, zip(number, text, strict=False))
        rows: SparseRows | DenseRows | None = None
        for numbers, lines in _blocks(text, number):
            if rows is None:
                rows = (SparseRows if lines[0].startswith("{") else DenseRows)(path, attributes)
            rows.add(numbers, lines)
        if rows is None:
            raise FileError(path, "holds no records")
    return attributes, rows


def _blocks(
    text: io.TextIOWrapper, number: count[int]
) -> Iterator[tuple[NDArray[np.int64], pl.Series]]:
    """Give lines that hold data, many at a time, with their numbers."""
    start = next(number)
    while raw := text.readlines(_BLOCK):
        lines = pl.Series(raw, dtype=pl.String).str.strip_chars()
        kept = (lines != "") & ~lines.str.starts_with("%")
        numbers = start + kept.arg_true().to_numpy().astype(np.int64)
        start += len(raw)
        if len(numbers):
            yield numbers, lines.filter(kept)


class DenseRows:
    """Rows with a value for every attribute, kept as columns of their types."""

    def __init__(self, path: PathLike, attributes: list[Attribute]) -> None:
        self._path, self._attributes = path, attributes
        self._columns: list[list[pl.Series]] = [[] for _ in attributes]
        enums = {a.labels: pl.Enum(a.labels) for a in attributes if a.kind == "nominal"}
        self._enums = [enums.get(a.labels) for a in attributes]

    def add(self, numbers: NDArray[np.int64], lines: pl.Series) -> None:
        """Take lines that hold data, and their numbers."""
        sparse = lines.str.starts_with("{")
        if sparse.any():
            raise FileError(
                self._path, f"line {numbers[sparse.arg_max() or 0]} is sparse in a dense file"
            )
        special = lines.str.contains(r"""['"\\%]""").any()
        columns = self._parse(numbers, lines) if special else self._split(numbers, lines)
        for c, column in enumerate(columns):
            self._columns[c].append(self._typed(c, column, numbers))

    def _split(self, numbers: NDArray[np.int64], lines: pl.Series) -> Iterator[pl.Series]:
        """Take apart lines without quotes."""
        n = len(self._attributes)
        commas = lines.str.count_matches(",", literal=True).to_numpy()
        if (commas != n - 1).any():
            k = int(np.argmax(commas != n - 1))
            self._refuse(int(numbers[k]), int(commas[k]) + 1)
        for column in lines.str.split_exact(",", n - 1).struct.unnest().iter_columns():
            values = column.str.strip_chars()
            yield values.set(values == "?", None)

    def _parse(self, numbers: NDArray[np.int64], lines: pl.Series) -> Iterator[pl.Series]:
        """Take apart lines with quotes, escapes or comments in them."""
        rows = []
        for number, line in zip(numbers.tolist(), lines, strict=True):
            try:
                rows.append(split_values(line))
            except ValueError as error:
                raise FileError(self._path, f"line {number}: {error}") from None
            if len(rows[-1]) != len(self._attributes):
                self._refuse(number, len(rows[-1]))
        for values in zip(*rows, strict=True):
            yield pl.Series(values, dtype=pl.String)

    def _refuse(self, number: int, n_values: int) -> NoReturn:
        expected = len(self._attributes)
        raise FileError(
            self._path, f"line {number} has {n_values} values where {expected} are declared"
        )

    def _typed(self, c: int, values: pl.Series, numbers: NDArray[np.int64]) -> pl.Series:
        attribute = self._attributes[c]
        if attribute.kind == "text":
            return values
        if attribute.kind == "nominal":
            typed = values.cast(self._enums[c], strict=False)  # type: ignore[arg-type]
            wrong = "is not a declared label"
        else:
            typed = values.cast(pl.Int64, strict=False)
            wrong = "is not a whole number"
            if attribute.kind == "numeric" and typed.null_count() > values.null_count():
                typed = values.cast(pl.Float64, strict=False)
                wrong = "is not a number"
        if typed.null_count() > values.null_count():
            k = int((typed.is_null() & values.is_not_null()).arg_max() or 0)
            raise FileError(
                self._path,
                f"line {numbers[k]}: {values[k]!r} {wrong} of attribute {attribute.name!r}",
            )
        return typed

    def finish(self) -> pl.DataFrame:
        """Return the frame of all rows."""
        columns = []
        for attribute, chunks in zip(self._attributes, self._columns, strict=True):
            if any(chunk.dtype == pl.Float64 for chunk in chunks):
                chunks = [chunk.cast(pl.Float64) for chunk in chunks]
            columns.append(pl.concat(chunks).alias(attribute.name))
        return pl.DataFrame(columns)
