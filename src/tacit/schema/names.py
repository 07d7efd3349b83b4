"""Names of columns that have none of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

__all__ = ["NumberedNames"]


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
