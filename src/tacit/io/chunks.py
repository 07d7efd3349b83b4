"""Many frames, one after another, into one Table.

Each chunk is stored as it comes under the labels seen so far and the defaults of the first chunk.
Labels that turn up later, and most common values that turn out to be others, are settled by one
rewriting of the stored values at the end; where nothing changed it is a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.io.frames.labels import spread_counts
from tacit.schema import Schema
from tacit.schema.types import merge_labels
from tacit.table.build import Coded, Parts, choose_defaults, store_codes
from tacit.table.frames import as_numbers, encode_columns
from tacit.table.kinds import as_kinds, mark_identifier, of_kind
from tacit.table.recode import join_parts

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tacit.schema import Kind, Labels
    from tacit.table.discretise import Edges

__all__ = ["Chunks"]


class Chunks:
    """Collects frames with the same columns.

    Where columns are cut into bins is known beforehand, since a chunk cannot know. The column
    `weights` is taken out; `missing`, `defaults` and `kinds` are as for :class:`tacit.Table`.
    """

    def __init__(
        self,
        cuts: dict[str, Edges],
        missing: str,
        defaults: Any,
        weights: str | None,
        kinds: dict[str, Kind],
        n_jobs: int,
    ) -> None:
        self.n_records = 0
        self._cuts = cuts
        self._kinds = kinds
        self._missing = missing
        self._wanted = defaults
        self._weights = weights
        self._n_jobs = n_jobs
        self._parts: list[Parts] = []
        self._weights_read: list[NDArray[np.float64]] = []
        self._labels: list[Labels] = []
        self._counts: list[NDArray[np.int64]] = []
        self._defaults: NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, frame: pl.DataFrame) -> None:
        """Take the next records."""
        if frame.height == 0:
            return
        if self._weights is not None:
            self._weights_read.append(as_numbers(frame.get_column(self._weights), "weights"))
            frame = frame.drop(self._weights)
        # What is missing becomes the default only when the defaults of all records are known.
        missing = "state" if self._missing == "default" else self._missing
        known = dict(zip(frame.columns, self._labels, strict=False))
        columns = encode_columns(
            as_kinds(frame, self._kinds), missing, self._cuts, self._n_jobs, self.n_records, known
        )
        if not self._parts:
            self._begin(columns)
        else:
            columns = [self._admit(c, column) for c, column in enumerate(columns)]
        for c, column in enumerate(columns):
            self._counts[c] = self._counts[c] + column.counts
            # One vote for the default that this chunk is to be stored under.
            column.counts = np.bincount([self._defaults[c]], minlength=len(column.labels))
        self._parts.append(store_codes(columns, None, self._n_jobs))
        self.n_records += frame.height

    def _begin(self, columns: list[Coded]) -> None:
        names = [column.name for column in columns]
        self._labels = [column.labels for column in columns]
        self._counts = [np.zeros(len(labels), np.int64) for labels in self._labels]
        counts = [column.counts for column in columns]
        try:
            self._defaults = choose_defaults(names, self._labels, counts, self._wanted)
        except InputError:  # a label that this chunk does not have; the last word is at the end
            self._defaults = choose_defaults(names, self._labels, counts, None)

    def _admit(self, c: int, column: Coded) -> Coded:
        """Bring one column of a further chunk under the labels of all chunks so far."""
        known = self._labels[c]
        if column.labels == known:
            column.labels = known  # the fewer objects, the less there is to compare
            return column
        merged = merge_labels([known, column.labels], column.name)
        if merged == known:
            merged = known
        else:
            self._counts[c] = spread_counts(self._counts[c], known, merged)
            self._defaults[c] = merged.code(known[int(self._defaults[c])])
            self._labels[c] = merged
        codes = merged.find_all(column.labels)
        ranks = np.where(column.ranks < 0, -1, codes[column.ranks])
        counts = spread_counts(column.counts, column.labels, merged)
        return Coded(column.name, merged, column.codes, ranks, counts)

    def finish(self) -> Parts:
        """Return the parts of the Table of all records."""
        names = self._parts[0].schema.names
        labels, counts = list(self._labels), list(self._counts)
        if self._missing == "default":
            for c, column_labels in enumerate(labels):
                if column_labels.missing is not None and len(column_labels) > 1:
                    labels[c] = column_labels.without_missing()
                    counts[c] = counts[c][:-1]
        for c, name in enumerate(names):
            kept = of_kind(labels[c], self._kinds.get(name), name)
            labels[c] = mark_identifier(kept, self.n_records)
        new = Schema(names, labels, choose_defaults(names, labels, counts, self._wanted))
        parts = join_parts(self._parts, new, self._n_jobs)
        if self._weights_read:
            parts.weights = np.concatenate(self._weights_read)
        return parts
