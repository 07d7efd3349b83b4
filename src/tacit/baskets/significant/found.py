"""What a search has found, as arrays, and the rules that are made of it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tacit.baskets.significant import effects
from tacit.baskets.significant.rule import SignificantRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.baskets.significant.items import Items
    from tacit.schema import Schema

__all__ = ["Found", "SignificantRuleList", "adjust"]

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
        path_owner = np.repeat(np.arange(len(kept)), np.diff(paths[0]))
        # An item of a rule as one number; items ascend by column. Those on its path are among those
        # of its closed set, and no longer implied.
        base = max(1, len(cells))
        all_items = np.sort(owner * base + closed[1][among])
        on_path = np.sort(path_owner * base + paths[1])
        implied = np.ones(len(all_items), np.bool_)
        implied[np.searchsorted(all_items, on_path)] = False
        extra = all_items[implied]
        implied_lengths = np.bincount(extra // base, minlength=len(kept))
        return cls(
            paths[0],
            cells[on_path % base],
            np.concatenate(([0], np.cumsum(implied_lengths))).astype(np.int64),
            cells[extra % base],
            **numbers,
        )


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


class SignificantRuleList(Sequence[SignificantRule]):
    """Significant rules by ascending p-value, each of which is made when it is asked for.

    Parameters
    ----------
    found : Found
    schema : Schema
        Of the columns that conditions are about.
    n_records, n_positives : int
    level : float
        Of the intervals.
    """

    def __init__(
        self, found: Found, schema: Schema, n_records: int, n_positives: int, level: float
    ) -> None:
        self._found, self._schema = found, schema
        self._margins = found.support, found.positives, n_records, n_positives
        self._level = level

    def __len__(self) -> int:
        return len(self._found.support)

    @overload
    def __getitem__(self, index: int) -> SignificantRule: ...
    @overload
    def __getitem__(self, index: slice) -> list[SignificantRule]: ...
    def __getitem__(self, index: int | slice) -> SignificantRule | list[SignificantRule]:
        if isinstance(index, slice):
            return self._made(range(*index.indices(len(self))))
        return self._made([range(len(self))[index]])[0]

    def __iter__(self) -> Iterator[SignificantRule]:
        return iter(self._made(range(len(self))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | SignificantRuleList):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} significant rules>"

    @cached_property
    def numbers(self) -> dict[str, NDArray[Any]]:
        """The numbers of all rules, by name."""
        found = self._found
        ratio, low, high = effects.odds_ratios(*self._margins, self._level)
        return {
            "support": found.support,
            "positives": found.positives,
            "confidence": found.positives / found.support,
            "p_value": np.exp(found.log_p),
            "log_p_value": found.log_p,
            "adjusted_p_value": found.adjusted,
            "odds_ratio": ratio,
            "odds_ratio_low": low,
            "odds_ratio_high": high,
            "risk_difference": effects.risk_differences(*self._margins),
        }

    def conditions(self, top: int) -> list[dict[str, Any]]:
        """Return the conditions of the first rules."""
        return _queries(
            self._schema, self._found.condition_start, self._found.conditions, range(top)
        )

    def _made(self, which: Sequence[int]) -> list[SignificantRule]:
        found, index = self._found, np.asarray(which, np.intp)
        each = {name: numbers[index].tolist() for name, numbers in self.numbers.items()}
        low, high = each.pop("odds_ratio_low"), each.pop("odds_ratio_high")
        each["odds_ratio_interval"] = list(zip(low, high, strict=True))
        each["conditions"] = _queries(self._schema, found.condition_start, found.conditions, which)
        each["implied"] = _queries(self._schema, found.implied_start, found.implied, which)
        return [
            SignificantRule(**dict(zip(each, row, strict=True)))
            for row in zip(*each.values(), strict=True)
        ]


def _queries(
    schema: Schema, start: NDArray[np.int64], cells: NDArray[np.int64], which: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the conditions of some rules."""
    return [
        {
            schema.names[column]: schema.labels[column][code]
            for column, code in cells[start[k] : start[k + 1]].tolist()
        }
        for k in which
    ]
