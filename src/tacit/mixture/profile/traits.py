"""The values that set a cluster apart, and how they are put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tacit.counts.showing import show_label

if TYPE_CHECKING:
    from tacit.schema import Label

__all__ = ["ClusterTraits", "Trait", "show_lift", "show_share", "show_size", "value_text"]


class Trait(NamedTuple):
    """A value that a cluster has more often, or less often, than all records have it.

    Attributes
    ----------
    column : str
    label : Label
        ``None`` for a missing value.
    probability : float
        The share of the cluster's records that have the value.
    share : float
        The share of all records that have it.
    lift : float
        The first by the second.
    lower, upper : float
        The ends of the lift's credible interval.
    """

    column: str
    label: Label
    probability: float
    share: float
    lift: float
    lower: float
    upper: float

    @property
    def text(self) -> str:
        """The value in words."""
        return value_text(self.column, self.label)

    def line(self, width: int = 0) -> str:
        """Return value, shares and lift in one line, the value at least so wide."""
        return (
            f"{self.text:<{width}}  {show_share(self.probability):>6}  "
            f"overall {show_share(self.share):>6}  lift {show_lift(self.lift):>5}  "
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
    share : float
        Its share of all records.
    over, under : list of Trait
        The clearest first.
    """

    name: str
    size: float
    share: float
    over: list[Trait]
    under: list[Trait]


def value_text(column: str, label: Label) -> str:
    """Return a value in words: of a column that is True just the name.

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


def show_share(share: float) -> str:
    """Write a share so that little is not nothing and most is not all.

    >>> [show_share(x) for x in (0.0, 0.0001, 0.052, 0.5, 0.996, 0.9999, 1.0)]
    ['0%', '<0.1%', '5.2%', '50%', '99.6%', '>99.9%', '100%']
    """
    if share in (0, 1) or 0.0995 <= share <= 0.995:
        return f"{share:.0%}"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share > 0.9995 else f"{share:.1%}"


def show_lift(lift: float) -> str:
    """Write a lift with two decimals, or about three digits.

    >>> [show_lift(x) for x in (0.0042, 0.5, 3.14159, 31.4159, 314.159)]
    ['0.00', '0.50', '3.14', '31.4', '314']
    """
    return f"{lift:.2f}" if lift < 9.995 else f"{lift:.1f}" if lift < 99.95 else f"{lift:,.0f}"
