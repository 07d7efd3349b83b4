"""Some of the records, and some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.schema import Schema
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.scale.statistic import Part

__all__ = ["Narrowed", "StoredCount", "TakeRecords"]


@dataclass(frozen=True)
class TakeRecords:
    """The Table of some records, given by their ascending numbers among all."""

    chosen: NDArray[np.int64]

    def partial(self, part: Part) -> list[Table]:
        """Take the records that are in a part."""
        table = part.records
        low, high = np.searchsorted(self.chosen, (part.first, part.first + table.n_records))
        if low == high:
            return []
        if high - low == table.n_records:
            return [table]
        return [table.take(self.chosen[low:high] - part.first)]

    def merge(self, one: list[Table], other: list[Table]) -> list[Table]:
        """Put the later records behind the earlier ones."""
        return one + other

    def finish(self, tables: list[Table], schema: Schema) -> Table:
        """Make one Table of what was found."""
        joined = Table.concat(tables, defaults=None)
        return joined if joined.schema == schema else joined.conform(schema)


class StoredCount:
    """How many values are stored."""

    def partial(self, part: Part) -> int:
        """Count those of a part."""
        return int(part.records.n_stored)

    def merge(self, one: int, other: int) -> int:
        """Add up."""
        return one + other


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
        table = self.reader.load(piece, n_jobs)
        return None if table is None else table.select(self.places)
