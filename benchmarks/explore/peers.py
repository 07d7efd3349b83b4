"""What others answer a drag with: SQL, a data frame, cubes that are summed up along the drag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.explore.workload import Step

    Answer = dict[tuple[int, ...], NDArray[np.int64]]

__all__ = ["DuckDB", "Falcon", "Polars"]


class DuckDB:
    """A table of codes in memory; a query with GROUP BY for each view."""

    name = "DuckDB"

    def __init__(self, codes: list[NDArray[Any]], arities: Sequence[int]) -> None:
        self._arities = arities
        self._base = duckdb.connect()
        self._base.register("codes", pl.DataFrame({f"c{k}": x for k, x in enumerate(codes)}))
        self._base.execute("CREATE TABLE records AS SELECT * FROM codes")

    def step(self, step: Step) -> Answer:
        found: Answer = {}
        for c, arity in enumerate(self._arities):
            conditions = [f"c{k} BETWEEN {a} AND {b}" for k, (a, b) in step.others(c).items()]
            where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
            query = f"SELECT c{c} AS code, count(*) AS n FROM records{where} GROUP BY code"
            answer = self._base.execute(query).fetchnumpy()
            counts = np.zeros(arity, np.int64)
            counts[np.asarray(answer["code"])] = np.asarray(answer["n"])
            found[c,] = counts
        return found


class Polars:
    """A frame of codes; the queries of all views are run together."""

    name = "Polars"

    def __init__(self, codes: list[NDArray[Any]], arities: Sequence[int]) -> None:
        self._arities = arities
        self._frame = pl.DataFrame({f"c{k}": x for k, x in enumerate(codes)}).lazy()

    def step(self, step: Step) -> Answer:
        queries = []
        for c in range(len(self._arities)):
            chosen = self._frame
            for k, (a, b) in step.others(c).items():
                chosen = chosen.filter(pl.col(f"c{k}").is_between(a, b))
            queries.append(chosen.group_by(f"c{c}").len())
        found: Answer = {}
        for c, answer in enumerate(pl.collect_all(queries)):
            counts = np.zeros(self._arities[c], np.int64)
            counts[answer.get_column(f"c{c}").to_numpy()] = answer.get_column("len").to_numpy()
            found[c,] = counts
        return found


class Falcon:
    """As falcon does it, in NumPy: cubes of the active view and each other, summed up along it."""

    name = "falcon-style"

    def __init__(self, codes: list[NDArray[Any]], arities: Sequence[int]) -> None:
        self._codes, self._arities = codes, arities
        self._sums: dict[int, NDArray[np.int64]] = {}

    def switch(self, step: Step) -> None:
        """Make the cubes of a drag that begins."""
        holds = {}
        for c, (a, b) in step.others(step.active).items():
            holds[c] = (self._codes[c] >= a) & (self._codes[c] <= b)
        active, rows = self._codes[step.active], self._arities[step.active]
        for c, arity in enumerate(self._arities):
            chosen = [own for k, own in holds.items() if k != c]
            own, width = self._codes[c], arity
            if c == step.active:
                own, width = np.zeros_like(own), 1
            cell = active.astype(np.int32) * width + own
            if chosen:
                cell = cell[np.logical_and.reduce(chosen)]
            cube = np.bincount(cell, minlength=rows * width).reshape(rows, width)
            self._sums[c] = np.concatenate((np.zeros((1, width), np.int64), cube.cumsum(axis=0)))

    def step(self, step: Step) -> Answer:
        low, high = step.ranges[step.active]
        found: Answer = {}
        for c in range(len(self._arities)):
            sums = self._sums[c]
            if c == step.active:
                found[c,] = np.diff(sums[:, 0])
            else:
                found[c,] = sums[high + 1] - sums[low]
        return found
