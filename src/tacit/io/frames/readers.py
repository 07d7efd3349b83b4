"""Pieces of files, several of which may make a partition, and the two readers of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from tacit.io.frames.raw import RawFrame, RawPart, naming_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.io.csv.file import CsvForm
    from tacit.io.frames.coding import Coding
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["CodedReader", "FilePiece", "How", "RawReader", "Stretch", "group_stretches"]


@dataclass(frozen=True)
class How:
    """How files are to be read, for all of them at once.

    Attributes
    ----------
    types : mapping of str to Polars types
        Of columns that a file does not tell the type of.
    forms : tuple of CsvForm
        Of files of text.
    """

    types: Mapping[str, Any] = field(default_factory=dict)
    forms: tuple[CsvForm, ...] = ()

    def typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give columns that a file has nothing in the type that they have in others."""
        empty = [name for name, dtype in frame.schema.items() if dtype == pl.Null]
        return frame.with_columns(pl.col(name).cast(self.types[name]) for name in empty)


class Stretch(Protocol):
    """Consecutive records of one file: small and picklable.

    Attributes
    ----------
    path : str
    place : str
        Where in the file, for people; "" for all of it.
    first : int
        The number of its first record in the file, as far as it is known.
    n_records : int
        As far as it is known; else an estimate.
    disk_bytes, load_bytes : int
    read_bytes : int
        How much of `load_bytes` is needed to read it, beside the frame that it becomes.
    """

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def place(self) -> str: ...  # noqa: D102
    @property
    def first(self) -> int: ...  # noqa: D102
    @property
    def n_records(self) -> int: ...  # noqa: D102
    @property
    def disk_bytes(self) -> int: ...  # noqa: D102
    @property
    def load_bytes(self) -> int: ...  # noqa: D102
    @property
    def read_bytes(self) -> int: ...  # noqa: D102

    def read(self, columns: list[str], how: How) -> pl.DataFrame:
        """Read some columns."""

    def join(self, other: Any) -> Stretch | None:
        """Return both as one if the other follows in the same file, else None."""


@dataclass(frozen=True)
class FilePiece:
    """A partition: one or more stretches of files."""

    stretches: tuple[Any, ...]
    load_bytes: int
    kept_bytes: int

    @classmethod
    def of(cls, stretches: Sequence[Stretch]) -> FilePiece:
        """Make a piece of stretches, each joined with the one before if that can be."""
        joined = [stretches[0]]
        for stretch in stretches[1:]:
            both = joined[-1].join(stretch)
            joined[-1:] = [joined[-1], stretch] if both is None else [both]
        n_bytes = sum(stretch.load_bytes for stretch in joined)
        return cls(tuple(joined), n_bytes, n_bytes)

    @property
    def name(self) -> str:
        """What to call it in messages."""
        names = [f"{own.path}, {own.place}" if own.place else own.path for own in self.stretches]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    @property
    def disk_bytes(self) -> int:
        """What reading it takes from a disk."""
        return sum(own.disk_bytes for own in self.stretches)

    @property
    def read_bytes(self) -> int:
        """What reading takes, beside the frames that are read."""
        return int(max(own.read_bytes for own in self.stretches))

    def sized(self, load_bytes: int, kept_bytes: int) -> FilePiece:
        """Return the piece with sizes that are known better."""
        return replace(self, load_bytes=load_bytes, kept_bytes=kept_bytes)


def group_stretches(
    stretches: Iterable[Stretch], n_bytes: int, n_records: int | None
) -> tuple[FilePiece, ...]:
    """Group neighbours into partitions of about the given size at most."""
    groups: list[list[Stretch]] = []
    size = records = 0
    for stretch in stretches:
        size += stretch.load_bytes
        records += stretch.n_records
        full = size > n_bytes if n_records is None else records > n_records
        if not groups or full:
            groups.append([])
            size, records = stretch.load_bytes, stretch.n_records
        groups[-1].append(stretch)
    return tuple(FilePiece.of(group) for group in groups)


@dataclass(frozen=True)
class RawReader:
    """Reads pieces as frames, for the pass that finds labels."""

    columns: tuple[str, ...]
    how: How = How()

    def load(self, piece: FilePiece, n_jobs: int) -> RawPart | None:
        """Read the frames of a piece."""
        frames = []
        for stretch in piece.stretches:
            with naming_place(stretch.path, stretch.place):
                frame = stretch.read(list(self.columns), self.how)
            if frame.height:
                frames.append(RawFrame(frame, stretch.path, stretch.place, stretch.first))
        return RawPart(frames) if frames else None


@dataclass(frozen=True)
class CodedReader:
    """Reads pieces as Tables under one schema."""

    coding: Coding
    how: How = How()

    @property
    def schema(self) -> Schema:
        """Of the Tables."""
        return self.coding.schema

    def narrow(self, places: Sequence[int]) -> CodedReader:
        """Return a reader that does not read other columns."""
        return CodedReader(self.coding.narrow(places), self.how)

    def load(self, piece: FilePiece, n_jobs: int) -> Table | None:
        """Read a piece and code its values."""
        raw = RawReader(tuple(self.coding.columns), self.how).load(piece, n_jobs)
        return None if raw is None else self.coding.table(raw, n_jobs)
