"""What records that are held out choose: the penalty of the linear model, and weights of a blend.

The Gram matrix of the other records is that of all, less that of the records held out, so that no
record is read again. Of each record held out, every item is hidden in turn and has to be found
among all items that the rest of the record does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.baskets.item_model import LinearItems, closed_form
from tacit.baskets.item_records import (
    as_matrix,
    hidden_entries,
    missing_values,
    without_entries,
)
from tacit.tree.network.recommend import same_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from tacit.baskets.item_model import Gram
    from tacit.table import Table

__all__ = ["PENALTIES", "HiddenItems", "choose_penalty", "hide_items"]

PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 1e4, 3e4, 1e5)
_LEAST_HIDDEN, _MOST_HIDDEN = 30, 20_000
_CELLS = 20_000_000  # scores of hidden items that are held at a time, at most
_CHUNK = 2_000_000
_TUNED_ITEMS = 4_000  # the penalty is chosen on the most common items


@dataclass(frozen=True)
class HiddenItems:
    """Records without one of their items each, and the items."""

    baskets: Table
    hidden: NDArray[np.int64]  # value ids

    def __len__(self) -> int:
        return len(self.hidden)

    def allowed(self) -> NDArray[np.bool_]:
        """Return which items may be recommended to each record."""
        free = np.ones((len(self.hidden), self.baskets.schema.n_values), np.bool_)
        free[:, missing_values(self.baskets.schema)] = False
        free[same_columns(self.baskets)] = False
        return free

    def chunks(self) -> Iterator[HiddenItems]:
        """Yield some of them after others, such that their scores are few."""
        step = max(1, _CHUNK // max(self.baskets.schema.n_values, 1))
        for begin in range(0, len(self.hidden), step):
            some = np.arange(begin, min(begin + step, len(self.hidden)))
            yield HiddenItems(self.baskets.take(some), self.hidden[some])

    def quality(self, scores: Callable[[Any], NDArray[np.float64]]) -> float:
        """Return the mean of 1 / log2(1 + rank) of hidden items: their nDCG, not cut off.

        `scores` returns those of records × items. Of equal scores, half are before the item.
        """
        total, weight = 0.0, 0.0
        for chunk in self.chunks():
            found = scores(as_matrix(chunk.baskets))
            found[~chunk.allowed()] = -np.inf
            own = found[np.arange(len(chunk)), chunk.hidden][:, None]
            before = (found > own).sum(axis=1) + ((found == own).sum(axis=1) - 1) / 2
            weights = chunk.baskets.weights
            each = np.ones(len(chunk)) if weights is None else weights
            total += float(each @ (1 / np.log2(2 + before)))
            weight += float(each.sum())
        return total / weight if weight else 0.0


def hide_items(table: Table, rng: np.random.Generator) -> HiddenItems | None:
    """Hide each item of each record in turn, or as many as scores can be held of.

    None, if so few can be hidden that they would choose by chance.
    """
    entries = hidden_entries(table)
    if len(entries) < _LEAST_HIDDEN:
        return None
    most = min(_MOST_HIDDEN, max(500, _CELLS // max(table.schema.n_values, 1)))
    if len(entries) > most:
        entries = np.sort(rng.choice(entries, most, replace=False))
    return HiddenItems(*without_entries(table, entries))


def choose_penalty(
    gram: Gram, records: Table, held_out: HiddenItems, fit_intercept: bool
) -> tuple[float, list[tuple[float, float]]]:
    """Return the penalty that ranks hidden items best, and what all that were tried are worth.

    `gram` is that of all records, those held out (`records`) included.
    Of many items only the most common ones are predicted: the penalty is about how many records
    there are, not how many items. Penalties are tried from the middle outwards while they help.
    """
    counts = gram.counts
    items = np.sort(np.argsort(-counts, kind="stable")[:_TUNED_ITEMS])
    some = len(items) < len(counts)
    if some:
        entries = np.flatnonzero(np.isin(held_out.hidden, items))
        held_out = HiddenItems(held_out.baskets.take(entries), held_out.hidden[entries])
    rest = gram.without(records, items if some else None)
    tried: dict[int, float] = {}

    def worth(k: int) -> float:
        if k not in tried:
            model = closed_form(rest, PENALTIES[k], fit_intercept)
            tried[k] = held_out.quality(_scorer(model, items, len(counts), some))
        return tried[k]

    best = len(PENALTIES) // 2
    while True:
        near = [k for k in (best - 1, best, best + 1) if 0 <= k < len(PENALTIES)]
        better = max(near, key=lambda k: (worth(k), k))
        if better == best:
            break
        best = better
    return PENALTIES[best], [(PENALTIES[k], tried[k]) for k in sorted(tried)]


def _scorer(
    model: LinearItems, items: NDArray[np.int64], n_items: int, some: bool
) -> Callable[[Any], NDArray[np.float64]]:
    """Return scores of all items by a model of some of them."""
    if not some:
        return model.of_matrix

    def scores(records: Any) -> NDArray[np.float64]:
        wide = np.full((records.shape[0], n_items), -np.inf)
        wide[:, items] = model.of_matrix(records[:, items])
        return wide

    return scores
