"""The labels of a column: what its codes stand for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

from tacit.errors import InputError

__all__ = ["Label", "Labels"]

Label: TypeAlias = str | int | float | bool | dt.date | dt.datetime | dt.time | dt.timedelta | None


class Labels(Sequence[Label]):
    """The values a column can take, in code order.

    Columns with the same labels share one object, however many they are.

    Parameters
    ----------
    items : iterable of labels
        Distinct; ``None`` (missing) only as the last.
    dtype : str
        The Polars type of the data they came from, which :meth:`Table.to_frame` gives back.

    Examples
    --------
    >>> labels = Labels(["no", "yes", None], "String")
    >>> labels.code("yes"), labels.missing
    (1, 2)
    """

    __slots__ = ("__dict__", "dtype", "items")

    def __init__(self, items: Sequence[Label], dtype: str) -> None:
        self.items = tuple(items)
        self.dtype = dtype
        if not self.items:
            raise InputError("labels must not be empty")
        if None in self.items[:-1]:
            raise InputError("labels: None, for what is missing, must come last")

    @cached_property
    def _codes(self) -> dict[Label, int]:
        codes = {label: code for code, label in enumerate(self.items)}
        if len(codes) < len(self.items):
            seen: set[Label] = set()
            twice = next(x for x in self.items if x in seen or seen.add(x))  # type: ignore[func-returns-value]
            raise InputError(f"labels must be distinct, but {twice!r} occurs twice")
        return codes

    @property
    def missing(self) -> int | None:
        """The code of missing values, if the column has any."""
        return len(self.items) - 1 if self.items[-1] is None else None

    def without_missing(self) -> Labels:
        """Return the labels that are not missing, of which there has to be one."""
        return self if self.items[-1] is not None else Labels(self.items[:-1], self.dtype)

    def code(self, label: Any) -> int:
        """Return the code of a label; a :class:`KeyError` if there is none."""
        return self._codes[label]

    def find(self, label: Any) -> int:
        """Return the code of a label, or -1 if there is none."""
        return self._codes.get(label, -1)

    def code_of_text(self, text: str) -> int:
        """Return the code of the label that reads like `text`; :class:`KeyError` if none does."""
        if text in self._codes and isinstance(self.items[self._codes[text]], str):
            return self._codes[text]
        for code, label in enumerate(self.items):
            if str(label) == text or (label is None and text == ""):
                return code
        raise KeyError(text)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> tuple[Label, ...]: ...
    def __getitem__(self, code: int | slice) -> Label | tuple[Label, ...]:
        return self.items[code]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.items)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Labels):
            return NotImplemented
        return self.dtype == other.dtype and self.items == other.items

    def __hash__(self) -> int:
        return hash((self.dtype, self.items))

    def __repr__(self) -> str:
        shown = [repr(label) for label in self.items[:6]]
        if len(self.items) > 6:
            shown.append(f"… {len(self.items)} in all")
        return f"Labels({', '.join(shown)})"
