"""Records drawn from a dependency network by Gibbs sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit import _core
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.tree.network.forest import Forest

__all__ = ["draw_by_gibbs"]

_CELLS = 4_000_000  # codes that are drawn at a time


def draw_by_gibbs(
    schema: Schema,
    forest: Forest,
    probabilities: NDArray[np.float64],
    n_records: int,
    n_sweeps: int,
    rng: np.random.Generator,
    n_jobs: int,
    report: Callable[[int], None],
) -> Table:
    """Run a chain for each record, from columns drawn by themselves through n_sweeps sweeps."""
    seeds = rng.integers(0, 2**63 - 1, n_records, dtype=np.int64)
    roots = _roots_only(schema, forest, probabilities)
    trees = forest.to_kernel(schema, probabilities)
    lengths, values = [], []
    step = max(1, _CELLS // len(schema))
    for begin in range(0, n_records, step):
        chains = seeds[begin : begin + step]
        codes = np.tile(schema.defaults.astype(np.int32), (len(chains), 1))
        codes = _core.forest_gibbs(codes, chains, 0, 1, roots, n_jobs)
        codes = _core.forest_gibbs(codes, chains, 1, n_sweeps, trees, n_jobs)
        is_stored = codes != schema.defaults
        columns = np.nonzero(is_stored)[1]
        drawn = codes[is_stored]
        lengths.append(is_stored.sum(axis=1))
        values.append(schema.offsets[columns] + drawn - (drawn > schema.defaults[columns]))
        report(len(chains))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    stored = np.concatenate(values).astype(value_type(schema.n_values))
    return Table.from_stored(schema, indptr, stored)


def _roots_only(schema: Schema, forest: Forest, probabilities: NDArray[np.float64]) -> _core.Forest:
    """Return a forest of single leaves, with what the roots know of each column."""
    n, arities = len(schema), schema.arities
    start = np.concatenate(([0], np.cumsum(arities)))
    begin = np.repeat(forest.stat_start[:-1] - start[:-1], arities)
    zero = np.zeros(n, np.int32)
    return _core.Forest(
        np.arange(n + 1), zero - 1, zero, zero, zero.astype(np.uint8), zero, zero[:0], zero - 1,
        schema.offsets, schema.defaults, probabilities[begin + np.arange(start[-1])], start,
    )  # fmt: skip
