"""The columns of a table, and how their stored values are numbered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError, did_you_mean, no_column
from tacit.schema.names import NumberedNames, check_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.schema.labels import Kind, Label, Labels

__all__ = ["Column", "Schema"]

# What a schema derives from its labels and keeps.
_OF_LABELS = (
    "_distinct_labels", "arities", "cells", "offsets", "two_valued", "value_codes", "value_columns"
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column: its name, its labels, and the code of its default.

    Attributes
    ----------
    name : str
    labels : Labels
        What the codes 0, 1, … stand for.
    default : int
        The code that is never stored.
    kind : {"numeric", "ordered", "categorical", "boolean", "identifier"}
        What its values are.
    edges : tuple of float or None
        Where its numbers are cut, if they are.
    """

    name: str
    labels: Labels
    default: int

    @property
    def kind(self) -> Kind:
        """What its values are."""
        return self.labels.kind

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Where its numbers are cut; ``None`` if they are not, or if it holds none."""
        return self.labels.edges

    @property
    def arity(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def default_label(self) -> Label:
        """The label that is never stored."""
        return self.labels[self.default]

    def code(self, label: Any) -> int:
        """Return the code of a label, or say which labels there are; numbers fall into bins."""
        try:
            return self.labels.code(label)
        except (KeyError, TypeError, ValueError):
            pass
        shown = ", ".join(repr(x) for x in self.labels[:8])
        more = f", … ({self.arity} in all)" if self.arity > 8 else ""
        raise InputError(
            f"column {self.name!r} has no label {label!r}; its labels are {shown}{more}"
            + did_you_mean(label, self.labels)
        ) from None


class Schema(Sequence[Column]):
    """All columns of a table.

    A *value id* numbers the (column, non-default code) pairs, column after column. It is what a
    table stores and what kernels see.

    Parameters
    ----------
    names : sequence of str
    labels : sequence of Labels
    defaults : sequence of int
        The default code of each column.

    Examples
    --------
    >>> from tacit.schema import Labels
    >>> schema = Schema(["A", "B"], [Labels([0, 1, 2], "Int64"), Labels([0, 1], "Int64")], [1, 0])
    >>> schema.n_values, schema.value_id(0, 2), schema.value_id(0, 1)
    (3, 1, None)
    """

    def __init__(
        self, names: Sequence[str], labels: Sequence[Labels], defaults: Sequence[int] | NDArray[Any]
    ) -> None:
        self._given = names if isinstance(names, NumberedNames) else tuple(names)
        self.labels = tuple(labels)
        self._set_defaults(defaults)
        if isinstance(names, NumberedNames):  # which are distinct
            return
        check_names(self.names, "columns")
        if len(self._positions) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if self._positions[n] != i)
            raise InputError(f"column names must be distinct, but {twice!r} occurs twice")

    def _set_defaults(self, defaults: Sequence[int] | NDArray[Any]) -> None:
        self.defaults = np.ascontiguousarray(defaults, dtype=np.int64)
        if not len(self._given) == len(self.labels) == len(self.defaults):
            raise InputError("names, labels and defaults must be equally many")
        wrong = (self.defaults < 0) | (self.defaults >= self.arities)
        if wrong.any():
            c = int(np.argmax(wrong))
            raise InputError(f"defaults: column {self.names[c]!r} has no code {self.defaults[c]}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._given)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def name_array(self) -> NDArray[Any]:
        """The names as an array, as scikit-learn wants them."""
        return np.array(self.names, dtype=object)

    @cached_property
    def two_valued(self) -> bool:
        """Whether no column has more than two labels."""
        return not len(self.labels) or int(self.arities.max()) <= 2

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Number of labels of each column."""
        return self.of_labels(len, np.int64)

    def of_labels(self, ask: Callable[[Labels], Any], dtype: Any) -> NDArray[Any]:
        """Return what a function says of the labels of each column.

        Columns mostly share their labels, so that few of them are asked.
        """
        distinct, which = self._distinct_labels
        said = [ask(labels) for labels in distinct]
        if len(said) == 1:
            return np.full(len(self.labels), said[0], dtype)
        return np.array(said, dtype)[which]

    @cached_property
    def _distinct_labels(self) -> tuple[list[Labels], NDArray[np.int64]]:
        """The labels without repetitions, and which of them each column has."""
        keys = np.fromiter(map(id, self.labels), np.int64, len(self.labels))
        if len(keys) and (keys == keys[0]).all():
            return [self.labels[0]], np.zeros(len(keys), np.int64)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return [self.labels[c] for c in first.tolist()], which

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First value id of each column, and one past the last."""
        return np.concatenate(([0], np.cumsum(self.arities - 1)))

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """First cell of each column where all codes, the default too, have one each."""
        return np.concatenate(([0], np.cumsum(self.arities)))

    @property
    def n_values(self) -> int:
        """Number of value ids."""
        return int(self.offsets[-1])

    @cached_property
    def value_columns(self) -> NDArray[np.int64]:
        """The column of each value id."""
        return np.repeat(np.arange(len(self)), self.arities - 1)

    @cached_property
    def value_codes(self) -> NDArray[np.int64]:
        """The code of each value id."""
        columns = self.value_columns
        rank = np.arange(self.n_values) - self.offsets[columns]
        return rank + (rank >= self.defaults[columns])

    @property
    def value_cells(self) -> NDArray[np.int64]:
        """The cell of each value id."""
        return self.cells[self.value_columns] + self.value_codes

    @property
    def default_cells(self) -> NDArray[np.int64]:
        """The cell of each column's default."""
        return self.cells[:-1] + self.defaults

    def value_id(self, column: int, code: int) -> int | None:
        """Return the id of a column's code, or ``None`` for the default."""
        default = int(self.defaults[column])
        if code == default:
            return None
        return int(self.offsets[column]) + code - (code > default)

    def values_of(self, column: int) -> range:
        """Return the value ids of a column."""
        return range(int(self.offsets[column]), int(self.offsets[column + 1]))

    def codes_of(self, column: int) -> NDArray[np.int64]:
        """Return the non-default codes of a column, in the order of their value ids."""
        codes: NDArray[np.int64] = np.arange(self.arities[column])
        return np.delete(codes, self.defaults[column])

    def value_label(self, value: int) -> tuple[str, Label]:
        """Return the column name and the label of a value id."""
        column = int(self.value_columns[value])
        return self.names[column], self.labels[column][int(self.value_codes[value])]

    def position(self, column: str | int, argument: str = "column") -> int:
        """Return the position of a column given by name or position; errors call it `argument`."""
        if isinstance(column, str):
            if column in self._positions:
                return self._positions[column]
            raise no_column(argument, column, self.names)
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if -len(self) <= column < len(self):
                return int(column) % len(self)
            raise InputError(f"{argument}: column {column} is not among the {len(self)} columns")
        raise InputError(f"{argument} must be a column's name or position, got {column!r}")

    def with_defaults(self, defaults: NDArray[Any]) -> Schema:
        """Return the same columns with other defaults; what does not depend on them is shared."""
        schema = copy(self)
        schema.__dict__.pop("value_codes", None)
        schema._set_defaults(defaults)
        return schema

    def with_labels(self, labels: Sequence[Labels], defaults: NDArray[Any]) -> Schema:
        """Return columns of the same names with other labels and defaults."""
        schema = copy(self)
        for name in _OF_LABELS:
            schema.__dict__.pop(name, None)
        schema.labels = tuple(labels)
        schema._set_defaults(defaults)
        return schema

    def select(self, columns: Sequence[int]) -> Schema:
        """Return the schema of some of the columns, given by their positions."""
        names = [self.names[c] for c in columns]
        labels = [self.labels[c] for c in columns]
        return Schema(names, labels, self.defaults[list(columns)])

    def column(self, position: int) -> Column:
        """Return the column at a position."""
        return Column(self.names[position], self.labels[position], int(self.defaults[position]))

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self.column(i) for i in range(*key.indices(len(self)))]
        return self.column(self.position(key))

    def __iter__(self) -> Iterator[Column]:
        return (self.column(i) for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return (
            self.names == other.names
            and self.labels == other.labels
            and bool(np.array_equal(self.defaults, other.defaults))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Schema({len(self)} columns, {self.n_values} non-default values)"
