"""Columns that hang together in a tree of which every node has the same number of children."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tacit.datasets.draws import generator
from tacit.datasets.mixture import presence_schema
from tacit.errors import InputError
from tacit.machine import check_fits, check_int
from tacit.parameters import check_number
from tacit.table import Table
from tacit.table.gateway import MOST_RECORDS, value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TreeData", "make_dependency_tree"]

_BLOCK = 4_000_000  # values that are held at once while a table is stored


class TreeData(NamedTuple):
    """Records and the tree that they were drawn from."""

    data: Any
    edges: NDArray[np.int64]


def make_dependency_tree(
    n_records: int,
    n_columns: int,
    *,
    kind: Literal["numeric", "binary"] = "numeric",
    fan_out: int = 3,
    coupling: float = 0.4,
    spread: float = 1.0,
    noise: float = 0.0,
    random_state: int | np.random.Generator = 0,
) -> TreeData:
    """Draw records whose columns hang together in a tree.

    Column 0 is the root, and column c hangs below column (c - 1) // `fan_out`. Numbers are those of
    the parent and some more, drawn from a normal distribution. A binary column below another one is
    true with probability 0.5 + `coupling` where that is true, and 0.5 - `coupling` where not.

    Parameters
    ----------
    n_records, n_columns : int
    kind : {"numeric", "binary"}
    fan_out : int, default 3
        How many children a column has.
    coupling : float in [0, 0.5], default 0.4
        Of binary columns: 0 makes them independent, 0.5 equal.
    spread : float, default 1.0
        Of numbers: the standard deviation of what a child adds. The root's is 1.
    noise : float in [0, 1], default 0.0
        Fraction of records all of whose values are random: the columns have the same distributions,
        but know nothing of each other.
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    TreeData
        `data`, an array (column-major) of numbers or a Table of False and True, and `edges`, the
        tree: an int64 array of shape (n_columns - 1, 2).

    Examples
    --------
    >>> import tacit
    >>> data, edges = tacit.datasets.make_dependency_tree(2000, 6, fan_out=2)
    >>> edges.tolist()
    [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5]]
    >>> bool((tacit.DependencyTree().fit(data).edges_ == edges).all())
    True
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    n = check_int(n_columns, "n_columns", 1)
    if kind not in ("numeric", "binary"):
        raise InputError(f"kind must be 'numeric' or 'binary', got {kind!r}")
    children = check_int(fan_out, "fan_out", 1)
    pull = check_number(coupling, "coupling", 0, 0.5)
    width = check_number(spread, "spread", 0)
    noise = check_number(noise, "noise", 0, 1)
    check_fits((8 if kind == "numeric" else 1) * m * n, "the records", "draw fewer")
    rng = generator(random_state)

    columns = np.arange(1, n)
    parents = (columns - 1) // children
    edges = np.column_stack([parents, columns]).astype(np.int64).reshape(-1, 2)
    random = rng.random(m) < noise
    if kind == "numeric":
        return TreeData(_draw_numbers(rng, m, parents, width, random), edges)
    return TreeData(_draw_flags(rng, m, parents, pull, random), edges)


def _draw_numbers(
    rng: np.random.Generator,
    m: int,
    parents: NDArray[np.int64],
    spread: float,
    random: NDArray[np.bool_],
) -> NDArray[np.float64]:
    numbers = np.empty((m, len(parents) + 1), order="F")
    variances = np.ones(len(parents) + 1)
    numbers[:, 0] = rng.standard_normal(m)
    for column, parent in enumerate(parents.tolist(), 1):
        variances[column] = variances[parent] + spread**2
        numbers[:, column] = rng.standard_normal(m)
        numbers[~random, column] *= spread
        numbers[~random, column] += numbers[~random, parent]
        numbers[random, column] *= np.sqrt(variances[column])
    return numbers


def _draw_flags(
    rng: np.random.Generator,
    m: int,
    parents: NDArray[np.int64],
    coupling: float,
    random: NDArray[np.bool_],
) -> Table:
    flags = np.empty((m, len(parents) + 1), np.bool_, order="F")
    flags[:, 0] = rng.random(m) < 0.5
    for column, parent in enumerate(parents.tolist(), 1):
        probability = np.where(flags[:, parent], 0.5 + coupling, 0.5 - coupling)
        flags[:, column] = rng.random(m) < np.where(random, 0.5, probability)
    schema = presence_schema("column", len(parents) + 1)
    lengths, values = [np.zeros(0, np.int64)], []
    step = max(1, _BLOCK // flags.shape[1])
    for first in range(0, m, step):
        block = flags[first : first + step]
        lengths.append(block.sum(axis=1))
        values.append(np.nonzero(block)[1].astype(value_type(schema.n_values)))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return Table.from_stored(schema, indptr, np.concatenate(values))
