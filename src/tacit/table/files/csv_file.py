"""A CSV file as Polars reads it: its dialect, the types of its columns, its batches of records.

Types are inferred from the first records and then hold for all. A column that turns out not to fit
is given the narrowest type that fits all of it, and the file is read again.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError, InputError
from tacit.table.files.compressed import first_line
from tacit.table.files.ragged import Dialect, find_bad_text, survey_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.table.files.compressed import PathLike

__all__ = ["CsvFile"]

_INFERRED = 10_000  # records that types are inferred from
_WIDTH = {pl.Boolean: 0, pl.Int64: 0, pl.Float64: 1, pl.String: 2}


class CsvFile:
    """One CSV file.

    Parameters
    ----------
    path, plain : path-like
        What to call the file, and where its text is.
    separator : str
        One character, and blanks after it if white space around values is to be dropped.
    header : bool
        Whether the first line holds the names.
    names : sequence of str, optional
        Names to use instead.
    null_values : str or sequence of str, optional
        Texts that mean missing, besides the empty one.
    quote : str, optional
        The quoting character.
    """

    def __init__(
        self,
        path: PathLike,
        plain: Path,
        separator: str,
        header: bool,
        names: Sequence[str] | None,
        null_values: str | Sequence[str] | None,
        quote: str | None,
    ) -> None:
        self.path, self.plain, self._header = path, plain, header
        self._strip = separator[1:] != ""
        self._nulls = [null_values] if isinstance(null_values, str) else list(null_values or [])
        self._dialect = self._sniff(separator[0], quote)
        try:
            found = self._scan(infer_schema_length=_INFERRED).collect_schema()
            self._raw = found.names()
            self.names = self._name(names)
            if self._strip:
                types = _fit(self._texts().head(_INFERRED), self.names)
            else:  # whole numbers beyond 64 bits are names, not numbers
                fine = [t if t in _WIDTH else pl.String for t in found.dtypes()]
                types = dict(zip(self.names, fine, strict=True))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self._explain(error)
        self.schema: dict[str, Any] = types

    def _sniff(self, separator: str, quote: str | None) -> Dialect:
        with self.plain.open("rb") as file:
            head = file.read(1 << 16)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise FileError(self.path, "is UTF-16 text; save it as UTF-8")
        if b"\x00" in head:
            raise FileError(self.path, "is not a text file: it holds zero bytes")
        eol = "\r" if b"\r" in head and b"\n" not in head else "\n"
        lines = head.removeprefix(b"\xef\xbb\xbf").split(eol.encode())
        blank = next((k for k, line in enumerate(lines) if line.strip()), None)
        if blank is None:
            raise FileError(self.path, "is empty: it holds blank lines only")
        return Dialect(separator, quote, eol, blank)

    def _scan(self, **options: Any) -> pl.LazyFrame:
        return pl.scan_csv(
            self.plain,
            has_header=self._header,
            separator=self._dialect.separator,
            quote_char=self._dialect.quote,
            eol_char=self._dialect.eol,
            skip_lines=self._dialect.blank_lines,
            null_values=None if self._strip else self._nulls,
            glob=False,
            **options,
        )

    def _name(self, names: Sequence[str] | None) -> list[str]:
        if names is not None:
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise InputError("names must be a sequence of strings")
            if len(names) != len(self._raw):
                raise InputError(f"names: {len(names)} for {len(self._raw)} columns")
            found = list(names)
        elif not self._header:
            return [str(k) for k in range(len(self._raw))]
        else:
            found = [name.strip() for name in self._raw] if self._strip else list(self._raw)
            self._refuse_repeats()
        twice = next((name for name, times in Counter(found).items() if times > 1), None)
        if twice is not None:
            raise InputError(f"column names must be distinct, but {twice!r} occurs twice")
        return found

    def _refuse_repeats(self) -> None:
        """Polars renames a column whose name occurs twice; that is not for us to do in silence."""
        with self.plain.open(encoding="utf-8-sig", newline="") as file:
            for _ in range(self._dialect.blank_lines):
                file.readline()
            quote = self._dialect.quote
            lines = csv.reader(
                file,
                delimiter=self._dialect.separator,
                quotechar=quote,
                quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
            )
            try:
                names = Counter(next(lines))
            except UnicodeDecodeError:
                find_bad_text(self.path, self.plain)
                raise
            except (csv.Error, StopIteration):
                return  # whatever is wrong, Polars has its say
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice is not None:
            raise FileError(self.path, f"the header names column {twice!r} twice; give names=…")

    def _texts(self) -> pl.LazyFrame:
        """All columns as strings, under their final names."""
        texts = self._scan(infer_schema=False)
        columns = [pl.col(r).alias(n) for r, n in zip(self._raw, self.names, strict=True)]
        if not self._strip:
            return texts.select(columns)
        bare = texts.select(column.str.strip_chars(" \t") for column in columns)
        null = pl.all().is_in(["", *self._nulls])
        return bare.select(pl.when(~null).then(pl.all()))

    def lazy(self) -> pl.LazyFrame:
        """All columns in their types, under their final names."""
        if not self._strip:
            renamed = list(zip(self._raw, self.names, strict=True))
            types = {raw: self.schema[name] for raw, name in renamed}
            typed = self._scan(infer_schema=False, schema_overrides=types)
            return typed.select(pl.col(raw).alias(name) for raw, name in renamed)
        return self._texts().select(
            pl.col(name).str.to_lowercase() == "true"
            if dtype == pl.Boolean
            else pl.col(name).cast(dtype)
            for name, dtype in self.schema.items()
        )

    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        """Read some columns, about `size` records at a time; blank lines are no records."""
        last = self.names[-1]  # where it is missing, the line may be short or blank
        wanted = columns if last in columns else [*columns, last]
        row, n_rows = 0, None
        blank = np.zeros(0, np.int64)
        lazy = self.lazy().select(wanted)
        for frame in lazy.collect_batches(chunk_size=size, lazy=True, engine="streaming"):
            height = frame.height
            if n_rows is None and len(self.names) > 1 and frame.get_column(last).null_count():
                n_rows, blank = self._survey()
            own = blank[slice(*np.searchsorted(blank, [row, row + height]))] - row
            row += height
            if len(own):
                kept = np.ones(height, np.bool_)
                kept[own] = False
                frame = frame.filter(kept)
            yield frame.select(columns)
        if n_rows is not None and n_rows != row:
            raise FileError(self.path, "has quotes that do not pair, so that its lines are unclear")

    def _survey(self) -> tuple[int, NDArray[np.int64]]:
        n_lines, blank = survey_lines(self.path, self.plain, self._dialect, len(self.names))
        before = self._dialect.blank_lines + self._header
        blank = blank - before
        return n_lines - before, blank[blank >= 0]

    def widen(self, error: BaseException) -> None:
        """After an error: give columns that do not fit wider types, or say what is wrong."""
        narrow = [name for name, dtype in self.schema.items() if dtype != pl.String]
        try:
            fitting = _fit(self._texts(), narrow) if narrow else {}
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as other:
            self._explain(other)
        wider = {n: t for n, t in fitting.items() if _WIDTH[t] > _WIDTH[self.schema[n]]}
        if not wider and (found := re.search(r"\(column number (\d+)\)", str(error))):
            name = self.names[int(found[1]) - 1]
            if name in narrow:
                wider = {name: pl.String}
        if not wider:
            self._explain(error)
        self.schema.update(wider)

    def _explain(self, error: BaseException) -> NoReturn:
        """Raise a FileError that says more than Polars does, where more can be found."""
        find_bad_text(self.path, self.plain)
        if (n_fields := len(getattr(self, "_raw", ()))) > 1:
            survey_lines(self.path, self.plain, self._dialect, n_fields)
        raise FileError(self.path, f"cannot be read as CSV: {first_line(error)}") from error


def _fit(texts: pl.LazyFrame, names: list[str]) -> dict[str, Any]:
    """Return the narrowest type that all values of each column fit."""
    checks = []
    for name in names:
        text = pl.col(name).str.strip_chars_start(" ")  # as Polars does in CSV
        whole = text.cast(pl.Int64, strict=False).is_not_null()
        real = text.cast(pl.Float64, strict=False).is_finite() & ~text.str.contains(r"^[+-]?\d+$")
        flag = text.str.contains(r"^(?i:true|false)$")
        sums = [pl.col(name).is_not_null(), flag, whole, whole | real.fill_null(False)]
        checks.append(pl.struct(x.sum().alias(str(k)) for k, x in enumerate(sums)).alias(name))
    types: dict[str, Any] = {}
    for name, counts in texts.select(checks).collect(engine="streaming").row(0, named=True).items():
        n, flags, wholes, numbers = counts.values()
        fits = ((flags, pl.Boolean), (wholes, pl.Int64), (numbers, pl.Float64))
        types[name] = next((t for count, t in fits if n and count == n), pl.String)
    return types
