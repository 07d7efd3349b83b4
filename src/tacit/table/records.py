"""What a Table and a PartitionedTable share: their sizes, and a report of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import InputError
from tacit.table.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["Records"]


class Records:
    """Discrete records under one schema, in one place or in partitions."""

    if TYPE_CHECKING:  # what those that derive from it say of themselves

        @property
        def schema(self) -> Schema: ...  # noqa: D102
        @property
        def n_records(self) -> int: ...  # noqa: D102
        @property
        def n_stored(self) -> int: ...  # noqa: D102
        @property
        def weighted(self) -> bool: ...  # noqa: D102
        @property
        def nbytes(self) -> int: ...  # noqa: D102

    @property
    def n_columns(self) -> int:
        """Number of columns (the papers' n)."""
        return len(self.schema)

    @property
    def shape(self) -> tuple[int, int]:
        """Records × columns."""
        return self.n_records, self.n_columns

    def __len__(self) -> int:
        return self.n_records

    def summary(self) -> Summary:
        """Report size, sparsity and memory: m, n, l and the factor m·n/l."""
        return Summary.of(self)

    def _positions(self, columns: Sequence[str | int]) -> list[int]:
        """Return the positions of columns given by name or position."""
        if isinstance(columns, str):
            raise InputError(f"columns must be a list of column names, got {columns!r}")
        return [self.schema.position(column, "columns") for column in columns]
