"""From raw frames to records under one schema, once the labels of all partitions are known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import FileError, InputError
from tacit.io.frames.labels import take_weights
from tacit.io.frames.raw import naming_location, raw_partition
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.build import Parts, choose_defaults, store_codes
from tacit.table.frames import encode_columns
from tacit.table.kinds import mark_identifier, of_kind
from tacit.table.recode import join_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.io.frames.labels import LabelCounts
    from tacit.io.frames.raw import RawFrame
    from tacit.schema import Kind, Labels
    from tacit.table.build import Coded
    from tacit.table.discretise import Edges

__all__ = ["Coding", "choose_coding"]

_CELLS = 1 << 25  # to be coded at a time


@dataclass(frozen=True)
class Coding:
    """How frames become Tables under one schema: by label, whatever their codes are."""

    schema: Schema
    known: tuple[Labels, ...]  # the labels that the values of each column have in frames
    # The code under the schema of each of them; -1 for "whatever is the default".
    codes: tuple[NDArray[np.int64], ...]
    edges: Mapping[str, Edges] = field(default_factory=dict)  # where to cut columns of numbers
    weights: str | None = None  # the column that holds record weights

    @property
    def columns(self) -> list[str]:
        """The columns that frames must have."""
        names = list(self.schema.names)
        return names if self.weights is None else [*names, self.weights]

    def select(self, columns: Sequence[int]) -> Coding:
        """Return the coding of some of the columns."""
        schema = self.schema.select(columns)
        return replace(
            self,
            schema=schema,
            known=tuple(self.known[c] for c in columns),
            codes=tuple(self.codes[c] for c in columns),
            edges={name: cuts for name, cuts in self.edges.items() if name in schema.names},
        )

    def table(self, data: Any, n_jobs: int) -> Table | None:
        """Return the Table of a :class:`RawPartition`, or of a frame; None without a record."""
        parts, weights = [], []
        for raw in raw_partition(data).frames:
            with naming_location(raw.path, raw.location):
                frame, numbers = take_weights(raw.frame, self.weights)
                step = max(1, _CELLS // len(self.schema))
                for first in range(0, frame.height, step):
                    chunk = frame.slice(first, step).select(self.schema.names)
                    parts.append(self._store(raw, chunk, raw.first + first, n_jobs))
                if numbers is not None:
                    weights.append(numbers)
        if not parts:
            return None
        joined = join_parts(parts, self.schema, n_jobs)
        joined.weights = np.concatenate(weights) if weights else None
        return Table._of(joined)

    def _store(self, raw: RawFrame, frame: Any, first: int, n_jobs: int) -> Parts:
        known = dict(zip(self.schema.names, self.known, strict=True))
        columns = encode_columns(frame, "state", self.edges, n_jobs, first, known)
        columns = [self._recode(raw, c, column) for c, column in enumerate(columns)]
        parts = store_codes(columns, None, n_jobs)
        parts.schema = self.schema
        return parts

    def _recode(self, raw: RawFrame, c: int, column: Coded) -> Coded:
        """Bring a column under the labels of all partitions, with one vote for its default."""
        codes = self.codes[c]
        if column.labels is not self.known[c]:
            found = self.known[c].find_all(column.labels)
            if (found < 0).any():
                label = column.labels[int((found < 0).argmax())]
                raise FileError(
                    raw.path,
                    f"has changed since its labels were counted: column {column.name!r} "
                    f"holds {label!r}",
                )
            codes = codes[found]
        column.ranks = np.where(column.ranks < 0, -1, codes[column.ranks])
        column.labels = self.schema.labels[c]
        column.counts = np.bincount([self.schema.defaults[c]], minlength=len(column.labels))
        return column


def choose_coding(
    counted: LabelCounts,
    missing: str,
    defaults: Any,
    edges: Mapping[str, Edges],
    weights: str | None,
    kinds: Mapping[str, Kind],
) -> tuple[Coding, int]:
    """Choose labels and defaults by what the first pass counted; count what will be stored."""
    labels, counts, codes = [], [], []
    for name, kept, times in zip(counted.names, counted.labels, counted.counts, strict=True):
        code = np.arange(len(kept))
        if missing == "default" and kept.missing is not None and len(kept) > 1:
            code[-1] = -1
            kept, times = kept.without_missing(), times[:-1]
        kept = of_kind(kept, kinds.get(name), name)
        labels.append(mark_identifier(kept, counted.n_records))
        counts.append(times)
        codes.append(code)
    chosen = choose_defaults(counted.names, labels, counts, defaults)
    if not len(chosen):
        raise InputError("there is no column left to read")
    stored = sum(int(n.sum() - n[d]) for n, d in zip(counts, chosen, strict=True))
    schema = Schema(counted.names, labels, chosen)
    return Coding(schema, tuple(counted.labels), tuple(codes), edges, weights), stored
