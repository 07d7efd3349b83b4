"""Itemsets that were found: their items and counts, looked up and shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
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

__all__ = ["Itemsets", "in_order"]


def in_order(
    indptr: NDArray[np.int64], cells: NDArray[np.uint32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Return sets in the order of a list: by count, then by size, then as they were."""
    sizes = np.diff(indptr)
    order = np.lexsort((sizes, -counts))
    starts = np.concatenate(([0], np.cumsum(sizes[order])))
    source = np.arange(len(cells)) + np.repeat(indptr[:-1][order] - starts[:-1], sizes[order])
    return starts, cells[source], counts[order]


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
    unlisted : str
        Why some sets are not listed although they are frequent and of that kind, if so: the
        argument that says it.
    max_size : int or None
        The items of the largest sets that may be listed.
    """

    items: Items
    kind: str
    indptr: NDArray[np.int64]
    cells: NDArray[np.uint32]
    counts: NDArray[Any]
    total: int | float
    unlisted: str = ""
    max_size: int | None = None

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

    def most_frequent(self, top: int) -> Itemsets:
        """Return so many sets, and those that are level with the last."""
        n = int(np.searchsorted(-self.counts, -self.counts[top - 1], "right"))
        end = int(self.indptr[n])
        return replace(
            self, indptr=self.indptr[: n + 1], cells=self.cells[:end], counts=self.counts[:n]
        )

    def check_counts(self, what: str) -> None:
        """Refuse to tell the counts of sets that are not listed where these sets do not tell them.

        Those of frequent sets follow from all closed sets, or from all frequent sets.
        """
        if self.kind == "maximal":
            raise InputError(f'kind: maximal sets do not tell {what}; fit with kind="closed"')
        if self.unlisted == "complete_":
            raise InputError(f"complete_: the search was interrupted; without all sets, {what} "
                             "are not known")  # fmt: skip
        if self.unlisted:
            hint = ' or kind="all"' if self.unlisted == "max_size" else ""
            raise InputError(f"{self.unlisted}: without the sets that it leaves out, {what} are "
                             f"not known; fit without it{hint}")  # fmt: skip

    def count(self, items: Any) -> int | float:
        """Return how many records hold some items; 0 if fewer do than the least that is listed.

        Parameters
        ----------
        items : list of items
        """
        cells = self.items.find_all(items, "items")
        if not cells:
            return self.total
        asked = np.array(cells, np.uint32)
        hits = np.concatenate(([0], np.cumsum(np.isin(self.cells, asked))))
        held = hits[self.indptr[1:]] - hits[self.indptr[:-1]]
        listed = np.flatnonzero((held == len(asked)) & (self.sizes == len(asked)))
        if len(listed):
            return self.counts[listed[0]].item()  # type: ignore[no-any-return]
        self.check_counts("the counts of others")
        if self.max_size is not None and len(asked) > self.max_size:
            raise InputError(f"items: sets of more than max_size={self.max_size} were not counted")
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
