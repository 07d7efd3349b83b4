"""Groups of records in partitions: all that is known of a group is a sum over its members.

Records are sorted into cells that have the same names in all partitions. Columns are 0 or 1, so
that sums are whole numbers: the groups are the same to the last bit, however records are
partitioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tacit.errors import InputError
from tacit.scale import as_partitioned, gather
from tacit.similarity.grid.blocks import Blocks
from tacit.similarity.grouping.groups import Groups, find_cells
from tacit.similarity.projection.linear import coordinates
from tacit.statistic import Statistic
from tacit.table.containers import is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.similarity.grid.grid import Grid
    from tacit.similarity.grouping.groups import Cells
    from tacit.similarity.projection.partitioned import FirstPass
    from tacit.table import Table
    from tacit.table.one_hot import OneHot

    Floats = NDArray[np.float64]

__all__ = [
    "CellSums",
    "GroupLookup",
    "PartitionedGroups",
    "Projector",
    "CellSorter",
    "CellStatistic",
    "TypeColumn",
    "check_column",
    "coordinate_range",
    "find_groups",
    "look_up",
    "type_column",
]


# Coordinates


@dataclass(frozen=True)
class Projector:
    """Turns records into numbers and these into coordinates."""

    encoder: OneHot
    components: Floats
    mean: Floats

    def numbers(self, table: Table) -> tuple[Any, Floats]:
        """Return records as numbers, and their coordinates in the projection."""
        numbers = self.encoder.of_table(table)
        return numbers, coordinates(numbers, self.components, self.mean)

    def __call__(self, partition: Partition) -> Floats:
        """Return the coordinates of the records of a partition."""
        return self.numbers(partition.records)[1]


@dataclass(frozen=True)
class CoordinateRange(Statistic["Floats"]):
    """The least and the largest coordinate in each dimension."""

    projector: Projector

    def partial(self, partition: Partition) -> Floats:
        """Find those of a partition."""
        coords = self.projector(partition)
        return np.stack([coords.min(axis=0), coords.max(axis=0)])

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Take the lesser and the larger."""
        return np.stack([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])


def coordinate_range(
    partitions: PartitionedTable, projector: Projector, n_jobs: int | None
) -> Floats:
    """Return the least and the largest coordinate in each dimension: one pass."""
    return partitions.reduce(CoordinateRange(projector), what="grid: partitions", n_jobs=n_jobs)


# Cells: blocks, or divisions of them, by type


@dataclass(frozen=True)
class TypeColumn:
    """The type of each record: by what it holds in a column, or the same for all."""

    name: str | None
    codes: NDArray[np.int64]  # the type of each label of the column; or that of all records, alone

    @classmethod
    def same(cls, code: int) -> TypeColumn:
        """Return one type for all records."""
        return cls(None, np.array([code], np.int64))

    def of(self, table: Table) -> NDArray[np.int64]:
        """Return the type of each record."""
        if self.name is None:
            return np.broadcast_to(self.codes, table.n_records)
        return self.codes[table.codes(self.name)]


def type_column(
    columns: FirstPass, y: Any, number: Callable[[list[Any]], NDArray[Any]]
) -> TypeColumn:
    """Return what tells types apart by what records hold in the column `y`.

    `number` returns the types of labels; it is given those that occur.
    """
    schema = columns.partitions.schema
    position = check_column(schema, y)
    labels, counts = schema.labels[position], columns.counts.array(position)
    if labels.missing is not None and counts[labels.missing]:
        raise InputError(f"y: column {y!r} has {int(counts[labels.missing]):,} missing values")
    present = np.flatnonzero(counts)
    codes = np.full(len(labels), -1, np.int64)
    codes[present] = number([labels[code] for code in present.tolist()])
    return TypeColumn(y, codes)


def check_column(schema: Schema, y: Any) -> int:
    """Return the position of the column that says of what type records are."""
    if not isinstance(y, str):
        raise InputError(
            f"y must be the name of a column, as X is in partitions; got {type(y).__name__}"
        )
    return schema.position(y, "y")


@dataclass(frozen=True)
class CellSorter:
    """Sorts records into cells that have the same names in all partitions."""

    projector: Projector
    grid: Grid
    group_width: float
    types: TypeColumn
    # Whether no record is outside the grid, as those are not that it was laid over
    within: bool = False

    def sort(self, table: Table, n_jobs: int) -> tuple[Any, Cells, NDArray[np.bytes_]]:
        """Return records as numbers, their cells and the names of these, ascending."""
        numbers, coords = self.projector.numbers(table)
        kinds = self.types.of(table)
        cells = find_cells(self.grid, coords, kinds, self.group_width, n_jobs, with_digits=True)
        digits = cells.digits
        if self.within and self.group_width == 1.0:  # blocks are not cut
            digits = [digits[0], digits[-1]]
        # Of bytes, most significant first, the order is that of the numbers.
        named = np.stack(digits, axis=1).astype(">u8")
        return numbers, cells, named.view(f"S{8 * len(digits)}")[:, 0]


