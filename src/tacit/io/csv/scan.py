"""CSV files as partitions: where records begin, and which types suit all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.io.csv.ranges import ByteCounter, UnfitError, counts_of, cut_ranges
from tacit.io.csv.types import FitCounts, common_types, fitting_types, wider_types
from tacit.io.frames.metadata import find_metadata, raw_partitions
from tacit.io.frames.readers import ReadOptions, group_ranges
from tacit.scale.partitions import Partitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.io.csv.ranges import CsvScan
    from tacit.io.frames.metadata import ScanOptions
    from tacit.io.frames.readers import FilePartition
    from tacit.scale.partitioned_table import Metadata, PassRunner

__all__ = ["CsvFiles"]


class CsvFiles:
    """CSV files that are scanned together, of which the first records have been read.

    Parameters
    ----------
    files : sequence of CsvScan
    options : ScanOptions
    """

    def __init__(self, files: Sequence[CsvScan], options: ScanOptions) -> None:
        self._files = files
        self._options = options
        self._types = common_types(files, options.wanted)
        options.specs(self._types)

    def find(self, passes: PassRunner) -> Metadata:
        """Find where records begin, which types suit all, and then labels and defaults."""
        options, types = self._options, dict(self._types)
        n_bytes, n_records = options.n_bytes, options.n_records
        narrow = list(types.values())
        ranges = [r for f in self._files for r in f.ranges(narrow, n_bytes, n_records)]
        if not ranges:
            raise options.no_records()
        formats = tuple(dict.fromkeys(file.format for file in self._files))
        numbers = {file.path: formats.index(file.format) for file in self._files}
        partitions = Partitions(tuple(ranges), ByteCounter(), (0,) * len(ranges), keep=False)
        counts = list(passes.map(partitions, counts_of, "ranges of bytes"))
        while True:
            read_options = ReadOptions(types, formats)
            row_ranges = list(cut_ranges(ranges, counts, numbers, read_options))
            if not row_ranges:
                raise options.no_records()
            sources = group_ranges(row_ranges, n_bytes, n_records)
            try:
                specs = options.specs(types)
                return find_metadata(passes, options, specs, sources, read_options)
            except UnfitError as error:
                types |= _widen(passes, sources, read_options, error)


def _widen(
    passes: PassRunner,
    sources: tuple[FilePartition, ...],
    options: ReadOptions,
    error: UnfitError,
) -> dict[str, Any]:
    """Count which values fit columns that are not text; raise the error if all of them do."""
    narrow = tuple(name for name, dtype in options.types.items() if dtype != pl.String)
    texts = replace(options, types=dict.fromkeys(options.types, pl.String))
    raw = raw_partitions(sources, narrow, texts)
    counts = passes.reduce(raw, FitCounts(narrow), "partitions")
    wider = wider_types(options.types, fitting_types(counts)) if counts else {}
    if not wider:  # Polars may be more particular; then it says which column it minds
        minded = [name for name in narrow if f"column {name!r}" in str(error)]
        wider = dict.fromkeys(minded, pl.String)
    if not wider:
        raise error
    return wider
