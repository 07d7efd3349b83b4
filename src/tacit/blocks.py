"""Arrays of files whose blocks are read, and compared with their checksums, when they are used."""

from __future__ import annotations

import math
import os
import weakref
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import FileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "LEAST", "BlockArray", "block_seals"]

BLOCK = 65_536  # bytes
LEAST = 16 * BLOCK  # smaller arrays are read at once
_ALIGNED = 16


def block_seals(array: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the checksum of each block of an array."""
    data = array.reshape(-1).view(np.uint8).data
    starts = range(0, len(data), BLOCK)
    return np.array([zlib.crc32(data[k : k + BLOCK]) for k in starts], np.uint32)


class BlockArray:
    """An array of a file; its blocks are there once they have been fetched.

    Parameters
    ----------
    path : path-like
        For messages.
    file : int
        A descriptor, which is duplicated: a file that is replaced stays what it was.
    offset : int
        Where the array begins.
    dtype, shape
    mapped : uint8 ndarray, optional
        The bytes of the array, mapped. Otherwise there is room for them, and blocks are read.

    Attributes
    ----------
    array : ndarray
        What it holds, where it has been fetched.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        file: int,
        offset: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        mapped: NDArray[np.uint8] | None = None,
    ) -> None:
        self._path, self._offset = path, offset
        self._seals: NDArray[np.uint32] | None = None
        n_bytes = math.prod(shape) * dtype.itemsize
        reads = mapped is None or mapped.ctypes.data % _ALIGNED != 0
        self._file: int | None = None
        if reads:
            self._file = os.dup(file)
            weakref.finalize(self, os.close, self._file)
            mapped = np.empty(n_bytes, np.uint8)
        assert mapped is not None
        self._bytes = mapped
        try:
            self.array: NDArray[Any] = mapped.view(dtype).reshape(shape)
        except (ValueError, OverflowError):
            raise FileError(path, "is damaged: an array has an impossible shape") from None

    def seal(self, seals: NDArray[Any]) -> None:
        """Compare each block with its checksum from now on."""
        if seals.dtype != np.uint32 or seals.shape != (-(-len(self._bytes) // BLOCK),):
            raise FileError(self._path, "is damaged: it has not one checksum for each block")
        self._seals = seals

    def fetch(self, block: int) -> None:
        """Make a block be there, or say what is wrong with it."""
        begin = block * BLOCK
        own = self._bytes[begin : begin + BLOCK]
        if self._file is not None:
            try:
                data = os.pread(self._file, len(own), self._offset + begin)
            except OSError as error:
                raise FileError(self._path, f"cannot be read: {error.strerror}") from error
            if len(data) < len(own):
                raise FileError(self._path, "is cut off: it was whole when it was loaded")
            own[:] = np.frombuffer(data, np.uint8)
        if self._seals is not None and zlib.crc32(own.data) != self._seals[block]:
            raise FileError(self._path, "is damaged: the checksum of a block does not match")
