"""The rules of one class, gone over again: replaced, revised, or dropped (RIPPER)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.rules.covering.description import exception_bits, rule_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.rules.covering.growing import GrownRule, RuleGrowth

__all__ = ["RuleOptimiser"]


class RuleOptimiser:
    """Finds rules for a class that say the same in fewer bits, or more in as many.

    Parameters
    ----------
    growth : RuleGrowth
    hits : bool array of shape (n_records,)
        Which records are of the class.
    records : bool array of shape (n_records,)
        Those that rules of the class are about.
    n_possible : int
        How many different conditions there are.
    """

    def __init__(
        self,
        growth: RuleGrowth,
        hits: NDArray[np.bool_],
        records: NDArray[np.bool_],
        n_possible: int,
    ) -> None:
        self.growth = growth
        self.hits = hits & records
        self.records = records
        self.n_possible = n_possible
        self.one = growth.settings.record
        self.n_records = growth.weight(records) / self.one
        self.n_hits = growth.weight(self.hits) / self.one

    def bits(self, covered: NDArray[np.bool_], lengths: Sequence[int]) -> float:
        """Return the bits of rules of some lengths that cover some records, and of exceptions."""
        n_covered = self.growth.weight(covered & self.records) / self.one
        right = self.growth.weight(covered & self.hits) / self.one
        return exception_bits(
            n_covered,
            self.n_records - n_covered,
            n_covered - right,
            self.n_hits - right,
            self.n_hits / self.n_records,
        ) + sum(rule_bits(length, self.n_possible) for length in lengths)

    def again(self, rules: Sequence[GrownRule]) -> list[GrownRule]:
        """Return the rules, each as it is, grown anew, or grown on: what takes the fewest bits."""
        rules = list(rules)
        times = _times_covered(rules, len(self.hits))
        open_ = self.records.copy()  # what no rule before covers
        for k, rule in enumerate(rules):
            others = times > rule.covered  # at least one other rule covers them
            rest = [other.n_conditions for other in (*rules[:k], *rules[k + 1 :])]
            choices = [rule, *self._alternatives(rule, open_, others)]
            rules[k] = min(
                choices, key=lambda c: self.bits(others | c.covered, [*rest, c.n_conditions])
            )
            times += rules[k].covered
            times -= rule.covered
            open_ &= ~rules[k].covered
        return rules

    def _alternatives(
        self, rule: GrownRule, records: NDArray[np.bool_], others: NDArray[np.bool_]
    ) -> list[GrownRule]:
        """Return a rule that is grown anew and one that goes on from this one, both pruned."""
        growth = self.growth
        hits = self.hits & records
        if not hits.any():
            return []
        held = growth.hold_out(hits, records)
        known = records & ~held
        judges = records & held & ~others  # on which it matters what the rule says
        found = [growth.grow(hits & known, known & ~hits)]
        left = growth.settings.max_conditions - rule.n_conditions
        inside = known & rule.covered
        if left > 0 and (hits & inside).any():
            found.append(rule.then(growth.grow(hits & inside, inside & ~hits, left)))
        else:
            found.append(rule)
        return [self._pruned(new, hits, judges) for new in found if new.n_conditions]

    def _pruned(
        self, rule: GrownRule, hits: NDArray[np.bool_], judges: NDArray[np.bool_]
    ) -> GrownRule:
        """Return the rule with the conditions that leave the fewest errors of all rules together.

        Of several, the fewest conditions; all, if there is nobody to judge.
        """
        if not judges.any():
            return rule
        right = self.growth.by_length(rule, judges & hits)
        wrong = self.growth.by_length(rule, judges & ~hits)
        return rule.first(int(np.argmax(right - wrong)) + 1)

    def needed(self, rules: Sequence[GrownRule]) -> list[GrownRule]:
        """Return the rules without those, from the last on, that cost more bits than they save."""
        rules = list(rules)
        times = _times_covered(rules, len(self.hits))
        least = self.bits(times > 0, [rule.n_conditions for rule in rules])
        for k in range(len(rules) - 1, -1, -1):
            rest = [rule.n_conditions for rule in (*rules[:k], *rules[k + 1 :])]
            without = self.bits(times > rules[k].covered, rest)
            if without <= least:
                least = without
                times -= rules.pop(k).covered
        return rules


def _times_covered(rules: Sequence[GrownRule], n_records: int) -> NDArray[np.int32]:
    times = np.zeros(n_records, np.int32)
    for rule in rules:
        times += rule.covered
    return times
