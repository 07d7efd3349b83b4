"""Counts that probability tables are estimated from, of records in memory or in partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.network.inference.records import read_records
from tacit.network.parameters.em import Expected, fill_in
from tacit.network.parameters.estimate import count_families, table_shapes
from tacit.statistic import Statistic
from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.bayes_net.graph import Parents
    from tacit.network.inference.records import Records
    from tacit.network.parameters.em import Filled
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema

    Tables = list[NDArray[np.float64]]

__all__ = ["ExpectedTables", "FamilyTables", "count_tables", "fill_in_tables"]


@dataclass(frozen=True)
class FamilyTables(Statistic["Tables"]):
    """The (weighted) number of records in every cell of every column's table."""

    schema: Schema  # of the net: labels of partitions are looked up in it
    parents: Parents

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * sum(a * b for a, b in table_shapes(self.schema.arities, self.parents))

    def read(self, partition: Partition) -> Records:
        """Return the records of a partition as the net sees them."""
        return read_records(self.schema, partition.records, first=partition.first)

    def partial(self, partition: Partition) -> Tables:
        """Count the records of a partition."""
        return count_families(self.read(partition), self.schema.arities, self.parents)

    def merge(self, one: Tables, other: Tables) -> Tables:
        """Add up."""
        return [np.add(a, b, out=a) for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class ExpectedTables(FamilyTables):
    """Expected counts where values are missing, and the log-likelihood of all records, last."""

    tables: Tables

    def partial(self, partition: Partition) -> Tables:
        """Count the records of a partition."""
        expected = Expected(self.read(partition), self.schema.arities, self.parents)
        counts, score = expected.counts(self.tables)
        return [*counts, np.array([score])]


def count_tables(schema: Schema, parents: Parents, table: Table | PartitionedTable) -> Tables:
    """Return the counts of all tables, in one pass."""
    return table.reduce(FamilyTables(schema, parents))


def fill_in_tables(
    schema: Schema,
    parents: Parents,
    table: Table | PartitionedTable,
    before: Sequence[NDArray[np.float64]],
    kind: str,
    weight: float,
    *,
    max_iter: int,
    tol: float,
) -> Filled:
    """Estimate tables from all records by EM; every round is a pass, if they are in partitions.

    See :func:`fill_in`.
    """

    def expect(tables: Tables) -> tuple[Tables, float]:
        *counts, score = table.reduce(ExpectedTables(schema, parents, tables))
        return counts, float(score[0])

    if isinstance(table, Table):  # whose incomplete records are gathered only once
        expect = Expected(read_records(schema, table), schema.arities, parents).counts
    counts = count_tables(schema, parents, table)
    return fill_in(counts, expect, before, kind, weight, max_iter=max_iter, tol=tol)
