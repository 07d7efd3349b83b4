"""Boosted rules with the same conditions, made one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tacit.rules.boosted.rule_arrays import RuleArrays
from tacit.rules.conditions import tightest

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["merge_rules"]

_Body = tuple[tuple[int, int, float], ...]


def merge_rules(rules: RuleArrays) -> RuleArrays:
    """Return rules with the same conditions (in any order) as one, where the first of them was."""
    bodies = _bodies(rules)
    index: dict[_Body, int] = {}
    owner = np.array([index.setdefault(tuple(sorted(body)), len(index)) for body in bodies], int)
    n = len(index)
    first = np.unique(owner, return_index=True)[1].tolist()
    bodies = [bodies[number] for number in first]  # in the order in which they were learnt
    heads: list[dict[int, float]] = [{} for _ in range(n)]
    cells = np.repeat(owner, np.diff(rules.rule_heads)).tolist()
    for rule, output, score in zip(
        cells, rules.outputs.tolist(), rules.scores.tolist(), strict=True
    ):
        heads[rule][output] = heads[rule].get(output, 0.0) + score
    ordered = [sorted(head.items()) for head in heads]
    support = np.zeros(n)
    np.maximum.at(support, owner, rules.support)  # all cover the same records
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
        np.bincount(owner, rules.gain, n).astype(np.float64),
        rules.default_scores,
    )


def _bodies(rules: RuleArrays) -> list[_Body]:
    columns, ops = rules.columns.tolist(), rules.ops.tolist()
    thresholds, ends = rules.thresholds.tolist(), rules.rule_conditions.tolist()
    bodies = [slice(first, last) for first, last in pairwise(ends)]
    return [tuple(tightest(columns[b], ops[b], thresholds[b])) for b in bodies]


def _ends(sizes: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(list(sizes), dtype=np.int64))).astype(np.int64)
