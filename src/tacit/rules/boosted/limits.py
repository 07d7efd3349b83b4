"""Columns that scores must rise or fall with, and columns that may stand together in a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError, no_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.boosted.rule_arrays import RuleArrays
    from tacit.rules.columns.features import RuleFeatures
    from tacit.table.targets import Targets

__all__ = ["check_limits", "column_limits", "keeps_limits"]

_MOST_COLUMNS = {"no_interactions": 1, "pairwise": 2}  # of a rule


def check_limits(model: Any) -> None:
    """Refuse limits that no columns could make right."""
    given = model.monotonic_cst
    if given is not None:
        signs = list(given.values()) if isinstance(given, Mapping) else _listed(given)
        if signs is None or not all(_is_sign(sign) for sign in signs):
            raise InputError(
                "monotonic_cst must map columns to -1, 0 or 1, or be a list of these, one for each "
                f"column; got {given!r}"
            )
    given = model.interaction_cst
    if given is None or (isinstance(given, str) and given in _MOST_COLUMNS):
        return
    groups = _listed(given)
    if groups is None or any(_listed(group) is None for group in groups):
        raise InputError(
            "interaction_cst must be 'pairwise', 'no_interactions' or a list of lists of columns, "
            f"got {given!r}"
        )


def column_limits(model: Any, features: RuleFeatures, targets: Targets) -> dict[str, Any]:
    """Return limits as the kernel takes them."""
    limits: dict[str, Any] = {}
    signs = _signs(model.monotonic_cst, features)
    if signs.any():
        if targets.type == "multiclass":
            raise InputError(
                "monotonic_cst is for two classes, labels or numbers; scores of more classes "
                "compete, and one that rises says nothing of predictions"
            )
        if len(targets.values) > 1 and model.heads in ("partial", "complete"):
            raise InputError(
                f"monotonic_cst: heads must be 'single' for several outputs, got {model.heads!r}"
            )
        limits["monotone"] = signs
    given = model.interaction_cst
    if isinstance(given, str):
        limits["most_columns"] = _MOST_COLUMNS[given]
    elif given is not None:
        groups = _groups(given, features.names)
        limits["group_start"] = np.cumsum([0, *map(len, groups)]).astype(np.int64)
        limits["group_columns"] = np.array(list(chain.from_iterable(groups)), np.int32)
    return limits


def keeps_limits(rules: RuleArrays, limits: dict[str, Any]) -> bool:
    """Return whether rules that are there already keep to limits."""
    signs, start = limits.get("monotone"), limits.get("group_start")
    groups = None
    if start is not None:
        groups = [set(limits["group_columns"][a:b].tolist()) for a, b in pairwise(start.tolist())]
    ends, heads = rules.rule_conditions.tolist(), rules.rule_heads.tolist()
    for rule in range(len(rules)):
        body = slice(ends[rule], ends[rule + 1])
        columns = rules.columns[body]
        if signs is not None:
            allowed = np.where(rules.ops[body] == 0, -signs[columns], signs[columns])
            scores = np.sign(rules.scores[heads[rule] : heads[rule + 1]])
            if (np.multiply.outer(allowed, scores) < 0).any():
                return False
        together = set(columns.tolist())
        if len(together) > limits.get("most_columns", len(together)):
            return False
        if groups is not None and not any(together <= group for group in groups):
            return False
    return True


def _listed(given: Any) -> list[Any] | None:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return None
    return list(given)


def _is_sign(sign: Any) -> bool:
    return isinstance(sign, int | float | np.integer | np.floating) and sign in (-1, 0, 1)


def _position(column: Any, names: tuple[str, ...], argument: str) -> int:
    """Return the position of a column that is named, or is a position."""
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if not -len(names) <= column < len(names):
            raise InputError(f"{argument}: column {column} is not among the {len(names)} columns")
        return int(column) % len(names)
    if not isinstance(column, str) or column not in names:
        raise no_column(argument, column, names)
    return names.index(column)


def _signs(given: Any, features: RuleFeatures) -> NDArray[np.int32]:
    names = features.names
    signs = np.zeros(len(names), np.int32)
    if given is None:
        return signs
    if isinstance(given, Mapping):
        for column, sign in given.items():
            signs[_position(column, names, "monotonic_cst")] = int(sign)
    else:
        listed = list(given)
        if len(listed) != len(names):
            raise InputError(
                f"monotonic_cst has {len(listed)} entries, and X has {len(names)} columns"
            )
        signs[:] = listed
    without_order = (features.kinds == 1) & (signs != 0)
    if without_order.any():
        name = names[int(without_order.argmax())]
        raise InputError(f"monotonic_cst: column {name!r} is categorical: its values have no order")
    return signs


def _groups(given: Any, names: tuple[str, ...]) -> list[list[int]]:
    """Return the columns of each group; those in none are one more, as scikit-learn has it."""
    groups = [
        sorted({_position(column, names, "interaction_cst") for column in group}) for group in given
    ]
    named = set(chain.from_iterable(groups))
    rest = [column for column in range(len(names)) if column not in named]
    return [*groups, rest] if rest else groups
