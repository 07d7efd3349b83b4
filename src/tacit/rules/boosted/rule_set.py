"""Boosted rules as people read them: one by one, as text, and as frames."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
import polars as pl

from tacit.machine import check_int
from tacit.rules.boosted.rule_arrays import OPERATORS, RuleArrays, tightest
from tacit.rules.checks import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.columns.features import RuleFeatures

__all__ = ["BoostedRule", "Condition", "RuleSet", "read_conditions", "score_text"]

Order: TypeAlias = Literal["contribution", "gain", "learnt"]
_ORDERS = ("contribution", "gain", "learnt")
_MOST_OUTPUTS = 6  # that one line lists
_MOST_LINES = 100  # of HTML


class Condition(NamedTuple):
    """One test of one column.

    Attributes
    ----------
    column : str
    operator : {"≤", ">", "=", "≠"}
        Missing values satisfy none of them.
    threshold : float
        What numbers are compared with; of a column of labels, the label's code.
    text : str
        The condition as people read it.
    """

    column: str
    operator: str
    threshold: float
    text: str

    def __str__(self) -> str:
        return self.text


def read_conditions(
    features: RuleFeatures, columns: NDArray[Any], ops: NDArray[Any], thresholds: NDArray[Any]
) -> tuple[Condition, ...]:
    """Return conditions as people read them, without those that another one implies."""
    tests = tightest(columns.tolist(), ops.tolist(), thresholds.tolist())
    return tuple(
        Condition(
            features.names[column], OPERATORS[op], threshold, features.text(column, op, threshold)
        )
        for column, op, threshold in tests
    )


@dataclass(frozen=True)
class BoostedRule:
    """Conditions that must all hold, and what is added to the scores of some outputs if they do.

    Attributes
    ----------
    number : int
        Its place in the order in which rules were learnt.
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
        return " and ".join(own.text for own in self.conditions) or "always"

    def __str__(self) -> str:
        holds = f"if {self.condition}" if self.conditions else "always"
        return f"{holds} then {head_text(self.head)} (covers {_count(self.support)})"


class RuleSet(Sequence[BoostedRule]):
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

    def __init__(self, arrays: RuleArrays, features: RuleFeatures, labels: Sequence[Any]) -> None:
        self.arrays = arrays
        self._features = features
        self._labels = list(labels)

    @property
    def default(self) -> dict[Any, float]:
        """What every record starts with."""
        return dict(zip(self._labels, self.arrays.default_scores.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.arrays)

    @overload
    def __getitem__(self, place: int) -> BoostedRule: ...
    @overload
    def __getitem__(self, place: slice) -> list[BoostedRule]: ...
    def __getitem__(self, place: int | slice) -> BoostedRule | list[BoostedRule]:
        if isinstance(place, slice):
            return [self._rule(number) for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self):,} rules; {place} is not one of them")
        return self._rule(number)

    def _rule(self, number: int) -> BoostedRule:
        rules = self.arrays
        body = slice(*rules.rule_conditions[number : number + 2].tolist())
        head = slice(*rules.rule_heads[number : number + 2].tolist())
        scores = zip(rules.outputs[head].tolist(), rules.scores[head].tolist(), strict=True)
        return BoostedRule(
            number,
            self._conditions(body),
            {self._labels[output]: score for output, score in scores},
            float(rules.support[number]),
            float(rules.gain[number]),
        )

    def _conditions(self, body: slice) -> tuple[Condition, ...]:
        rules = self.arrays
        return read_conditions(
            self._features, rules.columns[body], rules.ops[body], rules.thresholds[body]
        )

    def contributions(self) -> NDArray[np.float64]:
        """Return what each rule changes in all: its support times the sizes of its scores."""
        rules = self.arrays
        owner = np.repeat(np.arange(len(rules)), np.diff(rules.rule_heads))
        sizes = np.bincount(owner, np.abs(rules.scores), len(rules))
        found: NDArray[np.float64] = rules.support * sizes
        return found

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
        from tacit.rules.boosted.merging import merge_rules

        return RuleSet(merge_rules(self.arrays), self._features, self._labels)

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

    def _repr_html_(self) -> str:
        ranks = self.ranked()[:_MOST_LINES]
        head = "".join(f"<th>{word}</th>" for word in ("rule", "if", "then", "covers"))
        lines = [f"<tr><td></td><td>always</td><td>{_escaped(self.default)}</td><td></td></tr>"]
        for rule in (self[number] for number in ranks):
            cells = f"<td>{rule.number}</td><td>{html.escape(rule.condition)}</td>"
            cells += f"<td>{_escaped(rule.head)}</td><td>{_count(rule.support)}</td>"
            lines.append(f"<tr>{cells}</tr>")
        title = html.escape(repr(self))
        return f"<div>{title}</div><table><tr>{head}</tr>{''.join(lines)}</table>"


def score_text(score: float) -> str:
    """Return a score with its sign.

    >>> score_text(0.8234), score_text(-1234.5)
    ('+0.823', '−1.23e+03')
    """
    return f"{score:+.3g}".replace("-", "−", 1) if score < 0 else f"{score:+.3g}"


def head_text(head: dict[Any, float]) -> str:
    """Return a head in words; of many outputs, those with the largest scores."""
    ranked = sorted(head.items(), key=lambda own: -abs(own[1]))
    text = ", ".join(f"{label} {score_text(score)}" for label, score in ranked[:_MOST_OUTPUTS])
    return f"{text}, …" if len(ranked) > _MOST_OUTPUTS else text


def _escaped(head: dict[Any, float]) -> str:
    return html.escape(head_text(head))


def _count(support: float) -> str:
    return f"{int(support):,}" if support == int(support) else f"{support:,.6g}"
