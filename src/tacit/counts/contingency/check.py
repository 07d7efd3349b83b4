"""What must hold of the arrays of a contingency table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.contingency.cells import check_cells
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.counts.contingency.table import ContingencyTable
    from tacit.counts.records import Counts

__all__ = ["check_table"]


def check_table(table: ContingencyTable) -> None:
    """Refuse a table with arrays that do not belong to its columns, or not to each other."""
    if not table.columns:
        raise InputError("columns must be one or more, got none")
    for k, name in enumerate(table.names):
        if name in table.names[:k]:
            raise InputError(f"columns: {name!r} is there twice")
    n_cells = check_cells(table.shape, "columns")
    if table._cells is not None:
        _check_numbers(table._cells, n_cells)
    shape = table.shape if table._cells is None else table._cells.shape
    counts, lower, upper = table._counts, table._lowest, table._highest
    for name, array in (("counts", counts), ("lower", lower), ("upper", upper)):
        _check_array(name, array, shape)
    _refuse("lower is above the count", lower > counts)
    _refuse("upper is below the count", upper < counts)
    if not table.rest_upper >= 0:
        raise InputError(f"rest_upper must not be negative, got {table.rest_upper!r}")


def _check_numbers(cells: object, n_cells: int) -> None:
    if not isinstance(cells, np.ndarray) or cells.dtype != np.int64 or cells.ndim != 1:
        raise InputError("cells must be a one-dimensional array of int64")
    _refuse(f"cells must be from 0 to {n_cells - 1:,}, but not", (cells < 0) | (cells >= n_cells))
    _refuse("cells must ascend, but do not after", cells[1:] <= cells[:-1])


def _check_array(name: str, array: object, shape: tuple[int, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype not in (np.int64, np.float64):
        raise InputError(f"{name} must be an array of int64 or float64")
    if array.shape != shape:
        raise InputError(f"{name} must have the shape {shape}, got {array.shape}")
    _refuse(f"{name} must be finite and not negative, but not", ~((array >= 0) & (array < np.inf)))


def _refuse(problem: str, wrong: Counts) -> None:
    if wrong.any():
        position = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise InputError(f"{problem} at position {position[0] if len(position) == 1 else position}")
