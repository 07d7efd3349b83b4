"""CSV text: where its lines end, which have too few or too many fields, how records are read.

Polars fills a line that is too short with missing values, and takes an empty line for a record of
them. So fields are counted where that may have happened, and to say which line is wrong.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError
from tacit.io.opening import POLARS_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike

__all__ = [
    "CsvFormat",
    "Dialect",
    "RaggedError",
    "check_lines",
    "check_utf8",
    "drop_blank_lines",
    "explain",
    "lines_end",
    "next_record",
]

_BLOCK = 1 << 24
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Dialect:
    """How the text of a CSV file is laid out."""

    separator: str = ","
    quote: str | None = '"'
    eol: str = "\n"
    skip_lines: int = 0  # before the header, or the first record

    def ends(self, data: bytes, inside: bool = False) -> tuple[NDArray[np.bool_], bool]:
        """Return which bytes are ends of records, and whether the text ends between quotes.

        Whether it begins between quotes, `inside` says. There is at least one byte.
        """
        array = np.frombuffer(data, np.uint8)
        ends: NDArray[np.bool_] = array == ord(self.eol)
        if self.quote is not None:
            # A quote within quotes is doubled, so that their number tells inside from outside.
            quoted = np.cumsum(array == ord(self.quote), dtype=np.uint8) + np.uint8(inside)
            ends &= (quoted & 1) == 0
            inside = bool(quoted[-1] & 1)
        return ends, inside


def check_lines(
    path: PathLike, plain: Path, dialect: Dialect, n_fields: int
) -> tuple[int, NDArray[np.int64]]:
    """Return the number of a file's lines, a quoted line end being none, and those that are blank.

    Lines that are skipped do not count. Refuses other lines that do not have `n_fields` fields; at
    least 2. The text is in `plain`.
    """
    blank: list[int] = []
    n_lines, physical = 0, dialect.skip_lines
    rest = b""
    with plain.open("rb") as file:
        file.seek(lines_end(file, dialect))
        while block := file.read(_BLOCK):
            data = rest + block
            ends, fields, inner = _count(data, dialect)
            for k in np.flatnonzero(fields != n_fields).tolist():
                start, before = (int(ends[k - 1]) + 1, int(inner[k - 1])) if k else (0, 0)
                if data[start : ends[k]].strip():
                    at = physical + k + before + 1
                    raise FileError(path, _complaint(at, int(fields[k]), n_fields))
                blank.append(n_lines + k)
            if len(ends):
                rest = data[int(ends[-1]) + 1 :]
                physical += len(ends) + int(inner[-1])
                n_lines += len(ends)
            else:
                rest = data
    if not rest:
        return n_lines, np.array(blank, np.int64)
    closed = rest + dialect.eol.encode()
    ends, fields, _ = _count(closed, dialect)
    if not len(ends):
        raise FileError(path, f"line {physical + 1} opens a quote that is never closed")
    if fields[0] != n_fields:
        if rest.strip():
            raise FileError(path, _complaint(physical + 1, int(fields[0]), n_fields))
        blank.append(n_lines)
    return n_lines + 1, np.array(blank, np.int64)


class RaggedError(ValueError):
    """A line has too few or too many fields."""


def drop_blank_lines(data: bytes, dialect: Dialect, n_fields: int) -> bytes:
    """Return text, which begins and ends where lines do, without its blank lines.

    It is the same object where there are none. Raises RaggedError if another line does not have
    `n_fields` fields; at least 2.
    """
    closed = data if data.endswith(dialect.eol.encode()) else data + dialect.eol.encode()
    ends, fields, _ = _count(closed, dialect)
    odd = np.flatnonzero(fields != n_fields)
    if not len(odd):
        return data
    starts = np.concatenate(([0], ends[:-1] + 1))
    for k in odd.tolist():
        if closed[starts[k] : ends[k]].strip():
            raise RaggedError(_complaint(k + 1, int(fields[k]), n_fields))
    kept = np.ones(len(ends), np.bool_)
    kept[odd] = False
    spans = zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)
    return b"".join(closed[a : b + 1] for a, b in spans)


def _complaint(line: int, fields: int, n_fields: int) -> str:
    return f"line {line} has {fields} field{'s'[: fields != 1]} where {n_fields} are expected"


def _count(
    data: bytes, dialect: Dialect
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return where lines end, their numbers of fields, and the quoted line ends before each end."""
    array = np.frombuffer(data, np.uint8)
    ends = array == ord(dialect.eol)
    separators = array == ord(dialect.separator)
    inner = np.zeros(0, np.int64)
    if dialect.quote is not None and dialect.quote.encode() in data:
        # A quote within quotes is doubled, so that their number tells inside from outside.
        inside = np.cumsum(array == ord(dialect.quote), dtype=np.uint8) & 1
        inner = np.flatnonzero(ends & (inside == 1))
        ends &= inside == 0
        separators &= inside == 0
    positions = np.flatnonzero(ends)
    fields = np.diff(np.searchsorted(np.flatnonzero(separators), positions), prepend=0) + 1
    return positions, fields, np.searchsorted(inner, positions)


