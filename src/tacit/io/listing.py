"""Which files are meant, and whether they can be one table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from tacit import schema
from tacit.errors import FileError, InputError
from tacit.forks import check_fork
from tacit.io.opening import naming
from tacit.io.read import file_kind
from tacit.io.sources import is_database

__all__ = ["check_names", "common_columns", "list_files", "one_kind", "open_files", "origin_of"]

F = TypeVar("F")

_AT_ONCE = 16  # files to open
_KINDS = {
    "parquet": "Parquet",
    "ipc": "Arrow IPC",
    "csv": "CSV",
    "tsv": "TSV",
    "data": "CSV",
    "tacit": "a .tacit file",
}


_UNKNOWN = "scan reads Parquet, Arrow IPC, CSV and .tacit files; see tacit.read"


def list_files(paths: Any) -> list[str]:
    """Return all files that paths and patterns mean, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(given, Sequence) or not all(isinstance(p, str | os.PathLike) for p in given):
        raise InputError(f"paths must be a path, a pattern or a list of them, got {paths!r}")
    files: list[str] = []
    for path in map(os.fspath, given):
        if is_database(path):
            raise FileError(path, _UNKNOWN)
        if Path(path).is_dir():
            raise InputError(
                f"paths: {path} is a folder, but not one that materialise() wrote; for the files "
                f"in it, give a pattern such as {os.path.join(path, '*.parquet')!r}"  # noqa: PTH118
            )
        if Path(path).exists() or not glob.has_magic(path):
            files.append(path)
            continue
        matching = sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        for match in matching:
            if not Path(match).exists():  # one that is passed over would be missing data
                raise FileError(match, f"matches {path!r}, but is a link to what is not there")
        matching = [match for match in matching if Path(match).is_file()]
        if not matching:
            raise InputError(f"paths: no file matches {path!r}")
        files += matching
    if not files:
        raise InputError("paths: there is no file among them")
    # Whoever reads them may be at work in another folder.
    files = [os.path.abspath(path) for path in files]  # noqa: PTH100
    seen: set[str] = set()
    for path in files:
        if path in seen:
            raise InputError(f"paths: {path} is there twice")
        seen.add(path)
    return files


def origin_of(files: list[str]) -> str:
    """Return what to call all files."""
    return files[0] if len(files) == 1 else f"{len(files):,} files, {files[0]} to {files[-1]}"


def one_kind(files: list[str], format: str | None) -> str:  # noqa: A002
    """Return the kind of file that all of them are."""
    kinds = [file_kind(path, format) for path in files]
    if kinds[0] not in _KINDS:
        raise FileError(files[0], _UNKNOWN)
    for path, kind in zip(files, kinds, strict=True):
        if kind != kinds[0]:
            other = _KINDS.get(kind, kind)
            raise InputError(f"paths: {files[0]} is {_KINDS[kinds[0]]}, but {path} is {other}")
    return kinds[0]


def open_files(files: list[str], opener: Callable[[str], F]) -> list[F]:
    """Read what files say of themselves."""
    check_fork(f"reading {files[0]}")

    def open_one(path: str) -> F:
        if not Path(path).is_file():
            raise FileError(path, "no such file")
        if not Path(path).stat().st_size:
            raise FileError(path, "is empty")
        with naming(path):
            return opener(path)

    with ThreadPoolExecutor(min(_AT_ONCE, len(files))) as pool:
        return list(pool.map(open_one, files))


def check_names(files: Sequence[Any], columns: Sequence[str], every: bool) -> None:
    """Refuse files whose columns are not those of the first: which file, and which column.

    These `columns` are wanted, or `every` one.
    """
    head = files[0]
    for file in files:
        schema.check_names(file.schema, file.path)
    for file in files[1:]:
        missing = next((name for name in columns if name not in file.schema), None)
        if missing is not None:
            raise FileError(
                file.path, f"has no column {missing!r}, but {head.path} does; give columns=…"
            )
        extra = next((name for name in file.schema if name not in head.schema), None)
        if every and extra is not None:
            raise FileError(
                file.path, f"has the column {extra!r}, but {head.path} does not; give columns=…"
            )


def common_columns(files: Sequence[Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return the types of some columns, about which files must not contradict each other.

    A column that has no values in a file (of type Null) has the type that it has in others.
    """
    types = {name: files[0].schema[name] for name in columns}
    sources = dict.fromkeys(columns, files[0].path)
    for file in files[1:]:
        for name in columns:
            dtype, known = file.schema[name], types[name]
            if dtype == pl.Null:
                continue
            if known == pl.Null:
                types[name], sources[name] = dtype, file.path
            elif _type_name(dtype) != _type_name(known):
                raise FileError(
                    file.path,
                    f"column {name!r} is {_type_name(dtype)}, but in {sources[name]} it is "
                    f"{_type_name(known)}",
                )
    return types


def _type_name(dtype: Any) -> str:
    return "Enum" if dtype == pl.Enum else str(dtype)
