"""Where partitions lie and how they become records."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tacit.errors import InputError
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table import Table

__all__ = ["HeldPiece", "HeldReader", "Partitions", "Piece", "Reader", "check_limit"]


class Piece(Protocol):
    """Where a partition lies: small and picklable.

    Attributes
    ----------
    name : str
        For error messages: the file and the row group or the bytes.
    disk_bytes : int
        What reading it takes from a disk.
    load_bytes : int
        Memory that is needed to load it, at most: an estimate, no less than `kept_bytes`.
    kept_bytes : int
        Memory that it takes once it is loaded; 0 where it is mapped.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def disk_bytes(self) -> int: ...  # noqa: D102
    @property
    def load_bytes(self) -> int: ...  # noqa: D102
    @property
    def kept_bytes(self) -> int: ...  # noqa: D102


class Reader(Protocol):
    """How the pieces of a table become records: shared by all of them, picklable."""

    def load(self, piece: Any, n_jobs: int) -> Any:
        """Return the records of a piece, mostly as a Table; None if it has none.

        An error names the piece.
        """


@dataclass(frozen=True)
class Partitions:
    """The partitions of a table, in order.

    Attributes
    ----------
    pieces : tuple of Piece
    reader : Reader
    firsts : tuple of int
        The number of the first record of each; zeros where that is not known yet.
    key : str
        What is loaded under one key may be kept and used again.
    keep : bool
        Whether a later pass will want them: not if they are only read to find the schema.
    home : (str, tuple of int), optional
        The key of the partitions that these are some of, and which of them.
    """

    pieces: tuple[Any, ...]
    reader: Any
    firsts: tuple[int, ...]
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    keep: bool = True
    home: tuple[str, tuple[int, ...]] | None = None

    def only(self, numbers: Sequence[int]) -> Partitions:
        """Return some of the partitions, in their order."""
        if len(numbers) == len(self.pieces):
            return self
        own = tuple(numbers)
        pieces, firsts = (tuple(x[k] for k in own) for x in (self.pieces, self.firsts))
        return Partitions(pieces, self.reader, firsts, keep=self.keep, home=(self.key, own))

    def identity(self, index: int) -> tuple[str, int]:
        """Return under which name a partition may be kept, whichever of them it is with."""
        return (self.key, index) if self.home is None else (self.home[0], self.home[1][index])

    def load(self, index: int, n_jobs: int) -> Any:
        """Load one of them."""
        return self.reader.load(self.pieces[index], n_jobs)


def check_limit(partitions: Partitions, memory: int | None, reserved: int = 0) -> None:
    """Refuse partitions of which a single one would exceed a limit of memory."""
    if memory is None or not partitions.pieces:
        return
    largest = max(partitions.pieces, key=lambda piece: piece.load_bytes)
    if reserved > memory:
        raise InputError(
            f"memory: the statistic that is asked for needs about {human_bytes(reserved)} with its "
            f"merging, but the limit is {human_bytes(memory)}; raise the limit, or ask for less: "
            "fewer columns, clusters or starts"
        )
    if largest.load_bytes + reserved > memory:
        beside = f", besides {human_bytes(reserved)} for the statistic" if reserved else ""
        raise InputError(
            f"memory: {largest.name} needs about {human_bytes(largest.load_bytes)} to be "
            f"loaded{beside}, but the limit is {human_bytes(memory)}; raise the limit, or make "
            "smaller partitions"
        )


@dataclass(frozen=True)
class HeldPiece:
    """A Table in memory."""

    table: Table
    name: str
    disk_bytes: int = 0
    load_bytes: int = 0
    kept_bytes: int = 0


class HeldReader:
    """Hands out tables that are in memory already."""

    def load(self, piece: HeldPiece, n_jobs: int) -> Table:
        """Return the Table."""
        return piece.table