def check_utf8(path: PathLike, plain: Path) -> None:
    """Raise an error that says on which line a file stops being UTF-8, if it does."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with plain.open("rb") as file:
        while True:
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                line += block[: max(0, error.start - (len(error.object) - len(block)))].count(b"\n")
                raise FileError(
                    path, f"line {line} is not UTF-8 text; say encoding=… if it is another one"
                ) from None
            if not block:
                return
            line += block.count(b"\n")


def explain(path: PathLike, plain: Path, dialect: Dialect, n_fields: int, problem: str) -> NoReturn:
    """Raise an error that names the line which is wrong, if it can be told, or else `problem`."""
    check_utf8(path, plain)
    if n_fields > 1:
        check_lines(path, plain, dialect, n_fields)
    raise FileError(path, problem)


def next_record(file: IO[bytes], position: int, inside: bool, dialect: Dialect) -> int:
    """Return where the first record begins after a position, or where the file ends.

    Whether the position is between quotes, `inside` says.
    """
    file.seek(position)
    while block := file.read(_SAMPLE):
        ends, inside = dialect.ends(block, inside)
        if ends.any():
            return position + int(np.argmax(ends)) + 1
        position += len(block)
    return position


def lines_end(file: IO[bytes], dialect: Dialect) -> int:
    """Return where the lines end that are skipped, and the byte order mark."""
    file.seek(0)
    position = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
    for _ in range(dialect.skip_lines):
        position = next_record(file, position, False, replace(dialect, quote=None))
    return position


@dataclass(frozen=True)
class CsvFormat(Dialect):
    """How the records of CSV text are to be read, wherever in a file they are."""

    strip: bool = False  # whether white space around values is to be dropped
    nulls: tuple[str, ...] = ()  # texts that mean missing, besides the empty one
    names: tuple[str, ...] = ()  # of all columns
    decimal: str = "."
    encoding: str = "utf-8"  # of ranges of bytes: one that has ASCII in it

    def scan(self, source: Any, **options: Any) -> pl.LazyFrame:
        """Let Polars scan a file, or text."""
        return pl.scan_csv(
            source,
            separator=self.separator,
            quote_char=self.quote,
            eol_char=self.eol,
            null_values=None if self.strip else list(self.nulls),
            decimal_comma=self.decimal == ",",
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
            else self.with_points(pl.col(name), dtype).cast(dtype)
            for name, dtype in types.items()
        )

    def with_points(self, text: pl.Expr, dtype: Any) -> pl.Expr:
        """Return text of numbers with points in it."""
        commas = self.decimal == "," and dtype == pl.Float64
        return text.str.replace(",", ".", literal=True) if commas else text

    def parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        """Read whole records without a header as columns of the given types.

        Raises RaggedError if a line has too few or too many fields.
        """
        if self.encoding != "utf-8":
            data = data.decode(self.encoding).encode()
        last = self.names[-1]  # where it is missing, the line may be short or blank
        wanted = dict(types) if last in types else {**types, last: pl.String}
        frame: pl.DataFrame | None = None
        problem: BaseException | None = None
        try:
            frame = self._parse(data, wanted)
        except POLARS_ERRORS as error:
            problem = error
        if len(self.names) > 1 and (frame is None or frame.get_column(last).null_count()):
            kept = drop_blank_lines(data, self, len(self.names))
            if kept is not data:
                return self._parse(kept, wanted).select(list(types))
        if frame is None:
            assert problem is not None
            raise problem
        return frame.select(list(types))

    def _parse(self, data: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        if not data:
            return pl.DataFrame(schema=dict(types))
        every: dict[str, Any] = dict.fromkeys(self.names, pl.String)
        if not self.strip:
            every.update(types)
        lazy = self.scan(data, has_header=False, schema=every).select(list(types))
        return (self.typed(self.bare(lazy), types) if self.strip else lazy).collect()
