"""Files in: one reader for each format, and `read`, which picks one by the file's name."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tacit import store
from tacit.errors import FileError, InputError, did_you_mean
from tacit.io.arff import read_arff
from tacit.io.baskets import read_baskets
from tacit.io.csv import CsvOptions, open_csv
from tacit.io.ipc import open_ipc
from tacit.io.isolated import read_isolated
from tacit.io.long import LONG_OPTIONS, long_options, read_long
from tacit.io.msweb import read_msweb
from tacit.io.opening import uncompressed_name
from tacit.io.parquet import open_parquet
from tacit.io.sources import is_database, open_excel, open_ndjson, open_sql
from tacit.io.svmlight import read_svmlight
from tacit.io.tabular import TabularFile
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from tacit.io.opening import PathLike

__all__ = ["FORMAT_OPTIONS", "TEXT_OPTIONS", "file_kind"]
__all__ += ["read", "read_frame", "read_names", "read_what"]

# How files of columns are opened, and the options of that; what is open makes a table or a frame.
TEXT_OPTIONS = tuple(field.name for field in fields(CsvOptions))
_COLUMNS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "csv": (open_csv, TEXT_OPTIONS),
    "tsv": (open_csv, TEXT_OPTIONS),
    "data": (open_csv, TEXT_OPTIONS),
    "parquet": (open_parquet, ()),
    "ipc": (open_ipc, ()),
    "ndjson": (open_ndjson, ()),
    "excel": (open_excel, ("sheet",)),
    "sql": (open_sql, ("query",)),
}
_READERS: dict[str, Callable[..., Any]] = {  # of other files
    "svmlight": read_svmlight,
    "arff": read_arff,
    "baskets": read_baskets,
    "msweb": read_msweb,
    "tacit": store.load,
}
_KINDS = (*_COLUMNS, *_READERS)
_SUFFIXES = {
    "pq": "parquet", "arrow": "ipc", "feather": "ipc", "svm": "svmlight", "libsvm": "svmlight",
    "dat": "baskets", "basket": "baskets", "jsonl": "ndjson", "xlsx": "excel", "test": "data",
}  # fmt: skip
_NO_SUFFIX = ("msweb", "excel", "sql")  # kinds that no file's name ends in
FORMAT_OPTIONS: dict[str, dict[str, Any]] = {"tsv": {"separator": "\t"}}


def read(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002
    long: Any = None,
    isolated: bool = False,
    **options: Any,
) -> Table:
    """Read a file into a Table; the end of its name says how.

    ==================================  =============================================
    .csv, .tsv, .data, .test            :func:`read_csv`
    .parquet, .pq                       Parquet, with the options of :func:`read_csv`
    .arrow, .ipc, .feather              Arrow IPC, likewise
    .ndjson, .jsonl                     an object of JSON a line, likewise
    .xlsx                               Excel, likewise; `sheet` is a name or a number from 1
    .arff                               :func:`read_arff`, dense or sparse
    .svm, .svmlight, .libsvm            :func:`read_svmlight`
    .dat, .basket, .baskets             :func:`read_baskets`
    .tacit                              what :meth:`tacit.Table.save` wrote
    ==================================  =============================================

    Behind it there may be .gz, .bz2, .xz, .zip (with one file in it) or, from Python 3.14 on, .zst.

    What begins like ``sqlite:///shop.db`` or ``postgresql://…`` is a database, and `query` says
    what to ask it for. Excel takes the extra ``tacit[excel]``, a database ``tacit[sql]``.

    With `long`, a file of columns is a log, which becomes a table as :meth:`tacit.Table.from_long`
    makes it.

    Parameters
    ----------
    path : path-like
    format : str, optional
        "csv", "tsv", "data", "parquet", "ipc", "ndjson", "excel", "arff", "svmlight", "baskets",
        "msweb" or "tacit", where the name does not say or says otherwise.
    long : sequence of str or mapping, optional
        The columns of record ids and of items, and perhaps of values, of a log:
        ``("userId", "movieId")``; or ``{"record": …, "item": …, "value": …, "weight": …}``. Other
        columns are not read. Options are then `duplicates`, `min_count`, `min_items` and `missing`,
        as for :meth:`tacit.Table.from_long`; `weights`, the column of record weights; how to read
        the file; and `names`, which says where items have their names: a file, its column of items
        and that of names, such as ``("movies.csv", "movieId", "title")``. An item without a name
        keeps its id; where several have the same name, their ids follow it in brackets.
    isolated : bool, default False
        Read the file in a process of its own, for files of strangers: whatever they do to a library
        that reads them, this process goes on and has a :class:`FileError`. It takes a second more.
    **options
        As the reader of that format takes them.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        If the file cannot be read in full, or if it is not clear how.
    """
    if isolated:
        return read_isolated(path, {"format": format, "long": long, **options})
    loaded = read_what(path, format=format, long=long, **options)
    if not isinstance(loaded, Table):
        raise FileError(path, f"holds a saved {type(loaded).__name__}, not a Table; use tacit.load")
    return loaded


def _options_of(function: Callable[..., Any]) -> set[str]:
    """Return the names of the options that a function takes."""
    return set(inspect.signature(function).parameters) - {"path", "self", "verify", "mmap"}


def _open(path: PathLike, kind: str, options: dict[str, Any]) -> Any:
    """Open a file of columns; the options that this takes are taken out of the others."""
    opener, about = _COLUMNS[kind]
    said = {name: options.pop(name) for name in about if name in options}
    return opener(path, **{**FORMAT_OPTIONS.get(kind, {}), **said})


def read_frame(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> pl.DataFrame | None:
    """Read a file of columns as a frame, numbers as they are; ``None`` for other files.

    Options of text are separator, header, null_values and quote, as for :func:`read_csv`; of all
    files, columns.
    """
    kind = file_kind(path, format)
    if kind not in _COLUMNS:
        return None
    return _read_columns(path, kind, options)


def _read_columns(path: PathLike, kind: str, options: dict[str, Any]) -> pl.DataFrame:
    """Read a file of columns as a frame."""
    allowed = {*_COLUMNS[kind][1], "columns", "argument"}
    for option in options:
        if option not in allowed:
            hint = did_you_mean(option, sorted(allowed))
            raise InputError(f"{option} is no option of {kind} files{hint}")
    with _open(path, kind, options) as file:
        frame: pl.DataFrame = file.frame(**options)
        return frame


def _read_log(path: PathLike, kind: str, long: Any, options: dict[str, Any]) -> Table:
    """Read a log into a Table."""
    if kind not in _COLUMNS:
        raise InputError(f"long: {kind} files have no columns of records and items")
    n_jobs = options.pop("n_jobs", -1)
    about = {name: options.pop(name) for name in LONG_OPTIONS if name in options}
    allowed = _COLUMNS[kind][1]
    for option in options:
        if option not in allowed:
            known = ", ".join(sorted({*allowed, *LONG_OPTIONS}))
            raise InputError(f"{option} is no option of logs in {kind} files; there are: {known}")

    def read(path: PathLike, **wanted: Any) -> pl.DataFrame:
        return _read_columns(path, kind, {**options, **wanted})

    return read_long(path, read, long_options(long, about, read_names), n_jobs)


def read_names(path: PathLike, columns: list[str], argument: str) -> pl.DataFrame:
    """Read the columns of a file that has the names of items."""
    kind = file_kind(path, None)
    if kind not in _COLUMNS:
        raise InputError(f"{argument}: {path} is no file of columns")
    return _read_columns(path, kind, {"columns": columns, "argument": argument})


def read_what(path: PathLike, *, format: str | None = None, **options: Any) -> Any:  # noqa: A002
    """Read a file as :func:`read` does; of a .tacit file, return whatever it holds."""
    kind = file_kind(path, format)
    long = options.pop("long", None)
    if long is not None:
        return _read_log(path, kind, long, options)
    if kind in _COLUMNS:
        allowed = _options_of(TabularFile.table) | set(_COLUMNS[kind][1])
    else:
        allowed = _options_of(_READERS[kind])
    if "n_jobs" not in allowed:  # says nothing about the result, so it may be said of any file
        options.pop("n_jobs", None)
    for option in options:
        if option not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            hint = did_you_mean(option, sorted(allowed))
            raise InputError(f"{option} is no option of {kind} files; there are: {known}{hint}")
    if kind not in _COLUMNS:
        return _READERS[kind](path, **options)
    with _open(path, kind, options) as file:
        return file.table(**options)


def file_kind(path: PathLike, format: str | None) -> str:  # noqa: A002
    """Return which kind of file this is, by what the caller says or by its name."""
    if is_database(path):
        return "sql"
    if format is not None:
        kind = _SUFFIXES.get(format, format)
        if kind not in _KINDS:
            hint = did_you_mean(format, (*_KINDS, *_SUFFIXES))
            raise InputError(f"format must be one of {', '.join(_KINDS)}; got {format!r}{hint}")
        return kind
    suffix = PurePath(uncompressed_name(path)).suffix.lower().removeprefix(".")
    kind = _SUFFIXES.get(suffix, suffix)
    if kind not in _KINDS or suffix in _NO_SUFFIX:
        endings = (name for name in (*_KINDS, *_SUFFIXES) if name not in _NO_SUFFIX)
        known = ", ".join(f".{name}" for name in endings)
        raise FileError(
            path,
            f"its name does not say what it is; known are {known}. Say it with format=…"
            + did_you_mean(f".{suffix}", known.split(", ")),
        )
    return kind
