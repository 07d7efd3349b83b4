"""What tacit raises when it is given something it cannot use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

__all__ = ["FileError", "InputError"]


class InputError(ValueError):
    """An argument is wrong; the message names it, and the place."""


class FileError(InputError):
    """A file cannot be read; the message names it and says what is wrong."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[FileError], tuple[str | os.PathLike[str], str]]:
        return type(self), (self.path, self.problem)
