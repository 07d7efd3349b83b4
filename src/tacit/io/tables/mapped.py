"""Files of stored values that are mapped into memory, not read.

A file is compared with its checksums, and what it stores is checked, when a process loads it for
the first time. After that its header tells whether it is still the same, so that a pass
costs no more than one over tables in memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.scale.partitions import PartitionSource, Reader
from tacit.table import Table
from tacit.table.build import Parts, value_type
from tacit.table.gateway import check_stored, check_weights
from tacit.table.index import index_from_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["MappedFile", "MappedReader", "firsts_of"]

_CHECKED: set[tuple[str, int, int, int]] = set()  # files that this process has checked


@dataclass(frozen=True)
class MappedFile(PartitionSource):
    """A file of stored values, named by its path.

    It takes no memory but pages that the system can drop whenever it likes.
    """

    n_records: int
    n_stored: int
    seal: str  # as store.seal_of has it

    @classmethod
    def of(cls, path: str, n_records: int, n_stored: int) -> MappedFile:
        """Describe a file as it is now."""
        size = Path(path).stat().st_size
        return cls(n_records, n_stored, store.seal_of(path), name=path, disk_bytes=size)


@dataclass(frozen=True)
class MappedReader(Reader):
    """Maps files that all have one schema."""

    schema: Schema
    weighted: bool  # whether records have weights

    def load(self, source: MappedFile, n_jobs: int) -> Table:
        """Map a file."""
        path = source.name
        try:
            status = os.stat(path)  # noqa: PTH116
            if status.st_size != source.disk_bytes or store.seal_of(path) != source.seal:
                raise FileError(path, "is not the file that was written there: it has changed")
        except FileNotFoundError:
            raise FileError(path, "is not there any more") from None
        except OSError as error:
            raise FileError(path, str(error.strerror)) from error
        version = (path, status.st_ino, status.st_size, status.st_mtime_ns)
        new = version not in _CHECKED
        _, arrays = store.read_arrays(path, verify=new, mmap=True)
        with store.damaged_if_it_fails(path):
            indptr, values = arrays["indptr"], arrays["values"]
            weights = arrays["weights"] if self.weighted else None
            fine = indptr.dtype == np.int64 and values.dtype == value_type(self.schema.n_values)
            if weights is not None:
                fine = fine and weights.dtype == np.float64 and len(weights) == source.n_records
            if not fine:
                raise InputError("its arrays have the wrong types")
            if indptr.shape != (source.n_records + 1,) or values.shape != (source.n_stored,):
                raise InputError("its arrays have the wrong sizes")
            if new:
                check_stored(self.schema, indptr, values, "stored values")
                check_weights(weights, source.n_records)
            parts = Parts(self.schema, indptr, values)
            if "index" in arrays:
                parts.index = index_from_array(arrays["index"], source.n_records)
        _CHECKED.add(version)
        table = Table._of(parts)
        table._weights = weights  # mapped, too
        return table


def firsts_of(files: Sequence[MappedFile]) -> tuple[int, ...]:
    """Return the number of the first record of each."""
    sizes = np.array([file.n_records for file in files], np.int64)
    return tuple((np.cumsum(sizes) - sizes).tolist())
