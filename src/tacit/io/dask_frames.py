"""Frames of Dask as one partitioned table."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.io.frames.contents import Question, find_contents
from tacit.io.frames.readers import How
from tacit.io.tabular import choose_columns
from tacit.scale.dask_executor import Dask
from tacit.scale.local import Local
from tacit.scale.partitioned_table import PartitionedTable, Run
from tacit.table.frames import to_polars

if TYPE_CHECKING:
    import polars as pl

    from tacit.scale.partitioned_table import Contents

__all__ = ["is_dask_frame", "scan_dask"]


def is_dask_frame(X: Any) -> bool:
    """Return whether X is a dask.dataframe; does not import Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(X, dask.DataFrame)


@dataclass(frozen=True)
class DaskPiece:
    """A partition of a frame: a piece, and its only stretch.

    Attributes
    ----------
    delayed : Delayed or frame
        What makes the frame; on a worker, the frame itself.
    """

    delayed: Any
    place: str
    load_bytes: int = 0
    kept_bytes: int = 0
    path: str = ""
    first: int = 0
    disk_bytes: int = 0
    read_bytes: int = 0

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self.place

    @property
    def stretches(self) -> tuple[DaskPiece]:
        """Itself."""
        return (self,)

    def sized(self, load_bytes: int, kept_bytes: int) -> DaskPiece:
        """Return the piece with sizes that are known better."""
        return replace(self, load_bytes=load_bytes, kept_bytes=kept_bytes)

    def read(self, columns: list[str], how: How) -> pl.DataFrame:
        """Return some columns of the frame."""
        frame = self.delayed.compute() if hasattr(self.delayed, "compute") else self.delayed
        return to_polars(frame)[0].select(columns)


def scan_dask(
    frame: Any,
    columns: Any = None,
    weights: str | None = None,
    missing: str = "state",
    defaults: Any = None,
    discretise: Any = None,
    run: Run | None = None,
) -> PartitionedTable:
    """Take a dask.dataframe for a table in partitions; see :func:`tacit.scan`.

    Passes run where its client computes, if it has one.
    """
    types = dict(to_polars(frame._meta)[0].schema)
    chosen = tuple(choose_columns(types, columns, weights))
    if weights is not None and weights not in types:
        raise InputError(f"weights: there is no column {weights!r}")
    origin = f"a dask.dataframe of {frame.npartitions:,} partitions"
    asked = Question(chosen, weights, missing, defaults, discretise, 0, None, origin)
    specs = asked.specs(types)
    wanted = frame[list(asked.wanted)]  # Dask need not make other columns
    pieces = tuple(DaskPiece(own, f"partition {k}") for k, own in enumerate(wanted.to_delayed()))

    def find(run: Run) -> Contents:
        return find_contents(run, asked, specs, pieces, How())

    run = Run(Local()) if run is None else run
    client = _client()
    if client is not None:
        run.own = Dask(client)
    return PartitionedTable(find, run, origin)


def _client() -> Any:
    """Return the client that Dask computes with by default, if there is one."""
    if "distributed" not in sys.modules:
        return None
    import distributed

    default_client: Any = distributed.default_client  # which has no types
    try:
        return default_client()
    except ValueError:
        return None
