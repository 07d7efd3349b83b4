"""CSV files as Tables and as frames: the types of their columns, their batches of records.

Types are inferred from the first records and then hold for all. A column that turns out not to fit
is given the narrowest type that fits all of it, and the file is read again.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.csv.sniff import CsvOptions, find_layout, in_utf8, read_head, say
from tacit.io.csv.text import CsvFormat, check_lines, check_utf8, explain
from tacit.io.csv.types import WIDTHS, count_fits, fitting_types, wider_types
from tacit.io.opening import POLARS_ERRORS, first_line, naming, on_disk
from tacit.io.tabular import TabularFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike
    from tacit.table import Table

__all__ = ["CsvFile", "open_csv", "read_csv"]

_INFERRED = 10_000  # records that types are inferred from


class CsvFile(TabularFile):
    """One CSV file, whose text is in `plain`; options as for :func:`read_csv`."""

    def __init__(
        self, path: PathLike, plain: Path, options: CsvOptions, encoding: str = "utf-8"
    ) -> None:
        super().__init__(path, plain)
        with plain.open("rb") as file:
            head, complete = read_head(file)
        layout = find_layout(path, head, complete, options)
        say(path, encoding, layout, options)
        self.header = layout.header
        self._strip = layout.separator[1:] != ""
        nulls = options.null_values
        self.format = CsvFormat(
            layout.separator[0],
            layout.quote,
            layout.eol,
            layout.skip_lines,
            self._strip,
            (nulls,) if isinstance(nulls, str) else tuple(nulls or ()),
            decimal=layout.decimal,
        )
        names = options.names
        self._raw: list[str] = []
        try:
            inferred = self._scan(infer_schema_length=_INFERRED).collect_schema()
            self._raw = inferred.names()
            self.names = self._name(names)
            self.format = replace(self.format, names=tuple(self.names))
            if self._strip:
                types = fitting_types(
                    count_fits(self._texts().head(_INFERRED), self.names, self.format.decimal)
                )
            else:  # whole numbers beyond 64 bits are names, not numbers
                known = [t if t in WIDTHS else pl.String for t in inferred.dtypes()]
                types = dict(zip(self.names, known, strict=True))
        except POLARS_ERRORS as error:
            self._explain(error)
        self.schema = types

    def _scan(self, **options: Any) -> pl.LazyFrame:
        return self.format.scan(
            self.plain, has_header=self.header, skip_lines=self.format.skip_lines, **options
        )

    def _name(self, names: Sequence[str] | None) -> list[str]:
        if names is not None:
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise InputError("names must be a sequence of strings")
            if len(names) != len(self._raw):
                raise InputError(f"names: {len(names)} for {len(self._raw)} columns")
            chosen = list(names)
        elif not self.header:
            return [str(k) for k in range(len(self._raw))]
        else:
            chosen = [name.strip() for name in self._raw] if self._strip else list(self._raw)
            self._refuse_repeats()
        twice = next((name for name, times in Counter(chosen).items() if times > 1), None)
        if twice is not None:
            raise InputError(f"column names must be distinct, but {twice!r} occurs twice")
        return chosen

    def _refuse_repeats(self) -> None:
        """Polars renames a column whose name occurs twice; that is not for us to do in silence."""
        with self.plain.open(encoding="utf-8-sig", newline="") as file:
            for _ in range(self.format.skip_lines):
                file.readline()
            quote = self.format.quote
            lines = csv.reader(
                file,
                delimiter=self.format.separator,
                quotechar=quote,
                quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
            )
            try:
                names = Counter(next(lines))
            except UnicodeDecodeError:
                check_utf8(self.path, self.plain)
                raise
            except (csv.Error, StopIteration):
                return  # whatever is wrong, Polars has its say
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise FileError(self.path, f"the header names column {twice!r} twice; give names=…")

    def _texts(self, n_rows: int | None = None) -> pl.LazyFrame:
        """All columns as strings, under their final names; of the first records, if so many."""
        texts = self._scan(infer_schema=False, n_rows=n_rows)
        texts = texts.select(pl.col(r).alias(n) for r, n in zip(self._raw, self.names, strict=True))
        return self.format.bare(texts) if self._strip else texts

    def lazy(self) -> pl.LazyFrame:
        """All columns in their types, under their final names."""
        if not self._strip:
            renamed = list(zip(self._raw, self.names, strict=True))
            types = {raw: self.schema[name] for raw, name in renamed}
            typed = self._scan(infer_schema=False, schema_overrides=types)
            return typed.select(pl.col(raw).alias(name) for raw, name in renamed)
        return self.format.typed(self._texts(), self.schema)

    def without_values(self) -> set[str]:
        """Return the columns that have no value among the records that types were inferred from."""
        names = [name for name, dtype in self.schema.items() if dtype == pl.String]
        if not names:
            return set()
        try:
            counts = self._texts(_INFERRED).select(pl.col(names).count()).collect()
        except POLARS_ERRORS as error:
            self._explain(error)
        return {name for name in names if not counts.get_column(name).item()}

    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        """Read some columns, about `size` records at a time; blank lines are no records."""
        lazy = self.lazy().select(self._with_last(columns))
        frames = lazy.collect_batches(chunk_size=size, lazy=True, engine="streaming")
        return self._without_blank_lines(frames, columns)

    def whole(self, columns: list[str]) -> pl.DataFrame:
        """Read some columns of all records."""
        frame = self.lazy().select(self._with_last(columns)).collect(engine="streaming")
        return pl.concat(self._without_blank_lines([frame], columns))

    def _with_last(self, columns: list[str]) -> list[str]:
        """Return columns and the last one: where it is missing, a line may be short or blank."""
        last = self.names[-1]
        return columns if last in columns else [*columns, last]

    def _without_blank_lines(
        self, frames: Iterable[pl.DataFrame], columns: list[str]
    ) -> Iterator[pl.DataFrame]:
        """Give the columns of frames; refuse lines that are short or long."""
        last = self.names[-1]
        row, n_rows = 0, None
        blank = np.zeros(0, np.int64)
        for frame in frames:
            height = frame.height
            if n_rows is None and len(self.names) > 1 and frame.get_column(last).null_count():
                n_rows, blank = self._check_lines()
            dropped = blank[slice(*np.searchsorted(blank, [row, row + height]))] - row
            row += height
            if len(dropped):
                kept = np.ones(height, np.bool_)
                kept[dropped] = False
                frame = frame.filter(kept)
            yield frame.select(columns)
        if n_rows is not None and n_rows != row:
            raise FileError(self.path, "has quotes that do not pair, so that its lines are unclear")

    def _check_lines(self) -> tuple[int, NDArray[np.int64]]:
        n_lines, blank = check_lines(self.path, self.plain, self.format, len(self.names))
        blank = blank - self.header
        return n_lines - self.header, blank[blank >= 0]

    def widen(self, error: BaseException) -> None:
        """After an error: give columns that do not fit wider types, or say what is wrong."""
        narrow = [name for name, dtype in self.schema.items() if dtype != pl.String]
        try:
            fitting = self._fitting(narrow)
        except POLARS_ERRORS as other:
            self._explain(other)
        wider = wider_types(self.schema, fitting)
        if not wider and (match := re.search(r"\(column number (\d+)\)", str(error))):
            name = self.names[int(match[1]) - 1]
            if name in narrow:
                wider = {name: pl.String}
        if not wider:
            self._explain(error)
        self.schema.update(wider)

    def _fitting(self, narrow: list[str]) -> dict[str, Any]:
        """Return the narrowest types that all values of columns fit."""
        if not narrow:
            return {}
        return fitting_types(count_fits(self._texts(), narrow, self.format.decimal))

    def _explain(self, error: BaseException) -> NoReturn:
        """Raise a FileError that says more than Polars does, where more can be told."""
        problem = f"cannot be read as CSV: {first_line(error)}"
        explain(self.path, self.plain, self.format, len(self._raw), problem)


def read_csv(
    path: PathLike,
    *,
    separator: str | None = None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    null_values: str | Sequence[str] | None = None,
    quote: str | None = "auto",
    decimal: str | None = None,
    encoding: str | None = None,
    skip_lines: int | None = None,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    kinds: Mapping[Any, str] | None = None,
    chunk_records: int | None = None,
    n_jobs: int | None = -1,
) -> Table:
    r"""Read a CSV file, of any size, into a Table.

    Whole numbers, real numbers, ``true`` and ``false`` become what they are, everything else is
    text. A type holds for all of a column: one that is not a number once is text throughout.
    Numbers that are not cut (see `discretise`) are labels as they are. Blank lines are skipped,
    but in a file of one column they are missing values.

    What is not said of the text is found in its first 64 kB. Where that is not plain CSV, it is
    said in the log of :mod:`logging` called "tacit.io" (level INFO; commands print it):

    - Values are separated by commas, unless all lines have the same number of semicolons, tabs or
      bars and not of commas, or commas in numbers only. If a blank follows every separator, white
      space around values is dropped.
    - Quotes are double, unless there are only single ones, and these around whole values.
    - Numbers have commas where some do, none has a point and values are not separated by commas.
    - The text is UTF-8 or, with its mark, UTF-16; what cannot be UTF-8 is Latin-1.
    - The first line is a header if a name in it stands above numbers. It is none if, in more than
      half of the columns, it has a number above numbers or a text that the column has again;
      numbers at equal distances, such as 0, 1, 2, are names (just two only if they follow each
      other), unless beside a text that the column has again. A single column has a header.
    - A first line that begins with ``|``, ``#`` or ``%`` and has no separator is a comment.

    Parameters
    ----------
    path : path-like
        May be compressed: .gz, .bz2, .xz, .zip with one file in it, .zst from Python 3.14 on.
    separator : str, optional
        One character. Blanks after it, as in ``", "``, drop white space around all values.
    header : bool, optional
        Whether the first line names the columns. Else they are called "0", "1", …
    names : sequence of str, optional
        Names of all columns of the file, instead.
    null_values : str or sequence of str, optional
        Texts that mean missing. An empty field always does.
    quote : str or None, default "auto"
        The quoting character; a line may break between quotes. None if there is none.
    decimal : {".", ","}, optional
        What stands in real numbers.
    encoding : str, optional
        As Python calls it, such as "utf-8" or "latin-1".
    skip_lines : int, optional
        Lines to pass over at the beginning.
    columns : sequence of str, optional
        The columns to read, in this order; all by default.
    defaults, weights, missing, discretise, target, kinds
        As for :class:`tacit.Table`. Cut points are those of the whole file.
    chunk_records : int, optional
        Records to hold in memory at a time, besides the Table. The result does not depend on it.
    n_jobs : int, default -1
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        If the file cannot be read in full.

    Examples
    --------
    >>> import pathlib, tempfile, tacit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "weather.csv"
    ...     _ = path.write_text("sky,rain\nblue,0\ngrey,1\ngrey,0\n")
    ...     table = tacit.read_csv(path)
    >>> table.one_way()["sky"]
    {'blue': 1, 'grey': 2}
    """
    with open_csv(
        path, separator=separator, header=header, names=names, null_values=null_values, quote=quote,
        decimal=decimal, encoding=encoding, skip_lines=skip_lines,
    ) as file:  # fmt: skip
        return file.table(
            columns, defaults, weights, missing, discretise, target, kinds, chunk_records, n_jobs
        )


@contextmanager
def open_csv(path: PathLike, **text: Any) -> Iterator[CsvFile]:
    """Open a CSV file, in whichever encoding; options as those of :class:`CsvOptions`."""
    options = CsvOptions(**text)
    with (
        naming(path),
        on_disk(path) as raw,
        in_utf8(path, raw, options.encoding) as (plain, encoding),
    ):
        yield CsvFile(path, plain, options, encoding)
