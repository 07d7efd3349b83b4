"""Parquet files: as Tables, as frames, and by row groups, or parts of large ones."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from tacit.errors import FileError
from tacit.io.columnar import ColumnarFile, GroupSize
from tacit.io.frames.memory import has_heap, record_width
from tacit.io.opening import naming, on_disk
from tacit.io.parquet.footer import Footer, read_footer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.io.opening import PathLike

__all__ = ["ParquetFile", "open_parquet"]


class ParquetFile(ColumnarFile):
    """A Parquet file; its footer, which says where row groups are, is read if asked for."""

    kind: ClassVar[str] = "parquet"

    def __init__(self, path: PathLike, plain: Path | None = None, *, footer: bool = True) -> None:
        super().__init__(path, plain)
        self._footer = read_footer(self.plain) if footer else Footer([], [])
        with self.plain.open("rb") as file:
            if file.read(4) not in (b"PAR1", b"PARE"):
                raise FileError(path, "is not a Parquet file")
        self.schema = dict(self.lazy().collect_schema())

    def group_sizes(self, columns: list[str]) -> list[GroupSize]:
        """Return the sizes of row groups, in order."""
        wanted = set(columns)
        chunks = [k for k, name in enumerate(self._footer.columns) if name in wanted]
        text = [k for k in chunks if has_heap(self.schema[self._footer.columns[k]])]
        width = record_width(self.schema[name] for name in columns)
        sizes = []
        for group in self._footer.groups:
            packed = int(group.disk_bytes[chunks].sum())
            frame = group.n_records * width + group.n_bytes[text].sum()
            pages = int(group.n_bytes[chunks].sum())
            sizes.append(GroupSize(group.n_records, int(frame) + pages, packed, packed))
        return sizes


@contextmanager
def open_parquet(path: PathLike) -> Iterator[ParquetFile]:
    """Open a Parquet file, to be read whole."""
    with naming(path), on_disk(path) as plain:
        yield ParquetFile(path, plain, footer=False)
