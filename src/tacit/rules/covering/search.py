"""Separate and conquer: learn a rule, set aside what it covers, and go on with the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core
from tacit.rules.scaling import exponent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "CRITERIA",
    "CoveringSettings",
    "ListedRules",
    "RuleBody",
    "learn_rules",
    "on_a_grid",
    "scale_power",
]

CRITERIA = ("precision", "laplace", "m_estimate", "f_measure", "kulczynski")
_MOST = 1e300  # more than any sum of weights
_GRID_BITS = 20  # weights keep so many binary digits: sums of them are exact in any order


class RuleBody(NamedTuple):
    """The conditions of a rule, in codes."""

    columns: NDArray[np.int32]
    ops: NDArray[np.uint8]
    low: NDArray[np.int32]
    high: NDArray[np.int32]

    def first(self, n: int) -> RuleBody:
        """Return the first n conditions."""
        return RuleBody(self.columns[:n], self.ops[:n], self.low[:n], self.high[:n])


class ListedRules(NamedTuple):
    """Rules in the order in which they are asked."""

    bodies: list[RuleBody]
    classes: list[int]  # the class that each predicts
    # Of shape (n_rules + 1, n_classes): what each rule covers of each class, of all that no earlier
    # rule covers; last, what none covers.
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class CoveringSettings:
    """How rules are learnt; see :class:`tacit.CoveringRulesClassifier`."""

    criterion: str
    parameter: float
    prune_fraction: float  # 0: rules are not pruned
    n_iter_no_change: int
    max_conditions: int
    min_support: float
    max_rules: int | None
    n_jobs: int
    record: float = 1.0  # the weight of one record

    def scaled(self, power: int) -> CoveringSettings:
        """Return settings for weights that were divided by 2**power."""
        parameter = self.parameter
        if self.criterion == "m_estimate":
            parameter = _divided(parameter, power)
        support, record = _divided(self.min_support, power), _divided(self.record, power)
        return replace(self, parameter=parameter, min_support=support, record=record)


def _divided(number: float, power: int) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.minimum(np.ldexp(number, -power), _MOST))


def scale_power(weights: NDArray[np.float64], criterion: str) -> int:
    """Return which power of two to divide weights by, so that float32 can hold them.

    Rules stay the same. Laplace's criterion adds one record in the kernel itself, so that weights
    are left alone for it unless that record is next to nothing, or to everything, anyway.

    >>> scale_power(np.array([3.0]), "precision"), scale_power(np.array([3.0]), "laplace")
    (2, 0)
    """
    power = exponent(weights)
    return power - min(max(power, -20), 60) if criterion == "laplace" else power


def on_a_grid(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as multiples of a power of two, so that their sums are exact.

    Whole numbers up to a million stay as they are.

    >>> on_a_grid(np.array([1.0, 2.0, 0.1])).tolist()
    [1.0, 2.0, 0.1000003814697265...]
    """
    largest = float(weights.max(initial=0.0))
    if largest == 0:
        return weights
    step = 2.0 ** (np.ceil(np.log2(largest)) - _GRID_BITS)
    rounded: NDArray[np.float64] = np.round(weights / step) * step
    return rounded


def learn_rules(
    columns: Any,
    classes: NDArray[np.int32],  # of shape (n_records,)
    # Of shape (n_records,), multiples of a power of two; see `on_a_grid`.
    weights: NDArray[np.float64],
    order: list[int],  # classes to learn rules for
    settings: CoveringSettings,
    # Divides records into those that rules are grown on and those that they are pruned on.
    random: np.random.Generator,
    report: Callable[[int], None] = lambda n: None,  # told how many more records are covered
) -> ListedRules:
    """Return rules for some classes, one class after the other."""
    return _Learner(columns, classes, weights, settings, random).run(order, report)


