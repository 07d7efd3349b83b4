"""Frames of Dask as one partitioned table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.io.frames.metadata import ScanOptions, find_metadata
from tacit.io.frames.readers import ReadOptions, RowRange
from tacit.io.tabular import choose_columns
from tacit.scale.dask_executor import Dask
from tacit.scale.local import Local
from tacit.scale.partitioned_table import PartitionedTable, PassRunner
from tacit.scale.partitions import PartitionSource
from tacit.table.containers import as_frame
from tacit.table.kinds import check_kinds

if TYPE_CHECKING:
    import polars as pl

    from tacit.scale.partitioned_table import Metadata
    from tacit.table.long_pairs import LongOptions

__all__ = ["is_dask_frame", "scan_dask"]


def is_dask_frame(X: Any) -> bool:
    """Return whether X is a dask.dataframe; does not import Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(X, dask.DataFrame)


@dataclass(frozen=True)
class DaskPartition(PartitionSource, RowRange):
    """A partition of a frame: a source, and its only row range."""

    delayed: Any  # what makes the frame; on a worker, the frame itself

    @property
    def location(self) -> str:
        """Which partition."""
        return self.name

    @property
    def row_ranges(self) -> tuple[DaskPartition]:
        """Itself."""
        return (self,)

    def delayed_frame(self) -> Any:
        """Return what makes the frame."""
        return self.delayed

    def read(self, columns: list[str], options: ReadOptions) -> pl.DataFrame:
        """Return some columns of the frame."""
        frame = self.delayed.compute() if hasattr(self.delayed, "compute") else self.delayed
        return as_frame(frame)[0].select(columns)


def scan_dask(
    frame: Any,
    columns: Any = None,
    weights: str | None = None,
    missing: str = "state",
    defaults: Any = None,
    discretise: Any = None,
    passes: PassRunner | None = None,
    long: LongOptions | None = None,
    n_bytes: int = 0,
    kinds: Any = None,
) -> PartitionedTable:
    """Take a dask.dataframe for a table in partitions; see :func:`tacit.scan`.

    Passes run where its client computes, if it has one. Partitions of a log, which are new ones,
    are to take `n_bytes`.
    """
    types = dict(as_frame(frame._meta)[0].schema)
    chosen = tuple(choose_columns(types, columns, weights, defaults))
    origin = f"a dask.dataframe of {frame.npartitions:,} partitions"
    asked = ScanOptions(
        chosen, weights, missing, defaults, discretise, n_bytes, None, origin, long,
        check_kinds(kinds, chosen),
    )  # fmt: skip
    specs = asked.specs(types)
    wanted = frame[list(asked.wanted)]  # Dask need not make other columns
    sources = tuple(
        DaskPartition(d, name=f"partition {k}") for k, d in enumerate(wanted.to_delayed())
    )

    def find(passes: PassRunner) -> Metadata:
        return find_metadata(passes, asked, specs, sources, ReadOptions())

    passes = PassRunner(Local()) if passes is None else passes
    client = _client()
    if client is not None:
        passes.default = Dask(client)
    return PartitionedTable(find, passes, origin)


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
