"""Parquet files: as Tables, as frames, and by row groups, or parts of large ones."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from tacit.io.columnar import ColumnarFile, GroupSize
from tacit.io.frames.memory import has_heap, record_width
from tacit.io.opening import naming, on_disk
from tacit.io.parquet_layout import check_pages, read_layout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.io.opening import PathLike

__all__ = ["ParquetFile", "open_parquet"]


class ParquetFile(ColumnarFile):
    """A Parquet file, whose footer is checked; `pages` says whether all pages are checked, too."""

    kind: ClassVar[str] = "parquet"

    def __init__(self, path: PathLike, plain: Path | None = None, *, pages: bool = False) -> None:
        super().__init__(path, plain)
        self._layout = read_layout(path, self.plain)
        if pages:
            check_pages(path, self._layout, plain=self.plain)
        self.schema = dict(self.lazy().collect_schema())

    def group_sizes(self, columns: list[str]) -> list[GroupSize]:
        """Return the sizes of row groups, in order."""
        wanted = set(columns)
        text = {name for name in wanted if has_heap(self.schema[name])}
        width = record_width(self.schema[name] for name in columns)
        sizes = []
        for group in self._layout.groups:
            chunks = [chunk for chunk in group.chunks if chunk.name in wanted]
            packed = sum(chunk.packed for chunk in chunks)
            pages = sum(chunk.unpacked for chunk in chunks)
            heap = sum(chunk.unpacked for chunk in chunks if chunk.name in text)
            frame = int(group.n_records * width) + heap
            sizes.append(GroupSize(group.n_records, frame + pages, packed, packed))
        return sizes


@contextmanager
def open_parquet(path: PathLike) -> Iterator[ParquetFile]:
    """Open a Parquet file, to be read whole."""
    with naming(path), on_disk(path) as plain:
        yield ParquetFile(path, plain, pages=True)
