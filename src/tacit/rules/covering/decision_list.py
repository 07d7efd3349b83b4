"""Covering rules as people read them: a list in which the first rule that holds decides."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.rules.boosted.rule_set import Condition, read_conditions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.rules.columns.features import CodedColumns, NewColumns, RuleFeatures
    from tacit.rules.covering.search import ListedRules

__all__ = ["CoveringRule", "DecisionList", "ListArrays"]

_MOST_LINES = 100  # of HTML
_TYPES = {
    "rule_conditions": np.int64, "columns": np.int32, "ops": np.uint8, "thresholds": np.float64,
    "classes": np.int32, "weights": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class ListArrays:
    """Rules as flat arrays, one after the other; the last has no conditions and always holds.

    Attributes
    ----------
    rule_conditions : ndarray of int64 of shape (n_rules + 2,)
        Where each rule's conditions begin.
    columns, ops, thresholds : ndarrays
        Conditions: the column; 0 for ≤, 1 for >, 2 for =, 3 for ≠; and what values are compared
        with, a number or the code of a label.
    classes : ndarray of int32 of shape (n_rules + 1,)
        Places of the classes that rules predict.
    weights : ndarray of float64 of shape (n_rules + 1, n_classes)
        What each rule covers of each class, of all that no earlier one covers.
    """

    rule_conditions: NDArray[np.int64]
    columns: NDArray[np.int32]
    ops: NDArray[np.uint8]
    thresholds: NDArray[np.float64]
    classes: NDArray[np.int32]
    weights: NDArray[np.float64]

    @staticmethod
    def of(found: ListedRules, default: int, coded: CodedColumns) -> ListArrays:
        """Return what was learnt, with thresholds instead of codes and the default at the end."""
        sizes = [0, *(len(body.columns) for body in found.bodies), 0]
        columns, ops, low, high = (
            np.concatenate([np.zeros(0, dtype), *(body[part] for body in found.bodies)])
            for part, dtype in enumerate((np.int32, np.uint8, np.int32, np.int32))
        )
        return ListArrays(
            np.cumsum(sizes, dtype=np.int64),
            columns,
            ops,
            coded.thresholds(columns, ops, low, high),
            np.array([*found.classes, default], np.int32),
            found.weights,
        )

    def first_rules(self, new: NewColumns, n_jobs: int) -> NDArray[np.int64]:
        """Return for each record the first rule that covers it."""
        kernels: Any = _core
        indptr, rules = kernels.rule_cover(
            *new.arguments, self.rule_conditions, self.columns, self.ops, self.thresholds, n_jobs
        )
        first: NDArray[np.int64] = rules[indptr[:-1]].astype(np.int64)  # the last covers all
        return first

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays under their names."""
        return {name: getattr(self, name) for name in _TYPES}

    @staticmethod
    def checked(arrays: Mapping[str, NDArray[Any]], n_columns: int, n_classes: int) -> ListArrays:
        """Return rules of arrays that come from a file, after checking that they go together."""
        for name, dtype in _TYPES.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1 + (name == "weights"):
                raise InputError(f"{name!r} has the type {arrays[name].dtype}")
        rules = ListArrays(**{name: arrays[name] for name in _TYPES})
        ends, n = rules.rule_conditions, len(rules.classes)
        if n == 0 or len(ends) != n + 1 or ends[0] != 0 or (np.diff(ends) < 0).any():
            raise InputError("'rule_conditions' does not ascend from 0, one step for each rule")
        if ends[-2] != ends[-1]:
            raise InputError("its last rule has conditions")
        if any(len(part) != ends[-1] for part in (rules.columns, rules.ops, rules.thresholds)):
            raise InputError("'rule_conditions' does not end where 'columns' does")
        if rules.weights.shape != (n, n_classes) or not (rules.weights >= 0).all():
            raise InputError("'weights' is not a number for each rule and class")
        if not (np.isfinite(rules.thresholds).all() and np.isfinite(rules.weights).all()):
            raise InputError("'thresholds' or 'weights' has a number that is not finite")
        for name, bound in (("columns", n_columns), ("classes", n_classes), ("ops", 4)):
            if ((arrays[name] < 0) | (arrays[name] >= bound)).any():
                raise InputError(f"{name!r} has a number that is not in [0, {bound})")
        return rules


@dataclass(frozen=True)
class CoveringRule:
    """Conditions that must all hold, and the class that is predicted if they do.

    Attributes
    ----------
    number : int
        Its place in the list.
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
        """The share of hits; 0 if it covers nothing."""
        return self.hits / self.support if self.support else 0.0

    @property
    def condition(self) -> str:
        """The conditions as one line."""
        return " and ".join(own.text for own in self.conditions) or "always"

    def __str__(self) -> str:
        start = f"if {self.condition} then" if self.conditions else "otherwise"
        return (
            f"{start} {self.label}, covers {_count(self.support)}, precision {self.precision:.2f}"
        )


class DecisionList(Sequence[CoveringRule]):
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

    def __init__(self, arrays: ListArrays, features: RuleFeatures, labels: Sequence[Any]) -> None:
        self.arrays = arrays
        self._features = features
        self._labels = list(labels)

    def __len__(self) -> int:
        return len(self.arrays.classes)

    @overload
    def __getitem__(self, place: int) -> CoveringRule: ...
    @overload
    def __getitem__(self, place: slice) -> list[CoveringRule]: ...
    def __getitem__(self, place: int | slice) -> CoveringRule | list[CoveringRule]:
        if isinstance(place, slice):
            return [self._rule(number) for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self):,} rules; {place} is not one of them")
        return self._rule(number)

    def _rule(self, number: int) -> CoveringRule:
        rules = self.arrays
        own = slice(*rules.rule_conditions[number : number + 2].tolist())
        body = (rules.columns[own], rules.ops[own], rules.thresholds[own])
        place = int(rules.classes[number])
        return CoveringRule(
            number,
            read_conditions(self._features, *body),
            self._labels[place],
            float(rules.weights[number].sum()),
            float(rules.weights[number, place]),
        )

    def to_text(self, top: int | None = None) -> str:
        """Return the rules as text, one a line.

        Parameters
        ----------
        top : int, optional
            How many of the first; all unless given. The last is always there.
        """
        n = len(self) - 1
        shown = n if top is None else min(check_int(top, "top", 0), n)
        lines = [str(rule) for rule in self[:shown]]
        if shown < n:
            lines.append(f"… {n - shown:,} more rules …")
        return "\n".join([*lines, str(self[-1])])

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

    def _repr_html_(self) -> str:
        words = ("rule", "if", "then", "covers", "precision")
        head = "".join(f"<th>{word}</th>" for word in words)
        places = [*range(min(len(self) - 1, _MOST_LINES)), len(self) - 1]
        lines = []
        for rule in (self[place] for place in places):
            cells = (
                str(rule.number),
                rule.condition if rule.conditions else "otherwise",
                str(rule.label),
                _count(rule.support),
                f"{rule.precision:.2f}",
            )
            lines.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<div>{html.escape(repr(self))}</div><table><tr>{head}</tr>{body}</table>"


def _count(support: float) -> str:
    return f"{int(support):,}" if support == int(support) else f"{support:,.6g}"
