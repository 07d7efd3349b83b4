"""Independent columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.datasets.draws import fill_distinct, generator, scale_to_total, zipf_weights
from tacit.machine import check_int
from tacit.parameters import check_number
from tacit.schema import Labels, Schema
from tacit.table import Table
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["make_uniform"]

_DENSE = 1 / 8


def make_uniform(
    n_records: int,
    n_columns: int,
    density: float,
    *,
    exponent: float = 0.0,
    arity: int = 2,
    random_state: int | np.random.Generator = 0,
) -> Table:
    """Draw a table of independent columns.

    Parameters
    ----------
    n_records, n_columns : int
    density : float in [0, 1]
        Mean probability that a value is stored.
    exponent : float, default 0.0
        0 gives all columns the same density; above 0 it falls from the first column to the last
        by Zipf's law, and no column's is above 1.
    arity : int, default 2
        Labels are 0, 1, …, ``arity - 1`` and the default is 0; stored values are spread evenly
        over the others.
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    Table
        Columns "column 0", "column 1", …

    Examples
    --------
    >>> from tacit.datasets import make_uniform
    >>> table = make_uniform(1000, 20, 0.1, arity=3)
    >>> table.shape, table.columns[7].labels
    ((1000, 20), Labels(0, 1, 2))
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    n = check_int(n_columns, "n_columns", 1)
    mean = check_number(density, "density", 0, 1)
    zipf = zipf_weights(n, check_number(exponent, "exponent", 0))
    codes = check_int(arity, "arity", 2, 2**16) - 1
    dtype = value_type(n * codes)
    rng = generator(random_state)

    densities = scale_to_total(zipf, mean * n, 0.0, 1.0)
    held, records = _choose_records(rng, m, densities)
    values: NDArray[Any] = np.repeat((np.arange(n) * codes).astype(dtype), held)
    if codes > 1:
        values += rng.integers(0, codes, len(values), dtype=dtype)
    # Columns come in ascending order, so a stable sort leaves each record's values ascending.
    order = np.argsort(records, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(records, minlength=m))))
    labels = Labels(range(codes + 1), "Int64")
    schema = Schema([f"column {c}" for c in range(n)], [labels] * n, np.zeros(n, np.int64))
    return Table.from_stored(schema, indptr, values[order])


def _choose_records(
    rng: np.random.Generator, m: int, densities: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Choose the records of each column; return how many there are, and which."""
    # Sparse columns take time in proportion to what they hold; the others look at every record.
    dense = np.flatnonzero(densities > _DENSE)
    held = rng.binomial(m, np.where(densities > _DENSE, 0.0, densities)).astype(np.int64)
    chosen = {c: np.flatnonzero(rng.random(m) < densities[c]) for c in dense.tolist()}
    sparse = held.copy()
    held[dense] = [len(records) for records in chosen.values()]
    ends = np.cumsum(held)
    records = np.empty(int(ends[-1]), np.int32)
    fill_distinct(rng, np.arange(1, m + 1), sparse, ends - held, records)
    for c, of_column in chosen.items():
        records[ends[c] - held[c] : ends[c]] = of_column
    return held, records
