"""Table files as partitions; labels of tables that differ in them are unified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.io.frames.coding import choose_coding
from tacit.io.frames.labels import LabelCounts, LabelDictionary
from tacit.io.tables.mapped import MappedFile, MappedReader, firsts_of
from tacit.scale.partitioned_table import Metadata
from tacit.scale.partitions import Partitions, PartitionSource, Reader
from tacit.statistic import Statistic
from tacit.table.schema_json import schema_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.scale.partitioned_table import PassRunner
    from tacit.schema import Schema
    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["TableFile", "TableFiles"]


class TableFile:
    """What a Table file says of itself; `schema` has labels, as that of other files has types."""

    def __init__(self, path: str) -> None:
        self.path = path
        kind, arrays = store.read_arrays(path, verify=False, mmap=True)
        if kind != "table":
            what = "a partition of a folder; scan the folder" if kind == "partition" else repr(kind)
            raise FileError(path, f"holds no Table but {what}")
        with store.damaged_if_it_fails(path):
            self.table_schema = schema_from_json(arrays["schema"].tobytes())
            n_records, n_stored = len(arrays["indptr"]) - 1, len(arrays["values"])
            if n_records < 1:
                raise InputError("it holds no records")
        self.weighted = "weights" in arrays
        self.schema = dict(zip(self.table_schema.names, self.table_schema.labels, strict=True))
        self.mapped = MappedFile.of(path, n_records, n_stored)


class TableFiles:
    """Files that hold Tables with the same columns."""

    def __init__(self, files: Sequence[TableFile], defaults: Any) -> None:
        for file in files[1:]:
            if file.weighted != files[0].weighted:
                some, none = (file, files[0]) if file.weighted else (files[0], file)
                raise FileError(none.path, f"has no weights, but {some.path} has")
        self._files = files
        self._defaults = defaults

    def find(self, passes: PassRunner) -> Metadata:
        """Find labels and defaults, if files do not agree about them."""
        files, weighted = self._files, self._files[0].weighted
        schema = files[0].table_schema
        mapped = tuple(file.mapped for file in files)
        sizes = np.array([file.n_records for file in mapped], np.int64)
        firsts = firsts_of(mapped)
        if self._defaults is None and all(file.table_schema == schema for file in files):
            partitions = Partitions(mapped, MappedReader(schema, weighted), firsts)
            n_stored = sum(file.n_stored for file in mapped)
            return Metadata(schema, partitions, sizes, n_stored, weighted)
        sources = tuple(
            _TableSource.of(file.mapped, file.table_schema, tuple(schema.names)) for file in files
        )
        tables = Partitions(sources, _TableReader(weighted), (0,) * len(sources))
        counted = passes.reduce(tables, _TableLabels(), "partitions")
        assert counted is not None  # no Table is empty
        coding, n_stored = choose_coding(counted, "state", self._defaults, {}, None, {})
        partitions = Partitions(sources, _TableReader(weighted, coding.schema), firsts)
        return Metadata(coding.schema, partitions, sizes, n_stored, weighted)


@dataclass(frozen=True)
class _TableSource(PartitionSource):
    """A file with a schema that others need not have; some columns are wanted in some order."""

    mapped: MappedFile
    schema: Schema
    columns: tuple[str, ...]

    @classmethod
    def of(cls, mapped: MappedFile, schema: Schema, columns: tuple[str, ...]) -> _TableSource:
        # Under other defaults more may be stored, but hardly more than there are columns.
        kept = min(mapped.n_records * (16 + 4 * len(columns)), 4 * mapped.disk_bytes)
        sizes = {"disk_bytes": mapped.disk_bytes, "load_bytes": 2 * kept, "kept_bytes": kept}
        return cls(mapped, schema, columns, name=mapped.name, **sizes)


@dataclass(frozen=True)
class _TableReader(Reader):
    """Maps files under the schemas that they have, and brings them under one if there is one."""

    weighted: bool
    schema: Schema | None = None

    def load(self, source: _TableSource, n_jobs: int) -> Table:
        table = MappedReader(source.schema, self.weighted).load(source.mapped, n_jobs)
        if source.schema.names != source.columns:
            table = table.select(source.columns)
        return table if self.schema is None else table.conform(self.schema, argument=source.name)


class _TableLabels(Statistic["LabelCounts"]):
    """Labels of all columns and counts of them, as :class:`LabelDictionary` has of frames."""

    def partial(self, partition: Partition) -> LabelCounts:
        table: Table = partition.records.with_weights(None)
        singles, schema = table.one_way(n_jobs=partition.n_jobs), table.schema
        counts = [np.asarray(singles.array(c), np.int64) for c in range(len(schema))]
        sizes = {partition.index: (table.n_records, table.nbytes)}
        return LabelCounts(tuple(schema.names), list(schema.labels), counts, sizes)

    def merge(self, one: LabelCounts, other: LabelCounts) -> LabelCounts:
        return LabelDictionary().merge(one, other)
