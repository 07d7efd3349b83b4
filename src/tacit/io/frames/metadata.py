"""What a scan is to read, and the first passes, which find the labels and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.io.frames.coding import choose_coding
from tacit.io.frames.cuts import check_specs, find_edges
from tacit.io.frames.labels import LabelDictionary
from tacit.io.frames.log import find_log
from tacit.io.frames.memory import coding_bytes
from tacit.io.frames.readers import CodedReader, raw_partitions
from tacit.scale.partitioned_table import Metadata
from tacit.scale.partitions import Partitions
from tacit.table.cuts import specs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.io.frames.cuts import Extremes
    from tacit.io.frames.labels import LabelCounts
    from tacit.io.frames.readers import ReadOptions
    from tacit.scale.partitioned_table import PassRunner
    from tacit.schema import Kind
    from tacit.table.long_pairs import LongOptions

__all__ = ["ScanOptions", "find_metadata"]


@dataclass(frozen=True)
class ScanOptions:
    """What is asked of files, whatever their kind, as :func:`tacit.scan` takes it."""

    columns: tuple[str, ...]
    weights: str | None
    missing: str
    defaults: Any
    discretise: Any
    n_bytes: int  # what loading a partition is to take, about
    n_records: int | None  # how many records a partition is to have
    origin: str  # the files, for people
    long: LongOptions | None = None  # of logs
    kinds: dict[str, Kind] = field(default_factory=dict)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to read, with that of weights."""
        return self.columns if self.weights is None else (*self.columns, self.weights)

    def specs(self, types: Any) -> dict[str, Any]:
        """Return how to cut columns of numbers."""
        specs = specs_of(
            {name: types[name] for name in self.columns}, self.discretise, None, self.kinds
        )
        check_specs(specs)
        return specs

    def no_records(self) -> InputError:
        """Return the error that there are no records."""
        return InputError(f"paths: {self.origin} hold no records")


def find_metadata(
    passes: PassRunner,
    options: ScanOptions,
    specs: dict[str, Any],
    sources: tuple[Any, ...],
    read_options: ReadOptions,
) -> Metadata:
    """Find edges, labels and defaults; `specs` say how to cut columns of numbers."""
    if options.long is not None:
        n_bytes, n_records = options.n_bytes, options.n_records
        return find_log(passes, options.long, sources, read_options, n_bytes, n_records)

    def extremes(statistic: Extremes) -> NDArray[np.float64] | None:
        raw = raw_partitions(sources, statistic.columns, read_options)
        return passes.reduce(raw, statistic, "partitions")

    edges = find_edges(specs, extremes, named=isinstance(options.discretise, Mapping))
    weights, missing = options.weights, options.missing
    statistic = LabelDictionary(missing, edges, weights, options.columns)
    raw = raw_partitions(sources, options.wanted, read_options)
    counted = passes.reduce(raw, statistic, "partitions")
    if counted is None:
        raise options.no_records()
    coding, n_stored = choose_coding(
        counted, missing, options.defaults, edges, weights, options.kinds
    )
    chosen, sizes = _sized(counted, sources, coding.schema.n_values, n_stored, weights is not None)
    firsts = tuple((np.cumsum(sizes) - sizes).tolist())
    partitions = Partitions(chosen, CodedReader(coding, read_options), firsts)
    return Metadata(coding.schema, partitions, sizes, n_stored, weights is not None)


def _sized(
    counted: LabelCounts, sources: tuple[Any, ...], n_values: int, n_stored: int, weighted: bool
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """Return the sources that have records, with sizes that are known now, and those records."""
    sizes, chosen = [], []
    width, n_columns = 2 if n_values < 2**16 else 4, len(counted.names)
    besides = 8 + 8 * weighted
    for k, (records, n_bytes) in sorted(counted.sizes.items()):
        kept = int(records * (besides + width * n_stored / counted.n_records))
        coded = records * (besides + width * n_columns)  # if all values were stored
        load = n_bytes + sources[k].read_bytes + coding_bytes(records, n_columns) + coded
        chosen.append(replace(sources[k], load_bytes=max(load, kept), kept_bytes=kept))
        sizes.append(records)
    return tuple(chosen), np.array(sizes, np.int64)
