"""Probability tables of a net from data: counts of families, and a prior where one is wanted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.parameters import check_choice, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents
    from tacit.network.inference.records import Records

__all__ = [
    "MOST_PRIOR_WEIGHT",
    "PRIORS",
    "check_prior",
    "count_families",
    "make_tables",
    "prior_cell",
    "table_shapes",
]

PRIORS = ("bdeu", "k2", "mle")
MOST_PRIOR_WEIGHT = 1e9  # with more, scores are differences of numbers that hide the counts


def check_prior(parameters: Any, prior_weight: Any) -> float:
    """Return the weight of the prior, or say what is wrong with it or its kind."""
    check_choice(parameters, "parameters", PRIORS)
    return check_number(prior_weight, "prior_weight", 0, MOST_PRIOR_WEIGHT, above=True)


def table_shapes(arities: NDArray[np.int64], parents: Parents) -> list[tuple[int, int]]:
    """Return the size of each column's table: combinations of the parents' labels × its labels."""
    return [
        (math.prod(int(arities[p]) for p in above), int(arities[child]))
        for child, above in enumerate(parents)
    ]


def count_families(
    records: Records, arities: NDArray[np.int64], parents: Parents
) -> list[NDArray[np.float64]]:
    """Return the (weighted) number of records in every cell of every table.

    A record counts for a family if all of its values there are known.
    """
    counts = []
    for child, shape in enumerate(table_shapes(arities, parents)):
        cells, known = records.cells(arities, parents[child], child)
        weights = records.weights
        if known is not None:
            cells = cells[known]
            weights = None if weights is None else weights[known]
        count = np.bincount(cells, weights, shape[0] * shape[1])
        counts.append(count.astype(np.float64).reshape(shape))
    return counts


def prior_cell(kind: str, weight: float, shape: tuple[int, int]) -> float:
    """Return how many records the prior adds to each cell of a table."""
    if kind == "mle":
        return 0.0
    return weight / (shape[0] * shape[1]) if kind == "bdeu" else weight


def make_tables(
    counts: Sequence[NDArray[np.float64]], kind: str, weight: float
) -> list[NDArray[np.float64]]:
    """Return probabilities of counts; a row of which nothing is known is uniform."""
    tables = []
    for count in counts:
        cells = count + prior_cell(kind, weight, count.shape)
        totals = cells.sum(axis=1, keepdims=True)
        uniform = np.full_like(cells, 1.0 / count.shape[1])
        tables.append(np.divide(cells, totals, out=uniform, where=totals > 0))
    return tables
