"""CSV files by ranges of bytes, cut where records begin.

A line may break between quotes, so where a record begins is known only once the quotes before are
counted. That is a separate pass over the bytes: ranges are counted wherever they are read, and
each border is then moved on to the next line end outside quotes.
"""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from tacit.errors import FileError
from tacit.io.csv.file import CsvFile
from tacit.io.csv.sniff import HEAD, find_encoding, in_utf8
from tacit.io.csv.text import Dialect, RaggedError, explain, lines_end, next_record
from tacit.io.csv.types import FitCounts, common_types, fitting_types, wider_types
from tacit.io.frames.memory import frame_width, has_heap, record_width
from tacit.io.frames.metadata import find_metadata
from tacit.io.frames.readers import ReadOptions, RowRange, group_ranges, raw_partitions
from tacit.io.opening import POLARS_ERRORS, Version, first_line, is_compressed, on_disk, opened
from tacit.scale.partitions import Partitions, PartitionSource, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.io.csv.sniff import CsvOptions
    from tacit.io.csv.text import CsvFormat
    from tacit.io.frames.metadata import ScanOptions
    from tacit.io.frames.readers import FilePartition
    from tacit.scale.partitioned_table import Metadata, PassRunner

__all__ = ["CsvFiles", "CsvRange", "CsvScan"]

_BLOCK = 1 << 20
_HEAD = 1 << 22  # bytes of a file, to see what it holds
_SAMPLE = 1 << 16


class UnfitError(FileError):
    """A value does not fit the type of its column, as far as one can tell."""


@dataclass(frozen=True)
class ByteCounts:
    """What a range of bytes holds: its length, its quotes and its line ends."""

    n_bytes: int
    n_quotes: int
    n_lines: int


@dataclass(frozen=True)
class ByteRange(PartitionSource):
    """Bytes of a file, wherever they begin; all of them if it is compressed."""

    path: str
    version: Version
    quote: str | None
    eol: str
    start: int
    stop: int
    compressed: bool


class ByteCounter(Reader):
    """The reader of the pass that counts quotes and line ends."""

    def load(self, source: ByteRange, n_jobs: int) -> ByteCounts:
        """Count those of a range."""
        source.version.check(source.path)
        quote = None if source.quote is None else source.quote.encode()
        eol = source.eol.encode()
        size = quotes = lines = 0
        with opened(source.path) as file:
            if not source.compressed:
                file.seek(source.start)
            rest = 1 << 62 if source.compressed else source.stop - source.start
            while rest and (block := file.read(min(_BLOCK, rest))):
                size += len(block)
                rest -= len(block)
                quotes += 0 if quote is None else block.count(quote)
                lines += block.count(eol)
        return ByteCounts(size, quotes, lines)


