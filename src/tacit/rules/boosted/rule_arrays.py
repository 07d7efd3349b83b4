"""Boosted rules as flat arrays: what the kernels grow, score and cover."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.rules.conditions import CONDITION_TYPES, ConditionArrays, tightest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from tacit.rules.columns.coding import CodedColumns
    from tacit.table.number_columns import NumberColumns

__all__ = ["RuleArrays"]

_Body = tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class RuleArrays(ConditionArrays):
    """Rules, one after the other; conditions as in :class:`ConditionArrays`."""

    _types = CONDITION_TYPES | {
        "rule_heads": np.int64, "outputs": np.int32, "scores": np.float64, "support": np.float64,
        "gain": np.float64, "default_scores": np.float64,
    }  # fmt: skip

    rule_heads: NDArray[np.int64]  # where each rule's head begins, and the last one's ends
    outputs: NDArray[np.int32]  # heads: what is added to which output
    scores: NDArray[np.float64]
    support: NDArray[np.float64]
    gain: NDArray[np.float64]
    default_scores: NDArray[np.float64]  # what every record starts with

    def __len__(self) -> int:
        return len(self.support)

    @staticmethod
    def empty(default_scores: NDArray[np.float64]) -> RuleArrays:
        """Return no rules at all."""
        none = {
            name: np.zeros(int(name.startswith("rule_")), dtype)
            for name, dtype in RuleArrays._types.items()
        }
        return RuleArrays(**(none | {"default_scores": default_scores}))

    @staticmethod
    def grown(
        arrays: dict[str, NDArray[Any]],  # as ``RuleBooster.rules`` returns them
        coded: CodedColumns,
        *,
        outputs: NDArray[np.int32],  # the output behind each of those that the kernel saw
        default_scores: NDArray[np.float64],  # of all outputs
    ) -> RuleArrays:
        """Return what the kernel has grown, with thresholds instead of codes."""
        columns, ops = arrays["columns"], arrays["ops"]
        return RuleArrays(
            arrays["rule_conditions"],
            columns,
            ops,
            coded.thresholds(columns, ops, arrays["low"], arrays["high"]),
            arrays["rule_heads"],
            outputs[arrays["outputs"]],
            arrays["scores"],
            arrays["support"],
            arrays["gain"],
            default_scores,
        )

    def first(self, n: int) -> RuleArrays:
        """Return the first n rules."""
        return self.part(0, n)

    def part(self, begin: int, end: int) -> RuleArrays:
        """Return the rules from one on, up to another."""
        conditions = slice(*self.rule_conditions[[begin, end]].tolist())
        heads = slice(*self.rule_heads[[begin, end]].tolist())
        return replace(
            self,
            rule_conditions=self.rule_conditions[begin : end + 1] - conditions.start,
            columns=self.columns[conditions],
            ops=self.ops[conditions],
            thresholds=self.thresholds[conditions],
            rule_heads=self.rule_heads[begin : end + 1] - heads.start,
            outputs=self.outputs[heads],
            scores=self.scores[heads],
            support=self.support[begin:end],
            gain=self.gain[begin:end],
        )

    def followed_by(self, others: RuleArrays) -> RuleArrays:
        """Return these rules and others after them, which start from the same default scores."""
        joined = {
            name: np.concatenate((getattr(self, name), getattr(others, name)))
            for name in ("columns", "ops", "thresholds", "outputs", "scores", "support", "gain")
        }
        for name in ("rule_conditions", "rule_heads"):
            own, added = getattr(self, name), getattr(others, name)
            joined[name] = np.concatenate((own, own[-1] + added[1:]))
        return replace(self, **joined)

    def merged(self) -> RuleArrays:
        """Return rules with the same conditions, in any order, as one where the first was."""
        bodies = _bodies(self)
        index: dict[_Body, int] = {}
        keys = [tuple(sorted(body)) for body in bodies]
        owner = np.array([index.setdefault(key, len(index)) for key in keys], int)
        n = len(index)
        first = np.unique(owner, return_index=True)[1].tolist()
        bodies = [bodies[number] for number in first]  # in the order in which they were learnt
        heads: list[dict[int, float]] = [{} for _ in range(n)]
        cells = np.repeat(owner, np.diff(self.rule_heads)).tolist()
        added = zip(cells, self.outputs.tolist(), self.scores.tolist(), strict=True)
        for rule, output, score in added:
            heads[rule][output] = heads[rule].get(output, 0.0) + score
        ordered = [sorted(head.items()) for head in heads]
        support = np.zeros(n)
        np.maximum.at(support, owner, self.support)  # all cover the same records
        tests = [test for body in bodies for test in body]
        return RuleArrays(
            _ends(len(body) for body in bodies),
            np.array([test[0] for test in tests], np.int32),
            np.array([test[1] for test in tests], np.uint8),
            np.array([test[2] for test in tests], np.float64),
            _ends(len(head) for head in ordered),
            np.array([output for head in ordered for output, _ in head], np.int32),
            np.array([score for head in ordered for _, score in head], np.float64),
            support,
            np.bincount(owner, self.gain, n).astype(np.float64),
            self.default_scores,
        )

    def score(self, new: NumberColumns, n_jobs: int) -> NDArray[np.float64]:
        """Return the sum of what covering rules add, for each record and output."""
        return _core.rule_scores(
            *new.arguments, self.rule_conditions, self.columns, self.ops, self.thresholds,
            self.rule_heads, self.outputs, self.scores, self.default_scores, n_jobs,
        )  # fmt: skip

    @staticmethod
    def checked(arrays: Mapping[str, NDArray[Any]], n_columns: int, n_outputs: int) -> RuleArrays:
        """Return rules of arrays that come from a file, after checking that they go together."""
        rules = RuleArrays._checked(
            arrays,
            "support",
            {
                "rule_conditions": ("columns", "ops", "thresholds"),
                "rule_heads": ("outputs", "scores"),
            },
            {"columns": n_columns, "outputs": n_outputs, "ops": 4},
        )
        if len(rules.gain) != len(rules) or len(rules.default_scores) != n_outputs:
            raise InputError("'gain' or 'default_scores' has another length than it must have")
        return rules


def _bodies(rules: RuleArrays) -> list[_Body]:
    columns, ops = rules.columns.tolist(), rules.ops.tolist()
    thresholds, ends = rules.thresholds.tolist(), rules.rule_conditions.tolist()
    bodies = [slice(first, last) for first, last in pairwise(ends)]
    return [tuple(tightest(columns[b], ops[b], thresholds[b])) for b in bodies]


def _ends(sizes: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(list(sizes), dtype=np.int64))).astype(np.int64)
