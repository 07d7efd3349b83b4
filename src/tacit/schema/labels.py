"""The labels of a column: what its codes stand for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "Kind", "Label", "Labels"]

Label: TypeAlias = str | int | float | bool | dt.date | dt.datetime | dt.time | dt.timedelta | None
Kind: TypeAlias = Literal["numeric", "ordered", "categorical", "boolean", "identifier"]
_EXACT = 2**53  # up to which all whole numbers are floats
KINDS: tuple[Kind, ...] = ("numeric", "ordered", "categorical", "boolean", "identifier")


class Labels(Sequence[Label]):
    """The values a column can take, in code order.

    Columns with the same labels share one object, however many they are.

    Parameters
    ----------
    items : iterable of labels
        Distinct; ``None`` (missing) only as the last.
    dtype : str
        The Polars type of the data they came from, which :meth:`Table.to_frame` gives back.
    edges : tuple of float, optional
        Where numbers were cut, if the labels are bins.
    kind : {"numeric", "ordered", "categorical", "boolean", "identifier"}, optional
        What the labels are, where that does not follow from their type.

    Examples
    --------
    >>> labels = Labels(["no", "yes", None], "String")
    >>> labels.code("yes"), labels.missing, labels.kind
    (1, 2, 'categorical')
    """

    __slots__ = ("__dict__", "_array", "_items", "_kind", "_missing", "dtype", "edges")

    def __init__(
        self,
        items: Sequence[Label],
        dtype: str,
        *,
        edges: tuple[float, ...] | None = None,
        kind: Kind | None = None,
    ) -> None:
        self._items: tuple[Label, ...] | None = tuple(items)
        self._array: NDArray[Any] | None = None
        self.dtype = dtype
        self.edges = edges
        self._kind = kind
        if not self._items:
            raise InputError("labels must not be empty")
        if None in self._items[:-1]:
            raise InputError("labels: None, for what is missing, must come last")
        self._missing = self._items[-1] is None

    @classmethod
    def of_numbers(
        cls, numbers: NDArray[Any], dtype: str, *, missing: bool = False, kind: Kind | None = None
    ) -> Labels:
        """Make labels of an array of numbers that ascend strictly; it is kept as it is.

        >>> Labels.of_numbers(np.array([0.5, 2.5]), "Float64", missing=True)
        Labels(0.5, 2.5, None)
        """
        labels = cls.__new__(cls)
        labels._items, labels._array, labels._missing = None, numbers, missing
        labels.dtype, labels.edges, labels._kind = dtype, None, kind
        if not len(numbers) and not missing:
            raise InputError("labels must not be empty")
        return labels

    def with_kind(self, kind: Kind | None) -> Labels:
        """Return the same labels as another kind of column."""
        labels = Labels.__new__(Labels)
        labels._items, labels._array, labels._missing = self._items, self._array, self._missing
        labels.dtype, labels.edges, labels._kind = self.dtype, self.edges, kind
        return labels

    @property
    def items(self) -> tuple[Label, ...]:
        """The labels as Python objects."""
        if self._items is None:
            assert self._array is not None
            self._items = (*self._array.tolist(), *((None,) if self._missing else ()))
        return self._items

    @property
    def kind(self) -> Kind:
        """What the labels are: as was said, or as their type has it."""
        if self._kind is not None:
            return self._kind
        if self.is_numeric or self.edges is not None:
            return "numeric"
        if self.dtype == "Boolean":
            return "boolean"
        if self.dtype == "Enum" or self.dtype.startswith(("Date", "Duration", "Time")):
            return "ordered"
        return "categorical"

    @property
    def chosen_kind(self) -> Kind | None:
        """The kind that was said, if one was."""
        return self._kind

    @property
    def array(self) -> NDArray[Any] | None:
        """The numbers that the labels were made of, without what is missing."""
        return self._array

    @property
    def is_numeric(self) -> bool:
        """Whether the labels are numbers, as they were in the data."""
        if self._array is not None:
            return True
        return self.dtype.startswith(("Int", "UInt", "Float")) and self.items[0] is not None

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The labels as numbers; NaN for what is missing. They are numbers, or booleans."""
        known: Any = self._array if self._array is not None else self.items[: self.missing]
        numbers = np.full(len(self), np.nan)
        numbers[: len(known)] = np.asarray(known, np.float64)
        return numbers

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
        return len(self) - 1 if self._missing else None

    def without_missing(self) -> Labels:
        """Return the labels that are not missing, of which there has to be one."""
        return self._with(missing=False) if self._missing else self

    def with_missing(self) -> Labels:
        """Return the labels with one for missing values behind them."""
        return self if self._missing else self._with(missing=True)

    def _with(self, *, missing: bool) -> Labels:
        if self._array is not None:
            return Labels.of_numbers(self._array, self.dtype, missing=missing, kind=self._kind)
        items = (*self.items[: self.missing], *((None,) if missing else ()))
        return Labels(items, self.dtype, edges=self.edges, kind=self._kind)

    def code(self, label: Any) -> int:
        """Return the code of a label; a :class:`KeyError` if there is none."""
        code = self.find(label)
        if code < 0:
            raise KeyError(label)
        return code

    def find(self, label: Any) -> int:
        """Return the code of a label, or -1 if there is none; numbers fall into bins."""
        if self._array is None:
            code = self._codes.get(label, -1)
            if code >= 0 or self.edges is None or not is_number(label):
                return code
        absent = len(self) - 1 if self._missing else -1
        if label is None or label != label:
            return absent
        if self._array is None:
            return int(np.searchsorted(np.asarray(self.edges), float(label), "right"))
        if not isinstance(label, (Real, np.bool_)):
            return -1
        number: Any = label.item() if isinstance(label, np.generic) else label
        if self._array.dtype.kind != "f":
            if number % 1:  # infinity leaves NaN
                return -1
            number = int(number)  # which no rounding makes equal to another
        code = int(np.searchsorted(self._array, number))
        return code if code < len(self._array) and self._array[code].item() == number else -1

    def find_all(self, others: Labels) -> NDArray[np.int64]:
        """Return the code of each of other labels, or -1; numbers fall into bins.

        >>> Labels(["< 3", ">= 3"], "String", edges=(3.0,)).find_all(Labels([1, 3, 7], "Int64"))
        array([0, 1, 1])
        """
        if others is self or others == self:
            return np.arange(len(self))
        if self.edges is not None and others.is_numeric:
            numbers = others.numbers[: others.missing]
            codes = np.searchsorted(np.asarray(self.edges), numbers, "right")
        elif (comparable := _comparable(self._array, others._array)) is not None:
            mine, theirs = comparable
            codes = np.minimum(np.searchsorted(mine, theirs), len(mine) - 1)
            codes = np.where(mine[codes] == theirs, codes, -1) if len(mine) else codes * 0 - 1
        else:
            return np.fromiter((self.find(label) for label in others), np.int64, len(others))
        if others._missing:
            codes = np.append(codes, len(self) - 1 if self._missing else -1)
        return codes.astype(np.int64)

    def code_of_text(self, text: str) -> int:
        """Return the code of the label that reads like `text`; :class:`KeyError` if none does."""
        if self._array is None and isinstance(self._codes.get(text), int):
            code = self._codes[text]
            if isinstance(self.items[code], str):
                return code
        for code, label in enumerate(self.items):
            if str(label) == text or (label is None and text == ""):
                return code
        raise KeyError(text)

    def __len__(self) -> int:
        if self._array is not None:
            return len(self._array) + self._missing
        return len(self.items)

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> tuple[Label, ...]: ...
    def __getitem__(self, code: int | slice) -> Label | tuple[Label, ...]:
        if self._items is not None:
            return self._items[code]
        if isinstance(code, slice):
            return tuple(self[k] for k in range(*code.indices(len(self))))
        assert self._array is not None
        position = range(len(self))[code]
        return self._array[position].item() if position < len(self._array) else None

    def __iter__(self) -> Iterator[Label]:
        return iter(self.items)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Labels):
            return NotImplemented
        if self.dtype != other.dtype or len(self) != len(other) or self.edges != other.edges:
            return False
        if self.kind != other.kind:
            return False
        if self._array is not None and other._array is not None:
            return self._missing == other._missing and np.array_equal(self._array, other._array)
        return self.items == other.items

    def __hash__(self) -> int:
        return hash((self.dtype, len(self), self[0]))

    def __repr__(self) -> str:
        shown = [repr(label) for label in self[:6]]
        if len(self) > 6:
            shown.append(f"… {len(self)} in all")
        return f"Labels({', '.join(shown)})"


def _comparable(
    one: NDArray[Any] | None, other: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return arrays whose numbers NumPy compares exactly, if they are or can be made such."""
    if one is None or other is None:
        return None
    if one.dtype.kind == other.dtype.kind:
        return one, other
    for numbers in (one, other):
        whole = numbers.dtype.kind != "f" and len(numbers) > 0
        if whole and not -_EXACT <= numbers[0] <= numbers[-1] <= _EXACT:  # they ascend
            return None
    return one.astype(np.float64), other.astype(np.float64)


def is_number(label: Any) -> bool:
    return isinstance(label, Real) and not isinstance(label, (bool, np.bool_))
