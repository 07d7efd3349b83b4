"""Counts with roll-ups: every combination of labels, and of each column the sum over all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tacit.counts.formatting import free_name
from tacit.errors import InputError
from tacit.machine import check_fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.counts.contingency.table import ContingencyTable

__all__ = ["rolled_up"]

_MOST_COLUMNS = 16  # of which there are 65,536 subsets


def rolled_up(
    whole: ContingencyTable,
    total: float,
    count: Callable[[list[str]], ContingencyTable] | None = None,
) -> pl.DataFrame:
    """Return a frame with a row for each combination that occurs, of every subset of the columns.

    Whole numbers follow from the counts of all columns; sums of weights are counted, since each is
    rounded once.
    """
    n = len(whole.columns)
    if n > _MOST_COLUMNS:
        raise InputError(
            f"columns: {n} of them have 2^{n} roll-ups; a cube has at most {_MOST_COLUMNS} columns"
        )
    if not whole.exact:
        raise InputError("columns: an approximate tree has no cube; make one with min_count=1")
    check_fits(
        8 * (n + 2) * whole.n_occurring * 2**n,
        f"a cube of {n} columns and {whole.n_occurring:,} combinations",
        "ask for fewer columns",
    )
    frame = whole.to_frame()
    *names, counts = frame.columns
    grouping = free_name("grouping", frame.columns)
    parts = []
    for rolled in range(2**n):  # the first column has the highest bit, as SQL's GROUPING has it
        own = [k for k in range(n) if not rolled >> (n - 1 - k) & 1]
        if own:
            chosen = [whole.names[k] for k in own]
            table = whole.marginal(chosen) if count is None else count(chosen)
            part = table.to_frame() if rolled else frame
            part.columns = [*(names[k] for k in own), counts]
        else:
            part = pl.DataFrame({counts: [total]}, schema={counts: frame.schema[counts]})
        every = (
            pl.col(name) if k in own else pl.lit(None, frame.schema[name]).alias(name)
            for k, name in enumerate(names)
        )
        parts.append(part.select(*every, counts, pl.lit(rolled, pl.Int64).alias(grouping)))
    return pl.concat(parts)
