"""Items: the values of a table that itemsets are made of, and how they are named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.rules.finder.rule import show_conditions
from tacit.schema import Labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Items", "presence_schema"]


def _is_presence(labels: Labels) -> bool:
    """Return whether labels say only that something is there, or not."""
    return len(labels) == 2 and tuple(labels) in ((False, True), (0, 1))


def _is_constant_presence(labels: Labels) -> bool:
    return len(labels) == 1 and labels[0] in (False, True) and labels.edges is None


def presence_schema(schema: Schema) -> Schema:
    """Return the schema with "not there" as the default of columns of False and True, or 0 and 1.

    An item in more than half of the records would else be the default, and its absence an item. A
    column in which all are True, or all False, has both labels here.

    >>> import tacit
    >>> schema = presence_schema(tacit.Table({"milk": [1, 1, 0], "tea": [True] * 3}).schema)
    >>> [(column.name, *column.labels, column.default_label) for column in schema]
    [('milk', 0, 1, 0), ('tea', False, True, False)]
    """
    constant = schema.of_labels(_is_constant_presence, np.bool_)
    if constant.any():
        labels = list(schema.labels)
        both: dict[int, Labels] = {}  # columns that share their labels go on sharing them
        for k in np.flatnonzero(constant).tolist():
            one = labels[k]
            pair = (False, True) if isinstance(one[0], bool) else (0, 1)
            labels[k] = both.setdefault(id(one), Labels(pair, one.dtype, kind=one.chosen_kind))
        schema = schema.with_labels(labels, np.where(constant, 0, schema.defaults))
    turned = (schema.defaults == 1) & schema.of_labels(_is_presence, np.bool_)
    return schema.with_defaults(np.where(turned, 0, schema.defaults)) if turned.any() else schema


@dataclass(frozen=True)
class Items:
    """What can be in an itemset: all values of all columns, by cell, or the stored ones.

    A cell is a position among the values of all columns, column after column in code order.
    """

    schema: Schema
    defaults: bool  # whether default values are items, too

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cell of each item."""
        if self.defaults:
            return np.arange(int(self.schema.cells[-1]))
        return self.schema.value_cells

    def records(self, table: Table) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return where the items of each record begin, and the items."""
        if not self.defaults:
            return table.indptr, table.values
        m, n = table.n_records, table.n_columns
        check_fits(12 * m * n, "all values of all columns", "leave defaults=False")
        every = table.to_numpy() + self.schema.cells[:-1]
        return np.arange(m + 1, dtype=np.int64) * n, every.astype(np.uint32).ravel()

    def name(self, cell: int) -> str:
        """Return how an item is shown: its column, and its label where that says more."""
        column = int(np.searchsorted(self.schema.cells, cell, "right")) - 1
        name = self.schema.names[column]
        labels = self.schema.labels[column]
        code = cell - int(self.schema.cells[column])
        if code == 1 and _is_presence(labels):
            return name
        return show_conditions({name: labels[code]})

    @cached_property
    def names(self) -> list[str]:
        """How each cell is shown."""
        return [self.name(cell) for cell in range(int(self.schema.cells[-1]))]

    def find(self, item: Any, argument: str) -> int:
        """Return the cell of an item: the name of a column, or a pair of it and a label."""
        schema = self.schema
        name, label = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        column = schema.position(name, argument)
        labels = schema.labels[column]
        if not isinstance(item, tuple):
            if _is_presence(labels):
                return int(schema.cells[column]) + 1
            raise InputError(
                f"{argument}: {name!r} has labels other than there and not there; name one of "
                f"them, as in ({name!r}, {labels[0]!r})"
            )
        try:
            code = schema.column(column).code(label)
        except InputError as error:
            raise InputError(f"{argument}: {error}") from None
        if not self.defaults and code == int(schema.defaults[column]):
            raise InputError(
                f"{argument}: {show_conditions({name: label})} is the default, and no item unless "
                "defaults=True"
            )
        return int(schema.cells[column]) + code

    def find_all(self, items: Any, argument: str) -> list[int]:
        """Return the cells of several items, ascending, each once."""
        if isinstance(items, str) or (isinstance(items, tuple) and self._is_pair(items)):
            items = [items]
        try:
            given: Sequence[Any] = list(items)
        except TypeError:
            raise InputError(f"{argument} must be a list of items, got {items!r}") from None
        return sorted({self.find(item, argument) for item in given})

    def _is_pair(self, items: tuple[Any, ...]) -> bool:
        return len(items) == 2 and items[0] in self.schema.names and (
            items[1] not in self.schema.names
        )  # fmt: skip

    def positions(self, cells: Iterable[int]) -> NDArray[np.int64]:
        """Return the items of some cells."""
        return np.searchsorted(self.cells, np.fromiter(cells, np.int64))
