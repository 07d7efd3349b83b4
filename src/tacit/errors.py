"""What tacit raises when it is given something it cannot use."""

from __future__ import annotations

from difflib import get_close_matches
from heapq import nlargest
from itertools import takewhile
from operator import eq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["FileError", "InputError", "InputWarning"]
__all__ += ["absent_column", "did_you_mean", "no_column", "refuse_partitions"]

_MANY = 1_000  # names that are compared letter by letter, which takes some milliseconds


class InputError(ValueError):
    """An argument is wrong; the message names it, and where."""


class InputWarning(UserWarning):
    """Something about an argument is odd, and was passed over or used all the same."""


class FileError(InputError):
    """A file cannot be read; the message names it and says what is wrong."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[FileError], tuple[str | os.PathLike[str], str]]:
        return type(self), (self.path, self.problem)


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return the end of a message about a name that is not known: which one may be meant, if any.

    A name in other letter case, or one that reads the same but is of another type, is preferred to
    one that is similar. Of very many names, only those that begin or end alike are compared.

    >>> did_you_mean("Income", ["age", "income"])
    "; did you mean 'income'?"
    >>> did_you_mean("1", [0, 1])
    '; did you mean 1?'
    >>> did_you_mean("colour", ["age", "income"])
    ''
    """
    text = str(name)
    folded = text.strip().casefold()
    texts: dict[str, Any] = {}
    for item in known:
        like = str(item)
        if item is not None and like.strip().casefold() == folded and item != name:
            return f"; did you mean {item!r}?"
        texts.setdefault(like, item)
    if not isinstance(name, str):
        return ""  # a number that is not there is not a typing error
    if len(texts) > _MANY:
        texts = {like: texts[like] for like in _about_the_same(text, texts)}
    near = get_close_matches(text, [like for like, item in texts.items() if item is not None], n=1)
    return f"; did you mean {texts[near[0]]!r}?" if near else ""


def _about_the_same(text: str, names: Iterable[str]) -> list[str]:
    """Return a bounded number of names that share half of a text: one slip of the hand leaves it.

    They are those that share most letters with it, at the beginning and at the end together.
    """
    half = (len(text) + 1) // 2
    begin, end = text[:half], text[-half:]

    def shared(name: str) -> int:
        ends = map(eq, text, name), map(eq, reversed(text), reversed(name))
        return sum(sum(takewhile(bool, same)) for same in ends)

    alike = (name for name in names if name.startswith(begin) or name.endswith(end))
    return nlargest(_MANY, (name for name in alike if abs(len(name) - len(text)) <= 2), key=shared)


def no_column(argument: str, name: Any, known: Iterable[str]) -> InputError:
    """Return the error of an argument that names a column which is not there."""
    return InputError(f"{argument}: there is no column {name!r}{did_you_mean(name, known)}")


def absent_column(argument: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error of data that lack a column of a model."""
    hint = did_you_mean(name, known)
    return InputError(
        f"{argument}: there is no column {name!r}, on which the model was fitted{hint}"
    )


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
