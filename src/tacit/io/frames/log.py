"""Logs in partitions: the rows of a record, wherever they are, are brought together.

A first pass writes every partition of the log to a temporary file, sorted by record id. The ids
are then cut into ranges, and the rows of a range, a slice of each sorted file, are a partition of
records. A pass over these finds the items, and another one writes their tables, which are mapped
into memory from then on. Records come in the order of their ids, as they do in memory.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.io.frames.raw import naming_location, raw_partition
from tacit.io.frames.readers import raw_partitions
from tacit.io.tables.folder import write_partition
from tacit.io.tables.mapped import MappedFile, MappedReader, firsts_of
from tacit.scale.partitioned_table import Metadata
from tacit.scale.partitions import Partitions, PartitionSource, Reader
from tacit.statistic import Statistic
from tacit.table import Table
from tacit.table.long import Columns, ItemLabels, choose_items, count_items, store_pairs
from tacit.table.long_pairs import LongOptions, gather_pairs, id_series, without_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.io.frames.readers import ReadOptions
    from tacit.scale.partitioned_table import PassRunner
    from tacit.statistic import Partition

__all__ = ["find_log"]

_SAMPLE = 1000  # rows of a sorted file that say where to cut
_CODING_BYTES = 120  # what a row takes while it is coded and sorted, beside the frame: at most


class _TemporaryFolder:
    """A folder that goes away with this object; copies of it elsewhere only know its name."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="tacit-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _known_folder, (self.name,)


def _known_folder(name: str) -> _TemporaryFolder:
    folder = _TemporaryFolder.__new__(_TemporaryFolder)
    folder.name = name
    return folder


@dataclass(frozen=True)
class _TemporaryReader(MappedReader):
    """Maps files of a temporary folder."""

    folder: _TemporaryFolder


@dataclass(frozen=True)
class _Run:
    """A partition of the log in a file, sorted by record id."""

    path: str
    n_rows: int
    n_records: int
    n_bytes: int
    sample: pl.Series  # ids of rows at equal distances


