"""How probable records are: complete ones by looking up their cells in the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.network.inference.records import Records
    from tacit.network.nets.graph import Parents

__all__ = ["log_probabilities"]


def log_probabilities(
    records: Records,
    arities: NDArray[np.int64],
    parents: Parents,
    tables: Sequence[NDArray[np.float64]],
    incomplete: Callable[[NDArray[np.int32]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the natural logarithm of each record's probability, -inf where that is zero.

    Parameters
    ----------
    records : Records
    arities : ndarray of int64
    parents : sequence of sequence of int
    tables : sequence of ndarray
    incomplete : callable
        Does the same for rows of codes with values that are not known.
    """
    scores = np.zeros(records.n_records)
    for child, table in enumerate(tables):
        cells, _ = records.cells(arities, parents[child], child)
        with np.errstate(divide="ignore"):
            logs = np.log(table.ravel())
        scores += logs[cells]  # what this says of incomplete records is replaced below
    lacking = records.incomplete()
    if len(lacking):
        scores[lacking] = incomplete(records.matrix(lacking))
    return scores