@dataclass(frozen=True)
class CellSums:
    """What is known of cells that hold a record, in the order of their names."""

    names: NDArray[np.bytes_]  # (n_cells,)
    blocks: NDArray[np.int64]  # (n_cells,): the block that each is in, or is
    types: NDArray[np.int32]  # (n_cells,)
    counts: NDArray[np.int64]  # (n_cells,)
    sums: Any = None  # (n_cells, d): sums of columns

    def centroids(self) -> Any:
        """Return the centroids of cells."""
        if not is_sparse(self.sums):
            return self.sums / self.counts[:, None]
        centroids = self.sums.copy()
        centroids.data /= np.repeat(self.counts, np.diff(centroids.indptr))
        return centroids

    def to_blocks(self) -> Blocks:
        """Return the blocks that hold a record, and how many; not which records."""
        keys, first = np.unique(self.blocks, return_index=True)
        sizes = np.add.reduceat(self.counts, first)
        return Blocks(keys, np.append(0, np.cumsum(sizes)), np.zeros(0, np.int32))


@dataclass(frozen=True)
class CellStatistic(Statistic["CellSums"]):
    """The statistic that :class:`CellSums` are."""

    sorter: CellSorter
    sums: bool = True

    def partial(self, partition: Partition) -> CellSums:
        """Sort and sum up the records of a partition."""
        numbers, cells, names = self.sorter.sort(partition.records, partition.n_jobs)
        blocks = cells.digits[0].astype(np.int64)
        sums = cells.sum(numbers) if self.sums else None
        return CellSums(names, blocks, cells.types, cells.sizes, sums)

    def merge(self, one: CellSums, other: CellSums) -> CellSums:
        """Add up cells of the same name."""
        names, first, cell = np.unique(
            np.concatenate([one.names, other.names]), return_index=True, return_inverse=True
        )
        counts = np.concatenate([one.counts, other.counts])
        total = np.zeros(len(names), np.int64)
        np.add.at(total, cell, counts)
        sums = None
        if self.sums:
            size = len(cell)
            member = sparse.csr_array((np.ones(size), (cell, np.arange(size))), (len(names), size))
            if is_sparse(one.sums):
                sums = sparse.csr_array(member @ sparse.vstack([one.sums, other.sums]))
                sums.sort_indices()
            else:
                sums = member @ np.vstack([one.sums, other.sums])
        return CellSums(
            names,
            np.concatenate([one.blocks, other.blocks])[first],
            np.concatenate([one.types, other.types])[first],
            total,
            sums,
        )


@dataclass(frozen=True)
class GroupLookup:
    """Looks up the cell of a record among those of a pass."""

    sorter: CellSorter
    names: NDArray[np.bytes_]  # of cells, ascending
    # (n_cells, …): what to return for the records of each cell; by default its index
    values: NDArray[Any] | None = None

    def labels(self, table: Table, n_jobs: int) -> NDArray[np.int32]:
        """Return the cell of each record; -1 where it is in none of them."""
        _, cells, names = self.sorter.sort(table, n_jobs)
        index = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        known = np.where(self.names[index] == names, index, -1).astype(np.int32)
        return known[cells.labels]

    def __call__(self, partition: Partition) -> NDArray[Any]:
        """Return the cell of each record of a partition, or the value of that cell."""
        labels = self.labels(partition.records, partition.n_jobs)
        return labels if self.values is None else self.values[labels]


def look_up(X: PartitionedTable | Table, lookup: GroupLookup, n_jobs: int | None) -> NDArray[Any]:
    """Return the group of each record, or the value of that group: one pass."""
    each = X.map(lookup, what="groups: partitions", n_jobs=n_jobs)
    return gather(each, X.n_records, "groups", "take them by partition: X.map(groups.lookup)")


@dataclass(frozen=True)
class PartitionedGroups(Groups):
    """Representatives of records in partitions.

    `lookup` says which group records are in, for :meth:`PartitionedTable.map`.
    """

    lookup: GroupLookup

    def assign(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Return which group each record is in; -1 for none, which no record of fit is.

        Parameters
        ----------
        X : PartitionedTable or Table
            With the columns that the groups were made of, and that of types.
        n_jobs : int, optional
            Threads; the result does not depend on it.
        """
        return look_up(as_partitioned(X) or X, self.lookup, n_jobs)


def find_groups(
    partitions: PartitionedTable, sorter: CellSorter, n_jobs: int | None
) -> tuple[PartitionedGroups, CellSums]:
    """Return representatives of records, and the cells they were made of: one pass."""
    cells = partitions.reduce(CellStatistic(sorter), what="groups: partitions", n_jobs=n_jobs)
    centroids, projector = cells.centroids(), sorter.projector
    groups = PartitionedGroups(
        None,
        centroids,
        coordinates(centroids, projector.components, projector.mean),
        cells.types,
        cells.counts.astype(np.float64),
        GroupLookup(sorter, cells.names),
    )
    return groups, cells
