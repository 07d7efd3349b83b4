"""Log-likelihoods of complete discrete records, in time proportional to what they store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.network.dependency_tree.links import TableLink

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.parameters import TreeDensity
    from tacit.schema import Schema
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["SparseScores"]


class SparseScores:
    """Sums of log P(column | parent), taken from the record of defaults by differences.

    The record in which everything is the default has one log-likelihood. A stored value changes it
    by a number of its own, as long as the parent's value is the default; where both are stored, a
    correction makes up for that. So only stored values and stored pairs are ever visited. No
    probability of the model is 0. The schema of the tables to be scored has the model's labels
    first in each column, then maybe others, which complete records do not have.
    """

    def __init__(self, model: TreeDensity, schema: Schema) -> None:
        self.schema, self.parents = schema, model.tree.parents
        n, arities, defaults = len(schema), model.arities, schema.defaults
        above = np.where(self.parents >= 0, arities[self.parents], 1)
        self.first = np.concatenate(([0], np.cumsum(above * arities)))[:-1]
        self.arities = arities
        tables = []
        for column in range(n):
            link, marginal = model.links[column], model.marginals[column]
            assert marginal is not None
            tables.append(link.logs.ravel() if isinstance(link, TableLink) else np.log(marginal))
        self.logs = np.concatenate(tables)
        # P(column's code | parent's default), for all cells of all columns.
        parent_default = np.where(self.parents >= 0, defaults[self.parents], 0)
        self.beside_default = self.first + parent_default * arities
        self.base = float(self.logs[self.beside_default + defaults].sum())

    @cached_property
    def by_value(self) -> Floats:
        """What each stored value adds, if its column's neighbours have their defaults."""
        schema, defaults = self.schema, self.schema.defaults
        columns, codes = schema.value_columns, schema.value_codes
        held = codes < self.arities[columns]  # the others mean that a value is missing
        columns, codes = columns[held], codes[held]
        change = np.zeros(schema.n_values)
        start = self.beside_default[columns]
        change[held] = self.logs[start + codes] - self.logs[start + defaults[columns]]
        # And what a stored value of a parent changes for each child that has its default.
        below = np.flatnonzero(self.parents >= 0)
        above = self.parents[below]
        many = np.diff(schema.offsets)[above]
        below = np.repeat(below, many)
        ids = np.arange(len(below)) + np.repeat(
            schema.offsets[above] - np.concatenate(([0], np.cumsum(many)))[:-1], many
        )
        kept = held[ids]
        below, ids = below[kept], ids[kept]
        codes = schema.value_codes[ids]
        row = self.first[below] + codes * self.arities[below] + defaults[below]
        base = self.beside_default[below] + defaults[below]
        return change + np.bincount(ids, self.logs[row] - self.logs[base], schema.n_values)

    def scores(self, table: Table) -> Floats:
        """Return the log-likelihood of each record; those with missing values are not right."""
        schema, n = self.schema, len(self.schema)
        values = table.values.astype(np.int64)
        rows = np.repeat(np.arange(table.n_records), np.diff(table.indptr))
        columns, codes = schema.value_columns[values], schema.value_codes[values]
        change = self.by_value[values]
        parents = self.parents[columns]
        # Where is the parent's stored value in the same record? Keys ascend.
        keys = rows * n + columns
        asked = np.flatnonzero(parents >= 0)
        wanted = rows[asked] * n + parents[asked]
        index = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        both = keys[index] == wanted if len(keys) else np.zeros(0, np.bool_)
        child, parent = asked[both], index[both]
        fine = (codes[child] < self.arities[columns[child]]) & (
            codes[parent] < self.arities[columns[parent]]
        )
        child, parent = child[fine], parent[fine]
        column = columns[child]
        row = self.first[column] + codes[parent] * self.arities[column]
        beside, default = self.beside_default[column], schema.defaults[column]
        change[child] += self.logs[row + codes[child]] - self.logs[row + default]
        change[child] -= self.logs[beside + codes[child]] - self.logs[beside + default]
        scores: Floats = self.base + np.bincount(rows, change, table.n_records).astype(np.float64)
        return scores
