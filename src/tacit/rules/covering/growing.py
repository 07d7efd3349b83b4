"""One covering rule: grown on some records and pruned on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.covering.settings import CoveringSettings

__all__ = ["GrownRule", "RuleBody", "RuleGrowth"]


class RuleBody(NamedTuple):
    """The conditions of a rule, in codes."""

    columns: NDArray[np.int32]
    ops: NDArray[np.uint8]
    low: NDArray[np.int32]
    high: NDArray[np.int32]

    def first(self, n: int) -> RuleBody:
        """Return the first n conditions."""
        return RuleBody(self.columns[:n], self.ops[:n], self.low[:n], self.high[:n])


class GrownRule(NamedTuple):
    """Conditions, and how many leading ones of them each record satisfies."""

    body: RuleBody
    depth: NDArray[np.uint8]

    @property
    def n_conditions(self) -> int:
        """How many conditions it has."""
        return len(self.body.columns)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which records satisfy all conditions."""
        return self.depth >= self.n_conditions

    def first(self, n: int) -> GrownRule:
        """Return the rule of the first n conditions."""
        return GrownRule(self.body.first(n), np.minimum(self.depth, np.uint8(n)))

    def then(self, more: GrownRule) -> GrownRule:
        """Return the rule with the conditions of another after its own."""
        body = RuleBody(
            np.concatenate((self.body.columns, more.body.columns)),
            np.concatenate((self.body.ops, more.body.ops)),
            np.concatenate((self.body.low, more.body.low)),
            np.concatenate((self.body.high, more.body.high)),
        )
        return GrownRule(body, self.depth + np.where(self.covered, more.depth, np.uint8(0)))


class RuleGrowth:
    """Grows rules on weighted records, and cuts them where records that were held out say so."""

    def __init__(
        self,
        columns: Any,
        weights: NDArray[np.float64],
        settings: CoveringSettings,
        random: np.random.Generator,
    ) -> None:
        self.grower = _core.RuleGrower(columns)
        self.weights = weights
        self.settings = settings
        self.random = random

    def weight(self, records: NDArray[np.bool_]) -> float:
        """Return what some records weigh together."""
        return float(self.weights[records].sum())

    def mostly(self, hits: NDArray[np.bool_], records: NDArray[np.bool_]) -> bool:
        """Whether more than half of some records are of the class, by weight."""
        return 2 * self.weight(records & hits) > self.weight(records)

    def hold_out(self, hits: NDArray[np.bool_], records: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Draw a fraction of those of the class and of the others, to prune on; none if too few."""
        held = np.zeros(len(hits), np.bool_)
        groups = [np.flatnonzero(records & hits), np.flatnonzero(records & ~hits)]
        sizes = [int(self.settings.prune_fraction * len(group)) for group in groups]
        if sizes[0] == 0:
            return held
        for group, size in zip(groups, sizes, strict=True):
            held[self.random.permutation(group)[:size]] = True
        return held

    def grow(
        self, hits: NDArray[np.bool_], misses: NDArray[np.bool_], most: int | None = None
    ) -> GrownRule:
        """Return a rule of at most so many conditions, or as many as there may be."""
        settings = self.settings
        counts = np.zeros((len(hits), 2), np.float32)
        counts[hits, 0] = self.weights[hits]
        counts[misses, 1] = self.weights[misses]
        columns, ops, low, high, depth = self.grower.grow(
            counts, settings.criterion, settings.parameter, most or settings.max_conditions,
            settings.min_support, settings.n_jobs,
        )  # fmt: skip
        return GrownRule(RuleBody(columns, ops, low, high), depth)

    def next_rule(self, hits: NDArray[np.bool_], records: NDArray[np.bool_]) -> GrownRule | None:
        """Return a rule that tells hits from other records, if one is worth having."""
        hits = hits & records
        if not hits.any():
            return None
        held = self.hold_out(hits, records)
        rule = self.grow(hits & ~held, records & ~hits & ~held)
        if rule.n_conditions == 0:
            return None
        rule = rule.first(self._precise_length(rule, hits, held))
        # By what was held out alone, a rule may be worth having by chance.
        parts = [part for part in (held, records) if part.any()]
        worth = all(self.mostly(hits, rule.covered & part) for part in parts)
        return rule if worth else None

    def _precise_length(
        self, rule: GrownRule, hits: NDArray[np.bool_], held: NDArray[np.bool_]
    ) -> int:
        """Return how many conditions to keep.

        Those with the best precision on what was held out, corrected after Laplace; of several,
        the fewest. All, if nothing was held out.
        """
        if not held.any():
            return rule.n_conditions
        p, q = (self.by_length(rule, some) for some in (hits & held, held & ~hits))
        one = self.settings.record
        return int(np.argmax((p + one) / (p + q + 2 * one))) + 1

    def by_length(self, rule: GrownRule, records: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weight of those that the first 1, 2, …, all conditions cover."""
        n = rule.n_conditions
        weights = np.bincount(rule.depth[records], self.weights[records], n + 1)
        return np.cumsum(weights[::-1], dtype=np.float64)[::-1][1:]