@dataclass(frozen=True)
class _RunWriter:
    """Sorts a partition of a log and writes it, on whichever machine has it."""

    folder: str
    options: LongOptions

    def __call__(self, partition: Partition) -> _Run | None:
        """Write it; None if nothing is left of it."""
        frames = []
        for raw in raw_partition(partition.records).frames:
            with naming_location(raw.path, raw.location):
                frame = without_missing(raw.frame, self.options)
                frames.append(
                    frame.with_columns(
                        id_series(frame, self.options.record, "record"),
                        id_series(frame, self.options.item, "item"),
                    )
                )
        rows = pl.concat(frames).sort(self.options.record, maintain_order=True)
        if not rows.height:
            return None
        if not Path(self.folder).is_dir():
            raise InputError(
                f"long: {self.folder} is not there; all who compute must see one temporary folder"
            )
        path = Path(self.folder) / f"run-{partition.index:05d}.arrow"
        rows.write_ipc(path)
        ids = rows.get_column(self.options.record)
        step = max(1, rows.height // _SAMPLE)
        size = int(rows.estimated_size())
        return _Run(str(path), rows.height, ids.n_unique(), size, ids.gather_every(step))


@dataclass(frozen=True)
class _LogPartition(PartitionSource):
    """The rows of a range of record ids: slices of sorted files."""

    slices: tuple[tuple[str, int, int], ...]  # a file, the first row and how many

    def rows(self) -> pl.DataFrame:
        """Read them, in the order of the log."""
        return pl.concat(
            [
                pl.scan_ipc(path).slice(first, length).collect()
                for path, first, length in self.slices
            ]
        )


@dataclass(frozen=True)
class _LogReader(Reader):
    """Reads the rows of partitions."""

    def load(self, source: _LogPartition, n_jobs: int) -> pl.DataFrame:
        return source.rows()


@dataclass(frozen=True)
class _LogTables(Reader):
    """Reads partitions as Tables with the columns of all."""

    options: LongOptions
    columns: Columns

    def load(self, source: _LogPartition, n_jobs: int) -> Table | None:
        pairs = gather_pairs(source.rows(), self.options, n_jobs)
        parts = store_pairs(pairs, self.columns, self.options, n_jobs)
        return Table._of(parts) if len(parts.indptr) > 1 else None


@dataclass(frozen=True)
class _CountItems(Statistic["ItemLabels"]):
    """Which items there are: a statistic of rows."""

    options: LongOptions

    def partial(self, partition: Partition) -> ItemLabels:
        pairs = gather_pairs(partition.records, self.options, partition.n_jobs)
        return count_items(pairs, partition.n_jobs)

    def merge(self, one: ItemLabels, other: ItemLabels) -> ItemLabels:
        return one.merge(other)


@dataclass(frozen=True)
class _TableWriter:
    """Writes the Table of a partition."""

    folder: str
    mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def __call__(self, partition: Partition) -> MappedFile:
        return write_partition(partition, self.folder, self.mark)


def find_log(
    passes: PassRunner,
    options: LongOptions,
    sources: tuple[Any, ...],
    read_options: ReadOptions,
    n_bytes: int,
    n_records: int | None,
) -> Metadata:
    """Bring the rows of records together, find the items and write the tables of all records.

    A partition is to take about `n_bytes` to load, or to have about `n_records`.
    """
    folder = _TemporaryFolder()
    raw = raw_partitions(sources, options.columns, read_options)
    written = passes.map(raw, _RunWriter(folder.name, options), "partitions")
    runs = [run for run in written if run is not None]
    if not runs:
        raise InputError("long: the log has no rows")
    log = _partition_runs(runs, options.record, n_bytes, n_records)
    unkept = Partitions(log, _LogReader(), (0,) * len(log), keep=False)
    counted = passes.reduce(unkept, _CountItems(options), "partitions")
    assert counted is not None
    columns = choose_items(counted, options)
    tables = Partitions(log, _LogTables(options, columns), (0,) * len(log), keep=False)
    files = tuple(passes.map(tables, _TableWriter(folder.name), "partitions"))
    if not files:
        raise InputError(f"min_items: no record has {options.min_items:,} items")
    for run in runs:
        Path(run.path).unlink(missing_ok=True)
    weighted = options.weight is not None
    reader = _TemporaryReader(columns.schema, weighted, folder)
    sizes = np.array([file.n_records for file in files], np.int64)
    partitions = Partitions(files, reader, firsts_of(files))
    n_stored = sum(file.n_stored for file in files)
    return Metadata(reader.schema, partitions, sizes, n_stored, weighted)


def _partition_runs(
    runs: Sequence[_Run], record: str, n_bytes: int, n_records: int | None
) -> tuple[_LogPartition, ...]:
    """Cut the record ids of sorted files into ranges of about equally many rows."""
    n_rows = sum(run.n_rows for run in runs)
    width = sum(run.n_bytes for run in runs) / n_rows + _CODING_BYTES
    wanted = n_rows * width / n_bytes
    if n_records is not None:
        wanted = sum(run.n_records for run in runs) / n_records
    n = max(1, min(int(np.ceil(wanted)), n_rows))
    sample = pl.concat([run.sample for run in runs]).sort()
    cuts = sample.gather([len(sample) * k // n for k in range(1, n)]).unique().sort()
    edges = []
    for run in runs:
        ids = pl.scan_ipc(run.path).select(record).collect().to_series()
        found = ids.search_sorted(cuts, side="left").to_list() if len(cuts) else []
        edges.append([0, *found, run.n_rows])
    partitions = []
    for k in range(len(cuts) + 1):
        slices = tuple(
            (run.path, edge[k], edge[k + 1] - edge[k])
            for run, edge in zip(runs, edges, strict=True)
            if edge[k + 1] > edge[k]
        )
        size = int(width * sum(length for _, _, length in slices))
        if slices:
            partitions.append(
                _LogPartition(
                    slices,
                    name=f"range {k} of record ids",
                    disk_bytes=size,
                    load_bytes=size,
                    kept_bytes=size,
                )
            )
    return tuple(partitions)
