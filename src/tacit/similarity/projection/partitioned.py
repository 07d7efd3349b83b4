"""The projection of records in partitions: every product with them is one pass.

Columns are 0 or 1, so that what is added up are whole numbers. Means and products of columns are
the same to the last bit, however records are partitioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.counts import OneWay
from tacit.errors import InputError
from tacit.similarity.projection.centred import (
    Centred,
    Image,
    centred_products,
    column_products,
    counted_moments,
)
from tacit.similarity.projection.linear import SMALL
from tacit.statistic import Statistic
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.similarity.projection.centred import Moments, RowSampling
    from tacit.similarity.projection.linear import Plan

    Floats = NDArray[np.float64]

__all__ = ["PartitionedMatrix", "FirstPass", "check_plan", "first_pass"]


# Columns: what they are, how often each is 1


@dataclass(frozen=True)
class FirstPass:
    """The columns of records in partitions, as the first pass finds them."""

    partitions: PartitionedTable
    encoder: OneHot  # how records become numbers
    counts: OneWay  # how many records hold each value: as many as there are, whatever they weigh
    products: Floats | None  # (d, d): how many records are 1 in both of two columns

    @property
    def shape(self) -> tuple[int, int]:
        """Records, and columns of numbers."""
        return self.partitions.n_records, len(self.encoder.names)

    def moments(self) -> Moments:
        """Return mean, variance and extremes of each column."""
        width, n = self.shape[1], self.partitions.n_records
        return counted_moments(*self.encoder.distribution(self.counts), width, n)


@dataclass(frozen=True)
class ValueCounts(Statistic["list[Any]"]):
    """How many records hold each stored value; and two encoded columns at once, if asked."""

    encoder: OneHot | None

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 0 if self.encoder is None else 8 * len(self.encoder.names) ** 2

    def partial(self, partition: Partition) -> list[Any]:
        """Count the records of a partition."""
        table = partition.records
        stored = np.bincount(table.values, minlength=table.schema.n_values)
        if self.encoder is None:
            return [stored]
        return [stored, column_products(self.encoder.of_table(table))]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Add up."""
        return [a + b for a, b in zip(one, other, strict=True)]


def first_pass(
    partitions: PartitionedTable,
    target: str | None,
    products: Callable[[tuple[int, int]], bool],
    n_jobs: int | None,
) -> FirstPass:
    """Take the first pass.

    The `target` column holds types of objects, and is not projected. `products` says for a number
    of records and of columns whether products of these are wanted.
    """
    schema, n = partitions.schema, partitions.n_records
    names = [name for name in schema.names if name != target]
    if not names:
        raise InputError(f"X has no columns besides {target!r}")
    encoder = OneHot.of_schema(schema, names)
    wanted = products((n, len(encoder.names)))
    stored, *more = partitions.reduce(ValueCounts(encoder if wanted else None), n_jobs=n_jobs)
    counts = OneWay(schema, stored, n)
    encoder = encoder.in_form(int(encoder.distribution(counts)[2].sum()), n)
    return FirstPass(partitions, encoder, counts, more[0] if more else None)


# The projection


def check_plan(plan: Plan, d: int) -> None:
    """Refuse a projection that takes all rows at once."""
    if plan.method == "exact_pca" and not plan.takes_products(d):
        raise InputError(
            f"projection: exact_pca of {d:,} columns takes all records at once, target X is in "
            f"partitions; up to {SMALL:,} columns it can be done in a pass, and so can "
            "randomized_svd, randomized_pca, approximate_pca and gaussian of any number"
        )


