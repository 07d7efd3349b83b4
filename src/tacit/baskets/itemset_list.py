"""Itemsets that were found: their items and counts, looked up and shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.plot.html import Result, table_html

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.items import Items

__all__ = ["Itemsets"]


@dataclass(frozen=True, eq=False)
class Itemsets(Result):
    """Itemsets, the most frequent first; of those level, the smaller.

    Attributes
    ----------
    items : Items
        What an item is.
    kind : {"all", "closed", "maximal"}
    indptr : ndarray of int64
        Where the cells of each set begin.
    cells : ndarray of uint32
        The items of each set, ascending, as positions among the values of all columns.
    counts : ndarray of int64 or float64
        The (weighted) number of records that hold each set.
    total : int or float
        The (weighted) number of records.
    """

    items: Items
    kind: str
    indptr: NDArray[np.int64]
    cells: NDArray[np.uint32]
    counts: NDArray[Any]
    total: int | float

    @classmethod
    def ranked(
        cls,
        items: Items,
        kind: str,
        indptr: NDArray[np.int64],
        cells: NDArray[np.uint32],
        counts: NDArray[Any],
        total: int | float,
    ) -> Itemsets:
        """Return sets in their order: by count, then by size, then as they were found."""
        sizes = np.diff(indptr)
        order = np.lexsort((sizes, -counts))
        starts = np.concatenate(([0], np.cumsum(sizes[order])))
        source = np.arange(len(cells)) + np.repeat(indptr[:-1][order] - starts[:-1], sizes[order])
        return cls(items, kind, starts, cells[source], counts[order], total)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, index: int) -> tuple[str, ...]:
        """Return the names of a set's items."""
        k = range(len(self))[index]
        names = self.items.names
        return tuple(names[c] for c in self.cells[self.indptr[k] : self.indptr[k + 1]].tolist())

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of items of each set."""
        return np.diff(self.indptr)

    @property
    def supports(self) -> NDArray[np.float64]:
        """The fraction of records that hold each set."""
        return np.asarray(self.counts / self.total, np.float64)

    def take(self, kept: NDArray[np.bool_]) -> Itemsets:
        """Return some of the sets."""
        sizes = self.sizes[kept]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        cells = self.cells[np.repeat(kept, self.sizes)]
        return Itemsets(self.items, self.kind, indptr, cells, self.counts[kept], self.total)

    def holding(self, cells: list[int]) -> NDArray[np.bool_]:
        """Return which sets hold one or more of some cells."""
        hit = np.isin(self.cells, np.array(cells, np.uint32))
        held = np.zeros(len(self), np.bool_)
        held[np.repeat(np.arange(len(self)), self.sizes)[hit]] = True
        return held

    def count(self, items: Any) -> int | float:
        """Return how many records hold some items; 0 if fewer do than the least that was asked for.

        Parameters
        ----------
        items : list of items
        """
        if self.kind == "maximal":
            raise InputError("items: maximal sets do not tell the counts of their subsets")
        cells = self.items.find_all(items, "items")
        if not cells:
            return self.total
        asked = np.array(cells, np.uint32)
        return self.counts_of(np.array([0, len(asked)]), asked)[0].item()  # type: ignore[no-any-return]

    def counts_of(
        self, indptr: NDArray[np.int64], cells: NDArray[np.uint32], n_jobs: int = 1
    ) -> NDArray[Any]:
        """Return the counts of several sets of cells, from those of the sets that hold them."""
        ranks = np.arange(len(self), 0, -1)  # counts may be fractions: positions stand for them
        n_cells = int(self.items.schema.cells[-1])
        found = _core.superset_counts(
            self.indptr, self.cells, ranks, n_cells, indptr, cells, n_jobs
        )
        padded = np.concatenate((self.counts, np.zeros(1, self.counts.dtype)))
        return padded[np.where(found > 0, len(self) - found, len(self))]

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return a Polars frame with a row for each set: items, size, support and count.

        Parameters
        ----------
        top : int, optional
            How many sets, the most frequent first; all unless given.
        """
        n = len(self) if top is None else min(top, len(self))
        names = pl.Series("items", self.items.names, dtype=pl.String)
        flat = names.gather(self.cells[: int(self.indptr[n])])
        sets = (
            pl.DataFrame({"set": np.repeat(np.arange(n), self.sizes[:n]), "items": flat})
            .group_by("set", maintain_order=True)
            .agg("items")["items"]
        )
        return pl.DataFrame(
            {
                "items": sets.cast(pl.List(pl.String)),
                "size": self.sizes[:n],
                "support": self.supports[:n],
                "count": self.counts[:n],
            }
        )

    def rows(self, top: int | None) -> list[tuple[str, str, str]]:
        """Return the cells of a table: items, support and count."""
        n = len(self) if top is None else min(top, len(self))
        return [
            (", ".join(self[k]), f"{self.supports[k]:.2%}", f"{self.counts[k]:,.6g}")
            for k in range(n)
        ]

    def __str__(self) -> str:
        lines = [f"  {items}: {support} ({count})" for items, support, count in self.rows(20)]
        more = [f"  … and {len(self) - 20:,} more"] if len(self) > 20 else []
        return "\n".join([self.title, *lines, *more])

    @property
    def title(self) -> str:
        """What is listed."""
        kind = "frequent" if self.kind == "all" else f"{self.kind} frequent"
        return f"{len(self):,} {kind} itemsets of {self.total:,.12g} records"

    def _html(self) -> str:
        return table_html(("items", "support", "count"), self.rows(20), title=self.title)
