"""The values that set a cluster apart, and how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tacit.counts.formatting import show_label

if TYPE_CHECKING:
    from tacit.schema import Label

__all__ = ["ClusterTraits", "Trait", "show_lift", "show_fraction", "show_size", "value_text"]


class Trait(NamedTuple):
    """A value that a cluster has more often, or less often, than all records have it.

    Attributes
    ----------
    column : str
    label : Label
        ``None`` for a missing value.
    probability : float
        The fraction of the cluster's records that have the value.
    overall : float
        The fraction of all records that have it.
    lift : float
        The first by the second.
    lower, upper : float
        The ends of the lift's credible interval.
    """

    column: str
    label: Label
    probability: float
    overall: float
    lift: float
    lower: float
    upper: float

    @property
    def text(self) -> str:
        """The value as text."""
        return value_text(self.column, self.label)

    def line(self, width: int = 0) -> str:
        """Return value, fractions and lift in one line, the value at least so wide."""
        return (
            f"{self.text:<{width}}  {show_fraction(self.probability):>6}  "
            f"overall {show_fraction(self.overall):>6}  lift {show_lift(self.lift):>5}  "
            f"[{show_lift(self.lower)}, {show_lift(self.upper)}]"
        )


class ClusterTraits(NamedTuple):
    """A cluster, and what it has most clearly more or less often than all records.

    Attributes
    ----------
    name : str
    size : float
        The number of its records, or the sum of their weights; fractions where records belong to
        several clusters.
    fraction : float
        Its fraction of all records.
    over, under : list of Trait
        The clearest first.
    """

    name: str
    size: float
    fraction: float
    over: list[Trait]
    under: list[Trait]


def value_text(column: str, label: Label) -> str:
    """Return a value as text: of a column that is True just the name.

    >>> value_text("sports", True), value_text("region", "north"), value_text("device", None)
    ('sports', 'region = north', 'device = (missing)')
    """
    if label is True:
        return column
    return f"not {column}" if label is False else f"{column} = {show_label(label)}"


def show_size(size: float) -> str:
    """Write a number of records, which may be a sum of fractions.

    >>> show_size(12345.4), show_size(5.5), show_size(3.0)
    ('12,345', '5.5', '3')
    """
    return f"{size:,.0f}" if size >= 100 else f"{size:.3g}"


def show_fraction(fraction: float) -> str:
    """Write a fraction so that little is not nothing and most is not all.

    >>> [show_fraction(x) for x in (0.0, 0.0001, 0.052, 0.5, 0.996, 0.9999, 1.0)]
    ['0%', '<0.1%', '5.2%', '50%', '99.6%', '>99.9%', '100%']
    """
    if fraction in (0, 1) or 0.0995 <= fraction <= 0.995:
        return f"{fraction:.0%}"
    return "<0.1%" if fraction < 0.0005 else ">99.9%" if fraction > 0.9995 else f"{fraction:.1%}"


def show_lift(lift: float) -> str:
    """Write a lift with two decimals, or about three digits.

    >>> [show_lift(x) for x in (0.0042, 0.5, 3.14159, 31.4159, 314.159)]
    ['0.00', '0.50', '3.14', '31.4', '314']
    """
    return f"{lift:.2f}" if lift < 9.995 else f"{lift:.1f}" if lift < 99.95 else f"{lift:,.0f}"
