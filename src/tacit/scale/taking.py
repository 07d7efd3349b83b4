"""Some of the records, and some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.schema import Schema
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["Narrowed", "NarrowedPiece", "StoredCount", "TakeRecords"]


@dataclass(frozen=True)
class TakeRecords:
    """The Table of those of some records, given by their ascending numbers, that are in a part."""

    chosen: NDArray[np.int64]

    def __call__(self, part: Partition) -> Table | None:
        """Take them; None if there are none."""
        table: Table = part.records
        low, high = np.searchsorted(self.chosen, (part.first, part.first + table.n_records))
        return table.take(self.chosen[low:high] - part.first) if low < high else None


class StoredCount(Statistic["int"]):
    """How many values are stored."""

    def partial(self, part: Partition) -> int:
        """Count those of a part."""
        return int(part.records.n_stored)

    def merge(self, one: int, other: int) -> int:
        """Add up."""
        return one + other


@dataclass(frozen=True)
class NarrowedPiece:
    """A piece that takes no memory, until some of its columns are copied out of it."""

    piece: Any
    kept_bytes: int

    @classmethod
    def of(cls, piece: Any) -> Any:
        """Return what says how much memory some columns of a piece may take."""
        held = getattr(piece, "table", None)
        n_bytes = piece.disk_bytes if held is None else held.nbytes
        return piece if piece.kept_bytes else cls(piece, n_bytes)

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return str(self.piece.name)

    @property
    def disk_bytes(self) -> int:
        """What reading it takes from a disk."""
        return int(self.piece.disk_bytes)

    @property
    def load_bytes(self) -> int:
        """What loading it takes."""
        return max(int(self.piece.load_bytes), self.kept_bytes)


@dataclass(frozen=True)
class Narrowed:
    """A reader of some of the columns.

    Parameters
    ----------
    reader : Reader
        Reads all columns.
    places : sequence of int
        The columns to keep.
    schema : Schema
        Of those columns.
    """

    reader: Any
    places: tuple[int, ...]
    schema: Schema

    @classmethod
    def of(cls, reader: Any, schema: Schema, places: Sequence[int]) -> Any:
        """Return a reader of some columns: one that does not read others, where there is one."""
        narrow = getattr(reader, "narrow", None)
        if narrow is not None:
            return narrow(places)
        kept = Schema(
            [schema.names[p] for p in places],
            [schema.labels[p] for p in places],
            schema.defaults[list(places)],
        )
        return cls(reader, tuple(places), kept)

    def load(self, piece: Any, n_jobs: int) -> Table | None:
        """Load a piece and keep the columns."""
        own = piece.piece if isinstance(piece, NarrowedPiece) else piece
        table = self.reader.load(own, n_jobs)
        return None if table is None else table.select(self.places)
