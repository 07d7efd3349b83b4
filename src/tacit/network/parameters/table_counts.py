"""Counts that probability tables are estimated from, of records in memory or in partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.network.inference.records import read_records
from tacit.network.parameters.em import Expected, fill_in
from tacit.network.parameters.estimate import count_families, table_shapes
from tacit.scale import as_partitioned
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.inference.records import Records
    from tacit.network.nets.graph import Parents
    from tacit.network.parameters.em import Filled
    from tacit.scale import Partition
    from tacit.schema import Schema

    Tables = list[NDArray[np.float64]]

__all__ = ["ExpectedTables", "FamilyTables", "count_tables", "fill_in_tables"]


@dataclass(frozen=True)
class FamilyTables(Statistic["Tables"]):
    """The (weighted) number of records in every cell of every column's table.

    Parameters
    ----------
    schema : Schema
        Of the net: labels of partitions are looked up in it.
    parents : sequence of sequence of int
    """

    schema: Schema
    parents: Parents

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 8 * sum(a * b for a, b in table_shapes(self.schema.arities, self.parents))

    def read(self, part: Partition) -> Records:
        """Return the records of a part as the net sees them."""
        return read_records(self.schema, part.records, first=part.first)

    def partial(self, part: Partition) -> Tables:
        """Count the records of a part."""
        return count_families(self.read(part), self.schema.arities, self.parents)

    def merge(self, one: Tables, other: Tables) -> Tables:
        """Add up."""
        return [np.add(a, b, out=a) for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class ExpectedTables(FamilyTables):
    """Expected counts where values are missing, and the log-likelihood of all records, last."""

    tables: Tables

    def partial(self, part: Partition) -> Tables:
        """Count the records of a part."""
        expected = Expected(self.read(part), self.schema.arities, self.parents)
        counts, score = expected.counts(self.tables)
        return [*counts, np.array([score])]


def count_tables(schema: Schema, parents: Parents, data: Any) -> Tables:
    """Return the counts of all tables; one pass, if the data are in partitions.

    Parameters
    ----------
    schema : Schema
    parents : sequence of sequence of int
    data : Table, PartitionedTable, frame, mapping of columns, array or sparse array
    """
    parts = as_partitioned(data)
    if parts is None:
        return count_families(read_records(schema, data), schema.arities, parents)
    return parts.reduce(FamilyTables(schema, parents))


def fill_in_tables(
    schema: Schema,
    parents: Parents,
    data: Any,
    before: Sequence[NDArray[np.float64]],
    kind: str,
    weight: float,
    *,
    max_iter: int,
    tol: float,
) -> Filled:
    """Estimate tables from all records by EM; every round is a pass, if they are in partitions.

    Parameters
    ----------
    schema, parents, data
        As for :func:`count_tables`.
    before, kind, weight, max_iter, tol
        As for :func:`fill_in`.
    """
    parts = as_partitioned(data)
    if parts is None:
        records = read_records(schema, data)
        counts = count_families(records, schema.arities, parents)
        expect = Expected(records, schema.arities, parents).counts
        return fill_in(counts, expect, before, kind, weight, max_iter=max_iter, tol=tol)

    def expect_parts(tables: Tables) -> tuple[Tables, float]:
        *counts, score = parts.reduce(ExpectedTables(schema, parents, tables))
        return counts, float(score[0])

    counts = count_tables(schema, parents, parts)
    return fill_in(counts, expect_parts, before, kind, weight, max_iter=max_iter, tol=tol)
