"""The first pass: which labels the columns of all partitions have, and how often.

Raw codes mean nothing beyond the file they are in: dictionaries, categoricals and enumerations
differ between files. So labels are merged by what they are, and every later pass finds the code of
a value by its label (see :mod:`tacit.io.frames.coding`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError
from tacit.io.frames.raw import naming_location, raw_partition
from tacit.schema.types import merge_labels
from tacit.statistic import Statistic
from tacit.table.frames import as_numbers, encode_columns
from tacit.table.gateway import check_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.schema import Labels
    from tacit.statistic import Partition
    from tacit.table.build import Coded
    from tacit.table.discretise import Edges

__all__ = ["LabelCounts", "LabelDictionary", "spread_counts", "take_weights"]


@dataclass
class LabelCounts:
    """What some partitions hold."""

    names: tuple[str, ...]  # the columns, without the one that holds weights
    labels: list[Labels]  # of each column, sorted as those of a Table; missing comes last
    counts: list[NDArray[np.int64]]  # how often each label occurs
    # Records and bytes in memory of each partition that has records, by its number.
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return sum(records for records, _ in self.sizes.values())


@dataclass(frozen=True)
class LabelDictionary(Statistic["LabelCounts"]):
    """Labels of all columns, and counts of them: a statistic of raw frames.

    ``partition.records`` is a :class:`~tacit.io.frames.raw.RawPartition`, or any one eager frame.
    """

    missing: str = "state"
    edges: Mapping[str, Edges] = field(default_factory=dict)  # where to cut columns of numbers
    weights: str | None = None  # the column that holds record weights
    # The columns, in their order; those of the first frame by default.
    columns: Sequence[str] | None = None

    def partial(self, partition: Partition) -> LabelCounts:
        """Find the labels of a partition."""
        records = raw_partition(partition.records)
        # What is missing becomes the default only when the defaults of all records are known.
        missing = "state" if self.missing == "default" else self.missing
        total: LabelCounts | None = None
        for raw in records.frames:
            with naming_location(raw.path, raw.location):
                frame, _ = take_weights(raw.frame, self.weights)
                if self.columns is not None:
                    frame = frame.select(self.columns)
                known = dict(zip(total.names, total.labels, strict=True)) if total else None
                coded = encode_columns(
                    frame, missing, self.edges, partition.n_jobs, raw.first, known
                )
            counts = _of_columns(coded)
            total = counts if total is None else self.merge(total, counts)
        assert total is not None  # a partition has at least one record
        total.sizes = {partition.index: (records.n_records, records.n_bytes)}
        return total

    def merge(self, one: LabelCounts, other: LabelCounts) -> LabelCounts:
        """Bring both under the union of their labels."""
        if one.names != other.names:
            odd = next(iter(set(one.names) ^ set(other.names)), None)
            problem = f"only one of them has the column {odd!r}" if odd else "their order differs"
            raise InputError(f"partitions do not have the same columns: {problem}")
        labels, counts = [], []
        pairs = zip(one.names, one.labels, other.labels, one.counts, other.counts, strict=True)
        for name, a, b, n, m in pairs:
            merged = merge_labels([a, b], name, "partitions")
            labels.append(merged)
            counts.append(spread_counts(n, a, merged) + spread_counts(m, b, merged))
        return LabelCounts(one.names, labels, counts, one.sizes | other.sizes)


def _of_columns(columns: list[Coded]) -> LabelCounts:
    return LabelCounts(
        tuple(column.name for column in columns),
        [column.labels for column in columns],
        [np.asarray(column.counts, np.int64) for column in columns],
    )


def spread_counts(counts: NDArray[np.int64], labels: Labels, merged: Labels) -> NDArray[np.int64]:
    """Return counts of labels as counts of a union of labels."""
    if labels is merged or labels == merged:
        return counts
    wider = np.zeros(len(merged), np.int64)
    wider[merged.find_all(labels)] = counts
    return wider


def take_weights(
    frame: pl.DataFrame, name: str | None
) -> tuple[pl.DataFrame, NDArray[np.float64] | None]:
    """Take the column of weights out of a frame."""
    if name is None:
        return frame, None
    weights = as_numbers(frame.get_column(name), "weights")
    return frame.drop(name), check_weights(weights, frame.height)
