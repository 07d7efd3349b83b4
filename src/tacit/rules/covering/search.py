"""Separate and conquer: learn a rule, set aside what it covers, and go on with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.rules.covering.growing import RuleGrowth
from tacit.rules.covering.optimise import RuleOptimiser

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tacit.rules.covering.growing import GrownRule, RuleBody
    from tacit.rules.covering.settings import CoveringSettings

__all__ = ["ListedRules", "learn_rules"]


class ListedRules(NamedTuple):
    """Rules in the order in which they are asked."""

    bodies: list[RuleBody]
    classes: list[int]  # the class that each predicts
    # Of shape (n_rules + 1, n_classes): what each rule covers of each class, of all that no earlier
    # rule covers; last, what none covers.
    weights: NDArray[np.float64]


def learn_rules(
    columns: Any,
    classes: NDArray[np.int32],  # of shape (n_records,)
    # Of shape (n_records,), multiples of a power of two; see `on_a_grid`.
    weights: NDArray[np.float64],
    settings: CoveringSettings,
    # Divides records into those that rules are grown on and those that they are pruned on.
    random: np.random.Generator,
    report: Callable[[int], None] = lambda n: None,  # told how many more records are covered
) -> ListedRules:
    """Return rules for one class after the other, until what is left over has none."""
    return _Learner(columns, classes, weights, settings, random).run(report)


class _Learner:
    def __init__(
        self,
        columns: Any,
        classes: NDArray[np.int32],
        weights: NDArray[np.float64],
        settings: CoveringSettings,
        random: np.random.Generator,
    ) -> None:
        self.growth = RuleGrowth(columns, weights, settings, random)
        self.classes = classes
        self.weights = weights
        self.settings = settings
        self.n_classes = int(classes.max()) + 1
        self.left = weights > 0  # what no rule covers yet
        self.bodies: list[RuleBody] = []

    def run(self, report: Callable[[int], None]) -> ListedRules:
        bodies, n_before = self.bodies, -1
        heads: list[int] = []
        covered_weights: list[NDArray[np.float64]] = []
        # What is left over by rules for all classes is of other kinds than all records were.
        while len(bodies) > n_before:
            n_before = len(bodies)
            for target in self._order():
                for rule in self._rules_for(target):
                    covered = self.left & rule.covered
                    if not self.growth.mostly(self.classes == target, covered):
                        continue  # it was, before the rules ahead of it changed
                    self.left &= ~covered
                    bodies.append(rule.body)
                    heads.append(target)
                    covered_weights.append(self._by_class(covered))
                    report(int(covered.sum()))
        covered_weights.append(self._by_class(self.left))
        return ListedRules(bodies, heads, np.stack(covered_weights))

    def _order(self) -> list[int]:
        """Return the classes of what is left, but the last: it is what the others leave over."""
        totals = self._by_class(self.left)
        order = np.argsort(totals if self.settings.ascending else -totals, kind="stable")
        return [target for target in order.tolist() if totals[target] > 0][:-1]

    def _by_class(self, records: NDArray[np.bool_]) -> NDArray[np.float64]:
        weights = np.bincount(self.classes[records], self.weights[records], self.n_classes)
        return weights.astype(np.float64, copy=False)

    def _rules_for(self, target: int) -> Sequence[GrownRule]:
        """Return rules for a class, of what is left."""
        settings = self.settings
        hits = self.left & (self.classes == target)
        rules = self._with_more([], hits)
        if not rules or not settings.prune_fraction:
            return rules
        optimiser = RuleOptimiser(self.growth, hits, self.left, settings.n_possible)
        for _ in range(settings.n_optimisations):
            rules = optimiser.needed(self._with_more(optimiser.again(rules), hits))
        return rules

    def _with_more(self, rules: Sequence[GrownRule], hits: NDArray[np.bool_]) -> list[GrownRule]:
        """Return rules for a class, and more of them as long as they are worth having."""
        rules, left = list(rules), self.left.copy()
        for rule in rules:
            left &= ~rule.covered
        most, failed = self.settings.max_rules, 0
        while failed < self.settings.n_iter_no_change:
            if most is not None and len(self.bodies) + len(rules) >= most:
                break
            new = self.growth.next_rule(hits, left)
            if new is not None:
                failed = 0
                rules.append(new)
                left &= ~new.covered
            elif self.settings.prune_fraction and (hits & left).any():
                failed += 1
            else:
                break  # nothing is drawn: it would be the same again
        return rules
