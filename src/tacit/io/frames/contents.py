"""What a scan of files is going to read, and how the first passes find what is in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.io.csv.file import fitting_types, wider_types
from tacit.io.csv.ranges import ByteCounter, UnfitError, count_of, cut_ranges
from tacit.io.csv.types import FitCounts, common_types
from tacit.io.frames.coding import code_of
from tacit.io.frames.cuts import check_specs, find_edges
from tacit.io.frames.labels import Dictionary
from tacit.io.frames.memory import coding_bytes
from tacit.io.frames.readers import CodedReader, How, RawReader, group_stretches
from tacit.scale.partitioned_table import Contents
from tacit.scale.partitions import Partitions
from tacit.table.frames import specs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.io.csv.ranges import TextFile
    from tacit.io.frames.cuts import Extremes
    from tacit.io.frames.labels import Found
    from tacit.io.frames.readers import FilePiece
    from tacit.scale.partitioned_table import Run

__all__ = ["ColumnFiles", "Question", "TextFiles", "find_contents"]


@dataclass(frozen=True)
class Question:
    """What is asked of files, whatever their kind.

    Attributes
    ----------
    columns : tuple of str
    weights : str, optional
        The column that holds record weights.
    missing, defaults, discretise
        As for :func:`tacit.scan`.
    n_bytes : int
        What loading a partition is to take, about.
    n_records : int, optional
        How many records a partition is to have.
    origin : str
        The files, for people.
    """

    columns: tuple[str, ...]
    weights: str | None
    missing: str
    defaults: Any
    discretise: Any
    n_bytes: int
    n_records: int | None
    origin: str

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to read, with that of weights."""
        return self.columns if self.weights is None else (*self.columns, self.weights)

    def specs(self, types: Any) -> dict[str, Any]:
        """Return how to cut columns of numbers."""
        empty = pl.DataFrame(schema={name: types[name] for name in self.columns})
        specs = specs_of(empty, self.discretise, None)
        check_specs(specs)
        return specs

    def nothing(self) -> InputError:
        """Return the error that there is nothing."""
        return InputError(f"paths: {self.origin} hold no records")


class ColumnFiles:
    """Parquet or Arrow IPC files, which say themselves what they hold.

    Parameters
    ----------
    files : sequence of ParquetFile or IpcFile
    types : dict of str to Polars types
    question : Question
    """

    def __init__(self, files: Sequence[Any], types: dict[str, Any], question: Question) -> None:
        self._question = question
        self._specs = question.specs(types)
        self._how = How({name: types[name] for name in question.wanted})
        n_bytes, n_records = question.n_bytes, question.n_records
        wanted = list(question.wanted)
        stretches = [s for file in files for s in file.stretches(wanted, n_bytes, n_records)]
        if not stretches:
            raise question.nothing()
        self._pieces = group_stretches(stretches, n_bytes, n_records)

    def find(self, run: Run) -> Contents:
        """Find labels and defaults."""
        return find_contents(run, self._question, self._specs, self._pieces, self._how)


class TextFiles:
    """CSV files, of which the first records have been seen.

    Parameters
    ----------
    files : sequence of TextFile
    question : Question
    """

    def __init__(self, files: Sequence[TextFile], question: Question) -> None:
        self._files = files
        self._question = question
        self._types = common_types(files, question.wanted)
        question.specs(self._types)

    def find(self, run: Run) -> Contents:
        """Find where records begin, which types suit all, and then labels and defaults."""
        question, types = self._question, dict(self._types)
        own = list(types.values())
        ranges = [
            r for f in self._files for r in f.ranges(own, question.n_bytes, question.n_records)
        ]
        if not ranges:
            raise question.nothing()
        forms = tuple(dict.fromkeys(file.form for file in self._files))
        number = {form: k for k, form in enumerate(forms)}
        numbers = {file.path: number[file.form] for file in self._files}
        nowhere = (0,) * len(ranges)
        parts = Partitions(tuple(ranges), ByteCounter(), nowhere, keep=False)
        counts = list(run.map(parts, count_of, "ranges of bytes"))
        while True:
            how = How(types, forms)
            stretches = list(cut_ranges(ranges, counts, numbers, how))
            if not stretches:
                raise question.nothing()
            pieces = group_stretches(stretches, question.n_bytes, question.n_records)
            try:
                return find_contents(run, question, question.specs(types), pieces, how)
            except UnfitError as error:
                types |= self._widen(run, pieces, how, error)

    def _widen(
        self, run: Run, pieces: tuple[FilePiece, ...], how: How, error: UnfitError
    ) -> dict[str, Any]:
        """Look at all values of columns that are not text; raise the error if they do fit."""
        narrow = tuple(name for name, dtype in how.types.items() if dtype != pl.String)
        texts = replace(how, types=dict.fromkeys(how.types, pl.String))
        found = run.reduce(_raw(pieces, narrow, texts), FitCounts(narrow), "partitions")
        wider = wider_types(how.types, fitting_types(found)) if found else {}
        if not wider:  # Polars may be more particular; then it says which column it minds
            minded = [name for name in narrow if f"column {name!r}" in str(error)]
            wider = dict.fromkeys(minded, pl.String)
        if not wider:
            raise error
        return wider


def _raw(pieces: tuple[FilePiece, ...], columns: Sequence[str], how: How) -> Partitions:
    """Return partitions as raw frames, which no later pass will want."""
    return Partitions(pieces, RawReader(tuple(columns), how), (0,) * len(pieces), keep=False)


def find_contents(
    run: Run, question: Question, specs: dict[str, Any], pieces: tuple[Any, ...], how: How
) -> Contents:
    """Find edges, labels and defaults.

    Parameters
    ----------
    run : Run
    question : Question
    specs : dict
        How to cut columns of numbers.
    pieces : tuple of FilePiece, or of others that have such stretches
    how : How
    """

    def extremes(statistic: Extremes) -> NDArray[np.float64] | None:
        return run.reduce(_raw(pieces, statistic.columns, how), statistic, "partitions")

    edges = find_edges(specs, extremes)
    weights, missing = question.weights, question.missing
    statistic = Dictionary(missing, edges, weights, question.columns)
    found = run.reduce(_raw(pieces, question.wanted, how), statistic, "partitions")
    if found is None:
        raise question.nothing()
    coding, n_stored = code_of(found, missing, question.defaults, edges, weights)
    chosen, sizes = _sized(found, pieces, coding.schema.n_values, n_stored, weights is not None)
    firsts = tuple((np.cumsum(sizes) - sizes).tolist())
    partitions = Partitions(chosen, CodedReader(coding, how), firsts)
    return Contents(coding.schema, partitions, sizes, n_stored, weights is not None)


def _sized(
    found: Found, pieces: tuple[FilePiece, ...], n_values: int, n_stored: int, weighted: bool
) -> tuple[tuple[FilePiece, ...], NDArray[np.int64]]:
    """Return the pieces that have records, with sizes that are known now, and those records."""
    sizes, chosen = [], []
    width, n_columns = 2 if n_values < 2**16 else 4, len(found.names)
    beside = 8 + 8 * weighted
    for k, (records, n_bytes) in sorted(found.sizes.items()):
        kept = int(records * (beside + width * n_stored / found.n_records))
        coded = records * (beside + width * n_columns)  # if all values were stored
        load = n_bytes + pieces[k].read_bytes + coding_bytes(records, n_columns) + coded
        chosen.append(pieces[k].sized(max(load, kept), kept))
        sizes.append(records)
    return tuple(chosen), np.array(sizes, np.int64)
