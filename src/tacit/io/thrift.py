"""Thrift's compact protocol, in which Parquet files say what they hold; nothing in it is believed.

Every step stays within the data, numbers have the length that they may have, and structs are nested
no deeper than anyone would: so the work is bounded by the length of the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Compact", "ThriftError"]

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)
_WIDTHS = {_TRUE: 1, _FALSE: 1, _BYTE: 1, _DOUBLE: 8}  # of elements of lists and maps
_LONGEST = 10  # bytes of a number of 64 bits
_DEEPEST = 32


class ThriftError(ValueError):
    """Data are no sound struct; `cut` if they end before it does."""

    def __init__(self, problem: str, *, cut: bool = False) -> None:
        super().__init__(problem)
        self.cut = cut


class Compact:
    """A position in data of the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0
        self._depth = 0

    def _varint(self) -> int:
        data, position = self._data, self.position
        try:
            byte = data[position]
            if byte < 0x80:
                self.position = position + 1
                return byte
            value, shift = byte & 0x7F, 7
            for following in range(position + 1, position + _LONGEST):
                byte = data[following]
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    self.position = following + 1
                    return value
                shift += 7
        except IndexError:
            raise ThriftError("it ends within a number", cut=True) from None
        raise ThriftError("a number has more than 64 bits")

    def number(self) -> int:
        """Read a whole number."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _move(self, n_bytes: int) -> None:
        self.position += n_bytes
        if self.position > len(self._data):
            raise ThriftError("it ends within a value", cut=True)

    def _byte(self) -> int:
        self._move(1)
        return self._data[self.position - 1]

    def binary(self) -> bytes:
        """Read bytes."""
        length = self._varint()
        self._move(length)
        return self._data[self.position - length : self.position]

    def fields(self) -> Iterator[tuple[int, int]]:
        """Give the number and the type of each field of a struct; the caller reads or skips it."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ThriftError("structs are nested too deeply")
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 0x0F
        self._depth -= 1

    def list_header(self) -> tuple[int, int]:
        """Read how many elements a list has, each of a byte at least, and their type."""
        head = self._byte()
        size = head >> 4
        size = self._varint() if size == 15 else size
        if size > len(self._data) - self.position:
            raise ThriftError("a list claims more elements than there are bytes", cut=True)
        return size, head & 0x0F

    def skip(self, kind: int) -> None:
        """Step over a value of a struct."""
        if kind not in (_TRUE, _FALSE):  # whose type is all there is
            self._skip(kind)

    def _skip(self, kind: int) -> None:
        if kind in _VARINTS:
            self._varint()
        elif kind == _BINARY:
            self._move(self._varint())
        elif kind == _STRUCT:
            for _, field in self.fields():
                self.skip(field)
        elif kind in (_LIST, _SET):
            self._skip_elements(*self.list_header())
        elif kind == _MAP:
            self._skip_map()
        elif kind in _WIDTHS:
            self._move(_WIDTHS[kind])
        else:
            raise ThriftError(f"there is no type {kind}")

    def _skip_elements(self, size: int, kind: int) -> None:
        if kind in _WIDTHS:
            self._move(size * _WIDTHS[kind])
            return
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ThriftError("lists are nested too deeply")
        for _ in range(size):
            self._skip(kind)
        self._depth -= 1

    def _skip_map(self) -> None:
        size = self._varint()
        if not size:
            return
        kinds = self._byte()
        if size > len(self._data) - self.position:
            raise ThriftError("a map claims more entries than there are bytes", cut=True)
        for _ in range(size):
            self._skip(kinds >> 4)
            self._skip(kinds & 0x0F)
