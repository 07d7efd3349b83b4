"""Parquet files: row groups, or parts of large ones, as pieces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.io.frames.memory import has_heap, record_width
from tacit.io.parquet.footer import read_footer
from tacit.io.row_groups import Group, cut_groups, lazy_columns
from tacit.io.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.io.row_groups import Groups

__all__ = ["ParquetFile"]


class ParquetFile:
    """What the footer of a Parquet file says.

    Attributes
    ----------
    path : str
    schema : dict of str to Polars types
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.version = Version.of(path)
        self._footer = read_footer(Path(path))
        self.schema: dict[str, Any] = dict(lazy_columns(path, "parquet").collect_schema())

    def stretches(
        self, columns: list[str], n_bytes: int, n_records: int | None
    ) -> Iterator[Groups]:
        """Give pieces: row groups, cut where they take more than `n_bytes` to load."""
        wanted = set(columns)
        places = [k for k, name in enumerate(self._footer.columns) if name in wanted]
        text = [k for k in places if has_heap(self.schema[self._footer.columns[k]])]
        width = record_width(self.schema[name] for name in columns)
        groups = []
        for group in self._footer.groups:
            packed = int(group.disk_bytes[places].sum())
            frame = group.n_records * width + group.n_bytes[text].sum()
            pages = int(group.n_bytes[places].sum())
            groups.append(Group(group.n_records, int(frame) + pages, packed, packed))
        return cut_groups(self.path, "parquet", self.version, groups, n_bytes, n_records)
