"""Conditions of rules: as flat arrays that kernels take, and as people read them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, overload

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.listing import Listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.rules.columns.features import RuleFeatures
    from tacit.table.number_columns import NumberColumns

__all__ = [
    "CONDITION_TYPES",
    "OPERATORS",
    "Condition",
    "ConditionArrays",
    "RuleSequence",
    "join_conditions",
    "show_count",
    "tightest",
]

OPERATORS = ("≤", ">", "=", "≠")
CONDITION_TYPES: dict[str, Any] = {
    "rule_conditions": np.int64, "columns": np.int32, "ops": np.uint8, "thresholds": np.float64,
}  # fmt: skip
R = TypeVar("R")


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


@dataclass(frozen=True)
class ConditionArrays:
    """Rules as flat arrays, one after the other; subclasses say what they predict."""

    _types: ClassVar[dict[str, Any]] = CONDITION_TYPES  # of all arrays

    rule_conditions: NDArray[np.int64]  # where each rule's conditions begin, and the last one's end
    # Conditions: the column; 0 for ≤, 1 for >, 2 for =, 3 for ≠; and what values are compared with,
    # a number or the code of a label.
    columns: NDArray[np.int32]
    ops: NDArray[np.uint8]
    thresholds: NDArray[np.float64]

    def cover(self, new: NumberColumns, n_jobs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where each record's rules begin, and the rules that cover it."""
        return _core.rule_cover(
            *new.arguments, self.rule_conditions, self.columns, self.ops, self.thresholds, n_jobs
        )

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays under their names."""
        return {name: getattr(self, name) for name in self._types}

    @classmethod
    def _checked(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        per_rule: str,  # an array that has an entry for each rule
        offsets: dict[str, tuple[str, ...]],  # arrays that say where each rule begins in others
        bounds: dict[str, int],  # what the entries of an array are below
    ) -> Self:
        """Return rules of arrays that come from a file, after checking that they go together."""
        for name, dtype in cls._types.items():
            if arrays[name].dtype != dtype or arrays[name].ndim != 1 + (name == "weights"):
                raise InputError(f"{name!r} has the type {arrays[name].dtype}")
            if dtype == np.float64 and not np.isfinite(arrays[name]).all():
                raise InputError(f"{name!r} has a number that is not finite")
        n_rules = len(arrays[per_rule])
        for starts, others in offsets.items():
            ends = arrays[starts]
            if len(ends) != n_rules + 1 or ends[0] != 0 or (np.diff(ends) < 0).any():
                raise InputError(f"{starts!r} does not ascend from 0, one step for each rule")
            if any(len(arrays[name]) != ends[-1] for name in others):
                raise InputError(f"{starts!r} does not end where {others[0]!r} does")
        for name, bound in bounds.items():
            if ((arrays[name] < 0) | (arrays[name] >= bound)).any():
                raise InputError(f"{name!r} has a number that is not in [0, {bound})")
        return cls(**{name: arrays[name] for name in cls._types})


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


class RuleSequence(Listed, Sequence[R]):
    """Rules as people read them: one by one, as text, as a frame, a table or a figure."""

    arrays: Any

    def __init__(self, arrays: Any, features: RuleFeatures, labels: Sequence[Any]) -> None:
        self.arrays = arrays
        self._features = features
        self._labels = list(labels)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def __getitem__(self, index: int | slice) -> R | list[R]:
        if isinstance(index, slice):
            return [self._rule(number) for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self):,} rules; {index} is not one of them")
        return self._rule(number)

    @abstractmethod
    def _rule(self, number: int) -> R:
        """Return a rule by its number."""

    def _conditions(self, number: int) -> tuple[Condition, ...]:
        """Return the conditions of a rule, without those that another one implies."""
        rules, names = self.arrays, self._features.names
        body = slice(*rules.rule_conditions[number : number + 2].tolist())
        tests = tightest(
            rules.columns[body].tolist(), rules.ops[body].tolist(), rules.thresholds[body].tolist()
        )
        return tuple(
            Condition(names[column], OPERATORS[op], x, self._features.text(column, op, x))
            for column, op, x in tests
        )

    @abstractmethod
    def to_text(self, top: int | None = None) -> str:
        """Return the rules as text, one a line."""

    @abstractmethod
    def to_frame(self) -> pl.DataFrame:
        """Return the rules as a Polars frame."""

    def _repr_html_(self) -> str:
        return self.to_html()


def join_conditions(conditions: tuple[Condition, ...]) -> str:
    """Return conditions as one line."""
    return " and ".join(condition.text for condition in conditions) or "always"


def show_count(support: float) -> str:
    """Return a number of records, or the sum of their weights, as text.

    >>> show_count(1200.0), show_count(0.5)
    ('1,200', '0.5')
    """
    return f"{int(support):,}" if support == int(support) else f"{support:,.6g}"