class _Learner:
    def __init__(
        self,
        columns: Any,
        classes: NDArray[np.int32],
        weights: NDArray[np.float64],
        settings: CoveringSettings,
        random: np.random.Generator,
    ) -> None:
        self.grower = _core.RuleGrower(columns)
        self.classes = classes
        self.weights = weights
        self.settings = settings
        self.random = random
        self.n_classes = int(classes.max()) + 1
        self.left = weights > 0  # what no rule covers yet

    def run(self, order: list[int], report: Callable[[int], None]) -> ListedRules:
        bodies: list[RuleBody] = []
        heads: list[int] = []
        covered_weights: list[NDArray[np.float64]] = []
        for target in order:
            for body, covered in self._rules_for(target, len(bodies)):
                bodies.append(body)
                heads.append(target)
                covered_weights.append(self._by_class(covered))
                report(int(covered.sum()))
        covered_weights.append(self._by_class(self.left))
        return ListedRules(bodies, heads, np.stack(covered_weights))

    def _by_class(self, records: NDArray[np.bool_]) -> NDArray[np.float64]:
        weights = np.bincount(self.classes[records], self.weights[records], self.n_classes)
        return weights.astype(np.float64, copy=False)

    def _rules_for(
        self, target: int, n_before: int
    ) -> Iterator[tuple[RuleBody, NDArray[np.bool_]]]:
        """Learn rules for a class; what they cover is set aside."""
        most = self.settings.max_rules
        n, failed = n_before, 0
        while failed < self.settings.n_iter_no_change and (most is None or n < most):
            rule = self._next_rule(target)
            if rule is None and not self.settings.prune_fraction:
                return  # nothing is drawn: it would be the same again
            if rule is None:
                failed += 1
                continue
            n, failed = n + 1, 0
            self.left &= ~rule[1]
            yield rule

    def _next_rule(self, target: int) -> tuple[RuleBody, NDArray[np.bool_]] | None:
        """Return a rule for a class and the records it covers, if one is worth having."""
        hits = self.left & (self.classes == target)
        if not hits.any():
            return None
        held = self._held_out(hits)
        body, depth = self._grow(hits & ~held, self.left & ~hits & ~held)
        if len(body.columns) == 0:
            return None
        length = self._best_length(depth, hits, held, len(body.columns))
        covered = self.left & (depth >= length)
        # By what was held out alone, a rule may be worth having by chance.
        worth = all(self._mostly(hits, covered & some) for some in (held, self.left) if some.any())
        return (body.first(length), covered) if worth else None

    def _mostly(self, hits: NDArray[np.bool_], records: NDArray[np.bool_]) -> bool:
        """Whether more than half of some records are of the class, by weight."""
        return bool(2 * self.weights[records & hits].sum() > self.weights[records].sum())

    def _held_out(self, hits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Draw a fraction of those of the class and of the others, to prune on; none if too few."""
        held = np.zeros(len(hits), np.bool_)
        groups = [np.flatnonzero(hits), np.flatnonzero(self.left & ~hits)]
        sizes = [int(self.settings.prune_fraction * len(group)) for group in groups]
        if sizes[0] == 0:
            return held
        for group, size in zip(groups, sizes, strict=True):
            held[self.random.permutation(group)[:size]] = True
        return held

    def _grow(
        self, hits: NDArray[np.bool_], misses: NDArray[np.bool_]
    ) -> tuple[RuleBody, NDArray[np.uint8]]:
        """Return a rule, and how many of its leading conditions each record satisfies."""
        settings = self.settings
        counts = np.zeros((len(hits), 2), np.float32)
        counts[hits, 0] = self.weights[hits]
        counts[misses, 1] = self.weights[misses]
        columns, ops, low, high, depth = self.grower.grow(
            counts, settings.criterion, settings.parameter, settings.max_conditions,
            settings.min_support, settings.n_jobs,
        )  # fmt: skip
        return RuleBody(columns, ops, low, high), depth

    def _best_length(
        self, depth: NDArray[np.uint8], hits: NDArray[np.bool_], held: NDArray[np.bool_], n: int
    ) -> int:
        """Return how many of n conditions to keep.

        Those with the best precision on what was held out, corrected after Laplace; of several,
        the fewest. All, if nothing was held out.
        """
        if not held.any():
            return n
        p, q = (self._by_depth(depth, some, n) for some in (hits & held, held & ~hits))
        one = self.settings.record
        return int(np.argmax((p + one) / (p + q + 2 * one))) + 1

    def _by_depth(
        self, depth: NDArray[np.uint8], records: NDArray[np.bool_], n: int
    ) -> NDArray[np.float64]:
        """Return the weight that the first 1, 2, …, n conditions cover."""
        weights = np.bincount(depth[records], self.weights[records], n + 1)
        return np.cumsum(weights[::-1], dtype=np.float64)[::-1][1:]
