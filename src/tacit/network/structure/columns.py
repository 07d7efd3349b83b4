"""Records as structure learning sees them: numeric columns, discrete columns, or both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.scale import PartitionedTable
    from tacit.table import Table

__all__ = ["Columns", "NumberSource"]


class NumberSource(Protocol):
    """Numbers that are read in parts: a file on disk."""

    names: list[str]
    n_records: int

    def chunks(self) -> list[tuple[int, int]]:
        """Return chunks of records: the first, and one past the last."""

    def gather(
        self, starts: NDArray[np.int64], stops: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return slices within chunks, of some columns, column after column."""

    def blocks(self, size: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield all records in order, at most `size` at a time, and the number of the first."""


@dataclass(frozen=True)
class Columns:
    """Columns of numbers and of codes, in one order.

    Make one with :meth:`from_array`, :meth:`from_table`, :meth:`mixed` or :meth:`from_file`.

    Examples
    --------
    >>> import numpy as np
    >>> Columns.from_array(np.eye(3)).names
    ['0', '1', '2']
    """

    names: list[str]
    numeric: NDArray[np.bool_]
    index: NDArray[np.int64]  # which column of `numbers`, or of `table`, each column is
    n_records: int
    numbers: NDArray[Any] | NumberSource | None  # (n_records, n_numeric)
    # The discrete columns; in partitions only if there are no others
    table: Table | PartitionedTable | None
    weights: NDArray[np.float64] | None = None

    @property
    def weighted(self) -> bool:
        """Whether records have weights."""
        return self.weights is not None or getattr(self.table, "weighted", False)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def discrete(self) -> NDArray[np.int64]:
        """Positions of the discrete columns."""
        return np.flatnonzero(~self.numeric)

    @property
    def continuous(self) -> NDArray[np.int64]:
        """Positions of the numeric columns."""
        return np.flatnonzero(self.numeric)

    @property
    def number_names(self) -> list[str]:
        """Names of the columns of `numbers`."""
        names = {int(self.index[c]): self.names[c] for c in self.continuous.tolist()}
        return [names[index] for index in range(len(names))]

    @classmethod
    def from_array(
        cls,
        X: NDArray[Any],
        names: Sequence[str] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> Columns:
        """Take a two-dimensional array of numbers; it is not copied.

        Names are "0", "1", … by default.
        """
        X = _check_numbers(X)
        names = [str(c) for c in range(X.shape[1])] if names is None else list(names)
        if len(names) != X.shape[1]:
            raise InputError(f"names: {len(names)} names for {X.shape[1]} columns")
        _check_size(X.shape[0], len(names))
        n = len(names)
        checked = _check_weights(weights, X.shape[0])
        return cls(names, np.ones(n, np.bool_), np.arange(n), X.shape[0], X, None, checked)

    @classmethod
    def from_table(cls, table: Table | PartitionedTable) -> Columns:
        """Take a table: all columns are discrete, and the weights are those of the table."""
        n, names = table.n_columns, list(table.schema.names)
        _check_size(table.n_records, n)
        weights, flags = getattr(table, "weights", None), np.zeros(n, np.bool_)
        return cls(names, flags, np.arange(n), table.n_records, None, table, weights)

    @classmethod
    def mixed(
        cls,
        numbers: NDArray[Any],
        number_names: Sequence[str],
        table: Table,
        order: Sequence[str] | None = None,
    ) -> Columns:
        """Take numbers and a Table of the same records.

        The table has the weights. `order` has all names; without it, numbers come first.
        """
        numbers = _check_numbers(numbers)
        if numbers.shape != (table.n_records, len(number_names)):
            raise InputError(
                f"numbers must have {table.n_records} rows and {len(number_names)} columns, "
                f"got {numbers.shape[0]} × {numbers.shape[1]}"
            )
        where = {name: (True, i) for i, name in enumerate(number_names)}
        where.update({name: (False, i) for i, name in enumerate(table.schema.names)})
        names = list(where) if order is None else list(order)
        if sorted(names) != sorted([*number_names, *table.schema.names]):
            raise InputError("order must hold the name of every column once")
        _check_size(table.n_records, len(names))
        return cls(
            names,
            np.array([where[name][0] for name in names], np.bool_),
            np.array([where[name][1] for name in names], np.int64),
            table.n_records,
            numbers,
            table,
            table.weights,
        )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Columns:
        """Take a Parquet or Arrow IPC file of numeric columns, which is read in parts."""
        from tacit.network.structure.blocks import open_numbers

        source = open_numbers(Path(path))
        n = len(source.names)
        return cls(source.names, np.ones(n, np.bool_), np.arange(n), source.n_records, source, None)


def blocks_of(columns: Columns, size: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the numbers some records at a time, each with the number of its first record.

    Blocks have `size` records at most.
    """
    numbers = columns.numbers
    if numbers is None:
        return
    if isinstance(numbers, np.ndarray):
        for start in range(0, columns.n_records, size):
            yield start, numbers[start : start + size]
        return
    yield from numbers.blocks(size)


def check_finite(
    block: NDArray[Any], first: int, names: Sequence[str], *, nan_allowed: bool = False
) -> None:
    """Refuse missing and infinite numbers, and say where the first one is.

    The block has all numeric columns; `first` is the number of its first record. With
    `nan_allowed`, only infinite numbers are refused.
    """
    wrong = np.isinf(block) if nan_allowed else ~np.isfinite(block)
    if not wrong.any():
        return
    row, column = divmod(int(np.argmax(wrong)), wrong.shape[1])
    value = block[row, column]
    what = "is missing (NaN)" if np.isnan(value) else "is infinite"
    hint = "; missing='ignore' with algorithm='exact' leaves such values out" * bool(
        np.isnan(value)
    )
    raise InputError(f"X: the value of column {names[column]!r} in row {first + row} {what}{hint}")


def _check_numbers(data: Any) -> NDArray[Any]:
    X: NDArray[Any] = np.asarray(data)
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, got {X.ndim}")
    if X.dtype.kind not in "biuf":
        raise InputError(f"X: numeric columns must be numbers, got {X.dtype}")
    return X


def _check_size(n_records: int, n_columns: int) -> None:
    if n_columns == 0:
        raise InputError("X has no columns")
    if n_records == 0:
        raise InputError("X has no records")


def _check_weights(weights: Any, n_records: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    checked = np.asarray(weights, np.float64)
    if checked.shape != (n_records,):
        raise InputError(f"weights must be {n_records} numbers, got shape {checked.shape}")
    if not np.isfinite(checked).all() or (checked < 0).any() or checked.sum() <= 0:
        raise InputError("weights must be finite, not negative, and not all zero")
    return checked
