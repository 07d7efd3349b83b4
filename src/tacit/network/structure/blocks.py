"""Numeric columns of Arrow and Parquet files, read in parts.

An Arrow IPC file without compression is read at the offsets of just those numbers that are asked
for. Parts of other files have to be decoded: a record batch or row group at a time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from tacit.network.structure.columns import NumberSource

__all__ = ["open_numbers"]

_DECODED = 1 << 25  # numbers that are decoded at once


def open_numbers(path: Path) -> NumberSource:
    """Return the columns of a Parquet or Arrow IPC file, all of which must be numeric."""
    try:
        with path.open("rb") as file:
            start = file.read(6)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    if not start.startswith((b"ARROW1", b"PAR1")):
        raise FileError(path, "is neither a Parquet nor an Arrow IPC file")
    try:
        import pyarrow as pa
    except ImportError:
        raise FileError(path, "needs pyarrow to be read in parts; install pyarrow") from None
    try:
        source = _ParquetNumbers(path) if start.startswith(b"PAR1") else _ArrowNumbers(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise FileError(path, f"is damaged: {error}") from None
    if not source.names:
        raise FileError(path, "has no columns")
    if not source.n_records:
        raise FileError(path, "has no records")
    return source


class _FileNumbers:
    """What both kinds of file have in common: names, and where chunks of records begin."""

    def __init__(self, path: Path, schema: Any, sizes: list[int]) -> None:
        import pyarrow as pa

        for field in schema:
            kind = field.type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
                raise FileError(
                    path,
                    f"column {field.name!r} is {kind}, not numeric; only files of numbers are "
                    "read in parts",
                )
        self.path = path
        self.names = list(schema.names)
        self.bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n_records = int(self.bounds[-1])

    def chunks(self) -> list[tuple[int, int]]:
        """Return first record, and one past the last, of each chunk."""
        return list(zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True))

    def gather(
        self, starts: NDArray[np.int64], stops: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return slices of records, none of which crosses a chunk, column after column.

        Slices ascend; stops are one past the last record.
        """
        ends = np.cumsum(stops - starts)
        out = np.empty((len(columns), int(ends[-1]) if len(ends) else 0))
        chunks = np.searchsorted(self.bounds, starts, side="right") - 1
        for chunk in np.unique(chunks).tolist():
            inside = np.flatnonzero(chunks == chunk)
            offset = int(self.bounds[chunk])
            slices = [
                (int(starts[k]) - offset, int(stops[k]) - offset, int(ends[k])) for k in inside
            ]
            self._copy(chunk, slices, columns, out)
        return out

    def _copy(
        self,
        chunk: int,
        slices: list[tuple[int, int, int]],
        columns: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        """Copy slices (start, stop, where they end in `out`) of one chunk."""
        step = max(1, _DECODED // int(self.bounds[chunk + 1] - self.bounds[chunk]))
        for first in range(0, len(columns), step):
            part = columns[first : first + step]
            for k, numbers in enumerate(self._decode(chunk, part), first):
                for start, stop, end in slices:
                    out[k, end - (stop - start) : end] = numbers[start:stop]

    def _decode(self, chunk: int, columns: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        """Yield the numbers of a chunk, one column after the other."""
        raise NotImplementedError


class _ArrowNumbers(_FileNumbers):
    """An Arrow IPC file."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        with pa.memory_map(str(path)) as file:
            self._bytes = file.read_buffer()
        reader = pa.ipc.open_file(pa.BufferReader(self._bytes))
        # One column is enough to learn how long a batch is, and decoding it is all that is paid.
        options = pa.ipc.IpcReadOptions(included_fields=[0] if len(reader.schema) else None)
        brief = pa.ipc.open_file(pa.BufferReader(self._bytes), options=options)
        sizes = [brief.get_batch(k).num_rows for k in range(brief.num_record_batches)]
        super().__init__(path, reader.schema, sizes)
        self._reader = reader
        self._kinds = [np.dtype(field.type.to_pandas_dtype()) for field in reader.schema]
        self._offsets: dict[int, list[tuple[int, np.dtype[Any]]] | None] = {}

    def blocks(self, size: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield all records in order: number of the first, and records × columns."""
        columns = np.arange(len(self.names))
        for first, last in self.chunks():
            for start in range(first, last, size):
                stop = min(start + size, last)
                yield start, self.gather(np.array([start]), np.array([stop]), columns).T

    def _offsets_of(self, chunk: int) -> list[tuple[int, np.dtype[Any]]] | None:
        """Return where in the file each column of a batch begins; ``None`` if it is not plain."""
        if chunk not in self._offsets:
            self._offsets[chunk] = self._find_offsets(chunk)
        return self._offsets[chunk]

    def _find_offsets(self, chunk: int) -> list[tuple[int, np.dtype[Any]]] | None:
        if any(offsets is None for offsets in self._offsets.values()):
            return None  # as others are compressed, so is this one
        offsets = []
        base, size = self._bytes.address, self._bytes.size
        for column, kind in zip(self._reader.get_batch(chunk).columns, self._kinds, strict=True):
            begin = column.buffers()[1].address - base
            if column.null_count or not 0 <= begin < size:
                return None
            offsets.append((begin + column.offset * kind.itemsize, kind))
        return offsets

    def _copy(
        self,
        chunk: int,
        slices: list[tuple[int, int, int]],
        columns: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None:
        offsets = self._offsets_of(chunk)
        if offsets is None:
            super()._copy(chunk, slices, columns, out)
            return
        # Where the slices go in `out`, and where they stand in a buffer that takes them all.
        into = np.concatenate([np.arange(end - (stop - start), end) for start, stop, end in slices])
        ends = np.cumsum([stop - start for start, stop, _ in slices]).tolist()
        # Reading, not mapping: a page that is mapped would count as this program's memory.
        with self.path.open("rb", buffering=0) as file:
            descriptor, read = file.fileno(), os.preadv
            for k, c in enumerate(columns.tolist()):
                begin, kind = offsets[c]
                size, first, n_bytes = kind.itemsize, 0, 0
                raw = np.empty(len(into), kind)
                room = raw.view(np.uint8).data
                for (start, _, _), end in zip(slices, ends, strict=True):
                    n_bytes += read(descriptor, [room[first : end * size]], begin + start * size)
                    first = end * size
                if n_bytes != raw.nbytes:
                    raise FileError(self.path, "is damaged: it ends too early")
                out[k, into] = raw

    def _decode(self, chunk: int, columns: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        import pyarrow as pa

        # Fields come in the file's order, whatever order they are asked for in.
        options = pa.ipc.IpcReadOptions(included_fields=sorted(set(columns.tolist())))
        reader = pa.ipc.open_file(pa.BufferReader(self._bytes), options=options)
        batch = reader.get_batch(chunk)
        position = {c: k for k, c in enumerate(sorted(set(columns.tolist())))}
        for c in columns.tolist():
            yield batch.column(position[c]).to_numpy(zero_copy_only=False)


class _ParquetNumbers(_FileNumbers):
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(path)
        groups = self._file.metadata
        sizes = [groups.row_group(k).num_rows for k in range(groups.num_row_groups)]
        super().__init__(path, self._file.schema_arrow, sizes)

    def blocks(self, size: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield all records in order: number of the first, and records × columns."""
        first = 0
        for batch in self._file.iter_batches(size):
            parts = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield first, np.stack(parts).astype(np.float64, copy=False).T
            first += batch.num_rows

    def _decode(self, chunk: int, columns: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        names = [self.names[c] for c in columns.tolist()]
        table = self._file.read_row_group(chunk, columns=names)
        for name in names:
            yield table.column(name).to_numpy()
