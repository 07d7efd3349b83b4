"""Files as one partitioned table."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from tacit.errors import FileError, InputError
from tacit.machine import parse_bytes, whole
from tacit.scale.coding import code_of
from tacit.scale.cutting import check_specs, find_edges
from tacit.scale.dictionary import Dictionary
from tacit.scale.files.parquet import ParquetFile
from tacit.scale.files.pieces import CodedReader, RawReader, group_stretches
from tacit.scale.local import Local
from tacit.scale.partitioned_table import Contents, PartitionedTable, Run
from tacit.scale.partitions import Partitions
from tacit.table.files.compressed import naming
from tacit.table.files.tabular import choose_columns
from tacit.table.frames import specs_of
from tacit.table.read import file_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.scale.cutting import Extremes
    from tacit.scale.files.pieces import FilePiece
    from tacit.table.files.compressed import PathLike

__all__ = ["scan"]

_TARGET = 1 << 26  # bytes that loading a partition takes, about
_SHARE = 8  # of a memory limit, the most that a partition is to take is one part in so many
_AT_ONCE = 16  # footers to read


def scan(
    paths: PathLike | Sequence[PathLike],
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    defaults: Any = None,
    weights: str | None = None,
    missing: Literal["state", "default", "error"] = "state",
    discretise: Any = None,
    partition_records: int | None = None,
    memory: int | str | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> PartitionedTable:
    """Take files, of any size together, for one table in partitions.

    Returns
    -------
    PartitionedTable
    """
    if missing not in ("state", "default", "error"):
        raise InputError(f"missing must be 'state', 'default' or 'error', got {missing!r}")
    if weights is not None and not isinstance(weights, str):
        raise InputError("weights: give the name of the column that holds them")
    most = None if partition_records is None else whole(partition_records, "partition_records", 1)
    limit = None if memory is None else parse_bytes(str(memory), "memory")
    size = _TARGET if limit is None else max(1, min(_TARGET, limit // _SHARE))
    found = _list_files(paths)
    kind = _one_kind(found, format)
    files = _open_files(found, ParquetFile)
    known = files[0].schema
    chosen = choose_columns(known, columns, weights)
    _check_columns(known, chosen, weights, defaults)
    wanted = chosen if weights is None else [*chosen, weights]
    _check_same(files, wanted, columns is None)
    stretches = [s for file in files for s in file.stretches(wanted, size, most)]
    if not stretches:
        raise InputError(f"paths: {_origin(found)} hold no records")
    empty = pl.DataFrame(schema={name: known[name] for name in chosen})
    specs = specs_of(empty, discretise, None)
    check_specs(specs)
    plan = _Plan(
        group_stretches(stretches, size, most),
        tuple(chosen),
        weights,
        missing,
        defaults,
        specs,
        _origin(found),
    )
    return PartitionedTable(plan.find, Run(Local(limit), n_jobs, verbose), plan.origin)


def _list_files(paths: Any) -> list[str]:
    """Return all files that paths and patterns mean, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(given, Sequence) or not all(isinstance(p, str | os.PathLike) for p in given):
        raise InputError(f"paths must be a path, a pattern or a list of them, got {paths!r}")
    found: list[str] = []
    for own in map(os.fspath, given):
        if Path(own).is_dir():
            raise InputError(
                f"paths: {own} is a folder, but not one of materialised tables; for the files in "
                f"it, give a pattern such as {os.path.join(own, '*.parquet')!r}"  # noqa: PTH118
            )
        if Path(own).exists() or not glob.has_magic(own):
            found.append(own)
            continue
        matching = sorted(p for p in glob.glob(own, recursive=True) if Path(p).is_file())  # noqa: PTH207
        if not matching:
            raise InputError(f"paths: no file matches {own!r}")
        found += matching
    if not found:
        raise InputError("paths: there is no file among them")
    twice = next((p for k, p in enumerate(found) if p in found[:k]), None)
    if twice is not None:
        raise InputError(f"paths: {twice} is there twice")
    return found


def _origin(found: list[str]) -> str:
    return found[0] if len(found) == 1 else f"{len(found):,} files, {found[0]} to {found[-1]}"


