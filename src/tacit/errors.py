"""What tacit raises when it is given something it cannot use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

__all__ = ["FileError", "InputError", "refuse_partitions"]


class InputError(ValueError):
    """An argument is wrong; the message names it, and where."""


class FileError(InputError):
    """A file cannot be read; the message names it and says what is wrong."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[FileError], tuple[str | os.PathLike[str], str]]:
        return type(self), (self.path, self.problem)


def refuse_partitions(X: Any, what: str, argument: str = "X") -> None:
    """Refuse a partitioned table, or a frame of Dask, where all records are needed on one machine.

    `what` needs them; `argument` is what the caller calls `X`.
    """
    needs = f"{argument}: {what} needs all records on one machine, but {argument} is a"
    if getattr(X, "in_partitions", False) is True:
        raise InputError(
            f"{needs} partitioned table; {argument}.collect() gets all of its records, "
            f"{argument}.take(…) some of them"
        )
    kind = type(X)
    if kind.__module__.partition(".")[0].startswith("dask") and hasattr(kind, "npartitions"):
        raise InputError(f"{needs} {kind.__name__} of Dask; {argument}.compute() gets all of them")