@dataclass(frozen=True)
class PartitionedMatrix:
    """The centred matrix of records in partitions: every product with it is a pass."""

    columns: FirstPass
    mean: Floats  # (d,)
    scale: Floats  # (d,)
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Records, and columns of numbers."""
        return self.columns.shape

    def gram(self) -> Floats:
        """Return the (d, d) product of the transposed matrix with itself."""
        products = self.columns.products
        if products is None:
            products = self._reduce(ValueCounts(self.columns.encoder))[1]
        return centred_products(products, self.shape[0], self.scale, self.columns.moments())

    def image(self, directions: Floats, *, back: bool = True) -> Image:
        """Return the image of directions: one pass."""
        product = self._reduce(GramProduct(self._encoder, directions, back))
        return Image(directions.T @ product if back else product, product)

    def sample(self, sampling: RowSampling, rng: np.random.Generator) -> Floats | None:
        """Return a sample of the rows: one pass for their lengths, one to draw."""
        lengths = self._reduce(SquaredNorms(self._encoder, sampling))
        before, total = {}, 0.0
        for index in sorted(lengths):
            before[index] = total
            total += lengths[index]
        if total == 0:
            return None
        targets = np.sort(rng.random(sampling.n_rows) * total)
        sample: Floats = self._reduce(SampledRows(self._encoder, sampling, targets, before, total))
        return sample

    @property
    def _encoder(self) -> CentredEncoder:
        return CentredEncoder(self.columns.encoder, self.mean, self.scale)

    def _reduce(self, statistic: Any) -> Any:
        return self.columns.partitions.reduce(
            statistic, what="projection: partitions", n_jobs=self.n_jobs
        )


@dataclass(frozen=True)
class CentredEncoder:
    """The rows of the centred matrix that are in a partition."""

    encoder: OneHot
    mean: Floats
    scale: Floats

    def of(self, partition: Partition) -> Centred:
        """Return them."""
        return Centred(
            self.encoder.of_table(partition.records), self.mean, self.scale, partition.n_jobs
        )


@dataclass(frozen=True)
class GramProduct(Statistic["Floats"]):
    """Products of the centred matrix A and directions D: ``A' A D``, or ``(A D)' (A D)``."""

    encoder: CentredEncoder
    directions: Floats
    back: bool

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        n_columns, wide = self.directions.shape
        return 8 * int(wide) * int(n_columns if self.back else wide)

    def partial(self, partition: Partition) -> Floats:
        """Return that of the rows of a partition."""
        rows = self.encoder.of(partition)
        image = rows.times(self.directions)
        return rows.transposed_times(image) if self.back else image.T @ image

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Add up."""
        return one + other


@dataclass(frozen=True)
class SquaredNorms(Statistic["dict[int, float]"]):
    """The sum of the squared lengths of rows, by partition."""

    encoder: CentredEncoder
    sampling: RowSampling

    def partial(self, partition: Partition) -> dict[int, float]:
        """Sum up those of a partition."""
        lengths = self.encoder.of(partition).row_squares(
            self.sampling.origin, self.sampling.column_weights
        )
        return {partition.index: float(np.cumsum(lengths)[-1])}

    def merge(self, one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
        """Keep them apart."""
        return one | other


@dataclass(frozen=True)
class SampledRows(Statistic["Floats"]):
    """The sample of all rows."""

    encoder: CentredEncoder
    sampling: RowSampling
    targets: Floats  # points on the line that all squared lengths make, ascending
    before: dict[int, float]  # where those of each partition begin
    total: float  # where the line ends

    def partial(self, partition: Partition) -> Floats:
        """Return the sampled rows of a partition, or products of their columns."""
        wide = len(self.sampling.columns)
        nothing = np.zeros((wide if self.sampling.as_products else 0, wide))
        begin = self.before[partition.index]
        ends = [start for start in self.before.values() if start > begin]
        low = np.searchsorted(self.targets, begin)
        high = np.searchsorted(self.targets, min(ends)) if ends else len(self.targets)
        targets = self.targets[low:high] - begin
        if not len(targets):
            return nothing
        rows = self.encoder.of(partition)
        lengths = rows.row_squares(self.sampling.origin, self.sampling.column_weights)
        if not lengths.any():  # the point belongs to a partition that begins at the same point
            return nothing
        return self.sampling.take(rows, lengths, targets, self.total)

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Add up products; put later rows behind earlier ones."""
        return one + other if self.sampling.as_products else np.concatenate([one, other])
