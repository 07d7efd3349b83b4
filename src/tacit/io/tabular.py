"""Files of columns: CSV, Parquet and Arrow IPC, in chunks so that they may exceed memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.chunks import Chunks
from tacit.io.csv.file import CsvFile
from tacit.io.ipc.lengths import check_lengths
from tacit.io.opening import naming, on_disk
from tacit.machine import count_jobs
from tacit.table.discretise import MDL, Edges, cut_points
from tacit.table.frames import class_codes, specs_of
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tacit.io.opening import PathLike

__all__ = [
    "check_dialect",
    "choose_columns",
    "csv_frame",
    "ipc_frame",
    "parquet_frame",
    "read_csv",
    "read_ipc",
    "read_parquet",
]

_CELLS = 10_000_000  # of a chunk
_AT_ONCE = 1 << 27  # numbers to hold at once while cut points are looked for


class _File(Protocol):
    path: PathLike
    plain: Path
    schema: dict[str, Any]

    def lazy(self) -> pl.LazyFrame: ...
    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]: ...


def read_csv(
    path: PathLike,
    *,
    separator: str = ",",
    header: bool = True,
    names: Sequence[str] | None = None,
    null_values: str | Sequence[str] | None = None,
    quote: str | None = '"',
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    chunk_records: int | None = None,
    n_jobs: int | None = -1,
) -> Table:
    r"""Read a CSV file, of any size, into a Table.

    Whole numbers, real numbers, ``true`` and ``false`` become what they are, everything else is
    text. A type holds for the whole of a column: one that is not a number once is text throughout.
    Real numbers need `discretise`, as in a frame. Blank lines are skipped, but in a file
    of one column they are missing values.

    Parameters
    ----------
    path : path-like
        May be compressed: .gz, .bz2, .xz, .zip with one file in it, .zst from Python 3.14 on.
    separator : str, default ","
        One character. Blanks after it, as in ``", "``, drop white space around all values.
    header : bool, default True
        Whether the first line names the columns. Else they are called "0", "1", …
    names : sequence of str, optional
        Names of all columns of the file, instead.
    null_values : str or sequence of str, optional
        Texts that mean missing. An empty field always does.
    quote : str or None
        The quoting character; a line may break between quotes.
    columns : sequence of str, optional
        The columns to read, in this order; all by default.
    defaults, weights, missing, discretise, target
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
    check_dialect(separator, quote)
    with naming(path), on_disk(path) as plain:
        file = CsvFile(path, plain, separator, header, names, null_values, quote)
        while True:
            try:
                return _read(
                    file, columns=columns, defaults=defaults, weights=weights, missing=missing,
                    discretise=discretise, target=target, chunk_records=chunk_records,
                    n_jobs=n_jobs,
                )  # fmt: skip
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                file.widen(error)


def check_dialect(separator: str, quote: str | None) -> None:
    """Refuse a separator or a quoting character that cannot be one."""
    if not isinstance(separator, str) or separator == "" or separator[1:].strip():
        raise InputError(f"separator must be one character, or one and blanks, got {separator!r}")
    if not separator[0].isascii() or separator[0] in (quote, "\r", "\n"):
        raise InputError(f"separator cannot be {separator!r}")
    if quote is not None and (len(quote) != 1 or not quote.isascii()):
        raise InputError(f"quote must be one character or None, got {quote!r}")


def csv_frame(
    path: PathLike,
    *,
    separator: str = ",",
    header: bool = True,
    null_values: str | Sequence[str] | None = None,
) -> pl.DataFrame:
    """Read a CSV file as a frame, its numbers as they are; options as for :func:`read_csv`."""
    check_dialect(separator, '"')
    with naming(path), on_disk(path) as plain:
        file = CsvFile(path, plain, separator, header, None, null_values, '"')
        while True:
            try:
                return _whole(file)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                file.widen(error)


def parquet_frame(path: PathLike) -> pl.DataFrame:
    """Read a Parquet file as a frame, its numbers as they are."""
    with naming(path), on_disk(path) as plain:
        return _whole(_ColumnFile(path, plain, "Parquet"))


def ipc_frame(path: PathLike) -> pl.DataFrame:
    """Read an Arrow IPC file as a frame, its numbers as they are."""
    with naming(path), on_disk(path) as plain:
        return _whole(_ColumnFile(path, plain, "Arrow IPC"))


