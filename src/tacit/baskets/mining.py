"""From records and parameters to the search for itemsets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core
from tacit.baskets.items import Items, presence_schema
from tacit.baskets.itemset_list import Itemsets, in_order
from tacit.errors import InputError, InputWarning
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tacit.table import Table

__all__ = [
    "Baskets",
    "Forecast",
    "Question",
    "check_number_of_values",
    "holders",
    "table_baskets",
    "whole_weights",
]

_LARGEST = 2**62
_ANY_SIZE = 2**31
_MOST_VALUES = 2**31
_ROWS = 65_536


class Baskets(NamedTuple):
    """Records as items, with whole weights: `scale` of them are a weight of 1."""

    items: Items
    cells: NDArray[np.uint32]  # of each value id, ascending
    indptr: NDArray[np.int64]
    values: NDArray[Any]
    weights: NDArray[np.int64] | None
    scale: float
    total: int
    alone: NDArray[np.int64] | None = None  # how often each value stands in records not listed
    n_beside: int = 0  # how many of those there are
    search_bytes: int = _LARGEST  # what the first projection may take

    def positions(self, cells: Iterable[int]) -> NDArray[np.int64]:
        """Return the value ids of some cells, of those that have one."""
        wanted = np.fromiter(cells, np.int64)
        at = np.searchsorted(self.cells, wanted)
        there = at < len(self.cells)
        there[there] = self.cells[at[there]] == wanted[there]
        return at[there]


class Forecast(NamedTuple):
    """How many itemsets there are, and what they take in memory."""

    n_itemsets: int
    n_bytes: int


@dataclass(frozen=True)
class Question:
    """What is asked of the records."""

    min_support: int | float
    kind: str
    top: int
    sizes: tuple[int, int | None]
    hold: list[int]  # cells that every set holds
    exclude: list[int]
    groups: list[list[int]]  # of each of which a set holds one or more
    max_bytes: int
    n_jobs: int

    def min_count(self, baskets: Baskets) -> int:
        """Return the least (scaled) weight of a frequent set's records."""
        if isinstance(self.min_support, int) and baskets.scale == 1:
            return self.min_support
        # A product a hair above a whole number is that number: 0.07 of 100 records are 7, and ten
        # weights of 0.3 are 3.
        whole = baskets.scale if isinstance(self.min_support, int) else baskets.total
        return max(1, min(int(np.ceil(self.min_support * whole * (1 - 1e-12))), _LARGEST))

    @property
    def unlisted(self) -> str:
        """Which argument leaves out sets that the counts of others would need."""
        low, high = self.sizes
        reasons = {
            "min_size": low > 1,
            "max_size": high is not None and self.kind != "all",
            "must_hold": bool(self.hold),
            "one_of": bool(self.groups),
        }
        return next((name for name, holds in reasons.items() if holds), "")

    def _run(self, baskets: Baskets, *, count_only: bool) -> Any:
        hold = baskets.positions(self.hold)
        chosen = holders(baskets.indptr, baskets.values, hold) if len(hold) else None
        excluded = np.zeros(len(baskets.cells), np.uint8)
        excluded[baskets.positions(self.exclude)] = 1
        # Items that all sets hold are added to each of them later, unless they come by themselves.
        added = len(hold) if self.kind == "all" else 0
        if added:
            excluded[hold] = 1
        low, high = self.sizes
        high = _ANY_SIZE if high is None else high
        groups = None if count_only else self._group_flags(baskets)
        records = _core.Records(baskets.indptr, baskets.values, len(baskets.cells), chosen)
        return _core.mine_itemsets(
            records, self.min_count(baskets), self.kind,
            (max(low - added, 1), max(high - added, 0)), self.top, baskets.weights, excluded,
            groups, baskets.cells, baskets.alone, baskets.n_beside,
            (self.max_bytes, baskets.search_bytes), count_only, self.n_jobs,
        )  # fmt: skip

    def _group_flags(self, baskets: Baskets) -> NDArray[np.uint8] | None:
        """Return which items are in each group; those that `hold` meets are met."""
        groups = [g for g in self.groups if not set(g) & set(self.hold)]
        flags = np.zeros((len(groups), len(baskets.cells)), np.uint8)
        for k, group in enumerate(groups):
            flags[k, baskets.positions(group)] = 1
        return flags.ravel() if groups else None

    def _alone(self, baskets: Baskets, least: int) -> int | None:
        """Return the count of the items that all sets hold, if they are a set by themselves."""
        hold = baskets.positions(self.hold)
        chosen = holders(baskets.indptr, baskets.values, hold)
        count = len(chosen) if baskets.weights is None else int(baskets.weights[chosen].sum())
        low, high = self.sizes
        met = all(set(group) & set(self.hold) for group in self.groups)
        fits = low <= len(self.hold) <= (high or _ANY_SIZE)
        return count if met and fits and count >= least else None

    def forecast(self, baskets: Baskets) -> Forecast:
        """Count the sets without keeping them; `top` and groups are not looked at."""
        n_sets, n_items, status = self._run(baskets, count_only=True)
        if status == "interrupted":
            raise KeyboardInterrupt
        if status == "too large":
            raise InputError(
                "memory: the records of one item with the other frequent ones would take more "
                f"than the {human_bytes(baskets.search_bytes)} of the limit that are left while "
                "they are searched; raise it or min_support"
            )
        if self.hold and self.kind == "all":
            alone = self._alone(baskets, self.min_count(baskets)) is not None
            n_sets += alone
            n_items += len(self.hold) * n_sets
        return Forecast(n_sets, 16 * n_sets + 4 * n_items)

    def answer(self, baskets: Baskets) -> tuple[Itemsets, bool]:
        """Return the itemsets, and whether these are all."""
        items = baskets.items
        indptr, cells, counts, least, status = self._run(baskets, count_only=False)
        if status == "too many":
            raise InputError(
                f"min_support: the itemsets would take more than {human_bytes(self.max_bytes)}; "
                'raise it, ask for kind="closed" or "maximal", for fewer with n_itemsets, or '
                "allow more with memory (forecast(X) counts them)"
            )
        if status == "too large":
            name = items.name(int(cells[0]))
            raise InputError(
                f"memory: the records with {name!r} and other frequent items would take "
                f"{human_bytes(int(counts[0]))} while they are searched, and "
                f"{human_bytes(baskets.search_bytes)} of the limit are left for them; raise it or "
                "min_support, or leave the item out with must_not_hold"
            )
        if status == "interrupted":
            warnings.warn(
                InputWarning(
                    f"interrupted: {len(counts):,} itemsets of branches that were searched to "
                    "the end are kept, others are missing"
                ),
                stacklevel=5,
            )
        if self.hold and self.kind == "all":
            indptr, cells, counts = in_order(*self._add_held(baskets, indptr, cells, counts, least))
        shown: NDArray[Any] = counts if baskets.scale == 1 else counts / baskets.scale
        total = baskets.total if baskets.scale == 1 else baskets.total / baskets.scale
        unlisted = self.unlisted if status == "complete" else "complete_"
        sets = Itemsets(items, self.kind, indptr, cells, shown, total, unlisted, self.sizes[1])
        if 0 < self.top < len(sets):
            sets = sets.most_frequent(self.top)
        return sets, status == "complete"

    def _add_held(
        self,
        baskets: Baskets,
        indptr: NDArray[np.int64],
        cells: NDArray[np.uint32],
        counts: NDArray[np.int64],
        least: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
        """Put the items that all sets hold into each of them; they are a set by themselves, too."""
        held = np.array(self.hold, np.uint32)
        count = self._alone(baskets, least)
        alone = np.array([] if count is None else [count], np.int64)
        sizes = np.concatenate((np.diff(indptr), np.zeros_like(alone)))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        all_owner = np.concatenate((owner, np.repeat(np.arange(len(sizes)), len(held))))
        all_cells = np.concatenate((cells, np.tile(held, len(sizes))))
        order = np.lexsort((all_cells, all_owner))
        starts = np.concatenate(([0], np.cumsum(sizes + len(held))))
        return starts, all_cells[order], np.concatenate((counts, alone))


def holders(
    indptr: NDArray[np.int64], values: NDArray[Any], hold: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the records that hold all of some items."""
    found = [np.zeros(0, np.int64)]
    for first in range(0, len(indptr) - 1, _ROWS):  # values may be in a file, as they are many
        starts = indptr[first : first + _ROWS + 1]
        hits = np.isin(values[starts[0] : starts[-1]], hold.astype(values.dtype))
        counted = np.concatenate(([0], np.cumsum(hits)))
        held = counted[starts[1:] - starts[0]] - counted[starts[:-1] - starts[0]]
        found.append(first + np.flatnonzero(held == len(hold)))
    return np.concatenate(found)


def whole_weights(weights: NDArray[np.float64] | None) -> tuple[NDArray[np.int64] | None, float]:
    """Return weights as whole numbers of 1 and more, and how many of these are a weight of 1.

    Fractions of a power of two are exact; others are rounded to the nearest so that all of them
    together stay below 2^62, which keeps ten digits of a weight and more.

    >>> whole_weights(np.array([0.5, 2.25]))
    (array([2, 9]), 4.0)
    """
    if weights is None:
        return None, 1
    total = float(weights.sum())
    if total > 2**53:
        raise InputError(f"sample_weight: weights must add up to 2^53 at most, got {total:g}")
    scale, largest = 1.0, _LARGEST / total
    while not np.array_equal(weights * scale, np.rint(weights * scale)) and 2 * scale < largest:
        scale *= 2
    return np.maximum(np.rint(weights * scale).astype(np.int64), 1), scale


def check_number_of_values(n: int) -> None:
    """Refuse more values than a search can number."""
    if n >= _MOST_VALUES:
        raise InputError(
            f"min_support: {n:,} values that may be in frequent sets are too many for one search, "
            f"which takes {_MOST_VALUES - 1:,}; raise it, or leave items out with must_not_hold"
        )


def table_baskets(table: Table, *, defaults: bool) -> Baskets:
    """Return the records of a table, which has no weights of 0, as items."""
    table = table.conform(presence_schema(table.schema))
    items = Items(table.schema, defaults)
    indptr, values = items.records(table)
    check_number_of_values(len(values))
    whole, scale = whole_weights(table.weights)
    total = len(indptr) - 1 if whole is None else int(whole.sum())
    return Baskets(items, items.cells.astype(np.uint32), indptr, values, whole, scale, total)
