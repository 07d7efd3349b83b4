"""Boosted rules as people read them: one by one, as text, and as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from tacit.listing import Listing
from tacit.machine import check_int
from tacit.parameters import check_choice
from tacit.plot.html import Result
from tacit.rules.conditions import RuleSequence, join_conditions, show_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.boosted.rule_arrays import RuleArrays
    from tacit.rules.conditions import Condition

__all__ = ["BoostedRule", "RuleSet", "score_text"]

Order: TypeAlias = Literal["contribution", "gain", "learnt"]
_ORDERS = ("contribution", "gain", "learnt")
_MOST_OUTPUTS = 6  # that one line lists


@dataclass(frozen=True)
class BoostedRule(Result):
    """Conditions that must all hold, and what is added to the scores of some outputs if they do.

    Attributes
    ----------
    number : int
        Its position in the order in which rules were learnt.
    conditions : tuple of Condition
        Those that say nothing beyond another of the same column are left out.
    head : dict
        ``{output: score, …}``: classes, labels or names of numbers, and what is added to them.
    support : float
        The (weighted) number of training records that it covers.
    gain : float
        By how much it lowered the training loss, as the search saw it.
    """

    number: int
    conditions: tuple[Condition, ...]
    head: dict[Any, float]
    support: float
    gain: float

    @property
    def contribution(self) -> float:
        """The sum of what it changes: support times the sizes of its scores."""
        return self.support * sum(abs(score) for score in self.head.values())

    @property
    def condition(self) -> str:
        """The conditions as one line."""
        return join_conditions(self.conditions)

    def __str__(self) -> str:
        holds = f"if {self.condition}" if self.conditions else "always"
        return f"{holds} then {head_text(self.head)} (covers {show_count(self.support)})"


class RuleSet(RuleSequence[BoostedRule]):
    """The rules of a boosted model, in the order in which they were learnt.

    A record's score is that of the default rule plus what all rules that cover it add.

    Attributes
    ----------
    default : dict
        ``{output: score, …}``, what every record starts with.
    arrays : RuleArrays
        The rules as flat arrays.

    Examples
    --------
    >>> import tacit
    >>> X = {"gain": [0, 0, 9000, 7000, 0, 8000], "age": [20, 50, 30, 60, 40, 70]}
    >>> y = ["poor", "poor", "rich", "rich", "poor", "rich"]
    >>> model = tacit.BoostedRulesClassifier(n_rules=1).fit(X, y)
    >>> print(model.rules_[0].condition)
    gain ≤ 3500
    """

    arrays: RuleArrays

    @property
    def default(self) -> dict[Any, float]:
        """What every record starts with."""
        return dict(zip(self._labels, self.arrays.default_scores.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.arrays)

    def _rule(self, number: int) -> BoostedRule:
        rules = self.arrays
        head = slice(*rules.rule_heads[number : number + 2].tolist())
        scores = zip(rules.outputs[head].tolist(), rules.scores[head].tolist(), strict=True)
        return BoostedRule(
            number,
            self._conditions(number),
            {self._labels[output]: score for output, score in scores},
            float(rules.support[number]),
            float(rules.gain[number]),
        )

    def contributions(self) -> NDArray[np.float64]:
        """Return what each rule changes in all: its support times the sizes of its scores."""
        rules = self.arrays
        owner = np.repeat(np.arange(len(rules)), np.diff(rules.rule_heads))
        sizes = np.bincount(owner, np.abs(rules.scores), len(rules))
        return np.asarray(rules.support * sizes, np.float64)

    def ranked(self, order: Order = "contribution") -> list[int]:
        """Return the numbers of the rules in an order, the most important first.

        Parameters
        ----------
        order : {"contribution", "gain", "learnt"}
            By what they change in all, by how much they lowered the loss, or as they were learnt.
        """
        check_choice(order, "order", _ORDERS)
        if order == "learnt":
            return list(range(len(self)))
        key = self.contributions() if order == "contribution" else self.arrays.gain
        ranks: list[int] = np.argsort(-key, kind="stable").tolist()
        return ranks

    def merged(self) -> RuleSet:
        """Return rules with the same conditions as one rule each, their scores added up.

        Boosting often finds a rule again to add a bit more. Predictions are the same but for
        rounding; numbers of rules are those of the merged set.
        """
        return RuleSet(self.arrays.merged(), self._features, self._labels)

    # What they look like

    def to_text(self, top: int | None = 20, order: Order = "contribution") -> str:
        """Return the rules as text, one a line.

        Parameters
        ----------
        top : int, optional
            How many; None for all.
        order : {"contribution", "gain", "learnt"}
            As for :meth:`ranked`.
        """
        ranks = self.ranked(order)
        shown = ranks if top is None else ranks[: check_int(top, "top", 0)]
        lines = [f"always {head_text(self.default)}", *(str(self[number]) for number in shown)]
        if len(shown) < len(ranks):
            lines.append(f"… and {len(ranks) - len(shown):,} more rules")
        return "\n".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """Return the rules as a Polars frame: a row for each rule and output of its head.

        The columns are rule, conditions, output, score, support and gain, in the order in which
        rules were learnt.
        """
        rules = self.arrays
        owner = np.repeat(np.arange(len(rules)), np.diff(rules.rule_heads))
        texts = [rule.condition for rule in self]
        return pl.DataFrame(
            {
                "rule": owner,
                "conditions": pl.Series([texts[number] for number in owner], dtype=pl.String),
                "output": pl.Series([self._labels[k] for k in rules.outputs], strict=False)
                if len(owner)
                else pl.Series([], dtype=pl.String),
                "score": rules.scores,
                "support": rules.support[owner],
                "gain": rules.gain[owner],
            }
        )

    def __repr__(self) -> str:
        conditions = len(self.arrays.columns) / max(len(self), 1)
        return f"RuleSet of {len(self):,} rules, {conditions:.1f} conditions each"

    def _listing(self, top: int | None) -> Listing:
        rules = [self[number] for number in self.ranked()[:top]]
        rows = [
            (rule.condition, head_text(rule.head), show_count(rule.support), str(rule.number))
            for rule in rules
        ]
        return Listing(
            repr(self),
            ("if", "then", "covers", "rule"),
            [("always", head_text(self.default), "", ""), *rows],
            [(rule.condition, rule.contribution, head_text(rule.head)) for rule in rules],
            "support × |score|",
        )


def score_text(score: float) -> str:
    """Return a score with its sign.

    >>> score_text(0.8234), score_text(-1234.5)
    ('+0.823', '−1.23e+03')
    """
    return f"{score:+.3g}".replace("-", "−", 1) if score < 0 else f"{score:+.3g}"


def head_text(head: dict[Any, float]) -> str:
    """Return a head in words; of many outputs, those with the largest scores."""
    ranked = sorted(head.items(), key=lambda item: -abs(item[1]))
    text = ", ".join(f"{label} {score_text(score)}" for label, score in ranked[:_MOST_OUTPUTS])
    return f"{text}, …" if len(ranked) > _MOST_OUTPUTS else text