def _whole(file: _File) -> pl.DataFrame:
    names = list(file.schema)
    frames = list(file.batches(names, max(4096, _CELLS // max(1, len(names)))))
    if not sum(frame.height for frame in frames):
        raise FileError(file.path, "holds no records")
    return pl.concat(frames)


def read_parquet(path: PathLike, **options: Any) -> Table:
    """Read a Parquet file; options as for :func:`read_csv`, from `columns` on."""
    with naming(path), on_disk(path) as plain:
        return _read(_ColumnFile(path, plain, "Parquet"), **options)


def read_ipc(path: PathLike, **options: Any) -> Table:
    """Read an Arrow IPC file, also known as Feather; options as for :func:`read_parquet`."""
    with naming(path), on_disk(path) as plain:
        return _read(_ColumnFile(path, plain, "Arrow IPC"), **options)


class _ColumnFile:
    """A Parquet or Arrow file: it says itself what it holds."""

    def __init__(self, path: PathLike, plain: Path, kind: str) -> None:
        self.path, self.plain, self._kind = path, plain, kind
        with plain.open("rb") as file:
            magic = file.read(8)
        if kind == "Parquet" and not magic.startswith((b"PAR1", b"PARE")):
            raise FileError(path, "is not a Parquet file")
        # A stream of record batches has no magic; it begins with a marker, or did not once.
        self._stream = kind == "Arrow IPC" and not magic.startswith(b"ARROW1")
        if self._stream and not magic.startswith(b"\xff\xff\xff\xff"):
            raise FileError(path, "is not an Arrow IPC file")
        if kind == "Arrow IPC":
            check_lengths(path, plain)
        self.schema: dict[str, Any] = dict(self.lazy().collect_schema())

    def lazy(self) -> pl.LazyFrame:
        if self._stream:
            return pl.read_ipc_stream(self.plain).lazy()
        scan = pl.scan_parquet if self._kind == "Parquet" else pl.scan_ipc
        return scan(self.plain, glob=False, hive_partitioning=False)

    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        lazy = self.lazy()
        promised = lazy.select(pl.len()).collect().item()
        found = 0
        batches = lazy.select(columns)
        for frame in batches.collect_batches(chunk_size=size, lazy=True, engine="streaming"):
            found += frame.height
            yield frame
        if found != promised:
            raise FileError(self.path, f"is damaged: {found:,} of {promised:,} records are there")


def _read(
    file: _File,
    *,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: str = "state",
    discretise: Any = None,
    target: str | None = None,
    chunk_records: int | None = None,
    n_jobs: int | None = -1,
) -> Table:
    jobs = count_jobs(n_jobs)
    if missing not in ("state", "default", "error"):
        raise InputError(f"missing must be 'state', 'default' or 'error', got {missing!r}")
    if chunk_records is not None and (type(chunk_records) is not int or chunk_records < 1):
        raise InputError(f"chunk_records must be a positive integer, got {chunk_records!r}")
    known = file.schema
    chosen = choose_columns(known, columns, weights)
    taken = weights if isinstance(weights, str) else None
    for argument, name in (("weights", taken), ("target", target)):
        if name is not None and name not in (known if argument == "weights" else chosen):
            raise InputError(f"{argument}: there is no column {name!r}")
    if isinstance(defaults, Mapping):
        for name in defaults:
            if isinstance(name, str) and name not in chosen:
                raise InputError(f"defaults: there is no column {name!r}")
    empty = pl.DataFrame(schema={name: known[name] for name in chosen})
    specs = _cuts(file, specs_of(empty, discretise, target), target, jobs)
    chunks = Chunks(specs, missing, defaults, taken, jobs)
    size = chunk_records or max(4096, min(1_000_000, _CELLS // max(1, len(chosen))))
    for frame in file.batches(chosen if taken is None else [*chosen, taken], size):
        chunks.add(frame)
    if chunks.n_records == 0:
        raise FileError(file.path, "holds no records")
    parts = chunks.finish()
    if taken is None:
        parts.weights = weights
    return Table._of(parts)


def choose_columns(known: dict[str, Any], columns: Sequence[str] | None, weights: Any) -> list[str]:
    """Return the columns to read, in order, without the one that holds weights."""
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
                raise InputError(f"columns: there is no column {name!r}")
    if isinstance(weights, str):
        chosen = [name for name in chosen if name != weights]
    if not chosen:
        raise InputError("there is no column left to read")
    return chosen


def _cuts(file: _File, specs: dict[str, Any], target: str | None, n_jobs: int) -> dict[str, Edges]:
    """Find the cut points of the whole file, reading no more than the columns that need it."""
    edges = {name: spec for name, spec in specs.items() if isinstance(spec, Edges)}
    rest = [name for name in specs if name not in edges]
    if not rest:
        return edges
    for name in rest:
        if not file.schema[name].is_numeric():
            kind = file.schema[name]
            raise InputError(f"discretise: column {name!r} holds {kind}, not numbers")
    classes = None
    if any(isinstance(specs[name], MDL) for name in rest):
        assert target is not None  # specs_of saw to it
        classes = class_codes(_collect(file, [target]).get_column(target), n_jobs)
    n_records = _collect(file, [pl.len()]).item()
    step = max(1, _AT_ONCE // max(1, n_records))
    for k in range(0, len(rest), step):
        for series in _collect(file, rest[k : k + step]).iter_columns():
            numbers = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            cuts = cut_points(numbers, specs[series.name], target=classes, column=series.name)
            edges[series.name] = Edges(tuple(cuts.tolist()))
    return edges


def _collect(file: _File, columns: Any) -> pl.DataFrame:
    return file.lazy().select(columns).collect(engine="streaming")
