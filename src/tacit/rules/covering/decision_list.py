"""Covering rules as people read them: a list in which the first rule that holds decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.listing import Listing
from tacit.machine import check_int
from tacit.plot.html import Result
from tacit.rules.conditions import (
    CONDITION_TYPES,
    ConditionArrays,
    RuleSequence,
    join_conditions,
    show_count,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.rules.columns.coding import CodedColumns
    from tacit.rules.conditions import Condition
    from tacit.rules.covering.search import ListedRules
    from tacit.table.number_columns import NumberColumns

__all__ = ["CoveringRule", "DecisionList", "ListArrays"]


@dataclass(frozen=True)
class ListArrays(ConditionArrays):
    """Rules, one after the other; the last has no conditions and always holds."""

    _types = CONDITION_TYPES | {"classes": np.int32, "weights": np.float64}

    classes: NDArray[np.int32]  # codes of the classes that rules predict
    # Of shape (n_rules + 1, n_classes): what each rule covers of each class, of all that no earlier
    # one covers.
    weights: NDArray[np.float64]

    @staticmethod
    def of(learnt: ListedRules, default: int, coded: CodedColumns) -> ListArrays:
        """Return what was learnt, with thresholds instead of codes and the default at the end."""
        sizes = [0, *(len(body.columns) for body in learnt.bodies), 0]
        columns, ops, low, high = (
            np.concatenate([np.zeros(0, dtype), *(body[field] for body in learnt.bodies)])
            for field, dtype in enumerate((np.int32, np.uint8, np.int32, np.int32))
        )
        return ListArrays(
            np.cumsum(sizes, dtype=np.int64),
            columns,
            ops,
            coded.thresholds(columns, ops, low, high),
            np.array([*learnt.classes, default], np.int32),
            learnt.weights,
        )

    def first_rules(self, new: NumberColumns, n_jobs: int) -> NDArray[np.int64]:
        """Return for each record the first rule that covers it."""
        indptr, rules = self.cover(new, n_jobs)
        first: NDArray[np.int64] = rules[indptr[:-1]].astype(np.int64)  # the last covers all
        return first

    @staticmethod
    def checked(arrays: Mapping[str, NDArray[Any]], n_columns: int, n_classes: int) -> ListArrays:
        """Return rules of arrays that come from a file, after checking that they go together."""
        rules = ListArrays._checked(
            arrays,
            "classes",
            {"rule_conditions": ("columns", "ops", "thresholds")},
            {"columns": n_columns, "classes": n_classes, "ops": 4},
        )
        ends = rules.rule_conditions
        if len(ends) < 2:
            raise InputError("'rule_conditions' has no rule")
        if ends[-2] != ends[-1]:
            raise InputError("its last rule has conditions")
        if rules.weights.shape != (len(ends) - 1, n_classes) or not (rules.weights >= 0).all():
            raise InputError("'weights' is not a number for each rule and class")
        return rules


@dataclass(frozen=True)
class CoveringRule(Result):
    """Conditions that must all hold, and the class that is predicted if they do.

    Attributes
    ----------
    number : int
        Its position in the list.
    conditions : tuple of Condition
        None for the last rule, which always holds.
    label : object
        The class.
    support : float
        The (weighted) number of training records that it covers and no earlier rule does.
    hits : float
        How many of those are of the class.
    """

    number: int
    conditions: tuple[Condition, ...]
    label: Any
    support: float
    hits: float

    @property
    def precision(self) -> float:
        """The fraction of hits; 0 if it covers nothing."""
        return self.hits / self.support if self.support else 0.0

    @property
    def condition(self) -> str:
        """The conditions as one line."""
        return join_conditions(self.conditions)

    def __str__(self) -> str:
        start = f"if {self.condition} then" if self.conditions else "otherwise"
        covers = f"covers {show_count(self.support)}, precision {self.precision:.2f}"
        return f"{start} {self.label}, {covers}"


class DecisionList(RuleSequence[CoveringRule]):
    """Rules that are asked one after the other: the first that holds decides.

    The last one has no conditions: it decides what is left.

    Attributes
    ----------
    arrays : ListArrays
        The rules as flat arrays.

    Examples
    --------
    >>> import tacit
    >>> X = {"gain": [0, 0, 9000, 7000, 0, 8000], "town": ["Ulm", "Bonn"] * 3}
    >>> y = ["poor", "poor", "rich", "rich", "poor", "rich"]
    >>> model = tacit.CoveringRulesClassifier(prune=False).fit(X, y)
    >>> print(model.rules_.to_text())
    if gain ≤ 3500 then poor, covers 3, precision 1.00
    otherwise rich, covers 3, precision 1.00
    """

    arrays: ListArrays

    def __len__(self) -> int:
        return len(self.arrays.classes)

    def _rule(self, number: int) -> CoveringRule:
        rules = self.arrays
        label = int(rules.classes[number])
        return CoveringRule(
            number,
            self._conditions(number),
            self._labels[label],
            float(rules.weights[number].sum()),
            float(rules.weights[number, label]),
        )

    def to_text(self, top: int | None = None) -> str:
        """Return the rules as text, one a line.

        Parameters
        ----------
        top : int, optional
            How many of the first; all unless given. The last is always there.
        """
        *lines, last = map(str, self._first(top))
        if left := len(self) - 1 - len(lines):
            lines.append(f"… {left:,} more rules …")
        return "\n".join([*lines, last])

    def to_frame(self) -> pl.DataFrame:
        """Return the rules as a Polars frame: rule, conditions, class, support, hits, precision."""
        rules = list(self)
        return pl.DataFrame(
            {
                "rule": [rule.number for rule in rules],
                "conditions": [rule.condition for rule in rules],
                "class": pl.Series([rule.label for rule in rules], strict=False),
                "support": [rule.support for rule in rules],
                "hits": [rule.hits for rule in rules],
                "precision": [rule.precision for rule in rules],
            }
        )

    def __repr__(self) -> str:
        n = len(self) - 1
        conditions = len(self.arrays.columns) / max(n, 1)
        return f"DecisionList of {n:,} rules and a default, {conditions:.1f} conditions each"

    def _listing(self, top: int | None) -> Listing:
        rows, bars = [], []
        for rule in self._first(top):
            condition = rule.condition if rule.conditions else "otherwise"
            precision, label = f"{rule.precision:.2f}", str(rule.label)
            rows.append((condition, label, show_count(rule.support), precision, str(rule.number)))
            bars.append((condition, rule.support, f"{label}, precision {precision}"))
        head = ("if", "then", "covers", "precision", "rule")
        return Listing(repr(self), head, rows, bars, "records covered")

    def _first(self, top: int | None) -> list[CoveringRule]:
        """Return the first rules and the last."""
        n = len(self) - 1
        return [*self[: n if top is None else min(check_int(top, "top", 0), n)], self[-1]]
