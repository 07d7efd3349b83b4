"""CSV files: ranges of bytes as pieces, cut where records begin.

A line may break between quotes, so where a record begins is known only once the quotes before are
counted. That is a pass of its own over the bytes: ranges are counted wherever they are read, and
each border is then moved on to the next line end outside quotes.
"""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError
from tacit.scale.files.memory import frame_width, has_heap, record_width
from tacit.scale.files.version import Version
from tacit.table.files.compressed import first_line, is_compressed, on_disk, opened
from tacit.table.files.csv_file import CsvFile, CsvForm
from tacit.table.files.ragged import Dialect, RaggedError, find_bad_text, survey_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.scale.files.pieces import How
    from tacit.statistic import Partition

__all__ = [
    "ByteCounter",
    "ByteRange",
    "Bytes",
    "CsvRange",
    "TextFile",
    "UnfitError",
    "cut_ranges",
    "count_of",
]

_BLOCK = 1 << 20
_HEAD = 1 << 22  # bytes of a file, to see what it holds
_SAMPLE = 1 << 16


class UnfitError(FileError):
    """A value does not fit the type of its column, as far as one can tell."""


@dataclass(frozen=True)
class Bytes:
    """What a range of bytes holds: its length, its quotes and its line ends."""

    n_bytes: int
    n_quotes: int
    n_lines: int


@dataclass(frozen=True)
class ByteRange:
    """Bytes of a file, wherever they begin; all of them if it is compressed."""

    path: str
    version: Version
    quote: str | None
    eol: str
    start: int
    stop: int
    compressed: bool = False
    load_bytes: int = 2 * _BLOCK
    kept_bytes: int = 0

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return f"{self.path}, {_place(self)}"

    @property
    def disk_bytes(self) -> int:
        """What reading it takes from a disk."""
        return self.version.size if self.compressed else self.stop - self.start


class ByteCounter:
    """The reader of the pass that counts quotes and line ends."""

    def load(self, piece: ByteRange, n_jobs: int) -> Bytes:
        """Count those of a range."""
        piece.version.check(piece.path)
        quote = None if piece.quote is None else piece.quote.encode()
        eol = piece.eol.encode()
        size = quotes = lines = 0
        with opened(piece.path) as file:
            if not piece.compressed:
                file.seek(piece.start)
            left = 1 << 62 if piece.compressed else piece.stop - piece.start
            while left and (block := file.read(min(_BLOCK, left))):
                size += len(block)
                left -= len(block)
                quotes += 0 if quote is None else block.count(quote)
                lines += block.count(eol)
        return Bytes(size, quotes, lines)


def count_of(part: Partition) -> Bytes:
    """Return what was counted."""
    found: Bytes = part.records
    return found


