"""A CSV file as Polars reads it: its dialect, the types of its columns, its batches of records.

Types are inferred from the first records and then hold for all. A column that turns out not to fit
is given the narrowest type that fits all of it, and the file is read again.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.csv.lines import Dialect, drop_blank_lines, find_bad_text, survey_lines
from tacit.io.opening import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike

__all__ = ["CsvFile", "CsvForm", "fit_counts", "fitting_types", "wider_types"]

_INFERRED = 10_000  # records that types are inferred from
_WIDTH = {pl.Boolean: 0, pl.Int64: 0, pl.Float64: 1, pl.String: 2}


@dataclass(frozen=True)
class CsvForm:
    """How the records of CSV text are to be read, wherever in a file they are.

    Attributes
    ----------
    separator, eol : str
    quote : str or None
    strip : bool
        Whether white space around values is to be dropped.
    nulls : tuple of str
        Texts that mean missing, besides the empty one.
    names : tuple of str
        Of all columns.
    """

    separator: str
    quote: str | None
    eol: str
    strip: bool
    nulls: tuple[str, ...]
    names: tuple[str, ...]

    def scan(self, source: Any, **options: Any) -> pl.LazyFrame:
        """Let Polars scan a file, or text."""
        return pl.scan_csv(
            source,
            separator=self.separator,
            quote_char=self.quote,
            eol_char=self.eol,
            null_values=None if self.strip else list(self.nulls),
            glob=False,
            **options,
        )

    def bare(self, texts: pl.LazyFrame) -> pl.LazyFrame:
        """Drop white space around values; what is nothing then is missing."""
        bare = texts.select(pl.all().str.strip_chars(" \t"))
        null = pl.all().is_in(["", *self.nulls])
        return bare.select(pl.when(~null).then(pl.all()))

    def typed(self, bare: pl.LazyFrame, types: Mapping[str, Any]) -> pl.LazyFrame:
        """Turn text that is :meth:`bare` into values."""
        return bare.select(
            pl.col(name).str.to_lowercase() == "true"
            if dtype == pl.Boolean
            else pl.col(name).cast(dtype)
            for name, dtype in types.items()
        )

    def parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        """Read the records of a text without a header as some of the columns.

        Parameters
        ----------
        data : bytes
            Begins and ends where records do.
        types : mapping of str to Polars types
            Of the columns to read.

        Raises
        ------
        RaggedError
            If a line has too few or too many fields.
        """
        last = self.names[-1]  # where it is missing, the line may be short or blank
        wanted = dict(types) if last in types else {**types, last: pl.String}
        fine: pl.DataFrame | None = None
        problem: BaseException | None = None
        try:
            fine = self._parse(data, wanted)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            problem = error
        if len(self.names) > 1 and (fine is None or fine.get_column(last).null_count()):
            dialect = Dialect(self.separator, self.quote, self.eol)
            kept = drop_blank_lines(data, dialect, len(self.names))
            if kept is not data:
                return self._parse(kept, wanted).select(list(types))
        if fine is None:
            assert problem is not None
            raise problem
        return fine.select(list(types))

    def _parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        if not data:
            return pl.DataFrame(schema=dict(types))
        every: dict[str, Any] = dict.fromkeys(self.names, pl.String)
        if not self.strip:
            every.update(types)
        lazy = self.scan(data, has_header=False, schema=every).select(list(types))
        return (self.typed(self.bare(lazy), types) if self.strip else lazy).collect()


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
        nulls = [null_values] if isinstance(null_values, str) else list(null_values or [])
        self.dialect = self._sniff(separator[0], quote)
        eol = self.dialect.eol
        self.form = CsvForm(separator[0], quote, eol, self._strip, tuple(nulls), ())
        try:
            found = self._scan(infer_schema_length=_INFERRED).collect_schema()
            self._raw = found.names()
            self.names = self._name(names)
            self.form = replace(self.form, names=tuple(self.names))
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
        return self.form.scan(
            self.plain, has_header=self._header, skip_lines=self.dialect.blank_lines, **options
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
            for _ in range(self.dialect.blank_lines):
                file.readline()
            quote = self.dialect.quote
            lines = csv.reader(
                file,
                delimiter=self.dialect.separator,
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

    def _texts(self, n_rows: int | None = None) -> pl.LazyFrame:
        """All columns as strings, under their final names; of the first records, if so many."""
        texts = self._scan(infer_schema=False, n_rows=n_rows)
        texts = texts.select(pl.col(r).alias(n) for r, n in zip(self._raw, self.names, strict=True))
        return self.form.bare(texts) if self._strip else texts

    def lazy(self) -> pl.LazyFrame:
        """All columns in their types, under their final names."""
        if not self._strip:
            renamed = list(zip(self._raw, self.names, strict=True))
            types = {raw: self.schema[name] for raw, name in renamed}
            typed = self._scan(infer_schema=False, schema_overrides=types)
            return typed.select(pl.col(raw).alias(name) for raw, name in renamed)
        return self.form.typed(self._texts(), self.schema)

    def silent(self) -> set[str]:
        """Return the columns that have no value among the records that types were inferred from."""
        names = [name for name, dtype in self.schema.items() if dtype == pl.String]
        if not names:
            return set()
        try:
            counts = self._texts(_INFERRED).select(pl.col(names).count()).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self._explain(error)
        return {name for name in names if not counts.get_column(name).item()}

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
        n_lines, blank = survey_lines(self.path, self.plain, self.dialect, len(self.names))
        before = self.dialect.blank_lines + self._header
        blank = blank - before
        return n_lines - before, blank[blank >= 0]

    def widen(self, error: BaseException) -> None:
        """After an error: give columns that do not fit wider types, or say what is wrong."""
        narrow = [name for name, dtype in self.schema.items() if dtype != pl.String]
        try:
            fitting = _fit(self._texts(), narrow) if narrow else {}
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as other:
            self._explain(other)
        wider = wider_types(self.schema, fitting)
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
            survey_lines(self.path, self.plain, self.dialect, n_fields)
        raise FileError(self.path, f"cannot be read as CSV: {first_line(error)}") from error


def _fit(texts: pl.LazyFrame, names: list[str]) -> dict[str, Any]:
    """Return the narrowest type that all values of each column fit."""
    return fitting_types(fit_counts(texts, names))


def fit_counts(texts: pl.LazyFrame, names: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Count, for each column, its values and those that are flags, whole numbers and numbers."""
    checks = []
    for name in names:
        text = pl.col(name).str.strip_chars_start(" ")  # as Polars does in CSV
        whole = text.cast(pl.Int64, strict=False).is_not_null()
        real = text.cast(pl.Float64, strict=False).is_finite() & ~text.str.contains(r"^[+-]?\d+$")
        flag = text.str.contains(r"^(?i:true|false)$")
        sums = [pl.col(name).is_not_null(), flag, whole, whole | real.fill_null(False)]
        checks.append(pl.struct(x.sum().alias(str(k)) for k, x in enumerate(sums)).alias(name))
    found = texts.select(checks).collect(engine="streaming").row(0, named=True)
    return {name: np.array(list(own.values()), np.int64) for name, own in found.items()}


def fitting_types(counts: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Return the narrowest type that all values of each column fit."""
    types: dict[str, Any] = {}
    for name, (n, flags, wholes, numbers) in counts.items():
        fits = ((flags, pl.Boolean), (wholes, pl.Int64), (numbers, pl.Float64))
        types[name] = next((t for count, t in fits if n and count == n), pl.String)
    return types


def wider_types(types: Mapping[str, Any], fitting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types of the columns that have to be given wider ones."""
    return {n: t for n, t in fitting.items() if _WIDTH[t] > _WIDTH[types[n]]}
