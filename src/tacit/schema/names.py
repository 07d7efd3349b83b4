"""Names of columns: which may be, and those of columns that have none of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from tacit.errors import InputError

__all__ = ["NumberedNames", "check_names"]

# Control characters but for tabs and ends of lines, which spreadsheets have in headings; halves of
# characters, which no file can hold. A NUL in the name of a column ends Polars, and the process.
_NEVER = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ud800-\\udfff]")


def check_names(names: Iterable[str], argument: str) -> None:
    r"""Refuse names of columns with control characters.

    >>> check_names(["sky", "ra\0in"], "data")
    Traceback (most recent call last):
    tacit.errors.InputError: data: the column name 'ra\x00in' has the control character '\x00'
    """
    names = list(names)
    if _NEVER.search("\n".join(names)) is None:
        return
    name = next(name for name in names if _NEVER.search(name))
    found = _NEVER.findall(name)[0]
    what = "half a character" if found >= "\ud800" else "the control character"
    raise InputError(f"{argument}: the column name {name!r} has {what} {found!r}")


class NumberedNames(Sequence[str]):
    """Names that are made when they are asked for: a sparse array may have any number.

    >>> list(NumberedNames(range(3)))
    ['x0', 'x1', 'x2']
    """

    def __init__(self, positions: range) -> None:
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[str]:
        return map("x{}".format, self._positions)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[str]: ...
    def __getitem__(self, key: int | slice) -> str | Sequence[str]:
        if isinstance(key, slice):
            return NumberedNames(self._positions[key])
        return f"x{self._positions[key]}"
