"""Whether a file is still the one that was opened."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tacit.errors import FileError

__all__ = ["Version"]


@dataclass(frozen=True)
class Version:
    """What tells a file from the one that takes its place: its size, and when it was written."""

    size: int
    written: int  # in nanoseconds

    @classmethod
    def of(cls, path: str) -> Version:
        """Look at a file."""
        try:
            found = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            raise FileError(path, "no such file") from None
        return cls(found.st_size, found.st_mtime_ns)

    def check(self, path: str) -> None:
        """Refuse a file that is not there any more, or not the same."""
        try:
            found = Version.of(path)
        except FileError:
            raise FileError(path, "is not there any more") from None
        if found.size != self.size:
            raise FileError(
                path,
                f"has changed since it was opened: it had {self.size:,} bytes and "
                f"has {found.size:,}",
            )
        if found != self:
            raise FileError(path, "has changed since it was opened: it was written again")
