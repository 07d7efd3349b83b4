"""Counts of one leaf: of all value ids, or of those that occur in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Planes", "subtract"]

NO_IDS = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Planes:
    """Counts of a leaf, a row for each plane: all records, then all classes but the base.

    Attributes
    ----------
    ids : ndarray of int32 or None
        The value ids that are counted, ascending; None for all of them.
    counts : ndarray of int64, shape (n_planes, n_ids)
    """

    ids: NDArray[np.int32] | None
    counts: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.counts.nbytes + (0 if self.ids is None else self.ids.nbytes)

    @property
    def flat_ids(self) -> NDArray[np.int32]:
        """The ids, none for all."""
        return NO_IDS if self.ids is None else self.ids

    def own(self) -> Planes:
        """Return the same in memory of their own, not in that of all leaves of a pass."""
        if self.counts.base is None and self.counts.flags.c_contiguous:
            return self
        return Planes(self.ids, self.counts.copy())

    def among(self, low: int, high: int) -> Planes:
        """Return those of a range of ids."""
        if self.ids is not None:
            low, high = np.searchsorted(self.ids, (low, high)).tolist()
        ids = None if self.ids is None else self.ids[low:high]
        return Planes(ids, self.counts[:, low:high])

    def sum(self, low: int, high: int) -> NDArray[np.int64]:
        """Return the counts of all ids in a range together."""
        own = self.among(low, high).counts
        if own.shape[1] == 1:
            return own[:, 0].copy()
        total: NDArray[np.int64] = own.sum(axis=1)
        return total

    def each(self, low: int, high: int) -> list[NDArray[np.int64]]:
        """Return the counts of each id in a range."""
        found = np.zeros((high - low, len(self.counts)), np.int64)
        own = self.among(low, high)
        found[slice(None) if own.ids is None else own.ids - low] = own.counts.T
        return list(found)

    def compact(self) -> Planes:
        """Return those of ids that occur."""
        kept = np.flatnonzero(self.counts[0] > 0)
        if self.ids is not None and len(kept) == len(self.ids):
            return self
        ids = kept.astype(np.int32) if self.ids is None else self.ids[kept]
        return Planes(ids, self.counts.take(kept, axis=1))


def subtract(wholes: list[Planes], parts: list[Planes]) -> None:
    """Take parts off leaves, in place and one after another."""
    pairs = [
        (whole, part.compact() if part.ids is None and whole.ids is not None else part)
        for whole, part in zip(wholes, parts, strict=True)
        if part.counts.size
    ]
    _core.subtract_histograms(
        np.array([len(whole.counts) for whole, _ in pairs], np.int64),
        [whole.flat_ids for whole, _ in pairs],
        [whole.counts.reshape(-1) for whole, _ in pairs],
        [part.flat_ids for _, part in pairs],
        [part.counts.reshape(-1) for _, part in pairs],
    )
