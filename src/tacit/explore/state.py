"""What is selected: for each column the codes that are let through, or those that are not.

It is written as text, in addresses and requests: ``3:1-5,7;4:!0`` lets the codes 1 to 5 and 7 of
column 3 through, and all of column 4 but 0. ``static/state.js`` reads and writes the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.schema import exclude

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.schema import Schema

__all__ = ["Condition", "Selection"]

_CONDITION = re.compile(r"(\d{1,9}):(!?)((?:\d{1,9}(?:-\d{1,9})?)(?:,\d{1,9}(?:-\d{1,9})?)*)?")
_LONGEST = 100_000  # characters


@dataclass(frozen=True)
class Condition:
    """What is asked of one column.

    Attributes
    ----------
    codes : tuple of int
        In ascending order.
    excluded : bool
        Whether the codes are those that are not let through.
    """

    codes: tuple[int, ...]
    excluded: bool = False

    def allowed(self, arity: int) -> list[int]:
        """Return the codes that are let through."""
        if not self.excluded:
            return list(self.codes)
        return sorted(set(range(arity)).difference(self.codes))

    def to_text(self) -> str:
        """Return the condition as it is written, ranges put together.

        >>> Condition((1, 2, 3, 7)).to_text(), Condition((0,), excluded=True).to_text()
        ('1-3,7', '!0')
        """
        parts: list[str] = []
        starts = [k for k, (a, b) in enumerate(pairwise((-2, *self.codes))) if b > a + 1]
        for first, end in pairwise((*starts, len(self.codes))):
            a, b = self.codes[first], self.codes[end - 1]
            parts.append(str(a) if a == b else f"{a}-{b}")
        return "!" * self.excluded + ",".join(parts)


@dataclass(frozen=True)
class Selection:
    """A conjunction of conditions on different columns.

    Attributes
    ----------
    conditions : dict of int to Condition
        By position of the column.
    """

    conditions: Mapping[int, Condition] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: Any, arities: Sequence[int], argument: str = "given") -> Selection:
        """Read a selection, or say what is wrong with it.

        >>> Selection.parse("0:1-2;2:!0", [4, 2, 3]).conditions[0].codes
        (1, 2)
        """
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise InputError(f"{argument} must be a selection such as '3:1-5,7;4:!0'")
        conditions: dict[int, Condition] = {}
        for part in filter(None, text.split(";")):
            match = _CONDITION.fullmatch(part)
            if match is None:
                raise InputError(f"{argument}: {part[:40]!r} is no condition such as '3:1-5,7'")
            position = int(match[1])
            if position >= len(arities):
                raise InputError(f"{argument}: there is no column {position}")
            if position in conditions:
                raise InputError(f"{argument}: column {position} is there twice")
            codes = _codes(match[3] or "", int(arities[position]), f"{argument}: column {position}")
            conditions[position] = Condition(codes, bool(match[2]))
        return cls(conditions)

    def to_text(self) -> str:
        """Return the selection as it is written."""
        return ";".join(f"{p}:{self.conditions[p].to_text()}" for p in sorted(self.conditions))

    def query(self, schema: Schema) -> dict[str, Any]:
        """Return what counters take: the labels that are let through, or are not, by name."""
        query: dict[str, Any] = {}
        for position, condition in self.conditions.items():
            labels = [schema.labels[position][code] for code in condition.codes]
            query[schema.names[position]] = exclude(labels) if condition.excluded else labels
        return query


def _codes(text: str, arity: int, place: str) -> tuple[int, ...]:
    codes: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if low > high or high >= arity:
            raise InputError(f"{place} has no codes {part!r}: it has {arity} labels")
        codes.update(range(low, high + 1))
    return tuple(sorted(codes))
