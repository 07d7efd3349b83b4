"""One rule, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.plot.html import Result

if TYPE_CHECKING:
    from tacit.schema import Label

__all__ = ["Rule", "show_conditions"]


@dataclass(frozen=True)
class Rule(Result):
    """Conditions under which a column tends to have a value.

    Attributes
    ----------
    conditions : dict
        ``{column: label, …}``, a query that :meth:`Table.count` takes; in the table's order.
    support : int or float
        The (weighted) number of records that match the conditions.
    hits : int or float
        The (weighted) number of those that have the target's value, too.
    confidence : float
        Hits divided by support.
    lift : float
        Confidence divided by the fraction of hits among all records.
    leverage : float
        Hits beyond those expected if the conditions made no difference.
    score : float
        The criterion by which rules were ranked.
    """

    conditions: dict[str, Label]
    support: int | float
    hits: int | float
    confidence: float
    lift: float
    leverage: float
    score: float

    def __str__(self) -> str:
        counts = f"{_number(self.hits)} of {_number(self.support)}"
        return f"{show_conditions(self.conditions)}: {self.confidence:.1%} ({counts})"


def show_conditions(conditions: dict[str, Label]) -> str:
    """Write conditions as people read them.

    >>> show_conditions({"sky": "grey", "wind": None})
    'sky = grey, wind = (missing)'
    """
    return ", ".join(
        f"{name} = {'(missing)' if label is None else label}" for name, label in conditions.items()
    )


def _number(count: float) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"
