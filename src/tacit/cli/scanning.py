"""Tables in partitions on the command line: where they are read, and what that took."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from glob import has_magic
from typing import TYPE_CHECKING, Any

import tacit
from tacit.cli.output import echo
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.scale import PartitionedTable

__all__ = ["FRAME_OPTIONS", "Scans", "is_scan"]

# Options that a scan has, too.
_TEXT = ("separator", "header", "null_values", "quote", "decimal", "encoding", "skip_lines")
FRAME_OPTIONS = ("format", "sheet", "query", *_TEXT)  # how a file becomes a frame
_KNOWN = (
    *_TEXT, "missing", "weights", "discretise", "kinds", "format", "long", "min_count", "min_items",
    "duplicates", "names",
)  # fmt: skip


def is_scan(path: Path) -> bool:
    """Return whether a path can only mean several files: a folder, or a pattern."""
    return path.is_dir() or (has_magic(str(path)) and not path.exists())


class Scans:
    """Opens tables in partitions, and says at the end what passes over them took.

    Passes take so much `memory`, such as "4GB", or run on the cluster at the address `dask`.
    """

    def __init__(self, memory: str | None = None, dask: str | None = None) -> None:
        self.memory = memory
        self.dask = dask
        self._opened: list[PartitionedTable] = []

    @property
    def wanted(self) -> bool:
        """Whether the user asked for partitions, whatever the file."""
        return self.memory is not None or self.dask is not None

    def open(self, path: Path, options: dict[str, Any]) -> PartitionedTable:
        """Return the table of a pattern, a folder or a file."""
        for name in options:
            if name not in (*_KNOWN, "n_jobs", "target"):
                raise InputError(f"--{name.replace('_', '-')} is not for files in partitions")
        known = {name: options[name] for name in _KNOWN if name in options}
        cuts = known.get("discretise")
        specs = cuts.values() if isinstance(cuts, dict) else [cuts]
        by_counts = any(isinstance(x, int) or x in ("auto", "frequency", "mdl") for x in specs)
        if by_counts:  # of all numbers, which the table holds then
            del known["discretise"]
        table = tacit.scan(
            str(path),
            **known,
            memory=self.memory,
            n_jobs=options.get("n_jobs", -1),
            verbose=sys.stderr.isatty(),
        )
        self._opened.append(table)
        return table.cut(cuts, target=options.get("target")) if by_counts else table

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the cluster compute, if there is one, and say on stderr what passes took."""
        if self.dask is None:
            yield
        else:
            with tacit.scale.on_dask(self.dask):
                yield
        for table in self._opened:
            echo(table.cost.line(), err=True)
