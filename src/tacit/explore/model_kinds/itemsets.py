"""Itemsets of the selected records, and rules from some items to one more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.baskets import FrequentItemsets
from tacit.errors import InputError
from tacit.explore.model_kinds.asked import fraction_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.items import Items
    from tacit.table import Table

__all__ = ["check", "learn"]

_MOST_ITEMS = 4  # in a set
_MOST_SHOWN = 200
_ROOM = 2**28  # bytes of itemsets: some millions of them
_TOO_MANY = ("min_support: ", "memory: ", "min_confidence: ")  # what messages begin with


def check(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request."""
    return {
        "support": fraction_of(request.get("support"), "support"),
        "confidence": fraction_of(request.get("confidence"), "confidence"),
    }


def learn(table: Table, request: dict[str, Any]) -> tuple[dict[str, Any], None]:
    """Return the most frequent sets of two items or more, and the rules of the greatest lift."""
    finder = FrequentItemsets(
        min_support=request["support"], kind="all", max_size=_MOST_ITEMS, memory=_ROOM,
        discretise=None,
    )  # fmt: skip
    try:
        found = finder.fit(table)
        sets, rules = found.itemsets_, found.rules(request["confidence"])
    except InputError as error:
        if not str(error).startswith(_TOO_MANY):
            raise
        raise InputError(
            "there are too many itemsets of this support: take a higher one, or fewer records"
        ) from None
    best = rules.strongest(_MOST_SHOWN) if len(rules) else rules
    low, high = best.interval("lift")
    counts = best.counts.tolist()
    several = np.flatnonzero(sets.sizes > 1)
    pairs = _pairs(table, sets.items)
    return {
        "sets": [
            {
                "items": [pairs[c] for c in sets.cells[sets.indptr[k] : sets.indptr[k + 1]]],
                "count": float(sets.counts[k]),
            }
            for k in several[:_MOST_SHOWN].tolist()
        ],
        "nSets": len(several),
        "rules": [
            {
                "if": [pairs[c] for c in best.antecedents[best.indptr[k] : best.indptr[k + 1]]],
                "then": pairs[best.consequents[k]],
                "both": counts[k][0],
                "confidence": counts[k][0] / counts[k][1],
                "lift": float(lift),
                "low": float(low[k]),
                "high": float(high[k]),
            }
            for k, lift in enumerate(best.measure("lift"))
        ],
        "nRules": len(rules),
        "total": float(sets.total),
    }, None


def _pairs(table: Table, items: Items) -> NDArray[Any]:
    """Return the column and the code of each cell, as the page has them.

    A column of only 0 or only 1 has the other label, too, in a cell that is in no set: None here.
    """
    pairs = [
        (c, codes[label]) if label in codes else None
        for c, column in enumerate(items.schema)
        for codes in [{label: k for k, label in enumerate(table.schema[column.name].labels)}]
        for label in column.labels
    ]
    cells = np.empty(len(pairs), object)
    cells[:] = pairs
    return cells