def _one_kind(found: list[str], format: str | None) -> str:  # noqa: A002
    """Return the kind of file that all of them are."""
    kinds = [file_kind(path, format) for path in found]
    for path, kind in zip(found, kinds, strict=True):
        if kind != kinds[0]:
            raise InputError(f"paths: {found[0]} is {kinds[0]}, but {path} is {kind}")
    if kinds[0] not in ("parquet",):
        raise FileError(found[0], "scan reads Parquet, Arrow IPC, CSV and .tacit files only")
    return kinds[0]


def _open_files(found: list[str], opener: Any) -> list[Any]:
    """Read what files say of themselves."""

    def open_one(path: str) -> Any:
        if not Path(path).is_file():
            raise FileError(path, "no such file")
        if not Path(path).stat().st_size:
            raise FileError(path, "is empty")
        with naming(path):
            return opener(path)

    with ThreadPoolExecutor(min(_AT_ONCE, len(found))) as pool:
        return list(pool.map(open_one, found))


def _check_columns(
    known: dict[str, Any], chosen: list[str], weights: str | None, defaults: Any
) -> None:
    if weights is not None:
        if weights not in known:
            raise InputError(f"weights: there is no column {weights!r}")
        if not known[weights].is_numeric():
            raise InputError(f"weights: column {weights!r} holds {known[weights]}, not numbers")
    if isinstance(defaults, Mapping):
        for name in defaults:
            if isinstance(name, str) and name not in chosen:
                raise InputError(f"defaults: there is no column {name!r}")


def _check_same(files: list[Any], columns: list[str], every: bool) -> None:
    """Refuse files whose columns are not those of the first: which file, and which column."""
    head = files[0]
    for file in files[1:]:
        for name in columns:
            if name not in file.schema:
                raise FileError(
                    file.path, f"has no column {name!r}, but {head.path} does; give columns=…"
                )
            one, other = _type_name(head.schema[name]), _type_name(file.schema[name])
            if one != other and "Null" not in (one, other):
                raise FileError(
                    file.path, f"column {name!r} is {other}, but in {head.path} it is {one}"
                )
        extra = next((name for name in file.schema if name not in head.schema), None)
        if every and extra is not None:
            raise FileError(
                file.path, f"has the column {extra!r}, but {head.path} does not; give columns=…"
            )


def _type_name(dtype: Any) -> str:
    return "Enum" if dtype == pl.Enum else str(dtype)


@dataclass(frozen=True)
class _Plan:
    """What a scan is going to read, and how."""

    pieces: tuple[FilePiece, ...]
    columns: tuple[str, ...]
    weights: str | None
    missing: str
    defaults: Any
    specs: dict[str, Any]
    origin: str

    def find(self, run: Run) -> Contents:
        """Find labels and defaults."""
        edges = find_edges(self.specs, partial(self._extremes, run))
        wanted = self.columns if self.weights is None else (*self.columns, self.weights)
        statistic = Dictionary(self.missing, edges, self.weights, self.columns)
        found = run.reduce(self._partitions(wanted), statistic, "partitions")
        if found is None:
            raise InputError(f"paths: {self.origin} hold no records")
        coding, n_stored = code_of(found, self.missing, self.defaults, edges, self.weights)
        sizes = np.array([found.sizes[k][0] for k in sorted(found.sizes)], np.int64)
        firsts = tuple((np.cumsum(sizes) - sizes).tolist())
        width = (2 if coding.schema.n_values < 2**16 else 4) * n_stored / found.n_records
        pieces = []
        for k, (records, n_bytes) in sorted(found.sizes.items()):
            kept = int(records * (8 + width + 8 * (self.weights is not None)))
            load = n_bytes + 4 * records * len(coding.schema) + kept
            pieces.append(self.pieces[k].sized(load, kept))
        partitions = Partitions(tuple(pieces), CodedReader(coding), firsts)
        return Contents(coding.schema, partitions, sizes, n_stored, self.weights is not None)

    def _extremes(self, run: Run, statistic: Extremes) -> NDArray[np.float64] | None:
        return run.reduce(self._partitions(statistic.columns), statistic, "partitions")

    def _partitions(self, columns: Sequence[str]) -> Partitions:
        """Return the partitions as raw frames."""
        return Partitions(self.pieces, RawReader(tuple(columns)), (0,) * len(self.pieces))
