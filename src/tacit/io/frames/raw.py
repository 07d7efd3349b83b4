"""Records as they are in files: frames, before their values have codes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.opening import naming
from tacit.table.containers import as_frame

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["RawFrame", "RawPartition", "naming_location", "raw_partition"]

_LOCATIONS = ("row group ", "record batch ", "bytes ")


@dataclass(frozen=True)
class RawFrame:
    """Some consecutive records of one file."""

    frame: pl.DataFrame
    path: str = ""  # which file, for error messages
    location: str = ""  # where in it, such as "row group 3"; "" for all of it
    first: int = 0  # the number of the first record in the file, as far as it is known


@dataclass(frozen=True)
class RawPartition:
    """The frames of a partition."""

    frames: list[RawFrame] = field(default_factory=list)

    @property
    def n_records(self) -> int:
        """How many records there are in all frames."""
        return sum(raw.frame.height for raw in self.frames)

    @property
    def n_bytes(self) -> int:
        """What they take in memory, at most."""
        return sum(_frame_bytes(raw.frame) for raw in self.frames)


def _frame_bytes(frame: pl.DataFrame) -> int:
    # Polars leaves out what it takes to point to texts.
    texts = sum(dtype == pl.String for dtype in frame.dtypes)
    return int(frame.estimated_size()) + 16 * texts * frame.height


def raw_partition(data: Any) -> RawPartition:
    """Return a partition as frames; any one eager frame (pandas, Polars, Arrow) is one, too."""
    return data if isinstance(data, RawPartition) else RawPartition([RawFrame(as_frame(data)[0])])


@contextmanager
def naming_location(path: Any, location: str) -> Iterator[None]:
    """Turn errors from inside into errors that name the file, and where in it."""
    try:
        with naming(path):
            yield
    except FileError as error:
        if not location or str(error.path) != str(path) or error.problem.startswith(_LOCATIONS):
            raise  # as one that says where already
        raise type(error)(path, f"{location}: {error.problem}") from error
    except InputError as error:
        if not path:  # a frame that came from no file
            raise InputError(str(error).removeprefix(": ")) from error
        problem = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{path}: {location}: {problem}" if location else str(error)) from error
