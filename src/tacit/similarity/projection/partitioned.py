"""The projection of records in partitions: every look at them is one pass.

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
    binary_moments,
    centred_products,
    column_products,
)
from tacit.similarity.projection.encoding import Encoder
from tacit.similarity.projection.linear import SMALL
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.scale import Partition, PartitionedTable
    from tacit.similarity.projection.centred import Drawing, Moments
    from tacit.similarity.projection.linear import Plan

    Floats = NDArray[np.float64]

__all__ = ["PartSight", "Survey", "check_plan", "survey"]


# Columns: what they are, how often each is 1


@dataclass(frozen=True)
class Survey:
    """What the first pass finds.

    Attributes
    ----------
    parts : PartitionedTable
    encoder : Encoder
        How records become numbers.
    singles : OneWay
        How many records hold each value: as many as there are, whatever they weigh.
    products : float64 array of shape (d, d) or None
        How many records are 1 in both of two columns.
    """

    parts: PartitionedTable
    encoder: Encoder
    singles: OneWay
    products: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Records, and columns of numbers."""
        return self.parts.n_records, len(self.encoder.names)

    def moments(self) -> Moments:
        """Return mean, variance and extremes of each column."""
        return binary_moments(self.encoder.ones(self.singles), self.parts.n_records)


@dataclass(frozen=True)
class ValueCounts(Statistic["list[Any]"]):
    """How many records hold each stored value; and two encoded columns at once, if asked."""

    encoder: Encoder | None

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        return 0 if self.encoder is None else 8 * len(self.encoder.names) ** 2

    def partial(self, part: Partition) -> list[Any]:
        """Count the records of a part."""
        table = part.records
        stored = np.bincount(table.values, minlength=table.schema.n_values)
        if self.encoder is None:
            return [stored]
        return [stored, column_products(self.encoder.transform(table))]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Add up."""
        return [a + b for a, b in zip(one, other, strict=True)]


def survey(
    parts: PartitionedTable,
    but: str | None,
    products: Callable[[tuple[int, int]], bool],
    n_jobs: int | None,
) -> Survey:
    """Take the first pass.

    Parameters
    ----------
    parts : PartitionedTable
    but : str, optional
        A column that says nothing about objects but their type.
    products : callable
        Says for a number of records and of columns whether products of these are wanted.
    n_jobs : int, optional
    """
    schema, n = parts.schema, parts.n_records
    names = [name for name in schema.names if name != but]
    if not names:
        raise InputError(f"X has no columns besides {but!r}")
    encoder = Encoder.of_schema(schema, names)
    wanted = products((n, len(encoder.names)))
    stored, *more = parts.reduce(ValueCounts(encoder if wanted else None), n_jobs=n_jobs)
    singles = OneWay(schema, stored, n)
    encoder = encoder.formed(int(encoder.ones(singles).sum()), n)
    return Survey(parts, encoder, singles, more[0] if more else None)


# The projection


def check_plan(plan: Plan, d: int) -> None:
    """Refuse a projection that takes all rows at once."""
    if plan.method == "exact_pca" and not plan.takes_products(d):
        raise InputError(
            f"projection: exact_pca of {d:,} columns takes all records at once, but X is in "
            f"partitions; up to {SMALL:,} columns it can be done in a pass, and so can "
            "randomised_svd, randomised_pca, approximate_pca and gaussian of any number"
        )


@dataclass(frozen=True)
class PartSight:
    """The centred matrix of records in partitions: every look at it is a pass.

    Attributes
    ----------
    found : Survey
    mean, scale : float64 arrays of shape (d,)
    n_jobs : int, optional
    """

    found: Survey
    mean: Floats
    scale: Floats
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Records, and columns of numbers."""
        return self.found.shape

    def gram(self) -> Floats:
        """Return the (d, d) product of the transposed matrix with itself."""
        products = self.found.products
        if products is None:
            products = self._reduce(ValueCounts(self.found.encoder))[1]
        return centred_products(products, self.shape[0], self.scale)

    def image(self, directions: Floats, *, back: bool = True) -> Image:
        """Return what becomes of directions: one pass."""
        found = self._reduce(Turned(self._view, directions, back))
        return Image(directions.T @ found if back else found, found)

    def sample(self, drawing: Drawing, rng: np.random.Generator) -> Floats | None:
        """Return what is drawn of the rows: one pass to measure them, one to draw."""
        lengths = self._reduce(Lengths(self._view, drawing))
        before, total = {}, 0.0
        for index in sorted(lengths):
            before[index] = total
            total += lengths[index]
        if total == 0:
            return None
        targets = np.sort(rng.random(drawing.size) * total)
        drawn: Floats = self._reduce(Drawn(self._view, drawing, targets, before, total))
        return drawn

    @property
    def _view(self) -> View:
        return View(self.found.encoder, self.mean, self.scale)

    def _reduce(self, statistic: Any) -> Any:
        return self.found.parts.reduce(statistic, what="projection: partitions", n_jobs=self.n_jobs)