class TextFile:
    """What the first records of a CSV file say.

    Attributes
    ----------
    path : str
    schema : dict of str to Polars types
        As far as the first records can tell.
    silent : set of str
        The columns that they say nothing about.
    form : CsvForm
    """

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self.path = path
        self.version = Version.of(path)
        self.compressed = is_compressed(path)
        # Polars would read far ahead of the records that it is asked for.
        with opened(path) as file:
            head = file.read(_HEAD)
            rest = file.read(1)
            if rest:
                head = _whole_lines(head, options["quote"]) or head + rest + file.read()
        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
            plain = Path(folder) / "head"
            plain.write_bytes(head)
            self._look(plain, io.BytesIO(head), options)

    def _look(self, plain: Path, file: IO[bytes], options: Mapping[str, Any]) -> None:
        found = CsvFile(
            self.path,
            plain,
            options["separator"],
            options["header"],
            options["names"],
            options["null_values"],
            options["quote"],
        )
        self.schema, self.silent, self.form = found.schema, found.silent(), found.form
        self._start = _data_start(file, found.dialect, options["header"])
        file.seek(self._start)
        sample = file.read(_SAMPLE)
        lines = sample.count(found.dialect.eol.encode())
        self._record_bytes = max(1.0, len(sample) / max(1, lines))

    def ranges(
        self, types: Sequence[Any], n_bytes: int, n_records: int | None
    ) -> Iterator[ByteRange]:
        """Give ranges that take about `n_bytes` to load, or hold about `n_records`."""
        size = self.version.size - self._start
        form, end = self.form, self.version.size
        whole = ByteRange(
            self.path, self.version, form.quote, form.eol, self._start, end, self.compressed
        )
        if self.compressed:
            yield whole
        elif size > 0:
            record = record_width(types) + _parse_width(self.form, types)
            each = _text_width(self.form, types) + record / self._record_bytes
            step = n_bytes / each if n_records is None else n_records * self._record_bytes
            n = max(1, min(size, int(np.ceil(size / max(1.0, step)))))
            cuts = [self._start + size * k // n for k in range(n + 1)]
            for a, b in pairwise(cuts):
                yield replace(whole, start=a, stop=b)


def _text_width(form: CsvForm, types: Sequence[Any]) -> float:
    """Return what a byte of text takes: itself, and once more where it stays text."""
    return 1.0 + (form.strip or any(has_heap(dtype) for dtype in types))


def _parse_width(form: CsvForm, types: Sequence[Any]) -> float:
    """Return what parsing a record takes beside the frame: as much again, to join parts of it."""
    return sum(frame_width(pl.String if form.strip else dtype) for dtype in types)


def cut_ranges(
    ranges: Sequence[ByteRange],
    counts: Sequence[Bytes],
    forms: Mapping[str, int],
    how: How,
) -> Iterator[CsvRange]:
    """Move the borders of ranges on to where records begin.

    Parameters
    ----------
    ranges : sequence of ByteRange
        Of all files, in order.
    counts : sequence of Bytes
        What each of them holds.
    forms : mapping of str to int
        Which of the forms in `how` each file has, by its path.
    how : How
        Has the types of all columns that are to be read.
    """
    types = list(how.types.values())
    width, parse = record_width(types), _parse_width(how.forms[0], types)
    begin = inside = 0
    for k, (own, held) in enumerate(zip(ranges, counts, strict=True)):
        first = k == 0 or ranges[k - 1].path != own.path
        last = k + 1 == len(ranges) or ranges[k + 1].path != own.path
        number = forms[own.path]
        form = how.forms[number]
        if first:
            begin, inside = own.start, 0
        inside = (inside + held.n_quotes) & 1
        if last and inside:
            _explain(own.path, form, "has quotes that do not pair, so that lines are unclear")
        end = own.stop
        if not last:
            with Path(own.path).open("rb") as file:
                end = max(begin, _next_record(file, own.stop, bool(inside), form))
        size = held.n_bytes if own.compressed else end - begin
        if size:
            records = held.n_lines + 1
            read = int(size * _text_width(form, types) + records * parse)
            load = read + int(records * width)
            yield CsvRange(
                own.path, own.version, number, begin, end, records, load, read, own.compressed
            )
        begin = end


@dataclass(frozen=True)
class CsvRange:
    """Consecutive records of one file.

    Attributes
    ----------
    form : int
        Which of the forms of all files this one has.
    start, stop : int
        Its bytes; of a compressed file, `start` is where the header ends.
    n_records : int
        At most.
    """

    path: str
    version: Version
    form: int
    start: int
    stop: int
    n_records: int
    load_bytes: int
    read_bytes: int
    compressed: bool
    first: int = 0  # is not known

    @property
    def disk_bytes(self) -> int:
        """What reading it takes from a disk."""
        return self.version.size if self.compressed else self.stop - self.start

    @property
    def place(self) -> str:
        """Which bytes."""
        return _place(self)

    def join(self, other: Any) -> CsvRange | None:
        """Return both as one if the other follows in the same file."""
        if self.path != other.path or self.stop != other.start:
            return None
        return replace(
            self,
            stop=other.stop,
            n_records=self.n_records + other.n_records,
            load_bytes=self.load_bytes + other.load_bytes,
            read_bytes=self.read_bytes + other.read_bytes,
        )

    def read(self, columns: list[str], how: How) -> pl.DataFrame:
        """Read some columns."""
        self.version.check(self.path)
        with opened(self.path) as file:
            if self.compressed:
                data = file.read()[self.start :]
            else:
                file.seek(self.start)
                data = file.read(self.stop - self.start)
                if len(data) < self.stop - self.start:
                    raise FileError(self.path, "has changed since it was opened: it is shorter")
        form = how.forms[self.form]
        types = {name: how.types[name] for name in columns}
        try:
            return form.parse(data, types)
        except RaggedError as error:
            _explain(self.path, form, f"cannot be read as CSV: {error}")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            problem = f"cannot be read as CSV: {first_line(error)}"
            if all(dtype == pl.String for dtype in types.values()):
                _explain(self.path, form, problem)
            raise UnfitError(self.path, problem) from error


def _place(own: ByteRange | CsvRange) -> str:
    if own.compressed:
        return "all of it at once, as it is compressed"
    return f"bytes {own.start:,} to {own.stop - 1:,}"


def _explain(path: str, form: CsvForm, problem: str) -> NoReturn:
    """Raise an error that names the line which is wrong, if it can be found."""
    with on_disk(path) as plain:
        find_bad_text(path, plain)
        if len(form.names) > 1:
            dialect = Dialect(form.separator, form.quote, form.eol)
            survey_lines(path, plain, dialect, len(form.names))
    raise FileError(path, problem)


def _whole_lines(head: bytes, quote: str | None) -> bytes:
    """Return a text up to its last line end outside quotes."""
    array = np.frombuffer(head, np.uint8)
    ends = array == ord("\n")
    if not ends.any():
        ends = array == ord("\r")
    if quote is not None:
        ends &= (np.cumsum(array == ord(quote), dtype=np.uint8) & 1) == 0
    places = np.flatnonzero(ends)
    return head[: int(places[-1]) + 1] if len(places) else b""


def _data_start(file: IO[bytes], dialect: Dialect, header: bool) -> int:
    """Return where the first record begins."""
    file.seek(0)
    place = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
    form = CsvForm("", None, dialect.eol, False, (), ())
    for _ in range(dialect.blank_lines):
        place = _next_record(file, place, False, form)
    return _next_record(file, place, False, replace(form, quote=dialect.quote)) if header else place


def _next_record(file: IO[bytes], place: int, inside: bool, form: CsvForm) -> int:
    """Return where the first record begins that does so behind a place, or where the file ends.

    Parameters
    ----------
    file : binary file
    place : int
    inside : bool
        Whether the place is between quotes.
    form : CsvForm
    """
    file.seek(place)
    while block := file.read(_SAMPLE):
        array = np.frombuffer(block, np.uint8)
        ends = array == ord(form.eol)
        if form.quote is not None:
            quoted = np.cumsum(array == ord(form.quote), dtype=np.uint8) + np.uint8(inside)
            ends &= (quoted & 1) == 0
            inside = bool(quoted[-1] & 1)
        if ends.any():
            return place + int(np.argmax(ends)) + 1
        place += len(block)
    return place
