"""What a search has found, as arrays, and the rules that are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.baskets.significant import effects
from tacit.baskets.significant.rule import SignificantRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.baskets.significant.items import Items
    from tacit.schema import Schema

__all__ = ["Found", "adjust", "build_rules"]

_Lists = tuple["NDArray[np.int64]", "NDArray[np.int32]"]


@dataclass(frozen=True)
class Found:
    """Rules by ascending p-value.

    Rule r has the conditions ``condition_start[r] … condition_start[r + 1]``, each a column and a
    code; likewise what they imply.
    """

    condition_start: NDArray[np.int64]
    conditions: NDArray[np.int64]  # of shape (n, 2)
    implied_start: NDArray[np.int64]
    implied: NDArray[np.int64]
    support: NDArray[np.int64]
    positives: NDArray[np.int64]
    log_p: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    threshold: float
    n_testable: int
    n_significant: int
    least_support: int

    @classmethod
    def of(
        cls, items: Items, paths: _Lists, closed: _Lists, kept: NDArray[np.int64], **numbers: Any
    ) -> Found:
        """Make it of the lists of items that kernels return; `closed` is of all rules."""
        cells = np.stack((items.columns, items.codes), axis=1)
        lengths = np.diff(closed[0])[kept]
        owner = np.repeat(np.arange(len(kept)), lengths)
        begin = np.concatenate(([0], np.cumsum(lengths)))
        among = closed[0][kept][owner] + np.arange(begin[-1]) - begin[:-1][owner]
        all_items = closed[1][among].astype(np.int64)
        path_owner = np.repeat(np.arange(len(kept)), np.diff(paths[0]))
        # An item of a rule as one number: those on its path are no longer implied.
        base = max(1, len(cells))
        extra = ~np.isin(owner * base + all_items, path_owner * base + paths[1])
        implied_lengths = np.bincount(owner[extra], minlength=len(kept))
        return cls(
            paths[0],
            cells[_by_column(cells, path_owner, paths[1])],
            np.concatenate(([0], np.cumsum(implied_lengths))).astype(np.int64),
            cells[_by_column(cells, owner[extra], all_items[extra])],
            **numbers,
        )


def _by_column(cells: NDArray[np.int64], owner: NDArray[Any], items: NDArray[Any]) -> NDArray[Any]:
    """Return the items of each rule in the order of their columns."""
    return np.asarray(items[np.lexsort((cells[items, 0], owner))])


def adjust(
    found: dict[str, Any], correction: str, alpha: float, n_permutations: int
) -> tuple[NDArray[np.float64], float]:
    """Return adjusted p-values of the rules that are significant, and the log p that decides."""
    log_p = found["log_p"]
    if correction == "permutation":
        adjusted = effects.permutation_adjusted(log_p, found["minima"], n_permutations)
        return adjusted, found["limit"]
    if correction == "tarone":
        adjusted = effects.tarone_adjusted(log_p, found["n_tests"])
        return np.minimum(adjusted, alpha), found["limit"]
    each = effects.step_up(log_p, found["n_testable"], any_dependence=correction == "yekutieli")
    n = int(np.searchsorted(each, alpha * (1 + 1e-12), side="right"))
    return each[:n], float(log_p[n - 1]) if n else -np.inf


def build_rules(
    found: Found, schema: Schema, n_records: int, n_positives: int, level: float
) -> list[SignificantRule]:
    """Return the rules with their labels and effects."""
    margins = found.support, found.positives, n_records, n_positives
    ratio, low, high = effects.odds_ratios(*margins, level)
    numbers = zip(
        _queries(schema, found.condition_start, found.conditions),
        _queries(schema, found.implied_start, found.implied),
        found.support.tolist(),
        found.positives.tolist(),
        (found.positives / found.support).tolist(),
        np.exp(found.log_p).tolist(),
        found.log_p.tolist(),
        found.adjusted.tolist(),
        ratio.tolist(),
        zip(low.tolist(), high.tolist(), strict=True),
        effects.risk_differences(*margins).tolist(),
        strict=True,
    )
    return [SignificantRule(*row) for row in numbers]


def _queries(
    schema: Schema, start: NDArray[np.int64], cells: NDArray[np.int64]
) -> list[dict[str, Any]]:
    begin = schema.cells
    known, which = np.unique(begin[cells[:, 0]] + cells[:, 1], return_inverse=True)  # few
    columns = np.asarray(np.searchsorted(begin, known, side="right")) - 1
    labels = zip(columns.tolist(), (known - begin[columns]).tolist(), strict=True)
    conditions = [(schema.names[c], schema.labels[c][code]) for c, code in labels]
    pairs = [conditions[k] for k in which.tolist()]
    ends = start.tolist()
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]