class CsvScan:
    """A CSV file to be scanned: its format, and the types of columns and which have no values.

    Types and values are those of its first records.
    """

    def __init__(self, path: str, options: CsvOptions) -> None:
        self.path = path
        self.version = Version.of(path)
        self.compressed = is_compressed(path)
        # Polars would read far ahead of the records that it is asked for.
        with opened(path) as file:
            head = file.read(_HEAD)
            rest = file.read(1)
            encoding = find_encoding(path, head[:HEAD], len(head) <= HEAD, options.encoding)
            if encoding.replace("-", "").startswith(("utf16", "utf32", "utf7")):
                raise FileError(
                    path, f"is {encoding.upper()} text, which cannot be cut into ranges of bytes; "
                    "save it as UTF-8, or read it at once with tacit.read"
                )  # fmt: skip
            if rest:
                quote = '"' if options.quote == "auto" else options.quote
                head = _complete_lines(head, quote) or head + rest + file.read()
        with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
            plain = Path(folder) / "head"
            text = head if encoding == "utf-8" else head.decode(encoding, "replace").encode()
            plain.write_bytes(text)
            self._infer(plain, io.BytesIO(head), options, encoding)

    def _infer(self, plain: Path, file: IO[bytes], options: CsvOptions, encoding: str) -> None:
        first = CsvFile(self.path, plain, options, encoding)
        self.schema, self.format = first.schema, replace(first.format, encoding=encoding)
        self.without_values = first.without_values()
        self._start = lines_end(file, first.format)
        if first.header:
            self._start = next_record(file, self._start, False, first.format)
        file.seek(self._start)
        sample = file.read(_SAMPLE)
        lines = sample.count(first.format.eol.encode())
        self._record_bytes = max(1.0, len(sample) / max(1, lines))

    def ranges(
        self, types: Sequence[Any], n_bytes: int, n_records: int | None
    ) -> Iterator[ByteRange]:
        """Give ranges that take about `n_bytes` to load, or hold about `n_records`."""
        size = self.version.size - self._start
        if self.compressed:
            yield self._byte_range(self._start, self.version.size)
        elif size > 0:
            record = record_width(types) + _parse_width(self.format, types)
            each = _text_width(self.format, types) + record / self._record_bytes
            step = n_bytes / each if n_records is None else n_records * self._record_bytes
            n = max(1, min(size, int(np.ceil(size / max(1.0, step)))))
            cuts = [self._start + size * k // n for k in range(n + 1)]
            for a, b in pairwise(cuts):
                yield self._byte_range(a, b)

    def _byte_range(self, start: int, stop: int) -> ByteRange:
        return ByteRange(
            self.path,
            self.version,
            self.format.quote,
            self.format.eol,
            start,
            stop,
            self.compressed,
            name=f"{self.path}, {_location(start, stop, self.compressed)}",
            disk_bytes=self.version.size if self.compressed else stop - start,
            load_bytes=2 * _BLOCK,
        )


def _text_width(csv_format: CsvFormat, types: Sequence[Any]) -> float:
    """Return what a byte of text takes: itself, and once more where it stays text."""
    return 1.0 + (csv_format.strip or any(has_heap(dtype) for dtype in types))


def _parse_width(csv_format: CsvFormat, types: Sequence[Any]) -> float:
    """Return what parsing a record takes beside the frame: as much again, to join parts of it."""
    return sum(frame_width(pl.String if csv_format.strip else dtype) for dtype in types)


def _cut_ranges(
    ranges: Sequence[ByteRange],
    counts: Sequence[ByteCounts],
    formats: Mapping[str, int],
    options: ReadOptions,
) -> Iterator[CsvRange]:
    """Move the borders of ranges, those of all files in order, on to where records begin.

    `formats` says by path which of the formats in `options` a file has; `options` has the types of
    all columns that are to be read.
    """
    types = list(options.types.values())
    width, parse = record_width(types), _parse_width(options.formats[0], types)
    begin = inside = 0
    for k, (r, count) in enumerate(zip(ranges, counts, strict=True)):
        first = k == 0 or ranges[k - 1].path != r.path
        last = k + 1 == len(ranges) or ranges[k + 1].path != r.path
        number = formats[r.path]
        csv_format = options.formats[number]
        if first:
            begin, inside = r.start, 0
        inside = (inside + count.n_quotes) & 1
        if last and inside:
            _explain(r.path, csv_format, "has quotes that do not pair, so that lines are unclear")
        end = r.stop
        if not last:
            with Path(r.path).open("rb") as file:
                end = max(begin, next_record(file, r.stop, bool(inside), csv_format))
        size = count.n_bytes if r.compressed else end - begin
        if size:
            records = count.n_lines + 1
            read = int(size * _text_width(csv_format, types) + records * parse)
            load = read + int(records * width)
            yield CsvRange(
                r.version,
                number,
                begin,
                end,
                r.compressed,
                path=r.path,
                n_records=records,
                disk_bytes=r.disk_bytes if r.compressed else size,
                load_bytes=load,
                read_bytes=read,
            )
        begin = end


@dataclass(frozen=True)
class CsvRange(RowRange):
    """Consecutive records of one file."""

    version: Version
    format: int  # which of the formats of all files this one has
    start: int  # its first byte; of a compressed file, where the header ends
    stop: int
    compressed: bool

    @property
    def location(self) -> str:
        """Which bytes."""
        return _location(self.start, self.stop, self.compressed)

    def join(self, other: Any) -> CsvRange | None:
        """Return both as one if the other follows in the same file."""
        if self.path != other.path or self.stop != other.start:
            return None
        return self._joined(other, stop=other.stop)

    def read(self, columns: list[str], options: ReadOptions) -> pl.DataFrame:
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
        csv_format = options.formats[self.format]
        types = {name: options.types[name] for name in columns}
        try:
            return csv_format.parse(data, types)
        except RaggedError as error:
            _explain(self.path, csv_format, f"cannot be read as CSV: {error}")
        except POLARS_ERRORS as error:
            problem = f"cannot be read as CSV: {first_line(error)}"
            if all(dtype == pl.String for dtype in types.values()):
                _explain(self.path, csv_format, problem)
            raise UnfitError(self.path, problem) from error


def _location(start: int, stop: int, compressed: bool) -> str:
    if compressed:
        return "all of it at once, as it is compressed"
    return f"bytes {start:,} to {stop - 1:,}"


def _explain(path: str, csv_format: CsvFormat, problem: str) -> NoReturn:
    """Raise an error that names the line which is wrong, if it can be told."""
    with on_disk(path) as raw, in_utf8(path, raw, csv_format.encoding) as (plain, _):
        explain(path, plain, csv_format, len(csv_format.names), problem)


def _complete_lines(head: bytes, quote: str | None) -> bytes:
    """Return a text up to its last line end outside quotes."""
    eol = "\n" if b"\n" in head else "\r"
    ends = np.flatnonzero(Dialect(quote=quote, eol=eol).ends(head)[0])
    return head[: int(ends[-1]) + 1] if len(ends) else b""


class CsvFiles:
    """CSV files that are scanned together, of which the first records have been read."""

    def __init__(self, files: Sequence[CsvScan], options: ScanOptions) -> None:
        self._files = files
        self._options = options
        for file in files[1:]:
            if file.format.decimal != files[0].format.decimal:
                raise FileError(
                    file.path, f"has {file.format.decimal!r} in numbers, but {files[0].path} has "
                    f"{files[0].format.decimal!r}; say decimal=…"
                )  # fmt: skip
        self._types = common_types(files, options.wanted)
        options.specs(self._types)

    def find(self, passes: PassRunner) -> Metadata:
        """Find where records begin, which types suit all, and then labels and defaults."""
        options, types = self._options, dict(self._types)
        n_bytes, n_records = options.n_bytes, options.n_records
        narrow = list(types.values())
        ranges = [r for f in self._files for r in f.ranges(narrow, n_bytes, n_records)]
        if not ranges:
            raise options.no_records()
        formats = tuple(dict.fromkeys(file.format for file in self._files))
        numbers = {file.path: formats.index(file.format) for file in self._files}
        partitions = Partitions(tuple(ranges), ByteCounter(), (0,) * len(ranges), keep=False)
        counts = list(passes.map(partitions, attrgetter("records"), "ranges of bytes"))
        while True:
            read_options = ReadOptions(types, formats)
            row_ranges = list(_cut_ranges(ranges, counts, numbers, read_options))
            if not row_ranges:
                raise options.no_records()
            sources = group_ranges(row_ranges, n_bytes, n_records)
            try:
                specs = options.specs(types)
                return find_metadata(passes, options, specs, sources, read_options)
            except UnfitError as error:
                types |= _widen(passes, sources, read_options, error)


def _widen(
    passes: PassRunner,
    sources: tuple[FilePartition, ...],
    options: ReadOptions,
    error: UnfitError,
) -> dict[str, Any]:
    """Count which values fit columns that are not text; raise the error if all of them do."""
    narrow = tuple(name for name, dtype in options.types.items() if dtype != pl.String)
    texts = replace(options, types=dict.fromkeys(options.types, pl.String))
    raw = raw_partitions(sources, narrow, texts)
    counts = passes.reduce(raw, FitCounts(narrow, options.formats[0].decimal), "partitions")
    wider = wider_types(options.types, fitting_types(counts)) if counts else {}
    if not wider:  # Polars may be more particular; then it says which column it minds
        minded = [name for name in narrow if f"column {name!r}" in str(error)]
        wider = dict.fromkeys(minded, pl.String)
    if not wider:
        raise error
    return wider
