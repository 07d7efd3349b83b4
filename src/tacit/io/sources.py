"""Frames from elsewhere: newline-delimited JSON, Excel sheets, the answers of databases.

Polars reads them at once; what it needs for that comes with the extras `excel` and `sql`.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from tacit.errors import FileError, InputError, no_column
from tacit.io.opening import POLARS_ERRORS, first_line, naming, on_disk
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.io.opening import PathLike

__all__ = [
    "excel_frame",
    "is_database",
    "ndjson_frame",
    "read_excel",
    "read_ndjson",
    "read_sql",
    "sql_frame",
]

_DATABASE = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)


def is_database(path: PathLike) -> bool:
    """Return whether this is the address of a database.

    >>> is_database("sqlite:///shop.db"), is_database("shop.csv")
    (True, False)
    """
    return isinstance(path, str) and _DATABASE.match(path) is not None


def _need(module: str, extra: str, what: str) -> None:
    if find_spec(module) is None:
        raise InputError(f"{what} takes {module}; install it with: pip install 'tacit[{extra}]'")


def _some(
    path: PathLike, frame: pl.DataFrame, columns: Sequence[str] | None, argument: str
) -> pl.DataFrame:
    """Return some columns of a frame that has records."""
    if not frame.height:
        raise FileError(path, "holds no records")
    for name in columns or ():
        if name not in frame.columns:
            raise no_column(f"{path}: {argument}", name, frame.columns)
    return frame if columns is None else frame.select(columns)


def ndjson_frame(
    path: PathLike, *, columns: Sequence[str] | None = None, argument: str = "columns"
) -> pl.DataFrame:
    """Read newline-delimited JSON, an object a line, as a frame."""
    with naming(path), on_disk(path) as plain:
        try:
            frame = pl.read_ndjson(plain, infer_schema_length=None)
        except POLARS_ERRORS as error:
            problem = f"cannot be read as an object of JSON a line: {first_line(error)}"
            raise FileError(path, problem) from error
        return _some(path, frame, columns, argument)


def excel_frame(
    path: PathLike,
    *,
    sheet: str | int | None = None,
    columns: Sequence[str] | None = None,
    argument: str = "columns",
) -> pl.DataFrame:
    """Read a sheet of an Excel file, the first by default, as a frame."""
    _need("fastexcel", "excel", "Excel")
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, str | int)):
        raise InputError(f"sheet must be a name or a number from 1, got {sheet!r}")
    if not Path(path).is_file():
        raise FileError(path, "no such file")
    which: dict[str, Any] = (
        {"sheet_name": sheet} if isinstance(sheet, str) else {"sheet_id": sheet or 1}
    )
    try:
        frame = pl.read_excel(Path(path), **which)
    except pl.exceptions.NoDataError:
        raise FileError(path, "holds no records") from None
    except Exception as error:  # of Polars, and of the library that it reads with
        raise FileError(path, f"cannot be read as Excel: {first_line(error)}") from error
    return _some(path, frame, columns, argument)


def sql_frame(
    path: str,
    *,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    argument: str = "columns",
) -> pl.DataFrame:
    """Return what a database answers to a query as a frame."""
    shown = _without_password(path)
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"query: say what to ask {shown} for, such as 'select * from sales'")
    _need("connectorx", "sql", "a database")
    address = f"sqlite://{_sqlite_file(path)}" if path.lower().startswith("sqlite://") else path
    try:
        frame = pl.read_database_uri(query, address, engine="connectorx")
    except Exception as error:  # of the database, or of the driver
        raise FileError(shown, f"cannot be asked: {first_line(error)}") from None
    return _some(shown, frame, columns, argument)


def _without_password(address: str) -> str:
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1:…@", address)


def _sqlite_file(address: str) -> Path:
    """Return the file of an address: after ``sqlite:///`` a path, relative to here or not.

    One that is not there is refused: SQLite would make an empty one.
    """
    name = address.partition("://")[2]
    for file in (Path(name.removeprefix("/")), Path(name)):
        if file.is_file():
            return file.absolute()
    raise FileError(address, "no such file")


def _table(
    frame: pl.DataFrame,
    defaults: Any,
    weights: Any,
    missing: Literal["state", "default", "error"],
    discretise: Any,
    target: str | None,
    n_jobs: int | None,
) -> Table:
    return Table(
        frame,
        defaults=defaults,
        weights=weights,
        missing=missing,
        discretise=discretise,
        target=target,
        n_jobs=n_jobs,
    )


def read_ndjson(
    path: PathLike,
    *,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    n_jobs: int | None = -1,
) -> Table:
    """Read newline-delimited JSON into a Table; options as for :func:`tacit.read_csv`."""
    frame = ndjson_frame(path, columns=_with(columns, weights))
    with naming(path):
        return _table(frame, defaults, weights, missing, discretise, target, n_jobs)


def read_excel(
    path: PathLike,
    *,
    sheet: str | int | None = None,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    n_jobs: int | None = -1,
) -> Table:
    """Read a sheet of an Excel file into a Table; other options as for :func:`tacit.read_csv`."""
    frame = excel_frame(path, sheet=sheet, columns=_with(columns, weights))
    with naming(path):
        return _table(frame, defaults, weights, missing, discretise, target, n_jobs)


def read_sql(
    path: str,
    *,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: Any = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    target: str | None = None,
    n_jobs: int | None = -1,
) -> Table:
    """Make a Table of what a database answers; other options as for :func:`tacit.read_csv`."""
    frame = sql_frame(path, query=query, columns=_with(columns, weights))
    with naming(_without_password(path)):
        return _table(frame, defaults, weights, missing, discretise, target, n_jobs)


def _with(columns: Sequence[str] | None, weights: Any) -> list[str] | None:
    """Return the columns to read, with that of weights."""
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError("columns must be a sequence of names")
    extra = [weights] if isinstance(weights, str) and weights not in columns else []
    return [*columns, *extra]
