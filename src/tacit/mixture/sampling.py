"""Records drawn from a mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.counts.records import gather_values
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.em.iterations import Parameters
    from tacit.mixture.em.prior import Prior
    from tacit.schema import Schema

__all__ = ["draw_records"]


def draw_records(
    schema: Schema,
    parameters: Parameters,
    prior: Prior,
    n_records: int,
    rng: np.random.Generator,
) -> tuple[Table, NDArray[np.int64]]:
    """Draw records and the cluster of each, in time proportional to the stored values.

    For each cluster and column, the number of records that do not have the default is drawn, then
    who they are, then what they have.
    """
    sizes = rng.multinomial(n_records, parameters.weights)
    rows, values = [], []
    begin = 0
    for k, size in enumerate(sizes.tolist()):
        for c in np.flatnonzero(schema.arities > 1).tolist():
            ids = np.array(schema.values_of(c))
            probabilities = np.where(prior.stored[ids] < 0, 0.0, parameters.stored[ids, k])
            default = 0.0 if prior.defaults[c] < 0 else parameters.defaults[c, k]
            total = probabilities.sum() + default
            if total == 0:  # nothing but missing values was ever seen
                continue
            n_stored = rng.binomial(size, min(probabilities.sum() / total, 1.0))
            if n_stored == 0:
                continue
            rows.append(begin + rng.choice(size, n_stored, replace=False))
            if len(ids) == 1:
                values.append(np.full(n_stored, ids[0]))
            else:
                values.append(rng.choice(ids, n_stored, p=probabilities / probabilities.sum()))
        begin += size
    row = np.concatenate([*rows, np.zeros(0, np.int64)])
    value = np.concatenate([*values, np.zeros(0, np.int64)])
    order = np.lexsort((value, row))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n_records))))
    table = Table.from_stored(schema, indptr, value[order].astype(value_type(schema.n_values)))
    shuffled = rng.permutation(n_records)  # they come cluster by cluster
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return Table.from_stored(schema, *gather_values(table, shuffled)), clusters[shuffled]
