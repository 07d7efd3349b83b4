"""Results that are a list, such as rules: shown as a table of HTML and as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.machine import check_int
from tacit.plot.html import html_frame, table_html

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Listed", "Listing"]


@dataclass(frozen=True)
class Listing:
    """What is to be shown of some results."""

    title: str
    head: Sequence[str]  # the columns of the table
    rows: Sequence[Sequence[str]]  # its cells
    # What a bar is about, how long it is, and what is written at its end.
    bars: Sequence[tuple[str, float, str]]
    measure: str  # what the lengths of bars are
    percent: bool = False  # whether they are fractions


class Listed:
    """What can be shown as a table and as bars; subclasses say what is in them."""

    def _listing(self, top: int | None) -> Listing:
        """Return what to show of the first, or the best; all for None."""
        raise NotImplementedError

    def to_html(self, top: int | None = 100) -> str:
        """Return a table of HTML.

        Parameters
        ----------
        top : int, optional
            How many rows, the best first; None for all.
        """
        return self._listing_html(None if top is None else check_int(top, "top", 0))

    def _listing_html(self, top: int | None) -> str:
        """Return the table as notebooks show it."""
        listing = self._listing(top)
        return html_frame(table_html(listing.head, listing.rows, title=listing.title))

    def plot(self, ax: Any = None, *, top: int | None = 20) -> Any:
        """Draw a bar for each, with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        top : int, optional
            How many bars, the best first; None for all.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import numpy as np

        from tacit.plot import bars

        listing = self._listing(None if top is None else check_int(top, "top", 1))
        return bars(
            np.array([length for _, length, _ in listing.bars]),
            [label for label, _, _ in listing.bars],
            listing.head[0],
            listing.measure,
            percent=listing.percent,
            texts=[text for _, _, text in listing.bars],
            wrap=56,
            ax=ax,
        )
