"""Boosted rules as flat arrays: what the kernels grow, score and cover."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.rules.columns.features import CodedColumns, NewColumns

__all__ = ["OPERATORS", "RuleArrays", "tightest"]

OPERATORS = ("≤", ">", "=", "≠")
_TYPES = {
    "rule_conditions": np.int64, "columns": np.int32, "ops": np.uint8, "thresholds": np.float64,
    "rule_heads": np.int64, "outputs": np.int32, "scores": np.float64, "support": np.float64,
    "gain": np.float64, "default_scores": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class RuleArrays:
    """Rules, one after the other.

    Attributes
    ----------
    rule_conditions : ndarray of int64 of shape (n_rules + 1,)
        Where each rule's conditions begin.
    columns, ops, thresholds : ndarrays
        Conditions: the column; 0 for ≤, 1 for >, 2 for =, 3 for ≠; and what values are compared
        with, a number or the code of a label.
    rule_heads : ndarray of int64 of shape (n_rules + 1,)
        Where each rule's head begins.
    outputs, scores : ndarrays
        Heads: what is added to which output.
    support, gain : ndarrays of float64 of shape (n_rules,)
    default_scores : ndarray of float64 of shape (n_outputs,)
        What every record starts with.
    """

    rule_conditions: NDArray[np.int64]
    columns: NDArray[np.int32]
    ops: NDArray[np.uint8]
    thresholds: NDArray[np.float64]
    rule_heads: NDArray[np.int64]
    outputs: NDArray[np.int32]
    scores: NDArray[np.float64]
    support: NDArray[np.float64]
    gain: NDArray[np.float64]
    default_scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.support)

    @staticmethod
    def empty(default_scores: NDArray[np.float64]) -> RuleArrays:
        """Return no rules at all."""
        none = {
            name: np.zeros(int(name.startswith("rule_")), dtype) for name, dtype in _TYPES.items()
        }
        return RuleArrays(**(none | {"default_scores": default_scores}))

    @staticmethod
    def grown(
        found: dict[str, NDArray[Any]],
        coded: CodedColumns,
        *,
        outputs: NDArray[np.int32],
        default_scores: NDArray[np.float64],
    ) -> RuleArrays:
        """Return what the kernel has grown, with thresholds instead of codes.

        Parameters
        ----------
        found : dict of str to ndarray
            As ``RuleBooster.rules`` returns them.
        coded : CodedColumns
        outputs : ndarray of int32
            The output behind each of those that the kernel saw.
        default_scores : ndarray of float64
            Of all outputs.
        """
        columns, ops = found["columns"], found["ops"]
        return RuleArrays(
            found["rule_conditions"],
            columns,
            ops,
            coded.thresholds(columns, ops, found["low"], found["high"]),
            found["rule_heads"],
            outputs[found["outputs"]],
            found["scores"],
            found["support"],
            found["gain"],
            default_scores,
        )

    def first(self, n: int) -> RuleArrays:
        """Return the first n rules."""
        conditions, heads = int(self.rule_conditions[n]), int(self.rule_heads[n])
        return replace(
            self,
            rule_conditions=self.rule_conditions[: n + 1],
            columns=self.columns[:conditions],
            ops=self.ops[:conditions],
            thresholds=self.thresholds[:conditions],
            rule_heads=self.rule_heads[: n + 1],
            outputs=self.outputs[:heads],
            scores=self.scores[:heads],
            support=self.support[:n],
            gain=self.gain[:n],
        )

    def score(self, new: NewColumns, n_jobs: int) -> NDArray[np.float64]:
        """Return the sum of what covering rules add, for each record and output."""
        kernels: Any = _core
        total: NDArray[np.float64] = kernels.rule_scores(
            *new.arguments, self.rule_conditions, self.columns, self.ops, self.thresholds,
            self.rule_heads, self.outputs, self.scores, self.default_scores, n_jobs,
        )  # fmt: skip
        return total

    def cover(self, new: NewColumns, n_jobs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where each record's rules begin, and the rules that cover it."""
        kernels: Any = _core
        indptr, rules = kernels.rule_cover(
            *new.arguments, self.rule_conditions, self.columns, self.ops, self.thresholds, n_jobs
        )
        return indptr, rules

    # In files

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays under their names."""
        return {own.name: getattr(self, own.name) for own in fields(self)}

    @staticmethod
    def checked(arrays: Mapping[str, NDArray[Any]], n_columns: int, n_outputs: int) -> RuleArrays:
        """Return rules of arrays that come from a file, after checking that they go together."""
        for name, dtype in _TYPES.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise InputError(f"{name!r} has the type {arrays[name].dtype}")
            if dtype == np.float64 and not np.isfinite(arrays[name]).all():
                raise InputError(f"{name!r} has a number that is not finite")
        rules = RuleArrays(**{name: arrays[name] for name in _TYPES})
        n = len(rules.support)
        conditions = {"columns", "ops", "thresholds"}
        heads = {"outputs", "scores"}
        for starts, parts in (("rule_conditions", conditions), ("rule_heads", heads)):
            ends = arrays[starts]
            if len(ends) != n + 1 or ends[0] != 0 or (np.diff(ends) < 0).any():
                raise InputError(f"{starts!r} does not ascend from 0, one step for each rule")
            if any(len(arrays[part]) != ends[-1] for part in parts):
                raise InputError(f"{starts!r} does not end where {min(parts)!r} does")
        if len(rules.gain) != n or len(rules.default_scores) != n_outputs:
            raise InputError("'gain' or 'default_scores' has another length than it must have")
        for name, bound in (("columns", n_columns), ("outputs", n_outputs), ("ops", 4)):
            if ((arrays[name] < 0) | (arrays[name] >= bound)).any():
                raise InputError(f"{name!r} has a number that is not in [0, {bound})")
        return rules


def tightest(
    columns: list[int], ops: list[int], thresholds: list[float]
) -> list[tuple[int, int, float]]:
    """Return conditions without those that another one of the same column implies."""
    kept: dict[tuple[int, int, float], float] = {}
    for column, op, threshold in zip(columns, ops, thresholds, strict=True):
        # Thresholds of ≤ and > replace each other; labels do not.
        key = (column, op, threshold if op >= 2 else 0.0)
        best = kept.get(key, threshold)
        kept[key] = min(best, threshold) if op == 0 else max(best, threshold)
    return [(column, op, threshold) for (column, op, _), threshold in kept.items()]
