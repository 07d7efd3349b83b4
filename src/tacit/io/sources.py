"""Frames from elsewhere: newline-delimited JSON, Excel sheets, the answers of databases.

Polars reads them at once; what it needs for that comes with the extras `excel` and `sql`.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.opening import POLARS_ERRORS, first_line, naming, on_disk
from tacit.io.tabular import TabularFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.io.opening import PathLike

__all__ = ["FrameFile", "is_database", "open_excel", "open_ndjson", "open_sql"]

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


class FrameFile(TabularFile):
    """What was read at once."""

    def __init__(self, path: PathLike, frame: pl.DataFrame) -> None:
        super().__init__(path, Path(path))
        self.schema = dict(frame.schema)
        self._frame = frame

    def lazy(self) -> pl.LazyFrame:
        """Return all columns."""
        return self._frame.lazy()

    def batches(self, columns: list[str], size: int) -> Iterator[pl.DataFrame]:
        """Give some columns of all records, which are in memory anyway."""
        yield self.whole(columns)

    def whole(self, columns: list[str]) -> pl.DataFrame:
        """Return some columns of all records."""
        return self._frame.select(columns)


@contextmanager
def open_ndjson(path: PathLike) -> Iterator[FrameFile]:
    """Read newline-delimited JSON, an object a line."""
    with naming(path), on_disk(path) as plain:
        try:
            frame = pl.read_ndjson(plain, infer_schema_length=None)
        except POLARS_ERRORS as error:
            problem = f"cannot be read as an object of JSON a line: {first_line(error)}"
            raise FileError(path, problem) from error
        yield FrameFile(path, frame)


@contextmanager
def open_excel(path: PathLike, *, sheet: str | int | None = None) -> Iterator[FrameFile]:
    """Read a sheet of an Excel file, the first by default."""
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
    with naming(path):
        yield FrameFile(path, frame)


@contextmanager
def open_sql(path: str, *, query: str | None = None) -> Iterator[FrameFile]:
    """Ask a database a query."""
    shown = _without_password(path)
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"query: say what to ask {shown} for, such as 'select * from sales'")
    _need("connectorx", "sql", "a database")
    address = f"sqlite://{_sqlite_file(path)}" if path.lower().startswith("sqlite://") else path
    try:
        frame = pl.read_database_uri(query, address, engine="connectorx")
    except Exception as error:  # of the database, or of the driver
        raise FileError(shown, f"cannot be asked: {first_line(error)}") from None
    with naming(shown):
        yield FrameFile(shown, frame)


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
