"""Table files as partitions; labels of tables that differ in them are unified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.scale.coding import code_of
from tacit.scale.dictionary import Dictionary, Found
from tacit.scale.files.mapped import MappedPiece, MappedReader, firsts_of
from tacit.scale.partitioned_table import Contents
from tacit.scale.partitions import Partitions
from tacit.statistic import Statistic
from tacit.table.schema_json import schema_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.scale.partitioned_table import Run
    from tacit.schema import Schema
    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["TableFile", "TableFiles"]


class TableFile:
    """What a Table file says of itself.

    Attributes
    ----------
    path : str
    schema : dict of str to Labels
    """

    def __init__(self, path: str) -> None:
        self.path = path
        kind, arrays = store.read_arrays(path, verify=False)
        if kind != "table":
            what = "a partition of a folder; scan the folder" if kind == "partition" else repr(kind)
            raise FileError(path, f"holds no Table but {what}")
        try:
            self.held = schema_from_json(arrays["schema"].tobytes())
            n_records, n_stored = len(arrays["indptr"]) - 1, len(arrays["values"])
        except KeyError as error:
            raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
        except InputError as error:
            raise FileError(path, f"is damaged: {error}") from None
        if n_records < 1:
            raise FileError(path, "is damaged: it holds no records")
        self.weighted = "weights" in arrays
        self.schema = dict(zip(self.held.names, self.held.labels, strict=True))
        size = Path(path).stat().st_size
        self.piece = MappedPiece(path, n_records, n_stored, size, store.seal_of(path))


class TableFiles:
    """Files that hold Tables with the same columns."""

    def __init__(self, files: Sequence[TableFile], defaults: Any) -> None:
        for file in files[1:]:
            if file.weighted != files[0].weighted:
                some, none = (file, files[0]) if file.weighted else (files[0], file)
                raise FileError(none.path, f"has no weights, but {some.path} has")
        self._files = files
        self._defaults = defaults

    def find(self, run: Run) -> Contents:
        """Find labels and defaults, if files do not agree about them."""
        files, weighted = self._files, self._files[0].weighted
        schema = files[0].held
        pieces: tuple[Any, ...] = tuple(file.piece for file in files)
        sizes = np.array([piece.n_records for piece in pieces], np.int64)
        if self._defaults is None and all(file.held == schema for file in files):
            parts = Partitions(pieces, MappedReader(schema, weighted), firsts_of(pieces))
            n_stored = sum(piece.n_stored for piece in pieces)
            return Contents(schema, parts, sizes, n_stored, weighted)
        pieces = tuple(_OwnPiece.of(file, schema.names) for file in files)
        own = Partitions(pieces, _OwnReader(weighted), (0,) * len(pieces))
        found = run.reduce(own, _TableLabels(), "partitions")
        assert found is not None  # no Table is empty
        coding, n_stored = code_of(found, "state", self._defaults, {}, None)
        reader = _ConformingReader(_OwnReader(weighted), coding.schema)
        parts = Partitions(pieces, reader, firsts_of([piece.own for piece in pieces]))
        return Contents(coding.schema, parts, sizes, n_stored, weighted)


@dataclass(frozen=True)
class _OwnPiece:
    """A file with a schema of its own, of which some columns are wanted in some order."""

    own: MappedPiece
    schema: Schema
    columns: tuple[str, ...]

    @classmethod
    def of(cls, file: TableFile, columns: Sequence[str]) -> _OwnPiece:
        return cls(file.piece, file.held, tuple(columns))

    @property
    def name(self) -> str:
        return self.own.name

    @property
    def disk_bytes(self) -> int:
        return self.own.disk_bytes

    @property
    def load_bytes(self) -> int:
        return 2 * self.kept_bytes

    @property
    def kept_bytes(self) -> int:
        # Under other defaults more may be stored, but hardly more than there are columns.
        most = self.own.n_records * (16 + 4 * len(self.columns))
        return min(most, 4 * self.own.disk_bytes)


@dataclass(frozen=True)
class _OwnReader:
    """Maps files under the schemas that they have."""

    weighted: bool

    def load(self, piece: _OwnPiece, n_jobs: int) -> Table:
        table = MappedReader(piece.schema, self.weighted).load(piece.own, n_jobs)
        return table if piece.schema.names == piece.columns else table.select(piece.columns)


@dataclass(frozen=True)
class _ConformingReader:
    """Maps files and brings their records under one schema."""

    reader: _OwnReader
    schema: Schema

    def load(self, piece: _OwnPiece, n_jobs: int) -> Table:
        table = self.reader.load(piece, n_jobs)
        return table.conform(self.schema, argument=piece.name)


class _TableLabels(Statistic["Found"]):
    """Labels of all columns and counts of them, as :class:`Dictionary` finds them in frames."""

    def partial(self, part: Partition) -> Found:
        table: Table = part.records.with_weights(None)
        singles, schema = table.one_way(n_jobs=part.n_jobs), table.schema
        counts = [np.asarray(singles.array(c), np.int64) for c in range(len(schema))]
        sizes = {part.index: (table.n_records, table.nbytes)}
        return Found(tuple(schema.names), list(schema.labels), counts, sizes)

    def merge(self, one: Found, other: Found) -> Found:
        return Dictionary().merge(one, other)
