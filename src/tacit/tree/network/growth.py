"""How a dependency network grows: settings, pair counts, and trees in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.machine import available_memory
from tacit.progress import show_progress
from tacit.tree.growth.settings import even_settings
from tacit.tree.network.forest import Forest, join_forests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.table import Table

__all__ = ["grow_network"]

_MOST_PAIRS = 1_000_000_000  # bytes of pair counts that all roots use
_BATCHES = 100  # how often progress moves


def grow_network(
    table: Table,
    weights: NDArray[np.int64] | None,  # fixed-point weights of the records
    ordered: NDArray[np.uint8],  # which columns are asked about by thresholds
    settings: dict[str, Any],  # for the growth kernel
    n_jobs: int,
    *,
    verbose: int = 0,  # 1 shows progress on stderr
) -> Forest:
    """Grow a tree for each column given all others."""
    schema = table.schema
    given = _core.TreeTable(
        table.indptr, table.values, *table.postings, schema.offsets, schema.defaults, ordered,
        weights,
    )  # fmt: skip
    pairs = _count_pairs(table, n_jobs) if weights is None else None
    n = len(schema)
    # Ctrl-C is heard inside the kernel, too; batches are only for showing progress.
    step = max(n_jobs, -(-n // _BATCHES)) if verbose else n
    unit = settings["unit"]
    settings, factor = even_settings(settings, weights)
    batches = []
    with show_progress("columns", n, bool(verbose)) as report:
        for begin in range(0, n, step):
            targets = np.arange(begin, min(begin + step, n), dtype=np.int64)
            batches.append(_core.grow_forest(given, targets, pairs, settings, n_jobs))
            report(len(targets))
    forest = join_forests(batches, unit)
    return forest if factor == 1.0 else replace(forest, gain=forest.gain * factor)


def _count_pairs(table: Table, n_jobs: int) -> NDArray[np.int64] | None:
    """Count pairs once for all roots, if they fit in memory."""
    n_bytes = 8 * table.schema.n_values**2
    free = available_memory()
    if not 0 < n_bytes <= _MOST_PAIRS or (free is not None and n_bytes > free // 2):
        return None
    stored = table.pairs(layout="dense", n_jobs=n_jobs).stored
    return np.ascontiguousarray(stored, np.int64).reshape(-1)
