"""The first pass: which labels the columns of all partitions have, and how often.

Raw codes mean nothing beyond the file they are in: dictionaries, categoricals and enumerations
differ between files. So labels are merged by what they are, and every later pass finds the code of
a value by its label (see :mod:`tacit.scale.coding`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError
from tacit.scale.raw import naming_place, raw_part
from tacit.schema.types import merge_labels
from tacit.statistic import Statistic
from tacit.table.frames import encode_columns
from tacit.table.gateway import check_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.schema import Labels
    from tacit.statistic import Partition
    from tacit.table.build import Coded
    from tacit.table.discretise import Edges

__all__ = ["Dictionary", "Found", "take_weights"]


@dataclass
class Found:
    """What some partitions hold.

    Attributes
    ----------
    names : tuple of str
        The columns, without the one that holds weights.
    labels : list of Labels
        Of each column, sorted as those of a Table; missing comes last.
    counts : list of int64 arrays
        How often each label occurs.
    sizes : dict of int to (int, int)
        Records and bytes in memory of each partition that has records, by its number.
    """

    names: tuple[str, ...]
    labels: list[Labels]
    counts: list[NDArray[np.int64]]
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return sum(records for records, _ in self.sizes.values())


@dataclass(frozen=True)
class Dictionary(Statistic["Found"]):
    """Labels of all columns, and counts of them: a statistic of raw frames.

    ``part.records`` is a :class:`~tacit.scale.raw.RawPart`, or any one eager frame.

    Parameters
    ----------
    missing : {"state", "default", "error"}
    edges : mapping of str to Edges
        Where to cut columns of numbers.
    weights : str, optional
        The column that holds record weights.
    columns : sequence of str, optional
        The columns, in their order; those of the first frame by default.
    """

    missing: str = "state"
    edges: Mapping[str, Edges] = field(default_factory=dict)
    weights: str | None = None
    columns: Sequence[str] | None = None

    def partial(self, part: Partition) -> Found:
        """Find the labels of a part."""
        raw = raw_part(part.records)
        # What is missing becomes the default only when the defaults of the whole are known.
        missing = "state" if self.missing == "default" else self.missing
        found: Found | None = None
        for own in raw.frames:
            with naming_place(own.path, own.place):
                frame, _ = take_weights(own.frame, self.weights)
                if self.columns is not None:
                    frame = frame.select(self.columns)
                known = dict(zip(found.names, found.labels, strict=True)) if found else None
                coded = encode_columns(
                    frame, missing, dict(self.edges), None, part.n_jobs, own.first, known
                )
            other = _of_columns(coded)
            found = other if found is None else self.merge(found, other)
        assert found is not None  # a part has at least one record
        found.sizes = {part.index: (raw.n_records, raw.n_bytes)}
        return found

    def merge(self, one: Found, other: Found) -> Found:
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
            counts.append(_spread(n, a, merged) + _spread(m, b, merged))
        return Found(one.names, labels, counts, one.sizes | other.sizes)


def _of_columns(columns: list[Coded]) -> Found:
    return Found(
        tuple(column.name for column in columns),
        [column.labels for column in columns],
        [np.asarray(column.counts, np.int64) for column in columns],
    )


def _spread(counts: NDArray[np.int64], own: Labels, merged: Labels) -> NDArray[np.int64]:
    if own is merged or own == merged:
        return counts
    wider = np.zeros(len(merged), np.int64)
    wider[[merged.code(label) for label in own]] = counts
    return wider


def take_weights(
    frame: pl.DataFrame, name: str | None
) -> tuple[pl.DataFrame, NDArray[np.float64] | None]:
    """Take the column of weights out of a frame."""
    if name is None:
        return frame, None
    taken = frame.get_column(name)
    if not taken.dtype.is_numeric():
        raise InputError(f"weights: column {name!r} holds {taken.dtype}, not numbers")
    numbers = taken.cast(float).fill_null(float("nan")).to_numpy()
    return frame.drop(name), check_weights(numbers, frame.height)
