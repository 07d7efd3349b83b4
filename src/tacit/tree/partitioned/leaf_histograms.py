"""Class histograms of one leaf: counts of all value ids, or of those that occur in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClassHistograms", "subtract"]

NO_IDS = np.zeros(0, np.int32)


@dataclass(frozen=True)
class ClassHistograms:
    """Counts of a leaf by value id: a row of all records, then of each class but the base."""

    ids: NDArray[np.int32] | None  # the value ids that are counted, ascending; None for all of them
    counts: NDArray[np.int64]  # of shape (n_classes, n_ids)

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.counts.nbytes + (0 if self.ids is None else self.ids.nbytes)

    @property
    def flat_ids(self) -> NDArray[np.int32]:
        """The ids, none for all."""
        return NO_IDS if self.ids is None else self.ids

    def detached(self) -> ClassHistograms:
        """Return the same, not as a view of the memory of all leaves of a pass."""
        if self.counts.base is None and self.counts.flags.c_contiguous:
            return self
        return ClassHistograms(self.ids, self.counts.copy())

    def between(self, low: int, high: int) -> ClassHistograms:
        """Return those of a range of ids."""
        if self.ids is not None:
            low, high = np.searchsorted(self.ids, (low, high)).tolist()
        ids = None if self.ids is None else self.ids[low:high]
        return ClassHistograms(ids, self.counts[:, low:high])

    def sum(self, low: int, high: int) -> NDArray[np.int64]:
        """Return the counts of all ids in a range together."""
        counts = self.between(low, high).counts
        if counts.shape[1] == 1:
            return counts[:, 0].copy()
        total: NDArray[np.int64] = counts.sum(axis=1)
        return total

    def each(self, low: int, high: int) -> list[NDArray[np.int64]]:
        """Return the counts of each id in a range."""
        counts = np.zeros((high - low, len(self.counts)), np.int64)
        held = self.between(low, high)
        counts[slice(None) if held.ids is None else held.ids - low] = held.counts.T
        return list(counts)

    def compact(self) -> ClassHistograms:
        """Return those of ids that occur."""
        kept = np.flatnonzero(self.counts[0] > 0)
        if self.ids is not None and len(kept) == len(self.ids):
            return self
        ids = kept.astype(np.int32) if self.ids is None else self.ids[kept]
        return ClassHistograms(ids, self.counts.take(kept, axis=1))


def subtract(parents: list[ClassHistograms], children: list[ClassHistograms]) -> None:
    """Take the counts of children off those of parents, in place and one after another."""
    pairs = [
        (parent, child.compact() if child.ids is None and parent.ids is not None else child)
        for parent, child in zip(parents, children, strict=True)
        if child.counts.size
    ]
    _core.subtract_histograms(
        np.array([len(parent.counts) for parent, _ in pairs], np.int64),
        [parent.flat_ids for parent, _ in pairs],
        [parent.counts.reshape(-1) for parent, _ in pairs],
        [child.flat_ids for _, child in pairs],
        [child.counts.reshape(-1) for _, child in pairs],
    )
