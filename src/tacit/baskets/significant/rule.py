"""One significant rule, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.plot.html import Result
from tacit.rules.finder.rule import show_conditions

if TYPE_CHECKING:
    from tacit.schema import Label

__all__ = ["SignificantRule", "show_p_value"]


@dataclass(frozen=True)
class SignificantRule(Result):
    """Conditions under which the target is positive more, or less, often than elsewhere.

    Attributes
    ----------
    conditions : dict
        ``{column: label, …}``, a query that :meth:`Table.count` takes; in the table's order. None
        of them can be left out without other records matching.
    implied : dict
        What all records that match hold besides; a conjunction that asks for it as well is the same
        hypothesis.
    support : int
        The number of records that match.
    positives : int
        The number of those that are positive.
    confidence : float
        Positives divided by support.
    p_value : float
        Of this table of support and positives alone; 0 where it is below 10⁻³⁰⁸.
    log_p_value : float
        Its natural logarithm.
    adjusted_p_value : float
        The least alpha at which the rule would be reported; it answers for the whole search.
    odds_ratio : float
        The odds of being positive where the conditions hold, divided by those elsewhere.
    odds_ratio_interval : tuple of float
        Of this rule alone, at the estimator's `level`: it does not answer for the search.
    risk_difference : float
        The fraction of positives where the conditions hold, minus the fraction elsewhere.
    """

    conditions: dict[str, Label]
    implied: dict[str, Label]
    support: int
    positives: int
    confidence: float
    p_value: float
    log_p_value: float
    adjusted_p_value: float
    odds_ratio: float
    odds_ratio_interval: tuple[float, float]
    risk_difference: float

    def __str__(self) -> str:
        low, high = self.odds_ratio_interval
        return (
            f"{show_conditions(self.conditions)}: {self.confidence:.1%} "
            f"({self.positives:,} of {self.support:,}), odds ratio {self.odds_ratio:.3g} "
            f"({low:.3g} to {high:.3g}), adjusted p {self.adjusted_p_value:.2g}"
        )


def show_p_value(log_p: float) -> str:
    """Write a p-value given its natural logarithm, however small it is.

    >>> show_p_value(-7.6), show_p_value(-2000)
    ('0.0005', '2.6e-869')
    """
    import math

    if log_p > -700:
        return f"{math.exp(log_p):.2g}"
    tens = log_p / math.log(10)
    power = math.floor(tens)
    return f"{10 ** (tens - power):.1f}e{power}"