@dataclass(frozen=True)
class View:
    """The rows of the centred matrix that are in a part."""

    encoder: Encoder
    mean: Floats
    scale: Floats

    def of(self, part: Partition) -> Centred:
        """Return them."""
        return Centred(self.encoder.transform(part.records), self.mean, self.scale, part.n_jobs)


@dataclass(frozen=True)
class Turned(Statistic["Floats"]):
    """What the centred matrix A makes of directions D: ``A' A D``, or ``(A D)' (A D)``."""

    view: View
    directions: Floats
    back: bool

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory."""
        n_columns, wide = self.directions.shape
        return 8 * int(wide) * int(n_columns if self.back else wide)

    def partial(self, part: Partition) -> Floats:
        """Return that of the rows of a part."""
        rows = self.view.of(part)
        image = rows.times(self.directions)
        return rows.transposed_times(image) if self.back else image.T @ image

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Add up."""
        return one + other


@dataclass(frozen=True)
class Lengths(Statistic["dict[int, float]"]):
    """The sum of the squared lengths of rows, by partition."""

    view: View
    drawing: Drawing

    def partial(self, part: Partition) -> dict[int, float]:
        """Sum up those of a part."""
        lengths = self.view.of(part).row_squares(self.drawing.origin, self.drawing.emphasis)
        return {part.index: float(np.cumsum(lengths)[-1])}

    def merge(self, one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
        """Keep them apart."""
        return one | other


@dataclass(frozen=True)
class Drawn(Statistic["Floats"]):
    """What is drawn of all rows.

    Attributes
    ----------
    view : View
    drawing : Drawing
    targets : float64 array
        Points on the line that all squared lengths make, ascending.
    before : dict of int to float
        Where those of each partition begin.
    total : float
        Where the line ends.
    """

    view: View
    drawing: Drawing
    targets: Floats
    before: dict[int, float]
    total: float

    def partial(self, part: Partition) -> Floats:
        """Return what is drawn of a part."""
        wide = len(self.drawing.kept)
        nothing = np.zeros((wide if self.drawing.many else 0, wide))
        begin = self.before[part.index]
        ends = [start for start in self.before.values() if start > begin]
        low = np.searchsorted(self.targets, begin)
        high = np.searchsorted(self.targets, min(ends)) if ends else len(self.targets)
        own = self.targets[low:high] - begin
        if not len(own):
            return nothing
        rows = self.view.of(part)
        lengths = rows.row_squares(self.drawing.origin, self.drawing.emphasis)
        if not lengths.any():  # the point belongs to a partition that begins at the same place
            return nothing
        return self.drawing.take(rows, lengths, own, self.total)

    def merge(self, one: Floats, other: Floats) -> Floats:
        """Add up products; put later rows behind earlier ones."""
        return one + other if self.drawing.many else np.concatenate([one, other])
